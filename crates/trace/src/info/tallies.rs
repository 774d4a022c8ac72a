//! Sums that grow with every operation, and the figures that they end as.

use super::busy::Union;
use super::classes::Classes;
use super::figures::{QueueDepths, Share, Sizes, StreamShare, Transfers, WrittenContent};
use super::footprint::{BLOCK, Touched};
use super::over_time::Offsets;
use super::service::ServiceClock;
use crate::TraceIo;

/// Streams that are listed.
const STREAMS_LISTED: usize = 10;

/// All that is told of reads, or of writes.
#[derive(Debug, Default)]
pub(super) struct SideTally {
    pub(super) counts: Counts,
    pub(super) busy: Union,
    pub(super) service: ServiceClock,
    pub(super) offsets: Offsets,
}

/// What can be told of reads, of writes, and of both.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    count: u64,
    pub(super) bytes: u64,
    sequential: u64,
    /// By [`size_index`].
    sizes: [u64; 6],
    size_classes: Classes,
    footprint_blocks: u64,
}

impl SideTally {
    pub(super) fn count<const LEVELS: usize>(
        &mut self,
        io: &TraceIo,
        issued: u64,
        sequential: bool,
        touched: &Touched<LEVELS>,
    ) {
        self.counts.count += 1;
        self.counts.bytes += io.length.0;
        self.counts.sequential += u64::from(sequential);
        self.counts.sizes[size_index(io.length.0)] += 1;
        self.counts.size_classes.count(io.length.0);
        self.counts.footprint_blocks += touched.new_of_kind;
        if let (Some(completed), Some(service_time)) = (io.completed, io.service_time()) {
            self.busy.add(issued, completed.0);
            self.service.record(service_time);
        }
    }
}

impl Counts {
    /// Both together, whose footprints overlap: together they touched so many blocks.
    pub(super) fn with(&self, other: &Self, footprint_blocks: u64) -> Self {
        let mut both = Self { footprint_blocks, ..self.clone() };
        both.count += other.count;
        both.bytes += other.bytes;
        both.sequential += other.sequential;
        both.sizes.iter_mut().zip(other.sizes).for_each(|(count, more)| *count += more);
        both.size_classes.add(&other.size_classes);
        both
    }

    pub(super) fn close(&self, is_footprint_known: bool) -> Transfers {
        let share = |count| Share::of(count, self.count);
        let [kb4, kb16, kb32, kb64, kb128, rest] = self.sizes.map(share);
        Transfers {
            count: self.count,
            bytes: self.bytes,
            mean_bytes: (self.count > 0).then(|| self.bytes as f64 / self.count as f64),
            sequential: share(self.sequential),
            sizes: Sizes { kb4, kb16, kb32, kb64, kb128, rest },
            size_classes: self.size_classes.list(),
            footprint_bytes: is_footprint_known.then_some(self.footprint_blocks * BLOCK),
        }
    }
}

/// The sizes that have a figure of their own; all others are the last.
fn size_index(length: u64) -> usize {
    match length {
        0x1000 => 0,
        0x4000 => 1,
        0x8000 => 2,
        0x1_0000 => 3,
        0x2_0000 => 4,
        _ => 5,
    }
}

/// Queue depths at issue.
#[derive(Debug, Default)]
pub(super) struct DepthTally {
    known: u64,
    computed: u64,
    sum: u128,
    at_one: u64,
    max: u32,
    classes: Classes,
}

impl DepthTally {
    /// Counts what the trace tells, or else what follows from completions; returns it.
    pub(super) fn count(&mut self, recorded: Option<u32>, computed: Option<u32>) -> Option<u32> {
        let depth = recorded.or(computed)?;
        self.known += 1;
        self.computed += u64::from(recorded.is_none());
        self.sum += u128::from(depth);
        self.at_one += u64::from(depth == 1);
        self.max = self.max.max(depth);
        self.classes.count(u64::from(depth));
        Some(depth)
    }

    pub(super) fn close(&self) -> Option<QueueDepths> {
        (self.known > 0).then(|| QueueDepths {
            known: self.known,
            computed: self.computed,
            mean: self.sum as f64 / self.known as f64,
            at_one: Share::of(self.at_one, self.known),
            max: self.max,
            classes: self.classes.list(),
        })
    }
}

/// What written data are like.
#[derive(Debug, Default)]
pub(super) struct ContentTally {
    known_bytes: u64,
    /// Bytes times percent.
    compressible: u128,
    duplicate: u128,
}

impl ContentTally {
    pub(super) fn count(&mut self, write: &TraceIo) {
        let Some(content) = write.content else { return };
        let times = |percent: u8| u128::from(write.length.0) * u128::from(percent);
        self.known_bytes += write.length.0;
        self.compressible += times(content.compressible_percent);
        self.duplicate += times(content.duplicate_percent);
    }

    pub(super) fn close(&self) -> Option<WrittenContent> {
        let mean = |sum: u128| sum as f64 / self.known_bytes as f64;
        (self.known_bytes > 0).then(|| WrittenContent {
            known_bytes: self.known_bytes,
            compressible_percent: mean(self.compressible),
            duplicate_percent: mean(self.duplicate),
        })
    }
}

/// Operations and bytes of each stream.
#[derive(Debug, Default)]
pub(super) struct StreamTally(Vec<(u64, u64)>);

impl StreamTally {
    pub(super) fn count(&mut self, io: &TraceIo, is_transfer: bool) {
        let index = usize::from(io.stream);
        if index >= self.0.len() {
            self.0.resize(index + 1, (0, 0));
        }
        let (operations, bytes) = &mut self.0[index];
        *operations += 1;
        *bytes += if is_transfer { io.length.0 } else { 0 };
    }

    pub(super) fn in_use(&self) -> u64 {
        self.0.iter().filter(|(operations, _)| *operations > 0).count() as u64
    }

    /// Those that moved most bytes, of a trace of so many operations and bytes.
    pub(super) fn largest(&self, operations: u64, bytes: u64) -> Vec<StreamShare> {
        let share = |(stream, &(of_operations, of_bytes)): (u16, &(u64, u64))| StreamShare {
            stream,
            operations: Share::of(of_operations, operations),
            bytes: Share::of(of_bytes, bytes),
        };
        let mut streams: Vec<StreamShare> = (0u16..=u16::MAX).zip(&self.0).map(share).collect();
        streams.retain(|stream| stream.operations.count > 0);
        // The sort is stable: equals stay in the order of the header.
        streams.sort_by_key(|s| std::cmp::Reverse((s.bytes.count, s.operations.count)));
        streams.truncate(STREAMS_LISTED);
        streams
    }
}
