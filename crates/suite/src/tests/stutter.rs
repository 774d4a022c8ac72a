//! Stutter: does the machine pause?
//!
//! What a person notices of a drive: small random writes, one at a time with time to think between
//! them, while something in the background writes a steady stream. Every pause counts.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation, Throughput};
use writecliff_measure::{Recording, Sample, Stream, Streams, Totals};
use writecliff_workload::{Pace, RandomUniform, Sequential};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::{Figure, FigureOf, figures_of, millis, names_of};
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// The phase of both loads.
const USE: &str = "use";
/// The series of the small writes.
pub const SMALL_WRITES: &str = "small-writes";
/// The series of the stream.
const BACKGROUND: &str = "background";
/// It kept no pace below this share of it.
const BACKGROUND_LEAST: f64 = 0.9;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// How long both loads last.
    pub duration: Nanos,
    /// Size of a small write.
    pub block: Bytes,
    /// Time from the end of one small write to the next, on average: at random, so that they do not keep
    /// step with the stream.
    pub think: Nanos,
    /// The part of the drive, from its start, that small writes go to.
    pub small_write_span: Bytes,
    /// Size of a write of the stream.
    pub background_block: Bytes,
    /// The stream's rate, if the drive can keep up.
    pub background_rate: Throughput,
    /// Writes of the fill in flight.
    pub fill_queue_depth: usize,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    /// A hundred small writes a second, as busy programs make them, beside a copy at 20 MB/s.
    fn default() -> Self {
        Self {
            duration: Nanos::from_secs(300),
            block: Bytes::from_kib(4),
            think: Nanos::from_millis(10),
            small_write_span: Bytes(8_000_000_000),
            background_block: Bytes::from_kib(128),
            background_rate: Throughput(20_000_000),
            fill_queue_depth: 32,
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.block)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "stutter";
    const QUESTION: &'static str = "does the machine pause?";
    const METHOD_VERSION: u32 = 2;
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { duration: overrides.duration.unwrap_or(self.duration), ..self })
    }

    fn quick(self) -> Self {
        let duration = QUICK_TORTURE.min(self.duration);
        Self { duration, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands {
            // One small write and one of the stream.
            queue_depth: self.fill_queue_depth.max(2),
            io_size: self.block.max(self.background_block),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let stream = self.background_rate.0 as f64 * self.duration.as_secs_f64();
        let written = Bytes(stream as u64);
        let both = Estimate { time: self.duration, written, ..Estimate::on(drive) };
        Estimate::on(drive).fill(self.used(drive)).and(both)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("duration", self.duration)?;
        check_block(self.block, self.span, drive)?;
        check_block(self.block, Some(self.small_write_span), drive)?;
        check_block(self.background_block, self.span, drive)?;
        if self.background_rate.0 == 0 {
            let (option, got) = ("background_rate", "0".to_owned());
            return Err(PlanError { option, got, reason: "a stream has a rate".to_owned() });
        }
        check_depths([self.fill_queue_depth], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures_of(FIGURES, outcome)
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        Some(names_of(FIGURES))
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    let all = plan.used(session.drive());
    session.fill(FILL, all, plan.background_block, plan.fill_queue_depth)?;

    let span = all.min(plan.small_write_span);
    let small_writes = Stream {
        ios: Box::new(RandomUniform::new(Operation::Write, span, plan.block, plan.seed)),
        queue_depth: 1,
        pace: Pace::Muse { mean: plan.think },
        seed: plan.seed,
        duration: None,
        operations: Vec::new(),
    };
    let pass = Sequential::new(Operation::Write, all, plan.background_block);
    let background = Stream {
        ios: Box::new(std::iter::repeat(pass).flatten()),
        queue_depth: 1,
        pace: Pace::Rate(plan.background_rate),
        seed: plan.seed,
        duration: None,
        operations: Vec::new(),
    };
    let streams = Streams::new([small_writes, background]);
    let (duration, extent) = (Some(plan.duration), Extent::Time(plan.duration));
    session.record_as(USE, &[SMALL_WRITES, BACKGROUND], streams, duration, extent)
}

/// What the small writes met with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Small writes that completed.
    pub writes: u64,
    /// Mean service time in nanoseconds.
    pub mean_ns: u64,
    /// Percentiles of it.
    pub latency: LatencyFigures,
    /// Share of the small writes that took longer than 100 ms, which a person notices.
    pub over_100ms: f64,
    /// Share of the small writes that took longer than 500 ms.
    pub over_500ms: f64,
    /// The longest pauses, the longest first; one a second at most.
    pub pauses: Vec<Pause>,
    /// The stream's rate in MB/s (10^6).
    pub background: f64,
}

type Row = FigureOf<Outcome>;

/// All figures of an outcome.
pub const FIGURES: &[Row] = &[
    Row::less("longest small write", "Longest pause", Unit::Milliseconds, |o| {
        Some(millis(o.latency.max_ns))
    })
    .means("the longest small write"),
    Row::less("small writes over 100 ms", "Over 100 ms", Unit::Percent, |o| {
        Some(o.over_100ms * 100.0)
    })
    .means("share of the small writes that a person notices"),
    Row::less("small writes over 500 ms", "Over 500 ms", Unit::Percent, |o| {
        Some(o.over_500ms * 100.0)
    })
    .means("share of the small writes that annoy")
    .unjudged(),
    Row::less("mean small write", "Mean", Unit::Milliseconds, |o| Some(millis(o.mean_ns)))
        .means("average small write")
        .unjudged(),
    Row::less("small write p50", "Latency p50", Unit::Milliseconds, |o| {
        Some(millis(o.latency.p50_ns))
    })
    .means("half of the small writes took at most this")
    .unjudged(),
    Row::less("small write p99", "Latency p99", Unit::Milliseconds, |o| {
        o.latency.p99_ns.map(millis)
    })
    .means("99 of 100 took at most this")
    .unjudged(),
    Row::less("small write p99.9", "Latency p99.9", Unit::Milliseconds, |o| {
        o.latency.p999_ns.map(millis)
    })
    .means("999 of 1,000 took at most this"),
    Row::more("small writes", "Small writes", Unit::Count, |o| Some(o.writes as f64))
        .means("how many there were")
        .unjudged(),
    Row::more("background", "Background", Unit::MegabytesPerSecond, |o| Some(o.background))
        .means("rate of the stream beside them")
        .unjudged(),
];

/// A small write that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// The second of the phase in which it ended.
    pub second: u32,
    /// How long it took.
    pub length_ns: u64,
}

/// Pauses that are kept.
const PAUSES: usize = 10;

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let small: Vec<&Sample> = recording.series(SMALL_WRITES).collect();
    let totals = Totals::of(small.iter().copied());
    let recorded = totals.span;
    let Some(rate) = Rate::of(&totals) else {
        return (
            None,
            vec![Warning::Method(MethodWarning::Ended {
                phase: "the small writes".to_owned(),
                lasted: None,
            })],
        );
    };
    let writes = small.iter().map(|sample| sample.writes).sum::<u64>();
    let latencies = recording.latencies(SMALL_WRITES, 0..u32::MAX);
    let longer_than = |limit: Nanos| {
        let over = latencies.counts().filter(|counted| counted.latency > limit.0);
        over.map(|counted| counted.count).sum::<u64>() as f64 / writes.max(1) as f64
    };
    let mut pauses: Vec<Pause> = small
        .iter()
        .filter(|sample| sample.writes > 0)
        .map(|sample| Pause { second: sample.second, length_ns: sample.latency_max_ns })
        .collect();
    pauses.sort_by_key(|pause| (std::cmp::Reverse(pause.length_ns), pause.second));
    pauses.truncate(PAUSES);
    let background = Rate::of_series(recording, BACKGROUND).unwrap_or(0.0);
    let outcome = Outcome {
        writes,
        mean_ns: rate.mean_ns,
        latency: LatencyFigures::of(recording, SMALL_WRITES, 0..u32::MAX),
        over_100ms: longer_than(Nanos::from_millis(100)),
        over_500ms: longer_than(Nanos::from_millis(500)),
        pauses,
        background,
    };
    let mut warnings = Vec::new();
    if recorded < plan.duration {
        warnings.push(Warning::Method(MethodWarning::Incomplete {
            recorded,
            planned: plan.duration,
            until_steady: false,
            met_cliff: false,
        }));
    }
    let asked = plan.background_rate.0 as f64 / 1e6;
    if background < BACKGROUND_LEAST * asked {
        let done = background;
        warnings.push(Warning::Method(MethodWarning::BackgroundFellBehind { asked, done }));
    }
    (Some(outcome), warnings)
}
