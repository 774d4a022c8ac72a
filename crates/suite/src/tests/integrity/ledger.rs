//! What every block must hold, in two bytes a block.
//!
//! A number is changed when an I/O has completed. That is right because nobody reads or writes where
//! a write is in flight: what a look brings is judged by what held while it was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Held, Io, Operation};

/// Passes are counted up to this one; the torture's begin again behind it.
pub(crate) const PASS_MAX: u16 = (1 << 14) - 1;
/// The block was trimmed since it was written.
const TRIMMED: u16 = 1 << 15;
/// It is known not to be as it was written.
const KNOWN_BAD: u16 = 1 << 14;

/// What is wrong with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing of the run is there.
    Lost,
    /// An earlier version is there, or what was there before the run.
    Old,
    /// What was written to another place is there.
    Misplaced,
    /// Parts of several versions are there.
    Torn,
    /// Something else than any version is there.
    Damaged,
    /// The drive fails to read it.
    Unreadable,
}

/// What is said of a block that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As it was written.
    Right,
    /// Trimmed or never written: it may hold anything but what belongs to another place.
    Anything,
    /// An earlier version, which may be: the later one was not acknowledged, or not flushed.
    NotFlushed,
    Wrong(Kind),
}

/// A block of which two versions are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InDoubt {
    pub(crate) block: u64,
    /// What it holds at least; zero for whatever it held before the run.
    pub(crate) older: u16,
    /// What it may hold as well.
    pub(crate) newer: u16,
}

/// The passes of all blocks.
#[derive(Debug)]
pub(crate) struct Ledger {
    block: Bytes,
    /// The pass that is there, zero if none was written, with [`TRIMMED`] and [`KNOWN_BAD`].
    passes: Vec<u16>,
    /// The later pass that may be there as well.
    in_doubt: BTreeMap<u64, u16>,
    /// Blocks that were written since the last flush, each with what was to be there before.
    unflushed: Vec<(u64, u16)>,
}

impl Ledger {
    /// Memory that it takes for so many blocks.
    pub(crate) fn memory(blocks: u64) -> Bytes {
        Bytes(blocks * size_of::<u16>() as u64)
    }

    pub(crate) fn new(block: Bytes, blocks: u64) -> Self {
        let passes = vec![0; blocks as usize];
        Self { block, passes, in_doubt: BTreeMap::new(), unflushed: Vec::new() }
    }

    /// Takes note of a write or trim that the drive has completed.
    pub(crate) fn changed(&mut self, io: &Io) {
        let blocks = self.blocks_of(io);
        let pass = io.stamp.map_or(0, |pass| pass.get());
        let is_change = matches!(io.operation, Operation::Write | Operation::Trim);
        if is_change && !self.in_doubt.is_empty() {
            let of_it = blocks.start as u64..blocks.end as u64;
            self.in_doubt.extract_if(of_it, |_, _| true).for_each(drop);
        }
        match io.operation {
            Operation::Write => {
                let written = &mut self.passes[blocks.clone()];
                self.unflushed.extend((blocks.start as u64..).zip(written.iter().copied()));
                written.fill(pass);
            }
            Operation::Trim => self.passes[blocks].iter_mut().for_each(|pass| *pass |= TRIMMED),
            Operation::Read | Operation::Flush => {}
        }
    }

    /// Takes note that all that was completed is durable.
    pub(crate) fn flushed(&mut self) {
        self.unflushed.clear();
    }

    /// Takes note that the drive may have been without power: of what was not flushed, both versions are
    /// right, although the later was acknowledged.
    pub(crate) fn may_have_lost(&mut self) {
        for (block, older) in self.unflushed.drain(..).rev() {
            let entry = &mut self.passes[block as usize];
            // What was trimmed later may be anything anyway.
            if *entry & TRIMMED == 0 || self.in_doubt.contains_key(&block) {
                self.in_doubt.entry(block).or_insert(*entry & PASS_MAX);
                *entry = older | *entry & TRIMMED;
            }
        }
    }

    /// Takes note of a write or trim that may have been done or not.
    pub(crate) fn may_have_changed(&mut self, io: &Io) {
        match (io.operation, io.stamp) {
            (Operation::Write, Some(pass)) => {
                let blocks = self.blocks_of(io);
                self.in_doubt.extend(blocks.map(|block| (block as u64, pass.get())));
            }
            // What was trimmed may hold all that it held before.
            _ => self.changed(io),
        }
    }

    /// The blocks of which two versions are right.
    pub(crate) fn in_doubt(&self) -> Vec<InDoubt> {
        let doubt = |(block, newer): (&u64, &u16)| {
            let older = self.passes[*block as usize] & PASS_MAX;
            InDoubt { block: *block, older, newer: *newer }
        };
        self.in_doubt.iter().map(doubt).collect()
    }

    /// Takes over what was in doubt of a run that is over.
    pub(crate) fn doubt(&mut self, doubts: &[InDoubt]) {
        for &InDoubt { block, older, newer } in doubts {
            if let Some(pass) = self.passes.get_mut(block as usize) {
                *pass = *pass & TRIMMED | older & PASS_MAX;
                self.in_doubt.insert(block, newer);
            }
        }
    }

    /// The pass that a block must hold; zero for none.
    pub(crate) fn pass(&self, block: u64) -> u16 {
        self.passes[block as usize] & PASS_MAX
    }

    /// Whether anything was written to any of the blocks of an I/O.
    pub(crate) fn holds_any(&self, io: &Io) -> bool {
        let blocks = self.blocks_of(io);
        let first = blocks.start as u64;
        self.passes[blocks.clone()].iter().any(|pass| *pass != 0)
            || self.in_doubt.range(first..blocks.end as u64).next().is_some()
    }

    /// Notes that a block is wrong; `false` if that is known.
    pub(crate) fn mark_bad(&mut self, block: u64) -> bool {
        let pass = &mut self.passes[block as usize];
        let is_new = *pass & KNOWN_BAD == 0;
        *pass |= KNOWN_BAD;
        is_new
    }

    /// Whether a block that holds this is as it must be.
    pub(crate) fn judge(&self, block: u64, held: Held) -> Verdict {
        if let Held::Stamped { offset, .. } = held
            && offset != self.block * block
        {
            return Verdict::Wrong(Kind::Misplaced);
        }
        let entry = self.passes[block as usize];
        let (pass, newer) = (entry & PASS_MAX, self.in_doubt.get(&block).copied());
        let is_anything = entry & TRIMMED != 0 || pass == 0;
        match (self.is_right(held, pass, newer), newer, is_anything) {
            (_, None, true) => Verdict::Anything,
            (Right::Latest, ..) => Verdict::Right,
            (Right::Earlier, Some(_), _) | (_, Some(_), true) => Verdict::NotFlushed,
            _ => Verdict::Wrong(kind_of(held)),
        }
    }

    fn is_right(&self, held: Held, pass: u16, newer: Option<u16>) -> Right {
        let latest = newer.unwrap_or(pass);
        let may_be =
            |found: u16| found == pass || found == latest || (pass..latest).contains(&found);
        match held {
            Held::Stamped { pass: found, .. } if found.get() == latest => Right::Latest,
            Held::Stamped { pass: found, .. } if may_be(found.get()) => Right::Earlier,
            // What was in flight may have been written in part, sector by sector.
            Held::Torn { oldest: Some(oldest), newest }
                if may_be(oldest.get()) && may_be(newest.get()) =>
            {
                Right::Earlier
            }
            _ => Right::No,
        }
    }

    fn blocks_of(&self, io: &Io) -> std::ops::Range<usize> {
        let (first, end) = (io.offset.0 / self.block.0, (io.offset.0 + io.length.0) / self.block.0);
        first as usize..end as usize
    }
}

/// Whether a version is one that may be there.
enum Right {
    Latest,
    Earlier,
    No,
}

/// What is wrong with a block that holds this and should not.
fn kind_of(held: Held) -> Kind {
    match held {
        Held::Zeros | Held::Unstamped => Kind::Lost,
        Held::AnotherRun | Held::Stamped { .. } => Kind::Old,
        Held::Torn { .. } => Kind::Torn,
        Held::Damaged { .. } => Kind::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Pass;

    const BLOCK: Bytes = Bytes(4096);

    fn pass(number: u16) -> Pass {
        Pass::new(number).unwrap()
    }

    fn write(block: u64, count: u64, number: u16) -> Io {
        Io::write(BLOCK * block, BLOCK * count).with_stamp(pass(number))
    }

    fn held(block: u64, number: u16) -> Held {
        Held::Stamped { offset: BLOCK * block, pass: pass(number) }
    }

    fn torn(oldest: u16, newest: u16) -> Held {
        Held::Torn { oldest: Pass::new(oldest), newest: pass(newest) }
    }

    /// Eight blocks in pass 5.
    fn ledger() -> Ledger {
        let mut ledger = Ledger::new(BLOCK, 10);
        ledger.changed(&write(0, 8, 5));
        ledger
    }

    #[test]
    fn each_kind_of_wrong_has_its_name() {
        let ledger = ledger();
        let verdict = |held| ledger.judge(3, held);
        assert_eq!(verdict(held(3, 5)), Verdict::Right);
        let wrong = [
            (held(3, 4), Kind::Old),
            (Held::AnotherRun, Kind::Old),
            (held(4, 5), Kind::Misplaced),
            (Held::Zeros, Kind::Lost),
            (Held::Unstamped, Kind::Lost),
            (torn(4, 5), Kind::Torn),
            (Held::Damaged { sector: 1 }, Kind::Damaged),
        ];
        for (held, kind) in wrong {
            assert_eq!(verdict(held), Verdict::Wrong(kind), "{held:?}");
        }
    }

    #[test]
    fn what_was_never_written_or_trimmed_may_be_anything_but_another_place_s() {
        let mut ledger = ledger();
        ledger.changed(&Io::trim(BLOCK * 2, BLOCK));
        for block in [2, 9] {
            for held in [held(block, 5), held(block, 3), Held::Zeros, torn(3, 5), Held::Unstamped] {
                assert_eq!(ledger.judge(block, held), Verdict::Anything, "{held:?}");
            }
            assert_eq!(ledger.judge(block, held(1, 5)), Verdict::Wrong(Kind::Misplaced));
        }
        ledger.changed(&write(2, 1, 6));
        assert_eq!(ledger.judge(2, Held::Zeros), Verdict::Wrong(Kind::Lost));
        assert_eq!(ledger.judge(2, held(2, 5)), Verdict::Wrong(Kind::Old));
    }

    #[test]
    fn of_a_write_that_was_not_acknowledged_both_versions_are_right_and_no_third() {
        let mut ledger = ledger();
        ledger.may_have_changed(&write(3, 1, 7));
        assert_eq!(ledger.judge(3, held(3, 7)), Verdict::Right);
        assert_eq!(ledger.judge(3, held(3, 5)), Verdict::NotFlushed);
        assert_eq!(ledger.judge(3, torn(5, 7)), Verdict::NotFlushed);
        assert_eq!(ledger.judge(3, held(3, 4)), Verdict::Wrong(Kind::Old));
        assert_eq!(ledger.judge(3, torn(4, 7)), Verdict::Wrong(Kind::Torn));
        assert_eq!(ledger.judge(3, Held::Zeros), Verdict::Wrong(Kind::Lost));
        let mut later = self::ledger();
        later.doubt(&ledger.in_doubt());
        assert_eq!(later.judge(3, held(3, 5)), Verdict::NotFlushed);
        ledger.changed(&write(3, 1, 8));
        assert_eq!(ledger.judge(3, held(3, 7)), Verdict::Wrong(Kind::Old));
        ledger.may_have_changed(&write(9, 1, 8));
        assert_eq!(ledger.judge(9, Held::Zeros), Verdict::NotFlushed, "nothing was there before");
    }

    #[test]
    fn of_what_was_not_flushed_both_versions_are_right_once_power_may_have_been_away() {
        let mut ledger = ledger();
        ledger.flushed();
        ledger.changed(&write(3, 1, 6));
        ledger.changed(&write(3, 2, 7));
        ledger.changed(&write(9, 1, 7));
        assert_eq!(ledger.judge(3, held(3, 5)), Verdict::Wrong(Kind::Old), "power was there");
        ledger.may_have_lost();
        for (block, older) in [(3, held(3, 5)), (3, held(3, 6)), (4, held(4, 5)), (9, Held::Zeros)]
        {
            assert_eq!(ledger.judge(block, older), Verdict::NotFlushed, "{block}");
            assert_eq!(ledger.judge(block, held(block, 7)), Verdict::Right, "{block}");
            assert_eq!(ledger.judge(block, held(0, 5)), Verdict::Wrong(Kind::Misplaced));
        }
        assert_eq!(ledger.judge(3, held(3, 4)), Verdict::Wrong(Kind::Old));
        assert_eq!(ledger.judge(3, Held::Zeros), Verdict::Wrong(Kind::Lost));
        assert_eq!(ledger.judge(5, Held::Zeros), Verdict::Wrong(Kind::Lost), "it was flushed");
        ledger.changed(&Io::trim(BLOCK * 3, BLOCK));
        assert_eq!(ledger.judge(3, Held::Zeros), Verdict::Anything, "trimmed");
        ledger.changed(&write(6, 1, 8));
        ledger.changed(&Io::trim(BLOCK * 6, BLOCK));
        ledger.may_have_lost();
        assert_eq!(ledger.judge(6, Held::Zeros), Verdict::Anything, "written, then trimmed");
        ledger.changed(&write(4, 1, 8));
        ledger.flushed();
        ledger.may_have_lost();
        assert_eq!(ledger.judge(4, held(4, 7)), Verdict::Wrong(Kind::Old), "it is flushed by now");
    }

    #[test]
    fn a_bad_block_counts_once_until_it_is_written_again() {
        let mut ledger = ledger();
        assert!(ledger.mark_bad(3) && !ledger.mark_bad(3));
        assert_eq!(ledger.judge(3, held(3, 5)), Verdict::Right);
        ledger.changed(&write(3, 1, 6));
        assert!(ledger.mark_bad(3));
    }
}
