//! A block device or file as a [`Device`]: slots, buffers, the clock, purge.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Encryption, Held,
    InFlight, Io, Lanes, Nanos, Operation, Purge, PurgeOutcome, PurgeWatch, Specification,
    Stamping, Status, Telemetry, split_mix,
};

use crate::beside::{StillRunning, Unfinished};
use crate::clock;
use crate::content::ContentStream;
use crate::discard;
use crate::encryption::{self, Encrypted};
use crate::firmware_purge;
use crate::gauges::Gauges;
use crate::identify::Identity;
use crate::lanes;
use crate::own::Own;
use crate::own_counters::Asker;
use crate::pauses::Pauses;
use crate::ring::{Ring, RingError};
use crate::sentry::Sentry;
use crate::stamper::Stamper;
use crate::sysfs::Host;
use crate::trims::{Trimmed, Trims};
use crate::{OpenError, Refusal};

/// More than any drive's queue, and few enough to register a buffer for each.
pub const QUEUE_DEPTH_MAX: usize = 4096;
/// As long as one registered buffer sensibly gets.
const IO_SIZE_MAX: Bytes = Bytes::from_mib(64);
/// So many I/Os go to the kernel in one call while a batch is still being filled, the rest with the
/// next reap. The device works on the first while the last are made: on a loop device in memory at
/// queue depth 32 that gave 308 K IOPS, against 204 K with the whole batch at once and 250 K with
/// single I/Os.
const HAND_OVER: usize = 4;
/// Places that are read back after a purge.
const PURGE_SAMPLES: u64 = 64;

/// So long a trim keeps what comes after it waiting, as it does in the kernel; from then on it is one
/// more I/O in flight.
const TRIM_PATIENCE: Duration = Duration::from_millis(100);

/// So often the watcher is asked while a place is read back after a purge.
const READ_BACK_WATCH: Nanos = Nanos::from_millis(100);

/// How long after the last I/O was handed over a dropped device waits for those still in flight.
const LAST_WAIT: Nanos = Nanos::from_secs(5);

/// How to drive a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The most I/Os in flight.
    pub queue_depth: usize,
    /// The longest I/O; a multiple of the device's LBA size.
    pub io_size_max: Bytes,
    /// What the written data is made from.
    pub seed: u64,
    /// The only purge to be offered; `None` for what the drive has, but for those that are only done
    /// if they are asked for by name.
    pub purge: Option<Purge>,
}

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
    trims: Trims,
    /// Trims that are done and not yet reaped.
    trimmed: Vec<Completion>,
    gauges: Gauges,
    /// Whether anything was submitted since the last telemetry.
    worked: bool,
    /// When an I/O was handed over last.
    handed_over: DeviceTime,
    pauses: Pauses,
    /// Lanes opened so far.
    lanes: u64,
    own: Option<Own>,
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
    /// A device that can only be read.
    pub(crate) fn read_only(
        file: File,
        identity: &Identity,
        gauges: Gauges,
        options: &Options,
        own: Option<Own>,
    ) -> Result<Self, OpenError> {
        Self::new(file, identity, gauges, options, own, None)
    }

    /// A device whose data may be destroyed: the guard and the consent have been passed.
    pub(crate) fn writable(
        file: File,
        identity: &Identity,
        gauges: Gauges,
        options: &Options,
        own: Option<Own>,
        sentry: Sentry,
    ) -> Result<Self, OpenError> {
        Self::new(file, identity, gauges, options, own, Some(sentry))
    }

    fn new(
        file: File,
        identity: &Identity,
        mut gauges: Gauges,
        options: &Options,
        own: Option<Own>,
        sentry: Option<Sentry>,
    ) -> Result<Self, OpenError> {
        check_options(identity, options)?;
        let by_system = if sentry.is_some() { by_system(&file, identity) } else { None };
        let purges = match &sentry {
            Some(_) => purges(identity, by_system, own.as_ref(), options.purge)?,
            None => Vec::new(),
        };
        let depth = options.queue_depth;
        let ring = Ring::new(&file, depth, options.io_size_max.0 as usize)
            .map_err(|error| ring_error(error, identity, options))?;
        gauges.presence.note_size(&file);
        let info = DeviceInfo {
            temperature_limit: gauges.temperature_limit(),
            link: own.as_ref().and_then(|own| own.facts.link),
            trim: by_system.is_some(),
            ..describe(identity, options, purges)
        };
        let mut device =
            Self::idle(info, identity.path.clone(), file, (ring, options.seed), gauges);
        device.sentry = sentry.map(Arc::new);
        device.asker = own.as_ref().and_then(|own| Asker::of(own.port.again().ok()?));
        device.own = own;
        Ok(device)
    }

    /// One that nobody guards, with nothing in flight.
    fn idle(
        info: DeviceInfo,
        path: PathBuf,
        file: File,
        (ring, seed): (Ring, u64),
        gauges: Gauges,
    ) -> Self {
        let depth = info.queue_depth_max;
        Self {
            info,
            path,
            file,
            sentry: None,
            wrote: Arc::default(),
            ring,
            seed,
            content: ContentStream::new(seed),
            stamper: None,
            looks: Vec::new(),
            slots: vec![Slot { io: Io::flush(), submitted: DeviceTime(0) }; depth],
            free: (0..depth).rev().collect(),
            queued: Vec::with_capacity(depth),
            trims: Trims::default(),
            trimmed: Vec::new(),
            gauges,
            worked: false,
            handed_over: DeviceTime(0),
            pauses: Pauses::default(),
            lanes: 0,
            own: None,
            asker: None,
            purging: StillRunning::default(),
            encryption: None,
        }
    }

    pub(crate) fn hardware_queues(&self) -> usize {
        self.gauges.hardware_queues
    }

    /// A device on the same open file, for one more thread.
    pub(crate) fn lane(&mut self, queue_depth: usize) -> Result<Self, DeviceError> {
        let file = self.stepping("opening a way into it for one more thread", File::try_clone)?;
        let ring = Ring::new(&file, queue_depth, self.info.io_size_max.0 as usize)
            .map_err(|error| self.lost("preparing buffers for one more thread", error.into()))?;
        self.lanes += 1;
        let seed = lanes::seed(self.seed, self.lanes);
        let (info, path) = (lanes::info(&self.info, queue_depth), self.path.clone());
        let mut lane = Self::idle(info, path, file, (ring, seed), self.gauges.of_lane());
        (lane.sentry, lane.wrote) = (self.sentry.clone(), Arc::clone(&self.wrote));
        Ok(lane)
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len() + self.trims.waiting().len() + self.trimmed.len()
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
    /// the time right after the last system call: what has completed when the I/Os are handed over
    /// needs no further one.
    fn enter(&mut self, until: DeviceTime) -> Result<DeviceTime, DeviceError> {
        let handed_over = self.hand_over()?;
        let patience = clock::patience(until.since(handed_over));
        if patience == Nanos::ZERO || self.ring.has_completed() {
            return Ok(handed_over);
        }
        self.pauses.enters(handed_over);
        let waited = self.ring.wait(patience);
        let completed = self.now();
        self.pauses.leaves(handed_over, patience, completed, self.in_flight() > 0);
        waited.map_err(|error| self.lost("waiting for I/Os", error))?;
        Ok(completed)
    }

    /// One system call: hands over what is queued. Gives the time right after it.
    fn hand_over(&mut self) -> Result<DeviceTime, DeviceError> {
        let submitted = self.now();
        self.pauses.enters(submitted);
        let entered = self.ring.hand_over();
        let handed_over = self.now();
        self.pauses.leaves(submitted, Nanos::ZERO, handed_over, self.in_flight() > 0);
        let count = entered.map_err(|error| self.lost("submitting I/Os", error))?;
        for slot in self.queued.drain(..count as usize) {
            self.slots[slot].submitted = submitted;
            self.handed_over = submitted;
        }
        Ok(handed_over)
    }

    /// Waits for the first completion or the first answer to a trim, until `until` at most.
    fn wait(&mut self, until: DeviceTime) -> Result<DeviceTime, DeviceError> {
        if self.free.len() < self.slots.len() {
            let completed = self.enter(until)?;
            self.collect_trims(Duration::ZERO)?;
            return Ok(completed);
        }
        let patience = clock::patience(until.since(self.now()));
        self.collect_trims(Duration::from_nanos(patience.0))?;
        self.pauses.forget();
        Ok(self.now())
    }

    /// Takes over every completion that has come.
    fn collect(
        &mut self,
        completed: DeviceTime,
        done: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        let (mut lost, mut failed) = (None, false);
        let (slots, free, looks) = (&self.slots, &mut self.free, &mut self.looks);
        self.ring.drain(|slot, result| {
            let Slot { io, submitted } = slots[slot];
            let status = status_of(&io, result);
            lost = lost.or(device_lost(status));
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
            self.trimmed.push(Completion { io: *io, submitted, completed: submitted, status });
            return Ok(());
        }
        if !self.info.trim {
            let (submitted, status) =
                (self.handed_over, Status::Failed(Errno::OPNOTSUPP.raw_os_error()));
            self.trimmed.push(Completion { io: *io, submitted, completed: submitted, status });
            return Ok(());
        }
        let begun = self.trims.submit(&self.file, self.info.kind, *io);
        begun.map_err(|error| self.lost("beginning a trim", error))?;
        self.collect_trims(TRIM_PATIENCE)
    }

    /// Takes over the trims that are answered; waits for the first if there is none.
    fn collect_trims(&mut self, patience: Duration) -> Result<(), DeviceError> {
        let mut patience = patience;
        while let Some(Trimmed { io, submitted, completed, result }) = self.trims.next(patience) {
            patience = Duration::ZERO;
            self.pauses.forget();
            if result.is_err() {
                self.check_presence()?;
            }
            let status = result.map_or_else(|error| failed(&error), |()| Status::Done);
            if let Some(errno) = device_lost(status) {
                return Err(self.lost("a trim", errno.into()));
            }
            self.trimmed.push(Completion { io, submitted, completed, status });
        }
        Ok(())
    }

    /// Reads evenly spread places: of each what its data hash to, `None` where there are none (every
    /// byte the same) or where it cannot be read.
    fn sample(&mut self, how: Purge, watch: PurgeWatch<'_>) -> Result<Vec<Sampled>, DeviceError> {
        let length = self.info.lba_size.0;
        let blocks = self.info.capacity.0 / length;
        let count = blocks.min(PURGE_SAMPLES);
        let place = |index| {
            let (first, next) = (blocks * index / count, blocks * (index + 1) / count);
            Bytes((first + split_mix(index) % (next - first)) * length)
        };
        let ios = (0..count).map(|index| Io::read(place(index), self.info.lba_size));
        ios.collect::<Vec<_>>().iter().map(|io| self.held_at(io, how, watch)).collect()
    }

    /// What a place holds. Read by the ring, so that the watcher can break off what the drive does not
    /// answer.
    fn held_at(
        &mut self,
        io: &Io,
        how: Purge,
        watch: PurgeWatch<'_>,
    ) -> Result<Sampled, DeviceError> {
        let slot = self.free.last().copied().unwrap_or(0);
        self.queue(io);
        let mut done = Vec::new();
        loop {
            self.reap(self.now() + READ_BACK_WATCH, &mut done)?;
            match done.pop().map(|completion| completion.status) {
                Some(Status::Done) => break,
                Some(Status::Failed(errno)) => {
                    return Ok(Sampled::Unreadable(io::Error::from_raw_os_error(errno)));
                }
                None if watch(1.0).is_break() => {
                    return Err(self.unfinished(how, Unfinished::Stopped { goes_on: false }));
                }
                None => {}
            }
        }
        let buffer = &self.ring.buffer(slot)[..io.length.0 as usize];
        Ok(match buffer.iter().all(|&byte| byte == buffer[0]) {
            true => Sampled::Nothing,
            false => Sampled::Data(hash(buffer)),
        })
    }

    /// Puts a mapping that encrypts between the ring and the drive. Where none can be made, all is as
    /// before.
    fn map(&mut self, with: &Encryption) -> Result<(), DeviceError> {
        if self.info.kind != DeviceKind::BlockDevice || self.sentry.is_none() {
            return Err(self.info.no_encryption());
        }
        let address = self.info.address.clone();
        let host = Host::this_machine();
        if let Some(why) = Encrypted::missing(&host) {
            return Err(DeviceError::NoEncryption { address, why });
        }
        let drive =
            self.stepping("giving its claim to an encryption", encryption::without_claim)?;
        let own = self.stepping("giving its claim to an encryption", |_| drive.try_clone())?;
        drop(self.exchange(own)?);
        self.stepping("locking it", encryption::lock_patiently)?;
        match Encrypted::over(&host, drive, with) {
            Ok((encrypted, file)) => {
                drop(self.exchange(file)?);
                self.encryption = Some(encrypted);
                self.ask_once_more()
            }
            Err((error, drive)) => {
                self.claim(drive)?;
                let why = format!("the kernel made no dm-crypt mapping of it ({error})");
                Err(DeviceError::NoEncryption { address, why })
            }
        }
    }

    /// Takes the mapping away, if there is one.
    fn unmap(&mut self) -> Result<(), DeviceError> {
        let Some(encrypted) = self.encryption.take() else { return Ok(()) };
        let drive = self.stepping("closing its encryption", |_| encrypted.drive().try_clone())?;
        drop(self.exchange(drive)?);
        self.claim(encrypted.removed())
    }

    /// Claims the drive again, which is open without a claim.
    fn claim(&mut self, drive: File) -> Result<(), DeviceError> {
        let claimed = self.stepping("claiming it again", |_| encryption::with_claim(&drive))?;
        drop(self.exchange(claimed)?);
        drop(drive);
        self.stepping("locking it", encryption::lock_patiently)?;
        self.ask_once_more()
    }

    /// Has the ring, and everybody else, use another descriptor; gives the one that was used.
    fn exchange(&mut self, file: File) -> Result<File, DeviceError> {
        self.trims = Trims::default();
        let exchanged = self.ring.exchange(&file);
        exchanged.map_err(|error| self.lost("giving the ring another file", error))?;
        Ok(std::mem::replace(&mut self.file, file))
    }

    /// Who came in while the claim changed hands is found here.
    fn ask_once_more(&mut self) -> Result<(), DeviceError> {
        let found = self.sentry.as_ref().map(|sentry| sentry.ask_again()).unwrap_or_default();
        self.pauses.forget();
        self.in_use_unless_empty(&found)
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
    /// [`DeviceError::Gone`] if the drive is no longer there.
    fn check_presence(&self) -> Result<(), DeviceError> {
        self.gauges.presence.missing(&self.file).map_or(Ok(()), |evidence| self.gone(evidence))
    }

    fn gone(&self, evidence: String) -> Result<(), DeviceError> {
        Err(DeviceError::Gone { address: self.info.address.clone(), evidence })
    }

    /// What became of a purge that did not come to its end.
    fn unfinished(&self, how: Purge, unfinished: Unfinished) -> DeviceError {
        match self.check_presence() {
            Err(gone) => gone,
            Ok(()) => unfinished.told(self.info.address.clone(), how),
        }
    }

    /// Erases everything, while intruders are looked for.
    fn erase(&self, how: Purge, watch: PurgeWatch<'_>) -> Result<(), Unfinished> {
        let watch = &mut |share| match self.look_for_intruders() {
            Ok(()) => watch(share),
            Err(_) => ControlFlow::Break(()),
        };
        let DeviceInfo { kind, capacity, .. } = self.info;
        match (&self.own, how) {
            (Some(own), how) if how.is_the_drives_own() => {
                let time = firmware_purge::offer(&own.facts, how).ok().and_then(|offer| offer.time);
                let port = own.port.again().map_err(Unfinished::Refused)?;
                firmware_purge::all(port, how, time, &self.purging, watch)
            }
            _ => discard::all(&self.file, kind, capacity, &self.purging, watch),
        }
    }

    /// What places held before the purge and hold now. One that returns what it held has not been
    /// erased; after a new key, or on a drive whose trimmed LBAs are anything, others may return
    /// what nobody wrote.
    fn read_back(
        &self,
        how: Purge,
        before: &[Sampled],
        after: Vec<Sampled>,
    ) -> Result<PurgeOutcome, DeviceError> {
        let sampled = after.len() as u32;
        let mut still_readable = 0;
        for (before, after) in before.iter().zip(after) {
            match (before, after) {
                (Sampled::Data(before), Sampled::Data(after)) => {
                    still_readable += u32::from(*before == after);
                }
                (_, Sampled::Unreadable(error)) => {
                    return Err(self.lost("reading back after the purge", error));
                }
                _ => {}
            }
        }
        Ok(PurgeOutcome { how, sampled, still_readable })
    }

    fn lost(&self, doing: &'static str, source: io::Error) -> DeviceError {
        DeviceError::System { path: self.path.clone(), doing, source }
    }
}

impl Drop for UringDevice {
    /// Waits, but not for ever, for what is in flight: a write that lands after its run has ended
    /// could hit the drive's next user. Whoever has waited before needs not do so again.
    fn drop(&mut self) {
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
            }
            match io.operation {
                Operation::Trim => self.trim(io)?,
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
        self.collect_trims(Duration::ZERO)?;
        done.append(&mut self.trimmed);
        let wait_until = match done.len() > had {
            true => DeviceTime(0),
            false => until,
        };
        self.look_for_intruders()?;
        while self.in_flight() > 0 {
            let completed = self.wait(wait_until)?;
            self.collect(completed, done)?;
            if !self.trimmed.is_empty() {
                done.append(&mut self.trimmed);
                done[had..].sort_by_key(|completion| completion.completed);
            }
            if let Some(evidence) = self.gauges.presence.look_sometimes(&self.file, completed) {
                return self.gone(evidence);
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

    fn purge(&mut self, how: Purge, watch: PurgeWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.in_flight() == 0, "a purge with I/Os in flight");
        assert!(self.encryption.is_none(), "a purge through software encryption");
        if !self.info.purges.contains(&how) {
            return Err(DeviceError::PurgeUnsupported {
                address: self.info.address.clone(),
                how,
                supported: self.info.purges.clone(),
            });
        }
        let before = self.sample(how, watch)?;
        self.ask_the_sentry()?;
        let ended = self.erase(how, watch);
        self.look_for_intruders()?;
        ended.map_err(|unfinished| self.unfinished(how, unfinished))?;
        let after = self.sample(how, watch)?;
        self.read_back(how, &before, after)
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
        Telemetry {
            temperature: self.gauges.temperature(self.now(), worked),
            host: Some(self.gauges.counters(self.pauses.sum())),
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
        let all = in_flight.chain(self.trims.waiting().copied()).chain(owed);
        let mut found: Vec<InFlight> = all.filter(|waits| waits.submitted < before).collect();
        found.sort_by_key(|waits| waits.submitted);
        found
    }

    /// None of a drive that is encrypted, or whose blocks are looked at.
    fn lanes(&mut self) -> Option<&mut dyn Lanes> {
        let is_plain = self.encryption.is_none() && self.stamper.is_none();
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

/// The error that says that the whole device is gone, if this is one.
fn device_lost(status: Status) -> Option<Errno> {
    let Status::Failed(number) = status else {
        return None;
    };
    let errno = Errno::from_raw_os_error(number);
    [Errno::NODEV, Errno::NXIO, Errno::SHUTDOWN, Errno::BADF].contains(&errno).then_some(errno)
}

/// What a place of a drive held when it was read.
enum Sampled {
    /// Every byte the same, zero mostly.
    Nothing,
    /// Something that hashes to this.
    Data(u64),
    Unreadable(io::Error),
}

/// FNV-1a: whether two places hold the same is all that is asked.
fn hash(data: &[u8]) -> u64 {
    data.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// What a drive can be opened as, at most.
pub(crate) fn outline(identity: &Identity, gauges: &Gauges) -> DeviceInfo {
    let purges = match identity.kind {
        DeviceKind::File => vec![Purge::HolePunch],
        _ if identity.discard_max > Bytes::ZERO => vec![Purge::Discard],
        _ => Vec::new(),
    };
    let most =
        Options { queue_depth: QUEUE_DEPTH_MAX, io_size_max: IO_SIZE_MAX, seed: 0, purge: None };
    let temperature_limit = gauges.temperature_limit();
    let trim = !purges.is_empty();
    DeviceInfo { temperature_limit, trim, ..describe(identity, &most, purges) }
}

/// The system's way to empty it, if that works here; what can be purged this way can be trimmed in
/// parts. Whether a filesystem can punch holes shows past the file's end, where there is nothing to
/// lose.
fn by_system(file: &File, identity: &Identity) -> Option<Purge> {
    let past_end = identity.capacity.0.next_multiple_of(1 << 20) + (1 << 20);
    match identity.kind {
        DeviceKind::File if discard::punch_hole(file, past_end, 4096).is_ok() => {
            Some(Purge::HolePunch)
        }
        DeviceKind::BlockDevice if identity.discard_max > Bytes::ZERO => Some(Purge::Discard),
        _ => None,
    }
}

/// The purges that a run may use, the best first: the one that was chosen, or the drive's own that
/// nothing is in the way of, and then the system's.
fn purges(
    identity: &Identity,
    by_system: Option<Purge>,
    own: Option<&Own>,
    chosen: Option<Purge>,
) -> Result<Vec<Purge>, OpenError> {
    let Some(how) = chosen else {
        let offers = own.map_or(&[][..], |own| &own.facts.purges).iter();
        let free = offers.filter(|offer| offer.hindrances.is_empty()).map(|offer| offer.kind);
        let usable = free.filter(|how| how.is_the_drives_own() && !how.is_by_name_only());
        return Ok(usable.chain(by_system).collect());
    };
    let why = match own {
        _ if by_system == Some(how) => return Ok(vec![how]),
        Some(own) if how.is_the_drives_own() => match firmware_purge::offer(&own.facts, how) {
            Ok(_) => return Ok(vec![how]),
            Err(why) => why,
        },
        _ if how.is_the_drives_own() => {
            "that is a command of a whole drive, which speaks NVMe or ATA and which only root may \
             give it"
                .to_owned()
        }
        _ => "the system has no such way for it".to_owned(),
    };
    Err(OpenError::NoPurge { path: identity.path.clone(), how, why })
}

fn describe(identity: &Identity, options: &Options, purges: Vec<Purge>) -> DeviceInfo {
    let address = identity.path.display().to_string();
    DeviceInfo {
        model: identity.model.clone().unwrap_or_else(|| address.clone()),
        address,
        kind: identity.kind,
        serial: identity.serial.clone(),
        world_wide_name: identity.world_wide_name.clone(),
        stands_on: identity.stands_on.clone(),
        firmware: identity.firmware.clone(),
        capacity: identity.capacity,
        lba_size: identity.lba_size,
        physical_block_size: identity.physical_block_size,
        io_size_max: options.io_size_max,
        queue_depth_max: options.queue_depth,
        rotational: identity.rotational,
        trim: false,
        purges,
        scheduler: identity.scheduler.clone(),
        link: None,
        temperature_limit: None,
        specification: Specification::default(),
        profile: None,
    }
}

fn check_options(identity: &Identity, options: &Options) -> Result<(), OpenError> {
    let unsuitable = |what, got, expected| OpenError::Options {
        path: identity.path.clone(),
        what,
        got,
        expected,
    };
    if !(1..=QUEUE_DEPTH_MAX).contains(&options.queue_depth) {
        let expected = format!("1 to {QUEUE_DEPTH_MAX}");
        return Err(unsuitable("queue depth", options.queue_depth as u64, expected));
    }
    let (longest, lba_size) = (options.io_size_max, identity.lba_size);
    if longest < lba_size || longest > IO_SIZE_MAX || !longest.is_multiple_of(lba_size) {
        let expected = format!("a multiple of {} up to {}", lba_size.exact(), IO_SIZE_MAX.exact());
        return Err(unsuitable("longest I/O", longest.0, expected));
    }
    Ok(())
}

fn ring_error(error: RingError, identity: &Identity, options: &Options) -> OpenError {
    let out_of_memory = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::NOMEM);
    match error {
        RingError::LockedMemory(source) if out_of_memory(&source) => OpenError::LockedMemory {
            needed: options.io_size_max * options.queue_depth as u64,
            source,
        },
        RingError::Unavailable(source) => OpenError::RingUnavailable { source },
        RingError::LockedMemory(source) | RingError::Memory(source) => OpenError::System {
            path: identity.path.clone(),
            doing: "preparing its buffers",
            source,
        },
    }
}
