//! Whole drive: how fast is it until it is full, and how large is its fast buffer?
//!
//! Sequential writes over all of an erased drive, and again over the second half of one whose first
//! half is full and has rested. What was written at one speed is a level: the fast buffer, then
//! whatever comes after it.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Sample, Totals};
use writecliff_workload::Sequential;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fast_part::{FastPart, levels_and_buffer};
use crate::method::levels::Level;
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::quick::quick_span;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase that writes an erased drive full.
pub const ERASED: &str = "erased";
/// The phase that writes its first half, after another purge.
const FIRST_HALF: &str = "first-half";
/// The phase that gives the drive time after that.
pub const REST: &str = "rest";
/// The phase that writes its second half.
pub const HALF_FULL: &str = "half-full";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Size of a write.
    pub block: Bytes,
    /// Writes in flight.
    pub queue_depth: usize,
    /// Time for the drive to empty its fast buffer, between the halves.
    pub rest: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides the data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            block: Bytes::from_mib(1),
            queue_depth: 8,
            rest: Nanos::from_secs(1800),
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.block)
    }

    /// The first half, in whole blocks.
    fn half(&self, drive: &DeviceInfo) -> Bytes {
        used(Some(Bytes(self.used(drive).0 / 2)), drive.capacity, self.block)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "whole-drive";
    const QUESTION: &'static str =
        "how fast is it until it is full, and how large is its fast buffer?";
    const NOT_ALWAYS: &'static [&'static str] = &["fast buffer"];

    fn quick(self) -> Self {
        let rest = Nanos::from_secs(3).min(self.rest);
        Self { rest, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: self.queue_depth, io_size: self.block }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let used = self.used(drive);
        let once = Estimate::on(drive).fill(used);
        if drive.purges.is_empty() { once } else { once.fill(used).rest(self.rest) }
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("rest", self.rest)?;
        check_block(self.block, self.span, drive)?;
        check_block(self.block, Some(self.half(drive)), drive)?;
        check_depths([self.queue_depth], drive)
    }

    /// The seed decides the bytes, not where they go.
    fn asks_as(&self, other: &Self) -> bool {
        *self == Self { seed: self.seed, ..other.clone() }
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude(recording, known.drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.fills.iter().flat_map(Fill::figures).collect()
    }

    fn fast_part(outcome: &Outcome) -> Option<FastPart> {
        outcome.fills.first()?.fast_buffer()
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let (all, half) = (plan.used(session.drive()), plan.half(session.drive()));
    session.purge()?;
    session.fill(ERASED, all, plan.block, plan.queue_depth)?;
    if !session.purge()? {
        // It is full from now on, never half full.
        return Ok(());
    }
    session.fill(FIRST_HALF, half, plan.block, plan.queue_depth)?;
    session.idle(REST, plan.rest)?;
    let ios = Sequential::new(Operation::Write, all, plan.block);
    let second_half = ios.skip((half.0 / plan.block.0) as usize);
    let extent = Extent::Bytes(Bytes(all.0 - half.0));
    session.record(HALF_FULL, Queue::new(second_half, plan.queue_depth), None, extent)
}

/// How fast the drive became full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the erased drive, then of the half-full one.
    pub fills: Vec<Fill>,
}

/// One fill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// Which, by its phase.
    pub phase: String,
    /// What was on the drive before.
    pub from: Bytes,
    /// Mean of all of it, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// Mean of the first and of the last [twentieth](END) of its seconds, in MB/s (10^6): a disk's
    /// tracks get slower in steps that are too small to be levels. `None` of a fill of a few seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
    /// Its levels, in order.
    pub levels: Vec<Level>,
}

/// The share of a fill's seconds that is an end of it.
const END: f64 = 0.05;

/// The speed at a fill's beginning and at its end.
fn ends(samples: &[&Sample]) -> Option<[f64; 2]> {
    let whole: Vec<&Sample> = samples.iter().copied().filter(|one| one.is_whole()).collect();
    let end = (whole.len() as f64 * END) as usize;
    let mean = |part: &[&Sample]| Totals::of(part.iter().copied()).megabytes_per_second();
    (end > 0).then(|| [mean(&whole[..end]), mean(&whole[whole.len() - end..])])
}

impl Fill {
    /// The first level, if the next is slower.
    pub fn fast_buffer(&self) -> Option<FastPart> {
        FastPart::of_levels(&self.levels)
    }

    /// Speed of the slowest level, in MB/s (10^6).
    pub fn slowest(&self) -> Option<f64> {
        self.levels.iter().map(|level| level.megabytes_per_second).reduce(f64::min)
    }

    fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = self.phase.replace('-', " ");
        let rate = |name, rate| Some(Figure::rate(format!("{of}, {name}"), rate));
        let buffer = self.fast_buffer().map(|part| part.bytes.0 as f64).map(|bytes| {
            Figure::new(format!("{of}, fast buffer"), bytes, Unit::Bytes, Good::AtLeast)
        });
        let first = self.levels.first().map(|level| level.megabytes_per_second);
        let figures = [
            rate("mean", self.megabytes_per_second),
            buffer,
            first.and_then(|first| rate("first level", first)),
            self.slowest().and_then(|slowest| rate("slowest level", slowest)),
        ];
        figures
            .into_iter()
            .flatten()
            .map(move |figure| figure.of(&of))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

fn conclude(recording: &Recording, drive: &DeviceInfo) -> (Option<Outcome>, Vec<Warning>) {
    let first_half = Totals::of(recording.series(FIRST_HALF)).written;
    let (mut fills, mut warnings) = (Vec::new(), Vec::new());
    // One that nothing erases is never half full.
    let parts = if drive.purges.is_empty() { 1 } else { 2 };
    for (phase, from) in [(ERASED, Bytes::ZERO), (HALF_FULL, first_half)].into_iter().take(parts) {
        let samples: Vec<_> = recording.series(phase).collect();
        let phase = phase.to_owned();
        let levels = levels_and_buffer(&samples, drive.temperature_limit);
        if levels.is_empty() {
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
            break;
        }
        let ends = ends(&samples);
        let megabytes_per_second = Totals::of(samples).megabytes_per_second();
        fills.push(Fill { phase, from, megabytes_per_second, ends, levels });
    }
    ((!fills.is_empty()).then_some(Outcome { fills }), warnings)
}

#[cfg(test)]
mod tests {
    use writecliff_sim::{Build, load};

    use super::*;
    use crate::method::levels::levels;

    /// A disk's tracks: a hundred seconds of 200 down to 100 MB/s, a step of 1 MB/s each.
    #[test]
    fn what_becomes_slower_without_a_step_has_ends_that_say_so() {
        let second = |second: u32| Sample {
            series: ERASED.to_owned(),
            second,
            span_ns: 1_000_000_000,
            written_bytes: u64::from(200 - second) * 1_000_000,
            ..Sample::default()
        };
        let samples: Vec<Sample> = (0..100).map(second).collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        assert_eq!(levels(&samples, None).len(), 1);
        assert_eq!(ends(&samples), Some([198.0, 103.0]), "of five seconds each");
        assert_eq!(ends(&samples[..19]), None);
    }

    /// A fill of so many seconds at speeds in MB/s that begin after so many seconds.
    fn filled(speeds: &[(f64, f64)], seconds: u32) -> Recording {
        let until = |time: f64| {
            let ends = speeds.iter().skip(1).map(|(from, _)| *from).chain([f64::INFINITY]);
            let each = speeds.iter().zip(ends);
            each.map(|((from, speed), end)| (time.min(end) - from).max(0.0) * speed * 1e6)
                .sum::<f64>()
        };
        let second = |second: u32| Sample {
            series: ERASED.to_owned(),
            second,
            span_ns: 1_000_000_000,
            written_bytes: (until(f64::from(second) + 1.0) - until(f64::from(second))) as u64,
            ..Sample::default()
        };
        let mut recording = Recording::default();
        recording.samples = (0..seconds).map(second).collect();
        recording
    }

    /// However soon a buffer is over: no level behind it has a speed that the drive never had.
    #[test]
    fn a_short_buffer_hides_no_fall_behind_it() {
        let drive = load("tiny").unwrap().open("sim:tiny").info().clone();
        for (tenths, second) in (11..60).flat_map(|tenths| [6.3, 9.0, 20.0].map(|s| (tenths, s))) {
            let lasts = f64::from(tenths) / 10.0;
            let speeds = [(0.0, 5993.0), (lasts, 2689.0), (lasts + second, 1744.0)];
            let (outcome, _) = conclude(&filled(&speeds, 40), &drive);
            let levels = &outcome.unwrap().fills[0].levels;
            let told = format!("{lasts} s, then {second} s: {levels:?}");
            assert!((levels[0].bytes.0 as f64 / 5993e6 / lasts - 1.0).abs() < 0.02, "{told}");
            let found = levels.iter().map(|level| level.megabytes_per_second);
            let are_so = |(found, is): (f64, f64)| (found / is - 1.0).abs() < 0.02;
            assert!(levels.len() == 3 && found.zip([5993.0, 2689.0, 1744.0]).all(are_so), "{told}");
        }
    }

    /// A level of which the last seconds are slower, and too few to be one: what is the buffer's is told by the
    /// seconds right behind it.
    #[test]
    fn a_buffer_ends_where_the_seconds_beside_its_end_say() {
        let drive = load("tiny").unwrap().open("sim:tiny").info().clone();
        let speeds = [(0.0, 2777.0), (1.17, 1898.0), (5.0, 1258.0)];
        let (outcome, _) = conclude(&filled(&speeds, 9), &drive);
        let fill = &outcome.unwrap().fills[0];
        let buffer = fill.fast_buffer().unwrap().bytes.0 as f64;
        assert!((buffer / 2777e6 / 1.17 - 1.0).abs() < 0.01, "{fill:?}");
    }

    /// However soon a buffer is over: what a fill of another test finds, a fill of this one does.
    #[test]
    fn a_buffer_that_a_fill_shows_is_one_here() {
        let drive = load("tiny").unwrap().open("sim:tiny").info().clone();
        let mut found = 0;
        for tenths in 1..100 {
            let lasts = f64::from(tenths) / 10.0;
            let recording = filled(&[(0.0, 5945.0), (lasts, 2474.0)], 30);
            let samples: Vec<_> = recording.samples.iter().collect();
            let (outcome, _) = conclude(&recording, &drive);
            let fill = &outcome.unwrap().fills[0];
            let bytes: u64 = fill.levels.iter().map(|level| level.bytes.0).sum();
            assert_eq!(bytes, Totals::of(samples.iter().copied()).written.0);
            let Some(told) = FastPart::of(&samples, None) else { continue };
            found += 1;
            let here = fill.fast_buffer().unwrap_or_else(|| panic!("{lasts} s: {fill:?}"));
            let ratio = here.bytes.0 as f64 / told.bytes.0 as f64;
            assert!((0.95..1.05).contains(&ratio), "{lasts} s: {here:?}, {told:?}");
            let ratio = here.slow_megabytes_per_second / 2474.0;
            assert!((0.97..1.03).contains(&ratio), "{lasts} s: {here:?}");
        }
        assert!(found > 80, "{found}");
    }
}
