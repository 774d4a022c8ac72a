//! What kind of an array, of how many, and what is the matter with some of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;

use crate::error::ArrayError;

/// More members than that are refused, as a mistyped number would be.
pub(crate) const MEMBERS_MAX: u32 = 32;
/// md's default.
pub(crate) const CHUNK: Bytes = Bytes::from_kib(512);
const CHUNK_MIN: Bytes = Bytes::from_kib(4);
const CHUNK_MAX: Bytes = Bytes::from_mib(16);

/// How data are spread, and what can be lost of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Striped: no drive may be lost.
    Raid0,
    /// Mirrored: all but one may be lost.
    Raid1,
    /// Striped over mirrored pairs: one of each pair may be lost.
    Raid10,
    /// A parity for each stripe: one may be lost.
    Raid5,
    /// Two of them: two may be lost.
    Raid6,
    /// An erasure code: so many chunks of data, and so many of parity, of which as many may be lost.
    Code {
        /// Chunks of data.
        data: u32,
        /// Chunks of parity.
        parity: u32,
    },
}

impl Level {
    /// The levels by name.
    pub(crate) const NAMED: [(&str, Self); 5] = [
        ("raid0", Self::Raid0),
        ("raid1", Self::Raid1),
        ("raid10", Self::Raid10),
        ("raid5", Self::Raid5),
        ("raid6", Self::Raid6),
    ];

    /// The fewest members.
    pub(crate) fn members_min(self) -> u32 {
        match self {
            Self::Raid0 => 1,
            Self::Raid1 => 2,
            Self::Raid10 | Self::Raid6 => 4,
            Self::Raid5 => 3,
            Self::Code { data, parity } => data + parity,
        }
    }

    /// Of so many members: chunks of data in a stripe, copies of each, and chunks of parity.
    pub(crate) fn parts(self, members: u32) -> (usize, usize, usize) {
        let members = members as usize;
        match self {
            Self::Raid0 => (members, 1, 0),
            Self::Raid1 => (1, members, 0),
            Self::Raid10 => (members / 2, 2, 0),
            Self::Raid5 => (members - 1, 1, 1),
            Self::Raid6 => (members - 2, 1, 2),
            Self::Code { data, parity } => (data as usize, 1, parity as usize),
        }
    }
}

/// As a name has it: `raid5`, `4+2`.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { data, parity } => write!(f, "{data}+{parity}"),
            named => {
                let name = Self::NAMED.iter().find(|(_, level)| level == named);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for Level {
    type Err = ArrayError;

    fn from_str(text: &str) -> Result<Self, ArrayError> {
        if let Some((_, level)) = Self::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*level);
        }
        let unknown = || ArrayError::Level { got: text.to_owned() };
        let (data, parity) = text.split_once('+').ok_or_else(unknown)?;
        let count = |text: &str| text.parse::<u32>().map_err(|_| unknown());
        let (data, parity) = (count(data)?, count(parity)?);
        if data == 0 || parity == 0 || data.saturating_add(parity) > MEMBERS_MAX {
            return Err(ArrayError::Code { got: text.to_owned() });
        }
        Ok(Self::Code { data, parity })
    }
}

impl Serialize for Level {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

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
