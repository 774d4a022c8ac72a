//! Heat: does the drive hold its speed when it is warm?
//!
//! Half an hour of sequential reads from a full drive, and after a rest as long a time of sequential
//! writes: how fast every second was, and how warm the drive was at its end.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, Nanos, Operation, Temperature};
use writecliff_measure::{Queue, Recording, Sample};
use writecliff_workload::Sequential;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fast_part::FastPart;
use crate::method::levels::is_too_warm;
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase that fills the drive for the reads.
pub const FILL: &str = "fill";
/// The rest before the reads.
const COOL: &str = "cool";
/// Sequential reads.
pub const READ: &str = "sequential-read";
/// The rest before the writes.
const COOL_AGAIN: &str = "cool-again";
/// Sequential writes.
pub const WRITE: &str = "sequential-write";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Length of either load.
    pub load: Nanos,
    /// Length of the rest before either load.
    pub rest: Nanos,
    /// Size of a read or write.
    pub block: Bytes,
    /// Reads or writes in flight.
    pub queue_depth: usize,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides the data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            load: Nanos::from_secs(1800),
            rest: Nanos::from_secs(600),
            block: Bytes::from_mib(1),
            queue_depth: 8,
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

    const NAME: &'static str = "heat";
    const QUESTION: &'static str = "does it hold its speed when it is warm?";
    const NEEDS: &'static [Mechanism] = &[Mechanism::Heat];
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    /// 2: what is held is of all the time in which a drive throttles.
    const METHOD_VERSION: u32 = 2;
    const NOT_ALWAYS: &'static [&'static str] = &["time to throttling", "warmest"];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { load: overrides.duration.unwrap_or(self.load), ..self })
    }

    fn quick(self) -> Self {
        let (load, rest) = (QUICK_TORTURE.min(self.load), Nanos::from_secs(3).min(self.rest));
        Self { load, rest, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: self.queue_depth, io_size: self.block }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let reads = self.rest + self.load;
        Estimate::on(drive).fill(self.used(drive)).rest(reads + self.rest).sequential(self.load)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("load", self.load)?;
        check_duration("rest", self.rest)?;
        check_block(self.block, self.span, drive)?;
        check_depths([self.queue_depth], drive)
    }

    /// The seed decides the bytes, not where they go.
    fn asks_as(&self, other: &Self) -> bool {
        *self == Self { seed: self.seed, ..other.clone() }
    }

    fn warms(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude(recording, known.drive.temperature_limit)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.loads.iter().flat_map(Load::figures).collect()
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    let span = plan.used(session.drive());
    session.fill(FILL, span, plan.block, plan.queue_depth)?;
    session.idle(COOL, plan.rest)?;
    load(plan, session, Operation::Read, READ)?;
    session.idle(COOL_AGAIN, plan.rest)?;
    load(plan, session, Operation::Write, WRITE)
}

fn load(
    plan: &Plan,
    session: &mut Session<'_>,
    operation: Operation,
    name: &str,
) -> Result<(), RunError> {
    let pass = Sequential::new(operation, plan.used(session.drive()), plan.block);
    let queue = Queue::new(std::iter::repeat(pass).flatten(), plan.queue_depth);
    session.record(name, queue, Some(plan.load), Extent::Time(plan.load))
}

/// How the drive went as it became warm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// From where on the drive protects itself, in degrees Celsius; `None` if it does not tell.
    pub limit_celsius: Option<f64>,
    /// Reads, then writes.
    pub loads: Vec<Load>,
}

/// One load. Rates are in MB/s (10^6), temperatures in degrees Celsius, `None` if the drive tells
/// none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Which.
    pub phase: String,
    /// Rate of its first minute, or its first tenth if that is shorter; of writes, of the first beyond the
    /// fast buffer.
    pub first: f64,
    /// So many seconds of it went into the fast buffer; 0 of older runs, which did not keep it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub buffered_s: u32,
    /// Rate of its last minute, or tenth.
    pub last: f64,
    /// At the end of its first second.
    pub begin_celsius: Option<f64>,
    /// The highest.
    pub highest_celsius: Option<f64>,
    /// The first second that counts as throttled.
    pub throttled: Option<Throttled>,
}

const fn is_none(seconds: &u32) -> bool {
    *seconds == 0
}

/// When a drive began to slow down for its temperature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Throttled {
    /// Seconds from the load's beginning to that of the second.
    pub after_s: u32,
    /// How it was seen.
    pub by: Sign,
    /// At the second's end.
    pub celsius: f64,
    /// Mean rate from then on, in MB/s (10^6): a drive may slow down now and then. Unknown of older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub megabytes_per_second: Option<f64>,
}

/// What tells that a drive throttles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// It slowed down to protect itself, or was as warm as its own protection allows.
    Limit,
    /// It was slower for as long as a rate is the mean of while it was warm.
    Speed,
}

impl Load {
    /// Rate at the end, of a drive that throttles from then on, as a share of that at the beginning.
    pub fn held(&self) -> f64 {
        let throttled = self.throttled.and_then(|throttled| throttled.megabytes_per_second);
        let kept = throttled.unwrap_or(self.last);
        if self.first > 0.0 { kept / self.first } else { 0.0 }
    }

    fn figures(&self) -> Vec<Figure> {
        let name = |figure: &str| format!("{}, {figure}", self.phase);
        let after = self.throttled.map(|throttled| f64::from(throttled.after_s));
        let warmest =
            |degrees| Figure::new(name("warmest"), degrees, Unit::Celsius, Good::AtMost).unjudged();
        let throttled = |seconds| {
            Figure::new(name("time to throttling"), seconds, Unit::Seconds, Good::AtLeast)
                .unjudged()
        };
        let figures = [
            Some(Figure::rate(name("in the end"), self.last)),
            Some(Figure::rate(name("at first"), self.first).unjudged()),
            Some(Figure::new(name("held"), self.held() * 100.0, Unit::Percent, Good::AtLeast)),
            after.map(throttled),
            self.highest_celsius.map(warmest),
        ];
        figures.into_iter().flatten().map(|figure| figure.of(&self.phase)).collect()
    }
}

/// A second of a load.
#[derive(Debug, Clone, Copy)]
struct Second {
    rate: f64,
    celsius: Option<f64>,
    is_too_warm: bool,
}

impl Second {
    fn of(sample: &Sample, limit: Option<Temperature>) -> Self {
        let celsius = sample.temperature_millicelsius.map(celsius);
        let is_too_warm = is_too_warm(sample, limit);
        Self { rate: sample.megabytes_per_second(), celsius, is_too_warm }
    }
}

fn celsius(millicelsius: u64) -> f64 {
    millicelsius as f64 / 1e3
}

/// What rates at the beginning and at the end are means of, in seconds.
const MINUTE: usize = 60;
/// A drive that throttles is slower than this share of what it was before it was warm.
const HELD: f64 = 0.9;
/// A drive is warm so few degrees below its limit, or below its highest temperature if it tells no
/// limit.
const WARM_WITHIN: f64 = 5.0;
/// Without a limit, a drive that became less warmer than this does not throttle.
const RISE_MIN: f64 = 10.0;

fn conclude(recording: &Recording, limit: Option<Temperature>) -> (Option<Outcome>, Vec<Warning>) {
    let (mut loads, mut warnings) = (Vec::new(), Vec::new());
    let limit_celsius = limit.map(|limit| celsius(limit.0));
    for name in [READ, WRITE] {
        let whole: Vec<&Sample> =
            recording.series(name).filter(|sample| sample.is_whole()).collect();
        let buffered = FastPart::of(&whole, limit).map_or(0, |part| seconds_of(part, &whole));
        let seconds: Vec<Second> = whole.iter().map(|sample| Second::of(sample, limit)).collect();
        match load_of(name, &seconds, buffered, limit_celsius) {
            Some(load) => loads.push(load),
            None => {
                warnings.push(Warning::Method(MethodWarning::Ended {
                    phase: name.to_owned(),
                    lasted: None,
                }));
                break;
            }
        }
    }
    if loads.iter().any(|load| load.highest_celsius.is_none()) {
        warnings.push(Warning::Method(MethodWarning::NoTemperature));
    }
    ((!loads.is_empty()).then_some(Outcome { limit_celsius, loads }), warnings)
}

/// The seconds in which a fast buffer was written, up to the first without it.
fn seconds_of(part: FastPart, write: &[&Sample]) -> usize {
    let mut written = 0;
    let is_within = |sample: &&&Sample| {
        let begins_within = written < part.bytes.0;
        written += sample.written_bytes;
        begins_within
    };
    write.iter().take_while(is_within).count()
}

/// The first `buffered` seconds are those of a fast buffer, whose end is no effect of warmth: rates count
/// from then on.
fn load_of(name: &str, all: &[Second], buffered: usize, limit: Option<f64>) -> Option<Load> {
    let seconds = all.get(buffered..)?;
    let minute = MINUTE.min(seconds.len() / 10).max(1);
    let first = mean(seconds.get(..minute)?);
    let last = mean(&seconds[seconds.len() - minute..]);
    let degrees = all.iter().filter_map(|second| second.celsius);
    let throttled = throttled(seconds, minute, limit);
    Some(Load {
        phase: name.to_owned(),
        first,
        buffered_s: buffered as u32,
        last,
        begin_celsius: all.first()?.celsius,
        highest_celsius: degrees.reduce(f64::max),
        throttled: throttled.map(|it| Throttled { after_s: it.after_s + buffered as u32, ..it }),
    })
}

/// The first second in which the drive protects itself, by what it tells or by its own limit, or that is slower on a warm drive, with the minute that
/// it begins, than the minute before the drive was warm.
fn throttled(seconds: &[Second], minute: usize, limit: Option<f64>) -> Option<Throttled> {
    let degrees = || seconds.iter().filter_map(|second| second.celsius);
    let (begin, highest) = (seconds[0].celsius?, degrees().reduce(f64::max)?);
    let warm = match limit {
        Some(limit) => limit - WARM_WITHIN,
        None => (highest - WARM_WITHIN).max(begin + RISE_MIN),
    };
    let is_warm = |second: &Second| second.celsius.is_some_and(|celsius| celsius >= warm);
    let warm_from = seconds.iter().position(is_warm)?;
    let before = mean(&seconds[warm_from.saturating_sub(minute)..warm_from.max(minute)]);
    let sign = |(index, window): (usize, &[Second])| {
        let Second { celsius: Some(celsius), is_too_warm, .. } = window[0] else { return None };
        let is_slower = |seconds| mean(seconds) < HELD * before;
        let stays = window.len() == minute && is_slower(&window[..1]) && is_slower(window);
        let by = if is_too_warm { Sign::Limit } else { Sign::Speed };
        (is_too_warm || (stays && celsius >= warm)).then_some(Throttled {
            after_s: index as u32,
            by,
            celsius,
            megabytes_per_second: Some(mean(&seconds[index..])),
        })
    };
    let window = |index| (index, &seconds[index..seconds.len().min(index + minute)]);
    (0..seconds.len()).map(window).find_map(sign)
}

fn mean(seconds: &[Second]) -> f64 {
    seconds.iter().map(|second| second.rate).sum::<f64>() / seconds.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten minutes, each second of which is as `at` says: rate and degrees.
    fn minutes(at: impl Fn(u32) -> (f64, f64)) -> Vec<Second> {
        let second = |(rate, celsius)| Second { rate, celsius: Some(celsius), is_too_warm: false };
        (0..600).map(|index| second(at(index))).collect()
    }

    fn throttled_at(seconds: &[Second], limit: Option<f64>) -> Option<(u32, Sign)> {
        let is_at_limit = |second: &Second| second.celsius.zip(limit).is_some_and(|(c, l)| c >= l);
        let seconds = seconds.iter().map(|one| Second { is_too_warm: is_at_limit(one), ..*one });
        let seconds: Vec<Second> = seconds.collect();
        let seconds = &seconds[..];
        let throttled = load_of(READ, seconds, 0, limit).unwrap().throttled?;
        Some((throttled.after_s, throttled.by))
    }

    /// A degree every ten seconds from 30 on.
    fn warming(second: u32) -> f64 {
        30.0 + f64::from(second) / 10.0
    }

    #[test]
    fn a_drive_at_its_limit_throttles_whatever_its_speed() {
        let steady = minutes(|second| (500.0, warming(second)));
        assert_eq!(throttled_at(&steady, Some(70.0)), Some((400, Sign::Limit)));
        assert_eq!(throttled_at(&steady, Some(95.0)), None);
        assert_eq!(throttled_at(&steady, None), None);
    }

    #[test]
    fn a_warm_drive_that_stays_slower_throttles() {
        let slower = minutes(|s| (if s < 520 { 500.0 } else { 300.0 }, warming(s).min(80.0)));
        let expected = Some((520, Sign::Speed));
        assert_eq!(throttled_at(&slower, Some(82.0)), expected);
        assert_eq!(throttled_at(&slower, None), expected);
        assert_eq!(throttled_at(&slower, Some(95.0)), None, "far below its limit");
    }

    #[test]
    fn a_cool_drive_that_falls_past_its_buffer_does_not() {
        let cool = minutes(|second| (if second < 100 { 500.0 } else { 100.0 }, 35.0));
        assert_eq!(throttled_at(&cool, None), None);
        assert_eq!(throttled_at(&cool, Some(70.0)), None);
    }

    #[test]
    fn a_drive_that_was_slow_before_it_was_warm_does_not() {
        let early = minutes(|s| (if s < 100 { 500.0 } else { 100.0 }, warming(s).min(75.0)));
        assert_eq!(throttled_at(&early, Some(78.0)), None);
        assert_eq!(throttled_at(&early, None), None);
    }

    #[test]
    fn a_slow_moment_is_no_throttling() {
        let moment = minutes(|s| (if (400..405).contains(&s) { 0.0 } else { 500.0 }, 69.0));
        assert_eq!(throttled_at(&moment, Some(70.0)), None);
    }

    /// Its last minute may lie between two times of that.
    #[test]
    fn a_drive_that_throttles_now_and_then_holds_what_it_does_from_then_on() {
        let fast = |s: u32| s < 400 || s % 150 >= 30;
        let seconds = minutes(|s| (if fast(s) { 500.0 } else { 250.0 }, warming(s).min(70.0)));
        let seconds: Vec<Second> = seconds
            .into_iter()
            .enumerate()
            .map(|(index, one)| Second { is_too_warm: !fast(index as u32), ..one })
            .collect();
        let load = load_of(READ, &seconds, 0, Some(70.0)).unwrap();
        assert_eq!((load.last, load.throttled.map(|it| it.after_s)), (500.0, Some(450)));
        assert!((load.held() - 0.9).abs() < 1e-9, "{}", load.held());
    }

    /// A quick NVMe drive's buffer lasts for seconds, and is the first tenth of a short load.
    #[test]
    fn the_end_of_a_fast_buffer_is_no_loss_to_warmth() {
        let seconds = minutes(|s| (if s < 8 { 1800.0 } else { 240.0 }, warming(s).min(60.0)));
        let load = load_of(WRITE, &seconds, 8, Some(77.0)).unwrap();
        assert_eq!((load.first, load.last, load.held(), load.buffered_s), (240.0, 240.0, 1.0, 8));
    }

    #[test]
    fn a_drive_without_a_thermometer_has_rates_only() {
        let seconds = vec![Second { rate: 500.0, celsius: None, is_too_warm: false }; 600];
        let load = load_of(WRITE, &seconds, 0, None).unwrap();
        assert_eq!((load.first, load.last, load.throttled), (500.0, 500.0, None));
        assert_eq!(load.figures().len(), 3);
    }
}
