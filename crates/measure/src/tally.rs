//! A load measured without a recording: counts per second, nothing on disk.

use writecliff_device::{Device, DeviceError, DeviceTime, Nanos};

use crate::cycle::drain;
use crate::sample::Sample;
use crate::supply::Supply;

const SECOND: Nanos = Nanos::from_secs(1);

/// Runs `supply` on `device` until `duration` is over or the supply is, and counts each second, of
/// all its series together: the samples have counts and bytes, and no latencies. What is in flight
/// when the duration ends is waited for but not counted, as in [`record`](crate::record()).
///
/// # Errors
/// If the device cannot go on.
pub fn tally(
    device: &mut dyn Device,
    mut supply: impl Supply,
    duration: Option<Nanos>,
) -> Result<Vec<Sample>, DeviceError> {
    supply.begin(device);
    let start = device.now();
    let end = duration.map_or(DeviceTime::MAX, |duration| start + duration);
    let mut done = Vec::with_capacity(64);
    let mut seconds = Vec::new();
    while device.now() < end {
        let Some(next) = supply.fill(device)? else { break };
        done.clear();
        device.reap(end.min(next), &mut done)?;
        done.iter().for_each(|completion| supply.completed(completion));
        for completion in done.iter().filter(|completion| completion.completed < end) {
            let second = ((completion.completed - start).0 / SECOND.0) as usize;
            cover(&mut seconds, second + 1);
            seconds[second].count(completion);
        }
    }
    let whole = device.now().min(end) - start;
    cover(&mut seconds, whole.0.div_ceil(SECOND.0) as usize);
    if let Some(last) = seconds.len().checked_sub(1) {
        seconds[last].span_ns = whole.0 - last as u64 * SECOND.0;
    }
    drain(device, supply.in_flight())?;
    Ok(seconds)
}

/// Lengthens the list to `count` seconds; those without a completion are counted as well.
fn cover(seconds: &mut Vec<Sample>, count: usize) {
    for second in seconds.len()..count {
        seconds.push(Sample { second: second as u32, span_ns: SECOND.0, ..Sample::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supply::Queue;
    use crate::totals::Totals;
    use writecliff_device::{Bytes, Operation};
    use writecliff_sim::{Build, load};
    use writecliff_workload::Sequential;

    fn read(duration: Option<Nanos>) -> (Vec<Sample>, Nanos) {
        let mut ssd = load("tiny").unwrap().open("sim:tiny");
        let span = ssd.info().capacity;
        let ios = std::iter::repeat_with(move || {
            Sequential::new(Operation::Read, span, Bytes::from_kib(128))
        });
        let seconds = tally(&mut *ssd, Queue::new(ios.take(3).flatten(), 32), duration).unwrap();
        (seconds, ssd.now() - DeviceTime::default())
    }

    #[test]
    fn every_byte_and_every_nanosecond_is_in_one_second() {
        let (seconds, clock) = read(None);
        let sum = Totals::of(&seconds);
        assert_eq!(sum.bytes(), Bytes::from_mib(3 * 224));
        assert_eq!(sum.span, clock);
        assert!(seconds.len() == 2 && seconds[0].is_whole(), "{seconds:?}");
    }

    #[test]
    fn a_duration_ends_the_load_in_the_middle_of_a_second() {
        let (seconds, _) = read(Some(Nanos::from_millis(1100)));
        assert_eq!(Totals::of(&seconds).span, Nanos::from_millis(1100));
        let rate = seconds[0].megabytes_per_second() / seconds[1].megabytes_per_second();
        assert!((0.98..1.02).contains(&rate), "{seconds:?}");
    }

    #[test]
    fn nothing_takes_no_time() {
        let mut ssd = load("tiny").unwrap().open("sim:tiny");
        let seconds = tally(&mut *ssd, Queue::new(std::iter::empty(), 1), None).unwrap();
        assert_eq!((seconds.len(), Totals::of(&seconds).bytes_per_second()), (0, 0.0));
    }
}
