//! The traces that a storage bench does again: those that ship, made while they are used, and
//! files.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use writecliff_trace::{Header, Summary, TraceError, TraceFile, TraceIo};

/// A trace, open at its beginning.
pub(crate) struct Trace {
    /// Where it comes from.
    pub(crate) header: Header,
    /// What it amounts to.
    pub(crate) summary: Summary,
    /// Its operations, in order of issue.
    pub(crate) ios: Ios,
}

/// Operations that may be read or made on another thread.
pub(crate) type Ios = Box<dyn Iterator<Item = Result<TraceIo, TraceError>> + Send>;

/// Opens the trace that ships under this name, or the file at this path.
pub(crate) fn open(name: &str, seed: u64) -> Result<Trace, TraceError> {
    let _ = seed;
    let file = TraceFile::open(Path::new(name))?;
    Ok(Trace { header: file.header().clone(), summary: *file.summary(), ios: Box::new(file) })
}

/// What a trace is called in phases and reports: a file by its name without directory and ending.
pub(crate) fn name_of(trace: &str) -> &str {
    Path::new(trace).file_stem().and_then(|stem| stem.to_str()).unwrap_or(trace)
}

/// Operations handed over at a time, and how often ahead of their use.
const CHUNK: usize = 8192;
const CHUNKS_AHEAD: usize = 4;

/// Reads or makes operations on a thread of its own, a little ahead of their use.
pub(crate) fn read_ahead(ios: Ios) -> Ahead {
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    thread::spawn(move || {
        let mut ios = ios.peekable();
        while ios.peek().is_some() {
            let chunk: Result<Vec<TraceIo>, TraceError> = ios.by_ref().take(CHUNK).collect();
            let is_over = chunk.is_err();
            // Nobody wants more, or there is no more.
            if sender.send(chunk).is_err() || is_over {
                return;
            }
        }
    });
    Ahead { chunks, chunk: Vec::new().into_iter(), error: None }
}

/// Operations up to the first that cannot be read.
pub(crate) struct Ahead {
    chunks: Receiver<Result<Vec<TraceIo>, TraceError>>,
    chunk: std::vec::IntoIter<TraceIo>,
    error: Option<TraceError>,
}

impl Ahead {
    /// Whether the end was the trace's.
    ///
    /// # Errors
    /// What was wrong with the operation after the last one.
    pub(crate) fn end(self) -> Result<(), TraceError> {
        self.error.map_or(Ok(()), Err)
    }
}

impl Iterator for Ahead {
    type Item = TraceIo;

    fn next(&mut self) -> Option<TraceIo> {
        loop {
            if let Some(io) = self.chunk.next() {
                return Some(io);
            }
            match self.chunks.recv() {
                Ok(Ok(chunk)) => self.chunk = chunk.into_iter(),
                Ok(Err(error)) => {
                    self.error = Some(error);
                    return None;
                }
                Err(_) => return None,
            }
        }
    }
}
