//! From issues and completions to operations, in order of issue.
//!
//! An operation waits until it is complete and all issued before it have gone, so that what comes
//! out is in order. How many wait is bounded: one that hides more than [`WAITING_MAX`] others goes
//! without its completion. What requests and their events mean is the same as in imported traces:
//! docs/formats.md, "Events of the kernel".

use std::collections::{HashMap, VecDeque};

use writecliff_device::{Bytes, Nanos, Operation};

use super::event::{Event, Request, What};
use super::streams::Streams;
use crate::source::QueueDepths;
use crate::{Summary, TraceError, TraceIo};

/// A second of a fast drive; some 12 MB.
const WAITING_MAX: usize = 1 << 17;
/// Operations that wait in the block layer; schedulers hold some hundreds.
const QUEUED_MAX: usize = 1 << 14;

/// Completions that wait for an issue which is read later than they are; some thousand are in flight
/// at most.
const EARLY_MAX: usize = 1 << 12;

const SECTOR: Bytes = Bytes(512);

/// Takes the operations, in order of issue.
pub(super) type Sink<'a> = dyn FnMut(&TraceIo) -> Result<(), TraceError> + 'a;

/// Joins each completion with its issue.
#[derive(Debug)]
pub(super) struct Pairing {
    /// What offsets are counted from.
    first_sector: u64,
    /// Whether the drive has several paths, one of which may take over.
    has_paths: bool,
    /// The first issue: the trace's time zero.
    began: Option<u64>,
    last_issued: Nanos,
    /// In order of issue; the first is in flight.
    waiting: VecDeque<Waiting>,
    /// Operations that have left `waiting`.
    gone: u64,
    in_flight: Vec<InFlight>,
    /// Completions without an issue so far.
    early: VecDeque<Early>,
    depths: QueueDepths,
    has_completions: bool,
    /// Who asked for what waits for its turn.
    queued: HashMap<(Operation, u64), u16>,
    pub(super) streams: Streams,
    /// All issues seen.
    pub(super) issued: Summary,
    pub(super) tally: Tally,
}

/// What a recording has to tell beside its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Completions of what was issued before the recording began, or while events were lost; passed
    /// over.
    pub without_issue: u64,
    /// Operations of which no completion was seen: in flight at the end, or while events were lost.
    pub without_completion: u64,
    /// Operations that failed; they are in the trace, without completion.
    pub failed: u64,
    /// Commands that are neither read, write, trim nor flush (zeroing, zone management, commands
    /// passed through): not in the trace.
    pub others: u64,
}

#[derive(Debug)]
struct Waiting {
    io: TraceIo,
    in_flight: bool,
    /// Given back undone: no operation.
    is_void: bool,
}

#[derive(Debug)]
struct Early {
    time: u64,
    request: Request,
    failed: bool,
}

/// An operation that the drive works on.
#[derive(Debug)]
struct InFlight {
    /// Counted from the first operation of all.
    index: u64,
    operation: Operation,
    sector: u64,
    end: u64,
    /// A large one may complete in parts.
    sectors_left: u64,
    failed: bool,
}

impl InFlight {
    fn is(&self, request: &Request) -> bool {
        Some(self.operation) == request.operation
            && self.sector == request.sector
            && self.sectors_left == request.sectors
    }

    /// Whether it begins there, and no part of it is done.
    fn is_untouched_at(&self, request: &Request) -> bool {
        Some(self.operation) == request.operation
            && self.sector == request.sector
            && self.sectors_left == self.end - self.sector
    }

    fn contains(&self, request: &Request) -> bool {
        let end = request.sector.saturating_add(request.sectors);
        Some(self.operation) == request.operation
            && self.sector <= request.sector
            && end <= self.end
            && request.sectors <= self.sectors_left
    }
}

impl Pairing {
    pub(super) fn new(first_sector: u64, has_paths: bool) -> Self {
        Self {
            first_sector,
            has_paths,
            began: None,
            last_issued: Nanos::ZERO,
            waiting: VecDeque::new(),
            gone: 0,
            in_flight: Vec::new(),
            early: VecDeque::new(),
            depths: QueueDepths::default(),
            has_completions: false,
            queued: HashMap::new(),
            streams: Streams::default(),
            issued: Summary::new(),
            tally: Tally::default(),
        }
    }

    /// When the first operation was issued, by the trace's clock.
    pub(super) fn began(&self) -> Option<u64> {
        self.began
    }

    /// `None` as long as no completion was seen.
    pub(super) fn queue_depth(&self) -> Option<usize> {
        self.has_completions.then_some(self.in_flight.len())
    }

    /// Takes the next event; those of one moment may come in any order.
    ///
    /// # Errors
    /// Those of `sink`.
    pub(super) fn take(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), TraceError> {
        match &event.what {
            What::Queued(request) => self.queue(request),
            What::Issued(request) => self.issue(event.time, request),
            What::PutBack(request) => self.put_back(|io| io.contains(request)),
            What::TakenBack(request) => self.take_back(request),
            What::Completed { request, failed } => self.complete(event.time, request, *failed),
            What::Gap => self.give_up(self.waiting.len()),
        }
        if self.waiting.len() > WAITING_MAX {
            self.give_up(1);
        }
        self.release(sink)
    }

    /// Lets out what is left: what is in flight goes without its completion.
    ///
    /// # Errors
    /// Those of `sink`.
    pub(super) fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), TraceError> {
        self.give_up(self.waiting.len());
        self.release(sink)
    }

    fn queue(&mut self, request: &Request) {
        if let Some(operation) = request.operation {
            if self.queued.len() == QUEUED_MAX {
                // Some were merged into others and are issued under another sector.
                self.queued.clear();
            }
            let stream = self.streams.number(&request.process);
            self.queued.insert((operation, request.sector), stream);
        }
    }

    fn issue(&mut self, time: u64, request: &Request) {
        let Some(operation) = request.operation else {
            self.tally.others += 1;
            return;
        };
        let queued_by = self.queued.remove(&(operation, request.sector));
        let stream = queued_by.unwrap_or_else(|| self.streams.number(&request.process));
        let io = TraceIo { stream, ..self.io(time, operation, request) };
        self.issued.add(&io);
        self.in_flight.push(InFlight {
            index: self.gone + self.waiting.len() as u64,
            operation,
            sector: request.sector,
            end: request.sector.saturating_add(request.sectors),
            sectors_left: request.sectors,
            failed: false,
        });
        self.waiting.push_back(Waiting { io, in_flight: true, is_void: false });
        self.complete_early(time, request);
    }

    /// Completes what was issued at `time` and is known to be done already.
    fn complete_early(&mut self, time: u64, request: &Request) {
        let is_its = |early: &Early| {
            let is_flush = request.operation == Some(Operation::Flush);
            let other = &early.request;
            let is_same = (other.sector, other.sectors) == (request.sector, request.sectors);
            early.time >= time && other.operation == request.operation && (is_same || is_flush)
        };
        let index = self.early.iter().position(is_its);
        if let Some(early) = index.and_then(|index| self.early.remove(index)) {
            self.tally.without_issue -= 1;
            self.complete(early.time, &early.request, early.failed);
        }
    }

    /// Its time is not before that of the last one: an event of another processor can come late.
    fn io(&mut self, time: u64, operation: Operation, request: &Request) -> TraceIo {
        let began = *self.began.get_or_insert(time);
        self.last_issued = self.last_issued.max(Nanos(time.saturating_sub(began)));
        let (offset, length) = match operation {
            Operation::Flush => (Bytes::ZERO, Bytes::ZERO),
            _ => (
                Bytes(request.sector.saturating_sub(self.first_sector).saturating_mul(SECTOR.0)),
                Bytes(request.sectors.saturating_mul(SECTOR.0)),
            ),
        };
        TraceIo::new(self.last_issued, operation, offset, length)
    }

    /// An operation whose path failed is issued again by another, and counts from then. Elsewhere a
    /// completion of nothing is the end of a write whose data were completed before.
    fn take_back(&mut self, request: &Request) {
        if self.has_paths && request.operation.is_some() {
            self.put_back(|io| io.is_untouched_at(request));
        }
    }

    fn put_back(&mut self, is_it: impl Fn(&InFlight) -> bool) {
        let Some(index) = self.in_flight.iter().position(is_it) else { return };
        let io = self.in_flight.remove(index);
        if let Some(waiting) = self.waiting.get_mut((io.index - self.gone) as usize) {
            (waiting.in_flight, waiting.is_void) = (false, true);
        }
    }

    fn complete(&mut self, time: u64, request: &Request, failed: bool) {
        if request.operation.is_none() {
            return;
        }
        let Some(index) = self.completed(request) else {
            self.tally.without_issue += 1;
            if self.early.len() == EARLY_MAX {
                self.early.pop_front();
            }
            self.early.push_back(Early { time, request: *request, failed });
            return;
        };
        self.has_completions = true;
        let io = &mut self.in_flight[index];
        io.sectors_left -= request.sectors.min(io.sectors_left);
        io.failed |= failed;
        if io.sectors_left > 0 {
            return;
        }
        let io = self.in_flight.remove(index);
        self.tally.failed += u64::from(io.failed);
        let began = self.began.unwrap_or(time);
        if let Some(waiting) = self.waiting.get_mut((io.index - self.gone) as usize) {
            let completed = Nanos(time.saturating_sub(began)).max(waiting.io.issued);
            waiting.io.completed = (!io.failed).then_some(completed);
            waiting.in_flight = false;
        }
    }

    /// Which one in flight a completion is of: the oldest that matches whole, else in part. All
    /// flushes are the same.
    fn completed(&self, request: &Request) -> Option<usize> {
        let mut all = self.in_flight.iter();
        if request.operation == Some(Operation::Flush) {
            return all.position(|io| io.operation == Operation::Flush);
        }
        let whole = all.position(|io| io.is(request));
        whole.or_else(|| self.in_flight.iter().position(|io| io.contains(request)))
    }

    /// Waits no longer for the completions of the first `count` operations.
    fn give_up(&mut self, count: usize) {
        let end = self.gone + count as u64;
        self.waiting.iter_mut().take(count).for_each(|waiting| waiting.in_flight = false);
        let before = self.in_flight.len();
        self.in_flight.retain(|io| io.index >= end);
        self.tally.without_completion += (before - self.in_flight.len()) as u64;
    }

    fn release(&mut self, sink: &mut Sink<'_>) -> Result<(), TraceError> {
        while let Some(first) = self.waiting.front_mut().filter(|first| !first.in_flight) {
            if !first.is_void {
                first.io.queue_depth = self.depths.at_issue(&first.io);
                sink(&first.io)?;
            }
            self.waiting.pop_front();
            self.gone += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
