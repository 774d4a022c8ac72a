//! The own format: Parquet, one row an operation, in order of issue.
//!
//! Header and summary are JSON in the file's metadata, which Parquet keeps at the end: what is
//! learnt while writing can be told. A file is whole or absent.

mod read;
mod room;
mod write;

use std::sync::Arc;

use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::TypePtr;
use serde::{Deserialize, Serialize};

use crate::{Header, Summary};

pub use read::TraceFile;
pub use write::TraceWriter;

/// The columns, in the order of the file.
const SCHEMA: &str = "
    message trace {
        required int64 issued_ns (INTEGER(64, false));
        optional int64 completed_ns (INTEGER(64, false));
        required int32 operation (INTEGER(8, false));
        required int64 offset (INTEGER(64, false));
        required int64 length (INTEGER(64, false));
        optional int32 queue_depth (INTEGER(32, false));
        optional int32 compressible_percent (INTEGER(8, false));
        optional int32 duplicate_percent (INTEGER(8, false));
        required int32 stream (INTEGER(16, false));
    }";

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

fn schema() -> TypePtr {
    Arc::new(parse_message_type(SCHEMA).expect("the schema above is well formed"))
}

#[cfg(test)]
mod tests;
