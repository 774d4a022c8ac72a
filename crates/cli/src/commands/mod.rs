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

use crate::error::CliError;

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(CliError::Output { source }),
        _ => Ok(()),
    }
}
