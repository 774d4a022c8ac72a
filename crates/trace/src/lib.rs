//! Traces of what applications ask of a drive: read, written, described, made and recorded.
//!
//! A trace is a [`Header`] and any number of [`TraceIo`]s in order of issue. It is streamed
//! everywhere: nothing here holds a whole trace, whatever its length. [`TraceFile`] and
//! [`TraceWriter`] are the own format (docs/formats.md), Parquet that pandas and DuckDB read.
//! [`Source`] reads that and every other format, [`convert()`] writes some.

mod ahead;
mod convert;
mod depth;
mod error;
mod header;
mod info;
mod io;
mod kernel;
pub mod make;
mod map;
pub mod name;
mod onto;
mod parquet;
mod record;
mod source;
mod summary;
mod volume;

pub use ahead::{ReadAhead, read_ahead};
pub use convert::{Conversion, OUTPUT_FORMATS, OutputFormat, convert};
pub use error::{ConvertError, MakeError, ReadError, RecordError, WriteError};
pub use header::Header;
pub use info::{
    Busy, Class, Description, Info, OffsetCell, OffsetMap, QueueDepths, SequentialDetector,
    ServiceTime, ServiceTimes, Share, Sizes, StreamShare, Transfers, Window, WrittenContent,
    describe,
};
pub use io::TraceIo;
pub use make::{Maker, PLANS, Plan};
pub use map::{Map, Mapping, Misfit};
pub use name::open;
pub use onto::Onto;
pub use parquet::{TraceFile, TraceWriter};
pub use record::{Counts, Preparation, Recorded, Recorder, Tally, Target};
pub use source::{BrokenLine, FORMATS, Format, FormatRow, Place, Problems, Source, SourceOptions};
pub use summary::Summary;
pub use volume::Volume;
pub use writecliff_output::Existing;
