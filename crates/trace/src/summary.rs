//! What a whole trace amounts to.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, Operation};

use crate::TraceIo;

/// What a whole trace amounts to; kept beside the header, so that nobody must read a trace to know
/// whether it fits a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: Bytes,
    /// Bytes written.
    pub written_bytes: Bytes,
    /// The last issue.
    pub last_issued: Nanos,
    /// The last completion, if any is known.
    pub last_completed: Option<Nanos>,
    /// The first byte that no operation reaches.
    pub end: Bytes,
    /// The longest read or write.
    pub length_max: Bytes,
    /// What offsets and lengths are all multiples of: a power of two; zero for a trace of none.
    pub alignment: Bytes,
    /// The greatest queue depth at issue, if any is known.
    pub queue_depth_max: Option<u32>,
    /// Whether every operation's completion is known.
    pub has_completions: bool,
    /// Whether every operation's queue depth at issue is known.
    pub has_queue_depths: bool,
    /// A hash of all operations in their order: tells traces apart. Zero if it is not known.
    #[serde(default)]
    pub digest: u64,
}

impl Summary {
    /// Of no operations.
    pub fn new() -> Self {
        Self { has_completions: true, has_queue_depths: true, ..Self::default() }
    }

    /// Counts one more operation.
    pub fn add(&mut self, io: &TraceIo) {
        match io.operation {
            Operation::Read => self.reads += 1,
            Operation::Write => self.writes += 1,
            Operation::Trim => self.trims += 1,
            Operation::Flush => self.flushes += 1,
        }
        match io.operation {
            Operation::Read => add(&mut self.read_bytes, io.length),
            Operation::Write => add(&mut self.written_bytes, io.length),
            Operation::Trim | Operation::Flush => {}
        }
        if matches!(io.operation, Operation::Read | Operation::Write) {
            self.length_max = self.length_max.max(io.length);
        }
        self.last_issued = self.last_issued.max(io.issued);
        self.last_completed = self.last_completed.max(io.completed);
        self.end = self.end.max(io.end());
        self.queue_depth_max = self.queue_depth_max.max(io.queue_depth);
        self.has_completions &= io.completed.is_some();
        self.has_queue_depths &= io.queue_depth.is_some();
        let bits = self.alignment.0 | io.offset.0 | io.length.0;
        self.alignment = Bytes(bits & bits.wrapping_neg());
        self.digest = digest(self.digest, io);
    }

    /// Whether `io` can be one of the operations that this is the sum of.
    pub fn allows(&self, io: &TraceIo) -> bool {
        let (kind, length_max) = match io.operation {
            Operation::Read => (self.reads, self.length_max.0),
            Operation::Write => (self.writes, self.length_max.0),
            Operation::Trim => (self.trims, u64::MAX),
            Operation::Flush => (self.flushes, 0),
        };
        let is_aligned = (io.offset.0 | io.length.0) & self.alignment.0.wrapping_sub(1) == 0;
        let is_inside = io.end() <= self.end && io.issued <= self.last_issued;
        kind > 0 && io.length.0 <= length_max && is_inside && is_aligned
    }

    /// All operations.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }

    /// From the first issue, which is time zero, to the last thing known.
    pub fn duration(&self) -> Nanos {
        self.last_issued.max(self.last_completed.unwrap_or_default())
    }
}

/// A damaged trace may claim more bytes than can be counted.
fn add(sum: &mut Bytes, length: Bytes) {
    sum.0 = sum.0.saturating_add(length.0);
}

/// One more operation into a hash of all before: multiply and rotate, not for adversaries.
fn digest(before: u64, io: &TraceIo) -> u64 {
    let content = io.content.map_or(0xffff, |content| {
        u64::from(content.compressible_percent) << 8 | u64::from(content.duplicate_percent)
    });
    let depth = u64::from(io.queue_depth.unwrap_or(0));
    let small = (io.operation as u64) << 62 | u64::from(io.stream) << 16 | content;
    let completed = io.completed.map_or(u64::MAX, |time| time.0);
    let parts = [io.issued.0, completed, io.offset.0, io.length.0, depth, small];
    parts.iter().fold(before, |hash, part| {
        (hash.rotate_left(25) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_bytes_end_at_the_greatest_number() {
        let mut summary = Summary::new();
        for operation in [Operation::Read, Operation::Write, Operation::Read, Operation::Write] {
            summary.add(&TraceIo::new(Nanos(0), operation, Bytes(0), Bytes(1 << 63)));
        }
        assert_eq!((summary.read_bytes, summary.written_bytes), (Bytes(u64::MAX), Bytes(u64::MAX)));
    }

    #[test]
    fn a_summary_knows_the_coarsest_grid_that_all_ranges_lie_on() {
        let mut summary = Summary::new();
        assert_eq!(summary.alignment, Bytes::ZERO);
        for (offset, length, expected) in [(0, 8192, 8192), (12288, 4096, 4096), (512, 4096, 512)] {
            summary.add(&TraceIo::new(Nanos(7), Operation::Read, Bytes(offset), Bytes(length)));
            assert_eq!(summary.alignment, Bytes(expected));
        }
        summary.add(&TraceIo::new(Nanos(9), Operation::Flush, Bytes(0), Bytes(0)));
        assert_eq!((summary.alignment, summary.ios()), (Bytes(512), 4));
        assert_eq!((summary.end, summary.duration()), (Bytes(16384), Nanos(9)));
        assert!(!summary.has_completions && !summary.has_queue_depths);
    }

    #[test]
    fn every_part_of_every_operation_is_in_the_digest() {
        let io = TraceIo::new(Nanos(7), Operation::Read, Bytes(4096), Bytes(512));
        let content = Some(writecliff_device::Content::INCOMPRESSIBLE);
        let others = [
            TraceIo { issued: Nanos(8), ..io },
            TraceIo { completed: Some(Nanos(8)), ..io },
            TraceIo { operation: Operation::Trim, ..io },
            TraceIo { offset: Bytes(0), ..io },
            TraceIo { length: Bytes(1024), ..io },
            TraceIo { queue_depth: Some(1), ..io },
            TraceIo { content, ..io },
            TraceIo { stream: 1, ..io },
        ];
        let digest = |ios: &[TraceIo]| {
            let mut summary = Summary::new();
            ios.iter().for_each(|io| summary.add(io));
            summary.digest
        };
        let mut digests: Vec<u64> = others.iter().map(|other| digest(&[io, *other])).collect();
        digests.extend([digest(&[io, io]), digest(&[others[0], io]), digest(&[io]), digest(&[])]);
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }

    #[test]
    fn a_summary_tells_what_cannot_be_a_part_of_it() {
        let io = |operation, issued, offset, length| {
            TraceIo::new(Nanos(issued), operation, Bytes(offset), Bytes(length))
        };
        let mut summary = Summary::new();
        let own = [
            io(Operation::Read, 5, 8192, 4096),
            io(Operation::Trim, 9, 0, 1 << 40),
            io(Operation::Flush, 9, 0, 0),
        ];
        own.iter().for_each(|io| summary.add(io));
        assert!(own.iter().all(|io| summary.allows(io)));
        for strange in [
            io(Operation::Write, 5, 0, 4096),
            io(Operation::Read, 5, 0, 8192),
            io(Operation::Read, 10, 0, 4096),
            io(Operation::Read, 5, 512, 4096),
            io(Operation::Read, 5, 1 << 40, 4096),
            io(Operation::Read, 5, u64::MAX - 4095, 4096),
        ] {
            assert!(!summary.allows(&strange), "{strange:?}");
        }
    }
}
