//! The simulated magnetic disk: one arm, turning platters and a cache, on a virtual clock.
//!
//! Unlike in a simulated SSD, the end of a command is not known when it comes: a later one may be
//! nearer to the heads. So commands wait here, and the [`Disk`] goes from event to event (a command
//! is over the link, an access of the arm ends) and decides at each what the arm does next.
//!
//! True of it: the heads are in one place at a time; a write is complete only when a segment of the
//! cache, or the platter, has it; a flush is complete only when the cache is clean; what waits is
//! bounded by queue and cache, whatever the number of I/Os.
//!
//! Left out: surfaces as such (tracks are one line, a switch of heads is a switch of tracks); more
//! than one stretch of read-ahead, and RAM that reads and writes compete for; a seek to a sector that
//! the heads would pass later anyway; links that begin to carry a read before its last sector is in
//! RAM; sectors moved to spare places, retries, errors; spin-up and power states, heat, vibration;
//! the content of the data.

mod arm;
mod geometry;
#[cfg(test)]
mod tests;
mod track_buffer;
mod write_cache;

use std::collections::{BTreeMap, VecDeque};

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Durability, Held,
    Io, Mechanism, Nanos, Operation, PrepareWatch, Purge, PurgeOutcome, Stamping, Status,
    Telemetry,
};
use writecliff_profile::{DiskProfile, LBA_SIZE, QueueOrdering};

use crate::contents::{Contents, Forgets};
use crate::ssd::NOT_SUPPORTED;
use crate::stamps::Stamps;
use arm::{Access, Arm};
use geometry::Extent;
use track_buffer::TrackBuffer;
use write_cache::WriteCache;

/// What has waited so long goes first, however far away it is. Assumed: makers do not tell.
const PATIENCE: Nanos = Nanos::from_secs(1);

/// A simulated magnetic disk.
#[derive(Debug, Clone)]
pub struct Disk {
    profile: DiskProfile,
    info: DeviceInfo,
    now: DeviceTime,
    link: Link,
    arm: Arm,
    buffer: TrackBuffer,
    cache: WriteCache,
    /// Commands on the link, each with the time it is over it.
    arriving: VecDeque<(DeviceTime, Command)>,
    /// What the platters must be read or written for, oldest first.
    waiting: Vec<Command>,
    /// Writes that have no room in the cache yet, and flushes; only the first one goes on.
    intake: VecDeque<Command>,
    /// What the arm does, and when that ends.
    running: Option<(DeviceTime, Job)>,
    /// Completions, with their sequence numbers, that the host has not collected.
    ended: BTreeMap<(DeviceTime, u64), Completion>,
    in_flight: usize,
    submitted_count: u64,
    host_written: Bytes,
    /// What its blocks hold, if somebody looks at it.
    stamps: Option<Stamps>,
}

/// A command of the host, and what is left of it.
#[derive(Debug, Clone, Copy)]
struct Command {
    io: Io,
    sequence: u64,
    submitted: DeviceTime,
    rest: Extent,
}

/// What the arm is busy with.
#[derive(Debug, Clone, Copy)]
enum Job {
    Host(Command),
    Destage,
}

/// What the arm could do next: an index into what waits.
#[derive(Debug, Clone, Copy)]
enum Candidate {
    Waiting(usize),
    Dirty(usize),
}

impl Disk {
    /// The disk of this profile, nothing in its cache. `address` is how the user named it.
    ///
    /// # Panics
    /// If the profile is [impossible](DiskProfile::impossibility).
    pub fn new(profile: DiskProfile, address: &str) -> Self {
        assert_eq!(profile.impossibility(), None, "the profile was not checked");
        let sectors = |bytes: Bytes| bytes.0 / LBA_SIZE.0;
        let cache = &profile.cache;
        let segment = sectors(cache.size) / u64::from(cache.write_segments);
        Self {
            info: info(&profile, address),
            now: DeviceTime::default(),
            link: Link::default(),
            arm: Arm::new(&profile),
            buffer: TrackBuffer::new(sectors(cache.read_ahead), sectors(cache.size)),
            cache: WriteCache::new(cache.write_segments as usize, segment),
            arriving: VecDeque::new(),
            waiting: Vec::new(),
            intake: VecDeque::new(),
            running: None,
            ended: BTreeMap::new(),
            in_flight: 0,
            submitted_count: 0,
            host_written: Bytes::ZERO,
            stamps: None,
            profile,
        }
    }

    /// What the disk is built of.
    pub fn profile(&self) -> &DiskProfile {
        &self.profile
    }

    /// Sends a command, and a write's data with it, over the link.
    fn receive(&mut self, io: &Io) {
        let mut work = self.profile.link.command_time;
        if io.operation == Operation::Write {
            work += self.profile.link.write_throughput.time_for(io.length);
            self.host_written += io.length;
            if let Some(stamps) = &mut self.stamps {
                stamps.write(io);
            }
        }
        let arrived = self.link.carry(self.now, work);
        let sequence = self.submitted_count;
        let command = Command { io: *io, sequence, submitted: self.now, rest: Extent::of(io) };
        self.submitted_count += 1;
        self.arriving.push_back((arrived, command));
    }

    fn next_event(&self) -> Option<DeviceTime> {
        let arrival = self.arriving.front().map(|(at, _)| *at);
        let access = self.running.as_ref().map(|(at, _)| *at);
        arrival.into_iter().chain(access).min()
    }

    /// All that happens at one time, an event's.
    fn step(&mut self, at: DeviceTime) {
        self.take_arrivals(at);
        self.end_access(at);
        self.go_on_with_intake(at);
        self.answer_from_ram(at);
        if self.running.is_none() {
            self.begin_access(at);
        }
    }

    fn take_arrivals(&mut self, at: DeviceTime) {
        while let Some((_, command)) = self.arriving.pop_front_if(|(arrived, _)| *arrived <= at) {
            match command.io.operation {
                Operation::Read => self.waiting.push(command),
                Operation::Write if !self.profile.cache.write_back => self.waiting.push(command),
                Operation::Write | Operation::Flush => self.intake.push_back(command),
                Operation::Trim => self.end(&command, at, Status::Failed(NOT_SUPPORTED)),
            }
        }
    }

    fn end_access(&mut self, at: DeviceTime) {
        match self.running.take_if(|(ends, _)| *ends <= at) {
            Some((_, Job::Host(command))) => self.answer(&command, at),
            Some((_, Job::Destage)) => self.cache.end_destage(),
            None => {}
        }
    }

    /// Takes writes into the cache while there is room; a flush holds back all that came after it
    /// until the cache is clean, a forced write until its own data are on the platters, a
    /// flushed one until all are.
    fn go_on_with_intake(&mut self, at: DeviceTime) {
        while let Some(first) = self.intake.front_mut() {
            let is_done = match first.io.operation {
                Operation::Flush => self.cache.is_clean(),
                _ => {
                    first.rest = self.cache.admit(first.rest);
                    let is_durable = match first.io.durability {
                        Durability::Later => true,
                        Durability::Forced => !self.cache.has_any_of(&Extent::of(&first.io)),
                        Durability::Flushed => self.cache.is_clean(),
                    };
                    first.rest.is_empty() && is_durable
                }
            };
            if !is_done {
                break;
            }
            if let Some(command) = self.intake.pop_front() {
                self.answer(&command, at);
            }
        }
    }

    /// Answers every read that needs no platter.
    fn answer_from_ram(&mut self, at: DeviceTime) {
        let mut index = 0;
        while let Some(command) = self.waiting.get(index).copied() {
            let is_read = command.io.operation == Operation::Read;
            if is_read && self.is_in_ram(&command.rest, at) {
                self.waiting.remove(index);
                self.answer(&command, at);
            } else {
                index += 1;
            }
        }
    }

    /// Whether a read needs no platter; if it follows the heads, they may go further.
    fn is_in_ram(&mut self, extent: &Extent, at: DeviceTime) -> bool {
        let geometry = &self.arm.geometry;
        let is_passed = self.buffer.holds(extent, at, geometry);
        if is_passed {
            self.buffer.read_on(extent, at, geometry);
        }
        is_passed || self.cache.holds(extent)
    }

    /// Moves the arm to what is chosen, if there is anything to do.
    fn begin_access(&mut self, at: DeviceTime) {
        if let Some(heads) = self.buffer.heads_at(at, &self.arm.geometry) {
            self.arm.stay_at(heads);
        }
        let Some(choice) = self.choose(at) else {
            return;
        };
        let ends = self.access(choice, at).ends;
        let job = match choice {
            Candidate::Waiting(index) => {
                let command = self.waiting.remove(index);
                match command.io.operation {
                    Operation::Read => self.read_platter(&command.rest, at),
                    _ => self.write_platter(&command.rest, at),
                }
                Job::Host(command)
            }
            Candidate::Dirty(index) => {
                let extent = self.cache.begin_destage(index);
                self.write_platter(&extent, at);
                Job::Destage
            }
        };
        self.running = Some((ends, job));
    }

    /// The heads follow the tracks from here on, or go on doing so.
    fn read_platter(&mut self, extent: &Extent, at: DeviceTime) {
        let geometry = &self.arm.geometry;
        if self.buffer.leads_to(extent) {
            self.buffer.read_on(extent, at, geometry);
        } else {
            self.buffer.restart(extent, self.arm.read(at, extent).begins, geometry);
        }
    }

    /// The heads leave what they read, and stay where the write ends.
    fn write_platter(&mut self, extent: &Extent, at: DeviceTime) {
        self.buffer.leave(at, &self.arm.geometry);
        self.arm.stay_at(extent.end);
    }

    /// The policy of the arm.
    fn choose(&self, at: DeviceTime) -> Option<Candidate> {
        let dirty = self.destageable();
        let overdue = |command: &Command| at.since(command.submitted) > PATIENCE;
        let in_order = self.profile.queue.ordering == QueueOrdering::Fifo
            || self.waiting.first().is_some_and(overdue)
            || self.intake.front().is_some_and(overdue);
        if in_order {
            return self.oldest(dirty);
        }
        let commands = (0..self.waiting.len()).map(Candidate::Waiting);
        let candidates = commands.chain((0..dirty).map(Candidate::Dirty));
        candidates.min_by_key(|candidate| self.access(*candidate, at).begins)
    }

    /// How many ranges of written data the arm may choose from. They wait until no command needs
    /// the arm, or until a command waits for them to be on the platters.
    fn destageable(&self) -> usize {
        let window = self.profile.queue.destage_window as usize;
        match self.waiting.is_empty() || !self.intake.is_empty() {
            true => self.cache.dirty().len().min(window),
            false => 0,
        }
    }

    /// What the oldest command needs: its own access, or one that makes room in the cache for it.
    fn oldest(&self, dirty: usize) -> Option<Candidate> {
        let sequence = |command: &Command| command.sequence;
        let waiting = self.waiting.first().map(sequence);
        let intake = self.intake.front().map(sequence);
        let is_intake_older = intake.is_some_and(|intake| waiting.is_none_or(|own| intake < own));
        match waiting {
            Some(_) if dirty == 0 || !is_intake_older => Some(Candidate::Waiting(0)),
            _ => (dirty > 0).then_some(Candidate::Dirty(0)),
        }
    }

    /// When something that waits would be on the platters, were it next.
    fn access(&self, candidate: Candidate, at: DeviceTime) -> Access {
        match candidate {
            Candidate::Dirty(index) => self.arm.write(at, &self.cache.dirty()[index]),
            Candidate::Waiting(index) => {
                let Command { io, rest, .. } = &self.waiting[index];
                if io.operation == Operation::Write {
                    self.arm.write(at, rest)
                } else if self.buffer.leads_to(rest) {
                    self.buffer.access(rest, at, &self.arm.geometry)
                } else {
                    self.arm.read(at, rest)
                }
            }
        }
    }

    /// Sends the answer, and a read's data with it.
    fn answer(&mut self, command: &Command, at: DeviceTime) {
        let ended = match command.io.operation {
            Operation::Read => {
                let work = self.profile.link.read_throughput.time_for(command.io.length);
                self.link.carry(at, work)
            }
            _ => at,
        };
        self.end(command, ended, Status::Done);
    }

    fn end(&mut self, command: &Command, completed: DeviceTime, status: Status) {
        let Command { io, submitted, sequence, .. } = *command;
        let completion = Completion { io, submitted, completed, status };
        self.ended.insert((completed, sequence), completion);
    }
}

impl Device for Disk {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        for io in batch {
            self.info.check(io)?;
        }
        self.in_flight += batch.len();
        let depth = self.in_flight;
        assert!(depth <= self.info.queue_depth_max, "{depth} I/Os exceed the queue");
        for io in batch {
            self.receive(io);
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        loop {
            let completion = self.ended.keys().next().map_or(DeviceTime::MAX, |(at, _)| *at);
            let horizon = completion.min(until);
            match self.next_event().filter(|at| *at <= horizon) {
                Some(at) => self.step(at),
                None => {
                    self.now = self.now.max(horizon);
                    break;
                }
            }
        }
        while let Some(first) = self.ended.first_entry().filter(|first| first.key().0 <= self.now) {
            let completion = first.remove();
            let is_look =
                completion.io.operation == Operation::Read && completion.io.stamp.is_some();
            if let (true, Some(stamps)) = (is_look, &mut self.stamps) {
                stamps.look(&completion.io, |_| true);
            }
            done.push(completion);
            self.in_flight -= 1;
        }
        Ok(())
    }

    /// No sector of a disk is empty: it holds what was there before, if nobody has written it.
    fn stamp(&mut self, stamping: Stamping) -> bool {
        self.stamps = Some(Stamps::new(stamping, LBA_SIZE * 8, self.info.capacity));
        true
    }

    fn take_held(&mut self, held: &mut Vec<Held>) {
        if let Some(stamps) = &mut self.stamps {
            stamps.take(held);
        }
    }

    fn purge(&mut self, how: Purge, _: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        assert_eq!(self.in_flight, 0, "purged with I/Os in flight");
        Err(DeviceError::PurgeUnsupported {
            address: self.info.address.clone(),
            how,
            supported: self.info.purges.clone(),
        })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry { host_written: Some(self.host_written), ..Telemetry::default() }
    }
}

/// Every sector of a disk holds something, written or not.
impl Contents for Disk {
    fn unit(&self) -> Bytes {
        LBA_SIZE
    }

    fn real_capacity(&self) -> Bytes {
        self.info.capacity
    }

    fn forgets(&self) -> Forgets {
        Forgets::Nothing
    }

    fn compresses(&self) -> bool {
        false
    }

    fn holds(&self, _: u32) -> bool {
        true
    }

    fn has_lost(&self, _: u32) -> bool {
        false
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn next_event(&self) -> Option<DeviceTime> {
        let ended = self.ended.keys().next().map(|(at, _)| *at);
        ended.into_iter().chain(Disk::next_event(self)).min()
    }
}

/// The link to the host: carries one thing at a time, in order.
#[derive(Debug, Clone, Default)]
struct Link {
    free_at: DeviceTime,
}

impl Link {
    /// Carries what is `ready` and takes `work`; returns when it is over.
    fn carry(&mut self, ready: DeviceTime, work: Nanos) -> DeviceTime {
        self.free_at = self.free_at.max(ready) + work;
        self.free_at
    }
}

/// A disk has neither trim nor purge: what was written before does not slow down what comes.
fn info(profile: &DiskProfile, address: &str) -> DeviceInfo {
    DeviceInfo {
        model: profile.identity.model.clone(),
        queue_depth_max: profile.link.queue_depth as usize,
        rotational: true,
        not_modelled: vec![
            Mechanism::Sleep,
            Mechanism::Heat,
            Mechanism::MapMemory,
            Mechanism::Power,
        ],
        specification: profile.identity.specification(),
        profile: Some(profile.record()),
        ..DeviceInfo::of(address, DeviceKind::Simulated, profile.identity.capacity)
    }
}
