//! A comparison as text: for a terminal, as Markdown, as CSV.

use writecliff::suite::in_words;
use writecliff_report::TextTable;

use super::{Apart, Better, Comparison, Number, Row, Side, Undecided};

/// So many doubts of a side are told; several runs may have one each, in other numbers.
const DOUBTS_MAX: usize = 6;

impl Comparison {
    /// In lines for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("A  {}\nB  {}\n", self.a.title(), self.b.title());
        for doubt in self.doubts() {
            text += &format!("\n{doubt}\n");
        }
        for (heading, rows) in self.groups() {
            let mut table = TextTable::new()
                .text("", 12, 40)
                .numbers("A", 10)
                .text("", 0, 40)
                .numbers("B", 10)
                .text("", 0, 40)
                .text("", 8, 14);
            for row in rows {
                table.row(vec![
                    row.name.clone(),
                    row.shown(&row.a),
                    row.a.spread().unwrap_or_default(),
                    row.shown(&row.b),
                    row.b.spread().unwrap_or_default(),
                    row.verdict(),
                ]);
            }
            text += &format!("\n{heading}\n{}", table.render());
        }
        let apart = self.remarks();
        apart.iter().fold(text, |text, remark| format!("{text}\n{remark}\n"))
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
                let [mut a, mut b] = [&row.a, &row.b].map(|number| row.shown_with_spread(number));
                match row.better {
                    Some(Better::A) => a = format!("**{a}**"),
                    Some(Better::B) => b = format!("**{b}**"),
                    None => {}
                }
                text += &format!("| {} | {a} | {b} | {} |\n", markdown(&row.name), row.verdict());
            }
        }
        let remarks = [self.doubts(), self.remarks()].concat();
        remarks.iter().fold(text, |text, remark| format!("{text}\n- {}\n", markdown(remark)))
    }

    /// As CSV, a line for each figure.
    pub fn csv(&self) -> String {
        self.write_csv().expect("a text in memory can be written")
    }

    fn write_csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(COLUMNS)?;
        for row in &self.rows {
            let ratio = row.ratio.map_or_else(String::new, |ratio| ratio.to_string());
            let mut cells = vec![
                row.test.clone(),
                row.name.clone(),
                row.unit.clone(),
                row.kind.word().to_owned(),
                row.conditions.clone(),
                row.a.median.to_string(),
                row.b.median.to_string(),
                row.better.map_or("", Better::letter).to_owned(),
                ratio,
                row.undecided.map_or("", Undecided::word).to_owned(),
            ];
            for Number { lowest, highest, of, doubted, .. } in [&row.a, &row.b] {
                cells.extend([lowest.to_string(), highest.to_string(), of.to_string()]);
                cells.push(if *doubted { "yes" } else { "no" }.to_owned());
            }
            writer.write_record(cells)?;
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

    /// What stands apart: a sentence each.
    fn remarks(&self) -> Vec<String> {
        let apart = self.apart.iter();
        apart.map(|Apart { test, why }| format!("Not compared: {test}: {why}")).collect()
    }

    /// A sentence each.
    fn doubts(&self) -> Vec<String> {
        let of = |letter: &str, side: &Side| {
            let told = side.doubts.iter().take(DOUBTS_MAX);
            let mut told: Vec<String> =
                told.map(|doubt| format!("Doubt about {letter}: {doubt}")).collect();
            match side.doubts.len().saturating_sub(DOUBTS_MAX) {
                0 => {}
                more => told.push(format!("Doubt about {letter}: and {more} more")),
            }
            told
        };
        [of("A", &self.a), of("B", &self.b)].concat()
    }
}

/// Of the CSV; the last eight are those of A, then of B.
const COLUMNS: [&str; 18] = [
    "test",
    "figure",
    "unit",
    "kind",
    "conditions",
    "a",
    "b",
    "better",
    "ratio",
    "undecided",
    "a_lowest",
    "a_highest",
    "a_runs",
    "a_doubted",
    "b_lowest",
    "b_highest",
    "b_runs",
    "b_doubted",
];

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
        in_words(number.median, &self.unit)
    }

    fn shown_with_spread(&self, number: &Number) -> String {
        let spread = number.spread().map_or_else(String::new, |spread| format!(" ({spread})"));
        self.shown(number) + &spread
    }

    fn verdict(&self) -> String {
        match (self.better, self.undecided) {
            (Some(better), _) => match self.ratio {
                Some(ratio) => format!("{} × {ratio:.2}", better.letter()),
                None => better.letter().to_owned(),
            },
            (None, Some(Undecided::Equal)) => "equal".to_owned(),
            (None, Some(Undecided::Doubted)) => "doubtful".to_owned(),
            (None, Some(Undecided::NotJudged)) => "not judged".to_owned(),
            (None, _) => "not told apart".to_owned(),
        }
    }
}

impl Number {
    /// How far several runs lie apart: `3536 to 4492, median of 5 runs`.
    fn spread(&self) -> Option<String> {
        spread(self.lowest, self.highest, self.of)
    }
}

/// How far so many runs lie apart; nothing of one.
pub(crate) fn spread(lowest: f64, highest: f64, runs: usize) -> Option<String> {
    let range =
        || format!("{} to {}, median of {runs} runs", in_words(lowest, ""), in_words(highest, ""));
    (runs > 1).then(range)
}

impl Undecided {
    fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::NotToldApart => "not-told-apart",
            Self::Doubted => "doubted",
            Self::NotJudged => "not-judged",
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
