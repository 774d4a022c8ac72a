//! Queue depth: how does the drive scale?
//!
//! Random and sequential reads, writes and a mixture of both with 1 to 256 I/Os in flight. The drive
//! is prepared once, and reads come before writes, so that none of them meets what writes have left to
//! do. Writes find the drive as those before left it: they are measured once more in another order,
//! which tells what the number in flight does from what came before.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Recording, Streams, Totals};

use crate::method::estimate::{Demands, Estimate};
use crate::method::ladder::{Ladder, States};
use crate::method::limits::{
    IN_FLIGHT_MAX, PlanError, check_block, check_duration, check_list, check_percents, listed, used,
};
use crate::method::loads::{Load, few_ios};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, few, quick_span};
use crate::method::seed::seed_of;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::warning::{MethodWarning, Warning};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// I/Os in flight, one measurement each. What the drive does not take at once waits in the host.
    pub queue_depths: Vec<usize>,
    /// Shares of reads, in percent, each a load of its own; the most reads first.
    pub read_percents: Vec<u8>,
    /// Size of a random I/O.
    pub random_block: Bytes,
    /// Size of a sequential I/O.
    pub sequential_block: Bytes,
    /// Length of a measurement.
    pub measurement: Nanos,
    /// The longest that random writes last before such are measured.
    pub soak: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            queue_depths: (0..=8).map(|power| 1 << power).collect(),
            read_percents: vec![100, 70, 0],
            random_block: Bytes::from_kib(4),
            sequential_block: Bytes::from_kib(128),
            measurement: Nanos::from_secs(20),
            soak: Nanos::from_secs(1800),
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.random_block.max(self.sequential_block))
    }

    fn states(&self, drive: &DeviceInfo) -> States {
        States { span: self.used(drive), soak: self.soak, seed: self.seed }
    }

    /// The loads in one order, the most reads first.
    fn loads(&self, random: bool) -> Vec<Load> {
        let block = if random { self.random_block } else { self.sequential_block };
        Load::of_shares(random, block, &self.read_percents)
    }

    fn ladder(&self, drive: &DeviceInfo) -> Ladder {
        Ladder {
            states: self.states(drive),
            loads: [self.loads(false), self.loads(true)].concat(),
            soak_block: self.random_block,
            ends_soaked: false,
        }
    }

    fn deepest(&self) -> usize {
        self.queue_depths.iter().copied().max().unwrap_or(1)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "queue-depth";
    const QUESTION: &'static str = "how does it scale with the I/Os in flight?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    /// 2: each measurement goes to places of its own. 3: writes once more in another order.
    const METHOD_VERSION: u32 = 3;

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { measurement: overrides.duration.unwrap_or(self.measurement), ..self })
    }

    fn quick(self) -> Self {
        Self {
            queue_depths: few(self.queue_depths, &[1, 4, 32, 256]),
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            soak: QUICK_TORTURE.min(self.soak),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        States::demands(self.deepest(), self.random_block.max(self.sequential_block))
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let full = self.states(drive).estimate_full(drive);
        let each = self.measurement * self.queue_depths.len() as u64;
        let measured = |estimate: Estimate, load: Load| match (load.writes(), load.random) {
            (false, _) => estimate.rest(each),
            (true, true) => estimate.random(each * 2),
            (true, false) => estimate.sequential(each * 2),
        };
        let loads = self.loads(false).into_iter().chain(self.loads(true));
        loads.fold(full.fill(self.used(drive)).random(self.soak), measured)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("queue_depths", &self.queue_depths)?;
        check_list("read_percents", &self.read_percents)?;
        if !self.queue_depths.iter().all(|depth| (1..=IN_FLIGHT_MAX).contains(depth)) {
            let reason = format!("1 to {IN_FLIGHT_MAX} are kept in flight");
            let got = listed(&self.queue_depths);
            return Err(PlanError { option: "queue_depths", got, reason });
        }
        check_percents("read_percents", &self.read_percents)?;
        check_duration("measurement", self.measurement)?;
        check_duration("soak", self.soak)?;
        check_block(self.random_block, self.span, drive)?;
        check_block(self.sequential_block, self.span, drive)?;
        States::check(self.span, drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        let ladder = self.ladder(session.drive());
        ladder.climb(session, |session, load| measure(self, session, load))
    }

    fn is_one_rate(&self, series: &str, _: u32) -> bool {
        series.contains("-qd")
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        let of_load = |load: &LoadFigures| {
            let depths = load.depths.iter().rev();
            depths.flat_map(|depth| depth.figures(load.load)).collect::<Vec<_>>()
        };
        outcome.loads.iter().flat_map(of_load).collect()
    }
}

/// The phase that measures a load with so many in flight.
pub fn phase(load: Load, queue_depth: usize) -> String {
    format!("{}-qd{queue_depth}", load.name())
}

/// The phase that does so once more, in another order.
fn phase_again(load: Load, queue_depth: usize) -> String {
    format!("{}-again", phase(load, queue_depth))
}

/// A load with each number in flight.
fn measure(plan: &Plan, session: &mut Session<'_>, load: Load) -> Result<(), RunError> {
    let in_order = plan.queue_depths.iter().map(|depth| (phase(load, *depth), *depth));
    let mut again: Vec<(String, usize)> = match load.writes() {
        true => plan.queue_depths.iter().map(|depth| (phase_again(load, *depth), *depth)).collect(),
        false => Vec::new(),
    };
    // In an order of chance, that of their seeds.
    again.sort_by_key(|(name, _)| seed_of(plan.seed, name).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (span, lba_size) = (plan.used(session.drive()), session.drive().lba_size);
    let (extent, duration) = (Extent::Time(plan.measurement), Some(plan.measurement));
    for (name, depth) in in_order.chain(again) {
        let stream = load.stream(span, lba_size, depth, seed_of(plan.seed, &name));
        session.record(&name, Streams::new([stream]), duration, extent)?;
    }
    Ok(())
}

/// How fast and how late each load was with how many in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Random ones first, of each order the most reads first.
    pub loads: Vec<LoadFigures>,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFigures {
    /// Which.
    pub load: Load,
    /// In the order of the plan.
    pub depths: Vec<DepthFigures>,
}

/// One load with so many in flight; reads and writes together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DepthFigures {
    /// I/Os in flight, those that wait in the host among them.
    pub queue_depth: usize,
    /// How fast.
    pub rate: Rate,
    /// How late.
    pub latency: LatencyFigures,
    /// I/Os a second when it was measured once more in another order; `None` for reads, which leave
    /// the drive as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_again: Option<f64>,
}

impl DepthFigures {
    fn figures(&self, load: Load) -> impl Iterator<Item = Figure> {
        let name = format!("{} at QD{}", load.name().replace('-', " "), self.queue_depth);
        let rate = match load.random {
            true => Figure::iops(&name, self.rate.iops),
            false => Figure::rate(&name, self.rate.megabytes_per_second),
        };
        let mean = Figure::latency(format!("{name}, mean"), self.rate.mean_ns).unjudged();
        let p99 = Figure::percentile(format!("{name}, p99"), self.latency.p99_ns);
        let figures = [Some(rate), Some(mean), p99.map(Figure::unjudged)];
        figures.into_iter().flatten().map(move |figure| figure.of(load.name()))
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let (mut loads, mut warnings) = (Vec::new(), Vec::new());
    for load in plan.loads(true).into_iter().chain(plan.loads(false)) {
        let found = plan.queue_depths.iter().map_while(|depth| figures_of(load, *depth, recording));
        let depths: Vec<DepthFigures> = found.collect();
        if depths.len() < plan.queue_depths.len() && warnings.is_empty() {
            let phase = phase(load, plan.queue_depths[depths.len()]);
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
        }
        if !depths.is_empty() {
            loads.push(LoadFigures { load, depths });
        }
    }
    let counted =
        loads.iter().flat_map(|of| of.depths.iter().map(|depth| (of.load, depth.queue_depth)));
    warnings.extend(few_ios(counted.map(|(load, depth)| {
        let ios = Totals::of(recording.series(&phase(load, depth))).ios;
        (phase(load, depth), ios, depth)
    })));
    ((!loads.is_empty()).then_some(Outcome { loads }), warnings)
}

fn figures_of(load: Load, queue_depth: usize, recording: &Recording) -> Option<DepthFigures> {
    let phase = phase(load, queue_depth);
    let rate = Rate::of(&Totals::of(recording.series(&phase)))?;
    let latency = LatencyFigures::of(recording, &phase, 0..u32::MAX);
    let again = Totals::of(recording.series(&phase_again(load, queue_depth)));
    let iops_again = Rate::of(&again).map(|rate| rate.iops);
    Some(DepthFigures { queue_depth, rate, latency, iops_again })
}
