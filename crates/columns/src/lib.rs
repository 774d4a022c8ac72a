//! Parquet files from anywhere, read by columns with distrust.
//!
//! Runs and traces are Parquet, and people send each other both. The library that decodes them
//! takes places, encodings and lengths for granted and panics over some that cannot be. Held true
//! here: damage is one error, never a panic, never more rows than the reader asked for at once.
//! Left out: what the values mean, which every reader judges for itself.

mod page;
mod read;

use std::io;

use parquet::errors::ParquetError;

pub use read::{ColumnFile, RowGroup};

/// Why a file's columns cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// The system cannot read the file.
    #[error(transparent)]
    Read(io::Error),
    /// The file is damaged, or is not what its reader expects.
    #[error("{0}")]
    Damaged(String),
}

impl ColumnError {
    /// That the file is damaged in this way.
    pub fn damaged(how: impl Into<String>) -> Self {
        Self::Damaged(how.into())
    }
}

impl From<ParquetError> for ColumnError {
    fn from(error: ParquetError) -> Self {
        match io_error(error) {
            (source, true) => Self::Read(source),
            (damage, false) => Self::Damaged(damage.to_string()),
        }
    }
}

impl From<ColumnError> for io::Error {
    fn from(error: ColumnError) -> Self {
        match error {
            ColumnError::Read(source) => source,
            ColumnError::Damaged(how) => Self::new(io::ErrorKind::InvalidData, how),
        }
    }
}

/// The library's error as one of the system's, for who writes.
pub fn write_error(error: ParquetError) -> io::Error {
    io_error(error).0
}

/// Also says whether the system's own error was in it.
fn io_error(error: ParquetError) -> (io::Error, bool) {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => (*source, true),
            Err(source) => (io::Error::other(source), false),
        },
        other => (io::Error::other(other), false),
    }
}
