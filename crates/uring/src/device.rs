//! A block device or file as a [`Device`]: slots, buffers, the clock, purge.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use rustix::io::Errno;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Nanos,
    Operation, Purge, PurgeOutcome, Specification, Status, Telemetry,
};

use crate::clock;
use crate::content::{ContentStream, split_mix};
use crate::gauges::Gauges;
use crate::identify::Identity;
use crate::ioctl;
use crate::ring::{Ring, RingError};
use crate::sentry::Sentry;
use crate::{OpenError, Refusal};

/// More than any drive's queue, and few enough to register a buffer for each.
pub const QUEUE_DEPTH_MAX: usize = 4096;
/// As long as one registered buffer sensibly gets.
const IO_SIZE_MAX: Bytes = Bytes::from_mib(64);
/// A discard goes out in parts of this size, so that a signal does not have to wait for all of it.
const DISCARD_PART: u64 = 16 << 30;
/// So many I/Os go to the kernel in one call while a batch is still being filled, the rest with the
/// next reap. The device works on the first while the last are made: on a loop device in memory at
/// queue depth 32 that gave 308 K IOPS, against 204 K with the whole batch at once and 250 K with
/// single I/Os.
const HAND_OVER: usize = 4;
/// Places that are read back after a purge.
const PURGE_SAMPLES: u64 = 64;

/// How long a dropped device waits for I/Os that are still in flight.
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
}

/// A block device or regular file, by io_uring and direct I/O.
///
/// It may be opened in one thread and used in another, but from the first I/O on by one only.
/// A trim runs inside [`submit`](Device::submit), in the calling thread. The clock is
/// CLOCK_MONOTONIC, read once before each system call that hands I/Os over and once after the one
/// that collects them: all I/Os of one call share the readings.
pub struct UringDevice {
    info: DeviceInfo,
    path: PathBuf,
    file: File,
    /// Stands guard over a device that may be written; none over one that is only read.
    sentry: Option<Sentry>,
    /// Whether anything was written, or is about to be: the sentry has been asked.
    wrote: bool,
    ring: Ring,
    content: ContentStream,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// Slots queued since the last system call, oldest first.
    queued: Vec<usize>,
    /// Trims that are done and not yet reaped.
    trims: Vec<Completion>,
    gauges: Gauges,
    /// Whether anything was submitted since the last telemetry.
    worked: bool,
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
    ) -> Result<Self, OpenError> {
        Self::new(file, identity, gauges, options, None)
    }

    /// A device whose data may be destroyed: the guard and the consent have been passed.
    pub(crate) fn writable(
        file: File,
        identity: &Identity,
        gauges: Gauges,
        options: &Options,
        sentry: Sentry,
    ) -> Result<Self, OpenError> {
        Self::new(file, identity, gauges, options, Some(sentry))
    }

    fn new(
        file: File,
        identity: &Identity,
        gauges: Gauges,
        options: &Options,
        sentry: Option<Sentry>,
    ) -> Result<Self, OpenError> {
        check_options(identity, options)?;
        let depth = options.queue_depth;
        let ring = Ring::new(&file, depth, options.io_size_max.0 as usize)
            .map_err(|error| ring_error(error, identity, options))?;
        let idle = Slot { io: Io::flush(), submitted: DeviceTime(0) };
        let purges = if sentry.is_some() { purges(&file, identity) } else { Vec::new() };
        Ok(Self {
            info: DeviceInfo {
                temperature_limit: gauges.temperature_limit(),
                ..describe(identity, options, purges)
            },
            path: identity.path.clone(),
            file,
            sentry,
            wrote: false,
            ring,
            content: ContentStream::new(options.seed),
            slots: vec![idle; depth],
            free: (0..depth).rev().collect(),
            queued: Vec::with_capacity(depth),
            trims: Vec::new(),
            gauges,
            worked: false,
        })
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len() + self.trims.len()
    }

    /// Before the first write: asks who uses the drive by now.
    fn ask_the_sentry(&mut self) -> Result<(), DeviceError> {
        let Some(sentry) = self.sentry.as_mut().filter(|_| !self.wrote) else {
            return Ok(());
        };
        let found = sentry.ask_again();
        self.wrote = found.is_empty();
        self.in_use_unless_empty(&found)
    }

    /// Whether somebody else has begun to write to it.
    fn look_for_intruders(&self) -> Result<(), DeviceError> {
        let found = self.sentry.as_ref().map(Sentry::intruders).unwrap_or_default();
        self.in_use_unless_empty(&found)
    }

    fn in_use_unless_empty(&self, found: &[Refusal]) -> Result<(), DeviceError> {
        if found.is_empty() {
            return Ok(());
        }
        let by: Vec<String> = found.iter().map(Refusal::to_string).collect();
        Err(DeviceError::InUse { path: self.path.clone(), by: by.join("; "), wrote: self.wrote })
    }

    /// Gives an I/O a slot, fills its buffer, and puts it in the queue.
    fn queue(&mut self, io: &Io) {
        let Some(slot) = self.free.pop() else {
            unreachable!("submit has counted the free slots");
        };
        if io.operation == Operation::Write {
            let buffer = &mut self.ring.buffer(slot)[..io.length.0 as usize];
            self.content.fill(io, buffer);
        }
        self.ring.queue(slot, io);
        self.slots[slot].io = *io;
        self.queued.push(slot);
    }

    /// One system call: hands over what is queued and waits for the first completion, until
    /// `until` at most. Gives the time right after it.
    fn enter(&mut self, until: DeviceTime) -> Result<DeviceTime, DeviceError> {
        let submitted = self.now();
        let entered = self.ring.enter(clock::patience(until.since(submitted)));
        let completed = self.now();
        let count = entered.map_err(|error| self.lost("submitting I/Os", error))?;
        for slot in self.queued.drain(..count as usize) {
            self.slots[slot].submitted = submitted;
        }
        Ok(completed)
    }

    /// Takes over every completion that has come.
    fn collect(
        &mut self,
        completed: DeviceTime,
        done: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        let mut lost = None;
        let (slots, free) = (&self.slots, &mut self.free);
        self.ring.drain(|slot, result| {
            let Slot { io, submitted } = slots[slot];
            let status = status_of(&io, result);
            lost = lost.or(device_lost(status));
            free.push(slot);
            done.push(Completion { io, submitted, completed, status });
        });
        match lost {
            Some(errno) => Err(self.lost("an I/O", errno.into())),
            None => Ok(()),
        }
    }

    /// Trims at once, after what is queued before it has been handed over.
    fn trim(&mut self, io: &Io) -> Result<(), DeviceError> {
        if !self.queued.is_empty() {
            // What completes here is left where it is: the next reap collects it.
            self.enter(DeviceTime(0))?;
        }
        let submitted = self.now();
        let result = match self.info.trim {
            true => self.deallocate(io.offset.0, io.length.0),
            false => Err(Errno::OPNOTSUPP.into()),
        };
        let completed = self.now();
        let status = result.map_or_else(|error| failed(&error), |()| Status::Done);
        if let Some(errno) = device_lost(status) {
            return Err(self.lost("a trim", errno.into()));
        }
        self.trims.push(Completion { io: *io, submitted, completed, status });
        Ok(())
    }

    /// Tells the drive, or the filesystem below a file, that a range is no longer needed.
    fn deallocate(&self, offset: u64, length: u64) -> io::Result<()> {
        if self.info.kind == DeviceKind::File {
            return Ok(punch_hole(&self.file, offset, length)?);
        }
        let end = offset + length;
        let mut start = offset;
        while start < end {
            let part = (end - start).min(DISCARD_PART);
            ioctl::discard(&self.file, start, part)?;
            start += part;
        }
        Ok(())
    }

    /// Reads evenly spread places back and counts them, and those that are not all zeros.
    fn sample(&mut self) -> Result<(u32, u32), DeviceError> {
        let length = self.info.lba_size.0;
        let blocks = self.info.capacity.0 / length;
        let count = blocks.min(PURGE_SAMPLES);
        let mut readable = 0;
        for index in 0..count {
            let (first, next) = (blocks * index / count, blocks * (index + 1) / count);
            let block = first + split_mix(&mut index.clone()) % (next - first);
            let buffer = &mut self.ring.buffer(0)[..length as usize];
            let read = rustix::io::pread(&self.file, &mut *buffer, block * length);
            let nonzero = buffer.iter().any(|&byte| byte != 0);
            let whole = match read {
                Ok(got) if got as u64 == length => Ok(()),
                Ok(_) => Err(Errno::IO),
                Err(errno) => Err(errno),
            };
            whole.map_err(|errno| self.lost("reading back after the purge", errno.into()))?;
            readable += u32::from(nonzero);
        }
        Ok((count as u32, readable))
    }

    fn lost(&self, doing: &'static str, source: io::Error) -> DeviceError {
        DeviceError::System { path: self.path.clone(), doing, source }
    }
}

impl Drop for UringDevice {
    /// Waits, but not for ever, for what is in flight: a write that lands after its run has ended
    /// could hit the drive's next user.
    fn drop(&mut self) {
        let (until, mut done) = (self.now() + LAST_WAIT, Vec::new());
        while self.in_flight() > 0 && self.now() < until {
            if self.reap(until, &mut done).is_err() {
                return;
            }
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
                self.enter(DeviceTime(0))?;
            }
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let had = done.len();
        done.append(&mut self.trims);
        let wait_until = match done.len() > had {
            true => DeviceTime(0),
            false => until,
        };
        self.look_for_intruders()?;
        while self.in_flight() > 0 {
            let completed = self.enter(wait_until)?;
            self.collect(completed, done)?;
            if done.len() > had || completed >= until {
                return Ok(());
            }
        }
        if done.len() == had {
            clock::sleep_until(until);
        }
        Ok(())
    }

    fn purge(&mut self, how: Purge) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.in_flight() == 0, "a purge with I/Os in flight");
        if !self.info.purges.contains(&how) {
            return Err(DeviceError::PurgeUnsupported {
                address: self.info.address.clone(),
                how,
                supported: self.info.purges.clone(),
            });
        }
        self.ask_the_sentry()?;
        self.deallocate(0, self.info.capacity.0).map_err(|error| self.lost("the purge", error))?;
        fdatasync(&self.file).map_err(|errno| self.lost("the flush after it", errno.into()))?;
        let (sampled, still_readable) = self.sample()?;
        Ok(PurgeOutcome { how, sampled, still_readable })
    }

    /// What the system counts, for the calling thread, and the drive's temperature while it works.
    fn telemetry(&mut self) -> Telemetry {
        let worked = std::mem::take(&mut self.worked) || self.in_flight() > 0;
        Telemetry {
            temperature: self.gauges.temperature(self.now(), worked),
            host: Some(self.gauges.counters()),
            ..Telemetry::default()
        }
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

fn punch_hole(file: &File, offset: u64, length: u64) -> Result<(), Errno> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, how, offset, length)
}

/// The purges that work here. Whether a filesystem can punch holes shows past the file's end,
/// where there is nothing to lose.
fn purges(file: &File, identity: &Identity) -> Vec<Purge> {
    let past_end = identity.capacity.0.next_multiple_of(1 << 20) + (1 << 20);
    match identity.kind {
        DeviceKind::File if punch_hole(file, past_end, 4096).is_ok() => vec![Purge::HolePunch],
        DeviceKind::BlockDevice if identity.discard_max > Bytes::ZERO => vec![Purge::Discard],
        _ => Vec::new(),
    }
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
        // What can be purged this way can be trimmed in parts.
        trim: !purges.is_empty(),
        purges,
        scheduler: identity.scheduler.clone(),
        temperature_limit: None,
        specification: Specification::default(),
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
