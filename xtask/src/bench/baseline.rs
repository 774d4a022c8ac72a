//! An earlier commit's benches, built from a working tree of its own.

use std::path::Path;

use super::program::{self, Program};
use crate::revision::{Checkout, Revision};

/// The benches of an earlier commit, and the files they were built from.
pub(crate) struct Baseline {
    pub(crate) revision: Revision,
    pub(crate) programs: Vec<Program>,
    _checkout: Checkout,
}

impl Baseline {
    /// Checks the revision out and builds its benches. The compiled dependencies stay in
    /// `bench-baseline` of the target directory, so that only the first time is slow.
    pub(crate) fn build(revision: Revision, target: &Path) -> Result<Self, String> {
        let checkout = Checkout::new(target.join("bench-checkout"), &revision.commit)?;
        let programs = program::build(&checkout.path, &target.join("bench-baseline"))
            .map_err(|error| format!("the benches of {} do not build: {error}", revision.commit))?;
        Ok(Self { revision, programs, _checkout: checkout })
    }
}
