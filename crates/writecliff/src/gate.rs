//! A run or review held against limits and an earlier one.

use std::path::Path;

use writecliff_device::DeviceInfo;
use writecliff_suite::gate::{Check, GateError, Limits};
use writecliff_suite::{Plan, Results, Review, ReviewTest, RunRecord};

use crate::error::Error;
use crate::repeat::RepeatRun;

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
/// against those in `baseline`, than which no figure that can be better or worse may be worse by more than `tolerance` percent.
///
/// # Errors
/// [`Error::Gate`] if it cannot be decided; what keeps a run from being read.
pub fn gate(
    path: &Path,
    limits: &Limits,
    baseline: Option<&Path>,
    tolerance: f64,
) -> Result<Gated, Error> {
    let runs = records(path)?;
    let baseline = baseline.map(records).transpose()?;
    let checks = writecliff_suite::gate::gate(&runs, limits, baseline.as_deref(), tolerance)?;
    let doubts = doubts(&runs, baseline.as_deref().unwrap_or_default());
    Ok(Gated { runs, checks, doubts })
}

/// The records of a run, or of all runs of a review or of repeats.
fn records(path: &Path) -> Result<Vec<RunRecord>, Error> {
    let incomplete = |plan: &Plan| Error::from(GateError::Incomplete { test: plan.name() });
    let paths = match Results::at(path)? {
        Results::Repeats(repeats) => {
            let records = RepeatRun::records(path)?;
            let (test, there, asked) = (repeats.plan.name(), records.len(), repeats.count);
            return match there < asked as usize {
                true => Err(GateError::RepeatsMissing { test, there, asked }.into()),
                false => Ok(records),
            };
        }
        Results::Review(Review { tests, .. }) => {
            let is_missing = |test: &&ReviewTest| !path.join(&test.directory).exists();
            if let Some(missing) = tests.iter().find(is_missing) {
                return Err(incomplete(&missing.plan));
            }
            tests.iter().map(|test| path.join(&test.directory)).collect()
        }
        Results::Run => vec![path.to_owned()],
    };
    paths.iter().map(|path| Ok(writecliff_suite::open(path)?.0)).collect()
}

/// What the figures may be worth less for, each once with the tests that it is about; what the baseline's may that
/// these are not; and what is not as it was in the baseline.
fn doubts(runs: &[RunRecord], baseline: &[RunRecord]) -> Vec<String> {
    let is_in_both =
        |earlier: &&RunRecord| runs.iter().any(|run| run.plan.name() == earlier.plan.name());
    let (told, earlier) = (told(runs.iter()), told(baseline.iter().filter(is_in_both)));
    let only_there = earlier.iter().filter(|doubt| !told.contains(doubt));
    let only_there: Vec<String> =
        only_there.map(|doubt| format!("the baseline's {doubt}")).collect();
    let here = told.into_iter().map(|doubt| match earlier.contains(&doubt) {
        true => format!("{doubt} The same is true of the baseline."),
        false => doubt,
    });
    let mut doubts: Vec<String> = here.chain(only_there).collect();
    for run in runs {
        let earlier = baseline.iter().find(|earlier| earlier.plan.name() == run.plan.name());
        // All tests of a review are on one drive, which is said once.
        let other = earlier.and_then(|earlier| other_drive(&run.drive, &earlier.drive));
        doubts.extend(other.filter(|other| !doubts.contains(other)));
    }
    doubts
}

/// Each doubt of these runs once, behind the tests that it is about.
fn told<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Vec<String> {
    let (mut found, mut tests): (Vec<(String, Vec<&str>)>, Vec<&str>) = (Vec::new(), Vec::new());
    for run in runs {
        let test = run.plan.name();
        if !tests.contains(&test) {
            tests.push(test);
        }
        for text in run.warnings.iter().map(ToString::to_string) {
            match found.iter_mut().find(|(known, _)| *known == text) {
                Some((_, of)) if of.contains(&test) => {}
                Some((_, of)) => of.push(test),
                None => found.push((text, vec![test])),
            }
        }
    }
    let in_words = |(text, of): (String, Vec<&str>)| match of.len() {
        count if count > 1 && count == tests.len() => format!("all tests: {text}"),
        _ => format!("{}: {text}", of.join(", ")),
    };
    found.into_iter().map(in_words).collect()
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
