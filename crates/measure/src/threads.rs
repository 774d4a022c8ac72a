//! How many threads keep a drive busy together.

/// The most threads that a load is spread over, and what each of them must have to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// So many at most, at least one.
    pub most: usize,
    /// Each has so many I/Os in flight at least, one or more.
    pub depth_min: usize,
}

impl Threads {
    /// One, whatever the load.
    pub const ONE: Self = Self { most: 1, depth_min: 1 };

    /// So many for a load of this depth.
    pub(crate) fn for_depth(self, queue_depth: usize) -> usize {
        (queue_depth / self.depth_min.max(1)).min(self.most).max(1)
    }

    /// A depth in so many parts, as equal as they can be.
    pub(crate) fn shares(queue_depth: usize, parts: usize) -> impl Iterator<Item = usize> {
        (0..parts).map(move |part| queue_depth / parts + usize::from(part < queue_depth % parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_is_spread_over_no_more_threads_than_it_is_enough_for() {
        let threads = Threads { most: 4, depth_min: 32 };
        let of = [1, 31, 64, 127, 128, 4096].map(|depth| threads.for_depth(depth));
        assert_eq!(of, [1, 1, 2, 3, 4, 4]);
        assert_eq!(Threads { most: 4, depth_min: 1 }.for_depth(3), 3);
        assert_eq!(Threads::ONE.for_depth(4096), 1);
        assert_eq!(Threads::shares(11, 4).collect::<Vec<_>>(), [3, 3, 3, 2]);
    }
}
