//! A run that can be done again from its record alone: one of a simulated drive, whose profile the
//! record carries.

use std::path::PathBuf;

use writecliff_device::{DeviceKind, ErrorKind, ProfileRecord};
use writecliff_trace::ReadError;

use crate::list::RunRecord;
use crate::record::run_record::Status;
use crate::record::trace_facts::TraceFacts;

/// Why a run cannot be done again from its record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerunError {
    /// Real drives change with every write, and each run on one needs its own consent.
    #[error(
        "this was a run on {model}, which is not simulated: no second run on it can give the same, \
         and each needs a consent of its own; run the test again by its name and the drive's"
    )]
    NotSimulated {
        /// The drive.
        model: String,
    },
    /// There is no whole run to be equal to.
    #[error("this run did not come to its end; only a complete one can be done again")]
    NotComplete,
    /// What was done was no plan's.
    #[error(
        "other programs did this to the drive, and there is no plan to be done again; `writecliff export \
         --trace` keeps what they do, and `writecliff trace replay` does it again"
    )]
    Served,
    /// Several tests, where one run was to be done again.
    #[error("{} is a review and not one run; do it again as a review", path.display())]
    IsReview {
        /// Its directory.
        path: PathBuf,
    },
    /// Several runs, where one was to be done again.
    #[error(
        "{} holds repeats and not one run; do one of them again, like {}, or repeat the test by its \
         name and the drive's", path.display(), path.join(first).display()
    )]
    IsRepeats {
        /// Their directory.
        path: PathBuf,
        /// The first run's, in it.
        first: String,
    },
    /// Version 0.1 wrote no profiles.
    #[error(
        "this run's record does not say what the drive was built of: an earlier version of \
         writecliff wrote it; run the test on {address} instead"
    )]
    NoProfile {
        /// What the drive was called.
        address: String,
    },
    /// A trace is not where it was.
    #[error(
        "the run did a trace that is not part of its record, and it cannot be read now: {0}; put \
         it back in its place"
    )]
    Trace(#[from] ReadError),
    /// There is another trace in its place.
    #[error(
        "the trace {name} is not the one that the run did: {}; put that one back in its place",
        differences(recorded, found)
    )]
    OtherTrace {
        /// What the trace is called.
        name: String,
        /// What the record says of it.
        recorded: Box<TraceFacts>,
        /// What is there now.
        found: Box<TraceFacts>,
    },
}

impl RerunError {
    /// The run asked for is the wrong one, or the file in its way.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

fn differences(recorded: &TraceFacts, found: &TraceFacts) -> String {
    let identity = |facts: &TraceFacts| {
        let known = facts.identity.as_deref().unwrap_or("without identity");
        format!("{known}, {} operations", facts.operations)
    };
    format!("it was {}, and there is {}", identity(recorded), identity(found))
}

impl RunRecord {
    /// What the run's drive was built of, if the run can be done again: complete, simulated, and its
    /// traces still there and the same.
    ///
    /// # Errors
    /// [`RerunError`] with what is in the way.
    pub fn repeatable(&self) -> Result<&ProfileRecord, RerunError> {
        if self.drive.kind != DeviceKind::Simulated {
            return Err(RerunError::NotSimulated { model: self.drive.model.clone() });
        }
        if self.served().is_some() {
            return Err(RerunError::Served);
        }
        if self.status != Status::Complete {
            return Err(RerunError::NotComplete);
        }
        let address = || self.drive.address.clone();
        let profile = self.drive.profile.as_ref();
        let profile = profile.ok_or_else(|| RerunError::NoProfile { address: address() })?;
        for (recorded, found) in self.traces.iter().zip(self.plan.traces()?) {
            if *recorded != found {
                let (name, recorded) = (recorded.name.clone(), Box::new(recorded.clone()));
                return Err(RerunError::OtherTrace { name, recorded, found: Box::new(found) });
            }
        }
        Ok(profile)
    }
}
