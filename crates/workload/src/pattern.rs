//! The two patterns that every other one is made of: in order, and anywhere.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Content, Io, Operation};

/// Covers `[0, span)` once, in order, in I/Os of `block` bytes; the last may be shorter.
#[derive(Debug, Clone)]
pub struct Sequential {
    /// The next I/O, but for the end of the span.
    next: Io,
    span: Bytes,
}

impl Sequential {
    /// # Panics
    /// If `block` is zero.
    pub fn new(operation: Operation, span: Bytes, block: Bytes) -> Self {
        assert!(block.0 > 0, "an I/O has a length");
        Self { next: at_zero(operation, block), span }
    }

    /// The same I/Os with data of this class; reads and trims have none and stay as they are.
    ///
    /// # Panics
    /// If a share is above 100 %.
    #[must_use]
    pub fn with_content(self, content: Content) -> Self {
        Self { next: self.next.with_content(content), ..self }
    }
}

impl Iterator for Sequential {
    type Item = Io;

    fn next(&mut self) -> Option<Io> {
        let io = self.next;
        let length = io.length.min(Bytes(self.span.0.saturating_sub(io.offset.0)));
        self.next.offset = io.offset + length;
        (length.0 > 0).then_some(Io { length, ..io })
    }
}

/// I/Os of `block` bytes at uniformly random multiples of `block` within `[0, span)`, without end
/// and with repetition, as Iometer does it.
#[derive(Debug, Clone)]
pub struct RandomUniform {
    /// Every I/O, but for its place.
    io: Io,
    /// Out of 100 I/Os, those that read whatever `io` does.
    reads_percent: u64,
    blocks: u64,
    random: Xoshiro256PlusPlus,
}

impl RandomUniform {
    /// # Panics
    /// If `span` does not hold one `block`.
    pub fn new(operation: Operation, span: Bytes, block: Bytes, seed: u64) -> Self {
        assert!(block.0 > 0 && span >= block, "a span of {span} holds no block of {block}");
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { io: at_zero(operation, block), reads_percent: 0, blocks: span.0 / block.0, random }
    }

    /// The same I/Os with data of this class; reads and trims have none and stay as they are.
    ///
    /// # Panics
    /// If a share is above 100 %.
    #[must_use]
    pub fn with_content(self, content: Content) -> Self {
        Self { io: self.io.with_content(content), ..self }
    }

    /// The same places, but this share of the I/Os, chosen at random, are reads.
    ///
    /// # Panics
    /// If the share is above 100 %.
    #[must_use]
    pub fn with_reads(self, percent: u8) -> Self {
        assert!(percent <= 100, "{percent} % of the I/Os are to be reads");
        Self { reads_percent: u64::from(percent), ..self }
    }

    /// A number below `limit`, by scaling 64 random bits: the bias is below 2^-30.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(limit)) >> 64) as u64
    }
}

impl Iterator for RandomUniform {
    type Item = Io;

    fn next(&mut self) -> Option<Io> {
        let offset = self.io.length * self.below(self.blocks);
        if self.reads_percent > 0 && self.below(100) < self.reads_percent {
            return Some(Io::read(offset, self.io.length));
        }
        Some(Io { offset, ..self.io })
    }
}

fn at_zero(operation: Operation, block: Bytes) -> Io {
    Io::new(operation, Bytes::ZERO, block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_covers_the_span_once_and_in_order() {
        let ios: Vec<Io> = Sequential::new(Operation::Write, Bytes(10_240), Bytes(4096)).collect();
        let ranges: Vec<_> = ios.iter().map(|io| (io.offset.0, io.length.0)).collect();
        assert_eq!(ranges, [(0, 4096), (4096, 4096), (8192, 2048)]);
        assert_eq!(Sequential::new(Operation::Read, Bytes(0), Bytes(4096)).next(), None);
    }

    #[test]
    fn random_stays_in_the_span_aligned_and_even() {
        let blocks = 64;
        let mut hits = vec![0u32; blocks as usize];
        let span = Bytes(blocks * 4096 + 100);
        for io in RandomUniform::new(Operation::Write, span, Bytes(4096), 3).take(64_000) {
            assert!(io.offset.is_multiple_of(Bytes(4096)) && io.offset + io.length <= span);
            hits[(io.offset.0 / 4096) as usize] += 1;
        }
        // 1000 expected per block, standard deviation 31.
        assert!(hits.iter().all(|hits| (800..1200).contains(hits)), "{hits:?}");
    }

    #[test]
    fn the_content_class_changes_the_data_of_writes_and_nothing_else() {
        let content = Content { compressible_percent: 40, duplicate_percent: 60 };
        let (span, block) = (Bytes(10_240), Bytes(4096));
        for operation in [Operation::Write, Operation::Read] {
            let sequential = Sequential::new(operation, span, block);
            let random = RandomUniform::new(operation, span, block, 3).take(10);
            let like = RandomUniform::new(operation, span, block, 3).with_content(content).take(10);
            let plain = sequential.clone().chain(random);
            let classed = sequential.with_content(content).chain(like);
            assert!(plain.map(|io| io.with_content(content)).eq(classed));
        }
    }

    #[test]
    fn reads_are_mixed_in_by_their_share() {
        for percent in [0u8, 5, 65, 100] {
            let ios = RandomUniform::new(Operation::Write, Bytes::from_gib(1), Bytes(4096), 7);
            let ios = ios.with_reads(percent).take(20_000);
            let reads = ios.filter(|io| io.operation == Operation::Read).count() as f64;
            let expected = f64::from(percent) / 100.0;
            // Five standard deviations of a binomial of 20,000 are 1.8 %.
            assert!((reads / 20_000.0 - expected).abs() < 0.018, "{percent} %: {reads}");
            assert!(percent % 100 != 0 || reads / 20_000.0 == expected);
        }
    }

    #[test]
    fn the_seed_decides_everything() {
        let first = |seed| {
            let span = Bytes::from_gib(1);
            let random = RandomUniform::new(Operation::Read, span, Bytes(4096), seed);
            random.take(100).collect::<Vec<_>>()
        };
        assert_eq!(first(5), first(5));
        assert_ne!(first(5), first(6));
    }
}
