//! What is printed, and where: results to standard output, all else to standard error.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use writecliff_device::{printable, printable_lines};

use crate::error::CliError;

/// Prints to standard output, without what could steer a terminal; a reader that has gone away
/// (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    write_out(&printable_lines(text))
}

fn write_out(text: &str) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(CliError::Output { source }),
        _ => Ok(()),
    }
}

/// Prints a value as JSON, indented, with an end of line.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| CliError::Output { source: error.into() })?;
    print(&(text + "\n"))
}

/// Says something on standard error, without what could steer a terminal. Nobody who cannot be told
/// is worth failing for.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
}

/// How much is said beside the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// How far everything is.
    Usual,
    /// Only what went wrong.
    Quiet,
}

/// Prints a summary: on a terminal with its first line and its headings in bold, unless `NO_COLOR`
/// says that nothing is to be adorned.
pub(crate) fn print_summary(text: &str) -> Result<(), CliError> {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_none_or(|term| term == "dumb")
        || !std::io::stdout().is_terminal();
    let text = printable_lines(text);
    write_out(&if is_plain { text } else { adorned(&text) })
}

/// A heading begins a block of lines that are indented below it.
fn adorned(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_heading = |index: usize| {
        let line = lines[index];
        let begins = index == 0 || lines[index - 1].is_empty();
        let has_below = lines.get(index + 1).is_some_and(|below| below.starts_with(' '));
        begins && has_below && !line.starts_with(' ')
    };
    let bold = |index| match is_heading(index) {
        true => format!("\x1b[1m{}\x1b[0m", lines[index]),
        false => lines[index].to_owned(),
    };
    (0..lines.len()).map(bold).collect::<Vec<_>>().join("\n")
}

/// One line about how far something is, on standard error; any thread may show it. On a terminal it is
/// always the same line.
pub(crate) struct ProgressLine {
    is_terminal: bool,
    every: Duration,
    last: Mutex<Instant>,
}

/// A terminal's line for what is over soon.
const SOON: Duration = Duration::from_millis(200);
/// A line elsewhere, where each stays.
const SELDOM: Duration = Duration::from_secs(10);

impl ProgressLine {
    /// For what may be over soon.
    pub(crate) fn begin() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self::each(if is_terminal { SOON } else { SELDOM })
    }

    /// For what goes on until somebody ends it: a line a second.
    pub(crate) fn every_second() -> Self {
        Self::each(Duration::from_secs(1))
    }

    fn each(every: Duration) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { is_terminal, every, last: Mutex::new(Instant::now()) }
    }

    /// Shows the line that `text` makes, if it is time for one again.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < self.every {
            return;
        }
        *last = Instant::now();
        let text = printable(&text());
        let (before, after) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        // A line that cannot be shown must not end what it tells of.
        let _ = write!(std::io::stderr(), "{before}{}{after}", one_line(&text, self.is_terminal));
    }
}

/// As much of a text as one line of the terminal holds: more would not be overwritten by the next.
fn one_line(text: &str, is_terminal: bool) -> String {
    let size = is_terminal.then(ratatui_crossterm::crossterm::terminal::size);
    match size {
        Some(Ok((columns, _))) => text.chars().take(usize::from(columns.max(2)) - 1).collect(),
        _ => text.to_owned(),
    }
}

impl Drop for ProgressLine {
    /// Leaves the terminal's line empty.
    fn drop(&mut self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_bold_and_all_else_stays() {
        let text = "Drive\n  a figure\n\nTest\n  b\nc\n";
        let bold = "\u{1b}[1mDrive\u{1b}[0m\n  a figure\n\n\u{1b}[1mTest\u{1b}[0m\n  b\nc\n";
        assert_eq!(adorned(text), bold);
    }
}
