//! Time in which the measuring thread should have run and did not.
//!
//! What was asked of the kernel says when the thread should be back; from one call to the next it
//! has only a few microseconds of work. Whatever is much longer is this machine's doing (a stopped
//! process, a starved one, a virtual machine that stood still), and no drive's.

use writecliff_device::{DeviceTime, Nanos};

/// Shorter ones are ordinary scheduling on a busy machine.
const PAUSE_MIN: Nanos = Nanos::from_millis(100);

/// The sum of all pauses.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    sum: Nanos,
    /// When the thread came back from the kernel while something was in flight.
    came_back: Option<DeviceTime>,
}

impl Pauses {
    /// All pauses so far.
    pub(crate) fn sum(&self) -> Nanos {
        self.sum
    }

    /// The thread goes into the kernel.
    pub(crate) fn enters(&mut self, now: DeviceTime) {
        if let Some(came_back) = self.came_back.take() {
            self.add(now.since(came_back), Nanos::ZERO);
        }
    }

    /// It is back from there, where it wanted to wait for `patience` at most; its own time counts
    /// from now on if something is in flight.
    pub(crate) fn leaves(
        &mut self,
        entered: DeviceTime,
        patience: Nanos,
        now: DeviceTime,
        in_flight: bool,
    ) {
        self.add(now.since(entered), patience);
        self.came_back = in_flight.then_some(now);
    }

    /// What was done since it was back is no pause: a trim, or nothing because nothing was to do.
    pub(crate) fn forget(&mut self) {
        self.came_back = None;
    }

    fn add(&mut self, took: Nanos, wanted: Nanos) {
        let pause = Nanos(took.0.saturating_sub(wanted.0));
        if pause >= PAUSE_MIN {
            self.sum += pause;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> DeviceTime {
        DeviceTime(0) + Nanos::from_millis(millis)
    }

    #[test]
    fn only_what_is_longer_than_was_asked_is_a_pause() {
        let mut pauses = Pauses::default();
        pauses.enters(at(0));
        pauses.leaves(at(0), Nanos::from_millis(100), at(199), true);
        assert_eq!(pauses.sum(), Nanos::ZERO);
        pauses.enters(at(200));
        pauses.leaves(at(200), Nanos::from_millis(100), at(5300), true);
        assert_eq!(pauses.sum(), Nanos::from_secs(5));
    }

    #[test]
    fn between_two_calls_it_is_one_only_with_something_in_flight() {
        let mut pauses = Pauses::default();
        pauses.leaves(at(0), Nanos::ZERO, at(1), true);
        pauses.enters(at(1001));
        assert_eq!(pauses.sum(), Nanos::from_secs(1));
        pauses.leaves(at(1001), Nanos::ZERO, at(1002), false);
        pauses.enters(at(9000));
        pauses.leaves(at(9000), Nanos::ZERO, at(9001), true);
        pauses.forget();
        pauses.enters(at(12_000));
        assert_eq!(pauses.sum(), Nanos::from_secs(1));
    }
}
