//! What becomes of the map and its data when something fails: the power, or a die.
//!
//! The state of the model is ahead of its clock: copies and erases are done in the books when they
//! are scheduled. A power cut leaves those as they are, since firmware keeps the old place of a
//! page that it moves until the new one is programmed. Only the host's own pages are undone: a page
//! whose last write is lost holds what it held before, or nothing if there was nothing.

use writecliff_device::DeviceTime;

use super::ftl::Ftl;
use crate::contents::{LostUnit, Spare};
use crate::ssd::array::{CellMode, Lpn, Ppa};
use crate::ssd::front::{LostWrite, Stream};

impl Ftl {
    /// What a power cut at `now` would take, also of pages that were trimmed since.
    pub(super) fn volatile_units(&self, now: DeviceTime) -> Vec<LostUnit> {
        let lost = self.volatile.as_ref().map(|volatile| volatile.lost(now)).unwrap_or_default();
        lost.into_iter().map(|(lpn, lost)| unit(lpn, &lost)).collect()
    }

    /// The power goes at `now` and comes back: what was volatile is lost, what was under way has
    /// stopped. Gives what was lost.
    pub(super) fn cut_power(&mut self, now: DeviceTime) -> Vec<LostUnit> {
        let lost = self.volatile.as_ref().map(|volatile| volatile.lost(now)).unwrap_or_default();
        let mut units = Vec::new();
        for (lpn, write) in lost {
            let current = Ppa(self.l2p[lpn.0 as usize]);
            if current == Ppa::UNMAPPED {
                continue; // trimmed since
            }
            units.push(unit(lpn, &write));
            self.lost_pages += 1;
            let LostWrite { held_before, before, .. } = write;
            match (&mut self.stamps, held_before) {
                (_, false) => self.trim(lpn, 1),
                (Some(stamps), true) if !before.is_empty() => stamps.restore(lpn.0, &before),
                _ => {}
            }
        }
        if let Some(volatile) = &mut self.volatile {
            volatile.clear();
        }
        self.buffer.clear();
        self.nand.stop();
        self.collector.reset();
        // The open superblocks are written on: like copies, programs count as begun when gathered.
        Stream::OF_HOST.into_iter().for_each(|stream| self.streams[stream].host_pages = 0);
        units
    }

    /// A die stops working: it is written no more, and what it holds must come from parity.
    pub(super) fn lose_die(&mut self, die: u32, now: DeviceTime) {
        self.program_gathered(now);
        self.layout.lose(die);
        for stream in Stream::ALL {
            self.streams[stream].pass_over(&self.layout);
            if let Some(full) = self.streams[stream].take_full() {
                self.superblocks.close(full, now);
            }
        }
        self.superblock_pages = self.layout.data_slots(CellMode::Native);
        let room = u64::from(self.superblock_pages) * u64::from(self.superblocks.count());
        let spare = u64::from(self.spare_min) * u64::from(self.superblock_pages);
        let least = u64::from(self.pages) + spare;
        self.read_only |= room < least;
        self.lose_pages();
    }

    pub(super) fn has_lost(&self, lpn: Lpn) -> bool {
        Ppa(self.l2p[lpn.0 as usize]) == Ppa::LOST
    }

    pub(super) fn spare(&self) -> Spare {
        Spare {
            blocks: self.superblocks.in_use().into(),
            needed: self.superblocks_needed().into(),
            replacements: self.superblocks.replacements().into(),
        }
    }

    /// What was on the lost die and cannot be made up for is lost with it.
    fn lose_pages(&mut self) {
        for lpn in 0..self.pages {
            let ppa = Ppa(self.l2p[lpn as usize]);
            if !self.layout.is_place(ppa) {
                continue;
            }
            let program = self.layout.program_of(self.layout.slot_of(ppa));
            let is_lost = self.layout.is_lost(self.layout.die_of(program));
            if is_lost && self.layout.rest_of_stripe(program).is_none() {
                self.replace(Lpn(lpn), Ppa::LOST);
                self.invalidate(ppa);
                self.lost_pages += 1;
            }
        }
    }
}

fn unit(lpn: Lpn, write: &LostWrite) -> LostUnit {
    LostUnit { unit: lpn.0, writes: write.writes, held_before: write.held_before }
}
