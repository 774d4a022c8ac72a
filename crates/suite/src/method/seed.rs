//! Seeds of measurements.

/// The seed of a measurement: each goes to places of its own, or drives would see the same writes
/// again, which leave most of what they had to move already gone.
pub(crate) fn seed_of(seed: u64, measurement: &str) -> u64 {
    seed.wrapping_mul(1_000_003).wrapping_add(hash(measurement))
}

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}
