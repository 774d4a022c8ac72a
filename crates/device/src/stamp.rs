//! Stamped blocks: data that say of themselves what they are.
//!
//! A stamped block knows the run that wrote it, the place that it was meant for, and the pass over
//! the drive in which it was written. So whoever reads it can tell a block that was lost, one that is
//! an older version, one that belongs elsewhere, and one that was written in part. A real device
//! makes and examines the bytes (docs/formats.md), a simulated one keeps what they would say.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// How the blocks of a run are stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamping {
    /// What tells this run's blocks from those of any other on the same drive.
    pub run: u64,
    /// The size of a block: a multiple of 4 KiB and of the LBA size. I/Os with a pass are whole
    /// blocks.
    pub block: Bytes,
}

/// A pass over the drive: which version of a block it is. Later passes have larger numbers, until
/// they begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pass(NonZeroU16);

/// What a block was found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "held", rename_all = "kebab-case")]
pub enum Held {
    /// Nothing but zeros.
    Zeros,
    /// Data without any stamp.
    Unstamped,
    /// Stamps of another run.
    AnotherRun,
    /// What was written in this pass, whole, for this place, which may be another one.
    Stamped {
        /// The first byte of where it was meant to be.
        offset: Bytes,
        /// When it was written.
        pass: Pass,
    },
    /// Parts of several versions of this place.
    Torn {
        /// The oldest of them; `None` if a part holds nothing of this run.
        oldest: Option<Pass>,
        /// The newest of them.
        newest: Pass,
    },
    /// A part whose bytes are not those that were written.
    Damaged {
        /// The first such part, counted from 0 in sectors of 512 bytes.
        sector: u32,
    },
}

/// What a part of a block, a sector or a page of the drive, was found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Nothing but zeros.
    Zeros,
    /// Data without any stamp.
    Unstamped,
    /// A stamp of another run.
    AnotherRun,
    /// What was written in this pass.
    Stamped {
        /// Where the block would begin if all of it were where it was meant to be.
        offset: Bytes,
        /// When it was written.
        pass: Pass,
    },
    /// A stamp, and bytes that do not belong to it.
    Damaged,
}

impl Pass {
    /// The first pass.
    pub const FIRST: Self = Self(NonZeroU16::MIN);

    /// The pass of this number; `None` of 0, which stands for no pass.
    pub const fn new(number: u16) -> Option<Self> {
        match NonZeroU16::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Its number, from 1.
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

impl Held {
    /// What the block at `offset` holds whose parts, each of so many sectors, are these. The
    /// worst of them decides: a damaged one, one that belongs elsewhere, then that they differ.
    pub fn of_parts(offset: Bytes, sectors_per_part: u32, parts: &[Part]) -> Self {
        let is_stamped = |part: &Part| matches!(part, Part::Stamped { .. } | Part::Damaged);
        let has_stamp = parts.iter().any(is_stamped);
        // A sector without a stamp among stamped ones has lost it.
        let is_damaged =
            |part: &Part| *part == Part::Damaged || (has_stamp && *part == Part::Unstamped);
        if let Some(place) = parts.iter().position(is_damaged) {
            return Self::Damaged { sector: place as u32 * sectors_per_part };
        }
        let strays =
            |part: &&Part| matches!(part, Part::Stamped { offset: own, .. } if *own != offset);
        match parts.iter().find(strays) {
            Some(&Part::Stamped { offset, pass }) => Self::Stamped { offset, pass },
            _ => Self::of_versions(offset, parts),
        }
    }

    /// The same of parts that are all of this place or of nothing.
    fn of_versions(offset: Bytes, parts: &[Part]) -> Self {
        let passes = || {
            parts.iter().map(|part| match part {
                Part::Stamped { pass, .. } => Some(*pass),
                _ => None,
            })
        };
        match (passes().min().flatten(), passes().max().flatten()) {
            (Some(oldest), Some(newest)) if oldest == newest => {
                Self::Stamped { offset, pass: newest }
            }
            (oldest, Some(newest)) => Self::Torn { oldest, newest },
            (_, None) if parts.contains(&Part::AnotherRun) => Self::AnotherRun,
            (_, None) if parts.contains(&Part::Unstamped) => Self::Unstamped,
            (_, None) => Self::Zeros,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Bytes = Bytes(8192);
    const THERE: Bytes = Bytes(4096);

    fn stamped(offset: Bytes, pass: u16) -> Part {
        Part::Stamped { offset, pass: Pass::new(pass).unwrap() }
    }

    fn held(parts: [Part; 4]) -> Held {
        Held::of_parts(HERE, 2, &parts)
    }

    #[test]
    fn a_block_is_what_its_parts_have_in_common() {
        let pass = Pass::new(7).unwrap();
        assert_eq!(held([stamped(HERE, 7); 4]), Held::Stamped { offset: HERE, pass });
        assert_eq!(held([stamped(THERE, 7); 4]), Held::Stamped { offset: THERE, pass });
        assert_eq!(held([Part::Zeros; 4]), Held::Zeros);
        assert_eq!(held([Part::AnotherRun; 4]), Held::AnotherRun);
        let text = [Part::Unstamped, Part::Zeros, Part::Zeros, Part::Unstamped];
        assert_eq!(held(text), Held::Unstamped);
    }

    #[test]
    fn the_worst_part_decides() {
        let [old, new] = [5, 7].map(|pass| Pass::new(pass).unwrap());
        let (older, newer) = (stamped(HERE, 5), stamped(HERE, 7));
        let torn = |oldest| Held::Torn { oldest, newest: new };
        assert_eq!(held([newer, newer, older, older]), torn(Some(old)));
        assert_eq!(held([newer, newer, Part::Zeros, older]), torn(None));
        assert_eq!(held([newer, newer, newer, Part::AnotherRun]), torn(None));
        let strays = held([newer, older, stamped(THERE, 5), older]);
        assert_eq!(strays, Held::Stamped { offset: THERE, pass: old });
        let damaged = held([newer, stamped(THERE, 5), older, Part::Damaged]);
        assert_eq!(damaged, Held::Damaged { sector: 6 });
        assert_eq!(held([newer, Part::Unstamped, newer, newer]), Held::Damaged { sector: 2 });
    }

    #[test]
    fn no_pass_takes_no_room() {
        assert_eq!(size_of::<Option<Pass>>(), 2);
        assert_eq!(Pass::new(0), None);
    }
}
