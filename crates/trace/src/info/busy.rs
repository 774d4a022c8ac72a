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

/// Completions that are waited for at most: a trace that claims more in flight is no drive's.
const IN_FLIGHT_MAX: usize = 1 << 16;

/// The completions that are yet to come.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    completions: BinaryHeap<Reverse<u64>>,
    /// Before this, there is more in flight than is waited for.
    incomplete_until: u64,
}

impl InFlight {
    /// How many are in flight once an operation is issued at `issued`, itself included: what
    /// completes at that moment is not in flight any more. `None` if that is not known: from when
    /// there are more than 65,536 until all that were too many have completed.
    pub(super) fn issue(&mut self, issued: u64, completed: u64) -> Option<u32> {
        let in_flight = &mut self.completions;
        while in_flight.peek().is_some_and(|Reverse(completed)| *completed <= issued) {
            in_flight.pop();
        }
        if in_flight.len() == IN_FLIGHT_MAX {
            self.incomplete_until = self.incomplete_until.max(completed);
            return None;
        }
        let depth = in_flight.len() as u32 + 1;
        // What takes no time is not there for the next one.
        if completed > issued {
            in_flight.push(Reverse(completed));
        }
        (issued >= self.incomplete_until).then_some(depth)
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
            assert_eq!(in_flight.issue(issued, completed), Some(depth), "issued at {issued}");
        }
    }

    #[test]
    fn more_in_flight_than_any_drive_has_is_not_known() {
        let max = IN_FLIGHT_MAX as u64;
        let mut in_flight = InFlight::default();
        for depth in 1..=max {
            assert_eq!(in_flight.issue(0, 1000), Some(depth as u32));
        }
        assert_eq!(in_flight.issue(1, 2000), None, "one too many");
        assert_eq!(in_flight.completions.len(), IN_FLIGHT_MAX);
        assert_eq!(in_flight.issue(1000, 3000), None, "that one is still in flight");
        assert_eq!(in_flight.issue(2000, 2001), Some(2));
    }
}
