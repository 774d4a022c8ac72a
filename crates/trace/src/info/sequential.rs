//! Which operations continue an earlier one.

use writecliff_device::{Bytes, Operation};

use crate::TraceIo;

/// Runs of one kind that are remembered: what a SATA drive's queue can see, and enough that
/// interleaved streams do not hide each other.
const RUNS: usize = 32;

/// An end that nothing can begin at: no drive is so large.
const NOWHERE: u64 = u64::MAX;

/// Tells, operation by operation, whether a read or write is sequential: whether it begins exactly
/// where one of the last 32 runs of its own kind ended.
///
/// A run is operations that each begin where the one before ended, reads among reads and writes
/// among writes; one that nothing continued is a run of one. The runs remembered are the 32 that
/// were added to last. Trims and flushes are not sequential, and end no run.
#[derive(Debug, Clone)]
pub struct SequentialDetector {
    reads: Ends,
    writes: Ends,
}

impl SequentialDetector {
    /// That has seen nothing yet.
    pub const fn new() -> Self {
        Self { reads: Ends([NOWHERE; RUNS]), writes: Ends([NOWHERE; RUNS]) }
    }

    /// Whether `io`, the next operation in order of issue, is sequential.
    pub fn is_sequential(&mut self, io: &TraceIo) -> bool {
        let ends = match io.operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Trim | Operation::Flush => return false,
        };
        ends.continue_run(io.offset.0, io.end().0)
    }

    /// Whether an operation that began at `offset` would be sequential, were it the next one.
    pub fn continues(&self, operation: Operation, offset: Bytes) -> bool {
        let ends = match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
            Operation::Trim | Operation::Flush => return false,
        };
        ends.position(offset.0).is_some()
    }
}

impl Default for SequentialDetector {
    fn default() -> Self {
        Self::new()
    }
}

/// Where runs ended, the one added to last first.
#[derive(Debug, Clone)]
struct Ends([u64; RUNS]);

impl Ends {
    /// Moves the run that ended at `begin` to `end`, and to the front; with none, a new run takes
    /// the place of the oldest.
    fn continue_run(&mut self, begin: u64, end: u64) -> bool {
        let found = self.position(begin);
        let last = found.unwrap_or(RUNS - 1);
        self.0.copy_within(..last, 1);
        self.0[0] = end;
        found.is_some()
    }

    /// All ends are compared, without a branch, because that is done several at a time.
    fn position(&self, begin: u64) -> Option<usize> {
        if self.0[0] == begin {
            return Some(0);
        }
        let equal =
            self.0.iter().enumerate().fold(0u32, |equal, (index, &run_end)| {
                equal | (u32::from(run_end == begin) << index)
            });
        (equal != 0).then(|| equal.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Nanos;

    fn verdicts(ios: &[(Operation, u64, u64)]) -> Vec<bool> {
        let mut detector = SequentialDetector::new();
        let io = |&(operation, offset, length)| {
            TraceIo::new(Nanos::ZERO, operation, Bytes(offset), Bytes(length))
        };
        ios.iter().map(|line| detector.is_sequential(&io(line))).collect()
    }

    #[test]
    fn a_run_begins_at_random_and_goes_on_sequentially() {
        let read = |offset| (Operation::Read, offset, 10);
        assert_eq!(verdicts(&[read(0), read(10), read(20), read(30)]), [false, true, true, true]);
        assert_eq!(verdicts(&[read(0), read(0), read(11), read(20)]), [false; 4], "exactly there");
        assert_eq!(verdicts(&[read(20), read(10), read(0)]), [false; 3], "backwards is random");
    }

    #[test]
    fn reads_continue_reads_and_writes_continue_writes() {
        let (read, write) = (Operation::Read, Operation::Write);
        assert_eq!(verdicts(&[(read, 0, 10), (write, 10, 10)]), [false, false]);
        let trimmed = [(write, 0, 10), (Operation::Trim, 10, 10), (Operation::Flush, 0, 0)];
        assert_eq!(verdicts(&trimmed), [false; 3]);
        let over = [(write, 0, 10), (Operation::Trim, 50, 10), (write, 10, 5), (write, 60, 1)];
        assert_eq!(verdicts(&over), [false, false, true, false]);
    }

    #[test]
    fn thirty_two_interleaved_streams_are_seen_and_the_thirty_third_hides_them() {
        let rounds = |streams: u64| {
            let ios = (0..4 * streams).map(|index| {
                let (stream, round) = (index % streams, index / streams);
                (Operation::Write, stream * 1_000_000 + round * 4096, 4096)
            });
            let ios: Vec<_> = ios.collect();
            verdicts(&ios).into_iter().filter(|&sequential| sequential).count() as u64
        };
        assert_eq!(rounds(1), 3);
        assert_eq!(rounds(32), 3 * 32, "all but each stream's first");
        assert_eq!(rounds(33), 0, "the oldest run is forgotten just before it goes on");
    }

    #[test]
    fn a_run_that_goes_on_takes_no_second_place() {
        // A run, 100 operations of another one, 30 single ones; then the first run goes on.
        let write = |offset| (Operation::Write, offset, 10);
        let mut ios = vec![write(5_000)];
        ios.extend((0..100).map(|index| write(index * 10)));
        ios.extend((0..30).map(|index| write(100_000 + index * 100)));
        ios.push(write(5_010));
        assert_eq!(verdicts(&ios).last(), Some(&true));
        ios.pop();
        ios.extend([write(200_000), write(5_010)]);
        assert_eq!(verdicts(&ios).last(), Some(&false), "one more, and it is forgotten");
        // What was continued is no end any more.
        assert_eq!(verdicts(&[write(0), write(10), write(10)]), [false, true, false]);
    }
}
