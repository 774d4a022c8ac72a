//! The own format: Parquet, one row an operation, in order of issue.
//!
//! Header and summary are JSON in the file's metadata, which Parquet keeps at the end: what is
//! learnt while writing can be told. A file is whole or absent.

mod read;
mod room;
mod write;

use serde::{Deserialize, Serialize};
use writecliff_columns::{Field, Kind};

use crate::{Header, Summary};

pub use read::TraceFile;
pub use write::TraceWriter;

/// Where the metadata lie among the file's.
const METADATA_KEY: &str = "writecliff.trace";

/// Rows of a row group: bounds the memory of writer and reader.
const ROWS_PER_GROUP: usize = 1 << 16;

/// The version of columns and metadata.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Metadata {
    schema_version: u32,
    header: Header,
    summary: Summary,
}

/// The columns, in the order of the file. Times grow by little: their steps are small. All other
/// columns have few values, or are better compressed whole.
fn fields() -> [Field; 9] {
    [
        Field::required("issued_ns", Kind::U64).in_steps(),
        Field::optional("completed_ns", Kind::U64).in_steps(),
        Field::required("operation", Kind::U8),
        Field::required("offset", Kind::U64).in_steps(),
        Field::required("length", Kind::U64),
        Field::optional("queue_depth", Kind::U32),
        Field::optional("compressible_percent", Kind::U8),
        Field::optional("duplicate_percent", Kind::U8),
        Field::required("stream", Kind::U16),
    ]
}

#[cfg(test)]
mod tests;
