//! Idle: what does sleep cost?
//!
//! The drive is left alone for a while and then asked for one read: what that takes, and what the
//! drive drew at the end of the rest. The longer the rest, the deeper it sleeps.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, Nanos, Operation};
use writecliff_measure::{Idle, Queue, Recording, Totals};
use writecliff_workload::RandomUniform;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};
use crate::method::limits::listed;
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, used,
};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::rate::LatencyFigures;
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase that writes what is read.
pub const FILL: &str = "fill";
/// The phase that gives the drive time after that.
pub const SETTLE: &str = "settle";
/// The phase of all rests; the series in it of reads without one.
const AWAKE: &str = "awake";
/// The series of the read that ends the drive's sleep after the fill.
const WAKE: &str = "wake";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// How long the drive is left alone.
    pub rests: Vec<Nanos>,
    /// How often each.
    pub repeats: u32,
    /// Time after the fill in which the drive does what it still has to do.
    pub settle: Nanos,
    /// Length of the reads without a rest.
    pub awake: Nanos,
    /// Size of a read.
    pub block: Bytes,
    /// The part of the drive, from its start, that is written and read.
    pub span: Bytes,
    /// Decides which LBAs are read.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        let seconds = [1, 3, 10, 30, 60, 180, 600].map(Nanos::from_secs);
        Self {
            rests: [&[Nanos::from_millis(100)], &seconds[..]].concat(),
            repeats: 3,
            settle: Nanos::from_secs(300),
            awake: Nanos::from_secs(5),
            block: Bytes::from_kib(4),
            span: Bytes(8_000_000_000),
            seed: 1,
        }
    }
}

impl Plan {
    /// All rests in the order of the run, each with its number.
    fn each(&self) -> impl Iterator<Item = (Nanos, u32)> + '_ {
        self.rests.iter().flat_map(|rest| (1..=self.repeats).map(|number| (*rest, number)))
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "idle";
    const QUESTION: &'static str = "what does sleep cost?";
    const NEEDS: &'static [Mechanism] = &[Mechanism::Sleep];
    const REVIEWS: InReviews = InReviews::OnRequest;
    const NOT_ALWAYS: &'static [&'static str] = &["power after"];

    fn quick(self) -> Self {
        let rests = self.rests.iter().copied().filter(|rest| *rest <= QUICK_REST).collect();
        let second = Nanos::from_secs(1);
        let (settle, awake) = (second.min(self.settle), second.min(self.awake));
        Self { rests, repeats: 1, settle, awake, span: QUICK_FILL.min(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: FILL_QUEUE_DEPTH, io_size: self.block.max(FILL_BLOCK) }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let rests = self.each().fold(Nanos::ZERO, |sum, (rest, _)| sum + rest);
        let fill = Estimate::on(drive).fill(self.span.min(drive.capacity));
        fill.rest(self.settle + self.awake + rests)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("rests", &self.rests)?;
        let longest = self.rests.iter().copied().max().unwrap_or_default();
        check_duration("rests", longest.max(Nanos::from_secs(1)))?;
        if self.rests.iter().any(|rest| *rest < REST_MIN) {
            let reason = format!("a rest lasts {} at least", REST_MIN.exact());
            let got = listed(&self.rests);
            return Err(PlanError { option: "rests", got, reason });
        }
        if !(1..=REPEATS_MAX).contains(&self.repeats) {
            let (got, reason) = (self.repeats.to_string(), format!("1 to {REPEATS_MAX} are"));
            return Err(PlanError { option: "repeats", got, reason });
        }
        check_duration("settle", self.settle)?;
        check_duration("awake", self.awake)?;
        check_block(self.block, Some(self.span), drive)?;
        check_depths([FILL_QUEUE_DEPTH], drive)
    }

    fn written_at_a_time(&self, _: Bytes) -> Option<Bytes> {
        Some(self.span)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        let awake = Figure::latency("read without a rest", outcome.awake_ns).of(AWAKE).unjudged();
        let rests = outcome.rests.iter().rev().flat_map(Rest::figures);
        rests.chain([awake]).collect()
    }
}

/// No processor tells shorter rests from none.
const REST_MIN: Nanos = Nanos::from_millis(1);
const REPEATS_MAX: u32 = 1000;
/// A quick run takes no longer rests, and writes no more.
const QUICK_REST: Nanos = Nanos::from_secs(3);
const QUICK_FILL: Bytes = Bytes::from_mib(256);

/// The series of a rest, and of the read after it.
fn series(rest: Nanos, number: u32) -> [String; 2] {
    let (rest, number) = (rest.exact(), number);
    [format!("rest-{rest}-{number}"), format!("first-{rest}-{number}")]
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    let span = used(Some(plan.span), session.drive().capacity, plan.block);
    session.fill(FILL, span, FILL_BLOCK, FILL_QUEUE_DEPTH)?;
    session.idle(SETTLE, plan.settle)?;
    // One phase: between phases a real drive is asked for its counters, which may wake it.
    session.phase(AWAKE, |session| {
        let mut reads = RandomUniform::new(Operation::Read, span, plan.block, plan.seed);
        let wake = Queue::new(reads.by_ref().take(1), 1);
        session.series(WAKE, wake, None, Extent::Bytes(plan.block))?;
        let awake = Queue::new(reads.by_ref(), 1);
        session.series(AWAKE, awake, Some(plan.awake), Extent::Time(plan.awake))?;
        for (rest, number) in plan.each() {
            let [idle, first] = series(rest, number);
            session.series(&idle, Idle, Some(rest), Extent::Time(rest))?;
            let one = Queue::new(reads.by_ref().take(1), 1);
            session.series(&first, one, None, Extent::Bytes(plan.block))?;
        }
        Ok(())
    })
}

/// What the drive drew at rest, and what it took to wake it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Median service time of reads without a rest, in nanoseconds.
    pub awake_ns: u64,
    /// In the order of the plan.
    pub rests: Vec<Rest>,
}

/// All rests of one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// How long.
    pub rest: Nanos,
    /// Mean service time of the first read after it, in nanoseconds.
    pub first_ns: u64,
    /// The longest of them.
    pub first_max_ns: u64,
    /// Power in the last second, in watts; `None` if nothing tells.
    pub watts: Option<f64>,
}

impl Rest {
    fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = self.rest.exact();
        let power =
            |watts| Figure::new(format!("power after {of} idle"), watts, Unit::Watts, Good::AtMost);
        let figures = [
            Some(Figure::latency(format!("first read after {of} idle"), self.first_ns)),
            self.watts.map(power),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(&of))
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let awake = LatencyFigures::of(recording, AWAKE, 0..u32::MAX);
    let mut warnings = Vec::new();
    let mut rests = Vec::new();
    for rest in &plan.rests {
        match rest_of(*rest, plan.repeats, recording) {
            Some(found) => rests.push(found),
            None => {
                warnings.push(Warning::Method(MethodWarning::Ended {
                    phase: format!("rests of {}", rest.exact()),
                    lasted: None,
                }));
                break;
            }
        }
    }
    if rests.iter().any(|rest| rest.watts.is_none()) {
        warnings.push(Warning::Method(MethodWarning::NoPower));
    }
    ((!rests.is_empty()).then_some(Outcome { awake_ns: awake.p50_ns, rests }), warnings)
}

/// `None` if the run did not come to the read after the first of these rests.
fn rest_of(rest: Nanos, repeats: u32, recording: &Recording) -> Option<Rest> {
    let (mut first, mut watts) = (Vec::new(), Vec::new());
    for [idle, read] in (1..=repeats).map(|number| series(rest, number)) {
        let totals = Totals::of(recording.series(&read));
        if totals.ios > 0 {
            first.push(totals.longest.0);
            // What is left of a second at the end is no second.
            let told =
                recording.series(&idle).filter_map(|s| Some((s.span_ns, s.power_microwatts?)));
            let last = told.reduce(|before, last| if last.0 < before.0 { before } else { last });
            watts.extend(last.map(|(_, microwatts)| microwatts as f64 / 1e6));
        }
    }
    let count = first.len() as u64;
    Some(Rest {
        rest,
        first_ns: first.iter().sum::<u64>().checked_div(count)?,
        first_max_ns: first.iter().copied().max()?,
        watts: (!watts.is_empty()).then(|| watts.iter().sum::<f64>() / watts.len() as f64),
    })
}
