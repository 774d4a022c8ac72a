//! How the members of an array share its data.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use writecliff_device::did_you_mean;

/// More members than that are refused, as a mistyped number would be.
pub(crate) const MEMBERS_MAX: u32 = 32;

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
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        if let Some((_, level)) = Self::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*level);
        }
        let unknown = || LevelError::Unknown { got: text.to_owned() };
        let (data, parity) = text.split_once('+').ok_or_else(unknown)?;
        let count = |text: &str| text.parse::<u32>().map_err(|_| unknown());
        let (data, parity) = (count(data)?, count(parity)?);
        if data == 0 || parity == 0 || data.saturating_add(parity) > MEMBERS_MAX {
            return Err(LevelError::Code { got: text.to_owned() });
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

/// No level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// None of this name.
    #[error(
        "there is no level '{got}', but raid0, raid1, raid10, raid5, raid6, and K+M as in 4+2 for an erasure \
         code{}", did_you_mean(got, Level::NAMED.map(|(name, _)| name))
    )]
    Unknown {
        /// What was asked for.
        got: String,
    },
    /// An erasure code of no data, no parity, or too much.
    #[error(
        "an erasure code has at least one chunk of data and one of parity, and {MEMBERS_MAX} of both at most; \
         '{got}' is none"
    )]
    Code {
        /// What was asked for.
        got: String,
    },
}
