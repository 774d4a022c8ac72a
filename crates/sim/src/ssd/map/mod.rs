//! The map, from logical pages to places in the array: of pages ([`ftl`], with the copying that
//! garbage collection asks of it in [`copying`]) or of whole superblocks ([`block_map`]). What
//! follows is the same for both.

mod block_map;
mod copying;
mod faults;
mod ftl;
#[cfg(test)]
mod invariants;
mod map_cache;
mod table;

use writecliff_device::{Content, DeviceTime, Nanos};
use writecliff_profile::{MappingKind, SsdProfile};

use block_map::BlockMap;
use ftl::Ftl;

use super::array::{Books, Counts, Lost, Lpn, ReadOnly};
use super::front::Volatile;
use crate::contents::{LostUnit, Spare};
use crate::stamps::Stamps;

/// From logical pages to NAND.
#[derive(Debug, Clone)]
pub(crate) enum Translation {
    /// Every page may be anywhere.
    Page(Box<Ftl>),
    /// Whole superblocks are mapped, with log blocks for changes.
    Block(Box<BlockMap>),
}

impl Translation {
    pub(crate) fn new(profile: &SsdProfile) -> Self {
        match profile.mapping.kind {
            MappingKind::Page => Self::Page(Box::new(Ftl::new(profile))),
            MappingKind::Block => Self::Block(Box::new(BlockMap::new(profile))),
        }
    }

    /// Moves the time on.
    pub(crate) fn advance(&mut self, now: DeviceTime) {
        match self {
            Self::Page(ftl) => ftl.advance(now),
            Self::Block(map) => map.nand.advance(now),
        }
    }

    /// Puts pages on their way to NAND; returns when they are safe enough to be acknowledged.
    pub(crate) fn write(
        &mut self,
        lpn: Lpn,
        count: u32,
        content: Content,
        arrived: DeviceTime,
    ) -> Result<DeviceTime, ReadOnly> {
        match self {
            Self::Page(ftl) => ftl.write(lpn, count, content, arrived),
            Self::Block(map) => map.write(lpn, count, arrived),
        }
    }

    /// Says whether the host waits until what it writes next is in NAND.
    pub(crate) fn is_awaited(&mut self, is_awaited: bool) {
        if let Self::Page(ftl) = self {
            ftl.is_awaited = is_awaited;
        }
    }

    /// Brings pages to RAM.
    pub(crate) fn read(
        &mut self,
        lpn: Lpn,
        count: u32,
        ready: DeviceTime,
    ) -> Result<DeviceTime, Lost> {
        match self {
            Self::Page(ftl) => ftl.read(lpn, count, ready),
            Self::Block(map) => map.read(lpn, count, ready),
        }
    }

    /// When the map's entries for these pages are in RAM.
    pub(crate) fn look_up(
        &mut self,
        lpn: Lpn,
        count: u32,
        change: bool,
        ready: DeviceTime,
    ) -> DeviceTime {
        match self {
            Self::Page(ftl) => ftl.look_up(lpn, count, change, ready),
            Self::Block(_) => ready,
        }
    }

    pub(crate) fn trim(&mut self, lpn: Lpn, count: u32) {
        match self {
            Self::Page(ftl) => ftl.trim(lpn, count),
            Self::Block(map) => map.trim(lpn, count),
        }
    }

    /// When everything acknowledged is in NAND.
    pub(crate) fn flush(&mut self, now: DeviceTime) -> DeviceTime {
        match self {
            Self::Page(ftl) => ftl.flush(now),
            Self::Block(map) => map.flush(now),
        }
    }

    /// Forgets all data and erases what held it; returns when that is done.
    pub(crate) fn erase_all(&mut self, now: DeviceTime) -> DeviceTime {
        self.advance(now);
        match self {
            Self::Page(ftl) => ftl.erase_all(now),
            Self::Block(map) => map.erase_all(now),
        }
    }

    pub(crate) fn work_when_idle(&mut self, at: DeviceTime, idle: Nanos) -> Option<DeviceTime> {
        self.advance(at);
        match self {
            Self::Page(ftl) => ftl.work_when_idle(at, idle),
            Self::Block(_) => None,
        }
    }

    /// The power goes and comes back; gives what was lost. A block map has no buffer to lose.
    pub(crate) fn cut_power(&mut self, now: DeviceTime) -> Vec<LostUnit> {
        match self {
            Self::Page(ftl) => ftl.cut_power(now),
            Self::Block(map) => {
                map.nand.stop();
                Vec::new()
            }
        }
    }

    /// What a power cut at `now` would take.
    pub(crate) fn volatile_units(&self, now: DeviceTime) -> Vec<LostUnit> {
        match self {
            Self::Page(ftl) => ftl.volatile_units(now),
            Self::Block(_) => Vec::new(),
        }
    }

    /// From now on, with nothing in the write buffer, keeps account of what a power cut would take.
    pub(crate) fn expect_power_cuts(&mut self, profile: &SsdProfile) {
        if let Self::Page(ftl) = self {
            ftl.volatile.get_or_insert_with(|| Volatile::of(profile));
        }
    }

    /// Whether it is worn out, and takes no more writes.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Page(ftl) => ftl.read_only,
            Self::Block(map) => map.is_read_only(),
        }
    }

    pub(crate) fn has_lost(&self, lpn: Lpn) -> bool {
        match self {
            Self::Page(ftl) => ftl.has_lost(lpn),
            Self::Block(map) => map.has_lost(lpn),
        }
    }

    /// What it can do without. A block map has replacements for nothing.
    pub(crate) fn spare(&self) -> Option<Spare> {
        match self {
            Self::Page(ftl) => Some(ftl.spare()),
            Self::Block(_) => None,
        }
    }

    pub(crate) fn lose_die(&mut self, die: u32, now: DeviceTime) {
        match self {
            Self::Page(ftl) => ftl.lose_die(die, now),
            Self::Block(map) => map.lose_die(die),
        }
    }

    /// Whether a page holds anything.
    pub(crate) fn holds(&self, lpn: Lpn) -> bool {
        match self {
            Self::Page(ftl) => ftl.holds(lpn),
            Self::Block(map) => map.holds(lpn),
        }
    }

    /// Where the pages' stamps are kept, if somebody looks at them.
    pub(crate) fn stamps(&mut self) -> &mut Option<Box<Stamps>> {
        match self {
            Self::Page(ftl) => &mut ftl.stamps,
            Self::Block(map) => &mut map.stamps,
        }
    }

    /// Brings the entries of pages that will be asked for soon near, for speed.
    pub(crate) fn touch(&self, pages: impl Iterator<Item = Lpn>) {
        if let Self::Page(ftl) = self {
            ftl.touch(pages);
        }
    }

    pub(crate) fn nand_counts(&self) -> Counts {
        match self {
            Self::Page(ftl) => ftl.nand.counts(),
            Self::Block(map) => map.nand.counts(),
        }
    }

    pub(crate) fn books(&self) -> Books {
        match self {
            Self::Page(ftl) => ftl.books(),
            Self::Block(map) => map.books(),
        }
    }
}
