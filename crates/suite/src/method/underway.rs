//! What a session needs of the record of its run, which may be of any test.

use std::any::Any;

use writecliff_device::{Purge, PurgeOutcome};
use writecliff_measure::{RunDirectory, RunDirectoryError};

use crate::record::phase::Phase;
use crate::record::warning::Warning;

/// A record while its test runs.
pub(crate) trait Underway {
    /// What stands since the run began.
    fn begun(&self) -> Begun;

    /// The phases that were begun, in order.
    fn phases(&mut self) -> &mut Vec<Phase>;

    /// The doubts up to now.
    fn warnings(&mut self) -> &mut Vec<Warning>;

    /// Keeps what the purge did.
    fn purged(&mut self, outcome: PurgeOutcome);

    /// Keeps the test's outcome, as far as it is known.
    ///
    /// # Panics
    /// If it is another test's.
    fn found(&mut self, outcome: Box<dyn Any>);

    /// Writes it as it is now.
    ///
    /// # Errors
    /// What keeps the directory from being written.
    fn write(&self, directory: &RunDirectory) -> Result<(), RunDirectoryError>;
}

/// What stands in a record since its run began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    /// Decides everything that is random in the test.
    pub(crate) seed: u64,
    /// When, in nanoseconds since 1970.
    pub(crate) started_unix_ns: Option<u64>,
    /// How the drive is to be purged, if somebody chose.
    pub(crate) purge: Option<Purge>,
}
