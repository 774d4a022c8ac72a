//! Ranges of a drive's bytes, as what erases them takes them.

/// A byte range of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}

/// What is zeroed around a mark: no drive has larger LBAs, and `dd` is quick with it.
pub(super) const UNIT: u64 = 64 << 10;

/// Ranges no further apart are zeroed as one: their data may go, and fewer commands are clearer.
const GAP: u64 = 1 << 20;

impl Extent {
    fn end(self) -> u64 {
        self.offset + self.length
    }

    /// Whether two ranges have a byte in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

/// The ranges to zero on a drive of `capacity` bytes, so that nothing is left of `places`: whole
/// units, and at the drive's end what there is.
pub(crate) fn extents(places: impl IntoIterator<Item = Extent>, capacity: u64) -> Vec<Extent> {
    let widened = places.into_iter().map(|place| {
        let offset = place.offset / UNIT * UNIT;
        let end = place.end().next_multiple_of(UNIT).min(capacity);
        Extent { offset, length: end.saturating_sub(offset) }
    });
    joined(widened.filter(|extent| extent.length > 0).collect())
}

/// In order, each as long as can be.
pub(super) fn joined(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort();
    let mut joined: Vec<Extent> = Vec::new();
    for extent in extents {
        match joined.last_mut() {
            Some(last) if extent.offset <= last.end() + GAP => {
                last.length = last.length.max(extent.end() - last.offset);
            }
            _ => joined.push(extent),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64, length: u64) -> Extent {
        Extent { offset, length }
    }

    #[test]
    fn places_become_few_ranges_within_the_drive() {
        let capacity = (1 << 30) + 512;
        let places = [at(510, 2), at(1080, 2), at(0x1_0040, 8), at(64 << 20, 8), at(1 << 30, 8)];
        let expected = [at(0, 128 << 10), at(64 << 20, 64 << 10), at(1 << 30, 512)];
        assert_eq!(extents(places, capacity), expected);
        assert_eq!(extents([at(65535, 2)], capacity), [at(0, 128 << 10)]);
        assert_eq!(extents([at(0, 8), at(1 << 20, 8)], capacity), [at(0, (1 << 20) + (64 << 10))]);
    }
}
