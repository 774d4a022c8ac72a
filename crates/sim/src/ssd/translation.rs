//! Which map a drive keeps: what follows is the same for both.

use writecliff_device::{Content, DeviceTime, Nanos};

use super::block_map::BlockMap;
use super::ftl::{Ftl, Lost, ReadOnly};
use super::layout::Lpn;
use super::nand::Counts;
use crate::profile::{MappingKind, SsdProfile};

/// From logical pages to NAND.
#[derive(Debug)]
pub(super) enum Translation {
    /// Every page may be anywhere.
    Page(Box<Ftl>),
    /// Whole superblocks are mapped, with log blocks for changes.
    Block(Box<BlockMap>),
}

/// What the books say, for telemetry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Books {
    pub(super) free: u32,
    pub(super) erases: u64,
    pub(super) wear_permille: Option<u64>,
    pub(super) retired: u32,
    pub(super) lost_pages: u64,
}

impl Translation {
    pub(super) fn new(profile: &SsdProfile) -> Self {
        match profile.mapping.kind {
            MappingKind::Page => Self::Page(Box::new(Ftl::new(profile))),
            MappingKind::Block => Self::Block(Box::new(BlockMap::new(profile))),
        }
    }

    /// Moves the time on.
    pub(super) fn advance(&mut self, now: DeviceTime) {
        match self {
            Self::Page(ftl) => ftl.nand.advance(now),
            Self::Block(map) => map.nand.advance(now),
        }
    }

    /// Puts pages on their way to NAND; returns when they are safe enough to be acknowledged.
    pub(super) fn write(
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

    /// Brings pages to RAM.
    pub(super) fn read(
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
    pub(super) fn look_up(
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

    pub(super) fn trim(&mut self, lpn: Lpn, count: u32) {
        match self {
            Self::Page(ftl) => ftl.trim(lpn, count),
            Self::Block(map) => map.trim(lpn, count),
        }
    }

    /// When everything acknowledged is in NAND.
    pub(super) fn flush(&mut self, now: DeviceTime) -> DeviceTime {
        match self {
            Self::Page(ftl) => ftl.flush(now),
            Self::Block(map) => map.flush(now),
        }
    }

    /// Forgets all data and erases what held it; returns when that is done.
    pub(super) fn erase_all(&mut self, now: DeviceTime) -> DeviceTime {
        self.advance(now);
        match self {
            Self::Page(ftl) => ftl.erase_all(now),
            Self::Block(map) => map.erase_all(now),
        }
    }

    pub(super) fn work_when_idle(&mut self, at: DeviceTime, idle: Nanos) -> Option<DeviceTime> {
        self.advance(at);
        match self {
            Self::Page(ftl) => ftl.work_when_idle(at, idle),
            Self::Block(_) => None,
        }
    }

    pub(super) fn cut_power(&mut self, now: DeviceTime) {
        match self {
            Self::Page(ftl) => ftl.cut_power(now),
            Self::Block(map) => map.nand.stop(),
        }
    }

    pub(super) fn lose_die(&mut self, die: u32, now: DeviceTime) {
        match self {
            Self::Page(ftl) => ftl.lose_die(die, now),
            Self::Block(map) => map.lose_die(die),
        }
    }

    pub(super) fn touch(&self, pages: impl Iterator<Item = Lpn>) -> u32 {
        match self {
            Self::Page(ftl) => ftl.touch(pages),
            Self::Block(_) => 0,
        }
    }

    pub(super) fn nand_counts(&self) -> Counts {
        match self {
            Self::Page(ftl) => ftl.nand.counts(),
            Self::Block(map) => map.nand.counts(),
        }
    }

    pub(super) fn books(&self) -> Books {
        match self {
            Self::Page(ftl) => ftl.books(),
            Self::Block(map) => map.books(),
        }
    }
}
