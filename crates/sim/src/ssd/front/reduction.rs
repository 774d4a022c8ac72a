//! Compression and elimination of duplicates: writing less than the host sends.
//!
//! A page that shrinks to a share of itself is modelled by storing the whole of that share of
//! pages, evenly spread, and nothing of the others, which then lie "within" stored ones. Space and
//! write amplification come out as with pages packed side by side; the map stays one entry a page.

use writecliff_device::Content;
use writecliff_profile::Reduction;

const WHOLE: u32 = 10_000;

/// How much of the data so far was stored, carried from page to page.
#[derive(Debug, Clone)]
pub(crate) struct Reducer {
    options: Reduction,
    /// What is owed to the store, in ten-thousandths of a page.
    owed: u32,
}

impl Reducer {
    pub(crate) fn new(options: &Reduction) -> Self {
        Self { options: options.clone(), owed: 0 }
    }

    /// Whether anything of such data can be saved.
    pub(crate) fn applies_to(&self, content: Content) -> bool {
        self.stored(content) < WHOLE
    }

    /// Whether there are data of which anything can be saved.
    pub(crate) fn ever_applies(&self) -> bool {
        self.options.compression || self.options.deduplication
    }

    /// Whether the next page of such data is stored within others.
    pub(crate) fn absorbs(&mut self, content: Content) -> bool {
        self.owed += self.stored(content);
        if self.owed < WHOLE {
            return true;
        }
        self.owed -= WHOLE;
        false
    }

    /// The share of such data that is left, in ten-thousandths.
    fn stored(&self, content: Content) -> u32 {
        let left = |percent: u8, applies| 100 - if applies { u32::from(percent) } else { 0 };
        let compressed = left(content.compressible_percent, self.options.compression);
        let unique = left(content.duplicate_percent, self.options.deduplication);
        (compressed * unique).max(self.options.stored_percent_min * 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_is_stored_follows_the_content_down_to_the_least() {
        let options = Reduction { compression: true, deduplication: true, stored_percent_min: 20 };
        let stored = |compressible_percent, duplicate_percent| {
            let mut reducer = Reducer::new(&options);
            let content = Content { compressible_percent, duplicate_percent };
            (0..1000).filter(|_| !reducer.absorbs(content)).count()
        };
        assert_eq!(stored(0, 0), 1000);
        assert_eq!(stored(50, 0), 500);
        assert_eq!(stored(50, 40), 300);
        assert_eq!(stored(99, 0), 200);
    }
}
