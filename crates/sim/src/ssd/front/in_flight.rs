//! I/Os whose end is already known, in the order of their ends.

use std::collections::VecDeque;

use writecliff_device::{Completion, DeviceTime, Status};

/// What was submitted and has not been reaped: ordered by completion, then by submission.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight {
    /// Ends and places in `ios`, the first in front. Short, and nearly always extended at its end.
    order: VecDeque<(DeviceTime, u32)>,
    /// Places are used again; those in `unused` are.
    ios: Vec<Submitted>,
    unused: Vec<u32>,
    submitted_count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Submitted {
    sequence: u64,
    completion: Completion,
}

impl InFlight {
    pub(crate) fn push(&mut self, completion: Completion) {
        let end = completion.completed;
        let place = self.keep(completion);
        if self.order.back().is_none_or(|(last, _)| *last <= end) {
            self.order.push_back((end, place));
        } else {
            let behind = self.order.partition_point(|(other, _)| *other <= end);
            self.order.insert(behind, (end, place));
        }
    }

    fn keep(&mut self, completion: Completion) -> u32 {
        let submitted = Submitted { sequence: self.submitted_count, completion };
        self.submitted_count += 1;
        match self.unused.pop() {
            Some(place) => {
                self.ios[place as usize] = submitted;
                place
            }
            None => {
                self.ios.push(submitted);
                self.ios.len() as u32 - 1
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// When the first of them ends.
    pub(crate) fn first(&self) -> Option<DeviceTime> {
        self.order.front().map(|(end, _)| *end)
    }

    /// When the one in this place of the order of ends does.
    pub(crate) fn end_of(&self, place: usize) -> DeviceTime {
        self.order[place].0
    }

    /// Moves what has ended by `now` to `done`; returns whether there was any.
    pub(crate) fn take_until(&mut self, now: DeviceTime, done: &mut Vec<Completion>) -> bool {
        let before = done.len();
        while let Some(&(end, place)) = self.order.front()
            && end <= now
        {
            self.order.pop_front();
            self.unused.push(place);
            done.push(self.ios[place as usize].completion);
        }
        done.len() > before
    }

    /// Ends everything at `now` with `status`, in the order it was submitted.
    pub(crate) fn fail_all(&mut self, now: DeviceTime, status: Status, done: &mut Vec<Completion>) {
        let mut all: Vec<u32> = self.order.drain(..).map(|(_, place)| place).collect();
        all.sort_unstable_by_key(|place| self.ios[*place as usize].sequence);
        for place in all {
            let completion = self.ios[place as usize].completion;
            done.push(Completion { completed: now, status, ..completion });
            self.unused.push(place);
        }
    }
}
