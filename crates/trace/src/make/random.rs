//! Seeds and even draws: integers only, so that a seed makes the same trace on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers that are decided by a seed.
#[derive(Debug, Clone)]
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of `0..count`; zero of none. The bias is below count / 2^64.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(count)) >> 64) as u64
    }

    /// True in `share` of `whole` cases.
    pub(super) fn chance(&mut self, share: u64, whole: u64) -> bool {
        self.below(whole) < share
    }

    /// The index of one of these counts, each as likely as it is large; `None` if all are zero.
    pub(super) fn pick(&mut self, counts: impl Iterator<Item = u64> + Clone) -> Option<usize> {
        let mut at = self.below(counts.clone().sum());
        counts.enumerate().find_map(|(index, count)| {
            if at < count {
                return Some(index);
            }
            at -= count;
            None
        })
    }
}
