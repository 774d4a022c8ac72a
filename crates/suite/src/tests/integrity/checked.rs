//! What is known of the blocks under test: what they must hold, and what was found.

use std::collections::{BTreeMap, BTreeSet};

use writecliff_device::{Bytes, DeviceInfo, Held, Io};

use super::ledger::{Kind, Ledger, Verdict};
use super::outcome::{BadBlock, BadSlice, Outcome, SLICES};
use super::scheme::Scheme;

/// So many bad blocks are told one by one.
const NAMED: usize = 16;
/// Bad probes beyond these say nothing new of where the drive ends.
const PROBES_KEPT: usize = 1 << 16;
/// So many probes in a row are no accident.
const BAD_END_MIN: usize = 8;

/// Nobody sells less.
const REAL_MIN: Bytes = Bytes::from_kib(256);

/// The blocks under test.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) ledger: Ledger,
    outcome: Outcome,
    lba_size: Bytes,
    slices: BTreeMap<(u32, Kind), u64>,
    /// Blocks that were found in an earlier version, which may be.
    not_flushed: BTreeSet<u64>,
    /// Places that were bad, and how far from there their data were to lie, if those were found.
    bad: Vec<(u64, Option<u64>)>,
    phase: &'static str,
}

impl Checked {
    pub(crate) fn new(scheme: &Scheme, drive: &DeviceInfo) -> Self {
        let Scheme { block, blocks, .. } = *scheme;
        Self {
            ledger: Ledger::new(block, blocks),
            outcome: Outcome { block, blocks, capacity: drive.capacity, ..Outcome::default() },
            lba_size: drive.lba_size,
            slices: BTreeMap::new(),
            not_flushed: BTreeSet::new(),
            bad: Vec::new(),
            phase: "",
        }
    }

    /// What is found from now on is found in this phase.
    pub(crate) fn begin(&mut self, phase: &'static str) {
        self.phase = phase;
    }

    /// Takes note of what the blocks of a look were found to hold.
    pub(crate) fn found(&mut self, look: &Io, held: impl Iterator<Item = Held>) {
        let first = look.offset.0 / self.outcome.block.0;
        for (block, held) in (first..).zip(held) {
            let verdict = self.ledger.judge(block, held);
            match verdict {
                Verdict::Anything => self.outcome.anything += 1,
                _ => self.outcome.checks += 1,
            }
            match verdict {
                Verdict::Right | Verdict::Anything => {}
                Verdict::NotFlushed => {
                    self.not_flushed.insert(block);
                    self.outcome.not_flushed = self.not_flushed.len() as u64;
                }
                Verdict::Wrong(kind) => self.is_bad(block, kind, Some(held)),
            }
        }
    }

    /// Takes note of a block that the drive fails to read. One that nothing was written to may be so.
    pub(crate) fn unreadable(&mut self, look: &Io) {
        let block = look.offset.0 / self.outcome.block.0;
        if self.ledger.holds_any(look) {
            self.outcome.checks += 1;
            self.is_bad(block, Kind::Unreadable, None);
        } else {
            self.outcome.anything += 1;
        }
    }

    fn is_bad(&mut self, block: u64, kind: Kind, found: Option<Held>) {
        let Outcome { block: size, blocks, .. } = self.outcome;
        let offset = size * block;
        if self.bad.len() < PROBES_KEPT {
            let shift = match found {
                Some(Held::Stamped { offset: other, .. }) => Some(other.0.abs_diff(offset.0)),
                _ => None,
            };
            self.bad.push((block, shift.filter(|shift| *shift > 0)));
        }
        let expected = self.ledger.pass(block);
        if !self.ledger.mark_bad(block) {
            return;
        }
        *self.outcome.count(kind) += 1;
        let slice = (u128::from(block) * u128::from(SLICES) / u128::from(blocks)) as u32;
        *self.slices.entry((slice, kind)).or_default() += 1;
        if self.outcome.first.len() < NAMED {
            let (lba, phase) = (offset.0 / self.lba_size.0, self.phase.to_owned());
            self.outcome.first.push(BadBlock { lba, offset, kind, expected, found, phase });
        }
    }

    /// Concludes from the probes what the drive really has, if that is less than it claims: where its
    /// places begin again, or from where on nothing is right.
    pub(crate) fn judge_capacity(&mut self, probes: impl Iterator<Item = Io>) {
        self.outcome.real_capacity = self.begins_again().or_else(|| self.ends_early(probes));
    }

    /// What all distances by which data were misplaced are multiples of, if that can be a drive.
    fn begins_again(&self) -> Option<Bytes> {
        let shifts = || self.bad.iter().filter_map(|(_, shift)| *shift);
        let common = shifts().reduce(greatest_common_divisor)?;
        let is_drive = (REAL_MIN.0..self.outcome.capacity.0).contains(&common);
        // Of more than half of the claim, a single probe falls onto the first stretch.
        let is_enough = shifts().count() > 1 || common > self.outcome.capacity.0 / 2;
        (is_drive && is_enough).then_some(Bytes(common))
    }

    /// The first bad probe, if none behind it is right and they are several.
    fn ends_early(&self, probes: impl Iterator<Item = Io>) -> Option<Bytes> {
        let size = self.outcome.block;
        let first = self.bad.iter().map(|(block, _)| *block).min()?;
        let behind: Vec<u64> = probes
            .flat_map(|io| (io.offset.0..io.offset.0 + io.length.0).step_by(size.0 as usize))
            .map(|offset| offset / size.0)
            .filter(|block| *block >= first)
            .collect();
        let is_bad = |block: &u64| self.bad.iter().any(|(bad, _)| bad == block);
        (behind.len() >= BAD_END_MIN && behind.iter().all(is_bad)).then_some(size * first)
    }

    /// Nothing more is to be looked at.
    pub(crate) fn finish(&mut self) {
        self.outcome.finished = true;
    }

    /// The run only reads what another has written.
    pub(crate) fn reopened(&mut self) {
        self.outcome.reopened = true;
    }

    pub(crate) fn is_short(&self) -> bool {
        self.outcome.real_capacity.is_some()
    }

    /// All that was found up to now.
    pub(crate) fn outcome(&self) -> Outcome {
        let slice =
            |(&(slice, kind), &blocks): (&(u32, Kind), &u64)| BadSlice { slice, kind, blocks };
        Outcome { slices: self.slices.iter().map(slice).collect(), ..self.outcome.clone() }
    }
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}
