//! Counts by power of two: of sizes, spans of time, queue depths.

use serde::Serialize;

/// How many values were in a range; both its ends are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Class {
    /// The smallest value that counts here.
    pub from: u64,
    /// The greatest one: zero, or a power of two.
    pub to: u64,
    /// Values counted.
    pub count: u64,
}

/// Counts 0, 1, 2, 3–4, 5–8, ...: a power of two is the greatest of its class, because sizes and
/// queue depths are mostly that.
#[derive(Debug, Clone)]
pub(super) struct Classes([u64; 66]);

impl Default for Classes {
    fn default() -> Self {
        Self([0; 66])
    }
}

impl Classes {
    pub(super) fn count(&mut self, value: u64) {
        self.0[class_of(value)] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    /// From the first class that has anything to the last, with the empty ones between them.
    pub(super) fn list(&self) -> Vec<Class> {
        let has_any = |count: &u64| *count > 0;
        let first = self.0.iter().position(has_any).unwrap_or(self.0.len());
        let last = self.0.iter().rposition(has_any).unwrap_or(0);
        let class = |index: usize| {
            let (from, to) = range(index);
            Class { from, to, count: self.0[index] }
        };
        (first..=last).map(class).collect()
    }
}

fn class_of(value: u64) -> usize {
    match value {
        0 => 0,
        _ => 65 - (value - 1).leading_zeros() as usize,
    }
}

fn range(index: usize) -> (u64, u64) {
    let top = |index: usize| 1u64.checked_shl(index as u32 - 1).unwrap_or(u64::MAX);
    match index {
        0 => (0, 0),
        1 => (1, 1),
        _ => (top(index - 1) + 1, top(index)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_the_class_that_counts_it() {
        for value in [0, 1, 2, 3, 4, 5, 4095, 4096, 4097, 1 << 63, (1 << 63) + 1, u64::MAX] {
            let mut classes = Classes::default();
            classes.count(value);
            let list = classes.list();
            assert_eq!(list.len(), 1, "{value}");
            assert!(list[0].from <= value && value <= list[0].to, "{value}: {list:?}");
            assert_eq!(list[0].count, 1);
        }
    }

    #[test]
    fn the_list_has_no_gaps_and_no_empty_ends() {
        let mut classes = Classes::default();
        assert_eq!(classes.list(), []);
        [1, 4, 4, 3].into_iter().for_each(|value| classes.count(value));
        let class = |from, to, count| Class { from, to, count };
        assert_eq!(classes.list(), [class(1, 1, 1), class(2, 2, 0), class(3, 4, 3)]);
    }
}
