//! The result in a terminal: read in ten seconds.

use crate::Run;
use crate::figures::{FIGURES, NONE};

/// Wider columns are cut; several runs side by side must fit a terminal.
const COLUMN_MAX: usize = 30;
const LINE: usize = 80;

/// What was done, doubts, then the figures with a column for each run. Plain text.
pub fn summary(runs: &[Run]) -> String {
    let mut text = String::new();
    for (index, run) in runs.iter().enumerate() {
        text += &heading(index, runs.len(), run);
    }
    text.push('\n');
    text += &table(runs);
    text
}

fn heading(index: usize, count: usize, run: &Run) -> String {
    let number = if count > 1 { format!("[{}] ", index + 1) } else { String::new() };
    let simulated = if run.is_simulated() { " (SIMULATED)" } else { "" };
    let drive = format!("{}{simulated}", run.label());
    let mut text = format!("{number}{drive}: {}, {}\n", run.record.plan.name(), run.status());
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

/// The heading and the values of one run.
fn column(index: usize, run: &Run) -> Vec<String> {
    let head: String =
        format!("[{}] {}", index + 1, run.label()).chars().take(COLUMN_MAX).collect();
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
