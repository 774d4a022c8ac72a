//! Storage bench: how does the drive serve real applications?
//!
//! Each trace is done again on a purged drive that was then filled with incompressible data, as
//! fast as the trace allows and with its idle time cut, or by its own clock. What counts is the
//! time in which the drive had something to do.

mod figures;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{
    LatencyHistogram, Recording, Replay, ReplayIo, ReplaySeries, Sample, Timing, Totals,
};
use writecliff_trace::name::{from_anywhere, title};
use writecliff_trace::{Map, Mapping, Misfit, PLANS, ReadError, Summary, TraceIo, read_ahead};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_depths, check_list};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::quick_span;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::Test;
use crate::method::traces::{Known, Resolved};
use crate::record::figure::Figure;
use crate::record::rate::LatencyFigures;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;
use crate::record::warning::method::MethodWarning;
use crate::record::warning::trace::TraceWarning;

pub use figures::FIGURES;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The traces: names of those that ship, or files in the own format.
    pub traces: Vec<String>,
    /// `None`: as fast as the trace allows, idle time cut. Else by the trace's own clock, so many
    /// times as fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Where the traces' offsets lie on the drive.
    pub map: Map,
    /// Whether ranges that are no whole LBAs are widened.
    pub align: bool,
    /// Whether the drive is purged and filled before each trace; else it is left as it is.
    pub prepare: bool,
    /// Size of a write of the fill.
    pub fill_block: Bytes,
    /// Writes of the fill in flight.
    pub fill_queue_depth: usize,
    /// The most operations of each trace, from its beginning; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides everything random in the traces that ship, and the data.
    pub seed: u64,
    /// What the traces were found to be.
    #[serde(skip)]
    pub resolved: Resolved,
}

impl Default for Plan {
    /// The documents' way, with the bench that takes a review minutes instead of hours.
    fn default() -> Self {
        Self {
            traces: vec!["light-2011".to_owned()],
            speed: None,
            map: Map::Exact,
            align: false,
            prepare: true,
            fill_block: Bytes::from_kib(128),
            fill_queue_depth: 32,
            operations: None,
            span: None,
            seed: 1,
            resolved: Resolved::default(),
        }
    }
}

/// A quick run's share of each trace.
const QUICK_OPERATIONS: u64 = 20_000;
/// The most I/Os in flight of a replay by the clock, on drives that take more.
const TIMED_DEPTH: usize = 256;
/// The longest replay by the clock.
const TIMED_MAX: Nanos = Nanos::from_secs(30 * 86_400);
/// A replay's buffers take no more memory than this.
const BUFFERS_MAX: Bytes = Bytes::from_mib(256);

impl Plan {
    /// When I/Os begin.
    pub fn timing(&self) -> Timing {
        self.speed.map_or(Timing::IdleCut, |speed| Timing::Recorded { speed })
    }

    fn used(&self, drive: &DeviceInfo) -> Bytes {
        self.span.unwrap_or(drive.capacity).min(drive.capacity)
    }

    /// What is known of the traces beforehand; those that cannot be read are told by
    /// [`check`](Test::check).
    fn summaries(&self) -> impl Iterator<Item = Summary> {
        self.traces.iter().filter_map(|name| Some(self.known(name).ok()?.summary))
    }

    fn known(&self, name: &str) -> Result<Arc<Known>, ReadError> {
        self.resolved.get(name, self.seed)
    }

    /// What a record has kept of a trace. Those of version 0.1 have kept nothing; but what ships is
    /// made from its seed, and nobody can have put another in its place.
    fn as_it_was(&self, trace: &str, kept: &[TraceFacts]) -> Option<TraceFacts> {
        let ships = PLANS.iter().any(|plan| plan.name == trace);
        let kept = kept.iter().find(|kept| kept.name == title(trace)).cloned();
        kept.or_else(|| ships.then(|| Some(self.known(trace).ok()?.facts(trace)))?)
    }

    /// One damaged time can make a trace last for ages.
    fn check_length(&self, summary: &Summary) -> Result<(), String> {
        let Some(speed) = self.speed else { return Ok(()) };
        let seconds = summary.duration().as_secs_f64() / speed;
        if seconds <= TIMED_MAX.as_secs_f64() {
            return Ok(());
        }
        let days = seconds / 86_400.0;
        Err(format!(
            "by its own clock it would last {days:.0} days, and at most 30 are taken; a greater speed \
             shortens it, and without one its idle time is cut"
        ))
    }

    fn mapping(&self, trace: &Known, drive: &DeviceInfo) -> Result<Mapping, Misfit> {
        let known = (&trace.header, &trace.summary);
        Mapping::new(self.map, self.align, known, self.used(drive), drive.lba_size)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "storage-bench";
    const QUESTION: &'static str = "how does it serve real applications?";
    const CHOICES: &'static [Choice] = &[Choice::Traces];

    /// Whether anything of the drive's data is lost.
    fn writes(&self) -> bool {
        self.prepare || self.summaries().any(|summary| summary.writes + summary.trims > 0)
    }

    fn purges(&self) -> bool {
        self.prepare
    }

    /// Whether both do the same with traces of the same names.
    fn asks_as(&self, other: &Self) -> bool {
        self.as_asked() == other.as_asked()
    }

    fn as_asked(&self) -> Self {
        let names = self.traces.iter().map(|trace| title(trace).to_owned());
        Self { traces: names.collect(), ..self.clone() }
    }

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let traces = match overrides.traces[..] {
            [] => self.traces,
            // Wherever the run is gone on with.
            _ => overrides.traces.iter().map(|trace| from_anywhere(trace)).collect(),
        };
        Ok(Self { traces, ..self })
    }

    /// The plan for a review, which has every trace on every drive: one that is too small for a
    /// trace gets it pressed together.
    fn fitted(self, drive: &DeviceInfo) -> Self {
        let used = self.used(drive);
        let is_too_large = self.summaries().any(|summary| summary.end > used);
        let map = if is_too_large && self.map == Map::Exact { Map::Scale } else { self.map };
        Self { map, ..self }
    }

    fn quick(self) -> Self {
        let operations = self.operations.map_or(QUICK_OPERATIONS, |own| own.min(QUICK_OPERATIONS));
        // What lies within the small part of the drive stays where it is.
        let map = if self.map == Map::Exact { Map::Wrap } else { self.map };
        Self { operations: Some(operations), span: quick_span(self.span), map, ..self }
    }

    fn demands(&self) -> Demands {
        let (mut recorded, mut longest) = (1, self.fill_block);
        for summary in self.summaries() {
            recorded = recorded.max(summary.queue_depth_max.unwrap_or(1) as usize);
            // Alignment may add a block at either end.
            longest = longest.max(Bytes(summary.length_max.0.next_multiple_of(4096) + 8192));
        }
        let wanted = match self.timing() {
            Timing::Recorded { .. } => TIMED_DEPTH,
            Timing::IdleCut => recorded.min(TIMED_DEPTH),
        };
        let room = (BUFFERS_MAX.0 / longest.0).max(1) as usize;
        let fill = if self.prepare { self.fill_queue_depth } else { 1 };
        Demands { queue_depth: wanted.min(room).max(fill), io_size: longest }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let mut all = Estimate::on(drive);
        for summary in self.summaries() {
            if self.prepare {
                all = all.fill(self.used(drive));
            }
            let share = share_of(self.operations, summary.ios());
            let part = |bytes: Bytes| Bytes((bytes.0 as f64 * share) as u64);
            all = match self.speed {
                None => all.fill(part(summary.written_bytes)).read(part(summary.read_bytes)),
                Some(speed) => {
                    let seconds = summary.duration().as_secs_f64() * share / speed;
                    let time = Nanos((seconds * 1e9) as u64);
                    let written = part(summary.written_bytes);
                    all.and(Estimate { time, written, ..Estimate::on(drive) })
                }
            };
        }
        all
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("traces", &self.traces)?;
        let names: Vec<&str> = self.traces.iter().map(|trace| title(trace)).collect();
        check_list("traces", &names)?;
        if let Some(speed) = self.speed
            && !(1e-3..=1e6).contains(&speed)
        {
            let reason = "it lies between 0.001 and 1000000".to_owned();
            return Err(PlanError { option: "speed", got: speed.to_string(), reason });
        }
        if self.prepare {
            check_block(self.fill_block, self.span, drive)?;
            check_depths([self.fill_queue_depth], drive)?;
        }
        for name in &self.traces {
            let refuse = |reason| PlanError { option: "the trace", got: name.clone(), reason };
            let trace = self.known(name).map_err(|error| refuse(error.to_string()))?;
            self.mapping(&trace, drive).map_err(|misfit| refuse(misfit.to_string()))?;
            self.check_length(&trace.summary).map_err(refuse)?;
            if trace.summary.ios() == 0 || self.operations == Some(0) {
                return Err(refuse("there is no operation to do".to_owned()));
            }
        }
        Ok(())
    }

    fn keeps_time(&self) -> bool {
        self.speed.is_some()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn traces(&self) -> Result<Vec<TraceFacts>, ReadError> {
        self.traces.iter().map(|name| Ok(self.known(name)?.facts(name))).collect()
    }

    fn conclude(
        &self,
        recording: &Recording,
        traces: &[TraceFacts],
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, traces, recording)
    }

    fn other_input(outcome: &Outcome, other: &Outcome) -> Option<String> {
        let mut pairs = outcome.traces.iter().zip(&other.traces);
        let different = pairs.find(|(one, other)| one.identity != other.identity);
        different.map(|(one, _)| one.trace.clone())
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.traces.iter().flat_map(Served::figures).collect()
    }
}

/// How much of a trace is used, from 0 to 1.
fn share_of(operations: Option<u64>, all: u64) -> f64 {
    operations.map_or(1.0, |most| most.min(all) as f64 / all.max(1) as f64)
}

/// The phase that writes every LBA once before a trace.
pub fn fill_phase(trace: &str) -> String {
    format!("{trace}/fill")
}

/// What a series of a trace is called.
pub fn series_name(trace: &str, series: ReplaySeries) -> String {
    let what = match series {
        ReplaySeries::Reads => "reads",
        ReplaySeries::Writes => "writes",
        ReplaySeries::Others => "others",
        ReplaySeries::Response => "response",
        ReplaySeries::Lateness => "lateness",
    };
    format!("{trace}/{what}")
}

/// Looks for damage in the traces, which is better known before a drive is purged and filled for
/// them.
pub(crate) fn verify(plan: &Plan) -> Result<(), RunError> {
    let verify = |trace: &String| plan.resolved.open(trace, plan.seed)?.verify();
    Ok(plan.traces.iter().try_for_each(verify)?)
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    verify(plan)?;
    for trace in &plan.traces {
        let name = title(trace);
        if plan.prepare {
            session.purge()?;
            let (span, block) = (plan.used(session.drive()), plan.fill_block);
            let whole = Bytes(span.0 / block.0 * block.0);
            session.fill(&fill_phase(name), whole, block, plan.fill_queue_depth)?;
        }
        replay(plan, trace, name, session)?;
    }
    Ok(())
}

/// Does a trace again on the drive as it is, as the phase `called`.
pub(crate) fn replay(
    plan: &Plan,
    name: &str,
    called: &str,
    session: &mut Session<'_>,
) -> Result<(), RunError> {
    let (trace, mut ios) = (plan.known(name)?, plan.resolved.open(name, plan.seed)?);
    let name = title(name);
    let mapping = plan.mapping(&trace, session.drive()).map_err(|misfit| {
        let reason = misfit.to_string();
        PlanError { option: "the trace", got: name.to_owned(), reason }
    })?;
    let span = plan.used(session.drive());
    let doubts = [doubt_of_order(plan, name, &trace), doubt_of_place(plan, name, &trace, span)];
    doubts.into_iter().flatten().for_each(|doubt| session.warn(doubt));
    let (timing, extent) = (plan.timing(), extent(plan, &trace.summary));
    let names: Vec<String> = timing.series().iter().map(|s| series_name(called, *s)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let most = plan.operations.unwrap_or(u64::MAX) as usize;
    let takes_trims = session.drive().trim;
    let (mut unreadable, mut left_out) = (None, 0);
    read_ahead(&mut ios, |ios| {
        let readable = ios.map_while(|io| io.map_err(|error| unreadable = Some(error)).ok());
        let ios = readable.take(most).filter(|io| {
            let is_taken = takes_trims || io.operation != Operation::Trim;
            left_out += u64::from(!is_taken);
            is_taken
        });
        let ios = ios.map(|io| again(&mapping.place(io))).filter(is_possible);
        session.record_as(called, &names, Replay::new(ios, timing), None, extent)
    })?;
    if left_out > 0 {
        session.warn(TraceWarning::TrimsLeftOut { trace: name.to_owned(), count: left_out });
    }
    Ok(unreadable.map_or(Ok(()), Err)?)
}

fn again(io: &TraceIo) -> ReplayIo {
    let TraceIo { issued, completed, queue_depth, .. } = *io;
    ReplayIo { io: io.io(), issued, completed, queue_depth }
}

/// An empty range is nothing that a drive could do.
fn is_possible(io: &ReplayIo) -> bool {
    io.io.length > Bytes::ZERO || io.io.operation == Operation::Flush
}

fn extent(plan: &Plan, summary: &Summary) -> Extent {
    let share = share_of(plan.operations, summary.ios());
    match plan.speed {
        None => {
            let bytes = (summary.read_bytes + summary.written_bytes).0 as f64;
            Extent::Bytes(Bytes((bytes * share) as u64))
        }
        Some(speed) => Extent::Time(Nanos((summary.duration().0 as f64 * share / speed) as u64)),
    }
}

/// A trace that does not tell what waited for what is done one operation at a time.
fn doubt_of_order(plan: &Plan, name: &str, trace: &Known) -> Option<Warning> {
    let is_known = trace.summary.has_queue_depths || trace.summary.has_completions;
    let trace = name.to_owned();
    (plan.speed.is_none() && !is_known)
        .then_some(Warning::Trace(TraceWarning::OrderUnknown { trace }))
}

/// A trace that is pressed together, or begins again at the drive's start, overwrites more.
fn doubt_of_place(plan: &Plan, name: &str, trace: &Known, span: Bytes) -> Option<Warning> {
    let (end, map, trace) = (trace.summary.end, plan.map, name.to_owned());
    (map != Map::Exact && end > span).then_some(Warning::Trace(TraceWarning::Mapped {
        trace,
        end,
        span,
        map,
    }))
}

/// How the drive served the traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the plan; one that the run did not come to is left out.
    pub traces: Vec<Served>,
}

/// How the drive served one trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// The trace's name.
    pub trace: String,
    /// What tells it from other traces of this name: its seed, or a hash of its operations; `None`
    /// if nothing does.
    #[serde(default)]
    pub identity: Option<String>,
    /// Whether a generator made it.
    #[serde(default)]
    pub synthetic: bool,
    /// Everything together; trims and flushes have no bytes.
    pub all: Share,
    /// The reads alone.
    pub reads: Share,
    /// The writes alone.
    pub writes: Share,
    /// Due to completed; only of a replay by the clock.
    pub response: Option<Times>,
    /// Due to submitted: how late this program, or a full queue, made the I/Os.
    pub lateness: Option<Times>,
    /// The longest service times, the longest first; one a second at most.
    pub slowest: Vec<Moment>,
}

/// What a part of a trace's operations amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Operations done.
    pub operations: u64,
    /// Bytes transferred.
    pub bytes: Bytes,
    /// Disk busy time: with at least one of these operations in flight. Idle time is not in it.
    pub busy_ns: u64,
    /// Average data rate: bytes over busy time, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// Their service times.
    pub service: Times,
}

/// Times of many operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Average, in nanoseconds.
    pub mean_ns: u64,
    /// Standard deviation, of all operations and not of the seconds' means.
    pub deviation_ns: u64,
    /// Percentiles.
    pub percentiles: LatencyFigures,
}

/// A second with a long service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The second of the replay in which it ended.
    pub second: u32,
    /// What took so long.
    pub operation: Operation,
    /// How long.
    pub length_ns: u64,
}

/// Slow moments that are kept.
const MOMENTS: usize = 10;
/// From here on a replay by the clock is doubtful: more than 1 % of its I/Os began so late.
const LATE: Nanos = Nanos::from_millis(1);

fn conclude(
    plan: &Plan,
    known: &[TraceFacts],
    recording: &Recording,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut served, mut warnings) = (Vec::new(), Vec::new());
    for trace in &plan.traces {
        let name = title(trace);
        let Some((outcome, doubts)) = served_as(plan, trace, name, known, recording) else {
            warnings
                .push(Warning::Method(MethodWarning::Ended { phase: format!("the trace {name}") }));
            break;
        };
        warnings.extend(doubts);
        served.push(outcome);
    }
    ((!served.is_empty()).then_some(Outcome { traces: served }), warnings)
}

/// What was recorded of a trace as the phase `called`, and what is to be doubted of it; `None` if
/// the run did not come to it.
pub(crate) fn served_as(
    plan: &Plan,
    trace: &str,
    called: &str,
    known: &[TraceFacts],
    recording: &Recording,
) -> Option<(Served, Vec<Warning>)> {
    let known = plan.as_it_was(trace, known);
    let served = Served::of(plan, title(trace), called, known.as_ref(), recording)?;
    let doubts = served.doubts(plan, called, known.as_ref(), recording);
    Some((served, doubts))
}

impl Served {
    fn of(
        plan: &Plan,
        name: &str,
        called: &str,
        known: Option<&TraceFacts>,
        recording: &Recording,
    ) -> Option<Self> {
        let samples = |series| {
            let series = series_name(called, series);
            recording.samples.iter().filter(move |sample| sample.series == series)
        };
        let share = |all: &[ReplaySeries], busy_of: fn(&Sample) -> Option<u64>| {
            let samples = || all.iter().flat_map(|series| samples(*series));
            let busy = Nanos(samples().filter_map(busy_of).sum());
            Share::of(&Totals::of(samples()).over(busy), times(called, all, recording))
        };
        samples(ReplaySeries::Reads).next()?;
        let everything = [ReplaySeries::Reads, ReplaySeries::Writes, ReplaySeries::Others];
        let is_timed = plan.speed.is_some();
        Some(Self {
            trace: name.to_owned(),
            identity: known.and_then(|known| known.identity.clone()),
            synthetic: known.is_some_and(|trace| trace.synthetic),
            all: share(&everything, |sample| sample.drive_busy_ns),
            reads: share(&[ReplaySeries::Reads], |sample| sample.busy_ns),
            writes: share(&[ReplaySeries::Writes], |sample| sample.busy_ns),
            response: is_timed.then(|| times(called, &[ReplaySeries::Response], recording)),
            lateness: is_timed.then(|| times(called, &[ReplaySeries::Lateness], recording)),
            slowest: slowest(everything.iter().flat_map(|series| samples(*series))),
        })
    }

    fn doubts(
        &self,
        plan: &Plan,
        called: &str,
        known: Option<&TraceFacts>,
        recording: &Recording,
    ) -> Vec<Warning> {
        let mut doubts = Vec::new();
        let name = self.trace.clone();
        let whole = known.map_or(0, |trace| trace.operations);
        let planned = plan.operations.map_or(whole, |most| most.min(whole));
        let done = self.all.operations;
        // Trims that the drive does not take are told on their own.
        let trims = known.map_or(0, |trace| trace.trims);
        let others = series_name(called, ReplaySeries::Others);
        let trimmed: u64 = recording.series(&others).map(|sample| sample.trims).sum();
        if done + trims.saturating_sub(trimmed) < planned {
            doubts.push(Warning::Trace(TraceWarning::TraceCutShort {
                trace: name.clone(),
                done,
                planned,
            }));
        }
        if let Some(lateness) = self.lateness
            && lateness.percentiles.p99_ns > LATE.0
        {
            let late = Nanos(lateness.percentiles.p99_ns);
            doubts.push(Warning::Trace(TraceWarning::Late { trace: name, late }));
        }
        doubts
    }
}

impl Share {
    /// Of `totals` over the time that the drive was busy.
    fn of(totals: &Totals, service: Times) -> Self {
        Self {
            operations: totals.ios,
            bytes: totals.bytes(),
            busy_ns: totals.span.0,
            megabytes_per_second: totals.megabytes_per_second(),
            service,
        }
    }
}

/// All times of some of a trace's series together.
fn times(name: &str, all: &[ReplaySeries], recording: &Recording) -> Times {
    let all: Vec<String> = all.iter().map(|series| series_name(name, *series)).collect();
    let mut counted = LatencyHistogram::default();
    for series in &all {
        recording.latencies(series, 0..u32::MAX).counts().for_each(|c| counted.add(c));
    }
    let totals = Totals::of(all.iter().flat_map(|series| recording.series(series)));
    Times {
        mean_ns: totals.mean().0,
        deviation_ns: totals.deviation().0,
        percentiles: LatencyFigures::from(&counted, totals.longest),
    }
}

/// Each second's longest, of whatever operation, the longest first.
fn slowest<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<Moment> {
    let mut seconds: BTreeMap<u32, Moment> = BTreeMap::new();
    for sample in samples.filter(|sample| sample.latency_max_ns > 0) {
        let (second, length_ns) = (sample.second, sample.latency_max_ns);
        let moment = Moment { second, operation: operation_of(sample), length_ns };
        let longest = seconds.entry(second).or_insert(moment);
        if longest.length_ns < length_ns {
            *longest = moment;
        }
    }
    let mut moments: Vec<Moment> = seconds.into_values().collect();
    moments.sort_by_key(|moment| (std::cmp::Reverse(moment.length_ns), moment.second));
    moments.truncate(MOMENTS);
    moments
}

/// What a series is of; trims and flushes share one.
fn operation_of(sample: &Sample) -> Operation {
    match (sample.reads, sample.writes, sample.trims) {
        (1.., ..) => Operation::Read,
        (_, 1.., _) => Operation::Write,
        (_, _, 1..) => Operation::Trim,
        _ => Operation::Flush,
    }
}
