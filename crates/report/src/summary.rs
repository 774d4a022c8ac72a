//! The result in a terminal: read in ten seconds.

use crate::figures::{FIGURES, NONE};
use crate::{Run, labels};

const LINE: usize = 80;

/// What was done, doubts, then the figures with a column for each run. Plain text.
pub fn summary(runs: &[Run]) -> String {
    let mut text = String::new();
    for (index, (run, label)) in runs.iter().zip(labels(runs)).enumerate() {
        let number = if runs.len() > 1 { format!("[{}] ", index + 1) } else { String::new() };
        text += &heading(&format!("{number}{label}"), run);
    }
    text.push('\n');
    text += &table(runs);
    text
}

fn heading(label: &str, run: &Run) -> String {
    let simulated = if run.is_simulated() { " (SIMULATED)" } else { "" };
    let title = format!("{label}{simulated}: {}, {}", run.record.plan.name(), run.status());
    let mut text = wrapped("", &title);
    text += &wrapped("  ", &run.method());
    for warning in &run.record.warnings {
        text += &wrapped("  ! ", &warning.to_string());
    }
    text
}

fn table(runs: &[Run]) -> String {
    let columns: Vec<Vec<String>> =
        runs.iter().enumerate().map(|(i, run)| column(i, run)).collect();
    let width = |cells: &Vec<String>| cells.iter().map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = columns.iter().map(|cells| width(cells).unwrap_or(0)).collect();
    let first_row = usize::from(runs.len() == 1);
    let mut text = String::new();
    for row in first_row..=FIGURES.len() {
        let name = if row == 0 { "" } else { FIGURES[row - 1].name };
        let mut line = format!("  {name:<20}");
        for (cells, width) in columns.iter().zip(&widths) {
            line += &format!("  {:>width$}", cells[row]);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The number that stands before the run's name above the table, and its values.
fn column(index: usize, run: &Run) -> Vec<String> {
    let head = format!("[{}]", index + 1);
    let values = FIGURES.iter().map(|figure| match run.outcome() {
        Some(outcome) => (figure.value)(outcome),
        None => NONE.to_owned(),
    });
    std::iter::once(head).chain(values).collect()
}

/// A paragraph of at most [`LINE`] columns, its first line led by `lead`.
fn wrapped(lead: &str, paragraph: &str) -> String {
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
