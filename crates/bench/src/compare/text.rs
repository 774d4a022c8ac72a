//! A comparison as text: for a terminal, as Markdown, as CSV.

use writecliff::suite::gate::in_words;
use writecliff_report::TextTable;

use super::{Apart, Better, Comparison, Number, Row, Side};

impl Comparison {
    /// In lines for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("A  {}\nB  {}\n", self.a.title(), self.b.title());
        for (heading, rows) in self.groups() {
            let mut table =
                TextTable::new().text("", 12, 40).numbers("A", 10).numbers("B", 10).text("", 8, 12);
            for row in rows {
                table.row(vec![
                    row.name.clone(),
                    row.shown(&row.a),
                    row.shown(&row.b),
                    row.verdict(),
                ]);
            }
            text += &format!("\n{heading}\n{}", table.render());
        }
        let remarks = self.remarks();
        remarks.iter().fold(text, |text, remark| format!("{text}\n{remark}\n"))
    }

    /// As Markdown, for an issue or a post.
    pub fn markdown(&self) -> String {
        let mut text =
            format!("**A** {}  \n**B** {}\n", markdown(&self.a.title()), markdown(&self.b.title()));
        for (heading, rows) in self.groups() {
            text += &format!(
                "\n{}\n\n| figure | A | B | better |\n|---|--:|--:|---|\n",
                markdown(&heading)
            );
            for row in rows {
                let (mut a, mut b) = (row.shown(&row.a), row.shown(&row.b));
                match row.better {
                    Some(Better::A) => a = format!("**{a}**"),
                    Some(Better::B) => b = format!("**{b}**"),
                    None => {}
                }
                text += &format!("| {} | {a} | {b} | {} |\n", markdown(&row.name), row.verdict());
            }
        }
        let remarks = self.remarks();
        remarks.iter().fold(text, |text, remark| format!("{text}\n- {}\n", markdown(remark)))
    }

    /// As CSV, a line for each figure.
    pub fn csv(&self) -> String {
        self.write_csv().expect("a text in memory can be written")
    }

    fn write_csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record([
            "test",
            "figure",
            "unit",
            "kind",
            "conditions",
            "a",
            "b",
            "better",
            "ratio",
        ])?;
        for row in &self.rows {
            let kind = row.kind.word();
            let better = row.better.map_or("", Better::letter);
            let ratio = row.ratio.map_or_else(String::new, |ratio| ratio.to_string());
            let (a, b) = (row.a.median.to_string(), row.b.median.to_string());
            writer.write_record([
                &row.test,
                &row.name,
                &row.unit,
                kind,
                &row.conditions,
                &a,
                &b,
                better,
                &ratio,
            ])?;
        }
        let bytes = writer.into_inner().map_err(|error| error.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn groups(&self) -> Vec<(String, Vec<&Row>)> {
        let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            let heading = format!("{}, {}: {}", row.test, row.kind.word(), row.conditions);
            match groups.last_mut() {
                Some((last, rows)) if *last == heading => rows.push(row),
                _ => groups.push((heading, vec![row])),
            }
        }
        groups
    }

    /// What stands apart, and doubts: a sentence each.
    fn remarks(&self) -> Vec<String> {
        let apart =
            self.apart.iter().map(|Apart { test, why }| format!("Not compared: {test}: {why}"));
        let sides = [("A", &self.a), ("B", &self.b)].into_iter();
        let doubts = sides.flat_map(|(letter, side)| {
            side.doubts.iter().map(move |doubt| format!("Doubt about {letter}: {doubt}"))
        });
        apart.chain(doubts).collect()
    }
}

impl Side {
    fn title(&self) -> String {
        match &self.runs[..] {
            [] => self.name.clone(),
            [run] => format!("{}, run {run}", self.name),
            runs => format!("{}, {} runs", self.name, runs.len()),
        }
    }
}

impl Row {
    fn shown(&self, number: &Number) -> String {
        let text = in_words(number.median, &self.unit);
        match number.of {
            1 => text,
            runs => format!("{text} ({runs})"),
        }
    }

    fn verdict(&self) -> String {
        match (self.better, self.ratio) {
            (Some(better), Some(ratio)) => format!("{} × {ratio:.2}", better.letter()),
            (Some(better), None) => better.letter().to_owned(),
            (None, _) => "equal".to_owned(),
        }
    }
}

impl Better {
    fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// Text as Markdown shows it, whatever is in it.
fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' | '&') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
