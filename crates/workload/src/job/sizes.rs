//! Sizes of I/Os, and amounts that are bytes or a share of the drive.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use writecliff_device::{Bytes, Operation, ParseUnitError};

/// The sizes that a job's I/Os have: the same for reads, writes and trims, or each their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a block is a size (\"4KiB\"), a list of { size = \"4KiB\", weight = 60 }, or \
                 { read = ..., write = ..., trim = ... } of either"
)]
pub enum Blocks {
    /// All operations alike.
    Same(Sizes),
    /// Each operation has its own.
    Each(SizesByOperation),
}

/// One size, or several by weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sizes {
    /// Always the same.
    One(Bytes),
    /// Drawn at random for each I/O.
    Split(Vec<Share>),
}

/// A size and how often it comes, beside the others' weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The size.
    pub size: Bytes,
    /// Its weight; percent, if all add up to 100.
    pub weight: u32,
}

/// Sizes of each operation; 4 KiB where nothing is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SizesByOperation {
    /// Of reads.
    pub read: Sizes,
    /// Of writes.
    pub write: Sizes,
    /// Of trims.
    pub trim: Sizes,
}

/// What a job does where nothing is said: fio's default as well.
pub(crate) const DEFAULT_BLOCK: Bytes = Bytes::from_kib(4);

impl Default for SizesByOperation {
    fn default() -> Self {
        let default = Sizes::One(DEFAULT_BLOCK);
        Self { read: default.clone(), write: default.clone(), trim: default }
    }
}

impl Blocks {
    /// The sizes of an operation.
    ///
    /// # Panics
    /// For a flush, which has none.
    pub fn of(&self, operation: Operation) -> &Sizes {
        match (self, operation) {
            (_, Operation::Flush) => panic!("a flush has no size"),
            (Self::Same(sizes), _) => sizes,
            (Self::Each(each), Operation::Read) => &each.read,
            (Self::Each(each), Operation::Write) => &each.write,
            (Self::Each(each), Operation::Trim) => &each.trim,
        }
    }
}

impl Sizes {
    /// Every size with its weight; those without weight are left out.
    pub fn shares(&self) -> Vec<Share> {
        match self {
            Self::One(size) => vec![Share { size: *size, weight: 1 }],
            Self::Split(shares) => shares.iter().copied().filter(|s| s.weight > 0).collect(),
        }
    }
}

/// An amount of the drive: bytes, or percent of its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Exactly so much.
    Bytes(Bytes),
    /// This share of the whole.
    Percent(u32),
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self::Bytes(Bytes::ZERO);

    /// The amount in bytes, percentages rounded down.
    pub fn of(self, whole: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => {
                let share = u128::from(whole.0) * u128::from(percent) / 100;
                Bytes(u64::try_from(share).unwrap_or(u64::MAX))
            }
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&bytes.exact()),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Amount {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_suffix('%').map(|number| number.trim().parse()) {
            Some(Ok(percent)) => Ok(Self::Percent(percent)),
            _ => text.parse().map(Self::Bytes),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error| de::Error::custom(format!("{error}, or \"25%\"")))
    }
}
