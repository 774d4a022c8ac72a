//! A trace done again: as fast as it allows, or by its own clock.
//!
//! The documents' way is [`Timing::IdleCut`]: an I/O begins as soon as everything that it waited
//! for when it was recorded is done again. What had completed before its issue it has waited for;
//! where completions are not known, the queue depth at its issue tells how many had not. Besides,
//! nothing overtakes a write to the same place. [`Timing::Recorded`] gives every I/O a due time
//! that no late one moves, so that what the drive keeps waiting shows as response time.

use std::fmt;

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceTime, Io, Nanos, Operation, Status,
};

use crate::recorder::Counter;
use crate::supply::{LOOK_AHEAD, Supply};

/// One operation of a trace, ready to be done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayIo {
    /// What to do.
    pub io: Io,
    /// When it was issued, since the trace's beginning.
    pub issued: Nanos,
    /// When it completed, by the same clock, if that is known.
    pub completed: Option<Nanos>,
    /// I/Os in flight at its issue, itself included, if that is known.
    pub queue_depth: Option<u32>,
}

/// When the I/Os of a replay begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timing {
    /// At once when what they waited for is done: idle time is cut.
    IdleCut,
    /// As recorded, so many times as fast.
    Recorded {
        /// 2 halves every time; above zero.
        speed: f64,
    },
}

/// The series that a replay is recorded in, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaySeries {
    /// Service times of reads.
    Reads = 0,
    /// Service times of writes.
    Writes,
    /// Service times of trims and flushes.
    Others,
    /// Due to completed, all operations; only of a timed replay.
    Response,
    /// Due to submitted, all operations: how late this program or a full queue made them.
    Lateness,
}

impl Timing {
    /// The series of a replay, in the order of their numbers.
    pub const fn series(self) -> &'static [ReplaySeries] {
        use ReplaySeries::{Lateness, Others, Reads, Response, Writes};
        match self {
            Self::IdleCut => &[Reads, Writes, Others],
            Self::Recorded { .. } => &[Reads, Writes, Others, Response, Lateness],
        }
    }

    /// When what was issued then is due.
    fn due(self, start: DeviceTime, issued: Nanos) -> DeviceTime {
        match self {
            Self::IdleCut => start,
            Self::Recorded { speed } => start + Nanos((issued.0 as f64 / speed) as u64),
        }
    }
}

/// A trace, done again. Ends when its I/Os do; recorded in the series of [`Timing::series`].
pub struct Replay<'a> {
    ios: Box<dyn Iterator<Item = ReplayIo> + Send + 'a>,
    timing: Timing,
    start: DeviceTime,
    /// Drawn and announced; those before `next` were submitted.
    upcoming: Vec<ReplayIo>,
    next: usize,
    /// What is in flight, and the places of `slots` that are free for more.
    in_flight: Vec<InFlight>,
    slots: Vec<Slot>,
    free: Vec<u16>,
    busy: [Busy; 3],
    drive_busy: Busy,
}

/// What the next I/O must know of one in flight.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    slot: u16,
    changes: bool,
    begin: Bytes,
    end: Bytes,
    /// When it had completed in the recording; never, if that is not known.
    completed: Nanos,
}

/// What an I/O's place holds until it completes.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    due: DeviceTime,
}

/// Time with something in flight, second by second.
#[derive(Debug, Clone, Copy, Default)]
struct Busy {
    in_flight: u32,
    since: DeviceTime,
    sum: Nanos,
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("timing", &self.timing).finish_non_exhaustive()
    }
}

impl<'a> Replay<'a> {
    /// These I/Os, in their order of issue, at this timing.
    pub fn new(ios: impl Iterator<Item = ReplayIo> + Send + 'a, timing: Timing) -> Self {
        Self {
            ios: Box::new(ios),
            timing,
            start: DeviceTime::default(),
            upcoming: Vec::with_capacity(LOOK_AHEAD),
            next: 0,
            in_flight: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            busy: [Busy::default(); 3],
            drive_busy: Busy::default(),
        }
    }

    /// The next I/O, if there is one.
    fn peek(&mut self, device: &mut dyn Device) -> Option<ReplayIo> {
        if self.next == self.upcoming.len() {
            self.upcoming.clear();
            self.upcoming.extend(self.ios.by_ref().take(LOOK_AHEAD));
            self.next = 0;
            let mut ios = [Io::flush(); LOOK_AHEAD];
            ios.iter_mut().zip(&self.upcoming).for_each(|(io, upcoming)| *io = upcoming.io);
            device.announce(&ios[..self.upcoming.len()]);
        }
        self.upcoming.get(self.next).copied()
    }

    /// Whether what `next` waited for is done. Where nothing is known of that, it was everything.
    fn is_free(&self, next: &ReplayIo) -> bool {
        let depth = match (next.queue_depth, next.completed) {
            (Some(depth), _) => depth.max(1) as usize,
            (None, Some(_)) => usize::MAX,
            (None, None) => 1,
        };
        let has_waited = |other: &InFlight| other.completed <= next.issued;
        self.in_flight.len() < depth
            && !self.in_flight.iter().any(has_waited)
            && !self.collides(&next.io)
    }

    /// Whether it must not overtake something in flight at the same place.
    fn collides(&self, io: &Io) -> bool {
        let (changes, end) = (changes(io), end_of(io));
        self.in_flight
            .iter()
            .any(|other| (changes || other.changes) && other.begin < end && io.offset < other.end)
    }

    fn submit(&mut self, next: &ReplayIo, device: &mut dyn Device) -> Result<(), DeviceError> {
        let Some(slot) = self.free.pop() else {
            unreachable!("fill has looked for a free slot");
        };
        let series = series_of(next.io.operation) as usize;
        let io = Io { series: series as u8, slot, ..next.io };
        // Before it is handed over: a real drive does a trim while it is.
        let now = device.now();
        device.submit(&[io])?;
        let completed = next.completed.unwrap_or(Nanos(u64::MAX));
        let (changes, begin, end) = (changes(&io), io.offset, end_of(&io));
        self.in_flight.push(InFlight { slot, changes, begin, end, completed });
        self.slots[usize::from(slot)].due = self.timing.due(self.start, next.issued);
        self.busy[series].begin(now);
        self.drive_busy.begin(now);
        self.next += 1;
        Ok(())
    }
}

impl Supply for Replay<'_> {
    /// The trace's time begins when its first operations have been drawn: opening a file or making
    /// a plan is nothing that a drive is late by.
    fn begin(&mut self, device: &mut dyn Device) {
        // Slots are counted in 16 bits, far above what any drive takes.
        let depth = device.info().queue_depth_max.min(usize::from(u16::MAX));
        self.in_flight = Vec::with_capacity(depth);
        self.slots = vec![Slot::default(); depth];
        self.free = (0..depth as u16).rev().collect();
        self.peek(device);
        self.start = device.now();
    }

    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        while !self.free.is_empty() {
            let Some(next) = self.peek(device) else {
                return Ok((!self.in_flight.is_empty()).then_some(DeviceTime::MAX));
            };
            let due = self.timing.due(self.start, next.issued);
            if due > device.now() {
                return Ok(Some(due));
            }
            if self.timing == Timing::IdleCut && !self.is_free(&next) {
                break;
            }
            self.submit(&next, device)?;
        }
        Ok(Some(DeviceTime::MAX))
    }

    fn observe(&self, completion: &Completion, counter: &mut Counter) {
        counter.observe(completion);
        if let Timing::Recorded { .. } = self.timing
            && completion.status == Status::Done
        {
            let due = self.slots[usize::from(completion.io.slot)].due;
            let operation = completion.io.operation;
            let Completion { completed, submitted, .. } = *completion;
            counter.observe_span(ReplaySeries::Response as usize, operation, due, completed);
            counter.observe_span(ReplaySeries::Lateness as usize, operation, due, submitted);
        }
    }

    fn completed(&mut self, completion: &Completion) {
        let io = &completion.io;
        let place = self.in_flight.iter().position(|other| other.slot == io.slot);
        self.in_flight.swap_remove(place.expect("what completes was in flight"));
        self.free.push(io.slot);
        self.busy[usize::from(io.series)].end(completion.completed);
        self.drive_busy.end(completion.completed);
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn end_second(&mut self, end: DeviceTime, counter: &mut Counter) {
        for (series, busy) in self.busy.iter_mut().enumerate() {
            counter.busy(series, busy.take(end));
        }
        counter.drive_busy(self.drive_busy.take(end));
    }
}

impl Busy {
    fn begin(&mut self, now: DeviceTime) {
        if self.in_flight == 0 {
            self.since = now;
        }
        self.in_flight += 1;
    }

    fn end(&mut self, now: DeviceTime) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.sum += now.since(self.since);
        }
    }

    /// What has come together up to `end`, from where it goes on.
    fn take(&mut self, end: DeviceTime) -> Nanos {
        if self.in_flight > 0 {
            self.sum += end.since(self.since);
            self.since = self.since.max(end);
        }
        std::mem::take(&mut self.sum)
    }
}

const fn series_of(operation: Operation) -> ReplaySeries {
    match operation {
        Operation::Read => ReplaySeries::Reads,
        Operation::Write => ReplaySeries::Writes,
        Operation::Trim | Operation::Flush => ReplaySeries::Others,
    }
}

const fn changes(io: &Io) -> bool {
    matches!(io.operation, Operation::Write | Operation::Trim)
}

const fn end_of(io: &Io) -> Bytes {
    Bytes(io.offset.0 + io.length.0)
}
