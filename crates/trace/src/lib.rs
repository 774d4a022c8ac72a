//! Traces of what applications ask of a drive: read, written, described, made and recorded.
//!
//! A trace is a [`Header`] and any number of [`TraceIo`]s in order of issue. It is streamed
//! everywhere: nothing here holds a whole trace, whatever its length. [`TraceFile`] and
//! [`TraceWriter`] are the own format (docs/formats.md), Parquet that pandas and DuckDB read.

mod error;
mod header;
mod io;
mod map;
mod parquet;
mod record;

pub use error::TraceError;
pub use header::{Header, Summary};
pub use io::TraceIo;
pub use map::{Map, Mapping, Misfit};
pub use parquet::{TraceFile, TraceWriter};
pub use record::{Counts, Preparation, Recorded, Recorder, Tally, Target};
