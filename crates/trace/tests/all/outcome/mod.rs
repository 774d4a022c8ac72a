//! Reading a whole source in a test.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part")]

use std::path::{Path, PathBuf};

use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_trace::{Format, Header, Problems, ReadError, Source, SourceOptions, TraceIo};

/// The hand-made files.
pub(crate) const FILES: [(&str, Format); 12] = [
    ("blkparse.txt", Format::Blkparse),
    ("perf.txt", Format::Perf),
    ("ftrace.txt", Format::Perf),
    ("iolog-v2.txt", Format::Iolog),
    ("iolog-v3.txt", Format::Iolog),
    ("msr.csv", Format::Msr),
    ("systor.csv", Format::Systor),
    ("alibaba.csv", Format::Alibaba),
    ("tencent.csv", Format::Tencent),
    ("spc.csv", Format::Spc),
    ("named.csv", Format::Csv),
    ("own.csv", Format::Csv),
];

#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) ios: Vec<TraceIo>,
    pub(crate) header: Header,
    pub(crate) problems: Problems,
}

pub(crate) fn formats() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

pub(crate) fn read(path: &Path, options: &SourceOptions) -> Result<Outcome, ReadError> {
    let mut source = Source::open(path, options)?;
    let ios = source.by_ref().collect::<Result<Vec<_>, _>>()?;
    assert!(source.next().is_none(), "the end is the end");
    Ok(Outcome { ios, header: source.header().clone(), problems: source.problems().clone() })
}

pub(crate) fn read_bytes(bytes: &[u8], options: &SourceOptions) -> Result<Outcome, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t");
    std::fs::write(&path, bytes).unwrap();
    read(&path, options)
}

/// An operation as it should be read; times in nanoseconds since the first issue.
pub(crate) fn io(
    issued: u64,
    completed: Option<u64>,
    operation: Operation,
    offset: u64,
    length: u64,
    queue_depth: Option<u32>,
    stream: u16,
) -> TraceIo {
    let completed = completed.map(Nanos);
    let io = TraceIo::new(Nanos(issued), operation, Bytes(offset), Bytes(length));
    TraceIo { completed, queue_depth, stream, ..io }
}
