//! Simulated drives beside the real ones: published figures, and what the model does in the same
//! situation.
//!
//! A [`Published`] figure is a row of `drives/published/figures.csv`; its [`Scenario`] is read off a
//! treatment (`treatments.toml`) that does what the reviewer did, with the cost of a computer of
//! the time. [`compare`] does that for all figures; [`Accuracy`] sums up by what factors the model
//! is off, apart for ratings, for the figures that a profile was fitted to, and for all others,
//! which are predictions. [`compare_shapes`] holds the words of reviews against what the model's
//! seconds look like. What is held true: a treatment is the same for every drive, and gives
//! the same figures every time, whichever are asked for. What is left out: figures that no
//! treatment gives yet, such as power.

mod accuracy;
mod comparison;
mod error;
mod perform;
mod published;
mod quantity;
mod shapes;
mod test_system;
mod treatment;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use writecliff_device::Device;

pub use accuracy::{Accuracy, Errors, RankOrder};
pub use comparison::{Comparison, RATING_TOLERANCE, Role};
pub use error::CheckError;
pub use published::{Bound, FiguresError, Kind, PUBLISHED, Published, parse};
pub use shapes::{PublishedShape, ShapeComparison, compare_shapes, published_shapes};
pub use treatment::{Class, Scenario, scenarios};

use crate::method::parallel::in_parallel;

/// A treatment of a drive that has ended, for a progress display.
#[derive(Debug, Clone, Copy)]
pub struct CheckProgress<'a> {
    /// The drive.
    pub drive: &'a str,
    /// What was done to it.
    pub treatment: &'a str,
    /// Treatments that are done.
    pub done: usize,
    /// Treatments in all.
    pub all: usize,
}

/// What is compared: simulated drives by their names.
pub trait Drives: Sync {
    /// Why a drive cannot be had.
    type Error: From<CheckError> + Send;

    /// A drive of this name, new; with `@1/16` behind it, its scale model of that part.
    ///
    /// # Errors
    /// If there is none.
    fn open(&self, name: &str) -> Result<Box<dyn Device>, Self::Error>;

    /// Whether the drive's profile was fitted to figures of this scenario.
    fn is_fitted_to(&self, name: &str, scenario: Scenario) -> bool;
}

/// Compares every figure with its drive, made anew for each treatment. Does as many treatments at
/// once as the machine has processors; the result is in the figures' order and does not depend on
/// that.
///
/// # Errors
/// If a drive cannot be opened or treated; no treatment begins after it.
pub fn compare<D: Drives>(
    figures: &[Published],
    drives: &D,
    watch: impl Fn(CheckProgress<'_>) + Sync,
) -> Result<Vec<Comparison>, D::Error> {
    let jobs = jobs(figures);
    let done = AtomicUsize::new(0);
    let measured = in_parallel(&jobs, |job| {
        let (drive, wanted) = (job.0, &job.1);
        let treatment = wanted[0].treatment();
        let mut device = match treatment.scale {
            1 => drives.open(drive)?,
            parts => drives.open(&format!("{drive}@1/{parts}"))?,
        };
        let values = perform::perform(treatment, device.as_mut(), wanted)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch(CheckProgress { drive, treatment: &treatment.name, done, all: jobs.len() });
        Ok::<_, D::Error>(values.into_iter().map(move |(name, value)| ((drive, name), value)))
    })?;
    let measured: BTreeMap<_, _> = measured.into_iter().flatten().collect();
    let compared = figures.iter().map(|figure| {
        let value = measured[&(figure.drive.as_str(), figure.scenario.name)];
        Comparison::new(figure, drives.is_fitted_to(&figure.drive, figure.scenario), value)
    });
    Ok(compared.collect())
}

/// Every treatment that a figure needs, once for each drive, with the scenarios wanted of it. The
/// last in the file take longest and go first, so that no processor is left alone with a long one.
fn jobs(figures: &[Published]) -> Vec<(&str, Vec<Scenario>)> {
    let mut jobs: BTreeMap<(usize, &str), Vec<Scenario>> = BTreeMap::new();
    for figure in figures {
        let wanted = jobs.entry((figure.scenario.treatment, &figure.drive)).or_default();
        if !wanted.contains(&figure.scenario) {
            wanted.push(figure.scenario);
        }
    }
    jobs.into_iter().rev().map(|((_, drive), wanted)| (drive, wanted)).collect()
}

#[cfg(test)]
mod tests;
