//! A trace from one format into another.

mod csv;
mod iolog;

use std::fmt;
use std::fs;
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;

use serde::Serialize;
use writecliff_output::WholeFile;

use crate::{ConvertError, Existing, Header, Source, Summary, TraceIo, TraceWriter, WriteError};
use csv::CsvWriter;
use iolog::IologWriter;

/// How often whoever waits is told how far it is, in operations.
const TELL_EVERY: u64 = 1 << 16;

/// A format that traces can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Our own: Parquet.
    Trace,
    /// fio's I/O log, version 3.
    Iolog,
    /// CSV with named columns.
    Csv,
}

/// All formats that can be written: what they are called on the command line, which is also how the
/// names of their files end, and what they are.
pub const OUTPUT_FORMATS: [(OutputFormat, &str, &str); 3] = [
    (OutputFormat::Trace, "trace", "Writecliff's own: Parquet"),
    (OutputFormat::Iolog, "iolog", "fio's I/O log, version 3"),
    (OutputFormat::Csv, "csv", "CSV with named columns"),
];

/// What a conversion has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// What was written.
    pub summary: Summary,
    /// What the source told and the format cannot carry, each in a few words.
    pub left_out: Vec<&'static str>,
}

/// Writes all of `source` to `path`, which appears when it is whole. `tell` is called every few
/// thousand operations and may end it: then nothing is written, and it gives `None`.
///
/// # Errors
/// [`ConvertError::Read`], [`ConvertError::Write`]; [`ConvertError::NoOperations`] if the source has
/// none; [`ConvertError::OutputIsInput`].
pub fn convert(
    source: &mut Source,
    path: &Path,
    format: OutputFormat,
    existing: Existing,
    tell: &mut dyn FnMut(&Source, u64) -> ControlFlow<()>,
) -> Result<Option<Conversion>, ConvertError> {
    if source.files().iter().any(|input| is_same_file(input, path)) {
        return Err(ConvertError::OutputIsInput { path: path.to_owned() });
    }
    let mut writer = Writer::create(path, format, existing)?;
    let mut left_out = LeftOut::default();
    let mut summary = Summary::new();
    while let Some(io) = source.next() {
        let io = io?;
        summary.add(&io);
        left_out.look_at(&io);
        writer.write(&io, source.stream(io.stream), path)?;
        if summary.ios().is_multiple_of(TELL_EVERY) && tell(source, summary.ios()).is_break() {
            return Ok(None);
        }
    }
    if summary.ios() == 0 {
        return Err(ConvertError::NoOperations { path: source.path().to_owned() });
    }
    writer.finish(source.header(), path)?;
    let left_out = left_out.from(format, source.header());
    Ok(Some(Conversion { summary, left_out }))
}

enum Writer {
    Trace(Box<TraceWriter>),
    Iolog(IologWriter),
    Csv(CsvWriter),
}

/// A file of text that is whole or absent.
type TextFile = BufWriter<WholeFile>;

impl Writer {
    fn create(path: &Path, format: OutputFormat, existing: Existing) -> Result<Self, WriteError> {
        if format == OutputFormat::Trace {
            return Ok(Self::Trace(Box::new(TraceWriter::create(path, existing)?)));
        }
        let file = BufWriter::with_capacity(1 << 16, WholeFile::create(path, existing)?);
        let begun = match format {
            OutputFormat::Csv => CsvWriter::begin(file).map(Self::Csv),
            _ => IologWriter::begin(file).map(Self::Iolog),
        };
        begun.map_err(|source| WriteError::Write { path: path.to_owned(), source })
    }

    fn write(&mut self, io: &TraceIo, stream: Option<&str>, path: &Path) -> Result<(), WriteError> {
        let written = match self {
            Self::Trace(writer) => return writer.write(io),
            Self::Iolog(writer) => writer.write(io),
            Self::Csv(writer) => writer.write(io, stream),
        };
        written.map_err(|source| WriteError::Write { path: path.to_owned(), source })
    }

    fn finish(self, header: &Header, path: &Path) -> Result<(), WriteError> {
        let ended = match self {
            Self::Trace(writer) => return writer.finish(header).map(|_| ()),
            Self::Iolog(writer) => writer.end(),
            Self::Csv(writer) => Ok(writer.end()),
        };
        let file = ended.and_then(|file| file.into_inner().map_err(io::Error::from));
        file.map_err(|source| WriteError::Write { path: path.to_owned(), source })?.finish()?;
        Ok(())
    }
}

/// Whether both names are there and mean one file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let number = |path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    matches!((number(one), number(other)), (Ok(one), Ok(other)) if one == other)
}

/// What operations told that not every format can carry.
#[derive(Default)]
struct LeftOut {
    completions: bool,
    queue_depths: bool,
    contents: bool,
    streams: bool,
    nanoseconds: bool,
}

impl LeftOut {
    fn look_at(&mut self, io: &TraceIo) {
        self.completions |= io.completed.is_some();
        self.queue_depths |= io.queue_depth.is_some();
        self.contents |= io.content.is_some();
        self.streams |= io.stream > 0;
        self.nanoseconds |= !io.issued.0.is_multiple_of(1000);
    }

    fn from(&self, format: OutputFormat, header: &Header) -> Vec<&'static str> {
        let has_origin = header.clock.is_some()
            || header.began_unix_ns.is_some()
            || header.device_size.is_some()
            || header.synthetic;
        let is_iolog = format == OutputFormat::Iolog;
        let all = [
            (is_iolog && self.completions, "completions"),
            (is_iolog && self.queue_depths, "queue depths"),
            (is_iolog && self.contents, "content classes of writes"),
            (is_iolog && self.streams, "streams"),
            (is_iolog && self.nanoseconds, "parts of microseconds"),
            (format != OutputFormat::Trace && has_origin, "where it comes from (the header)"),
        ];
        all.into_iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| what).collect()
    }
}

impl OutputFormat {
    /// The format that a file's name asks for.
    pub fn of_path(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.parse().ok()
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = OUTPUT_FORMATS.iter().find(|(format, _, _)| format == self);
        f.write_str(entry.map_or("", |(_, name, _)| name))
    }
}

impl FromStr for OutputFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entry = OUTPUT_FORMATS.iter().find(|(_, name, _)| *name == text);
        entry.map(|entry| entry.0).ok_or_else(|| {
            let names: Vec<&str> = OUTPUT_FORMATS.iter().map(|(_, name, _)| *name).collect();
            format!("no format to write is called '{text}'; there are {}", names.join(", "))
        })
    }
}
