//! The simulated SSD: commands in, completions out, on a virtual clock.
//!
//! A write goes through link, firmware and write buffer and is complete; behind the buffer the
//! [`Translation`] gives it a place and keeps a die busy. When the buffer fills faster than NAND
//! empties it, writes wait for it: the write cliff.

mod array;
mod collect;
mod front;
#[cfg(test)]
mod invariants;
mod map;
mod power;

use std::collections::VecDeque;
use std::ops::Range;

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Durability, Held,
    Io, Nanos, Operation, PrepareWatch, Purge, PurgeOutcome, Stamping, Status, Telemetry,
    Throughput,
};
use writecliff_profile::{LBA_SIZE, SsdProfile, TrimKind};

use crate::contents::{AtPowerCut, Contents, DieRefused, Forgets, LostUnit, PowerCut, Spare};
use crate::stamps::Stamps;
use array::{Bus, Fifo, Lost, Lpn};
use front::{HostCacheLines, InFlight, ReadAhead, Rounds, Trims};
use map::Translation;
use power::PowerMeter;

/// What the system answers to a trim that a drive does not have: `EOPNOTSUPP` of Linux.
pub(crate) const NOT_SUPPORTED: i32 = 95;
/// I/Os that the host keeps for a drive whose own queue is shorter, as every kernel does: what tests
/// ask for of any drive.
const HOST_QUEUE: usize = 32;
/// What a read of lost data says, as Linux has it of a medium error: `ENODATA`.
const MEDIA_ERROR: i32 = 61;
/// What I/Os say that the power goes from: `EIO`.
const POWER_GONE: i32 = 5;
/// What a write to a worn-out drive says: a read-only file system.
const READ_ONLY: i32 = 30;

/// A simulated solid-state drive.
#[derive(Debug, Clone)]
pub struct Ssd {
    profile: SsdProfile,
    info: DeviceInfo,
    now: DeviceTime,
    firmware: Fifo,
    link: Bus,
    /// Encrypts and decrypts, if that takes time.
    engine: Fifo,
    page_transfer: PageTransfer,
    translation: Translation,
    trims: Trims,
    host_cache: Option<HostCacheLines>,
    read_ahead: Option<ReadAhead>,
    /// In which flushes and forced writes are served.
    rounds: Rounds,
    in_flight: InFlight,
    host_written: Bytes,
    meter: PowerMeter,
    /// When the last I/O completed, and the end of what the drive did for itself since.
    idle_since: DeviceTime,
    background_until: DeviceTime,
    faults: VecDeque<(DeviceTime, Fault)>,
    lost_die: Option<u32>,
    /// What the last power cut took, until somebody asks; kept where somebody said that he would.
    taken: Option<PowerCut>,
    tells_of_cuts: bool,
    /// Whether somebody looks at what blocks hold, or the drive has less than it claims.
    keeps_account: bool,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    PowerCut,
    LostDie(u32),
}

/// Times on the link of the I/O length that matters most, divided once.
#[derive(Debug, Clone)]
struct PageTransfer {
    read: Nanos,
    write: Nanos,
}

impl Ssd {
    /// The drive of this profile, as it leaves the factory. `address` is how the user named it.
    pub fn new(profile: SsdProfile, address: &str) -> Self {
        let link = &profile.link;
        Self {
            info: info(&profile, address),
            now: DeviceTime::default(),
            firmware: Fifo::default(),
            link: Bus::default(),
            engine: Fifo::default(),
            page_transfer: PageTransfer {
                read: link.read_throughput.time_for(profile.mapping.unit),
                write: link.write_throughput.time_for(profile.mapping.unit),
            },
            translation: Translation::new(&profile),
            trims: Trims::new(&profile.trim),
            host_cache: HostCacheLines::new(&profile),
            read_ahead: ReadAhead::new(&profile),
            rounds: Rounds::default(),
            in_flight: InFlight::default(),
            host_written: Bytes::ZERO,
            meter: PowerMeter::new(&profile.power, &link.sleep, profile.nand.planes),
            idle_since: DeviceTime::default(),
            background_until: DeviceTime::default(),
            faults: faults(&profile),
            lost_die: None,
            taken: None,
            tells_of_cuts: false,
            keeps_account: profile.faults.real_capacity.is_some(),
            profile,
        }
    }

    /// What the drive is built of.
    pub fn profile(&self) -> &SsdProfile {
        &self.profile
    }

    fn serve(&mut self, io: &Io) -> (DeviceTime, Status) {
        match io.operation {
            Operation::Write => self.write(io),
            Operation::Read => self.read(io),
            Operation::Trim => self.trim(io),
            Operation::Flush => self.flush(),
        }
    }

    /// The same where stamps are kept, or where places begin again.
    #[cold]
    fn serve_with_account(&mut self, io: &Io) -> (DeviceTime, Status) {
        let is_write = io.operation == Operation::Write;
        let mut ended = (self.now, Status::Done);
        for piece in self.real_pieces(io) {
            if is_write {
                self.clear_stamps_of_empty(&piece);
            }
            let (completed, status) = self.serve(&piece);
            ended.0 = ended.0.max(completed);
            if status != Status::Done {
                ended.1 = status;
            }
        }
        if let (true, (_, Status::Done), Some(stamps)) =
            (is_write, ended, self.translation.stamps())
        {
            stamps.write(io);
        }
        ended
    }

    /// Where an I/O really goes, in pieces between the ends of the real capacity.
    fn real_pieces(&self, io: &Io) -> Vec<Io> {
        let Some(real) = self.profile.faults.real_capacity else { return vec![*io] };
        if io.operation == Operation::Flush {
            return vec![*io];
        }
        let (mut offset, end) = (io.offset.0, io.offset.0 + io.length.0);
        let mut pieces = Vec::new();
        while offset < end {
            let length = (real.0 - offset % real.0).min(end - offset);
            pieces.push(Io { offset: Bytes(offset % real.0), length: Bytes(length), ..*io });
            offset += length;
        }
        pieces
    }

    /// Pages that hold nothing have no stamps of before, when only a part of them is written.
    fn clear_stamps_of_empty(&mut self, io: &Io) {
        let (lpn, count) = self.pages(io);
        for page in lpn.0..lpn.0 + count {
            let is_empty = !self.has_data(Lpn(page));
            if let (true, Some(stamps)) = (is_empty, self.translation.stamps()) {
                stamps.clear(page);
            }
        }
    }

    /// Whether anything is read from a page.
    fn has_data(&self, lpn: Lpn) -> bool {
        !self.trims.hides(lpn) && self.translation.holds(lpn)
    }

    /// Looks at the blocks that these reads have brought.
    #[cold]
    fn look(&mut self, done: &[Completion]) {
        let Some(mut stamps) = self.translation.stamps().take() else { return };
        let is_look = |done: &&Completion| {
            done.io.operation == Operation::Read
                && done.io.stamp.is_some()
                && done.status == Status::Done
        };
        for Completion { io, .. } in done.iter().filter(is_look) {
            stamps.look(io, |byte| self.has_data(self.page_at(Bytes(byte))));
        }
        *self.translation.stamps() = Some(stamps);
    }

    fn write(&mut self, io: &Io) -> (DeviceTime, Status) {
        let decoded = self.decode(self.profile.firmware.write_time, io.length)
            + self.profile.firmware.write_latency;
        let rate = self.profile.link.write_throughput;
        let data = self.transfer_time(io.length, rate, self.page_transfer.write);
        let transfer = self.profile.link.command_time + data;
        let arrived = self.link.transfer(self.now, decoded, transfer);
        self.meter.transferred(io.length);

        let (lpn, count) = self.pages(io);
        let arrived = self.through_engine(count, arrived);
        if self.trims.is_waiting() {
            let forget = &mut |lpn, count| self.translation.trim(lpn, count);
            self.trims.before_write(lpn, count, forget);
        }
        let merged = self.read_for_merge(io, arrived);
        let ready = if self.merges_later() { arrived } else { merged };
        let mapped = self.translation.look_up(lpn, count, true, ready);
        let is_forced = !io.durability.is_later();
        if is_forced {
            self.translation.is_awaited(true);
        }
        let admitted = self.translation.write(lpn, count, io.content, mapped);
        if is_forced {
            self.translation.is_awaited(false);
        }
        let Ok(admitted) = admitted else { return (arrived, Status::Failed(READ_ONLY)) };
        self.host_written += io.length;
        if self.profile.firmware.in_order {
            // What comes behind it waits with it for room in the buffer.
            self.firmware.serve(self.firmware.free_at(), admitted - mapped.min(admitted));
        }
        let written = match io.durability {
            Durability::Later if self.has_buffer() => admitted,
            Durability::Later | Durability::Forced => self.durable_at(admitted),
            Durability::Flushed => {
                let flush = self.profile.firmware.write_time + self.profile.firmware.write_latency;
                // The firmware's time for the flush after it is felt, and keeps no other command waiting.
                self.durable_at(admitted + flush + self.profile.link.command_time)
            }
        };
        let completed = match &mut self.host_cache {
            Some(cache) => {
                cache.keep(lpn, count);
                let taken = cache.write(count, self.now, written);
                if io.durability.is_later() { taken } else { written }
            }
            None => written,
        };
        (completed, Status::Done)
    }

    fn read(&mut self, io: &Io) -> (DeviceTime, Status) {
        let (lpn, count) = self.pages(io);
        let cached = self.host_cache.as_ref().and_then(|cache| cache.read(lpn, count, self.now));
        if let Some(answered) = cached {
            return (answered, Status::Done);
        }
        let decoded = self.decode(self.profile.firmware.read_time, io.length)
            + self.profile.firmware.read_latency;
        let mapped = self.translation.look_up(lpn, count, false, decoded);
        let Ok(in_ram) = self.read_in_order(lpn, count, io.offset..io.offset + io.length, mapped)
        else {
            return (mapped, Status::Failed(MEDIA_ERROR));
        };
        if let Some(cache) = &mut self.host_cache {
            cache.keep(lpn, count);
        }
        self.meter.transferred(io.length);
        let rate = self.profile.link.read_throughput;
        let data = self.transfer_time(io.length, rate, self.page_transfer.read);
        let in_ram = self.through_engine(count, in_ram);
        let transfer = self.profile.link.command_time + data;
        (self.link.transfer(self.now, in_ram, transfer), Status::Done)
    }

    /// As `read_pages`, with what was fetched ahead if the read follows the last one; what lies
    /// ahead of it is fetched now.
    fn read_in_order(
        &mut self,
        lpn: Lpn,
        count: u32,
        bytes: Range<Bytes>,
        ready: DeviceTime,
    ) -> Result<DeviceTime, Lost> {
        let Some(ahead) = &mut self.read_ahead else { return self.read_pages(lpn, count, ready) };
        let found = ahead.read(lpn, count, bytes);
        let mut in_ram = ready.max(found.in_ram);
        if found.pages < count {
            let rest = self.read_pages(Lpn(lpn.0 + found.pages), count - found.pages, ready)?;
            in_ram = in_ram.max(rest);
        }
        let (from, pages) = self.read_ahead.as_ref().map_or((lpn, 0), ReadAhead::ahead);
        if found.follows && pages > 0 {
            // Data that cannot be read fail the read that asks for them.
            let fetched = self.read_pages(from, pages, ready).unwrap_or(ready);
            if let Some(ahead) = &mut self.read_ahead {
                ahead.fetches(pages, fetched);
            }
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.was_read(in_ram);
        }
        Ok(in_ram)
    }

    fn read_pages(&mut self, lpn: Lpn, count: u32, ready: DeviceTime) -> Result<DeviceTime, Lost> {
        if !self.trims.is_waiting() {
            return self.translation.read(lpn, count, ready);
        }
        (lpn.0..lpn.0 + count).map(Lpn).try_fold(ready, |in_ram, page| {
            if self.trims.hides(page) {
                return Ok(in_ram);
            }
            Ok(in_ram.max(self.translation.read(page, 1, ready)?))
        })
    }

    /// A write that covers its first or last page in part needs the rest of it in RAM.
    fn read_for_merge(&mut self, io: &Io, ready: DeviceTime) -> DeviceTime {
        let end = io.offset + io.length;
        if self.begins_page(io.offset) && self.begins_page(end) {
            return ready;
        }
        let partly = |edge: Bytes| (!self.begins_page(edge)).then_some(self.page_at(edge));
        let first = partly(io.offset);
        let last = partly(end).filter(|last| Some(*last) != first);
        first.into_iter().chain(last).fold(ready, |in_ram, page| {
            // Data that cannot be read is written anew as far as the host gave it.
            in_ram.max(self.read_pages(page, 1, ready).unwrap_or(ready))
        })
    }

    /// Only pages that lie wholly in the range lose their data.
    fn trim(&mut self, io: &Io) -> (DeviceTime, Status) {
        if !self.info.trim {
            return (self.now, Status::Failed(NOT_SUPPORTED));
        }
        let first = self.page_at(io.offset + Bytes(self.profile.mapping.unit.0 - 1)).0;
        let count = self.page_at(io.offset + io.length).0.saturating_sub(first);
        let forget = &mut |lpn, count| self.translation.trim(lpn, count);
        let work = self.trims.take(Lpn(first), count, forget);
        let done = self.control_command(self.profile.firmware.write_time + work);
        let mapped = match count {
            0 => done,
            _ => self.translation.look_up(Lpn(first), count, true, done),
        };
        (done.max(mapped), Status::Done)
    }

    fn flush(&mut self) -> (DeviceTime, Status) {
        let decoded = self.control_command(self.profile.firmware.write_time);
        let in_drive = self.host_cache.as_ref().map_or(decoded, |cache| cache.drained_at(decoded));
        (self.durable_at(decoded.max(in_drive)), Status::Done)
    }

    /// When it is said that all that the drive has at `now` would survive a power cut: at once where
    /// capacitors bring it to NAND, but for what the flush itself takes; else when its programs, the changes of
    /// the map, and the rounds before it are done. Without a buffer each write waits for its own programs.
    fn durable_at(&mut self, now: DeviceTime) -> DeviceTime {
        let flush_time = self.profile.write_buffer.flush_time;
        if self.has_buffer() && self.profile.write_buffer.protected {
            return now + flush_time;
        }
        let drained = self.translation.flush(now);
        match drained > now {
            true if self.has_buffer() => self.rounds.serve(now, drained - now + flush_time),
            true => drained + flush_time,
            false => drained,
        }
    }

    /// A command without data: firmware and link.
    fn control_command(&mut self, work: Nanos) -> DeviceTime {
        let decoded = self.decode(work, Bytes::ZERO) + self.profile.firmware.write_latency;
        self.link.transfer(self.now, decoded, self.profile.link.command_time)
    }

    /// The firmware takes a command that moves `length`.
    fn decode(&mut self, work: Nanos, length: Bytes) -> DeviceTime {
        let work = work + self.meter.throttle_time(length);
        self.firmware.serve(self.now, work)
    }

    /// Pages pass the drive's own encryption, one after the other.
    fn through_engine(&mut self, count: u32, ready: DeviceTime) -> DeviceTime {
        match self.profile.security.page_time {
            Nanos::ZERO => ready,
            time => self.engine.serve(ready, time * u64::from(count)),
        }
    }

    fn transfer_time(&self, length: Bytes, rate: Throughput, page: Nanos) -> Nanos {
        if length == self.profile.mapping.unit { page } else { rate.time_for(length) }
    }

    /// A command that the drive has no room for waits in the host until another one is done.
    fn wait_for_room(&mut self) {
        let takes = self.profile.link.queue_depth as usize;
        if let Some(last_to_go) = self.in_flight.len().checked_sub(takes) {
            self.firmware.serve(self.in_flight.end_of(last_to_go), Nanos::ZERO);
        }
    }

    fn has_buffer(&self) -> bool {
        self.profile.write_buffer.size.0 > 0
    }

    fn merges_later(&self) -> bool {
        self.has_buffer() && self.profile.write_buffer.merges_later
    }

    /// The logical pages that an I/O touches.
    fn pages(&self, io: &Io) -> (Lpn, u32) {
        let first = self.page_at(io.offset);
        let end = self.page_at(io.offset + io.length + Bytes(self.profile.mapping.unit.0 - 1));
        (first, end.0 - first.0)
    }

    /// The logical page that holds this byte. Its size is a power of two, so that nothing is divided.
    fn page_at(&self, byte: Bytes) -> Lpn {
        Lpn((byte.0 >> self.profile.mapping.unit.0.trailing_zeros()) as u32)
    }

    /// Whether a page begins at this byte.
    fn begins_page(&self, byte: Bytes) -> bool {
        byte.0 & (self.profile.mapping.unit.0 - 1) == 0
    }

    /// Moves the clock on; nothing completes and nothing goes wrong before `to`.
    fn advance(&mut self, to: DeviceTime) {
        if self.in_flight.is_empty() {
            self.rest(to);
        } else {
            self.meter.worked(to - self.now);
        }
        self.now = to;
        if to >= self.meter.next_step() {
            self.meter.settle(to, self.translation.nand_counts());
        }
    }

    /// Nothing is in flight until `to`: the drive works for itself as its profile says, and the
    /// link falls asleep.
    fn rest(&mut self, to: DeviceTime) {
        let mut at = self.now.max(self.background_until);
        let mut worked = self.background_until.min(to).since(self.now);
        while at < to {
            match self.work_when_idle(at) {
                Some(next) => {
                    worked += next.min(to).since(at);
                    at = at.max(next);
                    self.background_until = at;
                }
                None => match self.next_idle_work(at) {
                    Some(later) => at = later,
                    None => break,
                },
            }
        }
        if self.meter.is_modelled() {
            let from = Nanos(self.now.since(self.idle_since).0 + worked.0);
            self.meter.worked(worked);
            self.meter.rested(from, to.since(self.idle_since));
        }
    }

    /// One step of the drive's own work; returns when the next may begin, `None` if there is none.
    fn work_when_idle(&mut self, at: DeviceTime) -> Option<DeviceTime> {
        let idle = at.since(self.idle_since);
        let forget = &mut |lpn, count| self.translation.trim(lpn, count);
        let trimmed = self.trims.work_when_idle(at, idle, forget);
        trimmed.or_else(|| self.translation.work_when_idle(at, idle))
    }

    /// The next moment at which some work of the drive's own is allowed to begin.
    fn next_idle_work(&self, at: DeviceTime) -> Option<DeviceTime> {
        let waits = [
            self.profile.gc.idle_after,
            Some(self.profile.slc_buffer.drain_after),
            Some(self.trims.after()),
        ];
        let moments = waits.into_iter().flatten().map(|wait| self.idle_since + wait);
        moments.filter(|moment| *moment > at).min()
    }

    /// Makes all data unreadable: the drive forgets where they are, and erases nothing before it
    /// needs the room. Returns when that is done.
    fn change_key(&mut self) -> DeviceTime {
        let pages = self.info.capacity.0 / self.profile.mapping.unit.0;
        self.translation.advance(self.now);
        self.translation.trim(Lpn(0), pages as u32);
        self.now
    }

    /// What goes wrong now; I/Os in flight fail with the power.
    fn fail(&mut self, fault: Fault, done: &mut Vec<Completion>) {
        match fault {
            // What a second one takes is not modelled.
            Fault::LostDie(_) if self.lost_die.is_some() => {}
            Fault::LostDie(die) => {
                self.lost_die = Some(die);
                self.translation.lose_die(die, self.now);
            }
            Fault::PowerCut => {
                let lost = self.translation.cut_power(self.now);
                self.taken = self.tells_of_cuts.then_some(PowerCut { at: self.now, lost });
                self.trims.clear();
                if let Some(cache) = &mut self.host_cache {
                    cache.clear();
                }
                if let Some(ahead) = &mut self.read_ahead {
                    ahead.clear();
                }
                self.in_flight.fail_all(self.now, Status::Failed(POWER_GONE), done);
                let recovered = self.now + self.recovery_time();
                (self.firmware, self.link) = (Fifo::default(), Bus::default());
                (self.engine, self.rounds) = (Fifo::default(), Rounds::default());
                self.firmware.serve(recovered, Nanos::ZERO);
                self.idle_since = recovered;
            }
        }
    }

    /// To find every page again, a page of each superblock is read, on all dies at once.
    fn recovery_time(&self) -> Nanos {
        let superblocks = u64::from(self.profile.superblocks());
        let reads = superblocks.div_ceil(u64::from(self.profile.dies()));
        self.profile.faults.recovery_time + self.profile.nand.read_time * reads
    }
}

impl Contents for Ssd {
    fn unit(&self) -> Bytes {
        self.profile.mapping.unit
    }

    fn real_capacity(&self) -> Bytes {
        self.profile.faults.real_capacity.unwrap_or(self.info.capacity)
    }

    fn forgets(&self) -> Forgets {
        match self.profile.trim.kind {
            TrimKind::Immediate => Forgets::AtOnce,
            TrimKind::Partial => Forgets::SomeAtOnce,
            TrimKind::Deferred => Forgets::Later,
            TrimKind::Ignored | TrimKind::Unsupported => Forgets::Nothing,
        }
    }

    fn compresses(&self) -> bool {
        self.profile.reduction.compression
    }

    fn holds(&self, unit: u32) -> bool {
        self.has_data(Lpn(unit))
    }

    fn has_lost(&self, unit: u32) -> bool {
        self.translation.has_lost(Lpn(unit))
    }

    fn takes_writes(&self) -> bool {
        !self.translation.is_read_only()
    }

    fn next_event(&self) -> Option<DeviceTime> {
        let fault = self.faults.front().map(|(at, _)| *at);
        self.in_flight.first().into_iter().chain(fault).min()
    }

    fn expect_power_cuts(&mut self) -> AtPowerCut {
        self.translation.expect_power_cuts(&self.profile);
        self.tells_of_cuts = true;
        match self.profile.write_buffer.protected {
            true => AtPowerCut::KeepsAll,
            false => AtPowerCut::LosesWhatIsVolatile,
        }
    }

    fn volatile(&self) -> Vec<LostUnit> {
        self.translation.volatile_units(self.now)
    }

    fn lose_die(&mut self, die: u32) -> Result<(), DieRefused> {
        let dies = self.profile.dies();
        match self.lost_die {
            Some(die) => Err(DieRefused::LostAnother { die }),
            None if die >= dies => Err(DieRefused::NoSuchDie { die, dies }),
            None => {
                self.translation.advance(self.now);
                self.fail(Fault::LostDie(die), &mut Vec::new());
                Ok(())
            }
        }
    }

    fn spare(&self) -> Option<Spare> {
        self.translation.spare()
    }

    fn cut_power(&mut self, done: &mut Vec<Completion>) {
        self.translation.advance(self.now);
        self.fail(Fault::PowerCut, done);
    }

    fn take_power_cut(&mut self) -> Option<PowerCut> {
        self.taken.take()
    }
}

impl Device for Ssd {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn announce(&mut self, upcoming: &[Io]) {
        self.translation.touch(upcoming.iter().map(|io| self.page_at(io.offset)));
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        for io in batch {
            self.info.check(io)?;
        }
        let depth = self.in_flight.len() + batch.len();
        assert!(depth <= self.info.queue_depth_max, "{depth} I/Os exceed the queue");
        if self.in_flight.is_empty() && !batch.is_empty() {
            let exit = self.meter.exit_time(self.now.since(self.idle_since));
            self.firmware.serve(self.now, exit);
        }
        self.translation.advance(self.now);
        for io in batch {
            self.wait_for_room();
            let (completed, status) = match self.keeps_account {
                false => self.serve(io),
                true => self.serve_with_account(io),
            };
            let submitted = self.now;
            self.in_flight.push(Completion { io: *io, submitted, completed, status });
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let before = done.len();
        loop {
            let next = self.in_flight.first().unwrap_or(DeviceTime::MAX);
            let to = self.now.max(next.min(until));
            if let Some((moment, fault)) = self.faults.front().copied().filter(|(at, _)| *at <= to)
            {
                self.faults.pop_front();
                self.advance(moment.max(self.now));
                self.fail(fault, done);
                if done.len() > before {
                    return Ok(());
                }
                continue;
            }
            self.advance(to);
            if self.in_flight.take_until(self.now, done) && self.in_flight.is_empty() {
                self.idle_since = self.now;
            }
            if self.keeps_account {
                self.look(&done[before..]);
            }
            return Ok(());
        }
    }

    fn stamp(&mut self, stamping: Stamping) -> bool {
        let real = self.profile.faults.real_capacity.unwrap_or(self.info.capacity);
        let stamps = Stamps::new(stamping, self.profile.mapping.unit, real);
        *self.translation.stamps() = Some(Box::new(stamps));
        self.keeps_account = true;
        true
    }

    fn take_held(&mut self, held: &mut Vec<Held>) {
        if let Some(stamps) = self.translation.stamps() {
            stamps.take(held);
        }
    }

    fn purge(&mut self, how: Purge, _: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.in_flight.is_empty(), "purged with I/Os in flight");
        if !self.info.purges.contains(&how) {
            return Err(DeviceError::PurgeUnsupported {
                address: self.info.address.clone(),
                how,
                supported: self.info.purges.clone(),
            });
        }
        let finished = match how {
            Purge::SanitizeCrypto => self.change_key(),
            _ => self.translation.erase_all(self.now),
        };
        self.meter.worked(finished - self.now);
        self.now = finished;
        self.idle_since = finished;
        self.trims.clear();
        if let Some(cache) = &mut self.host_cache {
            cache.clear();
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.clear();
        }
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        let counts = self.translation.nand_counts();
        let books = self.translation.books();
        let energy = self.meter.energy(counts);
        let programs = counts.programs + counts.slc_programs;
        Telemetry {
            host_written: Some(self.host_written),
            nand_written: Some(self.profile.program_size() * programs),
            free_blocks: Some(u64::from(books.free)),
            erases: Some(books.erases),
            energy: self.meter.is_modelled().then_some(energy),
            temperature: self.meter.temperature(),
            throttled: self.meter.throttled(),
            wear_permille: books.wear_permille,
            retired_blocks: Some(u64::from(books.retired)),
            lost_pages: Some(books.lost_pages),
            lost_dies: self.lost_die.map(|_| 1),
            ..Telemetry::default()
        }
    }
}

/// What goes wrong with this drive, in order.
fn faults(profile: &SsdProfile) -> VecDeque<(DeviceTime, Fault)> {
    let at = |span: Nanos| DeviceTime::default() + span;
    let cuts = profile.faults.power_cuts.iter().map(|span| (at(*span), Fault::PowerCut));
    let mut all: Vec<_> = cuts.collect();
    if let Some(die) = profile.faults.lost_die {
        all.push((at(profile.faults.lost_die_at), Fault::LostDie(die)));
    }
    all.sort_by_key(|(moment, _)| *moment);
    all.into()
}

/// Best first: what erases every block.
fn purges(profile: &SsdProfile) -> Vec<Purge> {
    let change_of_key = profile.security.crypto_erase.then_some(Purge::SanitizeCrypto);
    std::iter::once(Purge::SecureErase).chain(change_of_key).collect()
}

fn info(profile: &SsdProfile, address: &str) -> DeviceInfo {
    DeviceInfo {
        model: profile.identity.model.clone(),
        physical_block_size: profile.mapping.unit.max(LBA_SIZE),
        queue_depth_max: (profile.link.queue_depth as usize).max(HOST_QUEUE),
        trim: profile.trim.kind != TrimKind::Unsupported,
        purges: purges(profile),
        temperature_limit: profile.throttle_at(),
        not_modelled: profile.not_modelled(),
        specification: profile.specification(),
        profile: Some(profile.record()),
        ..DeviceInfo::of(address, DeviceKind::Simulated, profile.identity.capacity)
    }
}
