//! The FTL of drives with too little RAM for a page map: whole superblocks are mapped, changes go
//! to log blocks and are merged with the data later (block-associative log blocks: Kim et al.,
//! 2002).
//!
//! A logical superblock that is written in order, from its beginning, is written in place. Any
//! other write goes to a log block that belongs to this logical superblock alone. When a log block
//! is full, or another one is needed and none is free, it is merged:
//!
//! - **switch**: the log holds all of the superblock in order and takes its place;
//! - **partial**: it holds the beginning in order; the rest is copied behind it, then it takes its
//!   place;
//! - **full**: anything else; the newest version of every page is copied to a new superblock.
//!
//! The host waits for a merge: so a drive whose random writes each need another log block moves a
//! whole superblock for every 4 KiB. There is no write buffer: a write is complete when it is in
//! NAND, and takes whole programs.

use std::collections::VecDeque;

use writecliff_device::DeviceTime;
use writecliff_profile::SsdProfile;

use crate::ssd::array::{
    Books, CellMode, FlashArray, Layout, Lost, Lpn, ReadOnly, SuperblockId, Superblocks,
};
use crate::stamps::Stamps;

/// No slot of the log holds this page.
const NOWHERE: u32 = u32::MAX;

/// Data blocks, log blocks, and the NAND below them.
#[derive(Debug, Clone)]
pub(crate) struct BlockMap {
    layout: Layout,
    superblocks: Superblocks,
    pub(super) nand: FlashArray,
    data: Vec<DataBlock>,
    /// The log block used last is at the end.
    logs: VecDeque<LogBlock>,
    log_blocks: usize,
    /// Superblocks that were trimmed and not written since: each is erased when it is used again.
    erases_due: u32,
    /// One bit for each logical page that holds data.
    mapped: Vec<u64>,
    endurance: u32,
    read_only: bool,
    /// What the pages hold, if somebody looks at it.
    pub(super) stamps: Option<Box<Stamps>>,
}

/// Where a logical superblock is, and how far it was written in order.
#[derive(Debug, Clone, Copy, Default)]
struct DataBlock {
    superblock: Option<SuperblockId>,
    written: u32,
}

/// The changes of one logical superblock.
#[derive(Debug, Clone)]
struct LogBlock {
    logical: u32,
    superblock: SuperblockId,
    /// The next slot, a multiple of the slots of a program.
    next: u32,
    /// Page n was written to slot n, for all of them so far.
    in_order: bool,
    /// The slot with the newest version of each page.
    slots: Vec<u32>,
}

impl BlockMap {
    pub(super) fn new(profile: &SsdProfile) -> Self {
        let layout = Layout::new(profile);
        let pages = profile.identity.capacity.0 / profile.mapping.unit.0;
        let per_superblock = u64::from(layout.programs * layout.slots_per_program);
        Self {
            superblocks: Superblocks::new(profile.superblocks(), &profile.wear),
            nand: FlashArray::new(profile),
            data: vec![DataBlock::default(); pages.div_ceil(per_superblock) as usize],
            logs: VecDeque::new(),
            log_blocks: profile.mapping.log_blocks as usize,
            erases_due: 0,
            mapped: vec![0; pages.div_ceil(64) as usize],
            endurance: profile.wear.endurance,
            read_only: false,
            stamps: None,
            layout,
        }
    }

    /// Writes `count` pages, superblock by superblock; returns when they are in NAND.
    pub(super) fn write(
        &mut self,
        lpn: Lpn,
        count: u32,
        arrived: DeviceTime,
    ) -> Result<DeviceTime, ReadOnly> {
        if self.read_only {
            return Err(ReadOnly);
        }
        let (mut next, end) = (lpn.0, lpn.0 + count);
        let mut written = arrived;
        while next < end {
            let (logical, offset) = self.split(Lpn(next));
            let pages = (end - next).min(self.slots() - offset);
            written = written.max(self.write_within(logical, offset, pages, arrived));
            next += pages;
        }
        (lpn.0..end).for_each(|page| self.mapped[page as usize / 64] |= 1 << (page % 64));
        Ok(written)
    }

    /// Whether a page holds anything.
    pub(super) fn holds(&self, lpn: Lpn) -> bool {
        self.mapped[lpn.0 as usize / 64] >> (lpn.0 % 64) & 1 == 1
    }

    /// Whether it is worn out, and takes no more writes.
    pub(super) fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn write_within(
        &mut self,
        logical: u32,
        offset: u32,
        pages: u32,
        at: DeviceTime,
    ) -> DeviceTime {
        let data = self.data[logical as usize];
        let has_log = self.logs.iter().any(|log| log.logical == logical);
        if offset == data.written && !has_log {
            return self.append_in_place(logical, pages, at);
        }
        let ready = self.use_log_of(logical, offset, pages, at);
        let Some(log) = self.logs.back_mut() else { return ready };
        let first = log.next;
        log.in_order &= offset == first;
        for page in 0..pages {
            log.slots[(offset + page) as usize] = first + page;
        }
        let programs = pages.div_ceil(self.layout.slots_per_program);
        log.next += programs * self.layout.slots_per_program;
        self.program(first, programs, ready)
    }

    /// Goes on where the superblock was written to; the first page opens it.
    fn append_in_place(&mut self, logical: u32, pages: u32, at: DeviceTime) -> DeviceTime {
        let mut ready = at;
        if self.data[logical as usize].superblock.is_none() {
            let (superblock, erased) = self.open(at);
            self.data[logical as usize].superblock = Some(superblock);
            ready = erased;
        }
        let first = self.data[logical as usize].written;
        let programs = pages.div_ceil(self.layout.slots_per_program);
        let end = first + programs * self.layout.slots_per_program;
        self.data[logical as usize].written = end.min(self.slots());
        self.program(first, programs, ready)
    }

    /// Puts a log block of this logical superblock with room for `pages` at the end of the list;
    /// returns when it can be written.
    fn use_log_of(&mut self, logical: u32, offset: u32, pages: u32, at: DeviceTime) -> DeviceTime {
        let programs = pages.div_ceil(self.layout.slots_per_program);
        let needed = programs * self.layout.slots_per_program;
        let mut ready = at;
        if let Some(place) = self.logs.iter().position(|log| log.logical == logical) {
            let starts_over = offset == 0 && self.logs[place].next == self.slots();
            if !starts_over && self.logs[place].next + needed <= self.slots() {
                let log = self.logs.remove(place);
                self.logs.extend(log);
                return ready;
            }
            ready = self.merge(place, ready);
        } else if self.logs.len() == self.log_blocks {
            ready = self.merge(0, ready);
        }
        let (superblock, erased) = self.open(ready);
        let log = LogBlock {
            logical,
            superblock,
            next: 0,
            in_order: true,
            slots: vec![NOWHERE; self.slots() as usize],
        };
        self.logs.push_back(log);
        erased
    }

    /// Makes one superblock of a log block and the data it belongs to; returns when it is done.
    fn merge(&mut self, place: usize, at: DeviceTime) -> DeviceTime {
        let Some(log) = self.logs.remove(place) else { return at };
        let old = self.data[log.logical as usize];
        let (target, ready, from) = if log.in_order {
            (log.superblock, at, log.next)
        } else {
            let (superblock, erased) = self.open(at);
            (superblock, erased, 0)
        };
        let copied = self.copy_rest(&log, old, from, ready);
        // What a full merge leaves out cannot be written in order later.
        let written = if log.in_order { log.next.max(old.written) } else { self.slots() };
        self.data[log.logical as usize] = DataBlock { superblock: Some(target), written };
        let left = [old.superblock, (!log.in_order).then_some(log.superblock)];
        left.into_iter().flatten().fold(copied, |end, left| end.max(self.erase(left, copied)))
    }

    /// Copies what data and log hold behind slot `from`, program by program; returns when it is
    /// done.
    fn copy_rest(
        &mut self,
        log: &LogBlock,
        old: DataBlock,
        from: u32,
        at: DeviceTime,
    ) -> DeviceTime {
        let per_program = self.layout.slots_per_program;
        let mut finished = at;
        for slot in (from..self.slots()).step_by(per_program as usize) {
            let in_log = (slot..slot + per_program).any(|page| log.slots[page as usize] != NOWHERE);
            if slot >= old.written && !in_log {
                continue;
            }
            let die = self.layout.die_of(self.layout.program_of(slot));
            let in_ram = self.nand.read(at, die, CellMode::Native, per_program, 1);
            finished = finished.max(self.program(slot, 1, in_ram));
        }
        finished
    }

    fn program(&mut self, slot: u32, programs: u32, ready: DeviceTime) -> DeviceTime {
        let first = self.layout.program_of(slot);
        (first..first + programs).fold(ready, |finished, program| {
            let (die, page) = (self.layout.die_of(program), self.layout.page_of(program));
            finished.max(self.nand.program(ready, die, CellMode::Native, page))
        })
    }

    /// A superblock to write to, and when it is erased.
    fn open(&mut self, at: DeviceTime) -> (SuperblockId, DeviceTime) {
        let erased = if self.erases_due > 0 {
            self.erases_due -= 1;
            self.nand.erase_superblock(at, CellMode::Native)
        } else {
            at
        };
        (self.superblocks.open(CellMode::Native, false), erased)
    }

    fn erase(&mut self, id: SuperblockId, at: DeviceTime) -> DeviceTime {
        self.free(id, at);
        self.nand.erase_superblock(at, CellMode::Native)
    }

    fn free(&mut self, id: SuperblockId, at: DeviceTime) {
        self.superblocks.close(id, at);
        self.superblocks.take(id);
        self.superblocks.erase(id, false);
        // Without a page map nothing stands in for a worn-out superblock.
        self.read_only |= self.superblocks.is_worn_out(id);
    }

    /// Brings `count` pages to RAM, those of one program together.
    pub(super) fn read(
        &mut self,
        lpn: Lpn,
        count: u32,
        ready: DeviceTime,
    ) -> Result<DeviceTime, Lost> {
        let (mut next, end) = (lpn.0, lpn.0 + count);
        let mut in_ram = ready;
        while next < end {
            let program = self.program_with(Lpn(next));
            let same = |page: &u32| self.program_with(Lpn(*page)) == program;
            let pages = (next..end).take_while(same).count() as u32;
            next += pages;
            let Some(program) = program else { continue };
            let die = self.layout.die_of(program);
            if self.layout.is_lost(die) {
                return Err(Lost);
            }
            in_ram = in_ram.max(self.nand.read(ready, die, CellMode::Native, pages, 1));
        }
        Ok(in_ram)
    }

    pub(super) fn has_lost(&self, lpn: Lpn) -> bool {
        let program = self.program_with(lpn);
        program.is_some_and(|program| self.layout.is_lost(self.layout.die_of(program)))
    }

    /// The program that holds a page, if the page holds data.
    fn program_with(&self, lpn: Lpn) -> Option<u32> {
        if !self.is_mapped(lpn) {
            return None;
        }
        let (logical, offset) = self.split(lpn);
        let log = self.logs.iter().find(|log| log.logical == logical);
        let in_log = log.map(|log| log.slots[offset as usize]).filter(|slot| *slot != NOWHERE);
        Some(self.layout.program_of(in_log.unwrap_or(offset)))
    }

    /// Such a drive knows blocks, not pages: a logical superblock is forgotten if all of it is
    /// trimmed, else only that its pages read as empty.
    pub(super) fn trim(&mut self, lpn: Lpn, count: u32) {
        let end = lpn.0 + count;
        (lpn.0..end).for_each(|page| self.mapped[page as usize / 64] &= !(1 << (page % 64)));
        let first = lpn.0.div_ceil(self.slots());
        for logical in first..end / self.slots() {
            let at = self.nand.now();
            if let Some(place) = self.logs.iter().position(|log| log.logical == logical)
                && let Some(log) = self.logs.remove(place)
            {
                self.free(log.superblock, at);
                self.erases_due += 1;
            }
            if let Some(left) = std::mem::take(&mut self.data[logical as usize]).superblock {
                self.free(left, at);
                self.erases_due += 1;
            }
        }
    }

    /// Everything acknowledged is in NAND already.
    pub(super) fn flush(&self, now: DeviceTime) -> DeviceTime {
        now
    }

    /// Forgets all data; returns when every superblock in use is erased.
    pub(super) fn erase_all(&mut self, now: DeviceTime) -> DeviceTime {
        self.mapped.fill(0);
        self.logs.clear();
        self.data.fill(DataBlock::default());
        let used = self.superblocks.erase_all() + std::mem::take(&mut self.erases_due);
        (0..used).fold(now, |end, _| end.max(self.nand.erase_superblock(now, CellMode::Native)))
    }

    /// The drive has no parity: what is on the die is lost, and nothing can be written around it.
    pub(super) fn lose_die(&mut self, die: u32) {
        self.layout.lose(die);
        self.read_only = true;
    }

    pub(super) fn books(&self) -> Books {
        Books {
            free: self.superblocks.free_count(),
            erases: self.superblocks.erases(),
            wear_permille: self.superblocks.wear_permille(self.endurance),
            retired: self.superblocks.retired(),
            lost_pages: 0,
        }
    }

    pub(super) fn is_mapped(&self, lpn: Lpn) -> bool {
        self.mapped[lpn.0 as usize / 64] & (1 << (lpn.0 % 64)) != 0
    }

    fn slots(&self) -> u32 {
        self.layout.programs * self.layout.slots_per_program
    }

    /// The logical superblock of a page, and its place in it.
    fn split(&self, lpn: Lpn) -> (u32, u32) {
        (lpn.0 / self.slots(), lpn.0 % self.slots())
    }
}
