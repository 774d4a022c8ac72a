//! Copying: what garbage collection has chosen is done here, one program of a victim at a time.
//!
//! How many of these steps each program of the host pays for is a matter of pacing; idle time pays
//! for others. State moves on when a copy is scheduled; the time it takes is on the dies and in the
//! [`CopyWindow`].
//!
//! This and [`ftl`](super::ftl) are one thing in two files, which is why each imports the other: the map
//! owns the copies under way, and copying is done to the map.

use std::hint::black_box;

use writecliff_device::{DeviceTime, Nanos};
use writecliff_profile::{Pacing, SsdProfile};

use super::ftl::Ftl;
use crate::ssd::array::{CellMode, Fifo, Lpn, ReadOnly, SuperblockId};
use crate::ssd::collect::{
    self, CopyWindow, Cost, FREE_TO_OPEN, Free, ONE, Occasion, Pacer, Policy, Step, View,
    is_short_of_space,
};
use crate::ssd::front::{Program, Stream};

/// Map entries looked up ahead of the copying, so that the processor waits for them together.
const LOOK_AHEAD: u32 = 256;

/// A collection under way: the next slot of the victim to look at.
#[derive(Debug, Clone)]
pub(super) struct Evacuation {
    pub(super) victim: SuperblockId,
    pub(super) slot: u32,
    /// It has fallen behind in wear, and is taken for that.
    is_for_wear: bool,
}

/// What the copying keeps from step to step.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    pub(super) policy: Policy,
    /// Between low and high water.
    collecting: bool,
    pacer: Pacer,
    data_path: DataPath,
    /// When the pages gathered for each stream's next copy program are in RAM.
    copies_ready: [DeviceTime; Stream::ALL.len()],
    /// Copies out of native superblocks, and out of the SLC buffer.
    window: CopyWindow,
    drain_window: CopyWindow,
    /// Whether the copies gathered last come out of the SLC buffer.
    draining: bool,
    /// When the last erase ends: the drive's own work in idle time waits for it.
    erased_at: DeviceTime,
    dice: u64,
    /// The list of pages being copied, kept for its memory.
    pages: Vec<u32>,
}

impl Collector {
    pub(super) fn new(profile: &SsdProfile) -> Self {
        let dies = profile.dies();
        Self {
            policy: Policy::new(profile),
            collecting: false,
            pacer: Pacer::default(),
            data_path: DataPath::new(profile),
            copies_ready: <[DeviceTime; Stream::ALL.len()]>::default(),
            window: CopyWindow::new(profile.gc.copy_dies, dies),
            drain_window: CopyWindow::new(profile.slc_buffer.drain_dies, dies),
            draining: false,
            erased_at: DeviceTime::default(),
            dice: 0,
            pages: Vec::new(),
        }
    }

    /// Forgets what was under way.
    pub(super) fn reset(&mut self) {
        self.collecting = false;
        self.copies_ready = <[DeviceTime; Stream::ALL.len()]>::default();
        (self.data_path.busy, self.data_path.batch) = (Fifo::default(), 0);
        self.erased_at = DeviceTime::default();
        self.window.clear();
        self.drain_window.clear();
    }

    /// The copies that count with those out of superblocks of this mode.
    fn window(&mut self, draining: bool) -> &mut CopyWindow {
        if draining { &mut self.drain_window } else { &mut self.window }
    }
}

/// The controller's path for data to native cells, one page at a time: what limits copying where
/// the dies do not.
#[derive(Debug, Clone)]
struct DataPath {
    busy: Fifo,
    page_time: Nanos,
    copy_time: Nanos,
    /// What is left of a batch of copies whose time is taken, and when the next of them is its turn.
    batch: u32,
    next: DeviceTime,
}

impl DataPath {
    fn new(profile: &SsdProfile) -> Self {
        let firmware = &profile.firmware;
        let (page_time, copy_time) = (firmware.page_time, firmware.copy_time);
        Self { busy: Fifo::default(), page_time, copy_time, batch: 0, next: DeviceTime::default() }
    }

    /// Takes the time of a batch of so many copies, which are made as that time goes by.
    fn take_batch(&mut self, ready: DeviceTime, pages: u32) {
        if self.batch == 0 {
            self.next = ready.max(self.busy.free_at());
        }
        self.batch = self.batch.saturating_add(pages);
        self.busy.serve(ready, self.copy_time * u64::from(pages));
    }

    /// When the next copy of a batch is its turn, if that is by `now`.
    fn next_of_batch(&self, now: DeviceTime) -> Option<DeviceTime> {
        (self.batch > 0 && self.next <= now).then_some(self.next)
    }

    /// Takes `pages` copies; returns when they may be read.
    fn copy(&mut self, ready: DeviceTime, pages: u32) -> DeviceTime {
        if self.batch > 0 {
            self.batch = self.batch.saturating_sub(pages);
            self.next = self.next + self.copy_time * u64::from(pages);
            return ready;
        }
        if self.copy_time == Nanos::ZERO {
            return ready;
        }
        self.busy.serve(ready, self.copy_time * u64::from(pages))
    }

    /// Takes the time of so many copies that are not made.
    fn hold(&mut self, ready: DeviceTime, copies: u32) {
        if copies > 0 {
            self.busy.serve(ready, self.copy_time * u64::from(copies));
        }
    }

    /// Takes a program of the host, after the copies before it; returns when it may start.
    fn program(&mut self, ready: DeviceTime, program: &Program) -> DeviceTime {
        if program.mode == CellMode::Slc || self.page_time + self.copy_time == Nanos::ZERO {
            return ready;
        }
        self.busy.serve(ready, self.page_time * u64::from(program.host_pages))
    }

    /// How long it takes so many pages of the host with a copy for each of them.
    fn with_copies(&self, pages: u32) -> Nanos {
        (self.page_time + self.copy_time) * u64::from(pages)
    }

    /// When it has done what it was given.
    fn free_at(&self) -> DeviceTime {
        self.busy.free_at()
    }
}

impl Ftl {
    /// Before a program of the host: does the copying that its pages have to pay for; returns when
    /// the program may start.
    pub(super) fn pace(&mut self, program: &Program, now: DeviceTime) -> DeviceTime {
        // What goes into an SLC buffer takes no native space.
        if program.mode == CellMode::Slc {
            return now;
        }
        let free = self.native_free();
        let gc = &self.collector.policy.gc;
        self.collector.collecting = is_short_of_space(gc, self.collector.collecting, free);
        if !self.collector.collecting {
            self.drain_under_load(program, now);
            return self.collector.data_path.program(now, program);
        }
        let parts = if gc.pacing == Pacing::Smooth { self.parts_free() } else { 0 };
        let space = Free { superblocks: free, parts };
        // Whom link or buffer keep waiting for longer than a program takes here is collected for in turn.
        let waited = now.since(self.nand.now());
        let is_pressed = waited > self.collector.data_path.with_copies(program.host_pages);
        let batch = if is_pressed { 1 } else { gc.batch };
        let budget = self.collector.pacer.copies_for(gc, program.host_pages, space, batch);
        if gc.batch > 1 {
            // The copies themselves follow as their time comes: `advance`.
            self.collector.data_path.take_batch(now, budget);
            return self.collector.data_path.program(now, program);
        }
        let mut copied = 0;
        while copied < budget
            && let Some(pages) = self.collect(Occasion::Program, now)
        {
            copied += pages;
        }
        let Collector { pacer, policy, data_path, window, .. } = &mut self.collector;
        data_path.hold(now, pacer.held_for(&policy.gc, program.host_pages).saturating_sub(copied));
        data_path.program(window.admit(now), program)
    }

    /// Moves the time on, and with it the copies of a batch.
    #[inline]
    pub(super) fn advance(&mut self, now: DeviceTime) {
        while let Some(at) = self.collector.data_path.next_of_batch(now) {
            self.nand.advance(at);
            if self.collect(Occasion::Program, at).is_none() {
                self.collector.data_path.batch = 0;
            }
        }
        self.nand.advance(now);
    }

    /// What is left of open superblocks in native mode, and what was won of the victim, in [`ONE`]ths of a
    /// superblock.
    fn parts_free(&self) -> u64 {
        let native = Stream::ALL.iter().map(|stream| &self.streams[*stream]);
        let native = native.filter(|frontier| frontier.mode == CellMode::Native);
        let open: u64 = native.map(|frontier| frontier.share_left(ONE)).sum();
        let won = self.evacuation.as_ref().map_or(0, |evacuation| {
            u64::from(evacuation.slot) * ONE / u64::from(self.superblock_pages.max(1))
        });
        open + won
    }

    /// A drive that empties its SLC buffer under load does so beside every program past it.
    fn drain_under_load(&mut self, program: &Program, now: DeviceTime) {
        let quantum = self.collector.policy.slc.drain_quantum;
        if quantum == 0 || program.mode == CellMode::Slc {
            return;
        }
        let budget = program.host_pages.saturating_mul(quantum);
        let mut steps = 0;
        while steps < budget
            && let Some(pages) = self.collect(Occasion::PastBuffer, now)
        {
            steps += pages.max(1);
        }
    }

    /// Before the host opens a native superblock: collects until one is left over for copies. Where
    /// pacing has kept up, there is nothing to do.
    pub(super) fn reserve_superblock(&mut self, now: DeviceTime) -> Result<(), ReadOnly> {
        let pages = u64::from(self.superblocks.count()) * u64::from(self.superblock_pages);
        let mut patience = 16 * pages;
        while self.native_free() < FREE_TO_OPEN {
            match self.collect(Occasion::Shortage, now).map(u64::from) {
                Some(copied) if copied < patience => patience -= copied,
                _ => {
                    self.read_only = true;
                    return Err(ReadOnly);
                }
            }
        }
        Ok(())
    }

    /// In a shared frontier the host must not take the last slots that the victim's pages need: if
    /// no superblock is free, the victim is emptied first.
    pub(super) fn make_way_for_copies(&mut self, now: DeviceTime) {
        if self.collector.policy.gc.separate_copies || self.native_free() > 0 {
            return;
        }
        while self.collect(Occasion::LastSlots, now).is_some() {}
    }

    /// One step of work in idle time, not before `now`; `idle` is how long the drive has been idle.
    /// Returns when the next step may begin; `None` if nothing is left to do.
    pub(super) fn work_when_idle(&mut self, now: DeviceTime, idle: Nanos) -> Option<DeviceTime> {
        let step = self.choose(Occasion::Idle(idle));
        self.act(step, now)?;
        // An erase ends after every copy that was scheduled before it.
        let copies = self.collector.window(matches!(step, Step::Drain(_))).opens_at();
        let path = self.collector.data_path.free_at();
        Some(now.max(copies).max(self.collector.erased_at).max(path))
    }

    /// One step of collection; returns how many pages it copied, `None` if there is nothing to do
    /// or no place to copy to.
    #[inline]
    pub(super) fn collect(&mut self, occasion: Occasion, now: DeviceTime) -> Option<u32> {
        let step = self.choose(occasion);
        self.act(step, now)
    }

    #[inline]
    fn choose(&mut self, occasion: Occasion) -> Step {
        let view = View {
            policy: &self.collector.policy,
            superblocks: &self.superblocks,
            superblock_pages: self.superblock_pages,
            native_free: self.native_free(),
            victim: self.evacuation.as_ref().map(|evacuation| evacuation.victim),
        };
        let mut dice = self.collector.dice;
        let step = collect::next(view, occasion, &mut dice);
        self.collector.dice = dice;
        step
    }

    #[inline(never)]
    fn act(&mut self, step: Step, now: DeviceTime) -> Option<u32> {
        match step {
            Step::Wait => None,
            Step::Copy(victim) | Step::Drain(victim) => {
                let slot = self.take(victim);
                self.copy_from(victim, slot, now)
            }
            Step::Erase(victim) => {
                self.take(victim);
                self.evacuation = None;
                self.erase(victim, now);
                Some(0)
            }
            Step::GiveUp(victim) => {
                self.evacuation = None;
                self.superblocks.give_back(victim);
                Some(0)
            }
        }
    }

    /// Makes a full superblock the victim, if it is not already; returns its next slot.
    fn take(&mut self, victim: SuperblockId) -> u32 {
        match &self.evacuation {
            Some(evacuation) => evacuation.slot,
            None => {
                let policy = &self.collector.policy;
                let is_for_wear = policy.is_behind(&self.superblocks, victim);
                self.superblocks.take(victim);
                let cost = Cost::of(self.superblocks.valid(victim), self.superblock_pages);
                self.collector.pacer.begins(&policy.gc, cost, is_for_wear);
                self.evacuation = Some(Evacuation { victim, slot: 0, is_for_wear });
                0
            }
        }
    }

    /// Copies what the program at `slot` of the victim holds and goes on to the next; returns how
    /// many pages that were, or `None` if there is no place to copy to.
    fn copy_from(&mut self, victim: SuperblockId, slot: u32, now: DeviceTime) -> Option<u32> {
        if slot.is_multiple_of(LOOK_AHEAD) {
            self.look_ahead(victim, slot);
        }
        let pages = self.valid_in_program(victim, slot);
        let count = pages.len() as u32;
        let has_room = count == 0 || self.has_room_for_copies(victim, count);
        if count > 0 && has_room {
            self.copy_program(victim, slot, &pages, now);
        }
        self.collector.pages = pages;
        let next = if has_room { slot + self.layout.slots_per_program } else { slot };
        if let Some(evacuation) = &mut self.evacuation {
            evacuation.slot = next;
        }
        has_room.then_some(count)
    }

    fn erase(&mut self, victim: SuperblockId, now: DeviceTime) {
        let mode = self.superblocks.mode(victim);
        self.collector.erased_at = self.nand.erase_superblock(now, mode);
        let (in_use, needed) = (self.superblocks.in_use(), self.superblocks_needed());
        let may_retire = self.native_free() >= 2 && in_use > needed;
        self.superblocks.erase(victim, may_retire);
        // The next one to fail would take data with it: what there is can still be read.
        self.read_only |= in_use <= needed && self.superblocks.is_worn_out(victim);
    }

    /// So many hold all pages, and let collection go on.
    pub(super) fn superblocks_needed(&self) -> u32 {
        let data = self.pages.div_ceil(self.superblock_pages.max(1));
        data + self.spare_min + self.slc_reserved
    }

    /// Whether `count` pages have a place to be copied to.
    fn has_room_for_copies(&self, victim: SuperblockId, count: u32) -> bool {
        let frontier = &self.streams[self.stream_of_copies(victim)];
        self.native_free() > 0
            || (frontier.mode == CellMode::Native && frontier.fits(count, &self.layout))
    }

    /// Brings the map entries of the victim's next pages near, together.
    fn look_ahead(&mut self, victim: SuperblockId, slot: u32) {
        let first = self.layout.ppa(victim, slot).0 as usize;
        let end = (first + LOOK_AHEAD as usize).min(self.p2l.len());
        let pages = self.p2l[first..end].iter();
        let l2p = &self.l2p[..];
        black_box(pages.fold(0, |sum, lpn| sum ^ l2p[*lpn as usize]));
    }

    /// The logical pages whose data lies in this program of the victim, in the collector's list.
    fn valid_in_program(&mut self, victim: SuperblockId, slot: u32) -> Vec<u32> {
        let mut pages = std::mem::take(&mut self.collector.pages);
        let first = self.layout.ppa(victim, slot).0;
        let end = first + self.layout.slots_per_program;
        let l2p = &self.l2p[..];
        let slots = self.p2l[first as usize..end as usize].iter().zip(first..);
        // Every page is put in its place and only a valid one stays there: nothing for the processor to guess.
        pages.resize(self.layout.slots_per_program as usize, 0);
        let mut valid = 0;
        for (lpn, ppa) in slots {
            pages[valid] = *lpn;
            valid += usize::from(l2p[*lpn as usize] == ppa);
        }
        pages.truncate(valid);
        pages
    }

    /// Copies the valid `pages` of one program of the victim.
    fn copy_program(&mut self, victim: SuperblockId, slot: u32, pages: &[u32], now: DeviceTime) {
        let draining = self.superblocks.mode(victim) == CellMode::Slc;
        self.collector.draining = draining;
        let start = self.collector.window(draining).admit(now);
        let start = self.collector.data_path.copy(start, pages.len() as u32);
        let in_ram = self.read_victim(victim, slot, pages, start);
        let (mut left, stream) = (pages, self.stream_of_copies(victim));
        let ready = &mut self.collector.copies_ready[stream as usize];
        *ready = in_ram.max(*ready);
        while !left.is_empty() {
            if self.streams[stream].room() == 0 {
                self.open(stream, CellMode::Native, start);
            }
            let room = self.streams[stream].room() as usize;
            let (run, later) = left.split_at(left.len().min(room));
            self.place_copies(stream, run, start);
            left = later;
        }
        self.superblocks.invalidate(victim, pages.len() as u32);
    }

    fn read_victim(
        &mut self,
        victim: SuperblockId,
        slot: u32,
        pages: &[u32],
        start: DeviceTime,
    ) -> DeviceTime {
        let (program, mode) = (self.layout.program_of(slot), self.superblocks.mode(victim));
        let die = self.layout.die_of(program);
        if self.layout.is_lost(die) {
            // Valid pages there have the rest of their stripe; the others were lost with the die.
            return self.reconstruct(program, mode, start).unwrap_or(start);
        }
        let ppa = self.layout.ppa(victim, slot);
        let senses = self.retries.senses(&self.superblocks, victim, ppa, start);
        let by_plane = self.collector.policy.gc.reads_by_plane;
        let senses = if by_plane { senses * self.planes_of(pages) } else { senses };
        self.nand.read_ahead_of_time(start, die, mode, pages.len() as u32, senses)
    }

    /// How many planes hold these pages, which lie in one program in the order of their places.
    fn planes_of(&self, pages: &[u32]) -> u32 {
        let plane = |lpn: u32| self.l2p[lpn as usize] / self.nand.units_per_plane();
        pages.chunk_by(|one, next| plane(*one) == plane(*next)).count() as u32
    }

    /// Copies have streams of their own, or go among the host's pages. What is hot, or where there are
    /// generations whatever the host has written, is among its like after the first copy, and with all
    /// others after the second. What is moved for wear may be apart from all of them.
    fn stream_of_copies(&self, victim: SuperblockId) -> Stream {
        let (policy, gc) = (&self.collector.policy, &self.collector.policy.gc);
        let is_for_wear = self.evacuation.as_ref().is_some_and(|one| one.is_for_wear);
        match self.opened_for[victim.0 as usize] {
            _ if !gc.separate_copies => Stream::Host,
            _ if policy.moves_apart() && !is_for_wear => Stream::YoungCopies,
            Stream::Hot => Stream::YoungCopies,
            Stream::Host | Stream::Slc if gc.generations > 1 => Stream::YoungCopies,
            Stream::Host | Stream::Slc | Stream::YoungCopies | Stream::Copies => Stream::Copies,
        }
    }

    /// Gives pages that fit the program being gathered their new places; their old ones are
    /// counted off by the caller.
    fn place_copies(&mut self, stream: Stream, pages: &[u32], start: DeviceTime) {
        let (count, layout) = (pages.len() as u32, self.layout);
        let first = self.streams[stream].take(count, &layout);
        self.superblocks.validate(layout.superblock_of(first), count);
        let slots = first.0 as usize..(first.0 + count) as usize;
        self.p2l[slots].copy_from_slice(pages);
        let l2p = &mut self.l2p[..];
        for (lpn, to) in pages.iter().zip(first.0..) {
            l2p[*lpn as usize] = to;
        }
        if let Some(cache) = &mut self.map_cache {
            for lpn in pages.iter().map(|lpn| Lpn(*lpn)) {
                cache.look_up(lpn, 1, true, self.nand.now(), &mut self.nand);
            }
        }
        if self.streams[stream].room() == 0 {
            self.program_copies(stream, start);
        }
    }

    pub(super) fn program_copies(&mut self, stream: Stream, start: DeviceTime) {
        let ready = &mut self.collector.copies_ready[stream as usize];
        let ready = std::mem::take(ready).max(start);
        let program = self.end_program(stream, start);
        let finished = self.program(stream, program, ready);
        let draining = self.collector.draining;
        self.collector.window(draining).push(finished);
    }
}
