//! Fullness: does the drive slow down as it fills?
//!
//! The corners within a small part of the drive, and the trace of a storage bench, each on a purged
//! drive of which so much was written before, and which has rested. What is free is where a drive finds room for its fast
//! buffer, and for collecting.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::Recording;
use writecliff_trace::name::title;
use writecliff_trace::{Map, ReadError};

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::FILL_BLOCK;
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, check_percents, used,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::quick_span;
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::method::traces::Resolved;
use crate::record::figure::Figure;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::{MethodWarning, Warning};
use crate::tests::corners::{self, Corner, CornerFigures};
use crate::tests::storage_bench::{self, Served};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// How much of the drive is written before, in percent.
    pub percents: Vec<u8>,
    /// The part of the drive, from its start, that corners are measured in; written even if the
    /// drive is otherwise empty. The default is no more than a sixteenth of what is used.
    pub area: Bytes,
    /// Time for the drive to empty its fast buffer and cool, after it was written to so far.
    pub rest: Nanos,
    /// Length of each random corner.
    pub random_duration: Nanos,
    /// Length of each sequential corner.
    pub sequential_duration: Nanos,
    /// The trace: the name of one that ships, or a file in the own format.
    pub trace: String,
    /// Where the trace's offsets lie on the drive.
    pub map: Map,
    /// The most operations of the trace, from its beginning; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides everything random, in the trace as well, and the data.
    pub seed: u64,
    /// What the trace was found to be.
    #[serde(skip)]
    pub resolved: Resolved,
}

impl Default for Plan {
    fn default() -> Self {
        let corners = corners::Plan::default();
        Self {
            percents: vec![0, 50, 80, 100],
            area: corners.random_write_span,
            rest: Nanos::from_secs(600),
            random_duration: corners.random_duration,
            sequential_duration: corners.sequential_duration,
            trace: "light-2011".to_owned(),
            map: Map::Exact,
            operations: None,
            span: None,
            seed: 1,
            resolved: Resolved::default(),
        }
    }
}

/// An empty drive is one of which no more than one of so many parts is written.
const AREA: u64 = 16;

/// Writes in flight, of the random corner and of a fill.
const QUEUE_DEPTH: usize = 32;

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, FILL_BLOCK)
    }

    /// What is written before the corners: so much of the drive, and their own area at least.
    fn before_corners(&self, percent: u8, drive: &DeviceInfo) -> Bytes {
        let area = used(Some(self.area), self.used(drive), FILL_BLOCK);
        self.before_trace(percent, drive).max(area)
    }

    /// What is written before the trace.
    fn before_trace(&self, percent: u8, drive: &DeviceInfo) -> Bytes {
        let part = u128::from(self.used(drive).0) * u128::from(percent) / 100;
        used(Some(Bytes(part as u64)), drive.capacity, FILL_BLOCK)
    }

    /// The test of the corners that these are.
    fn corners(&self) -> corners::Plan {
        corners::Plan {
            random_write_queue_depths: vec![QUEUE_DEPTH],
            random_write_span: self.area,
            random_duration: self.random_duration,
            sequential_duration: self.sequential_duration,
            span: Some(self.span.map_or(self.area, |span| span.min(self.area))),
            seed: self.seed,
            ..corners::Plan::default()
        }
    }

    /// The corners in the order of the run: random writes, which leave a drive as they do, last.
    fn each_corner(&self) -> [Corner; 4] {
        let [random_read, sequential_read] = self.corners().read_corners();
        let operation = Operation::Write;
        let sequential_write = Corner { operation, ..sequential_read };
        let random_write = Corner { operation, queue_depth: QUEUE_DEPTH, ..random_read };
        [sequential_write, sequential_read, random_read, random_write]
    }

    /// The storage bench that the trace is of.
    fn bench(&self) -> storage_bench::Plan {
        storage_bench::Plan {
            traces: vec![self.trace.clone()],
            map: self.map,
            prepare: false,
            operations: self.operations,
            span: self.span,
            seed: self.seed,
            resolved: self.resolved.clone(),
            ..storage_bench::Plan::default()
        }
    }

    /// The phase that does the trace.
    fn trace_phase(&self, percent: u8) -> String {
        phase(percent, title(&self.trace))
    }
}

/// What is done on a drive that is so full: `full-50/rest`.
fn phase(percent: u8, what: &str) -> String {
    format!("full-{percent}/{what}")
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "fullness";
    const QUESTION: &'static str = "does it slow down as it fills?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let random_duration = overrides.duration.unwrap_or(self.random_duration);
        let sequential_duration = self.sequential_duration.min(random_duration);
        Ok(Self { random_duration, sequential_duration, ..self })
    }

    fn quick(self) -> Self {
        let (corners, bench) = (self.corners().quick(), self.bench().quick());
        let corners::Plan { random_duration, sequential_duration, .. } = corners;
        let storage_bench::Plan { map, operations, .. } = bench;
        let span = quick_span(self.span);
        let area = self.area.min(Bytes(span.map_or(u64::MAX, |span| span.0 / AREA)));
        let rest = Nanos::from_secs(3).min(self.rest);
        Self { random_duration, sequential_duration, map, operations, span, area, rest, ..self }
    }

    /// The corners' own part is a small one of a small drive as well, unless the plan names it.
    fn on(self, drive: &DeviceInfo) -> Self {
        let is_left_open = self.area == Self::default().area;
        let part = used(Some(Bytes(self.used(drive).0 / AREA)), drive.capacity, FILL_BLOCK);
        let area = if is_left_open { self.area.min(part).max(FILL_BLOCK) } else { self.area };
        Self { area, ..self }
    }

    fn fitted(self, drive: &DeviceInfo) -> Self {
        let map = self.bench().fitted(drive).map;
        Self { map, ..self }
    }

    fn demands(&self) -> Demands {
        let (corners, bench) = (self.corners().demands(), self.bench().demands());
        Demands {
            queue_depth: corners.queue_depth.max(bench.queue_depth).max(QUEUE_DEPTH),
            io_size: corners.io_size.max(bench.io_size).max(FILL_BLOCK),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let trace = self.bench().estimate(drive);
        let reads = self.random_duration + self.sequential_duration;
        self.percents.iter().fold(Estimate::on(drive), |estimate, percent| {
            let fills = estimate
                .fill(self.before_corners(*percent, drive))
                .fill(self.before_trace(*percent, drive));
            let corners = fills
                .rest(self.rest * 2 + reads)
                .sequential(self.sequential_duration)
                .random(self.random_duration);
            corners.and(trace)
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("percents", &self.percents)?;
        check_percents("percents", &self.percents)?;
        check_duration("rest", self.rest)?;
        check_block(FILL_BLOCK, self.span, drive)?;
        check_block(FILL_BLOCK, Some(self.area), drive)?;
        check_depths([QUEUE_DEPTH], drive)?;
        self.corners().check(drive)?;
        self.bench().check(drive)
    }

    fn asks_as(&self, other: &Self) -> bool {
        self.as_asked() == other.as_asked()
    }

    fn as_asked(&self) -> Self {
        Self { trace: title(&self.trace).to_owned(), ..self.clone() }
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn traces(&self) -> Result<Vec<TraceFacts>, ReadError> {
        self.bench().traces()
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, known.traces, recording)
    }

    fn other_input(outcome: &Outcome, other: &Outcome) -> Option<String> {
        let served = |outcome: &Outcome| outcome.steps.iter().find_map(|step| step.served.clone());
        let (one, other) = (served(outcome)?, served(other)?);
        (one.identity != other.identity).then_some(one.trace)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.steps.iter().rev().flat_map(Step::figures).collect()
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let bench = plan.bench();
    storage_bench::verify(&bench)?;
    for percent in &plan.percents {
        let phase = |what: &str| phase(*percent, what);
        let before_corners = plan.before_corners(*percent, session.drive());
        let before_trace = plan.before_trace(*percent, session.drive());
        session.purge()?;
        session.fill(&phase("fill"), before_corners, FILL_BLOCK, QUEUE_DEPTH)?;
        session.idle(&phase("rest"), plan.rest)?;
        for corner in plan.each_corner() {
            let (name, content) = (phase(&corner.phase()), corner.data.content());
            corners::measure_as(&plan.corners(), session, &corner, &name, content)?;
        }
        session.purge()?;
        session.fill(&phase("fill-for-trace"), before_trace, FILL_BLOCK, QUEUE_DEPTH)?;
        session.idle(&phase("rest-for-trace"), plan.rest)?;
        storage_bench::replay(&bench, &plan.trace, &plan.trace_phase(*percent), session)?;
    }
    Ok(())
}

/// How fast the drive is, as full as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the plan.
    pub steps: Vec<Step>,
}

/// What was measured at one fullness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How much of the drive was written before, in percent.
    pub percent: u8,
    /// In the order of the run; those that it did not come to are left out.
    pub corners: Vec<CornerFigures>,
    /// The trace; `None` if the run did not come to it.
    pub served: Option<Served>,
}

impl Step {
    fn figures(&self) -> impl Iterator<Item = Figure> + use<> {
        let of = format!("{} % full", self.percent);
        let corner = |figures: &CornerFigures| {
            let name = format!("{} at {of}", figures.corner.phase());
            match figures.corner.random {
                true => Figure::iops(name, figures.rate.iops),
                false => Figure::rate(name, figures.rate.megabytes_per_second),
            }
        };
        let trace = |served: &Served| {
            let (rate, mean_ns) = (served.all.megabytes_per_second, served.all.service.mean_ns);
            let name = &served.trace;
            let service = Figure::latency(format!("{name} at {of}, average service time"), mean_ns);
            [Figure::rate(format!("{name} at {of}"), rate), service.unjudged()]
        };
        let mut figures: Vec<Figure> = self.corners.iter().map(corner).collect();
        figures.extend(self.served.iter().flat_map(trace));
        figures.into_iter().map(move |figure| figure.of(&of))
    }
}

fn conclude(
    plan: &Plan,
    traces: &[TraceFacts],
    recording: &Recording,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut steps, mut warnings) = (Vec::new(), Vec::new());
    for percent in &plan.percents {
        let figures = |corner: Corner| {
            CornerFigures::of(corner, &phase(*percent, &corner.phase()), recording)
        };
        let corners: Vec<_> = plan.each_corner().into_iter().map_while(figures).collect();
        let called = plan.trace_phase(*percent);
        let served =
            storage_bench::served_as(&plan.bench(), &plan.trace, &called, traces, recording);
        let (is_whole, corners_done) = (served.is_some(), corners.len());
        let (served, doubts) = served.unzip();
        warnings.extend(doubts.into_iter().flatten());
        if !corners.is_empty() {
            steps.push(Step { percent: *percent, corners, served });
        }
        if !is_whole {
            let missing = plan.each_corner().into_iter().nth(corners_done);
            let phase = missing.map_or(called, |corner| phase(*percent, &corner.phase()));
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
            break;
        }
    }
    warnings.dedup();
    ((!steps.is_empty()).then_some(Outcome { steps }), warnings)
}
