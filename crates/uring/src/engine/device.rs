//! A block device or file as a [`Device`]: slots, buffers, the clock.

mod encrypting;
pub(crate) mod opening;
mod purging;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use writecliff_content::{ContentStream, Stamper};
use writecliff_device::{
    Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Durability, Encryption,
    Held, InFlight, Io, Lanes, LogWrites, Nanos, Operation, PrepareWatch, Purge, PurgeOutcome,
    Stamping, Status, Telemetry,
};

use crate::drive::controller::Controller;
use crate::drive::gauges::Gauges;
use crate::drive::health::Asker;
use crate::drive::presence::Loss;
use crate::drive::purge::background::StillRunning;
use crate::engine::calls::{Answered, Calls, in_flight};
use crate::engine::encryption::Encrypted;
use crate::engine::pauses::Pauses;
use crate::engine::ring::Ring;
use crate::guard::ledger::Asked;
use crate::guard::refusal::Refusal;
use crate::guard::sentry::Sentry;
use crate::host::clock;
use crate::host::io_counts::IoCounts;

/// So many I/Os go to the kernel in one call while a batch is still being filled, the rest with the
/// next reap. The device works on the first while the last are made: on a loop device in memory at
/// queue depth 32 that gave 308 K IOPS, against 204 K with the whole batch at once and 250 K with
/// single I/Os.
const HAND_OVER: usize = 4;

/// So long a trim keeps what comes after it waiting, as it does in the kernel; from then on it is one
/// more I/O in flight.
const TRIM_PATIENCE: Duration = Duration::from_millis(100);

/// How long after the last I/O was handed over a dropped device waits for those still in flight.
const LAST_WAIT: Nanos = Nanos::from_secs(5);

/// A block device or regular file, by io_uring and direct I/O.
///
/// It may be opened in one thread and used in another, but from the first I/O on by one only.
/// A trim holds what comes after it up, unless the drive takes long for it. The clock is
/// CLOCK_MONOTONIC, read once before each system call that hands I/Os over and once after the one
/// that collects them: all I/Os of one call share the readings. A wait is cut into pieces of 100 ms;
/// once a second somebody looks whether the drive is still there.
pub struct UringDevice {
    info: DeviceInfo,
    path: PathBuf,
    file: File,
    /// Stands guard over a device that may be written; none over one that is only read.
    sentry: Option<Arc<Sentry>>,
    /// Whether anything was written, or is about to be: the sentry has been asked.
    wrote: Arc<AtomicBool>,
    /// What was asked for, for the sentry.
    asked: Arc<Asked>,
    ring: Ring,
    seed: u64,
    content: ContentStream,
    /// For stamped blocks, if there are any.
    stamper: Option<Stamper>,
    /// Slots whose reads have brought blocks that are to be looked at.
    looks: Vec<usize>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// Slots queued since the last system call, oldest first.
    queued: Vec<usize>,
    calls: Calls,
    /// Calls that are done and not yet reaped.
    answered: Vec<Completion>,
    gauges: Gauges,
    /// Whether anything was submitted since the last telemetry.
    worked: bool,
    /// When an I/O was handed over last.
    handed_over: DeviceTime,
    pauses: Pauses,
    /// Lanes opened so far.
    lanes: u64,
    controller: Option<Controller>,
    asker: Option<Asker>,
    purging: StillRunning,
    /// What `file` is opened through, if that is no longer the drive itself. Last: whatever has the
    /// mapping open is dropped before it.
    encryption: Option<Encrypted>,
}

/// An I/O in flight.
#[derive(Debug, Clone, Copy)]
struct Slot {
    io: Io,
    submitted: DeviceTime,
}

impl UringDevice {
    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len() + self.calls.waiting() + self.answered.len()
    }

    /// A write that is flushed, and every durable one of a log: as databases do it.
    fn is_by_threads(&self, durability: Durability) -> bool {
        match durability {
            Durability::Later => false,
            Durability::Forced => self.calls.are_of_a_log(),
            Durability::Flushed => true,
        }
    }

    fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    /// Before the first write: asks who uses the drive by now.
    fn ask_the_sentry(&mut self) -> Result<(), DeviceError> {
        let Some(sentry) = self.sentry.as_ref().filter(|_| !self.wrote.load(Ordering::Relaxed))
        else {
            return Ok(());
        };
        let found = sentry.ask_again();
        // That was this program's own time.
        self.pauses.forget();
        self.wrote.store(found.is_empty(), Ordering::Relaxed);
        self.in_use_unless_empty(&found)
    }

    /// Whether somebody else has begun to write to it.
    fn look_for_intruders(&self) -> Result<(), DeviceError> {
        let mut found = self.sentry.as_ref().map(|sentry| sentry.intruders()).unwrap_or_default();
        found.extend(self.encryption.iter().flat_map(Encrypted::intruders));
        self.in_use_unless_empty(&found)
    }

    /// Once a second: whether anybody else writes, or may.
    fn let_the_sentry_compare(&self, io: Option<IoCounts>) {
        match (&self.sentry, io, self.info.kind) {
            (Some(sentry), Some(io), _) => sentry.compare(io),
            (Some(sentry), None, DeviceKind::File) => sentry.look_at(&self.file),
            _ => {}
        }
    }

    fn in_use_unless_empty(&self, found: &[Refusal]) -> Result<(), DeviceError> {
        if found.is_empty() {
            return Ok(());
        }
        let by: Vec<String> = found.iter().map(Refusal::to_string).collect();
        Err(DeviceError::InUse {
            path: self.path.clone(),
            by: by.join("; "),
            wrote: self.wrote.load(Ordering::Relaxed),
        })
    }

    /// Gives an I/O a slot, fills its buffer, and puts it in the queue.
    fn queue(&mut self, io: &Io) {
        let Some(slot) = self.free.pop() else {
            unreachable!("submit has counted the free slots");
        };
        if io.operation == Operation::Write {
            let buffer = &mut self.ring.buffer(slot)[..io.length.0 as usize];
            match (io.stamp, &self.stamper) {
                (Some(pass), Some(stamper)) => stamper.fill(io.offset, pass, buffer),
                _ => self.content.fill(io, buffer),
            }
        }
        self.ring.queue(slot, io);
        self.slots[slot].io = *io;
        self.queued.push(slot);
    }

    /// Hands over what is queued and waits for the first completion, until `until` at most. Gives
    /// the time right after that.
    fn enter(&mut self, until: DeviceTime) -> Result<DeviceTime, DeviceError> {
        let now = self.now();
        match self.ring.has_completed() {
            true => self.entering(now, Nanos::ZERO),
            false => self.entering(now, clock::patience(until.since(now))),
        }
    }

    /// Hands over what is queued, without waiting. Gives the time right after that.
    fn hand_over(&mut self) -> Result<DeviceTime, DeviceError> {
        self.entering(self.now(), Nanos::ZERO)
    }

    /// One system call, now: hands over what is queued, and waits so long for a completion.
    fn entering(&mut self, now: DeviceTime, patience: Nanos) -> Result<DeviceTime, DeviceError> {
        self.pauses.enters(now);
        let entered = match patience {
            Nanos::ZERO => self.ring.hand_over(),
            patience => self.ring.hand_over_and_wait(patience),
        };
        let left = self.now();
        self.pauses.leaves(now, patience, left, self.in_flight() > 0);
        let count =
            entered.map_err(|error| self.lost("handing over and waiting for I/Os", error))?;
        for slot in self.queued.drain(..count as usize) {
            self.slots[slot].submitted = now;
            self.handed_over = now;
        }
        Ok(left)
    }

    /// Waits for the first completion or the first answer to a call, until `until` at most.
    fn wait(&mut self, until: DeviceTime) -> Result<DeviceTime, DeviceError> {
        if self.free.len() < self.slots.len() {
            let completed = self.enter(until)?;
            self.collect_answers(Duration::ZERO)?;
            return Ok(completed);
        }
        let patience = clock::patience(until.since(self.now()));
        self.collect_answers(Duration::from_nanos(patience.0))?;
        self.pauses.forget();
        Ok(self.now())
    }

    /// Takes over every completion that has come.
    fn collect(
        &mut self,
        completed: DeviceTime,
        done: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        let (mut lost, mut failed, mut full) = (None, false, None);
        let (slots, free, looks) = (&self.slots, &mut self.free, &mut self.looks);
        self.ring.drain(|slot, result| {
            let Slot { io, submitted } = slots[slot];
            let status = status_of(&io, result);
            lost = lost.or(device_lost(status));
            full = full.or(no_space(status));
            failed |= status != Status::Done;
            if io.stamp.is_some() && io.operation == Operation::Read && status == Status::Done {
                looks.push(slot);
            }
            free.push(slot);
            done.push(Completion { io, submitted, completed, status });
        });
        if free.len() == slots.len() {
            self.pauses.forget();
        }
        self.look();
        if failed {
            self.check_presence()?;
        }
        if let Some(errno) = full {
            let (address, kind) = (self.info.address.clone(), self.info.kind);
            return Err(DeviceError::NoSpace { address, kind, source: errno.into() });
        }
        match lost {
            Some(errno) => Err(self.lost("an I/O", errno.into())),
            None => Ok(()),
        }
    }

    /// Looks at what reads have brought, before their slots are used again.
    fn look(&mut self) {
        let Some(stamper) = &mut self.stamper else { return };
        for slot in self.looks.drain(..) {
            let io = &self.slots[slot].io;
            stamper.look(io.offset, &self.ring.buffer(slot)[..io.length.0 as usize]);
        }
    }

    /// Trims, after what is queued before it has been handed over, and waits for it a while.
    fn trim(&mut self, io: &Io) -> Result<(), DeviceError> {
        if !self.queued.is_empty() {
            // What completes here is left where it is: the next reap collects it.
            self.hand_over()?;
        }
        self.handed_over = self.now();
        if self.encryption.as_ref().is_some_and(|with| !with.passes_trims) {
            let (submitted, status) = (self.handed_over, Status::Done);
            self.answered.push(Completion { io: *io, submitted, completed: submitted, status });
            return Ok(());
        }
        if !self.info.trim {
            let (submitted, status) =
                (self.handed_over, Status::Failed(Errno::OPNOTSUPP.raw_os_error()));
            self.answered.push(Completion { io: *io, submitted, completed: submitted, status });
            return Ok(());
        }
        self.call(io)?;
        self.collect_answers(TRIM_PATIENCE)
    }

    /// Hands a trim or a flush to the thread that waits for its answer.
    fn call(&mut self, io: &Io) -> Result<(), DeviceError> {
        self.handed_over = self.now();
        let begun = self.calls.submit(&self.file, self.info.kind, *io);
        begun.map_err(|error| self.lost("beginning a trim or flush", error))
    }

    /// Hands a write to a thread that writes and flushes, and waits for its answer.
    fn write_flushed(&mut self, io: &Io) -> Result<(), DeviceError> {
        if !self.queued.is_empty() {
            self.hand_over()?;
        }
        self.handed_over = self.now();
        let Self { calls, file, info, content, stamper, .. } = self;
        let begun =
            calls.submit_write(file, info.kind, *io, None, |buffer| match (io.stamp, stamper) {
                (Some(pass), Some(stamper)) => stamper.fill(io.offset, pass, buffer),
                _ => content.fill(io, buffer),
            });
        begun.map_err(|error| self.lost("beginning a write that is flushed", error))
    }

    /// Takes over the calls that are answered; waits for the first if there is none.
    fn collect_answers(&mut self, patience: Duration) -> Result<(), DeviceError> {
        let mut patience = patience;
        while let Some(Answered { io, submitted, completed, result }) = self.calls.next(patience) {
            patience = Duration::ZERO;
            self.pauses.forget();
            if result.is_err() {
                self.check_presence()?;
            }
            let status = result.map_or_else(|error| failed(&error), |()| Status::Done);
            if let Some(errno) = device_lost(status) {
                return Err(self.lost("a trim or flush", errno.into()));
            }
            self.answered.push(Completion { io, submitted, completed, status });
        }
        Ok(())
    }

    /// A step with the file that only a broken system fails.
    fn stepping<T>(
        &self,
        doing: &'static str,
        step: impl FnOnce(&File) -> io::Result<T>,
    ) -> Result<T, DeviceError> {
        step(&self.file).map_err(|error| self.lost(doing, error))
    }

    /// # Errors
    /// If the drive is no longer there, or not what it was.
    fn check_presence(&self) -> Result<(), DeviceError> {
        self.gauges.presence.missing(&self.file).map_or(Ok(()), |loss| Err(self.unusable(loss)))
    }

    fn unusable(&self, loss: Loss) -> DeviceError {
        let address = self.info.address.clone();
        match loss {
            Loss::Gone(evidence) => DeviceError::Gone { address, evidence },
            Loss::Resized { was, now } => DeviceError::Resized { address, was, now },
            Loss::WriteProtected => DeviceError::WriteProtected { address },
        }
    }

    fn lost(&self, doing: &'static str, source: io::Error) -> DeviceError {
        DeviceError::System { path: self.path.clone(), doing, source }
    }
}

impl Drop for UringDevice {
    /// Waits, but not for ever, for what is in flight: a write that lands after its run has ended
    /// could hit the drive's next user. Whoever has waited before needs not do so again.
    fn drop(&mut self) {
        self.calls.give_up();
        let (until, mut done) = (self.handed_over + LAST_WAIT, Vec::new());
        while self.in_flight() > 0 && self.now() < until {
            if self.reap(until, &mut done).is_err() {
                break;
            }
        }
        if self.in_flight() > 0 {
            self.gauges.lanes.close(self.in_flight_since(DeviceTime::MAX));
        }
    }
}

impl fmt::Debug for UringDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UringDevice")
            .field("address", &self.info.address)
            .field("writable", &self.sentry.is_some())
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

impl Device for UringDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        clock::now()
    }

    /// # Panics
    /// Also if the device was opened to be read only and the batch holds a write or a trim.
    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|io| self.info.check(io))?;
        assert!(
            self.in_flight() + batch.len() <= self.info.queue_depth_max,
            "{} I/Os in flight and {} more exceed the queue depth of {}",
            self.in_flight(),
            batch.len(),
            self.info.queue_depth_max
        );
        self.worked |= !batch.is_empty();
        for io in batch {
            // A flush changes nothing, and the kernel takes it on any descriptor.
            let changes = matches!(io.operation, Operation::Write | Operation::Trim);
            assert!(
                self.sentry.is_some() || !changes,
                "{io:?} on {}, which was opened to be read only",
                self.info.address
            );
            if changes {
                self.ask_the_sentry()?;
                self.asked.note(io);
            }
            match io.operation {
                Operation::Trim => self.trim(io)?,
                // By itself it is timed in a thread of its own, and not by the ring's workers.
                Operation::Flush if self.ring.is_polled() || self.is_idle() => self.call(io)?,
                Operation::Write if self.is_by_threads(io.durability) => {
                    self.write_flushed(io)?;
                }
                Operation::Read | Operation::Write | Operation::Flush => self.queue(io),
            }
            if self.queued.len() == HAND_OVER {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let had = done.len();
        self.collect_answers(Duration::ZERO)?;
        done.append(&mut self.answered);
        let wait_until = match done.len() > had {
            true => DeviceTime(0),
            false => until,
        };
        self.look_for_intruders()?;
        while self.in_flight() > 0 {
            let completed = self.wait(wait_until)?;
            self.collect(completed, done)?;
            if !self.answered.is_empty() {
                done.append(&mut self.answered);
                done[had..].sort_by_key(|completion| completion.completed);
            }
            if let Some(loss) = self.gauges.presence.look_sometimes(&self.file, completed) {
                return Err(self.unusable(loss));
            }
            if done.len() > had || completed >= until {
                return Ok(());
            }
        }
        if done.len() == had {
            self.pauses.forget();
            clock::sleep_until(until);
        }
        Ok(())
    }

    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.in_flight() == 0, "a purge with I/Os in flight");
        assert!(self.encryption.is_none(), "a purge through software encryption");
        if !self.info.purges.contains(&how) {
            return Err(DeviceError::PurgeUnsupported {
                address: self.info.address.clone(),
                how,
                supported: self.info.purges.clone(),
            });
        }
        self.purge_and_read_back(how, watch)
    }

    fn encrypt(&mut self, with: Option<&Encryption>) -> Result<(), DeviceError> {
        assert!(self.in_flight() == 0, "encryption is changed with I/Os in flight");
        self.gauges.count_processors();
        self.unmap()?;
        with.map_or(Ok(()), |with| self.map(with))
    }

    /// What the system counts, for the calling thread, and the drive's temperature while it works,
    /// as it told it last: within the last second on NVMe, within ten on SATA.
    fn telemetry(&mut self) -> Telemetry {
        let worked = std::mem::take(&mut self.worked) || self.in_flight() > 0;
        let worked = self.gauges.lanes.worked(worked);
        let io = self.gauges.io_counts();
        self.let_the_sentry_compare(io);
        Telemetry {
            temperature: self.gauges.temperature(self.now(), worked),
            host: Some(self.gauges.counters(io, self.pauses.sum(), self.ring.asked_in_vain())),
            processor: self.gauges.processor_time(),
            ..Telemetry::default()
        }
    }

    fn full_telemetry(&mut self) -> Telemetry {
        let telemetry = self.telemetry();
        let full = match &mut self.asker {
            Some(asker) => asker.complete(telemetry),
            None => telemetry,
        };
        // That was a question's time, not a pause of this thread.
        self.pauses.forget();
        full
    }

    /// What is durable is written by a thread for each committer, which finds its next write waiting.
    fn prepare_log(
        &mut self,
        log: LogWrites,
        _watch: PrepareWatch<'_>,
    ) -> Result<Option<usize>, DeviceError> {
        self.calls.write_by(log.committers);
        let in_flight = match log.durability {
            Durability::Forced | Durability::Flushed => in_flight(log.committers),
            Durability::Later => log.committers,
        };
        Ok(Some(in_flight.min(self.info.queue_depth_max)))
    }

    fn stamp(&mut self, stamping: Stamping) -> bool {
        self.stamper = Some(Stamper::new(stamping));
        true
    }

    fn take_held(&mut self, held: &mut Vec<Held>) {
        if let Some(stamper) = &mut self.stamper {
            stamper.take(held);
        }
    }

    fn in_flight_since(&self, before: DeviceTime) -> Vec<InFlight> {
        let handed_over = |slot: &usize| self.ring.is_busy(*slot) && !self.queued.contains(slot);
        let in_flight = (0..self.slots.len()).filter(handed_over).map(|slot| self.slots[slot]);
        let in_flight = in_flight.map(|Slot { io, submitted }| InFlight { io, submitted });
        let owed = self.gauges.lanes.owed();
        let all = in_flight.chain(self.calls.under_way()).chain(owed);
        let mut found: Vec<InFlight> = all.filter(|waits| waits.submitted < before).collect();
        found.sort_by_key(|waits| waits.submitted);
        found
    }

    /// None of a drive that is encrypted, whose blocks are looked at, or to which a log is written: by as
    /// many threads as there are committers, and no more.
    fn lanes(&mut self) -> Option<&mut dyn Lanes> {
        let is_plain =
            self.encryption.is_none() && self.stamper.is_none() && !self.calls.are_of_a_log();
        is_plain.then_some(self as &mut dyn Lanes)
    }

    fn held_by_system(&self) -> Option<String> {
        let mut held = Vec::new();
        match self.in_flight_since(DeviceTime::MAX).len() {
            0 => {}
            1 => held.push("1 I/O".to_owned()),
            count => held.push(format!("{count} I/Os")),
        }
        if self.purging.get() {
            held.push("a purge".to_owned());
        }
        if self.asker.as_ref().is_some_and(Asker::is_unanswered) {
            held.push("a question for the drive's counters".to_owned());
        }
        if self.gauges.is_unanswered() {
            held.push("a question for the drive's temperature".to_owned());
        }
        (!held.is_empty()).then(|| held.join(" and "))
    }
}

/// What a completion's result says of its I/O; a transfer cut short has failed.
fn status_of(io: &Io, result: i32) -> Status {
    if result < 0 {
        return Status::Failed(-result);
    }
    let whole = match io.operation {
        Operation::Read | Operation::Write => result as u64 == io.length.0,
        Operation::Trim | Operation::Flush => true,
    };
    match whole {
        true => Status::Done,
        false => Status::Failed(Errno::IO.raw_os_error()),
    }
}

fn failed(error: &io::Error) -> Status {
    Status::Failed(error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()))
}

/// The error that says that what is below has no room, if this is one: no later write will do better.
fn no_space(status: Status) -> Option<Errno> {
    let Status::Failed(number) = status else { return None };
    let errno = Errno::from_raw_os_error(number);
    [Errno::NOSPC, Errno::DQUOT].contains(&errno).then_some(errno)
}

/// The error that says that the whole device is gone, if this is one.
fn device_lost(status: Status) -> Option<Errno> {
    let Status::Failed(number) = status else {
        return None;
    };
    let errno = Errno::from_raw_os_error(number);
    [Errno::NODEV, Errno::NXIO, Errno::SHUTDOWN, Errno::BADF].contains(&errno).then_some(errno)
}
