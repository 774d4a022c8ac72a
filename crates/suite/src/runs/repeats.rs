//! Repeats: one test several times with nothing but the seed different, so that it is known how far
//! its figures can be relied on.
//!
//! `repeats.json` says what is to be run, and is written before anything is; the runs are beside it,
//! `seed-N` each, and how far they came is read from them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use writecliff_device::ErrorKind;
use writecliff_measure::RunDirectoryError;

use crate::judge::figures::WithFigures;
use crate::list::{Plan, RunRecord};
use crate::method::limits::PlanError;
use crate::method::overrides::Overrides;
use crate::record::figure_statistics::FigureStatistics;
use crate::record::file::create;
use crate::record::file::read;
use crate::record::options::RunOptions;
use crate::record::printable::printable_record;
use crate::record::run_record::SCHEMA_VERSION;

const FILE: &str = "repeats.json";

/// Which test is run how often on which drive, as `repeats.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// Schema version of the runs.
    pub schema_version: u32,
    /// Version of the tool that began them.
    pub tool_version: String,
    /// The drive, as the user named it.
    pub drive: String,
    /// How each run is kept and called.
    pub options: RunOptions,
    /// What the first run is to do; the others have the seeds that follow.
    pub plan: Plan,
    /// How many runs.
    pub count: u32,
}

/// What can go wrong with a directory of repeats.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepeatsError {
    /// No number of runs that says anything.
    #[error(
        "{got} repeats are not possible: from 2, for a deviation takes two, to {}",
        Repeats::MAX
    )]
    Count {
        /// What was asked for.
        got: u32,
    },
    /// The directory cannot be begun, or what is in it cannot be read.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// The plan does not take the seeds.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl RepeatsError {
    /// What it asks of whoever wanted the repeats.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Directory(error) => error.kind(),
            Self::Count { .. } | Self::Plan(_) => ErrorKind::Usage,
        }
    }
}

impl Repeats {
    /// More runs than that make no figure any surer than the model is.
    pub const MAX: u32 = 1000;

    /// `count` runs of `plan` on `drive`.
    ///
    /// # Errors
    /// [`RepeatsError::Count`], [`RepeatsError::Plan`].
    pub fn of(
        drive: &str,
        plan: Plan,
        count: u32,
        options: RunOptions,
    ) -> Result<Self, RepeatsError> {
        if !(2..=Self::MAX).contains(&count) {
            return Err(RepeatsError::Count { got: count });
        }
        let repeats = Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            drive: drive.to_owned(),
            options,
            plan,
            count,
        };
        repeats.plans()?;
        Ok(repeats)
    }

    /// Their seeds, in the order of the runs.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        let first = self.plan.seed();
        (0..u64::from(self.count)).map(move |place| first.wrapping_add(place))
    }

    /// Where each run is within their directory, and what it is to do.
    ///
    /// # Errors
    /// [`RepeatsError::Plan`].
    pub fn plans(&self) -> Result<Vec<(String, Plan)>, RepeatsError> {
        let plan = |seed: u64| {
            let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
            Ok((format!("seed-{seed}"), self.plan.clone().with(&overrides)?))
        };
        self.seeds().map(plan).collect()
    }

    /// Makes their directory.
    ///
    /// # Errors
    /// [`RepeatsError::Directory`].
    pub fn create(&self, path: &Path) -> Result<(), RepeatsError> {
        Ok(create(path, FILE, self)?)
    }

    /// Reads their file.
    ///
    /// # Errors
    /// [`RepeatsError::Directory`] if there is none or it is damaged, [`RepeatsError::Count`].
    pub fn open(path: &Path) -> Result<Self, RepeatsError> {
        let repeats: Self = read(&path.join(FILE), printable_record)?;
        match repeats.count {
            2..=Self::MAX => Ok(repeats),
            got => Err(RepeatsError::Count { got }),
        }
    }

    /// Whether the directory is that of repeats.
    pub fn is_at(path: &Path) -> bool {
        path.join(FILE).is_file()
    }
}

/// Repeats for a program that reads them.
#[derive(Debug, Serialize)]
pub struct Repeated<'a> {
    /// What all of them together say of every figure.
    pub figures: Vec<FigureStatistics>,
    /// The record of each, with its own figures.
    pub runs: Vec<WithFigures<'a>>,
}

impl<'a> Repeated<'a> {
    /// Of these runs.
    pub fn of(runs: &'a [RunRecord]) -> Self {
        let figures: Vec<_> = runs.iter().map(RunRecord::figures).collect();
        let runs = runs.iter().map(RunRecord::with_figures).collect();
        Self { figures: FigureStatistics::of(&figures), runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::{TESTS, TestEntry};

    #[test]
    fn every_test_takes_the_seeds_that_follow() {
        for test in TESTS {
            let plan = (TestEntry::find(test.name).unwrap().plan)();
            let repeats = Repeats::of("sim:tiny", plan, 3, RunOptions::default()).unwrap();
            let plans = repeats.plans().unwrap();
            let seeds: Vec<_> = plans.iter().map(|(_, plan)| plan.seed()).collect();
            assert_eq!(seeds, [1, 2, 3], "{}", test.name);
            assert_eq!(plans[2].0, "seed-3");
        }
        for count in [0, 1, 1001] {
            let plan = (TestEntry::find("trim").unwrap().plan)();
            assert!(Repeats::of("sim:tiny", plan, count, RunOptions::default()).is_err());
        }
    }
}
