//! The random writes of a drive by spare area, and what may be said of their steadiness.

use writecliff_measure::Statistics;
use writecliff_suite::{Plan, Warning, consistency};

use crate::Run;
use crate::number;
use crate::sections::consistency::{Torture, tortures};
use crate::subject::Subject;

/// The random writes of one spare area.
pub(crate) struct Writes<'a> {
    pub(crate) spare_percent: f64,
    /// Size of a write.
    pub(crate) block: u64,
    pub(crate) seconds: f64,
    /// Whether the last seconds can be judged.
    pub(crate) state: State,
    /// The means of the two bands that these seconds fall into, if they do.
    pub(crate) bands: Option<(f64, f64)>,
    pub(crate) outcome: &'a consistency::Outcome,
}

/// Whether the window that is called steady is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Settled,
    /// It has too few seconds.
    TooShort,
    /// The drive still got faster or slower in it.
    Settling,
}

/// Steadiness in words: the worst second is at least this share of the median. docs/methodology.md
/// has the same table.
const STEADINESS: [(f64, &str); 5] = [
    (0.9, "very steady"),
    (0.75, "steady"),
    (0.5, "uneven"),
    (0.02, "erratic"),
    (0.0, "it all but stops at times"),
];
/// From here on two bands are no steadiness, however good the worst second.
const STEADY: f64 = 0.75;
/// What a person notices: 100 ms. Where half of the writes take longer, evenness is no merit.
pub(crate) const NOTICED_NS: u64 = 100_000_000;

/// By spare area, the smallest first.
pub(crate) fn writes(subject: &Subject) -> Vec<Writes<'_>> {
    let tortures = subject.runs.iter().flat_map(|run| {
        tortures(run).into_iter().filter_map(move |torture| Writes::of(run, &torture))
    });
    let mut all: Vec<Writes<'_>> = tortures.collect();
    all.sort_by(|a, b| a.spare_percent.total_cmp(&b.spare_percent));
    all.dedup_by(|b, a| a.spare_percent == b.spare_percent);
    all
}

impl<'a> Writes<'a> {
    fn of(run: &'a Run, torture: &Torture<'a>) -> Option<Self> {
        let outcome = torture.outcome?;
        let block = match &run.record.plan {
            Plan::Consistency(plan) => plan.block.0,
            _ => consistency::Plan::default().block.0,
        };
        let series = || run.recording.series(&torture.phase);
        let last = series().filter(|s| s.is_whole() && s.second >= outcome.steady_from_s);
        let last: Vec<f64> = last.map(|sample| sample.iops().get()).collect();
        Some(Self {
            spare_percent: torture.spare_percent,
            block,
            seconds: series().count() as f64,
            state: state(run, torture.spare_percent),
            bands: bands(&last),
            outcome,
        })
    }

    /// The worst second as a share of the median one.
    pub(crate) fn floor_to_median(&self) -> f64 {
        let Statistics { floor, median, .. } = self.outcome.steady_iops;
        floor / median.max(f64::MIN_POSITIVE)
    }

    /// What the last seconds are, in a word or two, or why that is not said.
    pub(crate) fn steadiness(&self) -> String {
        match self.state {
            State::TooShort => "not judged, the run was too short".to_owned(),
            State::Settling => "still settling, not judged".to_owned(),
            State::Settled => self.judged(),
        }
    }

    fn judged(&self) -> String {
        let share = self.floor_to_median();
        let latency = self.outcome.steady_latency;
        if latency.p50_ns >= NOTICED_NS {
            let evenly = if share >= STEADY { "evenly slow" } else { "slow and uneven" };
            let typical = number::latency(latency.p50_ns);
            return format!("{evenly}, half of the writes take over {typical}");
        }
        let word = STEADINESS.iter().find(|(least, _)| share >= *least).map_or("", |(_, w)| w);
        let mut words = match self.bands {
            Some((low, high)) => {
                let bands = format!(
                    "in two bands, about {} and {} IOPS",
                    number::thousands(low),
                    number::thousands(high)
                );
                if share >= STEADY { bands } else { format!("{word}, {bands}") }
            }
            None => word.to_owned(),
        };
        let slow = [("hundred", latency.p99_ns), ("thousand", latency.p999_ns)];
        if let Some((of, nanos)) = slow.into_iter().find(|(_, nanos)| *nanos >= NOTICED_NS) {
            words += &format!(", but one write in a {of} takes over {}", number::latency(nanos));
        }
        words
    }
}

/// What the doubts about a setting say.
pub(crate) fn state(run: &Run, spare_percent: f64) -> State {
    let about = run.record.warnings.iter().filter_map(|warning| match warning {
        Warning::AtSpare { percent, doubt } => (*percent == spare_percent).then_some(&**doubt),
        other => Some(other),
    });
    about.fold(State::Settled, |state, warning| match (state, warning) {
        (_, Warning::TooShort { .. }) => State::TooShort,
        (State::Settled, Warning::NotSteady { .. }) => State::Settling,
        (state, _) => state,
    })
}

/// Fewer seconds than this fall into bands by chance.
const BAND_SECONDS_MIN: usize = 60;
/// A band has at least this share of the seconds.
const BAND_SHARE: f64 = 0.05;
/// Bands are as far apart as so many of their standard deviations: an even spread that is cut in two
/// gives 3.5, an exponential one 3.4, a normal one 2.7.
const BANDS_APART: f64 = 4.0;
/// Bands that are closer, as a share of the lower one, are nothing to speak of.
const BANDS_DIFFER: f64 = 0.15;

/// The means of two bands, if the values fall into two, on a logarithmic scale: cut where that
/// leaves the least variance within the parts (Otsu's way), and far enough apart.
fn bands(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < BAND_SECONDS_MIN {
        return None;
    }
    // A second without any I/O is as good as one with a single one.
    let mut sorted: Vec<f64> = values.iter().map(|value| value.max(1.0).ln()).collect();
    sorted.sort_by(f64::total_cmp);
    let least = (sorted.len() as f64 * BAND_SHARE).ceil() as usize;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let spread = |part: &[f64]| {
        let mean = mean(part);
        part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let within = |cut: &usize| spread(&sorted[..*cut]) + spread(&sorted[*cut..]);
    let cut = (least..=sorted.len() - least).min_by(|a, b| within(a).total_cmp(&within(b)))?;
    let (low, high) = (mean(&sorted[..cut]), mean(&sorted[cut..]));
    let deviation = (within(&cut) / sorted.len() as f64).sqrt();
    let apart = high - low >= (BANDS_APART * deviation).max(BANDS_DIFFER.ln_1p());
    apart.then_some((low.exp(), high.exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(seconds: &[f64], p50_ns: u64, p999_ns: u64) -> consistency::Outcome {
        consistency::Outcome {
            fill_megabytes_per_second: None,
            fast_part: None,
            fresh_iops: 60_000.0,
            cliff_s: Some(60),
            steady_from_s: 0,
            steady_iops: Statistics::of(seconds).unwrap(),
            floor_to_mean: 0.0,
            steady_latency: writecliff_suite::LatencyFigures {
                p50_ns,
                p99_ns: p50_ns,
                p999_ns,
                p9999_ns: p999_ns,
                max_ns: p999_ns,
            },
            steady_write_amplification: None,
            longest_ns: p999_ns,
            dead_seconds: 0,
        }
    }

    fn words(seconds: &[f64], p50_ns: u64, p999_ns: u64, state: State) -> String {
        let outcome = outcome(seconds, p50_ns, p999_ns);
        let bands = bands(seconds);
        let writes = Writes {
            spare_percent: 0.0,
            block: 4096,
            seconds: 600.0,
            state,
            bands,
            outcome: &outcome,
        };
        writes.steadiness()
    }

    #[test]
    fn steadiness_is_no_matter_of_the_worst_second_alone() {
        let level = [5_000.0; 100];
        assert_eq!(words(&level, 6_000_000, 7_000_000, State::Settled), "very steady");
        assert_eq!(
            words(&[4.0; 100], 7_890_000_000, 7_900_000_000, State::Settled),
            "evenly slow, half of the writes take over 7.89 s"
        );
        let rare = words(&level, 6_000_000, 250_000_000, State::Settled);
        assert_eq!(rare, "very steady, but one write in a thousand takes over 250 ms");
        let mut falling = level;
        falling[3] = 3_000.0;
        assert_eq!(words(&falling, 6_000_000, 7_000_000, State::Settled), "uneven");
        for (state, said) in [(State::TooShort, "too short"), (State::Settling, "still settling")] {
            let words = words(&level, 6_000_000, 7_000_000, state);
            assert!(words.contains(said) && !words.contains("steady"), "{words}");
        }
    }

    #[test]
    fn two_bands_are_told_from_a_spread() {
        let two: Vec<f64> = (0..200).map(|n| if n % 3 == 0 { 3_000.0 } else { 4_000.0 }).collect();
        let found = bands(&two).map(|(low, high)| (low.round(), high.round()));
        assert_eq!(found, Some((3_000.0, 4_000.0)));
        let said = words(&two, 6_000_000, 7_000_000, State::Settled);
        assert_eq!(said, "in two bands, about 3,000 and 4,000 IOPS");
        let spread: Vec<f64> = (0..200).map(|n| 3_000.0 + 10.0 * f64::from(n)).collect();
        assert_eq!(bands(&spread), None);
        let mut dips = vec![4_000.0; 200];
        dips[7] = 100.0;
        assert_eq!(bands(&dips), None, "a few seconds are no band");
        assert_eq!(bands(&two[..50]), None);
        let close: Vec<f64> =
            (0..200).map(|n| if n % 2 == 0 { 4_000.0 } else { 4_100.0 }).collect();
        assert_eq!(bands(&close), None);
    }
}
