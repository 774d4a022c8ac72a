//! Simulated drives beside the real ones: published figures, and what the model does in the same
//! situation.
//!
//! A [`Published`] figure is a row of `drives/published/figures.csv`; its [`Scenario`] says how a drive is
//! brought into the situation that the figure is about. [`compare`] does that for all figures and
//! judges each: a specification figure by [`TOLERANCE_PERCENT`], a figure of behaviour by its own
//! bound if it has one. What is held true: a scenario is the same for every drive, and gives the
//! same figure every time. What is left out: figures that no scenario measures yet, such as power.

mod experiment;
mod published;
mod quantity;
mod scenario;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use writecliff_device::{Device, DeviceError, ErrorKind};

pub use published::{Bound, FiguresError, Kind, PUBLISHED, Published, parse};
pub use scenario::{SCENARIOS, Scenario, ScenarioEntry};

use experiment::Experiment;
use quantity::Measured;

use crate::in_parallel;

/// How far the model may be from a specification figure, in percent of it.
pub const TOLERANCE_PERCENT: f64 = 10.0;

/// A published figure and the model's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What was published.
    #[serde(flatten)]
    pub figure: Published,
    /// What the model does, in the figure's unit.
    pub model: f64,
    /// Model over published, less one, in percent.
    pub deviation_percent: f64,
    /// What that is worth.
    pub verdict: Verdict,
}

/// Whether the model is as close to a figure as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the figure's bound.
    Within,
    /// Outside of it.
    Outside,
    /// The figure has no bound: shown, not judged.
    Shown,
}

impl Comparison {
    fn new(figure: &Published, measured: Measured) -> Self {
        let model = measured.in_unit(figure.unit);
        let verdict = match figure.bound().holds(model / figure.value) {
            Some(true) => Verdict::Within,
            Some(false) => Verdict::Outside,
            None => Verdict::Shown,
        };
        let deviation_percent = (model / figure.value - 1.0) * 100.0;
        Self { figure: figure.clone(), model, deviation_percent, verdict }
    }

    /// Whether a specification figure is missed.
    pub fn fails(&self) -> bool {
        self.figure.kind == Kind::Specification && self.verdict == Verdict::Outside
    }
}

/// Why a drive could not be brought into a situation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The drive gave up.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// I/Os failed, so that the figure would mean nothing.
    #[error(
        "{address} failed {failed} I/Os; figures of a drive that fails I/Os are not comparable"
    )]
    FailedIos {
        /// The drive.
        address: String,
        /// How many.
        failed: u64,
    },
    /// The scenario needs TRIM.
    #[error("{address} has no TRIM; remove its trim-... figures")]
    NoTrim {
        /// The drive.
        address: String,
    },
}

impl CheckError {
    /// Always a drive that could not be brought into a scenario.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Failed
    }
}

/// An experiment on a drive that has ended, for a progress display.
#[derive(Debug, Clone, Copy)]
pub struct CheckProgress<'a> {
    /// The drive.
    pub drive: &'a str,
    /// Experiments that are done.
    pub done: usize,
    /// Experiments in all.
    pub all: usize,
}

/// Compares every figure with its drive, which `open` makes anew for each experiment. Runs as many
/// experiments at once as the machine has processors; the result is in the figures' order and does
/// not depend on that.
///
/// # Errors
/// An error of `open` or of an experiment; no experiment begins after it.
pub fn compare<E: From<CheckError> + Send>(
    figures: &[Published],
    open: impl Fn(&str) -> Result<Box<dyn Device>, E> + Sync,
    watch: impl Fn(CheckProgress<'_>) + Sync,
) -> Result<Vec<Comparison>, E> {
    let jobs = jobs(figures);
    let done = AtomicUsize::new(0);
    let measured = in_parallel(&jobs, |&(experiment, drive)| {
        let values = open(drive).and_then(|mut device| Ok(experiment.run(device.as_mut())?))?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch(CheckProgress { drive, done, all: jobs.len() });
        Ok::<_, E>(values.into_iter().map(move |(scenario, value)| ((drive, scenario), value)))
    })?;
    let measured: BTreeMap<_, _> = measured.into_iter().flatten().collect();
    let compared = figures.iter().map(|figure| {
        let value = measured[&(figure.drive.as_str(), figure.scenario)];
        Comparison::new(figure, value)
    });
    Ok(compared.collect())
}

/// Every experiment that a figure needs, once per drive; the longest first, so that no processor
/// is left alone with a long one at the end.
fn jobs(figures: &[Published]) -> Vec<(Experiment, &str)> {
    let needed = figures.iter().map(|f| (Experiment::of(f.scenario), f.drive.as_str()));
    let mut jobs: Vec<_> = needed.collect();
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_sim::load;

    fn comparison(published: f64, bound: &str, model: f64) -> Comparison {
        let kind = if bound.is_empty() { "specification" } else { "behaviour" };
        let bound = bound.trim_start_matches("none");
        let text = format!(
            "drive,scenario,value,unit,kind,bound,condition,source\n\
             tiny,sequential-read,{published},MB/s,{kind},{bound},,a test\n"
        );
        let figure = parse("test.csv", &text).unwrap().remove(0);
        Comparison::new(&figure, Measured::Rate { iops: 1.0, bytes_per_second: model * 1e6 })
    }

    #[test]
    fn deviations_are_percent_of_the_published_figure() {
        assert!((comparison(200.0, "", 190.0).deviation_percent + 5.0).abs() < 1e-9);
        assert!((comparison(200.0, "", 250.0).deviation_percent - 25.0).abs() < 1e-9);
    }

    #[test]
    fn verdicts_follow_the_bound() {
        use Verdict::{Outside, Shown, Within};
        let cases = [
            ("", 180.0, Within),
            ("", 220.0, Within),
            ("", 179.9, Outside),
            ("", 220.1, Outside),
            ("30%", 141.0, Within),
            ("30%", 139.0, Outside),
            ("factor 2", 101.0, Within),
            ("factor 2", 399.0, Within),
            ("factor 2", 99.0, Outside),
            ("factor 2", 401.0, Outside),
            ("at least", 2000.0, Within),
            ("at least", 199.0, Outside),
            ("at most", 1.0, Within),
            ("at most", 201.0, Outside),
            ("none", 1.0, Shown),
        ];
        for (bound, model, verdict) in cases {
            assert_eq!(comparison(200.0, bound, model).verdict, verdict, "{bound} {model}");
        }
        assert!(comparison(200.0, "", 1.0).fails() && !comparison(200.0, "at least", 1.0).fails());
    }

    fn open_tiny(name: &str) -> Result<Box<dyn Device>, CheckError> {
        Ok(load(name).unwrap().open(name))
    }

    #[test]
    fn comparisons_come_in_the_figures_order_and_are_the_same_each_time() {
        let rows: String = ["random-write", "sequential-read", "sequential-write", "random-read"]
            .iter()
            .map(|name| format!("tiny,{name},500,MB/s,behaviour,,,a test\n"))
            .collect();
        let text = format!("drive,scenario,value,unit,kind,bound,condition,source\n{rows}");
        let figures = parse("test.csv", &text).unwrap();
        let run = || compare(&figures, open_tiny, |_| {}).unwrap();
        let first = run();
        assert!(first.iter().map(|c| &c.figure).eq(&figures));
        assert_eq!(first, run());
    }
}
