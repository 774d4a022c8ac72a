//! A load measured without a recording: counts per second, nothing on disk.

use writecliff_device::{Bytes, Completion, Device, DeviceError, DeviceTime, Io, Iops, Nanos};

use crate::cycle::drain;
use crate::record::{Load, failed};
use crate::supply::{Queue, Supply};

const SECOND: Nanos = Nanos::from_secs(1);

/// What completed within a second of the device's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// One second, or less for the last of a load.
    pub span: Nanos,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: Bytes,
    /// I/Os that the device failed; they are in no other count.
    pub failed: u64,
}

impl Tally {
    /// Several tallies as one.
    pub fn sum(tallies: &[Self]) -> Self {
        tallies.iter().fold(Self::default(), |sum, tally| Self {
            span: sum.span + tally.span,
            ios: sum.ios + tally.ios,
            bytes: sum.bytes + tally.bytes,
            failed: sum.failed + tally.failed,
        })
    }

    /// I/Os per second.
    pub fn iops(&self) -> Iops {
        Iops::over(self.ios, self.span)
    }

    /// Bytes per second; zero over an empty span.
    pub fn bytes_per_second(&self) -> f64 {
        if self.span == Nanos::ZERO {
            return 0.0;
        }
        self.bytes.0 as f64 / self.span.as_secs_f64()
    }

    fn count(&mut self, completion: &Completion) {
        if failed(completion).is_some() {
            self.failed += 1;
            return;
        }
        self.ios += 1;
        self.bytes += completion.io.length;
    }
}

/// Runs `load` on `device` until its duration or its I/Os end, and counts each second. What is in
/// flight when the duration ends is waited for but not counted, as in [`record`](crate::record).
///
/// # Errors
/// If the device cannot go on.
pub fn tally<I: Iterator<Item = Io>>(
    device: &mut dyn Device,
    load: Load<I>,
) -> Result<Vec<Tally>, DeviceError> {
    let start = device.now();
    let end = load.duration.map_or(DeviceTime::MAX, |duration| start + duration);
    let mut queue = Queue::new(load.ios, load.queue_depth);
    let mut done = Vec::with_capacity(load.queue_depth);
    let mut seconds = Vec::new();
    while device.now() < end {
        if queue.fill(device)?.is_none() {
            break;
        }
        done.clear();
        device.reap(end, &mut done)?;
        queue.in_flight -= done.len();
        for completion in done.iter().filter(|completion| completion.completed < end) {
            let second = ((completion.completed - start).0 / SECOND.0) as usize;
            cover(&mut seconds, second + 1);
            seconds[second].count(completion);
        }
    }
    let whole = device.now().min(end) - start;
    cover(&mut seconds, whole.0.div_ceil(SECOND.0) as usize);
    if let Some(last) = seconds.len().checked_sub(1) {
        seconds[last].span = Nanos(whole.0 - last as u64 * SECOND.0);
    }
    drain(device, queue.in_flight)?;
    Ok(seconds)
}

/// Lengthens the list to `count` seconds; those without a completion are counted as well.
fn cover(seconds: &mut Vec<Tally>, count: usize) {
    if seconds.len() < count {
        seconds.resize(count, Tally { span: SECOND, ..Tally::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Operation;
    use writecliff_sim::load;
    use writecliff_workload::Sequential;

    fn read(duration: Option<Nanos>) -> (Vec<Tally>, Nanos) {
        let mut ssd = load("tiny").unwrap().open("sim:tiny");
        let span = ssd.info().capacity;
        let ios = std::iter::repeat_with(move || {
            Sequential::new(Operation::Read, span, Bytes::from_kib(128))
        });
        let load = Load { ios: ios.take(3).flatten(), queue_depth: 32, duration };
        let seconds = tally(&mut *ssd, load).unwrap();
        (seconds, ssd.now() - DeviceTime::default())
    }

    #[test]
    fn every_byte_and_every_nanosecond_is_in_one_second() {
        let (seconds, clock) = read(None);
        let sum = Tally::sum(&seconds);
        assert_eq!(sum.bytes, Bytes::from_mib(3 * 224));
        assert_eq!(sum.span, clock);
        assert!(seconds.len() == 2 && seconds[0].span == SECOND, "{seconds:?}");
    }

    #[test]
    fn a_duration_ends_the_load_in_the_middle_of_a_second() {
        let (seconds, _) = read(Some(Nanos::from_millis(1100)));
        assert_eq!(Tally::sum(&seconds).span, Nanos::from_millis(1100));
        let rate = seconds[0].bytes_per_second() / seconds[1].bytes_per_second();
        assert!((0.98..1.02).contains(&rate), "{seconds:?}");
    }

    #[test]
    fn nothing_takes_no_time() {
        let mut ssd = load("tiny").unwrap().open("sim:tiny");
        let load = Load { ios: std::iter::empty(), queue_depth: 1, duration: None };
        let seconds = tally(&mut *ssd, load).unwrap();
        assert_eq!((seconds.len(), Tally::sum(&seconds).bytes_per_second()), (0, 0.0));
    }
}
