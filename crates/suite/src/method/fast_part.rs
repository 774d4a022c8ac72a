//! The fast beginning of a sequential write: what an SLC buffer takes.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, Temperature};
use writecliff_measure::{Sample, Totals};

use crate::method::levels::{
    FALL, Level, NEAR, differ, is_more_work, is_too_warm, levels, median, share_of, writing,
};

/// A sequential write that began fast and then fell for good.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FastPart {
    /// What was written before the rate fell.
    pub bytes: Bytes,
    /// The mean rate before, in MB/s (10^6).
    pub fast_megabytes_per_second: f64,
    /// The rate after, in MB/s (10^6): of all that was written then, whose rate may fall again.
    pub slow_megabytes_per_second: f64,
}

/// The rate has fallen when it is below [`FALL`] of what it was in each of so many seconds.
const LASTING: usize = 5;
/// What it was is the median of so many seconds at most: the tracks of a disk get slower, too, but
/// not within them.
const BEFORE: usize = 30;
/// If less of the second second was fast, the first may have been half slow itself.
const FIRST: f64 = 0.1;

impl FastPart {
    /// Looks for the fall in the seconds of a sequential write; `None` if there is none, or if it
    /// came before the first second was over or as it was, or when the drive had become as warm as the limit of
    /// its own: then nobody can tell a buffer from a drive that protects itself. Within the second
    /// of the fall, the moment is where a jump from the one rate to the other gives what was
    /// written in it.
    pub(crate) fn of(samples: &[&Sample], limit: Option<Temperature>) -> Option<Self> {
        Some(Self::and_rest(samples, limit)?.0)
    }

    /// The same, and the samples that follow the second of the fall.
    pub(crate) fn and_rest<'a, 's>(
        samples: &'a [&'s Sample],
        limit: Option<Temperature>,
    ) -> Option<(Self, &'a [&'s Sample])> {
        let (at, whole) = writing(samples);
        let bytes: Vec<f64> = whole.iter().map(|sample| sample.written_bytes as f64).collect();
        let fall = fall(&bytes)?;
        if whole[..=fall].iter().any(|sample| is_too_warm(sample, limit)) {
            return None;
        }
        // Right behind it: what comes later may fall once more.
        if is_more_work(&whole[..fall - 1], &whole[fall + 1..fall + LASTING]) {
            return None;
        }
        // The fall may lie in the second before as well, which is then slower than fast.
        let (fast, slow) = (median(&bytes[..fall - 1]), median(&bytes[fall + 1..=fall + NEAR]));
        // One that was over by the end of the first second may have been so long before.
        if fall == 2 && share_of(fast, bytes[1], slow) < FIRST {
            return None;
        }
        let before: f64 = bytes[..fall - 1].iter().sum();
        let around = bytes[fall - 1..=fall].iter();
        let time_around: f64 = around.map(|rate| share_of(fast, *rate, slow)).sum();
        let bytes_of_it = before + time_around * fast;
        let time = at[fall - 1] as f64 + time_around;
        let rest = &samples[at[fall] + 1..];
        let after = Totals::of(rest.iter().copied().filter(|sample| sample.is_whole()));
        let part = Self {
            bytes: Bytes(bytes_of_it as u64),
            fast_megabytes_per_second: bytes_of_it / time / 1e6,
            slow_megabytes_per_second: after.written.0 as f64 / after.span.as_secs_f64() / 1e6,
        };
        Some((part, rest))
    }

    /// What was written before the rate fell of a drive that was too warm by then: a fast buffer, or heat.
    pub(crate) fn or_heat(samples: &[&Sample], limit: Option<Temperature>) -> Option<Bytes> {
        let (_, whole) = writing(samples);
        let bytes: Vec<f64> = whole.iter().map(|sample| sample.written_bytes as f64).collect();
        // A write that begins too warm is slow at first, and falls from what it does after that.
        let began = whole.iter().take_while(|sample| is_too_warm(sample, limit)).count();
        let after = fall(&bytes[began..]).map(|second| began + second);
        let before = &whole[..=after.or_else(|| fall(&bytes))?];
        let is_warm = before.iter().any(|sample| is_too_warm(sample, limit));
        is_warm.then(|| Bytes(before.iter().map(|sample| sample.written_bytes).sum()))
    }

    /// The first of a write's levels, if the next is slower, and not because the drive was too
    /// warm or NAND had to do more.
    pub(crate) fn of_levels(levels: &[Level]) -> Option<Self> {
        let [fast, slow @ ..] = levels else { return None };
        if fast.too_warm {
            return None;
        }
        let megabytes: f64 = slow.iter().map(|level| level.bytes.0 as f64 / 1e6).sum();
        let seconds: f64 = slow.iter().map(Level::seconds).sum();
        let fast_megabytes_per_second = fast.megabytes_per_second;
        let slow_megabytes_per_second = megabytes / seconds;
        let next = slow.first().filter(|next| !next.more_work)?.megabytes_per_second;
        let is_fast = next < fast_megabytes_per_second && slow_megabytes_per_second.is_finite();
        let bytes = fast.bytes;
        is_fast.then_some(Self { bytes, fast_megabytes_per_second, slow_megabytes_per_second })
    }
}

/// The second from which on the rate of a write lies below what it was, of what was written in each.
fn fall(bytes: &[f64]) -> Option<usize> {
    (2..bytes.len().saturating_sub(LASTING)).find(|second| {
        let next = &bytes[*second..*second + LASTING];
        let before = &bytes[(*second - 1).saturating_sub(BEFORE)..*second - 1];
        let limit = median(before) * FALL;
        next.iter().all(|rate| *rate < limit)
    })
}

/// The levels of a sequential write, of which the first may be a fast buffer that is over too soon to be one by
/// itself: the fills of the other tests would find it. What comes behind it is then looked at without it.
pub(crate) fn levels_and_buffer(samples: &[&Sample], limit: Option<Temperature>) -> Vec<Level> {
    let found = levels(samples, limit);
    let known = FastPart::of_levels(&found).map(|part| part.fast_megabytes_per_second);
    let hidden = FastPart::and_rest(samples, limit)
        .filter(|(part, _)| known.is_none_or(|fast| differ(fast, part.fast_megabytes_per_second)));
    let Some((FastPart { bytes, fast_megabytes_per_second, .. }, rest)) = hidden else {
        return found;
    };
    let mut behind = levels(rest, limit);
    let Some(first) = behind.first_mut() else { return found };
    // The end of the second of the fall is theirs as well.
    let (all, rest) = (Totals::of(samples.iter().copied()), Totals::of(rest.iter().copied()));
    let buffer = Level {
        bytes,
        megabytes_per_second: fast_megabytes_per_second,
        too_warm: false,
        more_work: false,
    };
    let of_the_fall = Nanos(all.span.0 - rest.span.0).as_secs_f64() - buffer.seconds();
    let seconds = first.seconds() + of_the_fall;
    first.bytes = Bytes(first.bytes.0 + (all.written.0 - rest.written.0).saturating_sub(bytes.0));
    first.megabytes_per_second = first.bytes.0 as f64 / 1e6 / seconds;
    behind.insert(0, buffer);
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(megabytes: &[u64]) -> Vec<Sample> {
        let second = |(index, megabytes): (usize, &u64)| Sample {
            second: index as u32,
            span_ns: 1_000_000_000,
            written_bytes: megabytes * 1_000_000,
            ..Sample::default()
        };
        megabytes.iter().enumerate().map(second).collect()
    }

    fn written(megabytes: &[u64]) -> Option<FastPart> {
        FastPart::of(&seconds(megabytes).iter().collect::<Vec<_>>(), None)
    }

    #[test]
    fn a_fall_that_comes_with_more_work_for_nand_is_no_buffer_s_end() {
        let written = [90_u64; 10].into_iter().chain([40; 10]).collect::<Vec<_>>();
        let told = |amplification: [u64; 2]| {
            let mut samples = seconds(&written);
            for (at, sample) in samples.iter_mut().enumerate() {
                let tenths = amplification[usize::from(at >= 10)];
                sample.nand_written_bytes = Some(sample.written_bytes * tenths / 10);
            }
            let samples: Vec<_> = samples.iter().collect();
            let of_levels = FastPart::of_levels(&levels(&samples, None));
            assert_eq!(FastPart::of(&samples, None).is_some(), of_levels.is_some());
            of_levels.is_some()
        };
        assert!(told([10, 10]) && told([10, 20]), "a buffer, emptied meanwhile or not");
        assert!(told([15, 15]), "those of an array's members");
        assert!(!told([15, 34]), "its parity");
    }

    /// An array's buffers end, and later its parity uses the erased blocks up.
    #[test]
    fn more_work_that_comes_later_denies_no_buffer() {
        let megabytes = [vec![90_u64; 10], vec![40; 10], vec![20; 90]].concat();
        let mut samples = seconds(&megabytes);
        for sample in &mut samples {
            let tenths = if sample.second < 20 { 15 } else { 34 };
            sample.nand_written_bytes = Some(sample.written_bytes * tenths / 10);
        }
        let part = FastPart::of(&samples.iter().collect::<Vec<_>>(), None);
        assert_eq!(part.map(|part| part.bytes), Some(Bytes(900_000_000)));
    }

    #[test]
    fn a_drive_that_is_slower_when_it_has_become_too_warm_has_no_fast_part() {
        let megabytes = [vec![7000; 60], vec![4000; 60]].concat();
        let limit = Temperature(80_000);
        let mut seconds = seconds(&megabytes);
        let mut found = |warmest: u64| {
            for (second, sample) in seconds.iter_mut().enumerate() {
                let millicelsius = (40_000 + 700 * second as u64).min(warmest);
                sample.temperature_millicelsius = Some(millicelsius);
            }
            let samples: Vec<_> = seconds.iter().collect();
            let of_levels = FastPart::of_levels(&levels(&samples, Some(limit)));
            (FastPart::of(&samples, Some(limit)), of_levels)
        };
        assert_eq!(found(80_000), (None, None));
        let (by_seconds, by_levels) = found(79_000);
        assert_eq!(by_seconds.map(|part| part.bytes), Some(Bytes(420_000_000_000)));
        assert_eq!(by_levels.map(|part| part.bytes), Some(Bytes(420_000_000_000)));
    }

    /// It throttles for five seconds, fills its buffer, and throttles again much later.
    #[test]
    fn a_write_that_begins_too_warm_falls_where_its_buffer_ends() {
        let megabytes = [vec![1400; 5], vec![4700; 5], vec![2600; 20], vec![1400; 9]].concat();
        let mut seconds = seconds(&megabytes);
        for sample in &mut seconds {
            sample.throttled_ns = Some(if sample.written_bytes < 2_000_000_000 { 9 } else { 0 });
        }
        let mut found = |warm_throughout: bool| {
            if warm_throughout {
                seconds.iter_mut().for_each(|sample| sample.throttled_ns = Some(9));
            }
            FastPart::or_heat(&seconds.iter().collect::<Vec<_>>(), None)
        };
        let gigabytes = |all: u64| Some(Bytes(all * 100_000_000));
        assert_eq!(found(false), gigabytes(5 * 14 + 5 * 47 + 26));
        assert!(found(true).is_some(), "of one that never cools down as before");
    }

    #[test]
    fn the_fall_is_found_within_its_second() {
        let mut megabytes = vec![500; 6];
        // A fifth of this second at 500 MB/s, the rest at 200 MB/s.
        megabytes.push(260);
        megabytes.extend([200; 20]);
        let part = written(&megabytes).unwrap();
        assert_eq!(part.bytes, Bytes(3_100_000_000));
        let rates = (part.fast_megabytes_per_second, part.slow_megabytes_per_second);
        assert_eq!(rates, (500.0, 200.0));
        // Late in a second, so that the second is still called fast.
        megabytes[6] = 440;
        assert_eq!(written(&megabytes).unwrap().bytes, Bytes(3_400_000_000));
    }

    /// 3,000 MB/s for a third of a second: nobody can tell from its seconds.
    #[test]
    fn a_buffer_that_is_over_within_the_first_second_is_not_told_as_that_second() {
        assert_eq!(written(&[1100, 200, 200, 200, 200, 200, 200, 200, 200]), None);
        assert_eq!(written(&[1100, 201, 199, 200, 200, 200, 200, 200, 200]), None);
        let into_the_second = written(&[1100, 500, 200, 200, 200, 200, 200, 200, 200]).unwrap();
        assert_eq!(into_the_second.bytes, Bytes(1_466_666_666));
    }

    #[test]
    fn what_comes_before_is_all_that_comes_before() {
        let part = written(&[vec![500; 30], vec![430; 10], vec![200; 20]].concat()).unwrap();
        // To a part of a second, in which it fell: 482.5.
        assert!((part.fast_megabytes_per_second - 482.5).abs() < 2.0, "{part:?}");
    }

    #[test]
    fn what_comes_after_is_all_that_comes_after() {
        // 5,000 MB/s into the buffer, 2,700 for a while, and 700 for most of the drive.
        let megabytes = [vec![5000; 8], vec![2700; 10], vec![700; 90]].concat();
        let part = written(&megabytes).unwrap();
        let after = (2700.0 * 9.0 + 700.0 * 90.0) / 99.0;
        assert!((part.slow_megabytes_per_second - after).abs() < 1.0, "{part:?}");
        let level = |gigabytes: u64, megabytes_per_second| Level {
            bytes: Bytes(gigabytes * 1_000_000_000),
            megabytes_per_second,
            too_warm: false,
            more_work: false,
        };
        let levels = [level(40, 5000.0), level(27, 2700.0), level(63, 700.0)];
        let part = FastPart::of_levels(&levels).unwrap();
        assert!((part.slow_megabytes_per_second - 900.0).abs() < 1.0, "{part:?}");
    }

    #[test]
    fn a_drive_that_stands_still_where_its_buffer_ends_is_as_slow_as_it_is_after() {
        let part = written(&[vec![500; 10], vec![0; 10], vec![200; 30]].concat()).unwrap();
        assert_eq!((part.bytes, part.fast_megabytes_per_second), (Bytes(5_000_000_000), 500.0));
        assert_eq!(part.slow_megabytes_per_second, 200.0);
    }

    #[test]
    fn a_disk_that_gets_slower_towards_its_inner_tracks_has_no_fast_part() {
        let zones: Vec<u64> = (0..3000).map(|second| 120 - second / 50).collect();
        assert_eq!(written(&zones), None);
    }

    #[test]
    fn an_even_rate_and_a_dip_have_no_fast_part() {
        assert_eq!(written(&[400; 30]), None);
        let mut dip = [400; 30];
        dip[10] = 20;
        assert_eq!(written(&dip), None);
        dip[10..25].fill(0);
        assert_eq!(written(&dip), None, "power that went for 15 s");
        assert_eq!(written(&[]), None);
        assert_eq!(written(&[500, 100, 100]), None);
    }
}
