//! How well data compress, for drives that store less of what does.

use writecliff_device::Content;

/// A compressor of a drive sees blocks of this size.
const BLOCK: usize = 4096;
/// So many blocks of a write are looked at, evenly spread.
const SAMPLES: usize = 4;
/// Quick, as a drive has to be.
const LEVEL: i32 = 1;

/// The content class of these data. Which blocks repeat earlier ones is not looked for.
pub(crate) fn class_of(data: &[u8]) -> Content {
    let blocks = data.len().div_ceil(BLOCK).max(1);
    let step = blocks.div_ceil(SAMPLES);
    let sampled = data.chunks(BLOCK).step_by(step);
    let (mut whole, mut compressed) = (0, 0);
    for block in sampled {
        whole += block.len();
        // What does not become smaller is stored as it is.
        let length = zstd::bulk::compress(block, LEVEL).map_or(block.len(), |packed| packed.len());
        compressed += length.min(block.len());
    }
    let saved = (whole - compressed) * 100 / whole.max(1);
    Content { compressible_percent: saved as u8, duplicate_percent: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn random_data_save_nothing_half_random_ones_half_and_zeros_nearly_all() {
        let mut random = vec![0; 64 << 10];
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut random);
        assert_eq!(class_of(&random).compressible_percent, 0);
        random.chunks_mut(BLOCK).for_each(|block| block[..BLOCK / 2].fill(7));
        let half = class_of(&random).compressible_percent;
        assert!((48..=50).contains(&half), "{half}");
        assert!(class_of(&[0; BLOCK]).compressible_percent >= 98);
        assert_eq!(class_of(&random[BLOCK / 2..][..512]).compressible_percent, 0, "a sector");
    }
}
