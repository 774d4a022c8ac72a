//! Write data that no drive can compress or recognise, made faster than any drive takes it.
//!
//! Sixteen xorshift64 generators (Marsaglia, 2003: shifts 13, 7, 17) run side by side and fill the
//! words of a buffer in turn. Each visits every non-zero 64-bit state once in 2^64 - 1 steps, so a
//! word never returns in its lane and no two aligned 128-byte blocks of a run are equal.

const LANES: usize = 16;
const LANE_BYTES: usize = LANES * 8;

/// An endless stream of incompressible, never repeating data.
#[derive(Debug, Clone)]
pub struct Content {
    lanes: [u64; LANES],
}

impl Content {
    /// The stream of one seed; equal seeds give equal streams.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let lanes = std::array::from_fn(|_| split_mix(&mut state).max(1));
        Self { lanes }
    }

    /// Overwrites `buffer` with the next bytes of the stream.
    ///
    /// # Panics
    /// If the length is not a multiple of 128 bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        assert!(
            buffer.len().is_multiple_of(LANE_BYTES),
            "content comes in units of {LANE_BYTES} bytes, asked for {}",
            buffer.len()
        );
        fill_fastest(&mut self.lanes, buffer);
    }
}

/// The same code compiled twice: 256-bit registers hold four lanes each, and double the speed.
#[cfg(target_arch = "x86_64")]
fn fill_fastest(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
    #[target_feature(enable = "avx2")]
    fn fill_avx2(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
        fill(lanes, buffer);
    }

    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked whether it has AVX2.
        #[allow(unsafe_code)]
        unsafe {
            fill_avx2(lanes, buffer);
        }
    } else {
        fill(lanes, buffer);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fill_fastest(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
    fill(lanes, buffer);
}

#[inline(always)]
fn fill(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
    let mut state = *lanes;
    for unit in buffer.as_chunks_mut::<LANE_BYTES>().0 {
        let mut words = unit.as_chunks_mut::<8>().0.iter_mut();
        for lane in &mut state {
            *lane ^= *lane << 13;
            *lane ^= *lane >> 7;
            *lane ^= *lane << 17;
            if let Some(word) = words.next() {
                *word = lane.to_le_bytes();
            }
        }
    }
    *lanes = state;
}

/// SplitMix64 (Steele, Lea, Flood, 2014): spreads one seed over the lanes.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_mebibyte_does_not_compress() {
        let mut data = vec![0; 1 << 20];
        Content::new(7).fill(&mut data);
        let packed = zstd::bulk::compress(&data, 19).unwrap();
        assert!(packed.len() >= data.len(), "{} bytes", packed.len());
    }

    #[test]
    fn no_sector_comes_twice_whatever_the_sizes_asked_for() {
        let mut content = Content::new(1);
        let mut seen = HashSet::new();
        let mut buffer = vec![0; 16 << 10];
        for round in 0..20_000 {
            let length = [512, 4096, 8192, 16 << 10][round % 4];
            content.fill(&mut buffer[..length]);
            for sector in buffer[..length].chunks(512) {
                assert!(seen.insert(<[u8; 16]>::try_from(&sector[..16]).unwrap()));
            }
        }
        assert!(seen.len() > 250_000);
    }

    #[test]
    fn the_stream_depends_on_the_seed_only() {
        let stream = |seed, pieces: &[usize]| {
            let mut content = Content::new(seed);
            let mut all = Vec::new();
            for &length in pieces {
                let mut piece = vec![0; length];
                content.fill(&mut piece);
                all.extend(piece);
            }
            all
        };
        assert_eq!(stream(3, &[512, 4096, 512]), stream(3, &[4096, 1024]));
        assert_ne!(stream(3, &[512]), stream(4, &[512]));
    }

    #[test]
    fn both_compilations_agree() {
        let mut fast = Content::new(9);
        let mut plain = Content::new(9);
        let (mut one, mut other) = (vec![0; 4096], vec![0; 4096]);
        fast.fill(&mut one);
        fill(&mut plain.lanes, &mut other);
        assert_eq!(one, other);
    }
}
