//! The clock that real drives are measured by, and waits that end on time.

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use writecliff_device::{DeviceTime, Nanos};

/// CLOCK_MONOTONIC.
pub(crate) fn now() -> DeviceTime {
    let now = clock_gettime(ClockId::Monotonic);
    DeviceTime(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// The kernel wakes late by as much as its timers are coarse. The last stretch of a wait is
/// therefore spent asking, so that what is due at a time begins at that time.
const WAKES_LATE: Nanos = Nanos::from_micros(150);

/// A wait for a drive is cut into pieces of this length, so that somebody looks whether it is still
/// there, and a pause of this process is told from one of the drive.
const PATIENCE_MAX: Nanos = Nanos::from_millis(100);

/// How long to let the kernel wait if there is so much time left.
pub(crate) fn patience(left: Nanos) -> Nanos {
    Nanos(left.0.saturating_sub(WAKES_LATE.0)).min(PATIENCE_MAX)
}

/// Does nothing until then.
pub(crate) fn sleep_until(until: DeviceTime) {
    loop {
        let left = until.since(now());
        if left == Nanos::ZERO {
            return;
        }
        match patience(left) {
            Nanos::ZERO => std::hint::spin_loop(),
            asleep => thread::sleep(Duration::from_nanos(asleep.0)),
        }
    }
}
