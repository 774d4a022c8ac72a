//! Repeats: one test several times with nothing but the seed different, so that it is known how far
//! its figures can be relied on.
//!
//! `repeats.json` says what is to be run, and is written before anything is; the runs are beside it,
//! `seed-N` each, and how far they came is read from them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use writecliff_device::ErrorKind;
use writecliff_measure::RunDirectoryError;

use crate::foreign::printable_record;
use crate::results;
use crate::{
    Figure, Overrides, Plan, PlanError, RunOptions, RunRecord, SCHEMA_VERSION, WithFigures,
};

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
        Ok(results::create(path, FILE, self)?)
    }

    /// Reads their file.
    ///
    /// # Errors
    /// [`RepeatsError::Directory`] if there is none or it is damaged, [`RepeatsError::Count`].
    pub fn open(path: &Path) -> Result<Self, RepeatsError> {
        let repeats: Self = results::read(path, FILE, printable_record)?;
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

/// What several runs of one test say of one of its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureStatistics {
    /// The figure; its value is the mean.
    #[serde(flatten)]
    pub figure: Figure,
    /// Sample standard deviation (the sum of squares divided by n − 1); `None` of a single value.
    pub deviation: Option<f64>,
    /// How many runs gave it.
    pub count: usize,
    /// The lowest of them.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
}

impl FigureStatistics {
    /// Of every figure that any of these runs has, in the order of the first that has it.
    pub fn of(runs: &[Vec<Figure>]) -> Vec<Self> {
        let mut all: Vec<(Figure, Vec<f64>)> = Vec::new();
        for figure in runs.iter().flatten() {
            match all.iter_mut().find(|(known, _)| known.name == figure.name) {
                Some((_, values)) => values.push(figure.value),
                None => all.push((figure.clone(), vec![figure.value])),
            }
        }
        all.into_iter().map(|(figure, values)| Self::of_values(figure, &values)).collect()
    }

    fn of_values(figure: Figure, values: &[f64]) -> Self {
        let (mean, deviation) = mean_and_deviation(values);
        Self {
            figure: Figure { value: mean, ..figure },
            deviation,
            count: values.len(),
            lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
            highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
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

/// The mean of one or more values and their sample standard deviation, which takes two.
///
/// # Panics
/// If there are none.
pub fn mean_and_deviation(values: &[f64]) -> (f64, Option<f64>) {
    assert!(!values.is_empty(), "a mean is one of something");
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
    (mean, deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestEntry;

    fn figures(values: &[(&str, f64)]) -> Vec<Figure> {
        values.iter().map(|(name, value)| Figure::iops(*name, *value)).collect()
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        // The mean is 5 and the sum of squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32.
        let runs = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|v| figures(&[("floor", v)]));
        let [floor] = &FigureStatistics::of(&runs)[..] else { panic!("one figure") };
        assert_eq!((floor.figure.value, floor.count), (5.0, 8));
        assert!((floor.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((floor.lowest, floor.highest), (2.0, 9.0));
        // Large values that differ little lose nothing.
        let (mean, deviation) = mean_and_deviation(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        assert_eq!((mean, deviation), (1e9 + 10.0, Some(30.0_f64.sqrt())));
    }

    #[test]
    fn a_figure_that_some_runs_lack_is_that_of_the_others() {
        let runs = [
            figures(&[("mean", 10.0)]),
            figures(&[("mean", 20.0), ("cliff", 7.0)]),
            figures(&[("mean", 30.0)]),
        ];
        let all = FigureStatistics::of(&runs);
        let found: Vec<_> = all
            .iter()
            .map(|s| (s.figure.name.as_str(), s.figure.value, s.deviation, s.count))
            .collect();
        assert_eq!(found, [("mean", 20.0, Some(10.0), 3), ("cliff", 7.0, None, 1)]);
        assert_eq!(FigureStatistics::of(&[]), []);
    }

    #[test]
    fn every_test_takes_the_seeds_that_follow() {
        for test in crate::TESTS {
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
