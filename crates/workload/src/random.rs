//! Seeds and even draws.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{SPLIT_MIX_STEP, split_mix};

/// Random numbers that are the same for the same seed, on every machine.
pub(crate) fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// One of `0..count`; the bias is below count / 2^64.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, count: u64) -> u64 {
    scale(random.next_u64(), count)
}

/// A number that is even over 64 bits, as one of `0..count`.
pub(crate) fn scale(number: u64, count: u64) -> u64 {
    ((u128::from(number) * u128::from(count)) >> 64) as u64
}

/// A number between 0 and 1, without 1.
pub(crate) fn fraction(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A seed that looks like neither of the numbers it is made of.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    split_mix(seed.wrapping_add(number.wrapping_mul(SPLIT_MIX_STEP)))
}
