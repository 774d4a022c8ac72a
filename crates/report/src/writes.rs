//! The random writes of a drive by spare area, and what may be said of their steadiness. Of repeats
//! the figures are means.

use std::borrow::Cow;

use writecliff_device::Nanos;
use writecliff_measure::Statistics;
use writecliff_suite::consistency::{self, Outcome, WorstSecond};
use writecliff_suite::{
    Band, DriveWarning, LatencyFigures, Plan, Shape, Warning, WindowState, spare_area,
};

use crate::number;
use crate::run::{InDoubt, Run};
use crate::subject::Subject;
use crate::torture::{Torture, tortures};

/// The random writes of one spare area.
pub(crate) struct Writes<'a> {
    pub(crate) spare_percent: f64,
    /// Size of a write.
    pub(crate) block: u64,
    pub(crate) seconds: f64,
    /// Whether the last part can be judged.
    pub(crate) state: WindowState,
    /// What these seconds look like, if there are enough of them.
    pub(crate) shape: Option<Shape>,
    /// How many of them stand apart from the others, of how many.
    pub(crate) apart: (usize, usize),
    /// Between which means of a tenth of the time they wander, if most of what they vary by is that.
    pub(crate) course: Option<(f64, f64)>,
    /// By what share of the mean they rise or sink, if they do.
    pub(crate) tendency: Option<f64>,
    /// Whether any spare area would have been used up.
    pub(crate) had_time_for_a_cliff: bool,
    /// Bytes that were written before the cliff, if one came.
    pub(crate) written_before_cliff: Option<f64>,
    /// Whether a simulated drive lost its power within these seconds: how steady the others are they do not tell.
    pub(crate) power_lost: bool,
    /// How many dies of a simulated drive had stopped working by their end.
    pub(crate) lost_dies: u64,
    /// What of these writes is in doubt: by the test, or by this spare area.
    pub(crate) in_doubt: InDoubt,
    pub(crate) outcome: Cow<'a, Outcome>,
}

/// What the seconds are called that the figures at the end are of.
pub(crate) fn window(state: WindowState) -> &'static str {
    match state {
        WindowState::Settled => "steady window",
        WindowState::Settling | WindowState::TooLittle | WindowState::TooShort => "last part",
    }
}

/// Below this share of the mean a second is one in which it all but stops.
const ALL_BUT_STOPS: f64 = 0.02;

/// Steadiness in words: the worst second is at least this share of the mean. docs/methodology.md
/// has the same table.
const STEADINESS: [(f64, &str); 5] = [
    (0.9, "very steady"),
    (0.75, "steady"),
    (0.5, "uneven"),
    (ALL_BUT_STOPS, "erratic"),
    (0.0, "it all but stops at times"),
];
/// From this share of the fresh rate on there is no difference worth a word.
pub(crate) const AS_FRESH: f64 = 0.95;
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
        let in_doubt = run.in_doubt_at(spare_percent);
        let from = Nanos::from_secs(u64::from(outcome.steady_from_s));
        let power_lost = run.power_lost_in(&torture.phase).any(|after| after >= from);
        let whole = series().filter(|sample| sample.is_whole()).count();
        let (seconds, shape) = (whole as f64, Shape::of(&last));
        let apart = (Shape::apart(&last), last.len());
        let course = Shape::course(&last);
        let tendency = Shape::tendency(&last);
        let before = |cliff: u32| series().take_while(move |sample| sample.second < cliff);
        let written_before_cliff =
            outcome.cliff_s.map(|cliff| before(cliff).map(|s| s.written_bytes as f64).sum());
        let had_time_for_a_cliff = run.had_time_for_a_cliff(&torture.phase);
        Some(Self {
            spare_percent,
            block,
            seconds,
            state,
            shape,
            apart,
            course,
            tendency,
            had_time_for_a_cliff,
            written_before_cliff,
            power_lost,
            lost_dies: run.lost_dies_after(&torture.phase),
            in_doubt,
            outcome,
        })
    }

    /// What is left of the fresh rate, as a share of it.
    pub(crate) fn of_fresh(&self) -> f64 {
        self.outcome.steady_iops.mean / self.outcome.fresh_iops.max(f64::MIN_POSITIVE)
    }

    /// Whether nothing is known of a cliff because there was no time for one.
    pub(crate) fn is_too_short_for_a_cliff(&self) -> bool {
        self.state == WindowState::TooShort && !self.had_time_for_a_cliff
    }

    /// The same in words: `as much as fresh`, `38 % of fresh`.
    pub(crate) fn of_fresh_in_words(&self) -> String {
        // Beside a later fall it is a share of what fell then.
        let fell_later = self.outcome.cliff_s.is_some() || self.outcome.other_fall().is_some();
        if let Some(first) = self.outcome.fell_from_iops.filter(|_| !fell_later) {
            let share = self.outcome.steady_iops.mean / first;
            return format!("{} of the first second", number::percent(share));
        }
        match self.of_fresh() {
            share if (AS_FRESH..=1.0 / AS_FRESH).contains(&share) => "as much as fresh".to_owned(),
            share => format!("{} of fresh", number::percent(share)),
        }
    }

    /// What the seconds are called that the figures at the end are of.
    pub(crate) fn window(&self) -> &'static str {
        window(self.state)
    }

    /// Which of their figures are in doubt, in a sentence, if any are.
    pub(crate) fn doubtful(&self) -> Option<String> {
        let what = match (self.in_doubt.fresh, self.in_doubt.steady) {
            (true, true) => "These figures of random writes are",
            (true, false) => "What its random writes did at first is",
            (false, true) if self.state == WindowState::Settled => "What it gives once full is",
            (false, true) => "What it gives in the end is",
            (false, false) => return None,
        };
        Some(format!("{what} in doubt; the doubts told here say why."))
    }

    /// What the last seconds are, in a word or two, or why that is not said.
    pub(crate) fn steadiness(&self) -> String {
        match self.state {
            WindowState::TooShort => "not judged, the run was too short".to_owned(),
            WindowState::Settling => "still settling, not judged".to_owned(),
            WindowState::TooLittle => "not judged, too little was written".to_owned(),
            WindowState::Settled if self.power_lost => {
                "not judged, it lost its power in some of them".to_owned()
            }
            WindowState::Settled => self.judged(),
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
        // What stands in most of its seconds does not do so at times.
        let seconds = self.outcome.steady_iops;
        let stands = share < ALL_BUT_STOPS && seconds.median < ALL_BUT_STOPS * seconds.mean;
        let word = if stands { "it all but stops most of the time" } else { word };
        let far_off = match self.shape {
            Some(Shape::MostlyLine { .. }) => far_off(seconds),
            _ => None,
        };
        let mut words = match self.shape {
            Some(Shape::Bands { .. }) if share >= STEADY => String::new(),
            _ if share >= STEADY && far_off.is_some() => String::new(),
            // What wanders or sinks is not very steady, however little its seconds differ from the next.
            _ if self.course.is_some() || self.tendency.is_some() => {
                word.trim_start_matches("very ").to_owned()
            }
            _ => word.to_owned(),
        };
        if let Some(shape) = self.shape {
            words += if words.is_empty() { "" } else { ", " };
            words += &match self.course {
                Some((low, high)) => format!(
                    "wandering: tenths of the time average {} to {}",
                    number::count(low),
                    number::iops(high)
                ),
                None => in_words(shape) + &tends(shape, self.tendency),
            };
            if let Some(side) = far_off {
                words += &format!(" and far {side} it in others");
            }
            if let (few @ 1.., all) = self.apart {
                let all = number::thousands(all as f64);
                words += &format!(" but for {few} of {all} seconds");
            }
        }
        let noticed = |(of, nanos): (&'static str, Option<u64>)| {
            Some((of, nanos.filter(|nanos| *nanos >= NOTICED_NS)?))
        };
        let slow = [("hundred", latency.p99_ns), ("thousand", latency.p999_ns)];
        if let Some((of, nanos)) = slow.into_iter().find_map(noticed) {
            words += &format!(", but one write in a {of} takes {} or more", number::latency(nanos));
        }
        words
    }
}

/// Seconds that vary by this share of their mean are far from it somewhere.
const FAR: f64 = 0.25;

/// On which side of most seconds the few lie that make them vary so much, if they do.
fn far_off(seconds: Statistics) -> Option<&'static str> {
    let above = seconds.peak - seconds.median > seconds.median - seconds.floor;
    (seconds.variation >= FAR).then_some(if above { "above" } else { "below" })
}

/// What one sees of seconds of this shape. docs/methodology/consistency.md has the same table.
fn in_words(shape: Shape) -> String {
    match shape {
        Shape::Line => "on a flat line".to_owned(),
        Shape::Band => "in a narrow band".to_owned(),
        Shape::Cloud => "in a cloud".to_owned(),
        Shape::MostlyLine { share } => {
            format!("on a line in {} of its seconds", number::percent(share))
        }
        Shape::Swings => "up and down".to_owned(),
        Shape::Declines => "falling all the while".to_owned(),
        Shape::Rises => "rising all the while".to_owned(),
        Shape::Bands { low, high } => format!("in two bands, {} and {}", band(low), band(high)),
    }
}

/// That they sink or rise, where the shape has not said so.
fn tends(shape: Shape, tendency: Option<f64>) -> String {
    match (shape, tendency) {
        (Shape::Declines | Shape::Rises, _) | (_, None) => String::new(),
        (_, Some(change)) => format!(
            ", {} by {} from the first tenth of the time to the last",
            if change < 0.0 { "sinking" } else { "rising" },
            number::percent(change.abs())
        ),
    }
}

/// A band whose middle half is wider than this is told by both ends of that.
const WIDE: f64 = 1.1;

/// `about 3,000 IOPS`, `one whose middle half is 9,012 to 27,330 IOPS`.
fn band(band: Band) -> String {
    let (from, to) = band.quartiles;
    match to > from * WIDE {
        true => format!("one whose middle half is {} to {}", number::count(from), number::iops(to)),
        false => format!("about {}", number::iops(band.median)),
    }
}

/// What the doubts about a setting say.
pub(crate) fn state(run: &Run, spare_percent: f64) -> WindowState {
    let states = run.doubts_at(spare_percent).map(Warning::window_state);
    states.max().unwrap_or(WindowState::Settled)
}

/// What runs that differ by their seed come to: the mean of each figure, but the worst and the best second of
/// all; a cliff if most met one. How the fill went is told of the first.
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
    let floors = known(&|o| Some(o.steady_iops.floor));
    let cliffs = known(&|o| o.cliff_s.map(f64::from));
    let met = average(&cliffs).filter(|_| 2 * cliffs.len() > all.len());
    Outcome {
        fill_megabytes_per_second: average(&known(&|o| o.fill_megabytes_per_second)),
        fast_part: all[0].fast_part,
        fresh_iops: of(|o| o.fresh_iops),
        cliff_s: met.map(|second| second.round() as u32),
        falls_again: all.iter().any(|outcome| outcome.falls_again),
        warm_fall_s: all.iter().find_map(|outcome| outcome.warm_fall_s).filter(|_| met.is_none()),
        lost_die_fall_s: all
            .iter()
            .find_map(|outcome| outcome.lost_die_fall_s)
            .filter(|_| met.is_none()),
        fell_from_iops: average(&known(&|o| o.fell_from_iops)).filter(|_| met.is_none()),
        steady_from_s: all[0].steady_from_s,
        steady_iops: Statistics {
            mean: iops(|s| s.mean),
            median: iops(|s| s.median),
            floor: floors.iter().copied().fold(f64::INFINITY, f64::min),
            p1: average(&known(&|o| o.steady_iops.p1)),
            peak: known(&|o| Some(o.steady_iops.peak)).into_iter().fold(0.0, f64::max),
            variation: iops(|s| s.variation),
        },
        floor_to_mean: known(&|o| Some(o.floor_to_mean)).into_iter().fold(1.0, f64::min),
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

/// What failed in a simulated drive, a die or its power, in the test whose random writes are told.
pub(crate) fn what_failed(subject: &Subject) -> Option<String> {
    let is_of_writes = |run: &&Run| run.record.plan.name() == of_writes_in(subject);
    let doubts = subject.runs.iter().filter(is_of_writes).flat_map(|run| &run.record.warnings);
    let failed = doubts.filter(|doubt| {
        use DriveWarning::{DieLost, PowerLost};
        matches!(doubt.of_any_setting(), Warning::Drive(DieLost { .. } | PowerLost { .. }))
    });
    let failed: Vec<String> = failed.map(ToString::to_string).collect();
    (!failed.is_empty()).then(|| failed.join(" "))
}

/// The test whose random writes are told: consistency, or spare area where that alone was run.
pub(crate) fn of_writes_in(subject: &Subject) -> &'static str {
    let has = |test: &str| subject.runs.iter().any(|run| run.record.plan.name() == test);
    match has(consistency::Plan::NAME) || !has(spare_area::Plan::NAME) {
        true => consistency::Plan::NAME,
        false => spare_area::Plan::NAME,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn outcome(seconds: &[f64], p50_ns: u64, p999_ns: u64) -> Outcome {
        let steady_iops = Statistics::of(seconds).unwrap();
        Outcome {
            fill_megabytes_per_second: None,
            fast_part: None,
            fresh_iops: 60_000.0,
            cliff_s: Some(60),
            falls_again: false,
            warm_fall_s: None,
            lost_die_fall_s: None,
            fell_from_iops: None,
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

    /// Writes of 4 KiB that ended with these seconds, in steady state.
    pub(crate) fn settled<'a>(outcome: &'a Outcome, seconds: &[f64]) -> Writes<'a> {
        Writes {
            spare_percent: 0.0,
            block: 4096,
            seconds: 600.0,
            state: WindowState::Settled,
            had_time_for_a_cliff: true,
            written_before_cliff: None,
            power_lost: false,
            lost_dies: 0,
            in_doubt: InDoubt::default(),
            shape: Shape::of(seconds),
            apart: (Shape::apart(seconds), seconds.len()),
            course: Shape::course(seconds),
            tendency: Shape::tendency(seconds),
            outcome: Cow::Borrowed(outcome),
        }
    }

    fn words(seconds: &[f64], p50_ns: u64, p999_ns: u64, state: WindowState) -> String {
        let outcome = outcome(seconds, p50_ns, p999_ns);
        Writes { state, ..settled(&outcome, seconds) }.steadiness()
    }

    #[test]
    fn steadiness_is_no_matter_of_the_worst_second_alone() {
        let level = [5_000.0; 100];
        assert_eq!(
            words(&level, 6_000_000, 7_000_000, WindowState::Settled),
            "very steady, on a flat line"
        );
        assert_eq!(
            words(&[4.0; 100], 7_890_000_000, 7_900_000_000, WindowState::Settled),
            "evenly slow, half of the writes take 7.89 s or more"
        );
        // SNIA's rule is kept by what sinks for a tenth of its mean.
        let sinks: Vec<f64> = (0..100).map(|n| 5_000.0 - 3.0 * f64::from(n)).collect();
        assert_eq!(
            words(&sinks, 6_000_000, 7_000_000, WindowState::Settled),
            "steady, in a narrow band, sinking by 5 % from the first tenth of the time to the last"
        );
        let rare = words(&level, 6_000_000, 250_000_000, WindowState::Settled);
        assert_eq!(
            rare,
            "very steady, on a flat line, but one write in a thousand takes 250 ms or more"
        );
        let mut falling = level;
        falling[3] = 3_000.0;
        let said = words(&falling, 6_000_000, 7_000_000, WindowState::Settled);
        assert_eq!(said, "uneven, on a flat line but for 1 of 100 seconds");
        let two: Vec<f64> = (0..200).map(|n| if n % 3 == 0 { 3_000.0 } else { 4_000.0 }).collect();
        let said = words(&two, 6_000_000, 7_000_000, WindowState::Settled);
        assert_eq!(said, "in two bands, about 3,000 IOPS and about 4,000 IOPS");
        let wide = |n: usize| {
            if n.is_multiple_of(4) { (1_000 + 25 * (7 * n % 1200)) as f64 } else { 30.0 }
        };
        let two: Vec<f64> = (0..1200).map(wide).collect();
        let said = words(&two, 6_000_000, 7_000_000, WindowState::Settled);
        assert!(
            said.ends_with(", about 30.0 IOPS and one whose middle half is 8,500 to 23,500 IOPS"),
            "{said}"
        );
        let bursts = [&[4_000.0; 196][..], &[40_000.0; 4]].concat();
        let said = words(&bursts, 6_000_000, 7_000_000, WindowState::Settled);
        assert_eq!(said, "on a line in 98 % of its seconds and far above it in others");
        for (state, said) in
            [(WindowState::TooShort, "too short"), (WindowState::Settling, "still settling")]
        {
            let words = words(&level, 6_000_000, 7_000_000, state);
            assert!(words.contains(said) && !words.contains("steady"), "{words}");
        }
    }

    #[test]
    fn of_repeats_every_figure_is_the_mean_and_a_cliff_is_what_most_met() {
        let [mut one, two] = [4_000.0, 6_000.0].map(|iops| outcome(&[iops], 5_000_000, 8_000_000));
        one.steady_latency.p999_ns = Some(10_000_000);
        let both = mean(&[&one, &two]);
        let seconds = both.steady_iops;
        assert_eq!((seconds.floor, seconds.mean, seconds.peak), (4_000.0, 5_000.0, 6_000.0));
        assert_eq!(
            (both.steady_latency.p50_ns, both.steady_latency.p999_ns),
            (5_000_000, Some(9_000_000))
        );
        assert_eq!((both.cliff_s, both.floor_to_mean), (Some(60), 1.0));
        one.cliff_s = None;
        assert_eq!(mean(&[&one, &two]).cliff_s, None);
        assert_eq!(mean(&[&one, &two, &two]).cliff_s, Some(60));
    }
}
