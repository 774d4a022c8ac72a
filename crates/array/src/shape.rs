//! What kind of an array, of how many, and what is the matter with some of them.

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;

use crate::error::ArrayError;
use crate::level::{Level, MEMBERS_MAX};

/// md's default.
pub(crate) const CHUNK: Bytes = Bytes::from_kib(512);
const CHUNK_MIN: Bytes = Bytes::from_kib(4);
const CHUNK_MAX: Bytes = Bytes::from_mib(16);

/// An array but for its drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// How data are spread.
    pub level: Level,
    /// Drives.
    pub members: u32,
    /// Consecutive bytes on one of them.
    pub chunk: Bytes,
    /// Members that are gone, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead: Vec<u32>,
    /// Members whose NAND takes ten times as long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<u32>,
    /// The member that is new, and is rebuilt beside the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<u32>,
}

impl Shape {
    /// Of a level, with md's chunk and all in order.
    pub fn new(level: Level, members: u32) -> Self {
        let (dead, slow) = (Vec::new(), Vec::new());
        Self { level, members, chunk: CHUNK, dead, slow, rebuild: None }
    }

    /// Whether there can be such an array.
    ///
    /// # Errors
    /// [`ArrayError`] with what cannot be.
    pub fn check(&self) -> Result<(), ArrayError> {
        let Self { level, members, .. } = *self;
        let least = level.members_min();
        let is_pairs = level != Level::Raid10 || members.is_multiple_of(2);
        let is_code_of_others = matches!(level, Level::Code { .. }) && members != least;
        if !(least..=MEMBERS_MAX).contains(&members) || !is_pairs || is_code_of_others {
            return Err(ArrayError::Members { level, got: members.to_string() });
        }
        let is_chunk = (CHUNK_MIN..=CHUNK_MAX).contains(&self.chunk);
        if !is_chunk || !self.chunk.0.is_power_of_two() {
            return Err(ArrayError::Chunk { got: self.chunk });
        }
        let named = [("dead", &self.dead), ("slow", &self.slow)];
        let rebuilt = self.rebuild.into_iter().map(|member| ("rebuild", member));
        let all = named.iter().flat_map(|(key, list)| list.iter().map(|member| (*key, *member)));
        for (key, member) in all.chain(rebuilt) {
            if member >= members {
                return Err(ArrayError::NoMember { key, got: member, members });
            }
        }
        self.check_missing()
    }

    /// Whether the data are there without those that are not.
    fn check_missing(&self) -> Result<(), ArrayError> {
        let mut missing: Vec<u32> = self.dead.iter().copied().chain(self.rebuild).collect();
        let count = missing.len();
        missing.sort_unstable();
        missing.dedup();
        let is_dead = |member: u32| self.dead.contains(&member);
        let is_twice = missing.len() < count || self.slow.iter().any(|slow| is_dead(*slow));
        if is_twice {
            return Err(ArrayError::Twice);
        }
        let (_, copies, parities) = self.level.parts(self.members);
        let is_lost = match parities {
            0 => missing
                .chunk_by(|a, b| *a as usize / copies == *b as usize / copies)
                .any(|of_one| of_one.len() == copies),
            parities => missing.len() > parities,
        };
        match is_lost {
            true => Err(ArrayError::Lost { level: self.level, missing: missing.len() }),
            false => Ok(()),
        }
    }

    /// `RAID-5 of 4 NAME, member 1 dead`.
    pub(crate) fn model(&self, member: &str) -> String {
        let Self { level, members, .. } = self;
        let level = match level {
            Level::Code { .. } => level.to_string(),
            named => named.to_string().replace("raid", "RAID-"),
        };
        let mut model = format!("{level} of {members} {member}");
        if self.chunk != CHUNK && self.level != Level::Raid1 {
            model += &format!(", chunk {}", self.chunk.exact());
        }
        let dead = self.dead.iter().map(|member| format!(", member {member} dead"));
        let slow = self.slow.iter().map(|member| format!(", NAND of member {member} slow"));
        let rebuilt = self.rebuild.iter().map(|member| format!(", member {member} rebuilt"));
        model.extend(dead.chain(slow).chain(rebuilt));
        model
    }
}
