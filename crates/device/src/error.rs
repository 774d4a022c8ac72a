//! What kind of "no" an error is.

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
