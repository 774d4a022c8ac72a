//! What was found.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Held};

use super::ledger::Kind;
use crate::record::figure::FigureOf;
use crate::record::unit::Unit;
use crate::record::warning::DataWarning;

/// The drive is told about in so many parts of equal size.
pub const SLICES: u32 = 256;

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// What the drive claims to have.
    pub capacity: Bytes,
    /// The size of a block.
    pub block: Bytes,
    /// Blocks under test.
    pub blocks: u64,
    /// Blocks that were read and compared, each time counted.
    pub checks: u64,
    /// Blocks that were read and may hold anything but what belongs to another place, as they were trimmed or
    /// never written; each time counted.
    #[serde(default, skip_serializing_if = "is_none")]
    pub anything: u64,
    /// Blocks in which nothing was left of what was written.
    pub lost: u64,
    /// Blocks that held an earlier version.
    pub old: u64,
    /// Blocks that held what was written to another place.
    pub misplaced: u64,
    /// Blocks that held parts of several versions.
    pub torn: u64,
    /// Blocks that held something else.
    pub damaged: u64,
    /// Blocks that the drive failed to read.
    pub unreadable: u64,
    /// Blocks that held an earlier version of what was never acknowledged, or not flushed when the
    /// earlier run ended or the drive was without power for a moment: that may be.
    pub not_flushed: u64,
    /// What the drive has, if the probes found less than it claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_capacity: Option<Bytes>,
    /// Whether everything was looked at that was to be.
    pub finished: bool,
    /// Whether it was an earlier run that had written all this.
    pub reopened: bool,
    /// The first blocks that were found bad, 16 at most.
    pub first: Vec<BadBlock>,
    /// Where the bad ones lie.
    pub slices: Vec<BadSlice>,
}

/// A block that was not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlock {
    /// Its first LBA.
    pub lba: u64,
    /// The same place in bytes.
    pub offset: Bytes,
    /// What was wrong with it.
    pub kind: Kind,
    /// The pass that it had to be of; zero if anything but another place's data was right.
    pub expected: u16,
    /// What was found in it; `None` if it could not be read.
    pub found: Option<Held>,
    /// In which phase.
    pub phase: String,
}

/// Bad blocks of one kind in one of the [`SLICES`] of the part under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadSlice {
    /// Counted from 0.
    pub slice: u32,
    /// What was wrong with them.
    pub kind: Kind,
    /// How many.
    pub blocks: u64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Lost, Self::Old, Self::Misplaced, Self::Torn, Self::Damaged, Self::Unreadable];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Old => "old",
            Self::Misplaced => "misplaced",
            Self::Torn => "torn",
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
        }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Outcome {
    /// Blocks that were not as they were written.
    pub fn bad(&self) -> u64 {
        Kind::ALL.iter().fold(0, |sum: u64, kind| sum.saturating_add(self.of_kind(*kind)))
    }

    /// Those of one kind.
    pub fn of_kind(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Lost => self.lost,
            Kind::Old => self.old,
            Kind::Misplaced => self.misplaced,
            Kind::Torn => self.torn,
            Kind::Damaged => self.damaged,
            Kind::Unreadable => self.unreadable,
        }
    }

    /// What must be said on top, however short the run was.
    pub(super) fn doubts(&self) -> impl Iterator<Item = DataWarning> + use<> {
        let (claimed, blocks, bad) = (self.capacity, self.blocks, self.bad());
        let short = self.real_capacity.map(|real| DataWarning::ClaimsTooMuch { claimed, real });
        let compared = Some(self.checks);
        let bad = (bad > 0).then_some(DataWarning::BadBlocks { bad, blocks, compared });
        let tested = Bytes(self.block.0.saturating_mul(blocks));
        let is_part = tested.0.saturating_add(self.block.0) <= claimed.0;
        let part = is_part.then_some(DataWarning::PartTested { tested, capacity: claimed });
        [short, bad, part].into_iter().flatten()
    }

    pub(super) fn count(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Lost => &mut self.lost,
            Kind::Old => &mut self.old,
            Kind::Misplaced => &mut self.misplaced,
            Kind::Torn => &mut self.torn,
            Kind::Damaged => &mut self.damaged,
            Kind::Unreadable => &mut self.unreadable,
        }
    }
}

impl BadBlock {
    /// What it had to hold, in words.
    pub fn expected_in_words(&self) -> String {
        match self.expected {
            0 => "nothing of another place".to_owned(),
            pass => format!("pass {pass}"),
        }
    }

    /// What it held, in words; places in LBAs of `lba_size`.
    pub fn found_in_words(&self, lba_size: Bytes) -> String {
        match self.found {
            None => "the drive fails to read it".to_owned(),
            Some(Held::Zeros) => "zeros".to_owned(),
            Some(Held::Unstamped) => "data without a stamp".to_owned(),
            Some(Held::AnotherRun) => "a block of another run".to_owned(),
            Some(Held::Stamped { offset, pass }) if offset == self.offset => {
                format!("pass {}", pass.get())
            }
            Some(Held::Stamped { offset, pass }) => {
                format!("pass {} of LBA {}", pass.get(), offset.0 / lba_size.0.max(1))
            }
            Some(Held::Torn { oldest: Some(oldest), newest }) => {
                format!("parts of passes {} and {}", oldest.get(), newest.get())
            }
            Some(Held::Torn { oldest: None, newest }) => {
                format!("a part of pass {}, the rest not of this run", newest.get())
            }
            Some(Held::Damaged { sector }) => {
                format!("bytes that were not written, from byte {} on", sector * 512)
            }
        }
    }
}

type Row = FigureOf<Outcome>;

/// All figures of an outcome.
pub const FIGURES: &[Row] = &[
    Row::less("blocks not as written", "Not as written", Unit::Count, |o| Some(o.bad() as f64))
        .means("blocks that did not come back as they were written"),
    Row::less("lost blocks", "Lost", Unit::Count, |o| Some(o.lost as f64))
        .means("nothing of what was written was left")
        .unjudged(),
    Row::less("old blocks", "Old", Unit::Count, |o| Some(o.old as f64))
        .means("an earlier version came back")
        .unjudged(),
    Row::less("misplaced blocks", "Misplaced", Unit::Count, |o| Some(o.misplaced as f64))
        .means("what was written to another place came back")
        .unjudged(),
    Row::less("torn blocks", "Torn", Unit::Count, |o| Some(o.torn as f64))
        .means("parts of several versions came back")
        .unjudged(),
    Row::less("damaged blocks", "Damaged", Unit::Count, |o| Some(o.damaged as f64))
        .means("bytes came back that nobody had written")
        .unjudged(),
    Row::less("unreadable blocks", "Unreadable", Unit::Count, |o| Some(o.unreadable as f64))
        .means("the drive failed to read them")
        .unjudged(),
    Row::less("blocks not flushed", "Not flushed", Unit::Count, |o| Some(o.not_flushed as f64))
        .means(
            "the earlier version is there of what the drive refused, or had not flushed when its power \
             was away or the run ended: that may be",
        )
        .unjudged(),
    Row::more("blocks compared", "Compared", Unit::Count, |o| Some(o.checks as f64))
        .means("blocks that were read and compared, each time counted")
        .unjudged(),
    Row::more("blocks that may hold anything", "May hold anything", Unit::Count, |o| {
        (o.anything > 0).then_some(o.anything as f64)
    })
    .means("trimmed, or never written, when they were read: only another place's data would be wrong there")
    .unjudged(),
    Row::more("real capacity", "Real capacity", Unit::Bytes, |o| Some(o.real_capacity?.0 as f64))
        .means("what the drive has, if that is less than it claims")
        .unjudged(),
];
