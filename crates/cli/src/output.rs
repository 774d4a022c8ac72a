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
    let mut output = std::io::stdout().lock();
    let text = printable_lines(text);
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

/// One line about how far something is, on standard error; any thread may show it. On a terminal it is
/// always the same line.
pub(crate) struct ProgressLine {
    place: Place,
    every: Duration,
    last: Mutex<Option<Instant>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Terminal,
    Lines,
    Nowhere,
}

impl ProgressLine {
    /// For what is over soon: nothing where nobody looks.
    pub(crate) fn begin() -> Self {
        let place = if std::io::stderr().is_terminal() { Place::Terminal } else { Place::Nowhere };
        Self { place, every: Duration::from_millis(200), last: Mutex::default() }
    }

    /// For what goes on until somebody ends it: a line a second, wherever standard error goes.
    pub(crate) fn every_second() -> Self {
        let place = if std::io::stderr().is_terminal() { Place::Terminal } else { Place::Lines };
        Self { place, every: Duration::from_secs(1), last: Mutex::new(Some(Instant::now())) }
    }

    /// Shows the line that `text` makes, if it is time for one again.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| last.elapsed() >= self.every);
        let (before, after) = match self.place {
            Place::Terminal => ("\r\x1b[K", ""),
            Place::Lines => ("", "\n"),
            Place::Nowhere => return,
        };
        if is_due {
            *last = Some(Instant::now());
            // A line that cannot be shown must not end what it tells of.
            let _ = write!(std::io::stderr(), "{before}{}{after}", printable(&text()));
        }
    }
}

impl Drop for ProgressLine {
    /// Leaves the terminal's line empty.
    fn drop(&mut self) {
        if self.place == Place::Terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
