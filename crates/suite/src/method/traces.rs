//! The traces that a storage bench does again: those that ship, made while they are used, and
//! files in the own format.
//!
//! A trace is resolved once: what was found at its name then is what every question to the plan is
//! answered by, what is done must still be that, and the record keeps what tells it from others.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use writecliff_trace::{Format, Header, ReadError, Source, SourceOptions, Summary, name};

use crate::record::trace_facts::TraceFacts;

/// A trace, as it was found.
#[derive(Debug)]
pub(crate) struct Known {
    /// Where it comes from.
    pub(crate) header: Header,
    /// What it amounts to.
    pub(crate) summary: Summary,
    identity: Option<String>,
}

/// The traces of a plan that were looked at already, by name and seed. Clones of a plan share them,
/// and no two plans differ by them.
#[derive(Clone, Default)]
pub struct Resolved(Arc<Mutex<Found>>);

type Found = BTreeMap<(String, u64), Arc<Known>>;

impl Resolved {
    /// What is known of the trace that ships under this name, or of the file at this path.
    pub(crate) fn get(&self, name: &str, seed: u64) -> Result<Arc<Known>, ReadError> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), seed);
        if let Some(known) = found.get(&key) {
            return Ok(known.clone());
        }
        let known = Arc::new(Known::of(&source(name, seed)?));
        found.insert(key, known.clone());
        Ok(known)
    }

    /// The trace at its beginning.
    ///
    /// # Errors
    /// [`ReadError::Format`] if there is another one by now.
    pub(crate) fn open(&self, name: &str, seed: u64) -> Result<Source, ReadError> {
        let (known, source) = (self.get(name, seed)?, source(name, seed)?);
        if known.is(&source) {
            return Ok(source);
        }
        let reason = "it is not the trace that it was when it was looked at first; run the test \
                      again with the one that is there now";
        Err(ReadError::Format { path: name.into(), reason: reason.to_owned() })
    }
}

impl Known {
    fn of(source: &Source) -> Self {
        let summary = source.summary().copied();
        let summary = summary.expect("traces of our own tell what they amount to");
        Self { header: source.header().clone(), summary, identity: source.identity() }
    }

    fn is(&self, source: &Source) -> bool {
        source.identity() == self.identity && source.summary() == Some(&self.summary)
    }

    /// What the record keeps of it.
    pub(crate) fn facts(&self, name: &str) -> TraceFacts {
        TraceFacts {
            name: name::title(name).to_owned(),
            identity: self.identity.clone(),
            synthetic: self.header.synthetic,
            operations: self.summary.ios(),
            trims: self.summary.trims,
        }
    }
}

fn source(name: &str, seed: u64) -> Result<Source, ReadError> {
    writecliff_trace::open(name, seed, &SourceOptions::of(Format::Trace))
}

impl PartialEq for Resolved {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved").finish_non_exhaustive()
    }
}
