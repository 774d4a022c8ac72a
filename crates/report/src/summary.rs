//! The result in a terminal: read in ten seconds.

use writecliff_suite::consistency;

use crate::finish::outrank;
use crate::run::Run;
use crate::section::{Cell, DOUBT_MEANS, RankedBy, Ranking, Row, Table};
use crate::sections::sections;
use crate::subject::Subject;
use crate::subjects::Subjects;
use crate::text_table::TextTable;
use crate::top::ranking;
use crate::verdict::{headlines, main, missing, sequential};

const LINE: usize = 80;

/// What was done, doubts, then the figures with a column for each drive and setting. Plain text.
///
/// # Panics
/// If there are no subjects, or one without runs.
pub fn summary(subjects: &[Subject]) -> String {
    let subjects = Subjects::new(subjects);
    let mut text = String::new();
    for (index, run) in subjects.runs() {
        text += &heading(&subjects, index, run);
    }
    for difference in subjects.differences() {
        text += &wrapped("", &format!("NOT the same load: {}.", difference.text));
    }
    let mut sections = sections(&subjects);
    for section in &mut sections {
        outrank(&subjects, section);
    }
    let tables =
        || sections.iter().flat_map(|section| section.tables.iter().map(move |t| (section, t)));
    let several = tables().count() > 1;
    for (section, table) in tables() {
        text.push('\n');
        if several {
            text += &wrapped("", &format!("{}: {}", section.title, table.title));
        }
        let is_marked = table.text.ends_with(DOUBT_MEANS);
        match section.id == consistency::Plan::NAME {
            true if is_marked => text += &wrapped("  ", DOUBT_MEANS),
            true => {}
            false => text += &wrapped("  ", &table.text),
        }
        text += &table_text(table);
    }
    text
}

/// Reviews in a terminal: of one the doubts, the verdict, and a sentence for each test beside it; of
/// several a table of the figures that decide between them. Plain text; all figures are on the page.
///
/// # Panics
/// If there are no subjects, or one without runs.
pub fn verdict(subjects: &[Subject]) -> String {
    let subjects = Subjects::new(subjects);
    let ranking = ranking(&subjects);
    let mut text = String::new();
    for (index, subject) in subjects.all.iter().enumerate() {
        if index > 0 && ranking.is_none() {
            text.push('\n');
        }
        text += &progress(&subjects, index);
        for doubt in subject.doubts() {
            text += &wrapped("  ! ", &subject.in_words(&doubt));
        }
        let sentences = main(subject).into_iter().chain(sequential(subject, true));
        let sentences = sentences.chain(headlines(subject)).chain(missing(subject));
        for (at, sentence) in sentences.filter(|_| ranking.is_none()).enumerate() {
            text += if at == 0 { "\n" } else { "" };
            text += &wrapped("  ", &sentence.text);
        }
    }
    for difference in subjects.differences() {
        text += &wrapped("", &format!("NOT the same load: {}.", difference.text));
    }
    if let Some(ranking) = ranking {
        text.push('\n');
        text += &table_text(&as_table(&subjects, &ranking));
        text += "  * the best, and what single runs do not tell apart from it (5 %)\n";
        text += &wrapped("  ", &ranking.note);
    }
    text
}

/// Whose review it is, and how far it came.
fn progress(subjects: &Subjects<'_>, index: usize) -> String {
    let subject = &subjects.all[index];
    let simulated = if subject.is_simulated() { " (SIMULATED)" } else { "" };
    let ended = || subject.runs.iter().filter(|run| run.is_complete());
    let complete = ended().filter(|run| run.is_measured()).count();
    let nothing = match ended().count() - complete {
        0 => String::new(),
        count => format!(", {count} with nothing measured"),
    };
    let of = subject.planned.as_ref().map_or(0, Vec::len).max(subject.runs.len());
    format!("{}{simulated}: {complete} of {of} tests complete{nothing}\n", subjects.name(index))
}

/// A row for each figure, a column for each drive.
fn as_table(subjects: &Subjects<'_>, ranking: &Ranking) -> Table {
    let row = |(column, by): (usize, &RankedBy)| {
        let best = ranking.best(column);
        let value = |(drive, cells): (usize, &Vec<Cell>)| {
            let mark = if best.contains(&drive) { "*" } else { " " };
            format!("{}{mark}", cells[column].text)
        };
        let values = ranking.rows.iter().enumerate().map(value).collect();
        Row::new(&format!("{}, {}", by.name, by.unit), values, "")
    };
    let rows = ranking.columns.iter().enumerate().map(row).collect();
    Table::new("", "", Table::columns_of(subjects, 0..subjects.all.len()), rows)
}

fn heading(subjects: &Subjects<'_>, index: usize, run: &Run) -> String {
    let simulated = if run.is_simulated() { " (SIMULATED)" } else { "" };
    let title = format!("{}{simulated}: {}, {}", subjects.name(index), run.name(), run.status());
    let mut text = wrapped("", &title);
    text += &wrapped("  ", &run.method());
    let mut told: Vec<String> = Vec::new();
    for doubt in run.and_repeats().flat_map(|run| &run.record.warnings).map(ToString::to_string) {
        if !told.contains(&doubt) {
            text += &wrapped("  ! ", &doubt);
            told.push(doubt);
        }
    }
    text
}

/// Columns are numbered, and the numbers explained, where names would be too long to stand above.
pub(crate) fn table_text(table: &Table) -> String {
    let several = table.columns.len() > 1;
    let is_short = table.columns.iter().all(|column| column.name.len() <= 8);
    let heads: Vec<String> = match is_short {
        true => table.columns.iter().map(|column| column.name.clone()).collect(),
        false => (1..=table.columns.len()).map(|n| format!("[{n}]")).collect(),
    };
    let mut text = String::new();
    if several && !is_short {
        for (head, column) in heads.iter().zip(&table.columns) {
            text += &wrapped("  ", &format!("{head} {}", column.name));
        }
    }
    let shown = |head: &str| if several { head.to_owned() } else { String::new() };
    let names = TextTable::new().text(&shown(&table.corner), 20, usize::MAX);
    let with = |lines: TextTable, head: &String| lines.numbers(&shown(head), head.len());
    let mut lines = heads.iter().fold(names, with);
    for row in &table.rows {
        let values = row.values.iter().map(|value| &value.text);
        lines.row(std::iter::once(&row.name).chain(values).cloned().collect());
    }
    text + &lines.render()
}

/// A paragraph of at most [`LINE`] columns, its first line led by `lead`.
pub(crate) fn wrapped(lead: &str, paragraph: &str) -> String {
    let indent = " ".repeat(lead.len());
    let (mut text, mut line) = (String::new(), lead.to_owned());
    for word in paragraph.split_whitespace() {
        if line.chars().count() + word.chars().count() > LINE && line.trim() != lead.trim() {
            text += line.trim_end();
            text.push('\n');
            line.clone_from(&indent);
        }
        line += word;
        line.push(' ');
    }
    text + line.trim_end() + "\n"
}
