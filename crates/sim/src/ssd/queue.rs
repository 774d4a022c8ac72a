//! I/Os whose end is already known, in the order of their ends.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use writecliff_device::{Completion, DeviceTime, Status};

/// What was submitted and has not been reaped: ordered by completion, then by submission.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    heap: BinaryHeap<Reverse<Entry>>,
    submitted_count: u64,
}

#[derive(Debug)]
struct Entry {
    sequence: u64,
    completion: Completion,
}

impl InFlight {
    pub(super) fn push(&mut self, completion: Completion) {
        let sequence = self.submitted_count;
        self.submitted_count += 1;
        self.heap.push(Reverse(Entry { sequence, completion }));
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// When the first of them ends.
    pub(super) fn first(&self) -> Option<DeviceTime> {
        self.heap.peek().map(|Reverse(entry)| entry.completion.completed)
    }

    /// Moves what has ended by `now` to `done`; returns whether there was any.
    pub(super) fn take_until(&mut self, now: DeviceTime, done: &mut Vec<Completion>) -> bool {
        let before = done.len();
        while self.first().is_some_and(|end| end <= now) {
            done.extend(self.heap.pop().map(|Reverse(entry)| entry.completion));
        }
        done.len() > before
    }

    /// Ends everything at `now` with `status`, in the order it was submitted.
    pub(super) fn fail_all(&mut self, now: DeviceTime, status: Status, done: &mut Vec<Completion>) {
        let mut all: Vec<_> = self.heap.drain().map(|Reverse(entry)| entry).collect();
        all.sort_by_key(|entry| entry.sequence);
        let failed = |entry: Entry| Completion { completed: now, status, ..entry.completion };
        done.extend(all.into_iter().map(failed));
    }
}

impl Entry {
    fn key(&self) -> (DeviceTime, u64) {
        (self.completion.completed, self.sequence)
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}
