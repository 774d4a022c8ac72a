//! The page's words and tables as Markdown, its pictures as links: for an issue or a post.

use crate::page::about::About;
use crate::section::{Listing, Ranking, Section, Table, View};

/// How the file begins; whoever reads it sees nothing of it.
pub(super) const MARKDOWN_MARK: &str = "<!-- made by Writecliff -->";

/// The whole file. What is hidden behind a switch on the page is left out.
pub(crate) fn markdown(about: &About, sections: &[Section]) -> String {
    let mut text = format!("{MARKDOWN_MARK}\n# {}{}\n\n", plain(&about.title), title_mark(about));
    if !about.headline.is_empty() {
        text += &format!("**{}**\n\n", plain(&about.headline));
    }
    text += &format!("{}\n\n", plain(&about.lead));
    for tile in &about.tiles {
        let note = if tile.note.is_empty() { String::new() } else { format!(" ({})", tile.note) };
        text += &format!("- {}: **{}**{}\n", plain(&tile.name), plain(&tile.value), plain(&note));
    }
    if let Some(ranking) = &about.ranking {
        text += &ranking_table(about, ranking);
    }
    text.push('\n');
    if let Some(first) = &about.first {
        text += &view(first, 2);
    }
    text += &findings(about);
    for part in sections {
        text += &section(about, part);
    }
    if about.subjects.iter().any(|subject| subject.marked) {
        let (subjects, mark, marked) = (about.words.subjects, about.words.mark, about.words.marked);
        text += &format!("{subjects} marked ({mark}) {marked}\n");
    }
    text
}

fn title_mark(about: &About) -> String {
    match &about.subjects[..] {
        [one] if one.marked => format!(" ({})", about.words.mark),
        _ => String::new(),
    }
}

/// A subject's name, marked if it is.
fn name(about: &About, index: usize) -> String {
    let subject = &about.subjects[index];
    let mark = if subject.marked { format!(" ({})", about.words.mark) } else { String::new() };
    plain(&format!("{}{mark}", subject.name))
}

fn findings(about: &About) -> String {
    if !about.has_findings() {
        return String::new();
    }
    let mut text = format!("## {}\n\n", about.words.findings);
    for warning in &about.of_all {
        text += &format!("> All {}: {}\n\n", about.words.subjects.to_lowercase(), plain(warning));
    }
    for (index, subject) in about.subjects.iter().enumerate() {
        if about.subjects.len() > 1 {
            text += &format!("### {}\n\n", name(about, index));
        }
        for warning in &subject.warnings {
            text += &format!("> {}\n>\n", plain(warning));
        }
        for sentence in &subject.findings {
            text += &format!("- {}\n", plain(&sentence.text));
        }
        text.push('\n');
    }
    text
}

fn section(about: &About, section: &Section) -> String {
    let mut text = format!("## {}\n\n{}\n\n", section.title, plain(&section.question));
    for (subject, doubt) in &section.doubts {
        let whose = match about.subjects.len() {
            1 => String::new(),
            _ => format!("{}: ", name(about, *subject)),
        };
        text += &format!("> {whose}{}\n\n", plain(doubt));
    }
    let (first, last): (Vec<&Table>, Vec<&Table>) =
        section.tables.iter().partition(|table| table.first);
    text.extend(first.into_iter().map(|one| table(about, one)));
    let shown = section.views.iter().filter(|view| !view.more);
    text.extend(shown.map(|one| view(one, 3)));
    text.extend(last.into_iter().map(|one| table(about, one)));
    for Listing { title, text: what, lines } in &section.listings {
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        text += &format!("### {}\n\n{}\n\n{lines}\n", plain(title), plain(what));
    }
    text
}

fn view(view: &View, level: usize) -> String {
    let mut text = format!("{} {}\n\n", "#".repeat(level), plain(&view.title));
    if !view.text.is_empty() {
        text += &format!("{}\n\n", plain(&view.text));
    }
    for panel in &view.panels {
        let (alt, id) = (plain(&panel.picture.alt), &panel.picture.id);
        text += &format!("![{alt}](pictures/{id}.svg)\n\n");
    }
    text
}

fn ranking_table(about: &About, ranking: &Ranking) -> String {
    let head = ranking.columns.iter().map(|column| match column.unit.is_empty() {
        true => column.name.clone(),
        false => format!("{}, {}", column.name, column.unit),
    });
    let names = std::iter::once(about.words.subjects.to_owned()).chain(head);
    let mut text = head_rows(names, None);
    for (index, cells) in ranking.rows.iter().enumerate() {
        let is_best = |column: usize| ranking.best(column).contains(&index);
        let cells = cells.iter().enumerate().map(|(at, cell)| value(&cell.text, is_best(at)));
        text += &row(std::iter::once(name(about, index)).chain(cells));
    }
    if !ranking.note.is_empty() {
        text += &format!("\n{}\n", plain(&ranking.note));
    }
    text
}

fn table(about: &About, table: &Table) -> String {
    let mut text = match table.title.is_empty() {
        true => String::new(),
        false => format!("### {}\n\n", plain(&table.title)),
    };
    if !table.text.is_empty() {
        text += &format!("{}\n\n", plain(&table.text));
    }
    if table.rows.is_empty() {
        return text;
    }
    let column = |column: &crate::section::Column| {
        let is_marked = column.of.subject.is_some_and(|subject| about.subjects[subject].marked);
        let mark = if is_marked { format!(" ({})", about.words.mark) } else { String::new() };
        format!("{}{mark}", column.name)
    };
    let meaning = table.has_meanings().then(String::new);
    let corner = std::iter::once(table.corner.clone());
    text += &head_rows(corner.chain(table.columns.iter().map(column)), meaning);
    for one in &table.rows {
        let best = one.best();
        let cells = one.values.iter().enumerate();
        let cells = cells.map(|(at, cell)| value(&cell.text, best.contains(&at)));
        let meaning = table.has_meanings().then(|| plain(&one.meaning));
        text += &row(std::iter::once(plain(&one.name)).chain(cells).chain(meaning));
    }
    text + "\n"
}

/// The best has a star, and is bold: Markdown has no colours.
fn value(text: &str, is_best: bool) -> String {
    let text = plain(text);
    if is_best { format!("**{text}** ★") } else { text }
}

/// The first column names and the last may say what it means; those between are numbers.
fn head_rows(names: impl Iterator<Item = String>, meaning: Option<String>) -> String {
    let names: Vec<String> = names.map(|name| plain(&name)).collect();
    let sides = (0..names.len()).map(|at| if at == 0 { ":--" } else { "--:" }.to_owned());
    let words = meaning.as_ref().map(|_| ":--".to_owned());
    row(names.iter().cloned().chain(meaning)) + &row(sides.chain(words))
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Text that stays text: nothing in it is taken for markup, and a line stays a line.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => plain.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => plain.extend(['\\', letter]),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            _ if letter.is_control() => {}
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(plain("a|b *c* <d>\n[e](f)"), r"a\|b \*c\* &lt;d&gt; \[e\](f)");
    }
}
