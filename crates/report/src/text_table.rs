//! Tables in a terminal: one way to lay them out, whatever they are of.

/// Columns beside each other, each as wide as its widest cell.
#[derive(Debug, Default)]
pub struct TextTable {
    columns: Vec<TextColumn>,
    rows: Vec<Vec<String>>,
}

/// How a column stands.
#[derive(Debug)]
struct TextColumn {
    head: String,
    is_right: bool,
    least: usize,
    most: usize,
}

/// Between two columns, and before the first.
const GAP: &str = "  ";

impl TextTable {
    /// A table without columns and rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more column of text, at least `least` characters wide. What is longer than
    /// `most` goes on in the next line, cut between words.
    #[must_use]
    pub fn text(self, head: &str, least: usize, most: usize) -> Self {
        self.column(TextColumn { head: head.to_owned(), is_right: false, least, most })
    }

    /// The same with one more column of numbers, which end below each other, at least `least`
    /// characters wide.
    #[must_use]
    pub fn numbers(self, head: &str, least: usize) -> Self {
        self.column(TextColumn { head: head.to_owned(), is_right: true, least, most: usize::MAX })
    }

    fn column(mut self, column: TextColumn) -> Self {
        self.columns.push(column);
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not a cell for each column.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// All lines. The heads are left out if none of them says anything.
    pub fn render(&self) -> String {
        let heads: Vec<Vec<String>> =
            self.columns.iter().map(|column| vec![column.head.clone()]).collect();
        let cut = |cells: &Vec<String>| -> Vec<Vec<String>> {
            cells.iter().zip(&self.columns).map(|(cell, column)| cut(cell, column.most)).collect()
        };
        let rows: Vec<Vec<Vec<String>>> = self.rows.iter().map(cut).collect();
        let has_heads = self.columns.iter().any(|column| !column.head.is_empty());
        let all: Vec<&Vec<Vec<String>>> =
            has_heads.then_some(&heads).into_iter().chain(&rows).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|index| {
                let cells = all.iter().flat_map(|row| &row[index]);
                let widest = cells.map(|line| line.chars().count()).max().unwrap_or(0);
                widest.max(self.columns[index].least)
            })
            .collect();
        all.iter().map(|row| self.lines(row, &widths)).collect()
    }

    fn lines(&self, row: &[Vec<String>], widths: &[usize]) -> String {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        let line = |index: usize| {
            let mut line = String::new();
            for ((cell, column), width) in row.iter().zip(&self.columns).zip(widths) {
                let part = cell.get(index).map_or("", String::as_str);
                line += GAP;
                line += &match column.is_right {
                    true => format!("{part:>width$}"),
                    false => format!("{part:<width$}"),
                };
            }
            line.trim_end().to_owned() + "\n"
        };
        (0..height).map(line).collect()
    }
}

/// Text in lines of at most `width` characters, cut between words; a longer word stays whole.
pub fn cut(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_words() {
        assert_eq!(cut("one two three", 7), ["one two", "three"]);
        assert_eq!(cut("https://a.b/c d", 5), ["https://a.b/c", "d"]);
        assert_eq!(cut("", 5), [""]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_long_text_goes_on_below() {
        let mut table = TextTable::new().text("what", 6, 9).numbers("n", 0).text("so", 0, 9);
        table.row(vec!["a".to_owned(), "1000".to_owned(), "x".to_owned()]);
        table.row(vec!["one two three".to_owned(), "1".to_owned(), String::new()]);
        let expected = "  what        n  so\n  a        1000  x\n  one two     1\n  three\n";
        assert_eq!(table.render(), expected);
        let mut plain = TextTable::new().text("", 0, 9).numbers("", 0);
        plain.row(vec!["a".to_owned(), "1".to_owned()]);
        assert_eq!(plain.render(), "  a  1\n");
    }
}
