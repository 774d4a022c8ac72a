//! What comes of the recording of traces, and what is to be doubted of it.

use std::collections::BTreeMap;

use writecliff_device::{Nanos, Operation};
use writecliff_measure::{LatencyHistogram, Recording, ReplaySeries, Sample, Totals};
use writecliff_trace::name::title;

use super::outcome::{Moment, Outcome, Served, Share, Times};
use super::plan::Plan;
use super::series::series_name;
use crate::record::rate::LatencyFigures;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::{MethodWarning, TraceWarning, Warning};

/// Slow moments that are kept.
const MOMENTS: usize = 10;
/// From here on a replay by the clock is doubtful: more than 1 % of its I/Os began so late.
const LATE: Nanos = Nanos::from_millis(1);

pub(super) fn conclude(
    plan: &Plan,
    known: &[TraceFacts],
    recording: &Recording,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut served, mut warnings) = (Vec::new(), Vec::new());
    for trace in &plan.traces {
        let name = title(trace);
        let Some((outcome, doubts)) = served_as(plan, trace, name, known, recording) else {
            warnings.push(Warning::Method(MethodWarning::Ended {
                phase: format!("the trace {name}"),
                lasted: None,
            }));
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
            in_part_of: known
                .map(|trace| trace.operations)
                .filter(|whole| plan.operations.is_some_and(|most| most < *whole)),
            speed: plan.speed,
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
        // What the device failed was done as well, and is a doubt of its own.
        let failed = |of| {
            let series = series_name(called, of);
            recording.series(&series).map(|sample| sample.failed).sum::<u64>()
        };
        let failed: u64 = [ReplaySeries::Reads, ReplaySeries::Writes, ReplaySeries::Others]
            .map(failed)
            .iter()
            .sum();
        if done + failed + trims.saturating_sub(trimmed) < planned {
            doubts.push(Warning::Trace(TraceWarning::TraceCutShort {
                trace: name.clone(),
                done,
                planned,
            }));
        }
        if let Some(lateness) = self.lateness
            && let Some(late) = lateness.percentiles.p99_ns.map(Nanos)
            && late > LATE
        {
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
