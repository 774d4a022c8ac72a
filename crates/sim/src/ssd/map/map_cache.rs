//! A map that does not fit in RAM: pages of map entries, fetched from NAND on demand.

use writecliff_device::{DeviceTime, Nanos};
use writecliff_profile::SsdProfile;

use crate::ssd::array::{CellMode, FlashArray, Lpn};

const CACHED: u8 = 1;
const USED: u8 = 2;
const CHANGED: u8 = 4;

/// Which pages of the map are in RAM. A clock hand looks for one to give up; a changed one is
/// written to NAND first, together with others. The map's own pages lie in reserved blocks and are never
/// collected here.
#[derive(Debug, Clone)]
pub(super) struct MapCache {
    entries_per_page: u32,
    units_per_page: u32,
    dies: u32,
    planes: u32,
    /// What looking takes where the entry is in RAM.
    time: Nanos,
    /// For each page of the map: cached, used since the hand passed, changed.
    flags: Vec<u8>,
    /// The map page in each frame of RAM.
    frames: Vec<u32>,
    hand: usize,
    capacity: usize,
    /// Changed pages that were given up and wait for others: a program has a page of each plane.
    gathering: u32,
}

impl MapCache {
    /// `None` if the profile keeps the whole map in RAM.
    pub(super) fn new(profile: &SsdProfile) -> Option<Self> {
        let ram = profile.mapping.cache?;
        let page = profile.nand.page_size;
        let entries_per_page = (page.0 / size_of::<u32>() as u64) as u32;
        let entries = profile.identity.capacity.0 / profile.mapping.unit.0;
        let pages = entries.div_ceil(u64::from(entries_per_page)) as usize;
        Some(Self {
            entries_per_page,
            units_per_page: (page.0 / profile.mapping.unit.0).max(1) as u32,
            dies: profile.dies(),
            planes: profile.nand.planes,
            time: profile.mapping.cache_time,
            flags: vec![0; pages],
            frames: Vec::new(),
            hand: 0,
            capacity: (ram.0 / page.0).max(1) as usize,
            gathering: 0,
        })
    }

    /// Looks up `count` entries from `lpn` on, and marks them changed if they are about to be;
    /// returns when they are in RAM.
    pub(super) fn look_up(
        &mut self,
        lpn: Lpn,
        count: u32,
        change: bool,
        ready: DeviceTime,
        nand: &mut FlashArray,
    ) -> DeviceTime {
        let first = lpn.0 / self.entries_per_page;
        let last = (lpn.0 + count - 1) / self.entries_per_page;
        (first..=last).fold(ready, |ready, page| self.bring(page, change, ready, nand))
    }

    fn bring(
        &mut self,
        page: u32,
        change: bool,
        ready: DeviceTime,
        nand: &mut FlashArray,
    ) -> DeviceTime {
        let changed = if change { CHANGED } else { 0 };
        if self.flags[page as usize] & CACHED != 0 {
            self.flags[page as usize] |= USED | changed;
            return ready + self.time;
        }
        let frame_free = self.make_room(ready, nand);
        self.frames[frame_free] = page;
        self.flags[page as usize] = CACHED | USED | changed;
        let first = self.plane_of(page) * self.units_per_page;
        let units = first..first + self.units_per_page;
        nand.read_units(ready, self.die_of(page), CellMode::Native, units, 1)
    }

    /// The drive was erased: what was in RAM is the map no more.
    pub(super) fn clear(&mut self) {
        self.flags.fill(0);
        self.frames.clear();
        self.hand = 0;
        self.gathering = 0;
    }

    /// A frame to use: a new one, or that of a page not used since the hand came by last.
    fn make_room(&mut self, ready: DeviceTime, nand: &mut FlashArray) -> usize {
        if self.frames.len() < self.capacity {
            self.frames.push(0);
            return self.frames.len() - 1;
        }
        loop {
            let frame = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            let page = self.frames[frame];
            let flags = &mut self.flags[page as usize];
            if *flags & USED != 0 {
                *flags &= !USED;
                continue;
            }
            let changed = *flags & CHANGED != 0;
            *flags = 0;
            if changed {
                self.write(page, ready, nand);
            }
            return frame;
        }
    }

    /// A changed page goes to NAND with as many others as there are planes.
    fn write(&mut self, page: u32, ready: DeviceTime, nand: &mut FlashArray) {
        self.gathering += 1;
        if self.gathering == self.planes {
            self.gathering = 0;
            nand.program(ready, self.die_of(page), CellMode::Native, 0);
        }
    }

    fn die_of(&self, page: u32) -> u32 {
        page % self.dies
    }

    fn plane_of(&self, page: u32) -> u32 {
        page / self.dies % self.planes
    }
}
