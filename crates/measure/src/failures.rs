//! I/Os that failed: which they were, and how many are too many.

use std::fmt;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Completion, InFlight, Nanos, Operation, error_text};

/// So many failed I/Os of a run are named; the rest are only counted.
pub const FAILURES_NAMED: usize = 16;
/// One failed I/O in so many is too much for figures to mean anything.
pub const FAILED_ONE_IN: u64 = 1000;
/// Fewer may be a bad sector or two, whatever their share; but if nothing else was done, they are
/// all that is known.
const FAILED_MIN: u64 = 10;
/// A load that goes on fails only when it is clear that no later success makes up for it.
const FAILED_CLEARLY: u64 = 100;

/// The system's error of an I/O that was not answered in time (Linux: ETIMEDOUT).
pub(crate) const UNANSWERED: i32 = 110;

/// One I/O that failed, as `run.json` names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedIo {
    /// The series that it belongs to.
    #[serde(alias = "phase")]
    pub series: String,
    /// When it ended, from the run's beginning.
    pub at: Nanos,
    /// What was asked.
    pub operation: Operation,
    /// The first block, in the drive's LBA size.
    pub lba: u64,
    /// The same place in bytes.
    pub offset: Bytes,
    /// How much was asked for.
    pub length: Bytes,
    /// The system's error number.
    pub errno: i32,
    /// The same in words.
    pub error: String,
}

/// An I/O that the device never answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnansweredIo {
    /// What was asked.
    pub operation: Operation,
    /// The first block, in the drive's LBA size.
    pub lba: u64,
    /// The same place in bytes.
    pub offset: Bytes,
    /// How much was asked for.
    pub length: Bytes,
    /// How long it has been in flight.
    pub waited: Nanos,
}

/// What has been in flight for a second or longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// So many I/Os.
    pub ios: usize,
    /// The oldest of them for so long.
    pub longest: Nanos,
    /// So many of them for longer than they may: they count as failed.
    pub late: usize,
}

impl Waiting {
    /// This and what waits elsewhere.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            ios: self.ios + other.ios,
            longest: self.longest.max(other.longest),
            late: self.late + other.late,
        }
    }
}

/// Whether so many failures of a load that is over are a noticeable share: one in
/// [`FAILED_ONE_IN`], unless they are fewer than ten beside others that worked.
pub(crate) fn is_failing(failed: u64, worked: u64) -> bool {
    let is_share = failed > 0 && failed.saturating_mul(FAILED_ONE_IN) >= failed + worked;
    is_share && (failed >= FAILED_MIN || worked == 0)
}

/// The same of a load that goes on.
pub(crate) fn is_failing_already(failed: u64, worked: u64) -> bool {
    failed >= FAILED_CLEARLY && is_failing(failed, worked)
}

impl FailedIo {
    pub(crate) fn new(
        series: &str,
        at: Nanos,
        completion: &Completion,
        lba_size: Bytes,
        errno: i32,
    ) -> Self {
        let io = &completion.io;
        let error = match errno {
            UNANSWERED if completion.service_time() >= Nanos::from_secs(1) => {
                format!("no answer within {:.0} s", completion.service_time().as_secs_f64())
            }
            errno => error_text(errno),
        };
        Self {
            series: series.to_owned(),
            at,
            operation: io.operation,
            lba: io.offset.0 / lba_size.0.max(1),
            offset: io.offset,
            length: io.length,
            errno,
            error,
        }
    }
}

impl UnansweredIo {
    pub(crate) fn new(waits: &InFlight, lba_size: Bytes, waited: Nanos) -> Self {
        let io = &waits.io;
        let (operation, offset, length) = (io.operation, io.offset, io.length);
        Self { operation, lba: offset.0 / lba_size.0.max(1), offset, length, waited }
    }
}

impl fmt::Display for FailedIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, lba, length, error, .. } = self;
        write!(f, "{operation:?} of {} at LBA {lba}: {error}", length.exact())
    }
}

impl fmt::Display for UnansweredIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, lba, offset, length, waited } = self;
        let seconds = waited.as_secs_f64();
        let length = length.exact();
        write!(f, "{operation:?} of {length} at LBA {lba} (byte {}), for {seconds:.0} s", offset.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_thousand_is_too_many_and_a_bad_sector_is_not() {
        assert!(is_failing(10, 9_990) && !is_failing(10, 9_991));
        assert!(!is_failing(9, 91) && is_failing(10, 90));
        assert!(is_failing(1, 0) && !is_failing(0, 0));
        assert!(!is_failing_already(99, 0) && is_failing_already(100, 99_900));
    }
}
