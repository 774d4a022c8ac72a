//! Hands the drive what the scheme asks for, and judges what comes back.
//!
//! Nothing is read or written where a write is in flight: two writes to one place may be done in any
//! order, and a read beside a write may bring either version or a part of each, on the best of
//! drives. An I/O that would meet another one waits, and all that come after it. So what a block must
//! hold is never in question.

use std::collections::VecDeque;
use std::path::PathBuf;

use writecliff_device::{Completion, Device, DeviceError, DeviceTime, Held, Io, Nanos, Operation};
use writecliff_measure::{RecordError, Recorded, RecordingLoop, RunDirectoryError, Supply};

use super::checked::Checked;
use super::kept::Kept;
use super::scheme::Scheme;

/// A flush that the drive fails is asked for again, so often at most.
const FLUSHES_MAX: u32 = 3;

/// The slot of a look at what could not be read before.
const SECOND_LOOK: u16 = 1;

/// The state of a run's rounds, and where it is kept for a later run: not for a simulated drive, of
/// which nothing is left.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) kept: Kept,
    pub(crate) directory: Option<PathBuf>,
    /// What ended a load before its time.
    pub(crate) stop: Option<Stop>,
}

/// Which rounds a load does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// Up to this one.
    Round(u32),
    /// For this time; the last one is cut short then.
    Time(Nanos),
}

/// Why a load cannot go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// What was written could not be noted.
    NotKept(RunDirectoryError),
    /// The drive does not flush; the system's error number.
    NotFlushed(i32),
}

/// One phase of the test.
pub(crate) struct Load<'a> {
    scheme: &'a Scheme,
    checked: &'a mut Checked,
    /// The rounds that it writes; none if it only looks.
    writing: Option<Writing<'a>>,
    ios: Box<dyn Iterator<Item = Io> + Send + 'a>,
    /// Second looks, at the single blocks of one that failed.
    again: VecDeque<Io>,
    queue_depth: usize,
    /// The next I/O, while it waits for its turn.
    next: Option<Io>,
    in_flight: Vec<Io>,
    /// What was in flight when an I/O failed, as long as nothing of it came back well.
    failing: Option<Vec<Io>>,
    /// Looks that have completed and were not judged yet, in that order.
    looked: Vec<Io>,
    held: Vec<Held>,
}

/// Rounds under way.
struct Writing<'a> {
    rounds: &'a mut Rounds,
    until: Until,
    ends: DeviceTime,
    flush: Flush,
}

/// How far the end of a round is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// To be asked for when all is written; has failed so often.
    Wanted(u32),
    Asked(u32),
    Done,
}

impl<'a> Load<'a> {
    /// These looks.
    pub(crate) fn looks(
        scheme: &'a Scheme,
        checked: &'a mut Checked,
        ios: impl Iterator<Item = Io> + Send + 'a,
        queue_depth: usize,
    ) -> Self {
        Self { ios: Box::new(ios), ..Self::new(scheme, checked, None, queue_depth) }
    }

    /// The rounds that come next.
    pub(crate) fn rounds(
        scheme: &'a Scheme,
        checked: &'a mut Checked,
        (rounds, until): (&'a mut Rounds, Until),
        queue_depth: usize,
    ) -> Self {
        let writing = Writing { rounds, until, ends: DeviceTime::MAX, flush: Flush::Done };
        Self::new(scheme, checked, Some(writing), queue_depth)
    }

    fn new(
        scheme: &'a Scheme,
        checked: &'a mut Checked,
        writing: Option<Writing<'a>>,
        queue_depth: usize,
    ) -> Self {
        let (again, next, ios) = (VecDeque::new(), None, Box::new(std::iter::empty()));
        let (in_flight, failing, looked, held) = (Vec::new(), None, Vec::new(), Vec::new());
        Self {
            scheme,
            checked,
            writing,
            ios,
            again,
            queue_depth,
            next,
            in_flight,
            failing,
            looked,
            held,
        }
    }

    /// Judges what the looks have brought that are done.
    fn judge(&mut self, device: &mut dyn Device) {
        if self.looked.is_empty() {
            return;
        }
        device.take_held(&mut self.held);
        let mut held = self.held.drain(..);
        for look in self.looked.drain(..) {
            let blocks = (look.length.0 / self.scheme.block.0) as usize;
            self.checked.found(&look, held.by_ref().take(blocks));
        }
    }

    /// The next I/O; `None` if there is none before what is in flight has completed, or at all.
    fn draw(&mut self, now: DeviceTime) -> Option<Io> {
        loop {
            if let Some(io) = self.again.pop_front().or_else(|| self.next_of_round(now)) {
                return Some(io);
            }
            let writing = self.writing.as_mut().filter(|_| self.in_flight.is_empty())?;
            match writing.flush {
                Flush::Wanted(failed) => {
                    writing.flush = Flush::Asked(failed);
                    return Some(Io::flush());
                }
                Flush::Asked(_) => return None,
                Flush::Done => {
                    let round = writing.begin_next(self.checked, now)?;
                    self.ios = self.scheme.round(round);
                }
            }
        }
    }

    /// The next I/O of the round, unless the time is up; it is counted, so that a later run knows how
    /// far the last round came.
    fn next_of_round(&mut self, now: DeviceTime) -> Option<Io> {
        let Some(writing) = &mut self.writing else { return self.ios.next() };
        let io = self.ios.next().filter(|_| now < writing.ends)?;
        writing.rounds.kept.last_ios += 1;
        Some(io)
    }

    /// Whether an I/O must wait for one in flight: one of both changes what the other uses.
    fn collides(&self, io: &Io) -> bool {
        let changes = |io: &Io| matches!(io.operation, Operation::Write | Operation::Trim);
        let end = |io: &Io| io.offset.0 + io.length.0;
        self.in_flight.iter().any(|other| {
            let meets = other.offset.0 < end(io) && io.offset.0 < end(other);
            meets && (changes(io) || changes(other))
        })
    }

    /// Tells a moment without power from places that fail: all that was in flight fails at once, and the
    /// drive may have lost what was not flushed.
    fn note_an_outage(&mut self, io: &Io, has_failed: bool) {
        if has_failed && self.failing.is_none() {
            self.failing = Some(self.in_flight.clone());
        }
        let Some(failing) = &mut self.failing else { return };
        let place = failing.iter().position(|other| other == io);
        place.filter(|_| has_failed).map(|place| failing.swap_remove(place));
        let is_outage = failing.is_empty();
        if is_outage {
            self.checked.ledger.may_have_lost();
        }
        if is_outage || (!has_failed && place.is_some()) {
            self.failing = None;
        }
    }

    /// Takes note of an I/O that the drive has failed.
    fn failed(&mut self, io: &Io, errno: i32) {
        match (io.operation, &mut self.writing) {
            (Operation::Flush, Some(writing)) => writing.flush_failed(errno),
            (Operation::Read, _) => self.look_failed(io),
            _ => self.checked.ledger.may_have_changed(io),
        }
    }

    /// Single looks tell which of its blocks cannot be read. One that fails again cannot.
    fn look_failed(&mut self, io: &Io) {
        if io.slot == SECOND_LOOK {
            self.checked.unreadable(io);
            return;
        }
        let first = io.offset.0 / self.scheme.block.0;
        let count = io.length.0 / self.scheme.block.0;
        let looks = (first..first + count).map(|block| self.scheme.look(block, 1));
        self.again.extend(looks.map(|look| Io { slot: SECOND_LOOK, ..look }));
    }
}

impl Recorded for Load<'_> {
    fn recorded(self, by: RecordingLoop<'_>) -> Result<(), RecordError> {
        by.of(self)
    }
}

impl Supply for Load<'_> {
    fn begin(&mut self, device: &mut dyn Device) {
        if let Some(Writing { until: Until::Time(time), ends, .. }) = &mut self.writing {
            *ends = device.now() + *time;
        }
    }

    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        self.judge(device);
        while self.in_flight.len() < self.queue_depth {
            let Some(io) = self.next.take().or_else(|| self.draw(device.now())) else { break };
            if self.collides(&io) {
                self.next = Some(io);
                break;
            }
            device.submit(&[io])?;
            self.in_flight.push(io);
        }
        Ok((!self.in_flight.is_empty()).then_some(DeviceTime::MAX))
    }

    fn completed(&mut self, completion: &Completion) {
        let io = completion.io;
        let place = self.in_flight.iter().position(|other| *other == io);
        self.in_flight.swap_remove(place.expect("what completes was in flight"));
        self.note_an_outage(&io, completion.errno().is_some());
        match (completion.errno(), io.operation) {
            (Some(errno), _) => self.failed(&io, errno),
            (None, Operation::Read) => self.looked.push(io),
            (None, Operation::Write | Operation::Trim) => self.checked.ledger.changed(&io),
            (None, Operation::Flush) => {
                self.checked.ledger.flushed();
                if let Some(writing) = &mut self.writing {
                    writing.flush = Flush::Done;
                }
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Data that cannot be read are a finding like any other.
    fn looks_for_failures(&self) -> bool {
        true
    }
}

impl Writing<'_> {
    /// Notes that all is flushed, and begins the next round if there is to be one. It is on disk that
    /// a round was begun before anything of it is written.
    fn begin_next(&mut self, checked: &Checked, now: DeviceTime) -> Option<u32> {
        let Rounds { kept, directory, stop } = &mut *self.rounds;
        let next = kept.begun + 1;
        let goes_on = match self.until {
            Until::Round(last) => next <= last,
            Until::Time(_) => now < self.ends,
        };
        let is_news = kept.flushed != kept.begun || goes_on;
        if stop.is_some() || !is_news {
            return None;
        }
        kept.flushed = kept.begun;
        kept.begun = if goes_on { next } else { kept.begun };
        kept.in_doubt = checked.ledger.in_doubt();
        kept.is_cut = !goes_on;
        if let Some(Err(error)) = directory.as_ref().map(|directory| kept.write(directory)) {
            *stop = Some(Stop::NotKept(error));
            return None;
        }
        if goes_on {
            (self.flush, kept.last_ios) = (Flush::Wanted(0), 0);
        }
        goes_on.then_some(next)
    }

    /// A drive whose power was away for a moment may do it when asked again.
    fn flush_failed(&mut self, errno: i32) {
        let failed = match self.flush {
            Flush::Asked(failed) | Flush::Wanted(failed) => failed + 1,
            Flush::Done => 1,
        };
        self.flush = Flush::Wanted(failed);
        if failed >= FLUSHES_MAX {
            self.rounds.stop = Some(Stop::NotFlushed(errno));
            self.flush = Flush::Done;
        }
    }
}
