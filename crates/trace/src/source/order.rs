//! Puts what comes nearly in order of time into order, within bounds.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// How many entries are held back for one that comes late.
pub(super) const REACH: usize = 1 << 16;

/// Has a time that it is ordered by.
pub(super) trait Timed {
    fn time(&self) -> u64;
}

/// Holds the last [`REACH`] entries back. Those that come in order only pass through a queue;
/// those that come late wait in a heap. Entries of one time keep the order that they came in.
pub(super) struct Order<T> {
    queue: VecDeque<T>,
    late: BinaryHeap<Reverse<Late<T>>>,
    /// Numbers the late ones.
    count: u64,
    /// The time of the last one handed out.
    passed: u64,
    is_ending: bool,
}

struct Late<T> {
    time: u64,
    number: u64,
    entry: T,
}

impl<T: Timed> Order<T> {
    pub(super) fn new() -> Self {
        let (queue, late) = (VecDeque::new(), BinaryHeap::new());
        Self { queue, late, count: 0, passed: 0, is_ending: false }
    }

    /// Takes an entry; `false` if it comes so late that later ones have been handed out, and is
    /// lost.
    #[inline]
    pub(super) fn push(&mut self, entry: T) -> bool {
        let time = entry.time();
        if time < self.passed {
            return false;
        }
        if self.queue.back().is_none_or(|last| last.time() <= time) {
            self.queue.push_back(entry);
        } else {
            self.count += 1;
            self.late.push(Reverse(Late { time, number: self.count, entry }));
        }
        true
    }

    /// The earliest entry, once enough others are known; at the end, each.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.queue.len() + self.late.len() <= REACH && !self.is_ending {
            return None;
        }
        // Of one time, those in the queue came first: a late one came before an entry of the queue
        // only if that is later.
        let is_late_first = match (self.queue.front(), self.late.peek()) {
            (Some(first), Some(Reverse(late))) => late.time < first.time(),
            (first, _) => first.is_none(),
        };
        let entry = if is_late_first {
            self.late.pop().map(|Reverse(late)| late.entry)
        } else {
            self.queue.pop_front()
        }?;
        self.passed = entry.time();
        Some(entry)
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        self.is_ending = true;
    }
}

impl<T> PartialEq for Late<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Late<T> {}

impl<T> PartialOrd for Late<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Late<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Entry(u64, usize);

    impl Timed for Entry {
        fn time(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn nearly_sorted_becomes_sorted_and_keeps_the_order_of_equals() {
        let times = [5, 10, 5, 7, 10, 7, 3, 12, 12, 11, 3];
        let entries: Vec<Entry> = times.iter().zip(0..).map(|(time, i)| Entry(*time, i)).collect();
        let mut order = Order::new();
        assert!(entries.iter().all(|entry| order.push(*entry)));
        assert_eq!(order.pop(), None, "more may come");
        order.end();
        let got: Vec<Entry> = std::iter::from_fn(|| order.pop()).collect();
        let mut expected = entries;
        expected.sort_by_key(|entry| entry.0);
        assert_eq!(got, expected);
    }

    #[test]
    fn the_reach_is_bounded_and_what_lies_beyond_is_told() {
        let mut order = Order::new();
        for time in 0..=REACH as u64 {
            assert!(order.push(Entry(time + 1, 0)));
        }
        assert_eq!(order.pop(), Some(Entry(1, 0)));
        assert_eq!(order.pop(), None);
        assert!(!order.push(Entry(0, 0)), "1 is gone already");
        assert!(order.push(Entry(1, 1)));
        assert_eq!(order.pop(), Some(Entry(1, 1)));
    }
}
