//! Garbage collection: which superblock is emptied, when, how fast, and the copying itself.
//!
//! Copying is done in small steps, one program of a victim at a time. The pacing policy decides how
//! many of them each program of the host pays for; idle time pays for others. State moves on when
//! a copy is scheduled; the time it takes is on the dies and in the [`CopyWindow`].

use std::hint::black_box;

use writecliff_device::{DeviceTime, Nanos};

use super::ftl::Ftl;
use crate::profile::{Gc, Levelling, Pacing, SlcKind, SsdProfile, Victim};
use crate::ssd::array::{CellMode, Lpn, ReadOnly, SuperblockId};
use crate::ssd::collect::victim;
use crate::ssd::front::Stream;

/// Map entries looked up ahead of the copying, so that the processor waits for them together.
const LOOK_AHEAD: u32 = 256;

/// A collection under way: the next slot of the victim to look at.
#[derive(Debug)]
pub(super) struct Evacuation {
    pub(super) victim: SuperblockId,
    pub(super) slot: u32,
}

/// The policies' own state.
#[derive(Debug)]
pub(super) struct Collector {
    gc: Gc,
    levelling: Levelling,
    static_gap: u32,
    /// Between low and high water.
    collecting: bool,
    /// When the pages gathered for the next copy program are in RAM.
    copies_ready: DeviceTime,
    /// Copies out of native superblocks, and out of the SLC buffer.
    window: CopyWindow,
    drain_window: CopyWindow,
    /// Whether the copies gathered last come out of the SLC buffer.
    draining: bool,
    /// When the last erase ends: the drive's own work in idle time waits for it.
    erased_at: DeviceTime,
    /// Before this the host's next program does not start.
    host_next: DeviceTime,
    random: u64,
    /// The list of pages being copied, kept for its memory.
    pages: Vec<u32>,
}

impl Collector {
    pub(super) fn new(profile: &SsdProfile) -> Self {
        let dies = profile.dies();
        Self {
            gc: profile.gc.clone(),
            levelling: profile.wear.levelling,
            static_gap: profile.wear.static_gap,
            collecting: false,
            copies_ready: DeviceTime::default(),
            window: CopyWindow::new(profile.gc.copy_dies, dies),
            drain_window: CopyWindow::new(profile.slc_buffer.drain_dies, dies),
            draining: false,
            erased_at: DeviceTime::default(),
            host_next: DeviceTime::default(),
            random: 0,
            pages: Vec::new(),
        }
    }

    /// Forgets what was under way.
    pub(super) fn reset(&mut self) {
        self.collecting = false;
        self.copies_ready = DeviceTime::default();
        self.host_next = DeviceTime::default();
        self.erased_at = DeviceTime::default();
        self.window.clear();
        self.drain_window.clear();
    }

    /// The copies that count with those out of superblocks of this mode.
    fn window(&mut self, draining: bool) -> &mut CopyWindow {
        if draining { &mut self.drain_window } else { &mut self.window }
    }
}

/// The copies under way: at most as many as dies may copy at once. In idle time a drive without
/// such a limit copies on all dies, and no faster.
#[derive(Debug)]
struct CopyWindow {
    ends: Vec<DeviceTime>,
    oldest: usize,
    is_limited: bool,
}

impl CopyWindow {
    /// A limit of zero is none.
    fn new(limit: u32, dies: u32) -> Self {
        let width = if limit == 0 { dies } else { limit };
        let ends = vec![DeviceTime::default(); width as usize];
        Self { ends, oldest: 0, is_limited: limit > 0 }
    }

    /// When the next copy may start in idle time.
    fn opens_at(&self) -> DeviceTime {
        self.ends[self.oldest]
    }

    /// When a copy that is due at `now` may start.
    fn admit(&self, now: DeviceTime) -> DeviceTime {
        if self.is_limited { now.max(self.opens_at()) } else { now }
    }

    fn push(&mut self, end: DeviceTime) {
        self.ends[self.oldest] = end;
        self.oldest = (self.oldest + 1) % self.ends.len();
    }

    fn clear(&mut self) {
        self.ends.fill(DeviceTime::default());
    }
}

/// The pacing policy: pages to copy for `pages` pages of the host with `free` superblocks free.
///
/// Eager: a quantum above what the steady state needs makes the drive alternate between full speed
/// and collection; one below it lets free superblocks settle where copying just keeps up, since the
/// number grows with the square of what is missing below low water.
fn copies_for(gc: &Gc, pages: u32, free: u32) -> u32 {
    let (copies, low) = (u64::from(pages) * u64::from(gc.quantum), u64::from(gc.free_low));
    let copies = match gc.pacing {
        Pacing::Lazy => copies,
        Pacing::Eager => {
            let free = u64::from(free.max(1)).min(low);
            copies * low * low / (free * free)
        }
    };
    u32::try_from(copies).unwrap_or(u32::MAX)
}

impl Ftl {
    /// Before a program with `host_pages` of the host: does the copying that they have to pay for;
    /// returns when the program may start.
    pub(super) fn pace(&mut self, host_pages: u32, now: DeviceTime) -> DeviceTime {
        let free = self.native_free();
        let Gc { free_low, free_high, host_interval, .. } = self.collector.gc;
        self.collector.collecting =
            free <= free_low || (self.collector.collecting && free < free_high);
        if !self.collector.collecting {
            self.drain_under_load(host_pages, now);
            return now;
        }
        let budget = copies_for(&self.collector.gc, host_pages, free);
        let copied = self.evacuate(budget, free_high, now);
        let mut start = self.collector.window.admit(now);
        if copied > 0 && host_interval > Nanos::ZERO {
            start = start.max(self.collector.host_next);
            self.collector.host_next = start + host_interval;
        }
        start
    }

    /// Before the host opens a superblock: collects until one is left over for copies. Where
    /// pacing has kept up, there is nothing to do.
    pub(super) fn reserve_superblock(&mut self, now: DeviceTime) -> Result<(), ReadOnly> {
        let mut patience = 16 * self.superblocks.count();
        while self.native_free() < 2 {
            if self.native_evacuation_waits() {
                self.give_evacuation_up();
            }
            self.evacuate(self.superblock_pages, 2, now);
            patience -= 1;
            if patience == 0 || (self.evacuation.is_none() && self.native_free() < 2) {
                self.read_only = true;
                return Err(ReadOnly);
            }
        }
        Ok(())
    }

    /// In a shared frontier the host must not take the last slots that the victim's pages need: if
    /// no superblock is free, the victim is emptied first.
    pub(super) fn make_way_for_copies(&mut self, now: DeviceTime) {
        if self.collector.gc.separate_copies || self.native_free() > 0 {
            return;
        }
        while self.evacuation.is_some() && self.copy_step(now).is_some() {}
    }

    /// Copies up to `budget` valid pages of victims to the frontier of copies, and erases each
    /// victim when none is left in it; returns how many pages it copied. Takes no new victim once
    /// `enough` superblocks are free.
    fn evacuate(&mut self, budget: u32, enough: u32, now: DeviceTime) -> u32 {
        let mut copied = 0;
        while copied < budget {
            if self.evacuation.is_none() && self.native_free() < enough {
                self.begin_evacuation(self.collector.gc.victim != Victim::Random);
            }
            match self.copy_step(now) {
                Some(pages) => copied += pages,
                None => break,
            }
        }
        copied
    }

    /// Chooses a victim, if there is one. Chance asks for no gain, which is its price; idle time
    /// does, or it would never be done.
    fn begin_evacuation(&mut self, asks_for_gain: bool) {
        if let Some(victim) = self.victim(asks_for_gain) {
            self.superblocks.take(victim);
            self.evacuation = Some(Evacuation { victim, slot: 0 });
        }
    }

    /// The policy's victim: of the superblocks whose collection wins space, or one that has fallen
    /// behind in wear.
    fn victim(&mut self, asks_for_gain: bool) -> Option<SuperblockId> {
        if let Some(unworn) = self.left_behind() {
            return Some(unworn);
        }
        let mut random = self.collector.random;
        let (pages, is_fixed) = (self.superblock_pages, self.slc.kind == SlcKind::Fixed);
        let blocks = &self.superblocks;
        let may_be_chosen = |id| {
            let is_set_aside = is_fixed && blocks.mode(id) == CellMode::Slc;
            (blocks.valid(id) < pages || !asks_for_gain) && !is_set_aside
        };
        let chosen = victim::choose(&self.collector.gc, blocks, pages, &mut random, may_be_chosen);
        self.collector.random = random;
        chosen
    }

    /// Static levelling: the least worn superblock, if it is too far behind the most worn one.
    fn left_behind(&self) -> Option<SuperblockId> {
        if self.collector.levelling != Levelling::Static || self.native_free() < 2 {
            return None;
        }
        let native = |id: &SuperblockId| self.superblocks.mode(*id) == CellMode::Native;
        let erases = |id: &SuperblockId| self.superblocks.erases_of(*id);
        let least = self.superblocks.full().filter(native).min_by_key(erases)?;
        let most = (1..=self.superblocks.count()).map(|id| erases(&SuperblockId(id))).max()?;
        (most - erases(&least) > self.collector.static_gap).then_some(least)
    }

    /// Erases the victim if nothing valid is left in it, or copies what one program of it holds;
    /// returns how many pages that were, or `None` if there is no victim or no place to copy to.
    fn copy_step(&mut self, now: DeviceTime) -> Option<u32> {
        let Evacuation { victim, slot } = self.evacuation.take()?;
        if self.superblocks.valid(victim) == 0 {
            self.erase(victim, now);
            return Some(0);
        }
        self.evacuation = Some(Evacuation { victim, slot: slot + self.layout.slots_per_program });
        if slot.is_multiple_of(LOOK_AHEAD) {
            self.look_ahead(victim, slot);
        }
        let pages = self.valid_in_program(victim, slot);
        let count = pages.len() as u32;
        let has_room = count == 0 || self.has_room_for_copies(count);
        if count > 0 && has_room {
            self.copy_program(victim, slot, &pages, now);
        }
        self.collector.pages = pages;
        if !has_room {
            self.evacuation = Some(Evacuation { victim, slot });
            return None;
        }
        Some(count)
    }

    fn erase(&mut self, victim: SuperblockId, now: DeviceTime) {
        let mode = self.superblocks.mode(victim);
        self.collector.erased_at = self.nand.erase_superblock(now, mode);
        let needed = self.pages.div_ceil(self.superblock_pages.max(1)) + 3 + self.slc_reserved;
        let in_use = self.superblocks.count() - self.superblocks.retired();
        let may_retire = self.native_free() >= 2 && in_use > needed;
        self.superblocks.erase(victim, may_retire);
        // The next one to fail would take data with it: what there is can still be read.
        self.read_only |= in_use <= needed && self.superblocks.is_worn_out(victim);
    }

    /// Whether `count` pages have a place to be copied to.
    fn has_room_for_copies(&self, count: u32) -> bool {
        let frontier = &self.streams[self.stream_of_copies()];
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
        pages.clear();
        pages.extend(slots.filter(|(lpn, ppa)| l2p[**lpn as usize] == *ppa).map(|(lpn, _)| *lpn));
        pages
    }

    /// Copies the valid `pages` of one program of the victim.
    fn copy_program(&mut self, victim: SuperblockId, slot: u32, pages: &[u32], now: DeviceTime) {
        let draining = self.superblocks.mode(victim) == CellMode::Slc;
        self.collector.draining = draining;
        let start = self.collector.window(draining).admit(now);
        let in_ram = self.read_victim(victim, slot, pages.len() as u32, start);
        self.collector.copies_ready = self.collector.copies_ready.max(in_ram);
        let (mut left, stream) = (pages, self.stream_of_copies());
        while !left.is_empty() {
            if self.streams[stream].room() == 0 {
                self.open_for_copies(start);
            }
            let room = self.streams[stream].room() as usize;
            let (run, later) = left.split_at(left.len().min(room));
            self.place_copies(run, start);
            left = later;
        }
        self.superblocks.invalidate(victim, pages.len() as u32);
    }

    fn read_victim(
        &mut self,
        victim: SuperblockId,
        slot: u32,
        valid: u32,
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
        self.nand.read(start, die, mode, valid, senses)
    }

    /// Copies have a stream of their own, or go among the host's pages.
    fn stream_of_copies(&self) -> Stream {
        if self.collector.gc.separate_copies { Stream::Copies } else { Stream::Host }
    }

    fn open_for_copies(&mut self, start: DeviceTime) {
        let (id, layout) = (self.superblocks.open(CellMode::Native), self.layout);
        let stream = self.stream_of_copies();
        let skipped = self.streams[stream].open(id, CellMode::Native, &layout);
        self.program_parity(skipped, CellMode::Native, start);
    }

    /// Gives pages that fit the program being gathered their new places; their old ones are
    /// counted off by the caller.
    fn place_copies(&mut self, pages: &[u32], start: DeviceTime) {
        let (count, layout) = (pages.len() as u32, self.layout);
        let stream = self.stream_of_copies();
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
            self.program_copies(start);
        }
    }

    pub(super) fn program_copies(&mut self, start: DeviceTime) {
        let ready = std::mem::take(&mut self.collector.copies_ready).max(start);
        let program = self.end_program(self.stream_of_copies(), start);
        let finished = self.program(program, ready);
        let draining = self.collector.draining;
        self.collector.window(draining).push(finished);
    }

    /// Whether the evacuation under way wins no native superblock while one is needed.
    fn native_evacuation_waits(&self) -> bool {
        let is_slc = |e: &Evacuation| self.superblocks.mode(e.victim) == CellMode::Slc;
        self.slc.kind == SlcKind::Fixed && self.evacuation.as_ref().is_some_and(is_slc)
    }

    fn give_evacuation_up(&mut self) {
        if let Some(Evacuation { victim, .. }) = self.evacuation.take() {
            self.superblocks.give_back(victim);
        }
    }

    /// A drive that empties its SLC buffer under load does so beside every program past it.
    fn drain_under_load(&mut self, pages: u32, now: DeviceTime) {
        if self.slc.drain_quantum == 0 || self.streams[Stream::Host].mode == CellMode::Slc {
            return;
        }
        let budget = pages.saturating_mul(self.slc.drain_quantum);
        let mut steps = 0;
        while steps < budget && self.begin_drain() {
            match self.copy_step(now) {
                Some(copied) => steps += copied.max(1),
                None => return,
            }
        }
    }

    /// An SLC superblock whose pages were all overwritten or trimmed costs no copying: one at a
    /// time, the buffer has room again.
    pub(super) fn erase_an_empty_slc_superblock(&mut self, now: DeviceTime) {
        if self.superblocks.in_slc() == 0 || self.evacuation.is_some() {
            return;
        }
        let is_empty = |id: &SuperblockId| {
            self.superblocks.mode(*id) == CellMode::Slc && self.superblocks.valid(*id) == 0
        };
        let empty = self.superblocks.full().find(is_empty);
        if let Some(victim) = empty {
            self.superblocks.take(victim);
            self.erase(victim, now);
        }
    }

    /// Sees to it that a collection is under way, of the SLC superblock filled first if it is a
    /// new one. It takes native superblocks and wins none, so two must be left.
    fn begin_drain(&mut self) -> bool {
        if self.native_free() < 2 {
            return false;
        }
        if self.evacuation.is_none() {
            let in_slc = |id: &SuperblockId| self.superblocks.mode(*id) == CellMode::Slc;
            let first = |id: &SuperblockId| self.superblocks.closed(*id);
            let Some(victim) = self.superblocks.full().filter(in_slc).min_by_key(first) else {
                return false;
            };
            self.superblocks.take(victim);
            self.evacuation = Some(Evacuation { victim, slot: 0 });
        }
        true
    }

    /// One step of work in idle time, not before `now`; `idle` is how long the drive has been idle.
    /// Returns when the next step may begin, or when to ask again; `None` if nothing is left to do.
    pub(super) fn work_when_idle(&mut self, now: DeviceTime, idle: Nanos) -> Option<DeviceTime> {
        let collect_after = self.collector.gc.idle_after.unwrap_or(Nanos(u64::MAX));
        let drains = self.slc.kind != SlcKind::None && idle >= self.slc.drain_after;
        // What comes out of the buffer needs room, and the host's next writes do, too.
        let is_short = drains && self.is_draining_left() && self.native_free() <= self.low_water();
        let collects = idle >= collect_after && self.native_free() < self.collector.gc.idle_free;
        if collects || is_short {
            if self.evacuation.is_none() {
                self.begin_evacuation(true);
            }
            if self.copy_step(now).is_some() {
                let next = self.collector.window.opens_at().max(self.collector.erased_at);
                return Some(now.max(next));
            }
        }
        if drains && !is_short && self.begin_drain() {
            self.copy_step(now)?;
            let next = self.collector.drain_window.opens_at().max(self.collector.erased_at);
            return Some(now.max(next));
        }
        None
    }

    fn is_draining_left(&self) -> bool {
        self.superblocks.full().any(|id| self.superblocks.mode(id) == CellMode::Slc)
    }

    fn low_water(&self) -> u32 {
        self.collector.gc.free_low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eager_pacing_grows_as_space_gets_scarce_and_lazy_does_not() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.quantum, gc.free_low, gc.pacing) = (4, 8, Pacing::Eager);
        let copies: Vec<_> = [9, 8, 5, 4, 1].map(|free| copies_for(&gc, 10, free)).into();
        assert_eq!(copies, [40, 40, 102, 160, 2560]);
        gc.pacing = Pacing::Lazy;
        assert_eq!(copies_for(&gc, 10, 1), 40);
    }

    #[test]
    fn a_copy_window_opens_when_the_oldest_copy_has_ended() {
        let mut window = CopyWindow::new(2, 8);
        window.push(DeviceTime(100));
        assert_eq!(window.opens_at(), DeviceTime(0));
        window.push(DeviceTime(70));
        assert_eq!(window.opens_at(), DeviceTime(100));
        assert_eq!(window.admit(DeviceTime(20)), DeviceTime(100));
        assert_eq!(CopyWindow::new(0, 8).admit(DeviceTime(20)), DeviceTime(20));
    }
}
