//! Consistency: does the drive serve the same load equally well every second, once full?
//!
//! Purge; write every LBA once, in order; then 4KB random writes over all LBAs at a queue depth of
//! 32 for 2000 s, with incompressible data. Every second is recorded. `docs/methodology.md` has
//! the definitions of the figures.

pub(crate) mod figures;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Sample, Statistics, Totals, drift};
use writecliff_workload::RandomUniform;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fast_part::FastPart;
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, listed, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::Test;
use crate::record::figure::{Figure, figures_of};
use crate::record::rate::{LatencyFigures, Rate, iops_of};
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;
use crate::record::warning::method::MethodWarning;

pub use figures::{CLIFF, FIGURES};

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// The phase of random writes that the test is about.
pub const TORTURE: &str = "torture";

/// What to do. The defaults are the published method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Length of the random writes.
    pub duration: Nanos,
    /// Size of a random write.
    pub block: Bytes,
    /// Random writes in flight.
    pub queue_depth: usize,
    /// Size of a write of the fill.
    pub fill_block: Bytes,
    /// Writes of the fill in flight.
    pub fill_queue_depth: usize,
    /// Share of the LBAs, in percent, that is never touched after the purge.
    pub spare_percent: f64,
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            duration: Nanos::from_secs(2000),
            block: Bytes::from_kib(4),
            queue_depth: 32,
            fill_block: Bytes::from_kib(128),
            fill_queue_depth: 32,
            spare_percent: 0.0,
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    /// The LBAs in use: the first part of the drive, in whole blocks.
    pub fn used(&self, capacity: Bytes) -> Bytes {
        let all = used(self.span, capacity, self.block);
        let used = all.0 as f64 * (1.0 - self.spare_percent / 100.0);
        self.block * ((used as u64).min(all.0) / self.block.0)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "consistency";
    const QUESTION: &'static str =
        "does the drive serve the same load equally well every second, once full?";
    const CHOICES: &'static [Choice] = &[Choice::Duration, Choice::Spare];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let spare_percent = match overrides.spare[..] {
            [] => self.spare_percent,
            [percent] => percent,
            _ => {
                let got = listed(&overrides.spare);
                let reason = "one run has one setting; spare-area takes a list".to_owned();
                return Err(PlanError { option: "spare", got, reason });
            }
        };
        let duration = overrides.duration.unwrap_or(self.duration);
        Ok(Self { spare_percent, duration, ..self })
    }

    fn quick(self) -> Self {
        let duration = QUICK_TORTURE.min(self.duration);
        Self { duration, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands {
            queue_depth: self.queue_depth.max(self.fill_queue_depth),
            io_size: self.block.max(self.fill_block),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        Estimate::on(drive).fill(self.used(drive.capacity)).random(self.duration)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("duration", self.duration)?;
        check_block(self.block, self.span, drive)?;
        check_block(self.fill_block, self.span, drive)?;
        let refuse = |reason| {
            Err(PlanError { option: "spare", got: self.spare_percent.to_string(), reason })
        };
        if !(0.0..100.0).contains(&self.spare_percent) {
            return refuse(
                "the untouched share is at least 0 and less than 100 percent".to_owned(),
            );
        }
        if self.used(drive.capacity) < self.block {
            return refuse(format!(
                "of {} of {} nothing is left for a write of {}",
                drive.capacity,
                drive.model,
                self.block.exact()
            ));
        }
        check_depths([self.queue_depth, self.fill_queue_depth], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &[TraceFacts]) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures_of(FIGURES, outcome)
    }

    fn fast_part(outcome: &Outcome) -> Option<FastPart> {
        outcome.fast_part
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    fill_and_torture(plan, session, FILL, TORTURE)
}

/// The two phases of the test, by the names given, on a drive that is fresh.
pub(crate) fn fill_and_torture(
    plan: &Plan,
    session: &mut Session<'_>,
    fill: &str,
    torture: &str,
) -> Result<(), RunError> {
    let span = plan.used(session.drive().capacity);
    session.fill(fill, span, plan.fill_block, plan.fill_queue_depth)?;

    let ios = RandomUniform::new(Operation::Write, span, plan.block, plan.seed);
    let writes = Queue::new(ios, plan.queue_depth);
    session.record(torture, writes, Some(plan.duration), Extent::Time(plan.duration))
}

/// The answer, in figures. IOPS are means over a second; "steady" is the last 30 % of the planned
/// duration, from t = 1400 s of 2000 s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Mean rate of the sequential fill, in MB/s (10^6); `None` if it took no time.
    pub fill_megabytes_per_second: Option<f64>,
    /// What the fill wrote before its rate fell: an SLC buffer, if the drive has one.
    pub fast_part: Option<FastPart>,
    /// Median of the first ten seconds of random writes, or of those before the cliff.
    pub fresh_iops: f64,
    /// The second in which performance fell below half of fresh and stayed there.
    pub cliff_s: Option<u32>,
    /// The first second of the steady window.
    pub steady_from_s: u32,
    /// Figures over the seconds of the steady window.
    pub steady_iops: Statistics,
    /// Worst second over mean, in the steady window: 1 is perfectly consistent.
    pub floor_to_mean: f64,
    /// Service times of all I/Os in the steady window.
    pub steady_latency: LatencyFigures,
    /// NAND writes per host write in the steady window, if the drive tells.
    pub steady_write_amplification: Option<f64>,
    /// The longest service time of the whole run of random writes.
    pub longest_ns: u64,
    /// Seconds of the random writes in which nothing at all completed.
    pub dead_seconds: u32,
}

/// Seconds that fresh performance is taken from.
const FRESH_SECONDS: usize = 10;
/// Performance has fallen off the cliff when it is below this share of fresh...
const CLIFF_SHARE: f64 = 0.5;
/// ... on average over so many seconds.
const CLIFF_SECONDS: usize = 10;
/// The steady window begins after so many tenths of the run: 1400 s of 2000 s.
const STEADY_TENTHS: usize = 7;
/// More drift than this within the steady window is no steady state (SNIA PTS: 10 %).
const DRIFT_MAX: f64 = 0.10;
/// A steady window with fewer samples says little.
const WINDOW_MIN: usize = 60;

/// The figures of what was recorded and the doubts about them; no figures if there are no random
/// writes of at least a second.
fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    conclude_phases(plan, recording, FILL, TORTURE)
}

/// [`conclude`] for a fill and a torture by these names.
pub(crate) fn conclude_phases(
    plan: &Plan,
    recording: &Recording,
    fill_name: &str,
    torture_name: &str,
) -> (Option<Outcome>, Vec<Warning>) {
    let fill: Vec<&Sample> = recording.series(fill_name).collect();
    let torture: Vec<&Sample> = recording.series(torture_name).collect();
    let iops = iops_of(torture.iter().copied());
    let mut warnings = Vec::new();
    let whole = Totals::of(torture.iter().copied());
    let recorded = whole.span;
    if recorded == Nanos::ZERO {
        warnings.push(Warning::Method(MethodWarning::NoRandomWrites));
    } else if recorded < plan.duration {
        warnings
            .push(Warning::Method(MethodWarning::Incomplete { recorded, planned: plan.duration }));
    }
    let steady_from = steady_from(plan, iops.len());
    let Some(steady_iops) = Statistics::of(&iops[steady_from..]) else {
        return (None, warnings);
    };
    let (fresh_iops, cliff) = fresh_and_cliff(&iops);
    let window = steady_from as u32..iops.len() as u32;
    let drift = drift(&iops[steady_from..]);
    if cliff.is_none() {
        warnings.push(Warning::Method(MethodWarning::NoCliff));
    }
    if (window.len()) < WINDOW_MIN {
        let seconds = iops.len() as u32;
        warnings.push(Warning::Method(MethodWarning::TooShort {
            seconds,
            window: window.len() as u32,
        }));
    } else if drift.abs() > DRIFT_MAX {
        warnings.push(Warning::Method(MethodWarning::NotSteady { percent: drift * 100.0 }));
    }
    let outcome = Outcome {
        fill_megabytes_per_second: Rate::of_series(recording, fill_name),
        fast_part: FastPart::of(&fill),
        fresh_iops,
        cliff_s: cliff.map(|second| second as u32),
        steady_from_s: window.start,
        steady_iops,
        floor_to_mean: if steady_iops.mean > 0.0 {
            steady_iops.floor / steady_iops.mean
        } else {
            0.0
        },
        steady_latency: LatencyFigures::of(recording, torture_name, window),
        steady_write_amplification: Totals::of(torture[steady_from..].iter().copied())
            .write_amplification(),
        longest_ns: whole.longest.0,
        dead_seconds: iops.iter().filter(|iops| **iops == 0.0).count() as u32,
    };
    (Some(outcome), warnings)
}

/// The steady window's first second: the last 30 % of the plan, or of what was recorded if that is
/// less.
pub(crate) fn steady_from(plan: &Plan, recorded: usize) -> usize {
    let planned = (plan.duration.0 / 1_000_000_000) as usize;
    planned.min(recorded) * STEADY_TENTHS / 10
}

/// Fresh IOPS, the median of the first ten seconds or of those before the cliff; and the cliff, the
/// first second that is, like the mean of the ten seconds from there, below half of fresh.
fn fresh_and_cliff(iops: &[f64]) -> (f64, Option<usize>) {
    let fresh_before = |second: usize| {
        let seconds = &iops[..second.min(FRESH_SECONDS).min(iops.len())];
        Statistics::of(seconds).map_or(0.0, |figures| figures.median)
    };
    // A run of a few seconds cannot show a lasting fall; half of it must do.
    let lasting = CLIFF_SECONDS.min(iops.len() / 2).max(1);
    let is_cliff = |second: &usize| {
        let next = &iops[*second..*second + lasting];
        let mean = next.iter().sum::<f64>() / lasting as f64;
        let limit = fresh_before(*second) * CLIFF_SHARE;
        iops[*second] < limit && mean < limit
    };
    let cliff = (1..(iops.len() + 1).saturating_sub(lasting)).find(is_cliff);
    (fresh_before(cliff.unwrap_or(iops.len())), cliff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cliff_is_the_first_second_of_a_lasting_fall() {
        let mut iops = vec![1000.0; 100];
        iops.extend(vec![100.0; 100]);
        assert_eq!(fresh_and_cliff(&iops), (1000.0, Some(100)));
        let mut dip = vec![1000.0; 100];
        dip[50] = 10.0;
        assert_eq!(fresh_and_cliff(&dip), (1000.0, None));
        let mut last = vec![1000.0; 100];
        last[99] = 10.0;
        assert_eq!(fresh_and_cliff(&last), (1000.0, None));
    }

    #[test]
    fn an_early_cliff_does_not_hide_in_the_fresh_figure() {
        let mut iops = vec![1000.0; 3];
        iops.extend(vec![100.0; 100]);
        assert_eq!(fresh_and_cliff(&iops), (1000.0, Some(3)));
        let mut slow_start = vec![100.0, 3000.0];
        slow_start.extend(vec![1400.0; 50]);
        assert_eq!(fresh_and_cliff(&slow_start), (1400.0, None));
    }

    #[test]
    fn a_fall_to_more_than_half_is_no_cliff() {
        let mut iops = vec![1000.0; 20];
        iops.extend(vec![501.0; 100]);
        assert_eq!(fresh_and_cliff(&iops), (1000.0, None));
        assert_eq!(fresh_and_cliff(&[]), (0.0, None));
        assert_eq!(fresh_and_cliff(&[0.0]), (0.0, None));
    }

    #[test]
    fn the_steady_window_is_the_published_one() {
        let plan = Plan::default();
        assert_eq!(steady_from(&plan, 2000), 1400);
        assert_eq!([1000, 1399, 1401].map(|n| steady_from(&plan, n)), [700, 979, 980]);
        let odd = Plan { duration: Nanos::from_secs(90), ..Plan::default() };
        assert_eq!(steady_from(&odd, 90), 63);
        assert_eq!(steady_from(&plan, 0), 0);
    }

    #[test]
    fn spare_area_is_what_the_span_leaves() {
        let plan = Plan { spare_percent: 25.0, ..Plan::default() };
        assert_eq!(plan.used(Bytes(4096 * 100 + 512)), Bytes(4096 * 75));
        assert_eq!(Plan::default().used(Bytes(u64::MAX)).0 % 4096, 0);
    }
}
