//! Traces of what applications ask of a drive: read, written, described, made and recorded.
//!
//! A trace is a [`Header`] and any number of [`TraceIo`]s in order of issue. It is streamed
//! everywhere: nothing here holds a whole trace, whatever its length. [`TraceFile`] and
//! [`TraceWriter`] are the own format (docs/formats.md), Parquet that pandas and DuckDB read.
//! [`Source`] reads that and every other format, [`convert()`] writes some.

mod convert;
mod error;
mod header;
mod io;
mod parquet;
mod source;

pub use convert::{Conversion, OUTPUT_FORMATS, OutputFormat, convert};
pub use error::TraceError;
pub use header::{Header, Summary};
pub use io::TraceIo;
pub use parquet::{TraceFile, TraceWriter};
pub use source::{BrokenLine, FORMATS, Format, Place, Problems, Source, SourceOptions};
