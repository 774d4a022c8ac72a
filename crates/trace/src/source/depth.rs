//! Queue depths of a trace that tells completions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use writecliff_device::Nanos;

use crate::TraceIo;

/// More in flight than this are not counted: a trace that claims them is no drive's.
const IN_FLIGHT_MAX: usize = 1 << 16;

/// The completions that are still to come, of operations in order of issue.
#[derive(Debug, Default)]
pub(crate) struct QueueDepths {
    in_flight: BinaryHeap<Reverse<Nanos>>,
}

impl QueueDepths {
    /// Operations in flight when this one is issued, itself included; one that completes at that
    /// very moment is not. An operation whose completion is not known counts only for itself.
    /// `None` while no completion has been told.
    pub(crate) fn at_issue(&mut self, io: &TraceIo) -> Option<u32> {
        while self.in_flight.peek().is_some_and(|first| first.0 <= io.issued) {
            self.in_flight.pop();
        }
        if self.in_flight.len() >= IN_FLIGHT_MAX {
            return None;
        }
        let depth = self.in_flight.len() as u32 + 1;
        if let Some(completed) = io.completed {
            self.in_flight.push(Reverse(completed));
        }
        Some(depth)
    }
}
