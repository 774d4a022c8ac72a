//! A run or review held against limits and an earlier one.

use std::path::{Path, PathBuf};

use writecliff_device::DeviceInfo;
use writecliff_suite::gate::{Check, GateError, Limits};
use writecliff_suite::{Repeats, Review, RunRecord};

use crate::{Error, RepeatRun};

/// What a gate decided, and what that may be worth less for.
#[derive(Debug)]
pub struct Gated {
    /// The runs that were judged.
    pub runs: Vec<RunRecord>,
    /// Every check, in the order of the tests.
    pub checks: Vec<Check>,
    /// Doubts about the figures, each with its test.
    pub doubts: Vec<String>,
}

impl Gated {
    /// How many checks failed; the gate is open if none did.
    pub fn failed(&self) -> usize {
        self.checks.iter().filter(|check| !check.passes()).count()
    }
}

/// Holds the run, review or repeats in the directory `path` against `limits` and, if there is one,
/// against those in `baseline`, than which no figure may be worse by more than `tolerance` percent.
///
/// # Errors
/// [`Error::Gate`] if it cannot be decided; what keeps a run from being read.
pub fn gate(
    path: &Path,
    limits: &Limits,
    baseline: Option<&Path>,
    tolerance: f64,
) -> Result<Gated, Error> {
    limits.ask_something(baseline.is_some())?;
    let runs = records(path)?;
    let baseline = baseline.map(records).transpose()?;
    let checks = writecliff_suite::gate::gate(&runs, limits, baseline.as_deref(), tolerance)?;
    let doubts = doubts(&runs, baseline.as_deref().unwrap_or_default());
    Ok(Gated { runs, checks, doubts })
}

/// The records of a run, or of all runs of a review or of repeats.
fn records(path: &Path) -> Result<Vec<RunRecord>, Error> {
    if Repeats::is_at(path) {
        let (test, records) = (Repeats::open(path)?.plan.name(), RepeatRun::records(path)?);
        return match records.is_empty() {
            true => Err(GateError::Incomplete { test }.into()),
            false => Ok(records),
        };
    }
    let paths: Vec<PathBuf> = match Review::is_at(path) {
        true => {
            let tests = Review::open(path)?.tests;
            if let Some(missing) = tests.iter().find(|test| !path.join(&test.directory).exists()) {
                return Err(GateError::Incomplete { test: missing.plan.name() }.into());
            }
            tests.iter().map(|test| path.join(&test.directory)).collect()
        }
        false => vec![path.to_owned()],
    };
    paths.iter().map(|path| Ok(writecliff_suite::open(path)?.0)).collect()
}

fn doubts(runs: &[RunRecord], baseline: &[RunRecord]) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    for run in runs {
        let test = run.plan.name();
        let of_run = run.warnings.iter().map(|warning| format!("{test}: {warning}"));
        let new: Vec<String> = of_run.filter(|doubt| !doubts.contains(doubt)).collect();
        doubts.extend(new);
        let earlier = baseline.iter().find(|run| run.plan.name() == test);
        // All tests of a review are on one drive, which is said once.
        let other = earlier.and_then(|earlier| other_drive(&run.drive, &earlier.drive));
        doubts.extend(other.filter(|doubt| !doubts.contains(doubt)));
    }
    doubts
}

/// What tells the drive from that of the baseline, if anything does.
fn other_drive(this: &DeviceInfo, other: &DeviceInfo) -> Option<String> {
    if this.model != other.model {
        return Some(format!("this is {}, and the baseline is {}", this.model, other.model));
    }
    let (ours, theirs) = (this.profile.as_ref()?, other.profile.as_ref()?);
    let differs = ours.sha256 != theirs.sha256;
    differs.then(|| format!("the profile of {} is not the one of the baseline", this.model))
}
