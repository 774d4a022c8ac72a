//! The traces that a storage bench does again: those that ship, made while they are used, and
//! files.

use std::path::Path;

use writecliff_trace::{Header, Maker, Plan, Summary, TraceError, TraceFile, TraceIo};

/// A trace, open at its beginning.
pub(crate) struct Trace {
    /// Where it comes from.
    pub(crate) header: Header,
    /// What it amounts to.
    pub(crate) summary: Summary,
    /// Its operations, in order of issue.
    pub(crate) ios: Ios,
}

/// Operations, read or made on whatever thread takes them.
pub(crate) type Ios = Box<dyn Iterator<Item = Result<TraceIo, TraceError>> + Send>;

/// Opens the trace that ships under this name, or the file at this path.
pub(crate) fn open(name: &str, seed: u64) -> Result<Trace, TraceError> {
    if let Some(plan) = Plan::shipped(name) {
        let maker = Maker::new(&plan, seed)?;
        let (header, summary) = (maker.header().clone(), *maker.summary());
        return Ok(Trace { header, summary, ios: Box::new(maker.map(Ok)) });
    }
    let file = TraceFile::open(Path::new(name))?;
    Ok(Trace { header: file.header().clone(), summary: *file.summary(), ios: Box::new(file) })
}

/// What a trace is called in phases and reports: a file by its name without directory and ending.
pub(crate) fn name_of(trace: &str) -> &str {
    Path::new(trace).file_stem().and_then(|stem| stem.to_str()).unwrap_or(trace)
}
