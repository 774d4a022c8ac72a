//! Working set: does the drive have enough memory for its map?
//!
//! Random reads, one at a time, from ever larger parts of a full drive. A drive that does not hold
//! all of its map in memory fetches entries from NAND first, as soon as what is read is larger than
//! what the part that it holds stands for.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Totals};
use writecliff_workload::RandomUniform;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH, SETTLE_TIME};
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase that writes what is read.
pub const FILL: &str = "fill";
/// The phase that gives the drive time after that.
pub const SETTLE: &str = "settle";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The smallest part that is read from; each other is twice as large, and the last is all.
    pub smallest: Bytes,
    /// How long each part is read from. The first half of it brings the map into memory.
    pub duration: Nanos,
    /// Size of a read.
    pub block: Bytes,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            smallest: Bytes::from_gib(1),
            duration: Nanos::from_secs(60),
            block: Bytes::from_kib(4),
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.block)
    }

    /// The parts that are read from, if so much is used.
    fn spans(&self, used: Bytes) -> Vec<Bytes> {
        let doubled = std::iter::successors(Some(self.smallest.0), |span| span.checked_mul(2));
        let smaller = doubled.map(Bytes).take_while(|span| *span < used);
        smaller.chain([used]).collect()
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "working-set";
    const QUESTION: &'static str = "does it have enough memory for its map?";
    const NEEDS: &'static [Mechanism] = &[Mechanism::MapMemory];
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    const NOT_ALWAYS: &'static [&'static str] = &["map in memory holds"];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { duration: overrides.duration.unwrap_or(self.duration), ..self })
    }

    fn quick(self) -> Self {
        let duration = QUICK_MEASUREMENT.min(self.duration);
        Self { duration, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: FILL_QUEUE_DEPTH, io_size: self.block.max(FILL_BLOCK) }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let used = self.used(drive);
        let reads = self.duration * self.spans(used).len() as u64;
        Estimate::on(drive).fill(used).rest(SETTLE_TIME.min(self.duration) + reads)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("duration", self.duration)?;
        check_block(self.block, self.span, drive)?;
        check_block(self.block, Some(self.smallest), drive)?;
        check_depths([FILL_QUEUE_DEPTH], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        let holds = outcome.map_end.map(|end| end.holds.0 as f64);
        let holds = holds
            .map(|bytes| Figure::new("map in memory holds", bytes, Unit::Bytes, Good::AtLeast));
        let spans = outcome.spans.iter().rev().flat_map(SpanFigures::figures);
        spans.chain(holds.map(Figure::unjudged)).collect()
    }
}

/// The phase that reads from a part of the drive.
fn phase(span: Bytes) -> String {
    format!("read-{}", span.exact())
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let used = plan.used(session.drive());
    session.purge()?;
    session.fill(FILL, used, FILL_BLOCK, FILL_QUEUE_DEPTH)?;
    session.idle(SETTLE, SETTLE_TIME.min(plan.duration))?;
    for span in plan.spans(used) {
        let ios = RandomUniform::new(Operation::Read, span, plan.block, plan.seed);
        let (queue, extent) = (Queue::new(ios, 1), Extent::Time(plan.duration));
        session.record(&phase(span), queue, Some(plan.duration), extent)?;
    }
    Ok(())
}

/// How reads depend on the size of what is read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The smallest first.
    pub spans: Vec<SpanFigures>,
    /// Where the map no longer fits into the drive's memory; `None` if it does, or if what makes
    /// reads slower has not the course that this has.
    pub map_end: Option<MapEnd>,
}

/// Reads from one part of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpanFigures {
    /// Its size.
    pub span: Bytes,
    /// Whether it is all that is used.
    pub whole: bool,
    /// How fast.
    pub rate: Rate,
    /// How late.
    pub latency: LatencyFigures,
}

impl SpanFigures {
    fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = if self.whole { "all".to_owned() } else { self.span.exact() };
        let name = |what: &str| format!("reads from {of}, {what}");
        let figures = [
            Some(Figure::iops(format!("reads from {of}"), self.rate.iops)),
            Some(Figure::latency(name("mean"), self.rate.mean_ns).unjudged()),
            Some(Figure::latency(name("p50"), self.latency.p50_ns).unjudged()),
            Figure::percentile(name("p99"), self.latency.p99_ns).map(Figure::unjudged),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(&of))
    }
}

/// Where the map no longer fits into the drive's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapEnd {
    /// The largest part of which it does.
    pub fits: Bytes,
    /// What the memory holds the map of, as the larger parts tell.
    pub holds: Bytes,
    /// How much longer a read takes whose entry is not there, in nanoseconds.
    pub fetch_ns: u64,
}

/// Mean service times differ if one is longer than this many of the other.
const LONGER: f64 = 1.05;
/// The size that larger parts tell may lie so far outside of the two parts that it is between.
const TOLERANCE: f64 = 1.1;

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let used = Totals::of(recording.series(FILL)).written;
    let (mut spans, mut warnings) = (Vec::new(), Vec::new());
    for span in plan.spans(used) {
        let Some((rate, latency)) = figures_of(plan, span, recording) else {
            warnings
                .push(Warning::Method(MethodWarning::Ended { phase: phase(span), lasted: None }));
            break;
        };
        spans.push(SpanFigures { span, whole: span == used, rate, latency });
    }
    let means: Vec<(f64, f64)> =
        spans.iter().map(|s| (s.span.0 as f64, s.rate.mean_ns as f64)).collect();
    let map_end = map_end(&means);
    ((!spans.is_empty()).then_some(Outcome { spans, map_end }), warnings)
}

/// Of the second half of the time.
fn figures_of(plan: &Plan, span: Bytes, recording: &Recording) -> Option<(Rate, LatencyFigures)> {
    let (phase, window) = (phase(span), (plan.duration.0 / 2_000_000_000) as u32..u32::MAX);
    let in_window = recording.series(&phase).filter(|sample| window.contains(&sample.second));
    let rate = Rate::of(&Totals::of(in_window))?;
    Some((rate, LatencyFigures::of(recording, &phase, window)))
}

/// Of sizes and mean service times, the smallest size first. Of a part that is larger than what the
/// memory holds the map of, the entry of a read is there with the odds of one size over the other:
/// the mean is that of a read with a fetch, less these odds times a fetch. Two such parts give both.
fn map_end(means: &[(f64, f64)]) -> Option<MapEnd> {
    let (_, shortest) = *means.first()?;
    let fitting = means.iter().take_while(|(_, mean)| *mean <= LONGER * shortest).count();
    let (fits, there) = means[fitting - 1];
    let larger = &means[fitting..];
    let [(near, near_mean), .., (far, far_mean)] = *larger else { return None };
    let held_by_fetch = (far_mean - near_mean) / (1.0 / near - 1.0 / far);
    let fetch = near_mean + held_by_fetch / near - there;
    let holds = held_by_fetch / fetch;
    let is_between = (fits / TOLERANCE..near * TOLERANCE).contains(&holds);
    let is_so = |(size, mean): &(f64, f64)| {
        let expected = there + fetch * (1.0 - holds / size);
        expected.max(*mean) <= LONGER * expected.min(*mean)
    };
    (is_between && larger.iter().all(is_so)).then_some(MapEnd {
        fits: Bytes(fits as u64),
        holds: Bytes(holds as u64),
        fetch_ns: fetch as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (1u64 << 30) as f64;

    /// Where reads that take `mean` of so many GiB tell that the map no longer fits.
    fn end_of(mean: impl Fn(f64) -> f64) -> Option<MapEnd> {
        let means = (0..9).map(|power| f64::from(1 << power)).map(|gib| (gib * GIB, mean(gib)));
        map_end(&means.collect::<Vec<_>>())
    }

    #[test]
    fn the_size_is_found_between_two_parts() {
        let end = end_of(|gib| 60e3 + 40e3 * (1.0 - (48.0 / gib).min(1.0))).unwrap();
        assert_eq!(end.fits, Bytes::from_gib(32));
        assert!((end.holds.0 as f64 / (48.0 * GIB) - 1.0).abs() < 1e-6, "{end:?}");
        assert!(end.fetch_ns.abs_diff(40_000) <= 1, "{end:?}");
    }

    #[test]
    fn what_is_no_map_is_not_called_one() {
        assert_eq!(end_of(|_| 60e3), None);
        // An arm moves farther: longer by as much with every doubling, or as the square root.
        assert_eq!(end_of(|gib| 6e6 + 1e6 * gib.log2()), None);
        assert_eq!(end_of(|gib| 6e6 + 1e6 * gib.sqrt()), None);
        // One larger part alone does not tell.
        assert_eq!(end_of(|gib| if gib > 200.0 { 90e3 } else { 60e3 }), None);
        assert_eq!(map_end(&[]), None);
    }
}
