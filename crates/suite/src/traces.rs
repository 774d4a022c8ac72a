//! The traces that a storage bench does again: those that ship, made while they are used, and
//! files in the own format.

use writecliff_trace::{Format, Header, Source, SourceOptions, Summary, TraceError};

pub(crate) use writecliff_trace::name::title as name_of;

/// A trace, open at its beginning.
pub(crate) struct Trace {
    /// Where it comes from.
    pub(crate) header: Header,
    /// What it amounts to.
    pub(crate) summary: Summary,
    /// Its operations, in order of issue.
    pub(crate) ios: Source,
}

impl Trace {
    /// What tells it from other traces of the same name, if anything does.
    pub(crate) fn identity(&self) -> Option<String> {
        self.ios.identity()
    }
}

/// Opens the trace that ships under this name, or the file at this path.
pub(crate) fn open(name: &str, seed: u64) -> Result<Trace, TraceError> {
    let ios = writecliff_trace::open(name, seed, &SourceOptions::of(Format::Trace))?;
    let (header, summary) = (ios.header().clone(), ios.summary().copied());
    let summary = summary.expect("traces of our own tell what they amount to");
    Ok(Trace { header, summary, ios })
}

/// Reads a file from beginning to end: what is damaged is better known before a drive is purged
/// and filled for it.
pub(crate) fn verify(name: &str, seed: u64) -> Result<(), TraceError> {
    open(name, seed)?.ios.verify()
}
