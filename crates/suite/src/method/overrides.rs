//! What a user may change in a test's plan, and in which tests.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;

use crate::method::limits::{listed, typed};

/// What a user may change in any test's plan; `None` leaves the method's own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// Length of the part that the test is about.
    pub duration: Option<Nanos>,
    /// Whether that part goes on until the drive is steady.
    #[serde(default)]
    pub until_steady: bool,
    /// Shares of the LBAs to leave untouched, in percent.
    pub spare: Vec<f64>,
    /// Decides everything that is random.
    pub seed: Option<u64>,
    /// The traces of a storage bench.
    #[serde(default)]
    pub traces: Vec<String>,
    /// The run whose data are to be read again.
    #[serde(default)]
    pub reopen: Option<PathBuf>,
}

/// What a user may change in the plans of some tests and not of others: a field of [`Overrides`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// [`Overrides::duration`].
    Duration,
    /// [`Overrides::until_steady`].
    UntilSteady,
    /// [`Overrides::spare`] with one share: the setting of the whole run.
    Spare,
    /// [`Overrides::spare`] with any number of shares.
    SpareList,
    /// [`Overrides::traces`].
    Traces,
    /// [`Overrides::reopen`].
    Reopen,
}

impl Choice {
    /// The field's name.
    pub fn key(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::UntilSteady => "until_steady",
            Self::Spare | Self::SpareList => "spare",
            Self::Traces => "traces",
            Self::Reopen => "reopen",
        }
    }

    /// Whether it is a list of settings, which are one test's own: a review of many tests takes it
    /// for that one.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::SpareList | Self::Traces)
    }
}

impl Overrides {
    /// What was changed beside the seed: the keys, and what to.
    pub(crate) fn given(&self) -> Vec<(&'static str, String)> {
        let duration = self.duration.map(|duration| ("duration", typed(duration)));
        let until_steady = self.until_steady.then(|| ("until_steady", "true".to_owned()));
        let spare = (!self.spare.is_empty()).then(|| ("spare", listed(&self.spare)));
        let traces = (!self.traces.is_empty()).then(|| ("traces", self.traces.join(",")));
        let reopen = self.reopen.as_ref().map(|run| ("reopen", run.display().to_string()));
        [duration, until_steady, spare, traces, reopen].into_iter().flatten().collect()
    }

    /// What a review changes in a test with these choices: lists of settings only where they are
    /// its own.
    pub(crate) fn for_review(&self, choices: &[Choice]) -> Self {
        let mut own = self.clone();
        if !choices.contains(&Choice::SpareList) {
            own.spare.clear();
        }
        own.until_steady &= choices.contains(&Choice::UntilSteady);
        if !choices.contains(&Choice::Traces) {
            own.traces.clear();
        }
        own
    }
}
