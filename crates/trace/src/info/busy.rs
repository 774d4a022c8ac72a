//! When the drive had something to do, and how much at once: from issues and completions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The time covered by spans that begin in order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Union {
    /// Time covered so far.
    pub(super) covered: u64,
    until: u64,
}

impl Union {
    pub(super) fn add(&mut self, from: u64, to: u64) {
        self.covered += to.saturating_sub(from.max(self.until));
        self.until = self.until.max(to);
    }
}

/// The completions that are yet to come: 8 bytes for each operation in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(BinaryHeap<Reverse<u64>>);

impl InFlight {
    /// How many are in flight once an operation is issued at `issued`, itself included: what
    /// completes at that moment is not in flight any more.
    pub(super) fn issue(&mut self, issued: u64, completed: u64) -> u32 {
        while self.0.peek().is_some_and(|Reverse(completed)| *completed <= issued) {
            self.0.pop();
        }
        let depth = self.0.len() as u32 + 1;
        // What takes no time is not there for the next one.
        if completed > issued {
            self.0.push(Reverse(completed));
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_cover_time_once() {
        let mut union = Union::default();
        for (from, to, covered) in
            [(0, 10, 10), (5, 8, 10), (5, 15, 15), (15, 16, 16), (20, 30, 26), (40, 40, 26)]
        {
            union.add(from, to);
            assert_eq!(union.covered, covered, "{from} to {to}");
        }
    }

    #[test]
    fn what_has_completed_is_not_in_flight() {
        let mut in_flight = InFlight::default();
        let ios = [(0, 10, 1), (0, 5, 2), (1, 1, 3), (5, 20, 2), (10, 11, 2), (30, 31, 1)];
        for (issued, completed, depth) in ios {
            assert_eq!(in_flight.issue(issued, completed), depth, "issued at {issued}");
        }
    }
}
