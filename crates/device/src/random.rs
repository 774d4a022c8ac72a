//! Numbers that look random and are always the same.

/// What SplitMix64 adds to its state from one number to the next.
pub const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that SplitMix64 (Steele, Lea and Flood 2014) gives in this state. States that differ
/// in one bit give numbers that have nothing to do with each other.
#[inline]
pub fn split_mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(SPLIT_MIX_STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the authors' program with a seed of 1234567.
    #[test]
    fn the_numbers_are_the_published_ones() {
        let states = (0..3).map(|index| SPLIT_MIX_STEP.wrapping_mul(index).wrapping_add(1_234_567));
        let numbers: Vec<u64> = states.map(split_mix).collect();
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, published);
    }
}
