//! Write data that a drive can compress and recognise as far as asked, by default not at all, made
//! faster than any drive takes it.
//!
//! Sixteen xorshift64 generators (Marsaglia, 2003: shifts 13, 7, 17) run side by side and fill the
//! words of a buffer in turn. Each visits every non-zero 64-bit state once in 2^64 - 1 steps, so a
//! word never returns in its lane and no two aligned 128-byte blocks of a run are equal.
//!
//! The [`Content`] class of a write is laid over that. Its compressible share is a run of zeros (as
//! fio has it) at the end of every 512-byte sector: so I/Os of any size and place have the share,
//! and a compressor finds it however small its window is. Its duplicates are taken in turn from
//! [`REPEATED`] blocks of the seed: few enough that any deduplicating drive remembers them. Each
//! class has its own, as the zeros differ. The first that comes of each repeats nothing yet.

use writecliff_device::{Content, Io, SPLIT_MIX_STEP, split_mix};

pub(crate) const LANES: usize = 16;
const LANE_BYTES: usize = LANES * 8;
/// The smallest LBA size.
pub const SECTOR: usize = 512;
/// What stays random of a sector even if it is wholly compressible: a word of the first lane, so
/// that no two sectors are equal and a drive that only deduplicates finds nothing to save.
const DISTINCT: usize = 8;
/// What duplicates come in, aligned on the device: the mapping unit of most drives.
const BLOCK: usize = 4096;
/// How many blocks the duplicates are taken from.
const REPEATED: usize = 16;

/// An endless stream of data to write.
#[derive(Debug, Clone)]
pub struct ContentStream {
    lanes: [u64; LANES],
    /// The blocks that duplicates are taken from, one after the other.
    repeated: Vec<u8>,
    /// Which of them is the next duplicate.
    next: usize,
    /// Hundredths of a block by which duplicates are behind their share.
    owed: u8,
}

impl ContentStream {
    /// The stream of one seed; equal seeds and I/Os give equal data.
    pub fn new(seed: u64) -> Self {
        let lane = |index: usize| {
            split_mix(seed.wrapping_add((index as u64).wrapping_mul(SPLIT_MIX_STEP))).max(1)
        };
        let lanes = std::array::from_fn(lane);
        let mut other_lanes = std::array::from_fn(|index| lane(LANES + index));
        let mut repeated = vec![0; REPEATED * BLOCK];
        fill_fastest(&mut other_lanes, &mut repeated);
        Self { lanes, repeated, next: 0, owed: 0 }
    }

    /// Overwrites `buffer` with data for the write `io`, of its content class.
    ///
    /// Of any hundred blocks in a row of one class, its share are duplicates. A block of which an
    /// I/O covers only a part counts as one; the part is the same part of a repeated block.
    ///
    /// # Panics
    /// If the length is not that of the I/O in whole sectors of 512 bytes.
    pub fn fill(&mut self, io: &Io, buffer: &mut [u8]) {
        assert!(
            buffer.len() as u64 == io.length.0.next_multiple_of(SECTOR as u64),
            "a buffer of {} bytes for {io:?}",
            buffer.len()
        );
        fill_fastest(&mut self.lanes, buffer);
        if io.content != Content::INCOMPRESSIBLE {
            self.repeat_blocks(io, buffer);
            compress_sectors(io.content.compressible_percent, buffer);
        }
    }

    fn repeat_blocks(&mut self, io: &Io, buffer: &mut [u8]) {
        let mut within = io.offset.0 as usize % BLOCK;
        let mut rest = buffer;
        while !rest.is_empty() {
            let (piece, others) = rest.split_at_mut(rest.len().min(BLOCK - within));
            if self.is_duplicate_next(io.content.duplicate_percent) {
                let start = self.next * BLOCK + within;
                piece.copy_from_slice(&self.repeated[start..start + piece.len()]);
                self.next = (self.next + 1) % REPEATED;
            }
            (within, rest) = (0, others);
        }
    }

    /// Spreads the duplicates evenly, and exactly to their share.
    fn is_duplicate_next(&mut self, duplicate_percent: u8) -> bool {
        self.owed += duplicate_percent;
        let is_duplicate = self.owed >= 100;
        if is_duplicate {
            self.owed -= 100;
        }
        is_duplicate
    }
}

fn compress_sectors(compressible_percent: u8, buffer: &mut [u8]) {
    let random = SECTOR * usize::from(100 - compressible_percent) / 100;
    for sector in buffer.as_chunks_mut::<SECTOR>().0 {
        sector[random.max(DISTINCT)..].fill(0);
    }
}

/// The same code compiled twice: 256-bit registers hold four lanes each, and double the speed.
#[cfg(target_arch = "x86_64")]
pub(crate) fn fill_fastest(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
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
pub(crate) fn fill_fastest(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use writecliff_device::Bytes;

    use super::*;

    const BLOCK_SIZE: Bytes = Bytes(BLOCK as u64);

    /// What `stream` gives for consecutive writes of `size` from `offset` on, of one class.
    fn written(
        stream: &mut ContentStream,
        content: (u8, u8),
        offset: Bytes,
        size: Bytes,
        count: u64,
    ) -> Vec<u8> {
        let content = Content { compressible_percent: content.0, duplicate_percent: content.1 };
        let mut all = vec![0; (size.0 * count) as usize];
        for (index, buffer) in (0..).zip(all.chunks_mut(size.0 as usize)) {
            let io = Io::write(offset + size * index, size).with_content(content);
            stream.fill(&io, buffer);
        }
        all
    }

    fn fill_plain(stream: &mut ContentStream, buffer: &mut [u8]) {
        let io = Io::write(Bytes::ZERO, Bytes(buffer.len() as u64));
        stream.fill(&io, buffer);
    }

    #[test]
    fn a_mebibyte_does_not_compress() {
        let mut data = vec![0; 1 << 20];
        fill_plain(&mut ContentStream::new(7), &mut data);
        let packed = zstd::bulk::compress(&data, 19).unwrap();
        assert!(packed.len() >= data.len(), "{} bytes", packed.len());
    }

    #[test]
    fn no_sector_comes_twice_whatever_the_sizes_asked_for() {
        let mut content = ContentStream::new(1);
        let mut seen = HashSet::new();
        let mut buffer = vec![0; 16 << 10];
        for round in 0..20_000 {
            let length = [512, 4096, 8192, 16 << 10][round % 4];
            fill_plain(&mut content, &mut buffer[..length]);
            for sector in buffer[..length].chunks(512) {
                assert!(seen.insert(<[u8; 16]>::try_from(&sector[..16]).unwrap()));
            }
        }
        assert!(seen.len() > 250_000);
    }

    #[test]
    fn the_stream_depends_on_the_seed_only() {
        let stream = |seed, pieces: &[usize]| {
            let mut content = ContentStream::new(seed);
            let mut all = Vec::new();
            for &length in pieces {
                let mut piece = vec![0; length];
                fill_plain(&mut content, &mut piece);
                all.extend(piece);
            }
            all
        };
        assert_eq!(stream(3, &[512, 4096, 512]), stream(3, &[4096, 1024]));
        assert_ne!(stream(3, &[512]), stream(4, &[512]));
    }

    #[test]
    fn both_compilations_agree() {
        let mut fast = ContentStream::new(9);
        let mut plain = ContentStream::new(9);
        let (mut one, mut other) = (vec![0; 4096], vec![0; 4096]);
        fill_fastest(&mut fast.lanes, &mut one);
        fill(&mut plain.lanes, &mut other);
        assert_eq!(one, other);
    }

    #[test]
    fn a_compressor_with_a_small_window_finds_the_share() {
        for size in [512, 4096, 128 << 10].map(Bytes) {
            for percent in [0, 25, 50, 75, 100] {
                let mut stream = ContentStream::new(7);
                let data = written(&mut stream, (percent, 0), Bytes::ZERO, size, 8);
                let packed = |block| zstd::bulk::compress(block, 1).unwrap().len();
                let packed: usize = data.chunks(BLOCK).map(packed).sum();
                let saved = 100.0 * (1.0 - packed as f64 / data.len() as f64);
                assert!((saved - f64::from(percent)).abs() < 3.0, "{percent} %: {saved:.1} %");
            }
        }
    }

    #[test]
    fn what_compresses_is_no_duplicate() {
        let mut stream = ContentStream::new(7);
        let data = written(&mut stream, (100, 0), Bytes::ZERO, BLOCK_SIZE, 10_000);
        let sectors: HashSet<&[u8]> = data.chunks(SECTOR).collect();
        assert_eq!(sectors.len(), 80_000);
    }

    #[test]
    fn duplicates_have_exactly_their_share() {
        for percent in [0, 1, 25, 33, 50, 99, 100] {
            for size in [4096, 12 << 10, 128 << 10].map(Bytes) {
                let mut stream = ContentStream::new(7);
                let count = 3_072_000 / size.0 * 16;
                let data = written(&mut stream, (50, percent), Bytes::ZERO, size, count);
                let blocks = data.len() / BLOCK;
                let different: HashSet<&[u8]> = data.chunks(BLOCK).collect();
                let duplicates = blocks * usize::from(percent) / 100;
                let expected = blocks - duplicates + duplicates.min(REPEATED);
                assert_eq!(different.len(), expected, "{percent} % in {size}");
            }
        }
    }

    #[test]
    fn duplicates_are_aligned_on_the_device() {
        let mut stream = ContentStream::new(7);
        let data = written(&mut stream, (0, 100), Bytes(512), Bytes::from_kib(256), 1);
        let repeated: HashSet<&[u8]> = stream.repeated.chunks(BLOCK).collect();
        let blocks = data[BLOCK - 512..].chunks_exact(BLOCK);
        assert_eq!(blocks.filter(|block| repeated.contains(block)).count(), 63);
    }

    #[test]
    fn classes_may_alternate_and_the_incompressible_one_is_the_plain_stream() {
        let mut stream = ContentStream::new(7);
        let mut lanes = stream.lanes;
        let mut expected = vec![0; BLOCK];
        for _ in 0..100 {
            super::fill(&mut lanes, &mut expected);
            assert_eq!(written(&mut stream, (0, 0), Bytes::ZERO, BLOCK_SIZE, 1), expected);
            super::fill(&mut lanes, &mut expected);
            written(&mut stream, (30, 70), Bytes::ZERO, BLOCK_SIZE, 1);
        }
    }

    #[test]
    fn the_seed_decides_every_class() {
        for content in [(0, 0), (50, 0), (0, 50), (30, 70)] {
            let first = |seed| {
                let mut stream = ContentStream::new(seed);
                written(&mut stream, content, Bytes::ZERO, BLOCK_SIZE, 100)
            };
            assert_eq!(first(3), first(3));
            assert_ne!(first(3), first(4));
        }
    }
}
