//! Power: what does the drive draw?
//!
//! Idle; sequential writes; idle after them, until what the drive still has to do is done; random
//! writes; and idle after those. A simulated drive tells what it draws; on a real one the log of a
//! meter is added to the run afterwards.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Sample};
use writecliff_workload::{RandomUniform, Sequential};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::quick_span;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// Nothing to do, after the purge.
pub const IDLE: &str = "idle";
/// Sequential writes.
pub const SEQUENTIAL_WRITE: &str = "sequential-write";
/// Nothing to do, after these.
pub const AFTER_SEQUENTIAL: &str = "after-sequential-write";
/// Random writes.
pub const RANDOM_WRITE: &str = "random-write";
/// Nothing to do, after these.
pub const AFTER_RANDOM: &str = "after-random-write";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Length of the first idle phase.
    pub idle: Nanos,
    /// Length of each load.
    pub load: Nanos,
    /// Length of each idle phase after a load.
    pub settle: Nanos,
    /// Size of a sequential write.
    pub sequential_block: Bytes,
    /// Size of a random write.
    pub random_block: Bytes,
    /// Writes in flight, of either kind.
    pub queue_depth: usize,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            idle: Nanos::from_secs(60),
            load: Nanos::from_secs(180),
            settle: Nanos::from_secs(180),
            sequential_block: Bytes::from_kib(128),
            random_block: Bytes::from_kib(4),
            queue_depth: 32,
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.random_block)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "power";
    const QUESTION: &'static str = "what power does the drive draw?";
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    const NEEDS: &'static [Mechanism] = &[Mechanism::Power];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { load: overrides.duration.unwrap_or(self.load), ..self })
    }

    fn quick(self) -> Self {
        let short = |own: Nanos| own.min(Nanos::from_secs(5));
        let (idle, load, settle) = (short(self.idle), short(self.load), short(self.settle));
        Self { idle, load, settle, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        let io_size = self.sequential_block.max(self.random_block);
        Demands { queue_depth: self.queue_depth, io_size }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let rest = self.idle + self.settle + self.settle;
        Estimate::on(drive).rest(rest).sequential(self.load).random(self.load)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("idle", self.idle)?;
        check_duration("load", self.load)?;
        check_duration("settle", self.settle)?;
        check_block(self.sequential_block, self.span, drive)?;
        check_block(self.random_block, self.span, drive)?;
        check_depths([self.queue_depth], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.phases.iter().flat_map(PowerPhase::figures).collect()
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    session.idle(IDLE, plan.idle)?;

    let span = plan.used(session.drive());
    let pass = Sequential::new(Operation::Write, span, plan.sequential_block);
    let sequential = Queue::new(std::iter::repeat(pass).flatten(), plan.queue_depth);
    session.record(SEQUENTIAL_WRITE, sequential, Some(plan.load), Extent::Time(plan.load))?;
    session.idle(AFTER_SEQUENTIAL, plan.settle)?;

    let ios = RandomUniform::new(Operation::Write, span, plan.random_block, plan.seed);
    let random = Queue::new(ios, plan.queue_depth);
    session.record(RANDOM_WRITE, random, Some(plan.load), Extent::Time(plan.load))?;
    session.idle(AFTER_RANDOM, plan.settle)
}

/// What the drive drew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the run; those without a figure are left out.
    pub phases: Vec<PowerPhase>,
}

/// What the drive drew in one phase, in watts, from means over a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerPhase {
    /// Which.
    pub phase: String,
    /// Mean.
    pub mean: f64,
    /// Lowest second.
    pub lowest: f64,
    /// Highest second.
    pub highest: f64,
    /// Mean of the last tenth of the phase.
    pub settled: f64,
    /// The second from which on it stayed within 10 % of that; `None` if not even in the last tenth.
    pub settled_after_s: Option<u32>,
}

/// How far from the settled power is still settled.
const SETTLED_WITHIN: f64 = 0.10;

impl PowerPhase {
    fn figures(&self) -> Vec<Figure> {
        let watts = |figure: &str, watts| {
            let name = format!("{figure} power, {}", self.phase);
            Figure::new(name, watts, Unit::Watts, Good::AtMost).of(&self.phase)
        };
        let mut figures = vec![
            watts("mean", self.mean),
            watts("lowest", self.lowest).unjudged(),
            watts("highest", self.highest).unjudged(),
        ];
        if self.settled_after_s.is_some() {
            figures.push(watts("settled", self.settled).unjudged());
        }
        figures
    }
}

fn conclude(_: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let names = [IDLE, SEQUENTIAL_WRITE, AFTER_SEQUENTIAL, RANDOM_WRITE, AFTER_RANDOM];
    let phases: Vec<PowerPhase> =
        names.iter().filter_map(|name| phase(name, recording.series(name))).collect();
    let has_samples = |name: &&str| recording.series(name).next().is_some();
    let mut warnings = Vec::new();
    if let Some(missing) = names.iter().find(|name| !has_samples(name)) {
        warnings.push(Warning::Method(MethodWarning::Ended {
            phase: (*missing).to_owned(),
            lasted: None,
        }));
    }
    if phases.is_empty() {
        warnings.push(Warning::Method(MethodWarning::NoPower));
        return (None, warnings);
    }
    (Some(Outcome { phases }), warnings)
}

fn phase<'a>(name: &str, samples: impl Iterator<Item = &'a Sample>) -> Option<PowerPhase> {
    let told =
        samples.filter_map(|sample| Some((sample.second, sample.power_microwatts? as f64 / 1e6)));
    let (seconds, watts): (Vec<u32>, Vec<f64>) = told.unzip();
    let mean = |watts: &[f64]| watts.iter().sum::<f64>() / watts.len() as f64;
    let last = watts.get(watts.len() - watts.len().div_ceil(10)..).filter(|l| !l.is_empty())?;
    let settled = mean(last);
    let is_away = |watts: &f64| (watts - settled).abs() > settled * SETTLED_WITHIN;
    let before_last = watts.len() - last.len();
    let settled_after_s = match watts.iter().rposition(is_away) {
        None => Some(0),
        Some(index) => (index < before_last).then(|| seconds[index] + 1),
    };
    Some(PowerPhase {
        phase: name.to_owned(),
        mean: mean(&watts),
        lowest: watts.iter().copied().fold(f64::INFINITY, f64::min),
        highest: watts.iter().copied().fold(0.0, f64::max),
        settled,
        settled_after_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a phase with these watts, a second each, settled.
    fn settled(watts: &[f64]) -> Option<u32> {
        let sample = |(second, watts): (usize, &f64)| Sample {
            second: second as u32,
            power_microwatts: Some((watts * 1e6) as u64),
            ..Sample::default()
        };
        let samples: Vec<Sample> = watts.iter().enumerate().map(sample).collect();
        phase(IDLE, samples.iter()).unwrap().settled_after_s
    }

    #[test]
    fn what_swings_to_the_end_has_not_settled() {
        let swings: Vec<f64> = (0..100).map(|s| if s % 10 < 3 { 7.6 } else { 5.2 }).collect();
        assert_eq!(settled(&swings), None);
        assert_eq!(settled(&[vec![7.0; 40], vec![5.0; 60]].concat()), Some(40));
        assert_eq!(settled(&[5.0; 60]), Some(0));
    }
}
