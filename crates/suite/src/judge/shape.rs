//! The shape of a picture: what the seconds of a steady window look like to who sees them as dots.

/// The classes that reviews tell apart, by their words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// All alike: a flat line.
    Line,
    /// Few of them far from the others: a narrow band.
    Band,
    /// Seconds that have little to do with the one before: a cloud.
    Cloud,
    /// Two bands, between which there is next to nothing.
    Bands {
        /// The lower one.
        low: Band,
        /// The upper one.
        high: Band,
    },
    /// Most of them all alike, and others away from these.
    MostlyLine {
        /// How many are, as a share of all.
        share: f64,
    },
    /// An oscillation: up and down over several seconds each.
    Swings,
    /// Less and less.
    Declines,
    /// More and more.
    Rises,
}

/// One of two bands, which may be a wide one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Half of its seconds are at this or above.
    pub median: f64,
    /// Between these is the middle half of its seconds.
    pub quartiles: (f64, f64),
}

impl Band {
    /// Of its values, in order.
    fn of(sorted: &[f64]) -> Self {
        let at = |quarters: usize| sorted[quarters * sorted.len() / 4];
        Self { median: at(2), quartiles: (at(1), at(3)) }
    }
}

/// Fewer seconds have a shape by chance.
const SECONDS_MIN: usize = 60;
/// Seconds that deviate by less than this share of their mean are a line.
const LINE: f64 = 0.01;
/// From this deviation on, what is left without the trend is no narrow band.
const BAND: f64 = 0.05;
/// A line through all seconds that explains so much of their variance is a trend ...
const TREND_EXPLAINS: f64 = 0.5;
/// ... if it rises or falls by this share of the mean.
const TREND: f64 = 0.1;
/// A line through the means of successive tenths that explains so much of their variance is no chance: of ten
/// that have nothing to do with each other one in two thousand do ...
const SINKS_EXPLAINS: f64 = 0.8;
/// ... and is worth a word if it rises or falls by this share of the mean.
const SINKS: f64 = 0.03;
/// So many of the seconds are a line ...
const MOST: f64 = 0.8;
/// ... if they are within this share of the median.
const ALIKE: f64 = 0.02;
/// The autocorrelation of seconds that follow each other, from which on they swing: of a sine, that of one
/// of six seconds; of clusters of `n` seconds that have nothing to do with each other, 1 - 1/n.
const SWINGS: f64 = 0.5;

impl Shape {
    /// Of successive seconds, in any unit, but for those [`apart`](Self::apart); `None` if there are fewer than 60, or nothing
    /// was done in them.
    pub fn of(seconds: &[f64]) -> Option<Self> {
        let is_apart = is_apart(seconds);
        let others: Vec<f64> =
            seconds.iter().copied().filter(|second| !is_apart(*second)).collect();
        Self::of_all(&others).filter(|_| seconds.len() >= SECONDS_MIN)
    }

    fn of_all(seconds: &[f64]) -> Option<Self> {
        let count = seconds.len() as f64;
        let mean = mean(seconds);
        if seconds.is_empty() || mean <= 0.0 {
            return None;
        }
        let about_mean: Vec<f64> = seconds.iter().map(|second| second - mean).collect();
        let all = variance(&about_mean);
        if all.sqrt() < LINE * mean {
            return Some(Self::Line);
        }
        if let Some((low, high)) = bands(seconds) {
            return Some(Self::Bands { low, high });
        }
        let slope = slope(&about_mean);
        let change = slope * (count - 1.0);
        let without =
            |(at, value): (usize, &f64)| value - slope * (at as f64 - (count - 1.0) / 2.0);
        let rest: Vec<f64> = about_mean.iter().enumerate().map(without).collect();
        let left = variance(&rest);
        Some(match left <= (1.0 - TREND_EXPLAINS) * all && change.abs() >= TREND * mean {
            true if change < 0.0 => Self::Declines,
            true => Self::Rises,
            false if left.sqrt() < BAND * mean => Self::Band,
            false if let Some(share) = mostly_alike(seconds) => Self::MostlyLine { share },
            false if of_neighbours(&rest) >= SWINGS * left => Self::Swings,
            false => Self::Cloud,
        })
    }

    /// How many seconds stand apart from all others: no more than one in a hundred.
    pub fn apart(seconds: &[f64]) -> usize {
        let is_apart = is_apart(seconds);
        seconds.iter().filter(|second| is_apart(**second)).count()
    }

    /// The lowest and the highest mean of successive tenths of the seconds, where most of what seconds vary by is
    /// that slow course, and it is wide enough to be seen.
    pub fn course(seconds: &[f64]) -> Option<(f64, f64)> {
        if seconds.len() < SECONDS_MIN {
            return None;
        }
        let all = mean(seconds);
        let about = |values: &[f64]| variance(&values.iter().map(|v| v - all).collect::<Vec<_>>());
        let tenths = tenths(seconds);
        let lowest = tenths.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = tenths.iter().copied().fold(0.0, f64::max);
        let is_slow = about(&tenths) >= TREND_EXPLAINS * about(seconds);
        (is_slow && highest - lowest >= TREND * all).then_some((lowest, highest))
    }

    /// By what share of its mean they rise, or sink if it is negative, from the first tenth of them to the last, where
    /// that is no chance. Seconds that are steady by SNIA's rule may do so by up to a tenth.
    pub fn tendency(seconds: &[f64]) -> Option<f64> {
        if seconds.len() < SECONDS_MIN {
            return None;
        }
        let tenths = tenths(seconds);
        let all = mean(&tenths);
        let about_mean: Vec<f64> = tenths.iter().map(|tenth| tenth - all).collect();
        let slope = slope(&about_mean);
        let change = slope * 9.0;
        // A line with the slope 1 through ten values has the variance 8.25.
        let explained = slope * slope * 8.25;
        let is_line = explained >= SINKS_EXPLAINS * variance(&about_mean);
        (is_line && change.abs() >= SINKS * all).then(|| tenths[9] / tenths[0] - 1.0)
    }

    /// A name for tables and checks.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Band => "band",
            Self::Cloud => "cloud",
            Self::Bands { .. } => "two bands",
            Self::MostlyLine { .. } => "mostly a line",
            Self::Swings => "swings",
            Self::Declines => "declines",
            Self::Rises => "rises",
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The means of successive tenths of the seconds.
fn tenths(seconds: &[f64]) -> Vec<f64> {
    let tenth = |n: usize| &seconds[n * seconds.len() / 10..(n + 1) * seconds.len() / 10];
    (0..10).map(|n| mean(tenth(n))).collect()
}

/// The share of the seconds that are about their median, if that is most of them.
fn mostly_alike(seconds: &[f64]) -> Option<f64> {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2)?;
    let alike = sorted.iter().filter(|second| (*second - median).abs() <= ALIKE * median).count();
    Some(alike as f64 / sorted.len() as f64).filter(|share| *share >= MOST)
}

/// So few seconds may stand apart from all others ...
const APART_SHARE: f64 = 0.01;
/// ... so many times as far from the median as the farthest of these.
const APART: f64 = 3.0;

fn is_apart(seconds: &[f64]) -> impl Fn(f64) -> bool + use<> {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let from_median = move |second: f64| (second - median).abs();
    let mut distances: Vec<f64> = seconds.iter().map(|second| from_median(*second)).collect();
    distances.sort_by(|a, b| b.total_cmp(a));
    let few = (seconds.len() as f64 * APART_SHARE).ceil() as usize;
    let farthest = distances.get(few).copied().unwrap_or(f64::INFINITY);
    let least = (APART * farthest).max(BAND * median);
    move |second| from_median(second) > least
}

/// Of values about zero.
fn variance(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64
}

/// By how much values about zero rise from one to the next, by least squares.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let moment = |(at, value): (usize, &f64)| (at as f64 - middle) * value;
    let moments: f64 = values.iter().enumerate().map(moment).sum();
    let squares: f64 = (0..values.len()).map(|at| (at as f64 - middle).powi(2)).sum();
    moments / squares
}

/// The covariance of values about zero that follow each other.
fn of_neighbours(values: &[f64]) -> f64 {
    let products = values.windows(2).map(|pair| pair[0] * pair[1]);
    products.sum::<f64>() / values.len() as f64
}

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
fn bands(values: &[f64]) -> Option<(Band, Band)> {
    let mut in_order = values.to_vec();
    in_order.sort_by(f64::total_cmp);
    // A second without any I/O is as good as one with a single one.
    let sorted: Vec<f64> = in_order.iter().map(|value| value.max(1.0).ln()).collect();
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
    let smaller = lower.len().min(upper.len());
    let (low, high) = (mean(lower), mean(upper));
    let spread = |part: &[f64], mean: f64| part.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let within = spread(lower, low) + spread(upper, high);
    let deviation = (within / sorted.len() as f64).sqrt();
    let apart = high - low >= BANDS_APART * deviation;
    let edge = f64::midpoint(low, high).exp();
    let changes = values.windows(2).filter(|pair| (pair[0] < edge) != (pair[1] < edge)).count();
    // A few seconds on the way from one to the other belong to a part, and move its mean.
    let parts = in_order.split_at(lower.len());
    let parts = (Band::of(parts.0), Band::of(parts.1));
    let (low, high) = (parts.0.median, parts.1.median);
    let differ = high > low * (1.0 + BANDS_DIFFER);
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
    let is_empty = between <= (values.len() as f64 * BETWEEN_SHARE).min(smaller as f64 / 3.0);
    let is_so = apart && differ && lasts && is_empty && changes >= BAND_CHANGES_MIN;
    is_so.then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number from 0 to 1 that has nothing to do with that of the next place.
    fn chance(at: usize) -> f64 {
        writecliff_device::split_mix(at as u64) as f64 / u64::MAX as f64
    }

    fn made(of: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..600).map(of).collect()
    }

    #[test]
    fn what_sinks_by_more_than_chance_is_told_by_how_much() {
        let falls = |by: f64, scatter: f64| {
            made(|at| 5_000.0 * (1.0 - by * at as f64 / 599.0) + scatter * (chance(at) - 0.5))
        };
        // What scatter does to ten means of sixty seconds.
        let near = |change: Option<f64>, share: f64| (change.unwrap() - share).abs() < 0.02;
        assert!(near(Shape::tendency(&falls(0.08, 0.0)), -0.075));
        assert!(near(Shape::tendency(&falls(0.08, 1_000.0)), -0.075));
        assert!(near(Shape::tendency(&falls(-0.08, 1_000.0)), 0.07));
        // Too little for a word; scatter alone; there and back.
        assert_eq!(Shape::tendency(&falls(0.02, 0.0)), None);
        assert_eq!(Shape::tendency(&falls(0.0, 4_000.0)), None);
        let back = made(|at| 5_000.0 + 500.0 * (at as f64 / 600.0 * std::f64::consts::TAU).sin());
        assert_eq!(Shape::tendency(&back), None);
        assert_eq!(Shape::tendency(&[5_000.0; 59]), None);
    }

    #[test]
    fn each_class_is_told_by_what_it_is_made_of() {
        let turn = |at: usize, of: f64| (at as f64 / of * std::f64::consts::TAU).sin();
        let cases = [
            (made(|_| 5_000.0), "line"),
            (made(|at| 5_000.0 + 100.0 * chance(at)), "line"),
            (made(|at| 5_000.0 + 500.0 * chance(at)), "band"),
            (made(|at| 5_000.0 + 3_000.0 * chance(at)), "cloud"),
            (
                made(|at| if chance(at) < 0.15 { 4_000.0 * chance(at + 1) } else { 5_000.0 }),
                "mostly a line",
            ),
            // Clusters of five seconds, and as much that has nothing to do with the one before.
            (made(|at| 5_000.0 + 1_500.0 * chance(at / 5) + 1_500.0 * chance(at)), "cloud"),
            (made(|at| 5_000.0 + 1_000.0 * turn(at, 120.0) + 400.0 * chance(at)), "swings"),
            (made(|at| 5_000.0 + 1_000.0 * turn(at, 12.0) + 400.0 * chance(at)), "swings"),
            (made(|at| 6_000.0 - 2.0 * at as f64 + 200.0 * chance(at)), "declines"),
            (made(|at| 5_000.0 + 2.0 * at as f64), "rises"),
            (made(|at| if chance(at) < 0.4 { 3_000.0 } else { 4_000.0 }), "two bands"),
            // A few far from all others are no spread, and no swings.
            (made(|at| if (300..303).contains(&at) { 50_000.0 } else { 5_000.0 }), "line"),
            // A trend within a wide cloud is not what one sees.
            (made(|at| 5_000.0 + at as f64 + 5_000.0 * chance(at)), "cloud"),
        ];
        for (seconds, name) in cases {
            assert_eq!(Shape::of(&seconds).unwrap().name(), name, "{:?}", &seconds[..20]);
        }
        assert_eq!(Shape::of(&[5_000.0; 59]), None);
        assert_eq!(Shape::of(&[0.0; 100]), None);
    }

    #[test]
    fn what_stands_apart_is_few_and_far_from_all_others() {
        let count = |few: usize, far: f64| {
            Shape::apart(&made(|at| if at < few { far } else { 5_000.0 + 500.0 * chance(at) }))
        };
        assert_eq!([count(0, 0.0), count(1, 50.0), count(6, 50_000.0)], [0, 1, 6]);
        assert_eq!(count(7, 50_000.0), 0, "more than one in a hundred");
        assert_eq!(count(3, 5_800.0), 0, "not far from the others");
        assert_eq!(Shape::apart(&[]), 0);
    }

    #[test]
    fn a_slow_course_is_told_from_scatter() {
        let fall = |at: usize| if at < 80 { 3_900.0 } else { 3_000.0 + at as f64 / 2.0 };
        let (low, high) = Shape::course(&made(|at| fall(at) + 200.0 * chance(at))).unwrap();
        assert!((3_100.0..3_250.0).contains(&low) && (3_950.0..4_050.0).contains(&high));
        assert_eq!(Shape::course(&made(|at| 3_000.0 + 800.0 * chance(at))), None);
        let turn = |at: usize| (at as f64 / 12.0 * std::f64::consts::TAU).sin();
        assert_eq!(Shape::course(&made(|at| 5_000.0 + 1_000.0 * turn(at))), None, "up and down");
        assert_eq!(
            Shape::course(&made(|at| 5_000.0 + at as f64 / 2.0)),
            None,
            "too little to be seen"
        );
        assert_eq!(Shape::course(&[1.0; 59]), None);
    }

    #[test]
    fn two_bands_are_told_from_a_spread() {
        let two: Vec<f64> = (0..200).map(|n| if n % 3 == 0 { 3_000.0 } else { 4_000.0 }).collect();
        let found = bands(&two).map(|(low, high)| (low.median.round(), high.median.round()));
        assert_eq!(found, Some((3_000.0, 4_000.0)));
        let stops: Vec<f64> = (0..600).map(|n| if n % 12 == 0 { 0.0 } else { 4_000.0 }).collect();
        let found = bands(&stops).map(|(low, high)| (low.median, high.median));
        assert_eq!(found, Some((0.0, 4_000.0)), "nothing is not one");
        let spread: Vec<f64> = (0..200).map(|n| 3_000.0 + 10.0 * f64::from(n)).collect();
        assert_eq!(bands(&spread), None);
        let mut dips = vec![4_000.0; 200];
        dips[7] = 100.0;
        assert_eq!(bands(&dips), None, "a few seconds are no band");
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
