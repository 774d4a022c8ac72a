//! What a drive does with a watt: the one place where that is computed, for every test.

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;
use writecliff_measure::{Recording, Sample};

use crate::record::figure::{Figure, Good};
use crate::record::phase::Phase;
use crate::record::unit::Unit;

/// What a phase took and gave, if something told the power in every second of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Efficiency {
    /// The phase.
    pub phase: String,
    /// Mean power in watts.
    pub watts: f64,
    /// Energy in watt-hours.
    pub watt_hours: f64,
    /// Bytes read and written, in MB/s (10^6) for each watt: megabytes for each joule.
    pub megabytes_per_second_per_watt: f64,
    /// I/Os per second for each watt.
    pub iops_per_watt: f64,
}

/// Shorter phases are no load to judge power by: a drive's own buffers hide what they cost.
const PHASE_MIN: Nanos = Nanos::from_secs(60);
/// A phase that rests for more than nine tenths of its seconds does no work to speak of.
const WORKING_MIN: f64 = 0.1;
/// From so many I/Os in flight on average on it does not rest.
const IN_FLIGHT_MIN: f64 = 0.5;
const JOULES_PER_WATT_HOUR: f64 = 3600.0;

impl Efficiency {
    /// Of every phase that is long enough, works, and tells its power.
    pub(crate) fn of_phases(phases: &[Phase], recording: &Recording) -> Vec<Self> {
        let long = phases.iter().filter(|phase| phase.length >= PHASE_MIN);
        long.filter_map(|phase| Self::of(phase, recording)).collect()
    }

    fn of(phase: &Phase, recording: &Recording) -> Option<Self> {
        let span = phase.start.0..phase.start.0 + phase.length.0;
        let of_phase = |sample: &&Sample| span.contains(&sample.start_ns);
        let samples: Vec<&Sample> = recording.samples.iter().filter(of_phase).collect();
        let (joules, seconds) = drawn(&samples)?;
        // Trims and flushes move nothing, and mostly take no power in a model.
        let moves = |sample: &&&Sample| sample.read_bytes + sample.written_bytes > 0;
        let working = samples.iter().filter(moves).count();
        let works = working as f64 >= WORKING_MIN * samples.len() as f64;
        // A drive that answers in few of its seconds does so under its load.
        let waited: f64 = samples.iter().map(|s| s.queue_depth * s.span_ns as f64 / 1e9).sum();
        if joules <= 0.0 || !(works || waited >= IN_FLIGHT_MIN * seconds) {
            return None;
        }
        let sum =
            |of: fn(&Sample) -> u64| samples.iter().map(|sample| of(sample) as f64).sum::<f64>();
        Some(Self {
            phase: phase.name.clone(),
            watts: joules / seconds,
            watt_hours: joules / JOULES_PER_WATT_HOUR,
            megabytes_per_second_per_watt: sum(|s| s.read_bytes + s.written_bytes) / 1e6 / joules,
            iops_per_watt: sum(Sample::ios) / joules,
        })
    }

    /// What its figures are called, behind the phase.
    pub(crate) const FIGURES: &'static [&'static str] =
        &["MB/s per watt", "IOPS per watt", "energy"];

    pub(crate) fn figures(&self) -> [Figure; 3] {
        let figure = |which: usize, value, unit, good| {
            let name = format!("{}, {}", self.phase, Self::FIGURES[which]);
            Figure::new(name, value, unit, good).of(&self.phase).unjudged()
        };
        let rate = self.megabytes_per_second_per_watt;
        [
            figure(0, rate, Unit::MegabytesPerSecondPerWatt, Good::AtLeast),
            figure(1, self.iops_per_watt, Unit::IopsPerWatt, Good::AtLeast),
            figure(2, self.watt_hours, Unit::WattHours, Good::AtMost),
        ]
    }
}

/// Joules, and the seconds that they were drawn in; `None` if not every second is told. Of loads that
/// ran at once the first tells for all.
fn drawn(samples: &[&Sample]) -> Option<(f64, f64)> {
    let (mut joules, mut seconds) = (0.0, 0.0);
    for together in samples.chunk_by(|one, other| one.start_ns == other.start_ns) {
        let told =
            together.iter().find_map(|sample| Some((sample.span_ns, sample.power_microwatts?)));
        let (span, microwatts) = told?;
        joules += microwatts as f64 / 1e6 * span as f64 / 1e9;
        seconds += span as f64 / 1e9;
    }
    (seconds > 0.0).then_some((joules, seconds))
}

#[cfg(test)]
mod tests {
    use writecliff_device::Telemetry;

    use super::*;

    /// Two minutes at 2 W, in which every `every`th second does 1,000 writes of 4 KB.
    fn recording(every: u64, power: impl Fn(u64) -> Option<u64>) -> (Vec<Phase>, Recording) {
        let sample = |second: u64| {
            let writes = if second.is_multiple_of(every) { 1000 } else { 0 };
            Sample {
                series: "load".to_owned(),
                start_ns: second * 1_000_000_000,
                span_ns: 1_000_000_000,
                writes,
                written_bytes: writes * 4000,
                power_microwatts: power(second),
                ..Sample::default()
            }
        };
        let mut recording = Recording::default();
        recording.samples = (0..120).map(sample).collect();
        let (before, after) = (Telemetry::default(), Telemetry::default());
        let (name, start, length) = ("load".to_owned(), Nanos::ZERO, Nanos::from_secs(120));
        (
            vec![Phase { name, start, length, before, after, threads: 1, unfinished: false }],
            recording,
        )
    }

    fn efficiency(every: u64, power: impl Fn(u64) -> Option<u64>) -> Vec<Efficiency> {
        let (phases, recording) = recording(every, power);
        Efficiency::of_phases(&phases, &recording)
    }

    #[test]
    fn a_load_is_told_by_what_it_gives_for_a_watt() {
        let expected = Efficiency {
            phase: "load".to_owned(),
            watts: 2.0,
            watt_hours: 240.0 / 3600.0,
            megabytes_per_second_per_watt: 2.0,
            iops_per_watt: 500.0,
        };
        assert_eq!(efficiency(1, |_| Some(2_000_000)), [expected]);
    }

    #[test]
    fn loads_at_once_share_the_power_that_the_first_tells() {
        let (phases, mut recording) = recording(1, |_| Some(2_000_000));
        let second = |sample: &Sample| Sample { power_microwatts: None, ..sample.clone() };
        recording.samples =
            recording.samples.iter().flat_map(|sample| [sample.clone(), second(sample)]).collect();
        let both = &Efficiency::of_phases(&phases, &recording)[0];
        assert_eq!((both.watts, both.iops_per_watt), (2.0, 1000.0));
    }

    #[test]
    fn what_rests_or_is_told_in_part_has_no_efficiency() {
        assert_eq!(efficiency(20, |_| Some(2_000_000)), []);
        // A drive that completes its I/Os in one of 20 seconds: they waited all the time.
        let (phases, mut recording) = recording(20, |_| Some(2_000_000));
        for sample in recording.samples.iter_mut().filter(|sample| sample.writes > 0) {
            sample.queue_depth = 20.0;
        }
        assert_eq!(Efficiency::of_phases(&phases, &recording).len(), 1);
        assert_eq!(efficiency(1, |second| (second != 60).then_some(2_000_000)), []);
        assert_eq!(efficiency(1, |_| None), []);
    }
}
