//! One file per command.

pub(crate) mod check;
pub(crate) mod drives;
pub(crate) mod gate;
pub(crate) mod meter;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod trace;

use std::io::{ErrorKind, Write};

use writecliff_device::printable_lines;

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

/// Says something on standard error, without what could steer a terminal. Nobody who cannot be told
/// is worth failing for.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
}
