//! All numbers below a bound in a random order, without a table.

use crate::random::{mixed, scale};

/// Rounds; each moves both halves. Three are enough for an order without visible pattern.
const ROUNDS: u64 = 3;

/// A random order of `0..count`, decided by a seed; takes no memory whatever the count.
///
/// A Feistel network whose halves are numbers below `rows` and `columns` rather than bits (Black
/// and Rogaway, "Ciphers with arbitrary finite domains", 2002). `rows * columns` is hardly more
/// than `count`; what falls beyond is sent through again until it does not.
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    count: u64,
    rows: u64,
    columns: u64,
    seed: u64,
}

impl Permutation {
    /// # Panics
    /// If there is nothing to order.
    pub(crate) fn new(count: u64, seed: u64) -> Self {
        assert!(count > 0, "an order of nothing");
        let rows = count.isqrt();
        Self { count, rows, columns: count.div_ceil(rows), seed }
    }

    /// How many numbers are ordered.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The number at `index` of the order.
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mut number = self.once(index);
        while number >= self.count {
            number = self.once(number);
        }
        number
    }

    fn once(&self, number: u64) -> u64 {
        let (mut row, mut column) = (number / self.columns, number % self.columns);
        for round in 0..ROUNDS {
            let key = mixed(self.seed, round);
            row += scale(mixed(key, column), self.rows);
            row -= if row >= self.rows { self.rows } else { 0 };
            column += scale(mixed(!key, row), self.columns);
            column -= if column >= self.columns { self.columns } else { 0 };
        }
        row * self.columns + column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_exactly_once() {
        for count in (1..200).chain([1000, 4096, 65_537]) {
            let order = Permutation::new(count, count * 7);
            let mut seen = vec![false; count as usize];
            for index in 0..count {
                let number = order.at(index) as usize;
                assert!(!seen[number], "{number} of {count} twice");
                seen[number] = true;
            }
        }
    }

    #[test]
    fn the_order_depends_on_the_seed_and_follows_no_line() {
        let count = 10_000;
        let [one, other] = [1, 2].map(|seed| Permutation::new(count, seed));
        let same = (0..count).filter(|index| one.at(*index) == other.at(*index)).count();
        assert!(same < 20, "{same} numbers at the same place");
        let steps = (1..count).filter(|index| one.at(*index) == one.at(index - 1) + 1).count();
        assert!(steps < 20, "{steps} numbers follow the one below them");
    }

    /// Each tenth of the order takes a tenth of every tenth of the numbers: 1000 expected,
    /// standard deviation 30.
    #[test]
    fn the_order_is_even() {
        let order = Permutation::new(100_000, 5);
        for tenth in 0..10 {
            let mut hits = [0; 10];
            for index in tenth * 10_000..(tenth + 1) * 10_000 {
                hits[(order.at(index) / 10_000) as usize] += 1;
            }
            assert!(hits.iter().all(|hits| (850..1150).contains(hits)), "{hits:?}");
        }
    }

    #[test]
    fn a_terabyte_of_blocks_is_no_more_work() {
        let count = (1 << 40) / 512 + 1;
        let order = Permutation::new(count, 9);
        assert!((0..1000).all(|index| order.at(index * 2_000_000) < count));
    }
}
