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
    /// Of a trace that ships, what it is made with.
    seed: Option<u64>,
}

/// Operations, read or made on whatever thread takes them.
pub(crate) type Ios = Box<dyn Iterator<Item = Result<TraceIo, TraceError>> + Send>;

impl Trace {
    /// What tells it from other traces of the same name, if anything does.
    pub(crate) fn identity(&self) -> Option<String> {
        let Summary { digest, .. } = self.summary;
        match self.seed {
            Some(seed) => Some(format!("seed {seed}")),
            None => (digest != 0).then(|| format!("{digest:016x}")),
        }
    }
}

/// Opens the trace that ships under this name, or the file at this path.
pub(crate) fn open(name: &str, seed: u64) -> Result<Trace, TraceError> {
    if let Some(plan) = Plan::shipped(name) {
        let maker = Maker::new(&plan, seed)?;
        let (header, summary) = (maker.header().clone(), *maker.summary());
        return Ok(Trace { header, summary, ios: Box::new(maker.map(Ok)), seed: Some(seed) });
    }
    let file = TraceFile::open(Path::new(name))?;
    let (header, summary) = (file.header().clone(), *file.summary());
    Ok(Trace { header, summary, ios: Box::new(file), seed: None })
}

/// Reads a file from beginning to end: what is damaged is better known before a drive is purged
/// and filled for it. Traces that ship are made, and cannot be damaged.
pub(crate) fn verify(name: &str, seed: u64) -> Result<(), TraceError> {
    let Trace { summary, ios, seed: None, .. } = open(name, seed)? else {
        return Ok(());
    };
    let mut sum = Summary::new();
    for io in ios {
        sum.add(&io?);
    }
    if sum.ios() == summary.ios() && (summary.digest == 0 || sum.digest == summary.digest) {
        return Ok(());
    }
    let (path, reason) = (name.into(), "its rows are not those of its summary".to_owned());
    Err(TraceError::Format { path, reason })
}

/// What a trace is called in phases and reports: a file by its name without directory and ending.
pub(crate) fn name_of(trace: &str) -> &str {
    Path::new(trace).file_stem().and_then(|stem| stem.to_str()).unwrap_or(trace)
}
