//! Parquet files by columns: written whole or not at all, and read from anywhere with distrust.
//!
//! Runs, traces and tables of figures are Parquet, and people send each other all of them. The
//! library that decodes them takes places, encodings and lengths for granted and panics over some
//! that cannot be. Held true here: damage is one error, never a panic, never more rows than the
//! reader asked for at once; and nobody else has to do with that library, whose generic code is
//! compiled once, here. Left out: what the values mean, which every reader judges for itself.

mod field;
mod page;
mod read;
mod write;

use std::io;

use parquet::errors::ParquetError;

pub use field::{Field, Kind};
/// A text as it stands in a file: bytes, which may be no text at all.
pub use parquet::data_type::ByteArray as Text;
pub use read::{ColumnFile, Readable, RowGroup};
pub use write::{ColumnFileWriter, RowGroupWriter, Storage, Writable};

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
fn write_error(error: ParquetError) -> io::Error {
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
