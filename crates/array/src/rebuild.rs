//! How far a member is that is new and gets back, beside the load, what it should have.
//!
//! From the array's first I/O on its bytes are made anew in order, a few steps at a time. A step waits for
//! what the host had asked for in its rows before, and lets nothing into them until it is done; otherwise
//! it yields to nothing.

use std::ops::Range;

use writecliff_device::{Bytes, DeviceTime, Rebuilding};

use crate::layout::Layout;

/// Steps under way at once.
const STEPS: usize = 4;
/// Bytes of a step on each member, unless a chunk is longer.
const STEP: u64 = 512 << 10;

/// A member being rebuilt.
#[derive(Debug, Clone)]
pub(crate) struct Rebuild {
    pub(crate) member: usize,
    /// Bytes of a step, in whole chunks.
    step: u64,
    /// Bytes to be made.
    all: u64,
    /// Where the next step begins.
    next: u64,
    under_way: Vec<Range<u64>>,
    began: Option<DeviceTime>,
    ended: Option<DeviceTime>,
    is_stopped: bool,
}

impl Rebuild {
    /// Of a member of such an array.
    pub(crate) fn new(member: usize, layout: &Layout) -> Self {
        let all = layout.used;
        // Copies can be made from anywhere; parity is of whole chunks.
        let step = if layout.parities > 0 { STEP.max(layout.chunk) } else { STEP };
        let (began, ended, is_stopped) = (None, None, false);
        Self { member, step, all, next: 0, under_way: Vec::new(), began, ended, is_stopped }
    }

    /// The same, before anything is made.
    pub(crate) fn anew(&self) -> Self {
        let (next, under_way, began, ended) = (0, Vec::new(), None, None);
        Self { next, under_way, began, ended, is_stopped: false, ..*self }
    }

    /// No further step begins.
    pub(crate) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Steps may begin.
    pub(crate) fn begin(&mut self, now: DeviceTime) {
        self.began.get_or_insert(now);
    }

    /// The bytes of the next step, if it can begin.
    pub(crate) fn next_step(&mut self) -> Option<Range<u64>> {
        let is_possible = self.began.is_some()
            && !self.is_stopped
            && self.under_way.len() < STEPS
            && self.next < self.all;
        is_possible.then(|| {
            let step = self.next..(self.next + self.step).min(self.all);
            self.next = step.end;
            self.under_way.push(step.clone());
            step
        })
    }

    /// A step is done.
    pub(crate) fn finish(&mut self, step: &Range<u64>, now: DeviceTime) {
        self.under_way.retain(|other| other != step);
        if self.next == self.all && self.under_way.is_empty() {
            self.ended = Some(now);
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.ended.is_some()
    }

    /// Up to where everything is made.
    pub(crate) fn frontier(&self) -> u64 {
        self.under_way.iter().map(|step| step.start).min().unwrap_or(self.next)
    }

    /// Whether the byte `at` is made.
    pub(crate) fn has(&self, at: u64) -> bool {
        at < self.next && !self.under_way.iter().any(|step| step.contains(&at))
    }

    /// How far it is.
    pub(crate) fn progress(&self, now: DeviceTime) -> Rebuilding {
        let under_way: u64 = self.under_way.iter().map(|step| step.end - step.start).sum();
        let began = self.began.unwrap_or(now);
        Rebuilding {
            member: self.member as u32,
            done: Bytes(self.next - under_way),
            of: Bytes(self.all),
            time: self.ended.unwrap_or(now).since(began),
        }
    }
}
