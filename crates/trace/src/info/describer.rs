//! Takes the operations of a trace one after the other, and has its figures in the end.

use writecliff_device::Operation;

use super::busy::{InFlight, Union};
use super::classes::Classes;
use super::figures::{Busy, Info, ServiceTimes, Share};
use super::footprint::Footprint;
use super::over_time::Windows;
use super::sequential::SequentialDetector;
use super::tallies::{ContentTally, DepthTally, SideTally, StreamTally};
use crate::{ReadError, TraceIo};

/// As many as the processor can wait for together.
const TAKEN_AT_ONCE: usize = 64;

/// What is known after any number of operations.
pub(super) struct Describer<const LEVELS: usize> {
    /// The last moment known so far.
    duration: u64,
    operations: u64,
    out_of_order: u64,
    /// When the operation before was issued.
    last_issued: Option<u64>,
    reads: SideTally,
    writes: SideTally,
    trims: u64,
    trimmed_bytes: u64,
    flushes: u64,
    sequential: SequentialDetector,
    pub(super) footprint: Footprint<LEVELS>,
    touched_blocks: u64,
    rewritten_bytes: u64,
    busy: Union,
    completions_known: u64,
    in_flight: InFlight,
    depths: DepthTally,
    content: ContentTally,
    inter_arrival: Classes,
    streams: StreamTally,
    windows: Windows<LEVELS>,
}

impl<const LEVELS: usize> Describer<LEVELS> {
    pub(super) fn new(windows: Windows<LEVELS>) -> Self {
        Self {
            duration: 0,
            operations: 0,
            out_of_order: 0,
            last_issued: None,
            reads: SideTally::default(),
            writes: SideTally::default(),
            trims: 0,
            trimmed_bytes: 0,
            flushes: 0,
            sequential: SequentialDetector::new(),
            footprint: Footprint::new(),
            touched_blocks: 0,
            rewritten_bytes: 0,
            busy: Union::default(),
            completions_known: 0,
            in_flight: InFlight::default(),
            depths: DepthTally::default(),
            content: ContentTally::default(),
            inter_arrival: Classes::default(),
            streams: StreamTally::default(),
            windows,
        }
    }

    pub(super) fn describe(
        mut self,
        ios: impl Iterator<Item = Result<TraceIo, ReadError>>,
    ) -> Result<Info, ReadError> {
        let mut next = Vec::with_capacity(TAKEN_AT_ONCE);
        for io in ios {
            next.push(io?);
            if next.len() == TAKEN_AT_ONCE {
                self.add(&next)?;
                next.clear();
            }
        }
        self.add(&next)?;
        Ok(self.finish())
    }

    /// Takes the next operations.
    pub(super) fn add(&mut self, ios: &[TraceIo]) -> Result<(), ReadError> {
        self.footprint.look_ahead(ios.iter().map(|io| io.offset.0));
        ios.iter().try_for_each(|io| self.add_one(io))
    }

    fn add_one(&mut self, io: &TraceIo) -> Result<(), ReadError> {
        let is_transfer = matches!(io.operation, Operation::Read | Operation::Write);
        if io.is_oversized() {
            let (index, offset, length) = (self.operations, io.offset.0, io.length.0);
            return Err(ReadError::Oversized { index, offset, length });
        }
        let issued = self.arrive(io);
        self.duration = self.duration.max(issued).max(io.completed.unwrap_or_default().0);
        let computed_depth = self.occupy(io, issued);
        self.streams.count(io, is_transfer);
        match io.operation {
            Operation::Read | Operation::Write => self.transfer(io, issued, computed_depth),
            Operation::Trim => {
                self.trims += 1;
                self.trimmed_bytes = self.trimmed_bytes.saturating_add(io.length.0);
            }
            Operation::Flush => self.flushes += 1,
        }
        self.operations += 1;
        Ok(())
    }

    /// When it counts as issued: never before the one before it.
    fn arrive(&mut self, io: &TraceIo) -> u64 {
        let issued = match self.last_issued {
            Some(last) => {
                self.out_of_order += u64::from(io.issued.0 < last);
                let issued = io.issued.0.max(last);
                self.inter_arrival.count(issued - last);
                issued
            }
            None => io.issued.0,
        };
        self.last_issued = Some(issued);
        issued
    }

    /// Its time on the drive; returns the queue depth that follows from completions.
    fn occupy(&mut self, io: &TraceIo, issued: u64) -> Option<u32> {
        let completed = io.completed?.0;
        self.completions_known += 1;
        self.busy.add(issued, completed);
        self.in_flight.issue(issued, completed)
    }

    fn transfer(&mut self, io: &TraceIo, issued: u64, computed_depth: Option<u32>) {
        let is_write = io.operation == Operation::Write;
        let sequential = self.sequential.is_sequential(io);
        let depth = self.depths.count(io.queue_depth, computed_depth);
        let window = self.windows.at(issued);
        let touched = self.footprint.touch(is_write, io.offset.0, io.end().0, window);
        self.windows.count(is_write, io.length.0, depth, &touched);
        self.touched_blocks += touched.new;
        let side = if is_write { &mut self.writes } else { &mut self.reads };
        side.count(io, issued, sequential, &touched);
        side.offsets.count(window, io.offset.0);
        if is_write {
            self.rewritten_bytes += touched.again_bytes;
            self.content.count(io);
        }
    }

    pub(super) fn finish(mut self) -> Info {
        let window = self.windows.end_at(self.duration);
        let both = self.reads.counts.with(&self.writes.counts, self.touched_blocks);
        let is_footprint_known = self.footprint.is_known();
        let both = both.close(is_footprint_known);
        let busy = (self.completions_known > 0).then_some(Busy {
            known: self.completions_known,
            all_ns: self.busy.covered,
            reads_ns: self.reads.busy.covered,
            writes_ns: self.writes.busy.covered,
        });
        let service_times = busy.map(|_| ServiceTimes {
            transfers: self.reads.service.with(&self.writes.service).close(),
            reads: self.reads.service.close(),
            writes: self.writes.service.close(),
        });
        Info {
            duration_ns: self.duration,
            reads: self.reads.counts.close(is_footprint_known),
            writes: self.writes.counts.close(is_footprint_known),
            trims: self.trims,
            trimmed_bytes: self.trimmed_bytes,
            flushes: self.flushes,
            out_of_order: self.out_of_order,
            queue_depths: self.depths.close(),
            busy,
            service_times,
            rewritten: is_footprint_known
                .then(|| Share::of(self.rewritten_bytes, self.writes.counts.bytes)),
            content: self.content.close(),
            inter_arrival_ns: self.inter_arrival.list(),
            largest_streams: self.streams.largest(self.operations, both.bytes),
            streams: self.streams.in_use(),
            transfers: both,
            window_ns: self.windows.width,
            read_offsets: self.reads.offsets.close(window),
            write_offsets: self.writes.offsets.close(window),
            windows: self.windows.close(is_footprint_known),
        }
    }
}
