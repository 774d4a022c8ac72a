//! What is asked of the drive, and in which order: the same for the same plan, seed and drive,
//! whenever it is asked for again.
//!
//! The order is cut into rounds. A round's writes carry its pass, and it ends with a flush; so what
//! every block must hold follows from how many rounds were flushed, and nothing else needs to be
//! kept of a run that was cut off at any moment.

use writecliff_device::{Bytes, DeviceInfo, Io, Pass, SPLIT_MIX_STEP, split_mix};

use super::ledger::PASS_MAX;
use super::plan::{Plan, block_of};

/// Long I/Os are this long.
pub(crate) const LONG: Bytes = Bytes::from_kib(128);
/// The fill is cut into at most so many rounds, none shorter than this.
const FILL_ROUNDS: u64 = 256;
const FILL_ROUND_MIN: Bytes = Bytes::from_mib(64);
/// A round of the torture has so many operations: as many as there are blocks, within these bounds.
const TORTURE_ROUND: std::ops::RangeInclusive<u64> = 1024..=65_536;
/// Of a thousand operations of the torture so many are trims.
const TRIMS_PERMILLE: u64 = 10;
/// Of ten writes so many are of one block; the others of any number up to a long I/O's.
const SHORT_WRITES_OF_TEN: u64 = 9;
/// A trim is of up to so many blocks.
const TRIM_BLOCKS_MAX: u64 = 256;

/// The order for one drive.
#[derive(Debug, Clone)]
pub(crate) struct Scheme {
    pub(crate) block: Bytes,
    /// Blocks in use, from the drive's first.
    pub(crate) blocks: u64,
    /// Blocks from one probe to the next, and as many at the beginning of the drive.
    stride: u64,
    read_percent: u8,
    trims: bool,
    seed: u64,
}

/// What a round is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Probes,
    Fill,
    Torture,
}

impl Scheme {
    /// The order for so much of a drive.
    pub(crate) fn new(plan: &Plan, drive: &DeviceInfo, trims: bool) -> Self {
        let block = block_of(drive);
        let blocks = plan.used(drive).0 / block.0;
        let stride = blocks.div_ceil(u64::from(plan.probes)).max(1);
        Self { block, blocks, stride, read_percent: plan.read_percent, trims, seed: plan.seed }
    }

    /// The pass of a round.
    pub(crate) fn pass(&self, round: u32) -> Pass {
        let own = u64::from(PASS_MAX) - self.fill_rounds() - 1;
        let number = match u64::from(round).checked_sub(self.fill_rounds() + 2) {
            Some(of_torture) => self.fill_rounds() + 2 + of_torture % own,
            None => u64::from(round),
        };
        u16::try_from(number).ok().and_then(Pass::new).unwrap_or(Pass::FIRST)
    }

    /// What a round, counted from 1, is a part of.
    pub(crate) fn stage(&self, round: u32) -> Stage {
        match u64::from(round) {
            0 | 1 => Stage::Probes,
            fill if fill <= self.fill_rounds() + 1 => Stage::Fill,
            _ => Stage::Torture,
        }
    }

    /// The I/Os of a round, without the flush at its end.
    pub(crate) fn round(&self, round: u32) -> Box<dyn Iterator<Item = Io> + Send + '_> {
        let pass = self.pass(round);
        match self.stage(round) {
            Stage::Probes => Box::new(self.probe_places(self.seed).map(move |(place, count)| {
                Io::write(self.block * place, self.block * count).with_stamp(pass)
            })),
            Stage::Fill => {
                let index = u64::from(round) - 2;
                let blocks = self.fill_round();
                let end = (blocks * (index + 1)).min(self.blocks);
                let ranges = self.ranges(blocks * index, end);
                Box::new(ranges.map(move |(place, count)| {
                    Io::write(self.block * place, self.block * count).with_stamp(pass)
                }))
            }
            Stage::Torture => {
                let mut dice = Dice(split_mix(self.seed ^ split_mix(u64::from(round))));
                let count = self.blocks.clamp(*TORTURE_ROUND.start(), *TORTURE_ROUND.end());
                Box::new(
                    (0..count)
                        .flat_map(move |_| self.operation(&mut dice, pass).into_iter().flatten()),
                )
            }
        }
    }

    /// Looks at all that the probes have written, in another order.
    pub(crate) fn look_at_probes(&self) -> impl Iterator<Item = Io> + '_ {
        self.probe_places(!self.seed).map(|(place, count)| self.look(place, count))
    }

    /// Looks at the whole of it, in order.
    pub(crate) fn look_at_all(&self) -> impl Iterator<Item = Io> + '_ {
        self.ranges(0, self.blocks).map(|(place, count)| self.look(place, count))
    }

    /// A look at some blocks.
    pub(crate) fn look(&self, place: u64, count: u64) -> Io {
        Io::read(self.block * place, self.block * count).with_stamp(Pass::FIRST)
    }

    /// Bytes that the probes write.
    pub(crate) fn probed(&self) -> Bytes {
        let probes = self.blocks.div_ceil(self.stride);
        self.block * (self.stride.min(self.blocks) + probes).min(2 * self.blocks)
    }

    /// The rounds of the fill, by their numbers.
    pub(crate) fn fill_range(&self) -> std::ops::RangeInclusive<u32> {
        2..=self.fill_rounds() as u32 + 1
    }

    fn fill_rounds(&self) -> u64 {
        self.blocks.div_ceil(self.fill_round())
    }

    fn fill_round(&self) -> u64 {
        self.blocks.div_ceil(FILL_ROUNDS).max(FILL_ROUND_MIN.0 / self.block.0)
    }

    /// The first stretch of the drive, whole; then one block of each later stretch, all equally far
    /// from its beginning, in an order of the seed's; the drive's last block. Wherever the places of a
    /// drive begin again, one of the probes falls into the first stretch.
    fn probe_places(&self, seed: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.ranges(0, self.stride.min(self.blocks));
        let within = split_mix(self.seed) % self.stride;
        let mut probes: Vec<u64> = (1..self.blocks.div_ceil(self.stride))
            .map(|stretch| (stretch * self.stride + within).min(self.blocks - 1))
            .chain((self.stride < self.blocks).then_some(self.blocks - 1))
            .collect();
        probes.dedup();
        probes.sort_by_key(|place| split_mix(seed ^ place));
        first.chain(probes.into_iter().map(|place| (place, 1)))
    }

    /// These blocks in long I/Os.
    fn ranges(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let long = self.long();
        (from..to).step_by(long as usize).map(move |place| (place, long.min(to - place)))
    }

    fn long(&self) -> u64 {
        (LONG.0 / self.block.0).max(1)
    }

    /// An operation of the torture: a look, a write, or a trim with or without a write behind it.
    fn operation(&self, dice: &mut Dice, pass: Pass) -> [Option<Io>; 2] {
        let kind = dice.below(1000);
        if kind < u64::from(self.read_percent) * 10 {
            return [Some(self.look(dice.below(self.blocks), 1)), None];
        }
        let write =
            |place, count| Io::write(self.block * place, self.block * count).with_stamp(pass);
        if self.trims && kind >= 1000 - TRIMS_PERMILLE {
            let (place, count) = self.stretch(dice, TRIM_BLOCKS_MAX);
            let trim = Io::trim(self.block * place, self.block * count);
            let again = (dice.below(2) == 0).then(|| write(place, count.min(self.long())));
            return [Some(trim), again];
        }
        let most = if dice.below(10) < SHORT_WRITES_OF_TEN { 1 } else { self.long() };
        let (place, count) = self.stretch(dice, most);
        [Some(write(place, count)), None]
    }

    /// Up to so many blocks, anywhere.
    fn stretch(&self, dice: &mut Dice, most: u64) -> (u64, u64) {
        let count = (1 + dice.below(most)).min(self.blocks);
        (dice.below(self.blocks - count + 1), count)
    }
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    /// A number below `count`.
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(SPLIT_MIX_STEP);
        ((u128::from(split_mix(self.0)) * u128::from(count)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Operation;

    fn scheme(blocks: u64, probes: u64) -> Scheme {
        let (block, stride) = (Bytes(4096), blocks.div_ceil(probes).max(1));
        Scheme { block, blocks, stride, read_percent: 30, trims: true, seed: 5 }
    }

    #[test]
    fn every_real_capacity_is_met_by_a_probe() {
        for blocks in [1000, 1024, 100_003] {
            let scheme = scheme(blocks, 64);
            let written: Vec<Io> = scheme.round(1).collect();
            for real in scheme.stride..blocks - scheme.stride {
                let is_met = written.iter().any(|io| {
                    let place = io.offset.0 / 4096;
                    place >= real && place % real < scheme.stride
                });
                assert!(is_met, "{real} of {blocks}");
            }
        }
    }

    #[test]
    fn the_fill_is_every_block_once_and_ends_before_the_torture() {
        let scheme = scheme(1_000_000, 1024);
        let mut next = 0;
        for round in scheme.fill_range() {
            assert_eq!(
                (scheme.stage(round), scheme.pass(round).get()),
                (Stage::Fill, round as u16)
            );
            for io in scheme.round(round) {
                assert_eq!((io.operation, io.offset.0), (Operation::Write, next));
                next += io.length.0;
            }
        }
        assert_eq!(next, 1_000_000 * 4096);
        let first = scheme.fill_range().end() + 1;
        assert_eq!((scheme.stage(1), scheme.stage(first)), (Stage::Probes, Stage::Torture));
    }

    #[test]
    fn passes_differ_from_round_to_round_and_begin_again_in_the_torture() {
        let scheme = scheme(1_000_000, 1024);
        let first = *scheme.fill_range().end() + 1;
        let passes = u32::from(PASS_MAX) - first + 1;
        assert_eq!(scheme.pass(first + passes - 1).get(), PASS_MAX);
        assert_eq!(scheme.pass(first + passes), scheme.pass(first));
        assert_ne!(scheme.pass(first), scheme.pass(first - 1));
    }

    #[test]
    fn the_torture_stays_in_its_span_and_has_its_shares() {
        let scheme = scheme(20_000, 1024);
        let all: Vec<Io> = scheme.round(9).collect();
        assert_eq!(all, scheme.round(9).collect::<Vec<_>>(), "the same when asked again");
        assert!(all.iter().all(|io| io.offset.0 + io.length.0 <= 20_000 * 4096));
        let share = |operation| {
            let count = all.iter().filter(|io| io.operation == operation).count();
            count as f64 / all.len() as f64
        };
        assert!((share(Operation::Read) - 0.3).abs() < 0.02);
        assert!((share(Operation::Trim) - 0.01).abs() < 0.004);
    }
}
