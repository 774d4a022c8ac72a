//! From the drive's events to its operations, in order of issue.
//!
//! What events mean and which belong together is [`Pairing`]'s; here are the drive's own matters:
//! time zero and the first sector, who asked for what, events that are read late, and what there is
//! to count.

use std::collections::HashMap;

use writecliff_device::{Bytes, Nanos, Operation};

use super::event::{Process, Told};
use super::streams::Streams;
use crate::depth::QueueDepths;
use crate::kernel::{Event, Paired, Pairing, SECTOR, What};
use crate::{Summary, TraceIo, WriteError};

/// Operations that wait in the block layer; schedulers hold some hundreds.
const INSERTED_MAX: usize = 1 << 14;
/// Completions that wait for an issue which is read later than they are; some thousand are in flight
/// at most.
const EARLY_MAX: usize = 1 << 12;

/// Takes the operations, in order of issue.
pub(super) type Sink<'a> = dyn FnMut(&TraceIo) -> Result<(), WriteError> + 'a;

/// Makes operations of events.
#[derive(Debug)]
pub(super) struct Operations {
    /// What offsets are counted from.
    first_byte: Bytes,
    /// Whether the drive has several paths, one of which may take over.
    has_paths: bool,
    pairing: Pairing,
    depths: QueueDepths,
    /// The first issue: the trace's time zero.
    began: Option<u64>,
    last_issued: Nanos,
    has_completions: bool,
    /// Who asked for what waits for its turn.
    inserted: HashMap<(Operation, u64), u16>,
    pub(super) streams: Streams,
    /// All issues seen.
    pub(super) issued: Summary,
    tally: Tally,
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

impl Operations {
    pub(super) fn new(first_sector: u64, has_paths: bool) -> Self {
        Self {
            first_byte: Bytes(first_sector.saturating_mul(SECTOR)),
            has_paths,
            pairing: Pairing::new(EARLY_MAX),
            depths: QueueDepths::default(),
            began: None,
            last_issued: Nanos::ZERO,
            has_completions: false,
            inserted: HashMap::new(),
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
        self.has_completions.then_some(self.pairing.in_flight())
    }

    pub(super) fn tally(&self) -> Tally {
        Tally { without_issue: self.pairing.unmatched(), ..self.tally }
    }

    /// Takes the next event; those of one moment may come in any order.
    ///
    /// # Errors
    /// Those of `sink`.
    pub(super) fn take(&mut self, told: &Told, sink: &mut Sink<'_>) -> Result<(), WriteError> {
        match *told {
            Told::Other { .. } => self.tally.others += 1,
            Told::Event { mut event, process } => {
                match event.what {
                    What::Inserted => self.insert(&event, &process),
                    What::TakenBack if !self.has_paths => {
                        // Here it is the end of a write whose data were completed before.
                        return Ok(());
                    }
                    _ if event.what.is_issue() => self.issue(&mut event, &process),
                    _ => self.has_completions |= event.what.is_completion(),
                }
                self.pairing.push(event);
            }
        }
        self.release(sink)
    }

    /// Lets out what is left: what is in flight goes without its completion.
    ///
    /// # Errors
    /// Those of `sink`.
    pub(super) fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), WriteError> {
        self.pairing.end();
        self.release(sink)
    }

    fn insert(&mut self, event: &Event, process: &Process) {
        if self.inserted.len() == INSERTED_MAX {
            // Some were merged into others and are issued under another sector.
            self.inserted.clear();
        }
        let stream = self.streams.number(process);
        self.inserted.insert((event.operation, event.sector), stream);
    }

    /// Who asked for it is who had it inserted; a worker of the kernel may issue it.
    fn issue(&mut self, event: &mut Event, process: &Process) {
        let inserted_by = self.inserted.remove(&(event.operation, event.sector));
        event.stream = inserted_by.unwrap_or_else(|| self.streams.number(process));
        let began = *self.began.get_or_insert(event.time_ns);
        let issued = Nanos(event.time_ns.saturating_sub(began));
        let io = TraceIo::new(issued, event.operation, event.offset(), event.length());
        self.issued.add(&self.on_drive(io));
    }

    fn release(&mut self, sink: &mut Sink<'_>) -> Result<(), WriteError> {
        while let Some(Paired { io, is_failed, .. }) = self.pairing.pop() {
            self.tally.failed += u64::from(is_failed);
            self.tally.without_completion += u64::from(io.completed.is_none() && !is_failed);
            let mut io = self.since_the_beginning(self.on_drive(io));
            self.last_issued = io.issued;
            io.queue_depth = self.depths.at_issue(&io);
            sink(&io)?;
        }
        Ok(())
    }

    /// Counts its offset from the drive's beginning.
    fn on_drive(&self, io: TraceIo) -> TraceIo {
        TraceIo { offset: Bytes(io.offset.0.saturating_sub(self.first_byte.0)), ..io }
    }

    /// Counts its times from time zero. Its issue is not before that of the last one: an event of
    /// another processor can come late.
    fn since_the_beginning(&self, io: TraceIo) -> TraceIo {
        let began = self.began.unwrap_or_default();
        let since = |time: Nanos| Nanos(time.0.saturating_sub(began));
        let issued = since(io.issued).max(self.last_issued);
        TraceIo { issued, completed: io.completed.map(|time| since(time).max(issued)), ..io }
    }
}

#[cfg(test)]
#[path = "operations_tests.rs"]
mod tests;
