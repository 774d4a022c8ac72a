//! Reads that must be repeated because the block is worn or the data old.

use writecliff_device::{DeviceTime, Nanos, split_mix};
use writecliff_profile::Wear;

use super::{Ppa, SuperblockId, Superblocks};

/// How often a read is repeated: in proportion to the erases used up and to the age of the data,
/// with a fraction of one happening to that fraction of the pages.
#[derive(Debug, Clone)]
pub(crate) struct Retries {
    worn: u64,
    aged: u64,
    endurance: u64,
    age: Nanos,
}

/// Parts of one retry.
const ONE: u64 = 1 << 16;

impl Retries {
    pub(crate) fn new(wear: &Wear) -> Self {
        Self {
            worn: u64::from(wear.retries_worn),
            aged: u64::from(wear.retries_aged),
            endurance: u64::from(wear.endurance.max(1)),
            age: wear.retry_age,
        }
    }

    /// How often the page is sensed until it can be read: once, and the retries.
    pub(crate) fn senses(
        &self,
        blocks: &Superblocks,
        superblock: SuperblockId,
        ppa: Ppa,
        now: DeviceTime,
    ) -> u32 {
        if self.worn == 0 && self.aged == 0 {
            return 1;
        }
        let erases = u64::from(blocks.erases_of(superblock));
        let filled = blocks.closed_at(superblock).unwrap_or(now);
        let age = now.since(filled).0 / 1_000_000;
        let full_age = (self.age.0 / 1_000_000).max(1);
        let parts = self.worn * erases * ONE / self.endurance
            + self.aged * age.min(1000 * full_age) * ONE / full_age;
        1 + ((parts + split_mix(u64::from(ppa.0)) % ONE) / ONE) as u32
    }
}
