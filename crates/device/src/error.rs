//! What kind of "no" an error is.

use std::io;

/// What an error asks of whoever made the call: every error type of the workspace says it by
/// `kind()`, so that a face (command line, server, Python) needs to know no variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for cannot be: a wrong name, value, file or combination. Ask differently.
    Usage,
    /// It could destroy something, and was refused for that. Nothing was written.
    Refused,
    /// It was begun, or could have been, and the drive, the disk or the system gave up.
    Failed,
    /// The user broke it off. What was finished is kept.
    Interrupted,
}

impl ErrorKind {
    /// What it asks that the system does not open or make a path that somebody named: to name
    /// another, if there is nothing at it, or something that cannot be meant.
    pub fn of_path(source: &io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidFilename => Self::Usage,
            _ => Self::Failed,
        }
    }
}
