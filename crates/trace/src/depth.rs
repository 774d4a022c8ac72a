//! Queue depths of a trace that tells completions.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use writecliff_device::Nanos;

use crate::TraceIo;

/// More in flight than this are not counted: a trace that claims them is no drive's.
const IN_FLIGHT_MAX: usize = 1 << 16;

/// The completions that are still to come, of operations in order of issue.
#[derive(Debug, Default)]
pub(crate) struct QueueDepths {
    in_flight: BinaryHeap<Reverse<Nanos>>,
    /// Whether any completion has been told.
    has_completions: bool,
}

impl QueueDepths {
    /// Operations in flight when this one is issued, itself included; one that completes at that
    /// very moment is not. An operation whose completion is not known counts only for itself.
    /// `None` while no completion has been told: of nothing known, 1 would be an invention.
    pub(crate) fn at_issue(&mut self, io: &TraceIo) -> Option<u32> {
        while self.in_flight.peek().is_some_and(|first| first.0 <= io.issued) {
            self.in_flight.pop();
        }
        if self.in_flight.len() >= IN_FLIGHT_MAX {
            return None;
        }
        let depth = self.in_flight.len() as u32 + 1;
        if let Some(completed) = io.completed {
            self.has_completions = true;
            self.in_flight.push(Reverse(completed));
        }
        self.has_completions.then_some(depth)
    }
}

/// One of them for each volume or device, which share nothing.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    all: Vec<QueueDepths>,
    places: HashMap<u32, usize>,
    /// The queue asked for last, which is often the next one too, and its place.
    last: Option<(u32, usize)>,
}

impl Queues {
    /// The queue of this number; new ones are empty.
    #[inline]
    pub(crate) fn of(&mut self, number: u32) -> &mut QueueDepths {
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => *self.places.entry(number).or_insert(self.all.len()),
        };
        if place == self.all.len() {
            self.all.push(QueueDepths::default());
        }
        self.last = Some((number, place));
        &mut self.all[place]
    }
}

#[cfg(test)]
mod tests {
    use writecliff_device::{Bytes, Operation};

    use super::*;

    #[test]
    fn a_device_that_tells_no_completion_has_no_queue_depth_whatever_others_tell() {
        let io = |issued, completed: Option<u64>| TraceIo {
            completed: completed.map(Nanos),
            ..TraceIo::new(Nanos(issued), Operation::Read, Bytes(0), Bytes(4096))
        };
        let mut queues = Queues::default();
        let ios = [(1, io(0, Some(9))), (2, io(1, None)), (1, io(2, None)), (2, io(3, None))];
        let depths = ios.map(|(device, io)| queues.of(device).at_issue(&io));
        assert_eq!(depths, [Some(1), None, Some(2), None]);
        // From the first that is told on.
        assert_eq!(queues.of(2).at_issue(&io(4, Some(5))), Some(1));
    }
}
