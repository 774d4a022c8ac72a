//! The levels of a sequential write: stretches at one speed, and where one becomes another.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, Temperature};
use writecliff_measure::{Sample, Statistics, Totals};

/// A stretch of a sequential write at one speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// What was written at this speed.
    pub bytes: Bytes,
    /// The mean over that, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// The drive had become as warm as the limit of its own by the level's end, which may be what
    /// ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_warm: bool,
    /// NAND did more for each byte from its beginning on, as where parity uses up the erased blocks: the level
    /// before it was no fast buffer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_work: bool,
}

impl Level {
    /// How long it lasted.
    pub(crate) fn seconds(&self) -> f64 {
        self.bytes.0 as f64 / 1e6 / self.megabytes_per_second.max(f64::MIN_POSITIVE)
    }
}

/// Whether the drive slowed down in a second to protect itself from heat; of one that does not tell,
/// whether it was as warm at its end as the limit of its own, from which on it may.
pub(crate) fn is_too_warm(second: &Sample, limit: Option<Temperature>) -> bool {
    let warmth = second.temperature_millicelsius.map(Temperature);
    match second.throttled_ns {
        Some(throttled) => throttled > 0,
        None => limit.zip(warmth).is_some_and(|(limit, warmth)| warmth >= limit),
    }
}

/// The whole seconds in which something was written, and their places among all: one in which nothing was is a drive
/// that stood still, for want of power or on its own, and no slower part of it.
pub(crate) fn writing<'a>(samples: &[&'a Sample]) -> (Vec<usize>, Vec<&'a Sample>) {
    let is_writing = |(_, sample): &(usize, &Sample)| sample.is_whole() && sample.written_bytes > 0;
    samples.iter().copied().enumerate().filter(is_writing).unzip()
}

/// What NAND writes for a byte in a buffer that is empty.
const ONCE: f64 = 1.1;

/// So many times more is written to NAND where erased blocks are used up.
pub(crate) const MORE: f64 = 1.2;

/// Whether a write got slower when NAND began to do more for it, as where parity uses the erased blocks up. A
/// drive's own buffer takes each byte once before it is full; what comes of one that is emptied into an
/// array with parity is not told from this.
pub(crate) fn is_more_work(before: &[&Sample], after: &[&Sample]) -> bool {
    let of = |samples: &[&Sample]| Totals::of(samples.iter().copied()).write_amplification();
    let (Some(before), Some(after)) = (of(before), of(after)) else { return false };
    before > ONCE && after > before * MORE
}

/// Two levels differ when the lower is below this share of the higher...
pub(crate) const FALL: f64 = 0.75;
/// ... and their difference is so many times what chance would make of it (the standard error).
const ERRORS: f64 = 5.0;
/// They are compared by so many seconds at most on either side of the change: the tracks of a disk
/// get slower, too, but not within them.
const BESIDE: usize = 30;
/// The speed right before and right after a change is the median of so many seconds: a level may hold more than one
/// speed, none of which lasted.
pub(crate) const NEAR: usize = 3;
/// A level lasts so many seconds at least...
const LASTING: usize = 5;
/// ... but the first, which may be a small buffer's: so many with the second of the change.
const FIRST: usize = 3;

/// The levels of a sequential write, in order; together they are all that was written. One that is
/// over within two seconds is not told from the next; within the second of a change, the moment is
/// where a jump from the one speed to the other gives what was written in it. Seconds in which nothing was written
/// are time of the level that they lie in, and no level.
pub(crate) fn levels(samples: &[&Sample], limit: Option<Temperature>) -> Vec<Level> {
    let (at, whole) = writing(samples);
    let seconds: Vec<f64> = whole.iter().map(|sample| sample.written_bytes as f64).collect();
    let warm = whole.iter().position(|sample| is_too_warm(sample, limit));
    let mut edges = vec![0, seconds.len()];
    find_changes(&seconds, 0, seconds.len(), &mut edges);
    edges.sort_unstable();
    let totals = Totals::of(samples.iter().copied());
    let end = [totals.written.0 as f64, totals.span.as_secs_f64()];
    // Where one speed changes into another slowly, there are levels that hardly differ in between.
    loop {
        let mut levels = between((&seconds, &at), &edges, end, warm);
        let speed = |index: usize| levels[index].megabytes_per_second;
        match (1..levels.len()).find(|next| !differ(speed(next - 1), speed(*next))) {
            Some(alike) => drop(edges.remove(alike)),
            None if totals.span > Nanos::ZERO => {
                for (level, edges) in levels.iter_mut().skip(1).zip(edges.windows(3)) {
                    let [before, own] = [&whole[edges[0]..edges[1]], &whole[edges[1]..edges[2]]];
                    level.more_work = is_more_work(before, own);
                }
                return levels;
            }
            None => return Vec::new(),
        }
    }
}

/// The levels between these seconds, of which the first and the last are no changes; `warm` is the
/// first second that was too warm.
fn between(
    seconds: (&[f64], &[usize]),
    edges: &[usize],
    end: [f64; 2],
    warm: Option<usize>,
) -> Vec<Level> {
    let changes: Vec<[f64; 2]> = edges.windows(3).map(|edges| moment(seconds, edges)).collect();
    let starts = std::iter::once([0.0; 2]).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain([end]);
    let level = |(([from, begin], [to, end]), last): (([f64; 2], [f64; 2]), &usize)| Level {
        bytes: Bytes(to.round() as u64 - from.round() as u64),
        megabytes_per_second: (to - from) / (end - begin) / 1e6,
        too_warm: warm.is_some_and(|warm| warm <= *last),
        more_work: false,
    };
    starts.zip(ends).zip(&edges[1..]).map(level).collect()
}

pub(crate) fn differ(one: f64, other: f64) -> bool {
    one.min(other) < FALL * one.max(other)
}

/// The change between `from` and `to` that lies farthest from a straight line of bytes over time,
/// and those on either side of it. Where speeds are level in between, that is always at a change.
fn find_changes(seconds: &[f64], from: usize, to: usize, edges: &mut Vec<usize>) {
    let part = &seconds[from..to];
    let mean = part.iter().sum::<f64>() / part.len().max(1) as f64;
    let (mut above, mut farthest) = (0.0, None);
    for (index, bytes) in part.iter().enumerate() {
        let distance = f64::abs(above);
        if farthest.is_none_or(|(most, _)| distance > most) && is_change(part, index, from == 0) {
            farthest = Some((distance, from + index));
        }
        above += bytes - mean;
    }
    if let Some((_, change)) = farthest {
        edges.push(change);
        find_changes(seconds, from, change, edges);
        find_changes(seconds, change, to, edges);
    }
}

/// Whether the speed from the second `index` on is another than before.
fn is_change(part: &[f64], index: usize, is_first: bool) -> bool {
    let shortest = if is_first { FIRST } else { LASTING };
    if index < shortest || part.len() - index < LASTING {
        return false;
    }
    let before = &part[index.saturating_sub(BESIDE)..index];
    let after = &part[index..part.len().min(index + BESIDE)];
    let (one, other) = (mean(before), mean(after));
    let squares = |side: &[f64], mean: f64| side.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let count = (before.len() + after.len()) as f64;
    let variance = (squares(before, one) + squares(after, other)) / (count - 2.0);
    let weights = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    let chance = ERRORS * (variance * weights).sqrt();
    differ(one, other) && (one - other).abs() > chance
}

/// Bytes and seconds up to the change at the second edge, which lies in its second or in the one
/// before; the speeds are those between it and the edges on either side. Of what was written in each second, and where
/// these lie among all.
fn moment((seconds, places): (&[f64], &[usize]), edges: &[usize]) -> [f64; 2] {
    let [start, change, end] = [edges[0], edges[1], edges[2]];
    let change = change - usize::from(is_mixed(&seconds[start..change], seconds[change]));
    let before = median(&seconds[(change - 1).saturating_sub(NEAR).max(start)..change - 1]);
    let after = median(&seconds[change + 1..end.min(change + 1 + NEAR)]);
    let mut at = [seconds[..change - 1].iter().sum(), places[change - 1] as f64];
    for bytes in &seconds[change - 1..=change] {
        let share = share_of(before, *bytes, after);
        // A second at one speed is that level's own, whatever was written in it.
        at[0] += if share < 1.0 { share * before } else { *bytes };
        at[1] += share;
    }
    at
}

/// Whether the last second that is called a short level's own is one of the change: slower than those
/// before it, on the way to `next`. Where a level has more seconds, their median does not notice.
fn is_mixed(level: &[f64], next: f64) -> bool {
    let [own @ .., last, _] = level else { return false };
    let before = median(own);
    (1..=2).contains(&own.len()) && share_of(before, *last, next) < OWN
}

/// A second of which so much went at a level's speed is the level's own.
const OWN: f64 = 0.97;

/// How much of a second went at the speed `before`, if the rest went at `after`; none of it if they
/// are the same.
pub(crate) fn share_of(before: f64, mean: f64, after: f64) -> f64 {
    let share = (mean - after) / (before - after);
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(crate) fn median(values: &[f64]) -> f64 {
    Statistics::of(values).map_or(0.0, |figures| figures.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The levels of seconds in which so many MB were written, and a tenth of a second more.
    fn written(megabytes: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
        let sample = |span_ns, megabytes: f64| Sample {
            span_ns,
            written_bytes: (megabytes * 1e6) as u64,
            ..Sample::default()
        };
        let mut samples: Vec<_> =
            megabytes.into_iter().map(|amount| sample(1_000_000_000, amount)).collect();
        let last = samples.last().map_or(0, |sample| sample.written_bytes);
        samples.push(sample(100_000_000, last as f64 / 1e7));
        let found = levels(&samples.iter().collect::<Vec<_>>(), None);
        assert_eq!(
            found.iter().map(|level| level.bytes.0).sum::<u64>(),
            samples.iter().map(|sample| sample.written_bytes).sum::<u64>()
        );
        let rounded = |level: &Level| {
            (level.bytes.0 as f64 / 1e9, (level.megabytes_per_second * 100.0).round() / 100.0)
        };
        found.iter().map(rounded).collect()
    }

    /// What is written in each second at speeds that begin after so many seconds.
    fn steps(speeds: &[(f64, f64)], seconds: u32) -> Vec<f64> {
        let until = |time: f64| {
            let ends = speeds.iter().skip(1).map(|(from, _)| *from).chain([f64::INFINITY]);
            let each = speeds.iter().zip(ends);
            each.map(|((from, speed), end)| (time.min(end) - from).max(0.0) * speed).sum::<f64>()
        };
        (0..seconds).map(|s| until(f64::from(s) + 1.0) - until(f64::from(s))).collect()
    }

    /// Noise between -1 and 1.
    fn noise(second: usize) -> f64 {
        let bits = writecliff_device::split_mix(second as u64);
        (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn levels_are_found_within_their_seconds() {
        let found = written(steps(&[(0.0, 500.0), (6.2, 200.0), (40.7, 80.0)], 100));
        assert_eq!(found, [(3.1, 500.0), (6.9, 200.0), (4.752, 80.0)]);
        // A level may be faster than the one before.
        let found = written(steps(&[(0.0, 500.0), (30.0, 100.0), (60.5, 300.0)], 90));
        assert_eq!(found, [(15.0, 500.0), (3.05, 100.0), (8.88, 300.0)]);
    }

    #[test]
    fn a_buffer_of_two_seconds_is_found_and_a_shorter_one_is_not() {
        assert_eq!(written(steps(&[(0.0, 1000.0), (2.5, 200.0)], 60)).len(), 2);
        assert_eq!(written(steps(&[(0.0, 1000.0), (1.0, 200.0)], 60)).len(), 1);
    }

    #[test]
    fn a_short_buffer_has_the_speed_of_its_own_seconds() {
        for (fast, ends) in [(1800.0, 1.23), (1800.0, 1.6), (1800.0, 1.9), (520.0, 1.45)] {
            let found = written(steps(&[(0.0, fast), (ends, 240.0)], 60));
            assert_eq!(found.len(), 2, "{fast} for {ends} s");
            let (bytes, speed) = found[0];
            assert!((bytes - fast * ends / 1e3).abs() < 0.001 && speed == fast, "{found:?}");
        }
    }

    #[test]
    fn a_level_write_has_one_level() {
        assert_eq!(written([400.0; 50]), [(20.04, 400.0)]);
        let dip = (0..60).map(|second| if second == 30 { 0.0 } else { 400.0 });
        assert_eq!(written(dip).len(), 1);
        // Without power for a third of the time, which is its own.
        let dead = (0..60).map(|second| if (20..40).contains(&second) { 0.0 } else { 400.0 });
        assert_eq!(written(dead), [(16.04, 266.89)]);
        // A disk, whose inner tracks hold half as much.
        assert_eq!(written((0..3000).map(|second| 120.0 - f64::from(second) / 50.0)).len(), 1);
        assert_eq!(levels(&[], None), []);
        assert_eq!(written([500.0, 100.0, 100.0]).len(), 1);
    }

    #[test]
    fn a_speed_that_settles_slowly_makes_no_level_of_its_own() {
        let settling = (0..200).map(|second| match second {
            ..20 => 2700.0,
            _ => 930.0 + 400.0 * f64::exp(f64::from(20 - second) / 3.0),
        });
        assert_eq!(written(settling).len(), 2);
    }

    #[test]
    fn noise_makes_no_levels_and_hides_none() {
        assert_eq!(written((0..2000).map(|second| 300.0 + 250.0 * noise(second))).len(), 1);
        let two = (0..2000).map(|second| match second {
            ..700 => 300.0 + 100.0 * noise(second),
            _ => 150.0 + 100.0 * noise(second),
        });
        let found = written(two);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0].0 / 210.0 - 1.0).abs() < 0.02, "{found:?}");
    }
}
