//! A run or review held against limits and an earlier one.

use std::path::{Path, PathBuf};

use writecliff_suite::gate::{Check, GateError, Limits};
use writecliff_suite::{Review, RunRecord};

use crate::Error;

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

/// Holds the run or review in the directory `path` against `limits` and, if there is one, against the
/// run or review in `baseline`, than which no figure may be worse by more than `tolerance` percent.
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

/// The records of a run, or of all runs of a review.
fn records(path: &Path) -> Result<Vec<RunRecord>, Error> {
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
    let mut doubts = Vec::new();
    for run in runs {
        let test = run.plan.name();
        doubts.extend(run.warnings.iter().map(|warning| format!("{test}: {warning}")));
        let earlier = baseline.iter().find(|run| run.plan.name() == test);
        if let Some(earlier) = earlier.filter(|earlier| earlier.drive.model != run.drive.model) {
            let (this, other) = (&run.drive.model, &earlier.drive.model);
            let doubt = format!("this is {this}, and the baseline is {other}");
            // All tests of a review are on one drive, which is said once.
            if !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
        }
    }
    doubts
}
