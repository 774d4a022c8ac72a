//! Recovery: does the fast buffer come back?
//!
//! Sequential writes until the fast buffer is long full, then rests, each longer than the one
//! before, with a burst of the same writes after each: what of it is written fast is how much of
//! the buffer is back.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation, Temperature};
use writecliff_measure::{Queue, Recording, Sample, Totals};
use writecliff_workload::Sequential;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fast_part::{FastPart, levels_and_buffer};
use crate::method::levels::{FALL, is_too_warm, median, share_of};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, used,
};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase of writes that fill the buffer, and go on.
/// The phase that uses the buffer up.
pub const EXHAUST: &str = "exhaust";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// How long the drive is written to first.
    pub exhaust: Nanos,
    /// How long the drive is left alone, one after the other.
    pub rests: Vec<Nanos>,
    /// Length of the writes after each.
    pub burst: Nanos,
    /// Size of a write.
    pub block: Bytes,
    /// Writes in flight.
    pub queue_depth: usize,
    /// The part of the drive, from its start, that is written again and again; `None` for half of
    /// it, so that the drive is as full at each burst, and not too full for a dynamic buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides the data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            exhaust: Nanos::from_secs(900),
            rests: [30, 60, 300, 1800].map(Nanos::from_secs).to_vec(),
            burst: Nanos::from_secs(180),
            block: Bytes::from_mib(1),
            queue_depth: 8,
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, capacity: Bytes) -> Bytes {
        let span = self.span.unwrap_or(Bytes(capacity.0 / 2));
        used(Some(span), capacity, self.block)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "recovery";
    const QUESTION: &'static str = "does the fast buffer come back?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const NOT_ALWAYS: &'static [&'static str] = &["buffer"];

    fn quick(self) -> Self {
        let mut rests: Vec<_> = self.rests.iter().map(|rest| QUICK_REST.min(*rest)).collect();
        rests.dedup();
        let (exhaust, burst) = (QUICK_TORTURE.min(self.exhaust), QUICK_BURST.min(self.burst));
        Self { exhaust, rests, burst, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: self.queue_depth, io_size: self.block }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let begin = Estimate::on(drive).sequential(self.exhaust);
        self.rests.iter().fold(begin, |all, rest| all.rest(*rest).sequential(self.burst))
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("exhaust", self.exhaust)?;
        check_duration("burst", self.burst)?;
        check_list("rests", &self.rests)?;
        self.rests.iter().try_for_each(|rest| check_duration("rests", *rest))?;
        check_block(self.block, Some(self.used(drive.capacity)), drive)?;
        check_depths([self.queue_depth], drive)
    }

    fn written_at_a_time(&self, capacity: Bytes) -> Option<Bytes> {
        Some(self.used(capacity))
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
        conclude(self, recording, known.drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        let buffer = outcome.buffer.map(|part| part.bytes.0 as f64).map(|bytes| {
            Figure::new("buffer of the erased drive", bytes, Unit::Bytes, Good::AtLeast)
        });
        let bursts = outcome.bursts.iter().rev().flat_map(|burst| outcome.figures_of(burst));
        bursts.chain(buffer).collect()
    }

    fn fast_part(outcome: &Outcome) -> Option<FastPart> {
        outcome.buffer
    }
}

/// A quick run takes no longer rests and bursts.
const QUICK_REST: Nanos = Nanos::from_secs(3);
const QUICK_BURST: Nanos = Nanos::from_secs(6);

/// The phases of a rest, and of the burst after it.
pub fn phases(rest: Nanos) -> [String; 2] {
    let rest = rest.exact();
    [format!("rest-{rest}"), format!("burst-{rest}")]
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    let span = plan.used(session.drive().capacity);
    // Every burst goes on where the last writes ended.
    let pass = Sequential::new(Operation::Write, span, plan.block);
    let mut ios = std::iter::repeat(pass).flatten();
    let mut write = |session: &mut Session<'_>, name: &str, time: Nanos| {
        let queue = Queue::new(ios.by_ref(), plan.queue_depth);
        session.record(name, queue, Some(time), Extent::Time(time))
    };
    write(session, EXHAUST, plan.exhaust)?;
    for rest in &plan.rests {
        let [idle, burst] = phases(*rest);
        session.idle(&idle, *rest)?;
        write(session, &burst, plan.burst)?;
    }
    Ok(())
}

/// What comes back of the buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The erased drive's; `None` if it shows none, and then nothing can come back.
    pub buffer: Option<FastPart>,
    /// What is written again and again: a buffer that takes more is not seen. Unknown of older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// What was written before the first rest. Unknown of older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<Bytes>,
    /// That the speed fell where NAND had to do more for each byte, which is no buffer's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_work: bool,
    /// In the order of the plan.
    pub bursts: Vec<Burst>,
}

/// The writes after a rest. Speeds are in MB/s (10^6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// How long the rest was.
    pub rest: Nanos,
    /// What was written fast before the speed fell; nothing if there is no buffer.
    pub back: Bytes,
    /// Whether it never fell: there may be more.
    pub all: bool,
    /// Mean of the whole burst.
    pub megabytes_per_second: f64,
    /// Median of its second half.
    pub end_megabytes_per_second: f64,
}

impl Outcome {
    /// How much of the erased drive's buffer is back; more than 1 if a burst that is no longer than
    /// the buffer ends before it does, or a larger one came of it.
    pub fn share(&self, burst: &Burst) -> Option<f64> {
        self.buffer.map(|buffer| burst.back.0 as f64 / buffer.bytes.0 as f64)
    }

    fn figures_of(&self, burst: &Burst) -> impl Iterator<Item = Figure> + use<> {
        let of = burst.rest.exact();
        let share = self.share(burst).map(|share| {
            let name = format!("buffer back after {of}");
            Figure::new(name, share * 100.0, Unit::Percent, Good::AtLeast)
        });
        let end = format!("end of the burst after {of}");
        let figures = [
            share,
            Some(Figure::rate(format!("burst after {of}"), burst.megabytes_per_second)),
            Some(Figure::rate(end, burst.end_megabytes_per_second).unjudged()),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(&of))
    }
}

fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let exhaust: Vec<&Sample> = recording.series(EXHAUST).collect();
    let found = levels_and_buffer(&exhaust, drive.temperature_limit);
    if found.is_empty() {
        return (
            None,
            vec![Warning::Method(MethodWarning::Ended { phase: EXHAUST.to_owned(), lasted: None })],
        );
    }
    let buffer = FastPart::of_levels(&found);
    let (mut bursts, mut warnings) = (Vec::new(), Vec::new());
    for rest in &plan.rests {
        let [_, phase] = phases(*rest);
        let samples: Vec<&Sample> =
            recording.series(&phase).filter(|sample| sample.is_whole()).collect();
        if samples.is_empty() {
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
            break;
        }
        bursts.push(burst_of(*rest, &samples, drive.temperature_limit, buffer));
    }
    // Whether there is a buffer is not known before it was to be full.
    if buffer.is_none() && bursts.is_empty() {
        return (None, warnings);
    }
    let span = Some(plan.used(drive.capacity));
    let exhausted = Some(Totals::of(exhaust).written);
    let more_work = found.get(1).is_some_and(|level| level.more_work);
    (Some(Outcome { buffer, span, exhausted, more_work, bursts }), warnings)
}

/// What a burst's seconds tell. How fast it is beyond the buffer is told by those before it was too warm: what comes
/// then is as slow for another reason.
fn burst_of(
    rest: Nanos,
    samples: &[&Sample],
    limit: Option<Temperature>,
    buffer: Option<FastPart>,
) -> Burst {
    let seconds: Vec<f64> = samples.iter().map(|sample| sample.written_bytes as f64).collect();
    let cool = samples.iter().take_while(|sample| !is_too_warm(sample, limit)).count();
    let cool = &seconds[..if cool < COOL_MIN { seconds.len() } else { cool }];
    let [end, beyond] = [&seconds, cool].map(|all| median(&all[all.len() / 2..]));
    let written: f64 = seconds.iter().sum();
    let (back, all) = match buffer.map(|buffer| buffer.fast_megabytes_per_second * 1e6) {
        None => (0.0, false),
        Some(fast) if beyond >= FALL * fast => (cool.iter().sum(), true),
        Some(fast) => (fast_bytes(cool, fast, beyond), false),
    };
    Burst {
        rest,
        back: Bytes(back as u64),
        all,
        megabytes_per_second: written / seconds.len() as f64 / 1e6,
        end_megabytes_per_second: end / 1e6,
    }
}

/// Fewer seconds do not tell how fast a burst is beyond the buffer.
const COOL_MIN: usize = 4;

/// What is written before the speed falls from `fast` to `slow`: of the two seconds around the
/// fall, the share that gives what was written in them.
fn fast_bytes(seconds: &[f64], fast: f64, slow: f64) -> f64 {
    let is_fast = |bytes: &&f64| share_of(fast, **bytes, slow) >= 0.5;
    let fall = seconds.iter().take_while(is_fast).count();
    let around = fall.saturating_sub(1)..seconds.len().min(fall + 1);
    let before: f64 = seconds[..around.start].iter().sum();
    before + seconds[around].iter().map(|bytes| share_of(fast, *bytes, slow) * fast).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What heat makes of a burst later is no rate beyond the buffer.
    #[test]
    fn a_burst_that_became_too_warm_gives_back_what_came_before_that() {
        let fast_megabytes_per_second = 6000.0;
        let buffer = FastPart {
            bytes: Bytes(6_800_000_000),
            fast_megabytes_per_second,
            slow_megabytes_per_second: 2700.0,
        };
        let told = |warm_from: usize| {
            let second = |index: usize| {
                let megabytes = match index {
                    0 => 3000,
                    _ if index < warm_from => 2700,
                    _ => 1500,
                };
                let throttled_ns = Some(if index < warm_from { 0 } else { 600_000_000 });
                Sample { written_bytes: megabytes * 1_000_000, throttled_ns, ..Sample::default() }
            };
            let samples: Vec<Sample> = (0..180).map(second).collect();
            let samples: Vec<&Sample> = samples.iter().collect();
            burst_of(Nanos::from_secs(30), &samples, None, Some(buffer))
        };
        let (never, later) = (told(180), told(46));
        assert_eq!(later.back, never.back);
        assert_eq!(later.back, Bytes(545_454_545));
        assert_eq!(
            (never.end_megabytes_per_second, later.end_megabytes_per_second),
            (2700.0, 1500.0)
        );
        assert!(told(2).back > never.back, "too few seconds before it");
    }
}
