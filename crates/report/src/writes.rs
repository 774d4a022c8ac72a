//! The random writes of a drive by spare area, and what may be said of their steadiness. Of repeats
//! the figures are means.

use std::borrow::Cow;

use writecliff_measure::Statistics;
use writecliff_suite::consistency::{self, Outcome, WorstSecond};
use writecliff_suite::{LatencyFigures, MethodWarning, Plan, Warning};

use crate::number;
use crate::run::Run;
use crate::subject::Subject;
use crate::torture::{Torture, tortures};

/// The random writes of one spare area.
pub(crate) struct Writes<'a> {
    pub(crate) spare_percent: f64,
    /// Size of a write.
    pub(crate) block: u64,
    pub(crate) seconds: f64,
    /// Whether the last seconds can be judged.
    pub(crate) state: State,
    /// The medians of the two bands that these seconds fall into, if they do.
    pub(crate) bands: Option<(f64, f64)>,
    /// Whether any spare area would have been used up.
    pub(crate) had_time_for_a_cliff: bool,
    /// Bytes that were written before the cliff, if one came.
    pub(crate) written_before_cliff: Option<f64>,
    pub(crate) outcome: Cow<'a, Outcome>,
}

/// Whether the window that is called steady is; the worst of several comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Settled,
    /// The drive still got faster or slower in it.
    Settling,
    /// Less was written than tells.
    TooLittle,
    /// It has too few seconds.
    TooShort,
}

impl State {
    /// What the seconds are called that the figures at the end are of.
    pub(crate) fn window(self) -> &'static str {
        match self {
            Self::Settled => "steady window",
            Self::Settling | Self::TooLittle | Self::TooShort => "last seconds",
        }
    }
}

/// Steadiness in words: the worst second is at least this share of the mean. docs/methodology.md
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
        let spare_percent = torture.spare_percent;
        let repeats = run.repeats.iter().flat_map(tortures);
        let repeats = repeats.filter(|other| other.spare_percent == spare_percent);
        let repeats: Vec<&Outcome> = repeats.filter_map(|other| other.outcome).collect();
        let outcome = match repeats.is_empty() {
            true => Cow::Borrowed(outcome),
            false => Cow::Owned(mean(&[&[outcome], &repeats[..]].concat())),
        };
        let state = run.and_repeats().map(|run| state(run, spare_percent)).max()?;
        let (seconds, bands) = (series().count() as f64, bands(&last));
        let before = |cliff: u32| series().take_while(move |sample| sample.second < cliff);
        let written_before_cliff =
            outcome.cliff_s.map(|cliff| before(cliff).map(|s| s.written_bytes as f64).sum());
        let had_time_for_a_cliff = run.had_time_for_a_cliff(&torture.phase);
        Some(Self {
            spare_percent,
            block,
            seconds,
            state,
            bands,
            had_time_for_a_cliff,
            written_before_cliff,
            outcome,
        })
    }

    /// What the seconds are called that the figures at the end are of.
    pub(crate) fn window(&self) -> &'static str {
        self.state.window()
    }

    /// What the last seconds are, in a word or two, or why that is not said.
    pub(crate) fn steadiness(&self) -> String {
        match self.state {
            State::TooShort => "not judged, the run was too short".to_owned(),
            State::Settling => "still settling, not judged".to_owned(),
            State::TooLittle => "not judged, too little was written".to_owned(),
            State::Settled => self.judged(),
        }
    }

    fn judged(&self) -> String {
        let share = self.outcome.floor_to_mean;
        let latency = self.outcome.steady_latency;
        if latency.p50_ns >= NOTICED_NS {
            let evenly = if share >= STEADY { "evenly slow" } else { "slow and uneven" };
            let typical = number::latency(latency.p50_ns);
            return format!("{evenly}, half of the writes take {typical} or more");
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
        let noticed = |(of, nanos): (&'static str, Option<u64>)| {
            Some((of, nanos.filter(|nanos| *nanos >= NOTICED_NS)?))
        };
        let slow = [("hundred", latency.p99_ns), ("thousand", latency.p999_ns)];
        if let Some((of, nanos)) = slow.into_iter().find_map(noticed) {
            words += &format!(", but one write in a {of} takes over {}", number::latency(nanos));
        }
        words
    }
}

/// What the doubts about a setting say.
pub(crate) fn state(run: &Run, spare_percent: f64) -> State {
    let about = run.record.warnings.iter().filter_map(|warning| match warning {
        Warning::Method(MethodWarning::AtSpare { percent, doubt }) => {
            (*percent == spare_percent).then_some(&**doubt)
        }
        other => Some(other),
    });
    about.fold(State::Settled, |state, warning| match (state, warning) {
        (_, Warning::Method(MethodWarning::TooShort { .. })) => State::TooShort,
        (
            State::Settled,
            Warning::Method(
                MethodWarning::NotSteady { .. } | MethodWarning::NotSteadyWithin { .. },
            ),
        ) => State::Settling,
        (State::Settled, Warning::Method(MethodWarning::TooFewWrites { .. })) => State::TooLittle,
        (state, _) => state,
    })
}

/// What runs that differ by their seed come to: the mean of each figure; a cliff if most met one. How
/// the fill went is told of the first.
fn mean(all: &[&Outcome]) -> Outcome {
    let average = |values: &[f64]| {
        let sum: f64 = values.iter().sum();
        (!values.is_empty()).then(|| sum / values.len() as f64)
    };
    let known = |value: &dyn Fn(&Outcome) -> Option<f64>| -> Vec<f64> {
        all.iter().filter_map(|outcome| value(outcome)).collect()
    };
    let of = |value: fn(&Outcome) -> f64| average(&known(&|o| Some(value(o)))).unwrap_or(0.0);
    let iops = |value: fn(&Statistics) -> f64| {
        average(&known(&|o| Some(value(&o.steady_iops)))).unwrap_or(0.0)
    };
    let nanos = |value: fn(&LatencyFigures) -> Option<u64>| {
        average(&known(&|o| Some(value(&o.steady_latency)? as f64))).map(|mean| mean.round() as u64)
    };
    let cliffs = known(&|o| o.cliff_s.map(f64::from));
    let met = average(&cliffs).filter(|_| 2 * cliffs.len() > all.len());
    Outcome {
        fill_megabytes_per_second: average(&known(&|o| o.fill_megabytes_per_second)),
        fast_part: all[0].fast_part,
        fresh_iops: of(|o| o.fresh_iops),
        cliff_s: met.map(|second| second.round() as u32),
        steady_from_s: all[0].steady_from_s,
        steady_iops: Statistics {
            mean: iops(|s| s.mean),
            median: iops(|s| s.median),
            floor: iops(|s| s.floor),
            p1: iops(|s| s.p1),
            peak: iops(|s| s.peak),
            variation: iops(|s| s.variation),
        },
        floor_to_mean: of(|o| o.floor_to_mean),
        steady_latency: LatencyFigures {
            p50_ns: nanos(|l| Some(l.p50_ns)).unwrap_or(0),
            p99_ns: nanos(|l| l.p99_ns),
            p999_ns: nanos(|l| l.p999_ns),
            p9999_ns: nanos(|l| l.p9999_ns),
            max_ns: nanos(|l| Some(l.max_ns)).unwrap_or(0),
        },
        steady_write_amplification: average(&known(&|o| o.steady_write_amplification)),
        worst: worst_of(all),
        longest_ns: of(|o| o.longest_ns as f64).round() as u64,
        dead_seconds: of(|o| f64::from(o.dead_seconds)).round() as u32,
    }
}

/// The worst second of all repeats.
fn worst_of(all: &[&Outcome]) -> Option<WorstSecond> {
    let worst = all.iter().filter_map(|outcome| outcome.worst);
    worst.min_by(|a, b| a.iops.total_cmp(&b.iops))
}

/// Fewer seconds than this fall into bands by chance.
const BAND_SECONDS_MIN: usize = 60;
/// A band has at least this share of the seconds.
const BAND_SHARE: f64 = 0.05;
/// Bands are as far apart as so many of their standard deviations: an even spread that is cut in two
/// gives 3.5, an exponential one 3.4, a normal one 2.7.
const BANDS_APART: f64 = 4.0;
/// At most such a share of the seconds lies in the middle half of the way from one band to the other.
const BETWEEN_SHARE: f64 = 0.1;
/// Bands that are closer, as a share of the lower one, are nothing to speak of.
const BANDS_DIFFER: f64 = 0.15;

/// Bands alternate: a rate that falls or rises once is in neither.
const BAND_CHANGES_MIN: usize = 6;

/// The medians of two bands, if the values of successive seconds fall into two, on a logarithmic scale: cut
/// where that leaves the least variance within the parts (Otsu's way), far enough apart, and changing from
/// one to the other again and again.
fn bands(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < BAND_SECONDS_MIN {
        return None;
    }
    // A second without any I/O is as good as one with a single one.
    let mut sorted: Vec<f64> = values.iter().map(|value| value.max(1.0).ln()).collect();
    sorted.sort_by(f64::total_cmp);
    let least = (sorted.len() as f64 * BAND_SHARE).ceil() as usize;
    // About their mean, the variance within the parts is least where that between them is most.
    let middle = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let (mut below, mut cut, mut most) = (0.0, None, 0.0);
    for (count, value) in (1..).zip(&sorted) {
        below += value - middle;
        let above = sorted.len() - count;
        if count < least || above < least {
            continue;
        }
        let between = below * below * (1.0 / count as f64 + 1.0 / above as f64);
        if between > most {
            (cut, most) = (Some(count), between);
        }
    }
    let (lower, upper) = sorted.split_at(cut?);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (low, high) = (mean(lower), mean(upper));
    let spread = |part: &[f64], mean: f64| part.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let within = spread(lower, low) + spread(upper, high);
    let deviation = (within / sorted.len() as f64).sqrt();
    let apart = high - low >= BANDS_APART * deviation;
    let edge = f64::midpoint(low, high).exp();
    let changes = values.windows(2).filter(|pair| (pair[0] < edge) != (pair[1] < edge)).count();
    // A few seconds on the way from one to the other belong to a part, and move its mean.
    let median = |part: &[f64]| part[part.len() / 2].exp();
    let (low, high) = (median(lower), median(upper));
    let differ = high >= low * (1.0 + BANDS_DIFFER);
    // In either half of the time there are both: what swings once, if with scatter, is no band.
    let (first, last) = values.split_at(values.len() / 2);
    let has_both = |half: &[f64]| {
        let above = half.iter().filter(|value| **value >= edge).count();
        above.min(half.len() - above) >= least / 4
    };
    let lasts = has_both(first) && has_both(last);
    // Between bands there is next to nothing: else it is a spread with two ends.
    let quarter = (high - low) / 4.0;
    let is_between = |value: &&f64| (low + quarter..high - quarter).contains(*value);
    let between = values.iter().filter(is_between).count() as f64;
    let is_empty = between <= values.len() as f64 * BETWEEN_SHARE;
    let is_so = apart && differ && lasts && is_empty && changes >= BAND_CHANGES_MIN;
    is_so.then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(seconds: &[f64], p50_ns: u64, p999_ns: u64) -> Outcome {
        let steady_iops = Statistics::of(seconds).unwrap();
        Outcome {
            fill_megabytes_per_second: None,
            fast_part: None,
            fresh_iops: 60_000.0,
            cliff_s: Some(60),
            steady_from_s: 0,
            floor_to_mean: steady_iops.floor / steady_iops.mean,
            steady_iops,
            steady_latency: writecliff_suite::LatencyFigures {
                p50_ns,
                p99_ns: Some(p50_ns),
                p999_ns: Some(p999_ns),
                p9999_ns: Some(p999_ns),
                max_ns: p999_ns,
            },
            steady_write_amplification: None,
            worst: None,
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
            had_time_for_a_cliff: true,
            written_before_cliff: None,
            bands,
            outcome: Cow::Borrowed(&outcome),
        };
        writes.steadiness()
    }

    #[test]
    fn steadiness_is_no_matter_of_the_worst_second_alone() {
        let level = [5_000.0; 100];
        assert_eq!(words(&level, 6_000_000, 7_000_000, State::Settled), "very steady");
        assert_eq!(
            words(&[4.0; 100], 7_890_000_000, 7_900_000_000, State::Settled),
            "evenly slow, half of the writes take 7.89 s or more"
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
    fn of_repeats_every_figure_is_the_mean_and_a_cliff_is_what_most_met() {
        let [mut one, two] = [4_000.0, 6_000.0].map(|iops| outcome(&[iops], 5_000_000, 8_000_000));
        one.steady_latency.p999_ns = Some(10_000_000);
        let both = mean(&[&one, &two]);
        assert_eq!((both.steady_iops.floor, both.steady_iops.mean), (5_000.0, 5_000.0));
        assert_eq!(
            (both.steady_latency.p50_ns, both.steady_latency.p999_ns),
            (5_000_000, Some(9_000_000))
        );
        assert_eq!((both.cliff_s, both.floor_to_mean), (Some(60), 1.0));
        one.cliff_s = None;
        assert_eq!(mean(&[&one, &two]).cliff_s, None);
        assert_eq!(mean(&[&one, &two, &two]).cliff_s, Some(60));
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
        let mut sorted = two;
        sorted.sort_by(f64::total_cmp);
        assert_eq!(bands(&sorted), None, "a rate that rises once");
        let close: Vec<f64> =
            (0..200).map(|n| if n % 2 == 0 { 4_000.0 } else { 4_100.0 }).collect();
        assert_eq!(bands(&close), None);
        // A third of the seconds between the ends: in neither.
        let ends = |n: usize| match n % 6 {
            0 | 1 => 328.0,
            2 | 3 => 32_000.0,
            _ => 1_000.0 + 30_000.0 * ((n * 7919 % 1000) as f64 / 1000.0),
        };
        let filled: Vec<f64> = (0..1200).map(ends).collect();
        assert_eq!(bands(&filled), None, "the way between them is not empty");
        // Both at first, and one of them no more.
        let fades: Vec<f64> =
            (0..600).map(|n| if n < 200 && n % 2 == 0 { 4_000.0 } else { 3_000.0 }).collect();
        assert_eq!(bands(&fades), None, "a band that does not come back");
    }
}
