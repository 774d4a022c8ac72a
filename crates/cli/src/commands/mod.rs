//! One file per command.

pub(crate) mod drives;
pub(crate) mod report;
pub(crate) mod run;

use std::io::Write;

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
