//! A model with its data: requests in, answers out, each with the moment at which it is due.
//!
//! It asks no clock: whoever has one says how far the model's time is. So the same requests at the same
//! moments give the same answers, in real time and in a test.
//!
//! **Order.** Data are written and read in the order in which the model gets its commands, and a request
//! of another that overlaps it sees all of what the model had before it and nothing of what came later.
//! The model's books are in this order as well: which version of a page a power cut leaves is decided by
//! it. A request of more than [a command](crate::places::COMMAND_MAX) becomes several commands, as in any kernel, and others may
//! come between them. What the model has no room for waits here, first come, first served.
//!
//! **Power cut.** What is in flight has no answer. Of the units that the model lost, the older content
//! comes back ([`Undo`](crate::undo::Undo)).

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::ops::Range;

use slab::Slab;
use writecliff_device::{
    Bytes, Completion, DeviceError, DeviceInfo, DeviceTime, Durability, Io, Operation, Status,
    Telemetry,
};
use writecliff_sim::{AtPowerCut, DieRefused, Forgets, Model, PowerCut, Spare};

use crate::content::class_of;
use crate::places::{Place, held, in_part, make_ready, places, split};
use crate::recording::Recording;
use crate::store::Store;
use crate::undo::Undo;
use crate::wire::reply::{Extent, HEADROOM, STATE_HOLE, STATE_ZERO};
use crate::wire::request::Errno;

/// So many extents are told at once at most, and of so many units: a client asks on.
const EXTENTS_MAX: usize = 1024;
const STATUS_UNITS_MAX: u64 = 1 << 18;
/// Units whose room is given back in one step.
const GIVEN_BACK_AT_ONCE: u64 = 2048;
/// Ranges whose room waits for that.
const TRIMMED_MAX: usize = 1024;

/// What is asked of a drive, in whole sectors within its capacity.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) work: Work,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// It is durable when it is answered.
    pub(crate) forced: bool,
}

/// What to do with a range.
#[derive(Debug)]
pub(crate) enum Work {
    Read,
    Write(Vec<u8>),
    Flush,
    Trim,
    WriteZeroes {
        may_be_hole: bool,
        only_if_fast: bool,
    },
    /// It will be read: advice that no drive has a command for.
    Cache,
    Status {
        only_first: bool,
    },
}

impl Work {
    /// What it is of a drive's operations: zeros are written, however that is done.
    pub(crate) fn operation(&self) -> Option<Operation> {
        match self {
            Self::Read => Some(Operation::Read),
            Self::Write(_) | Self::WriteZeroes { .. } => Some(Operation::Write),
            Self::Trim => Some(Operation::Trim),
            Self::Flush => Some(Operation::Flush),
            Self::Cache | Self::Status { .. } => None,
        }
    }
}

/// What comes of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// Behind [`HEADROOM`] bytes of nothing.
    Data(Vec<u8>),
    Extents(Vec<Extent>),
}

/// A request's end.
#[derive(Debug)]
pub(crate) struct Done<T> {
    /// What the request came with.
    pub(crate) tag: T,
    /// What of a drive was asked for, and where; `None` if nothing of its own was.
    pub(crate) asked: Option<(Operation, u64, u64)>,
    pub(crate) submitted: DeviceTime,
    /// When it is complete, on the model's clock.
    pub(crate) due: DeviceTime,
    pub(crate) answer: Result<Answer, Errno>,
}

/// What drives that are sold do with data that were not safe, and no drive should.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flaws {
    /// It answers flushes and forced writes as if they had been done.
    pub(crate) lies: bool,
    /// A power cut leaves pages that it loses new in their first sectors.
    pub(crate) shears: bool,
}

/// A model, its data, and what is asked of both.
pub(crate) struct Drive<T> {
    model: Box<dyn Model>,
    store: Store,
    undo: Option<Undo>,
    at_power_cut: AtPowerCut,
    /// Flushes and forced writes are answered as if they had been done.
    lies: bool,
    tasks: Slab<Task<T>>,
    /// Commands that the model has, by their slots: whose they are.
    flying: Slab<usize>,
    waiting: VecDeque<Command>,
    /// I/Os that are complete and were not looked at.
    completions: Vec<Completion>,
    recording: Option<Recording>,
    /// Units that were trimmed, and may take room yet.
    trimmed: VecDeque<Range<u64>>,
    store_error: Option<String>,
}

/// A request under way.
struct Task<T> {
    tag: T,
    submitted: DeviceTime,
    operation: Operation,
    /// Where its data begin, on the drive.
    offset: u64,
    length: u64,
    /// Of a write what to write, of a read the answer.
    data: Vec<u8>,
    commands_left: usize,
    due: DeviceTime,
    failed: Option<Errno>,
}

/// A part of a request, as the model gets it.
#[derive(Debug, Clone, Copy)]
struct Command {
    task: usize,
    io: Io,
    /// A write of zeros has no data.
    zeros: bool,
}

impl<T> Drive<T> {
    /// Whether a power cut takes what is not in NAND.
    pub(crate) fn loses_what_is_volatile(&self) -> bool {
        self.undo.is_some()
    }

    /// A model that has been prepared, with the data that it holds.
    pub(crate) fn new(mut model: Box<dyn Model>, store: Store, flaws: Flaws) -> Self {
        let Flaws { lies, shears } = flaws;
        let at_power_cut = model.expect_power_cuts();
        let unit = model.unit().0;
        let undo =
            (at_power_cut == AtPowerCut::LosesWhatIsVolatile).then(|| Undo::new(unit, shears));
        Self {
            model,
            store,
            undo,
            at_power_cut,
            lies,
            tasks: Slab::default(),
            flying: Slab::default(),
            waiting: VecDeque::new(),
            completions: Vec::new(),
            recording: None,
            trimmed: VecDeque::new(),
            store_error: None,
        }
    }

    /// Has every command recorded from now on.
    pub(crate) fn record(&mut self, recording: Recording) {
        self.recording = Some(recording);
    }

    /// Ends the recording; what is in flight has no completion in it.
    pub(crate) fn end_recording(&mut self) {
        if let Some(mut recording) = self.recording.take() {
            recording.lost_all();
        }
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        self.model.info()
    }

    pub(crate) fn now(&self) -> DeviceTime {
        self.model.now()
    }

    pub(crate) fn telemetry(&mut self) -> Telemetry {
        self.model.telemetry()
    }

    pub(crate) fn at_power_cut(&self) -> AtPowerCut {
        self.at_power_cut
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Bytes of older content that a power cut might bring back.
    pub(crate) fn kept_for_undo(&self) -> u64 {
        self.undo.as_ref().map_or(0, Undo::kept)
    }

    /// Requests under way.
    pub(crate) fn requests(&self) -> usize {
        self.tasks.len()
    }

    /// Has a die stop working now.
    pub(crate) fn lose_die(&mut self, die: u32) -> Result<(), DieRefused> {
        self.model.lose_die(die)
    }

    /// What the drive can do without, and whether it still takes writes.
    pub(crate) fn spare(&self) -> (Option<Spare>, bool) {
        (self.model.spare(), self.model.takes_writes())
    }

    /// What the store could not do, the first time.
    pub(crate) fn store_error(&self) -> Option<&str> {
        self.store_error.as_deref()
    }

    /// Nothing is due, and nothing goes wrong, before this moment.
    pub(crate) fn next_event(&self) -> Option<DeviceTime> {
        self.model.next_event()
    }

    /// Takes a request at the model's present moment. What needs no drive is among `done` at once.
    pub(crate) fn submit(
        &mut self,
        request: Request,
        tag: T,
        done: &mut Vec<Done<T>>,
    ) -> Result<(), DeviceError> {
        let now = self.model.now();
        let operation = request.work.operation();
        let asked = operation.map(|operation| (operation, request.offset, request.length));
        if let Some(answer) = self.answer_at_once(&request) {
            done.push(Done { tag, asked, submitted: now, due: now, answer });
            return Ok(());
        }
        let Request { work, offset, length, forced } = request;
        let forced = forced && !self.lies;
        let range = offset..offset + length;
        let commands = match &work {
            Work::Read => split(Operation::Read, range),
            Work::Write(_) => split(Operation::Write, range),
            Work::Trim => vec![Io::trim(Bytes(offset), Bytes(length))],
            Work::WriteZeroes { may_be_hole, .. } => self.zeroing(range, *may_be_hole),
            // The last two were answered already.
            Work::Flush | Work::Cache | Work::Status { .. } => vec![Io::flush()],
        };
        let zeros = matches!(work, Work::WriteZeroes { .. });
        let data = match work {
            Work::Write(data) => data,
            Work::Read => vec![0; HEADROOM + length as usize],
            _ => Vec::new(),
        };
        let is_write = |io: &Io| io.operation == Operation::Write;
        // A trim is made durable by a flush behind it.
        let flush = (forced && !commands.iter().all(is_write)).then(Io::flush);
        let commands_left = commands.len() + usize::from(flush.is_some());
        let task = self.tasks.insert(Task {
            tag,
            submitted: now,
            // Without one it was answered already.
            operation: operation.unwrap_or(Operation::Flush),
            offset,
            length,
            data,
            commands_left,
            due: now,
            failed: None,
        });
        let durability = if forced { Durability::Forced } else { Durability::Later };
        let ios = commands.into_iter().map(|io| io.with_durability(durability)).chain(flush);
        self.waiting.extend(ios.map(|io| Command { task, io, zeros }));
        self.issue()
    }

    /// What needs no command to the drive.
    fn answer_at_once(&self, request: &Request) -> Option<Result<Answer, Errno>> {
        match request.work {
            Work::Cache => Some(Ok(Answer::Done)),
            Work::Flush if self.lies => Some(Ok(Answer::Done)),
            Work::WriteZeroes { only_if_fast: true, may_be_hole } => {
                (!self.can_forget(may_be_hole)).then_some(Err(Errno::NotSupported))
            }
            Work::Status { only_first } => {
                let extents = self.extents(request.offset, request.length, only_first);
                Some(extents.map(Answer::Extents))
            }
            _ => None,
        }
    }

    /// Moves the model's time on to `to`; what is due until then is among `done`. `true` if its power
    /// went on the way, as its profile plans: then it stands at that moment.
    pub(crate) fn advance(
        &mut self,
        to: DeviceTime,
        done: &mut Vec<Done<T>>,
    ) -> Result<bool, DeviceError> {
        loop {
            let mut completions = mem::take(&mut self.completions);
            let reaped = self.model.reap(to, &mut completions);
            if let Some(cut) = self.model.take_power_cut() {
                completions.clear();
                self.completions = completions;
                self.forget(&cut);
                return Ok(true);
            }
            completions.drain(..).for_each(|completion| self.complete(&completion, done));
            self.completions = completions;
            reaped?;
            self.issue()?;
            if self.model.now() >= to && self.model.next_event().is_none_or(|next| next > to) {
                return Ok(false);
            }
        }
    }

    /// Takes the power away; what was asked for has no answer.
    pub(crate) fn cut_power(&mut self) {
        let mut completions = mem::take(&mut self.completions);
        self.model.cut_power(&mut completions);
        completions.clear();
        self.completions = completions;
        if let Some(cut) = self.model.take_power_cut() {
            self.forget(&cut);
        }
    }

    /// Forgets what was under way, and what was lost.
    fn forget(&mut self, cut: &PowerCut) {
        self.waiting.clear();
        self.tasks.clear();
        self.flying.clear();
        if let Some(recording) = &mut self.recording {
            recording.lost_all();
        }
        if let Some(undo) = &mut self.undo
            && let Err(error) = undo.bring_back(&cut.lost, &self.store)
        {
            self.note_trouble(&error);
        }
    }

    /// Hands the model what it has room for.
    fn issue(&mut self) -> Result<(), DeviceError> {
        while self.flying.len() < self.model.info().queue_depth_max
            && let Some(command) = self.waiting.pop_front()
        {
            let slot = self.flying.insert(command.task) as u16;
            let io = Io { slot, ..command.io };
            if let Some(recording) = &mut self.recording {
                recording.issued(&io, self.model.now(), self.flying.len());
            }
            let moved = match io.operation {
                Operation::Write => self.write(&io, &command)?,
                Operation::Read => self.read(&io, &command)?,
                Operation::Trim => self.trim(&io)?,
                Operation::Flush => {
                    self.model.submit(&[io])?;
                    Ok(())
                }
            };
            if let Err(error) = moved {
                self.note_trouble(&error);
                let errno = match error.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Errno::NoSpace,
                    _ => Errno::InputOutput,
                };
                self.tasks[command.task].failed = Some(errno);
            }
        }
        Ok(())
    }

    fn note_trouble(&mut self, error: &io::Error) {
        self.store_error.get_or_insert_with(|| error.to_string());
    }

    /// A worn-out drive takes no writes, and keeps what it has.
    fn write(&mut self, io: &Io, command: &Command) -> Result<io::Result<()>, DeviceError> {
        let places = places(self.model.real_capacity().0, io.offset.0, io.length.0);
        if let Some(lost) = self.lost_in_part(&places).filter(|_| self.model.takes_writes()) {
            // The rest of that unit cannot be read, and so no part of it is written.
            let unit = self.model.unit();
            self.model.submit(&[Io { slot: io.slot, ..Io::read(unit * lost, unit) }])?;
            return Ok(Ok(()));
        }
        let zeros;
        let data: &[u8] = if command.zeros {
            zeros = vec![0; io.length.0 as usize];
            &zeros
        } else {
            let task = &mut self.tasks[command.task];
            &task.data[(io.offset.0 - task.offset) as usize..][..io.length.0 as usize]
        };
        let mut io = *io;
        if self.model.compresses() {
            io = io.with_content(class_of(data));
        }
        if !self.model.takes_writes() {
            self.model.submit(&[io])?;
            return Ok(Ok(()));
        }
        let made_ready = places.iter().try_for_each(|place| {
            make_ready(place.range.clone(), &*self.model, &self.store, self.undo.as_mut())
        });
        self.model.submit(&[io])?;
        let written = made_ready.and_then(|()| {
            places.iter().try_for_each(|place| {
                let length = (place.range.end - place.range.start) as usize;
                self.store.write(place.range.start, &data[place.at..][..length])
            })
        });
        if let Some(undo) = &mut self.undo {
            undo.drop_old(&*self.model);
        }
        Ok(written)
    }

    /// A unit that is to be written in part and was lost.
    fn lost_in_part(&self, places: &[Place]) -> Option<u64> {
        let unit = self.model.unit().0;
        let mut in_part = places.iter().flat_map(|place| in_part(place.range.clone(), unit));
        in_part.find(|number| self.model.has_lost(*number as u32))
    }

    fn read(&mut self, io: &Io, command: &Command) -> Result<io::Result<()>, DeviceError> {
        self.model.submit(std::slice::from_ref(io))?;
        let task = &mut self.tasks[command.task];
        let begin = HEADROOM + (io.offset.0 - task.offset) as usize;
        let data = &mut task.data[begin..][..io.length.0 as usize];
        let unit = self.model.unit().0;
        for Place { range, at } in places(self.model.real_capacity().0, io.offset.0, io.length.0) {
            for held in held(range.clone(), unit, &*self.model) {
                let at = at + (held.start - range.start) as usize;
                let part = &mut data[at..][..(held.end - held.start) as usize];
                if let Err(error) = self.store.read(held.start, part) {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(()))
    }

    /// What the drive forgets for good takes no more room, soon: nobody can read it any more.
    fn trim(&mut self, io: &Io) -> Result<io::Result<()>, DeviceError> {
        self.model.submit(std::slice::from_ref(io))?;
        if let Forgets::Later | Forgets::Nothing = self.model.forgets() {
            return Ok(Ok(()));
        }
        let unit = self.model.unit().0;
        let places = places(self.model.real_capacity().0, io.offset.0, io.length.0);
        let whole = places
            .into_iter()
            .map(|Place { range, .. }| range.start.div_ceil(unit)..range.end / unit);
        self.trimmed.extend(whole.filter(|units| !units.is_empty()));
        let mut given_back = self.give_back();
        while self.trimmed.len() > TRIMMED_MAX && given_back.is_ok() {
            given_back = self.give_back();
        }
        Ok(given_back)
    }

    /// Whether there is room to be [given back](Self::give_back).
    pub(crate) fn has_trimmed(&self) -> bool {
        !self.trimmed.is_empty()
    }

    /// Gives back the room of some of what was trimmed, in a step that takes a millisecond or so.
    pub(crate) fn give_back(&mut self) -> io::Result<()> {
        let Some(range) = self.trimmed.pop_front() else { return Ok(()) };
        let unit = self.model.unit().0;
        let Some((begin, _)) = self.store.next_data(range.start * unit)? else { return Ok(()) };
        let first = (begin / unit).max(range.start);
        let end = range.end.min(first + GIVEN_BACK_AT_ONCE);
        let mut forgotten = first;
        for number in first..end {
            // It may have been written again meanwhile.
            if self.model.holds(number as u32) {
                self.store.discard(forgotten * unit, (number - forgotten) * unit)?;
                forgotten = number + 1;
            }
        }
        self.store.discard(forgotten * unit, end.saturating_sub(forgotten) * unit)?;
        if end < range.end {
            self.trimmed.push_front(end..range.end);
        }
        Ok(())
    }

    /// The same, where nobody asked for it.
    pub(crate) fn give_back_noting(&mut self) {
        if let Err(error) = self.give_back() {
            self.note_trouble(&error);
        }
    }

    /// The same of all of it, and brings the data to the disk, if they are on one.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        while self.has_trimmed() {
            self.give_back()?;
        }
        self.store.finish()
    }

    fn complete(&mut self, completion: &Completion, done: &mut Vec<Done<T>>) {
        if let Some(recording) = &mut self.recording {
            recording.completed(completion);
        }
        let number = self.flying.remove(usize::from(completion.io.slot));
        let task = &mut self.tasks[number];
        task.due = task.due.max(completion.completed);
        task.commands_left -= 1;
        if let Status::Failed(errno) = completion.status {
            task.failed = Some(errno_of(errno));
        }
        if task.commands_left > 0 {
            return;
        }
        let Task { tag, submitted, operation, offset, length, data, due, failed, .. } =
            self.tasks.remove(number);
        let answer = match failed {
            Some(errno) => Err(errno),
            None if completion.io.operation == Operation::Read => Ok(Answer::Data(data)),
            None => Ok(Answer::Done),
        };
        let asked = Some((operation, offset, length));
        done.push(Done { tag, asked, submitted, due, answer });
    }

    /// Whether zeros can be had by forgetting.
    fn can_forget(&self, may_be_hole: bool) -> bool {
        may_be_hole && self.model.forgets() == Forgets::AtOnce
    }

    /// A drive has no command for zeros: whole units are trimmed where that makes zeros for good, and
    /// all else is written.
    fn zeroing(&self, range: Range<u64>, may_be_hole: bool) -> Vec<Io> {
        let unit = self.model.unit().0;
        let (first, last) = (range.start.next_multiple_of(unit), range.end / unit * unit);
        if !self.can_forget(may_be_hole) || first >= last {
            return split(Operation::Write, range);
        }
        let mut commands = split(Operation::Write, range.start..first);
        commands.push(Io::trim(Bytes(first), Bytes(last - first)));
        commands.extend(split(Operation::Write, last..range.end));
        commands
    }

    /// What is allocated on the drive, and what reads as zeros, from `offset` on.
    fn extents(&self, offset: u64, length: u64, only_first: bool) -> Result<Vec<Extent>, Errno> {
        let most = if only_first { 1 } else { EXTENTS_MAX };
        let mut extents: Vec<Extent> = Vec::new();
        let unit = self.model.unit().0;
        let real = self.model.real_capacity().0;
        let length = length.min(STATUS_UNITS_MAX * unit);
        let mut at = offset;
        let mut data = (0, 0);
        while at < offset + length {
            let within = at % real;
            let end = (within / unit + 1) * unit;
            let step = end.min(real).min(within + offset + length - at) - within;
            if data.1 <= within || within == 0 {
                let next = self.store.next_data(within).map_err(|_| Errno::InputOutput)?;
                data = next.unwrap_or((u64::MAX, u64::MAX));
            }
            let state = match self.model.holds((within / unit) as u32) {
                false => STATE_HOLE | STATE_ZERO,
                true if data.0 >= within + step => STATE_ZERO,
                true => 0,
            };
            let is_full = extents.len() == most;
            match extents.last_mut() {
                Some(last) if last.state == state => last.length += step as u32,
                _ if is_full => break,
                _ => extents.push(Extent { length: step as u32, state }),
            }
            at += step;
        }
        Ok(extents)
    }
}

/// The errors of a drive in the protocol's words.
fn errno_of(errno: i32) -> Errno {
    const READ_ONLY: i32 = 30;
    const NOT_SUPPORTED: i32 = 95;
    match errno {
        READ_ONLY => Errno::NotPermitted,
        NOT_SUPPORTED => Errno::NotSupported,
        _ => Errno::InputOutput,
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
