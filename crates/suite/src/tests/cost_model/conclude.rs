//! What comes of a recording.

use writecliff_device::{DeviceInfo, Nanos, Operation};
use writecliff_measure::{Recording, Totals};

use super::coefficients::{Coefficient, Coefficients};
use super::outcome::{Limits, OfOperation, Outcome, Promise, Rung, State};
use super::{CHECK, LATE, Plan, SETTLE, arrivals, keeps_up, phase, rung_phase};
use crate::method::change::{changed, fell_at_once};
use crate::method::estimate::is_hard_disk;
use crate::method::loads::series;
use crate::record::number::{in_words, thousands};
use crate::record::rate::{LatencyFigures, Rate, iops_of, percentile};
use crate::record::warning::{MethodWarning, Warning};

pub(super) fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let rate = |state, one| measured(recording, state, one);
    let rates = |state| Coefficients::of(|one| rate(state, one));
    let (fresh, steady) = (rates(State::Fresh), rates(State::Steady));
    let mut warnings = Vec::new();
    let mut ended = |phase: String| {
        if warnings.is_empty() {
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
        }
    };
    let missing = |state, order: [Coefficient; 6]| {
        order.into_iter().find(|one| rate(state, *one).is_none()).map(|one| phase(state, one))
    };
    if !is_hard_disk(drive) {
        let fresh = missing(State::Fresh, Coefficient::AS_THE_KERNEL_MEASURES);
        fresh.into_iter().for_each(&mut ended);
    }
    missing(State::Steady, Coefficient::AS_MEASURED_HERE).into_iter().for_each(&mut ended);
    if fresh.is_none() && steady.is_none() {
        return (None, warnings);
    }
    warnings.extend(hardly_fresh(recording));
    let random = rate(State::Steady, Coefficient::Rrandiops)
        .zip(rate(State::Steady, Coefficient::Wrandiops));
    let asked = Asked { plan, recording, percentile: Plan::percentile(drive) };
    let rungs = random.map_or_else(Vec::new, |rates| asked.rungs(rates));
    // Of a run that ended before a share that the drive did not keep up with, what it keeps is not known.
    let is_over = |rates| {
        rungs.last().is_some_and(|last| !last.kept) || rungs.len() == plan.shares(rates).len()
    };
    let limits =
        random.filter(|rates| is_over(*rates)).and_then(|rates| asked.limits(&rungs, rates));
    // A run that ended before them called nothing steady.
    if !is_hard_disk(drive) && random.is_some() {
        warnings.extend(plan.settling(drive).never_steady(SETTLE, recording));
    }
    warnings.extend(rungs.first().filter(|rung| !rung.kept).map(fell_behind));
    warnings.extend(limits.as_ref().and_then(not_held));
    let promise = fresh.zip(steady).and_then(|(fresh, steady)| {
        promise(plan, recording, drive, fresh.wrandiops, steady.wrandiops)
    });
    let outcome = Outcome { block: plan.block, fresh, steady, promise, rungs, limits };
    (Some(outcome), warnings)
}

/// A rate by itself, in bytes or I/Os a second, of as much of its phase as was recorded; `None` if that is nothing.
pub fn measured(recording: &Recording, state: State, one: Coefficient) -> Option<f64> {
    let rate = Rate::of(&Totals::of(recording.series(&phase(state, one))))?;
    let value = if one.counts_bytes() { rate.megabytes_per_second * 1e6 } else { rate.iops };
    (value > 0.0).then_some(value)
}

/// Where the fresh drive's random writes fell within their first seconds: most of the rate that is called fresh
/// is then past the cliff.
fn hardly_fresh(recording: &Recording) -> Option<Warning> {
    let most = phase(State::Fresh, Coefficient::Wrandiops);
    let rates = iops_of(recording.series(&most));
    let (first, last) = fell_at_once(&rates).filter(|_| changed(&rates).is_none())?;
    let [first, last] = [first, last].map(|iops| in_words(iops.round(), "IOPS"));
    Some(Warning::Method(MethodWarning::Changed {
        parts: 1,
        most,
        others: Vec::new(),
        first,
        last,
    }))
}

/// What is asked of the seconds of shares of the model.
struct Asked<'a> {
    plan: &'a Plan,
    recording: &'a Recording,
    percentile: f64,
}

impl Asked<'_> {
    /// From the smallest share on, up to the first at which the drive did not keep up, or the last that was not cut
    /// short.
    fn rungs(&self, rates: (f64, f64)) -> Vec<Rung> {
        let rung = |percent: u32| self.rung(&rung_phase(percent), percent, rates);
        self.plan.shares(rates).into_iter().map_while(rung).collect()
    }

    fn rung(&self, phase: &str, percent: u32, (reads, writes): (f64, f64)) -> Option<Rung> {
        let (reads, reads_kept) =
            self.operation(phase, Operation::Read, arrivals(reads, percent))?;
        let (writes, writes_kept) =
            self.operation(phase, Operation::Write, arrivals(writes, percent))?;
        Some(Rung { percent, kept: reads_kept && writes_kept, reads, writes })
    }

    /// Also whether the drive kept up with them.
    fn operation(
        &self,
        phase: &str,
        operation: Operation,
        asked_iops: u64,
    ) -> Option<(OfOperation, bool)> {
        let series = series(phase, operation);
        let totals = Totals::of(self.recording.series(&series));
        let is_whole = totals.span.0 as f64 >= self.plan.measurement.0 as f64 * (1.0 - LATE);
        let rate = Rate::of(&totals).filter(|_| totals.ios > 0 && is_whole)?;
        let latencies = self.recording.latencies(&series, 0..u32::MAX);
        let at_percentile_ns = percentile(&latencies, totals.longest, self.percentile);
        let latency = LatencyFigures::from(&latencies, totals.longest);
        let is_kept = keeps_up(&totals, asked_iops, self.plan.measurement);
        Some((OfOperation { asked_iops, rate, at_percentile_ns, latency }, is_kept))
    }

    fn limits(&self, rungs: &[Rung], rates: (f64, f64)) -> Option<Limits> {
        let kept = || rungs.iter().take_while(|rung| rung.kept);
        let highest = kept().last()?;
        // A smaller share may wait for longer, as where what is copied is copied at once.
        let limit = |of: fn(&Rung) -> OfOperation| {
            of(highest).at_percentile_ns?;
            let longest = kept().filter_map(|rung| of(rung).at_percentile_ns).max()?;
            Some(Nanos((longest as f64 * Limits::MARGIN).round() as u64))
        };
        Some(Limits {
            percent: highest.percent,
            percentile: self.percentile,
            read: limit(|rung| rung.reads)?,
            write: limit(|rung| rung.writes)?,
            check: self.rung(CHECK, highest.percent, rates).map(Box::new),
        })
    }
}

/// Seconds below it, one after the other, with the first of which it is over.
const LASTING: usize = 3;
/// Less than this share of what was promised does not keep it.
const KEEPS: f64 = 0.9;

fn promise(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
    fresh: f64,
    steady: f64,
) -> Option<Promise> {
    if steady >= fresh * KEEPS {
        return None;
    }
    let iops = iops_of(recording.series(SETTLE));
    let seconds = kept_for(&iops, fresh * KEEPS);
    let written: f64 = iops[..seconds].iter().sum::<f64>() * plan.block.0 as f64;
    let drive_writes = (0.0 + written) / plan.used(drive).0.max(1) as f64;
    Some(Promise { seconds: seconds as u32, drive_writes, times: fresh / steady })
}

/// The seconds before the first [`LASTING`] in a row that are all below `least`.
fn kept_for(iops: &[f64], least: f64) -> usize {
    let is_over = |second: &usize| iops[*second..].iter().take(LASTING).all(|rate| *rate < least);
    (0..iops.len()).find(is_over).unwrap_or(iops.len())
}

/// That not even the smallest share was kept.
fn fell_behind(rung: &Rung) -> Warning {
    let asked = (rung.reads.asked_iops + rung.writes.asked_iops) as f64;
    let done = rung.reads.rate.iops + rung.writes.rate.iops;
    let phase = rung_phase(rung.percent);
    Warning::Method(MethodWarning::FellBehind { phase, asked, done })
}

/// That the same load did not keep the limits once more.
fn not_held(limits: &Limits) -> Option<Warning> {
    let check = limits.check.as_ref().filter(|_| limits.hold() == Some(false))?;
    let is_later =
        |of: OfOperation, limit: Nanos| of.at_percentile_ns.is_none_or(|took| took > limit.0);
    if !is_later(check.reads, limits.read) && !is_later(check.writes, limits.write) {
        return Some(fell_behind(check));
    }
    let told = |nanos: u64| format!("{} µs", thousands((nanos as f64 / 1e3).round()));
    let took = |of: OfOperation| of.at_percentile_ns.map_or_else(|| "?".to_owned(), told);
    Some(Warning::Method(MethodWarning::LimitsNotHeld {
        percent: limits.percent,
        limits: format!("{} and {}", told(limits.read.0), told(limits.write.0)),
        took: format!("{} and {}", took(check.reads), took(check.writes)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_kept_until_three_seconds_in_a_row_are_below_it() {
        let fallen = [66_624.0, 66_688.0, 66_656.0, 58_424.0, 6_820.0, 4_428.0, 3_808.0, 3_512.0];
        assert_eq!(kept_for(&fallen, 7_928.0), 4);
        assert_eq!(kept_for(&[9.0, 1.0, 1.0, 9.0, 9.0], 5.0), 5, "a dip is no end");
        assert_eq!(kept_for(&[1.0, 1.0, 1.0, 9.0], 5.0), 0);
    }
}
