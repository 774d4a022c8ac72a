//! The flash translation layer: where each logical page is, where the next one goes, and how
//! space is won back.
//!
//! Logical pages of 4 KiB map to physical page slots of 4 KiB through a flat table. Two write
//! frontiers, one for the host and one for copies, fill superblocks slot by slot; consecutive
//! programs go to consecutive dies.

use writecliff_device::{Bytes, DeviceTime};

use super::nand::Nand;
use super::superblocks::{SuperblockId, Superblocks};
use super::write_buffer::WriteBuffer;
use crate::profile::{Gc, MAPPING_UNIT, Profile};

/// A logical page: the mapping unit's number in the host's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lpn(pub(super) u32);

/// A physical page slot: superblock × slots + slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ppa(pub(super) u32);

/// "Not mapped" in either table; profiles keep below it.
pub(super) const UNMAPPED: u32 = u32::MAX;

/// How a superblock is cut into slots, programs and dies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Mapping units of one superblock.
    pub(super) slots: u32,
    /// Mapping units of one program (a page of every plane of a die).
    pub(super) slots_per_program: u32,
    pub(super) dies: u32,
}

impl Layout {
    pub(super) fn superblock_of(self, ppa: Ppa) -> SuperblockId {
        SuperblockId(ppa.0 / self.slots)
    }

    fn die_of(self, slot: u32) -> u32 {
        slot / self.slots_per_program % self.dies
    }

    fn ppa(self, superblock: SuperblockId, slot: u32) -> Ppa {
        Ppa(superblock.0 * self.slots + slot)
    }
}

/// Where a stream of writes goes: the next slot of its open superblock.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    pub(super) superblock: Option<SuperblockId>,
    pub(super) slot: u32,
}

/// A collection under way: the next slot of the victim to look at.
#[derive(Debug)]
pub(super) struct Evacuation {
    pub(super) victim: SuperblockId,
    slot: u32,
}

/// Mapping, frontiers and garbage collection.
#[derive(Debug)]
pub(super) struct Ftl {
    pub(super) layout: Layout,
    pub(super) l2p: Vec<u32>,
    pub(super) p2l: Vec<u32>,
    pub(super) superblocks: Superblocks,
    pub(super) host: Frontier,
    pub(super) copies: Frontier,
    pub(super) evacuation: Option<Evacuation>,
    gc: Gc,
    /// Between low and high water, whether free superblocks are on their way up.
    collecting: bool,
    /// When the data of the open program of copies have all been read.
    copies_ready: DeviceTime,
}

impl Ftl {
    pub(super) fn new(profile: &Profile) -> Self {
        let units = |bytes: Bytes| (bytes.0 / MAPPING_UNIT.0) as u32;
        let layout = Layout {
            slots: units(profile.superblock_size()),
            slots_per_program: units(profile.program_size()),
            dies: profile.dies(),
        };
        let superblocks = Superblocks::new(profile.superblocks(), layout.slots);
        Self {
            layout,
            l2p: vec![UNMAPPED; units(profile.identity.capacity) as usize],
            p2l: vec![UNMAPPED; (superblocks.count() * layout.slots) as usize],
            superblocks,
            host: Frontier::default(),
            copies: Frontier::default(),
            evacuation: None,
            gc: profile.gc.clone(),
            collecting: false,
            copies_ready: DeviceTime::default(),
        }
    }

    /// Puts one page that is in the write buffer at `admitted` on its way to NAND; the buffer slot
    /// stays taken until its program has ended.
    pub(super) fn write(
        &mut self,
        lpn: Lpn,
        admitted: DeviceTime,
        nand: &mut Nand,
        buffer: &mut WriteBuffer,
    ) {
        if self.host.superblock.is_none() {
            self.reserve_superblock(admitted, nand);
        }
        let ppa = self.host.take(self.layout, &mut self.superblocks);
        self.remap(lpn, ppa);
        if self.host.completes_program(self.layout) {
            self.program_host_page(admitted, nand, buffer);
        }
    }

    /// Programs what the host's open program holds, padded with invalid slots if it is not full.
    pub(super) fn flush(&mut self, now: DeviceTime, nand: &mut Nand, buffer: &mut WriteBuffer) {
        if !self.host.completes_program(self.layout) {
            self.program_host_page(now, nand, buffer);
        }
    }

    /// Forgets one page's data.
    pub(super) fn trim(&mut self, lpn: Lpn) {
        let old = std::mem::replace(&mut self.l2p[lpn.0 as usize], UNMAPPED);
        self.invalidate(old);
    }

    /// The die that a page must be read from; `None` if it holds no data.
    pub(super) fn die_of(&self, lpn: Lpn) -> Option<u32> {
        let ppa = self.l2p[lpn.0 as usize];
        (ppa != UNMAPPED).then(|| self.layout.die_of(ppa % self.layout.slots))
    }

    /// Erases every superblock that is not free and forgets all data; returns how many those were.
    pub(super) fn erase_all(&mut self) -> u32 {
        self.l2p.fill(UNMAPPED);
        self.p2l.fill(UNMAPPED);
        self.host = Frontier::default();
        self.copies = Frontier::default();
        self.evacuation = None;
        self.collecting = false;
        self.superblocks.erase_all()
    }

    fn remap(&mut self, lpn: Lpn, ppa: Ppa) {
        let old = std::mem::replace(&mut self.l2p[lpn.0 as usize], ppa.0);
        self.p2l[ppa.0 as usize] = lpn.0;
        self.superblocks.validate(self.layout.superblock_of(ppa), 1);
        self.invalidate(old);
    }

    fn invalidate(&mut self, old: u32) {
        if old != UNMAPPED {
            self.p2l[old as usize] = UNMAPPED;
            self.superblocks.invalidate(self.layout.superblock_of(Ppa(old)));
        }
    }

    fn program_host_page(&mut self, now: DeviceTime, nand: &mut Nand, buffer: &mut WriteBuffer) {
        let (die, slots) = self.host.end_program(self.layout, &mut self.superblocks);
        let finished = nand.program(now, die);
        buffer.hold(slots, finished);
        self.pace(now, nand);
    }

    /// Each program of the host pays for its share of copying while free superblocks are low, the
    /// more the fewer are left.
    fn pace(&mut self, now: DeviceTime, nand: &mut Nand) {
        let free = self.superblocks.free_count();
        self.collecting = free <= self.gc.free_low || (self.collecting && free < self.gc.free_high);
        if self.collecting {
            let pages = self.gc.copies_per_write(free) * u64::from(self.layout.slots_per_program);
            let budget = u32::try_from(pages).unwrap_or(u32::MAX);
            self.evacuate(budget, self.gc.free_high, now, nand);
        }
    }

    /// Before the host opens a superblock: collects until one is left over for copies. Where
    /// pacing has kept up, there is nothing to do.
    fn reserve_superblock(&mut self, now: DeviceTime, nand: &mut Nand) {
        while self.superblocks.free_count() < 2 {
            self.evacuate(self.layout.slots, 2, now, nand);
        }
    }

    /// Copies up to `budget` valid pages of victims to the frontier of copies, and erases each
    /// victim when none is left in it. Takes no new victim once `enough` superblocks are free.
    fn evacuate(&mut self, mut budget: u32, enough: u32, now: DeviceTime, nand: &mut Nand) {
        while budget > 0 {
            let Some(Evacuation { victim, slot }) =
                self.evacuation.take().or_else(|| self.next_victim(enough))
            else {
                return;
            };
            if self.superblocks.valid(victim) == 0 {
                nand.erase_superblock(now);
                self.superblocks.erase(victim);
                continue;
            }
            let copied = self.copy_program(victim, slot, now, nand);
            budget = budget.saturating_sub(copied);
            let slot = slot + self.layout.slots_per_program;
            self.evacuation = Some(Evacuation { victim, slot });
        }
    }

    fn next_victim(&mut self, enough: u32) -> Option<Evacuation> {
        if self.superblocks.free_count() >= enough {
            return None;
        }
        self.superblocks.take_victim().map(|victim| Evacuation { victim, slot: 0 })
    }

    /// Copies the valid pages of one program of the victim; returns how many those were.
    fn copy_program(
        &mut self,
        victim: SuperblockId,
        slot: u32,
        now: DeviceTime,
        nand: &mut Nand,
    ) -> u32 {
        let first = self.layout.ppa(victim, slot).0 as usize;
        let program = first..first + self.layout.slots_per_program as usize;
        let valid = self.p2l[program.clone()].iter().filter(|lpn| **lpn != UNMAPPED).count() as u32;
        if valid == 0 {
            return 0;
        }
        let read = nand.read(now, self.layout.die_of(slot), valid);
        self.copies_ready = self.copies_ready.max(read);
        for from in program {
            let lpn = self.p2l[from];
            if lpn == UNMAPPED {
                continue;
            }
            let to = self.copies.take(self.layout, &mut self.superblocks);
            self.remap(Lpn(lpn), to);
            if self.copies.completes_program(self.layout) {
                let (die, _) = self.copies.end_program(self.layout, &mut self.superblocks);
                nand.program(self.copies_ready, die);
                self.copies_ready = now;
            }
        }
        valid
    }
}

impl Frontier {
    /// The next slot; opens a free superblock when there is none open.
    fn take(&mut self, layout: Layout, superblocks: &mut Superblocks) -> Ppa {
        let superblock = *self.superblock.get_or_insert_with(|| superblocks.open());
        let ppa = layout.ppa(superblock, self.slot);
        self.slot += 1;
        ppa
    }

    /// Whether the slots taken so far make whole programs.
    fn completes_program(&self, layout: Layout) -> bool {
        self.slot.is_multiple_of(layout.slots_per_program)
    }

    /// Ends the open program, skipping the slots that were not taken, and closes the superblock if
    /// that was its last; returns the program's die and how many of its slots were taken.
    fn end_program(&mut self, layout: Layout, superblocks: &mut Superblocks) -> (u32, u32) {
        let first = (self.slot - 1) / layout.slots_per_program * layout.slots_per_program;
        let taken = self.slot - first;
        self.slot = first + layout.slots_per_program;
        if self.slot == layout.slots {
            superblocks.close(self.superblock.take().expect("a program is open"));
            self.slot = 0;
        }
        (layout.die_of(first), taken)
    }
}
