//! Where a recording takes its I/Os from. What every supply can do, and the two simplest: one full
//! queue, and nothing at all.

use std::fmt;

use writecliff_device::{Completion, Device, DeviceError, DeviceTime, Io};

use crate::recorder::Counter;
use crate::source::{Shared, Source};
use crate::threads::Threads;

/// Hands a device its I/Os when they are to begin: [`Queue`], [`Streams`](crate::Streams),
/// [`Replay`](crate::Replay), [`Idle`].
pub trait Supply: Send {
    /// As many supplies as threads may share it, each with a part of what it keeps in flight: together
    /// they submit what it would have. Itself if it cannot be shared.
    fn split(self, threads: Threads) -> Vec<Self>
    where
        Self: Sized,
    {
        let _ = threads;
        vec![self]
    }

    /// The most that it has in flight, if it knows.
    fn queue_depth(&self) -> usize {
        usize::MAX
    }

    /// Makes itself ready; the load's time begins when this returns.
    fn begin(&mut self, device: &mut dyn Device) {
        let _ = device;
    }

    /// Submits all that is to begin now, and returns when there will be more even if nothing
    /// completes; `None` when the load is over and nothing is in flight.
    ///
    /// # Errors
    /// If the device cannot go on.
    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError>;

    /// Takes note of a completion.
    fn completed(&mut self, completion: &Completion);

    /// I/Os submitted and not completed.
    fn in_flight(&self) -> usize;

    /// Has a completion recorded that counts; comes before [`completed`](Self::completed).
    fn observe(&self, completion: &Completion, counter: &mut Counter) {
        counter.observe(completion);
    }

    /// Tells the recorder what only the supply knows of the second that ends now.
    fn end_second(&mut self, end: DeviceTime, counter: &mut Counter) {
        let _ = (end, counter);
    }

    /// Whether failed I/Os are among what it is to find: then they end the load only where for a whole
    /// second nothing works.
    fn looks_for_failures(&self) -> bool {
        false
    }

    /// Whether this of its series has ended before the others.
    fn is_over(&self, series: usize) -> bool {
        let _ = series;
        false
    }
}

/// I/Os drawn ahead of those in flight, for the device to make itself ready.
pub(crate) const LOOK_AHEAD: usize = 64;

/// I/Os that were drawn and announced, and how many of them were taken since.
#[derive(Debug)]
pub(crate) struct Upcoming {
    ios: Vec<Io>,
    taken: usize,
}

impl Upcoming {
    pub(crate) fn new() -> Self {
        Self { ios: Vec::with_capacity(LOOK_AHEAD), taken: 0 }
    }

    /// Draws anew if all were taken, and has `mark` change what was drawn where it lies; `false`
    /// when there are no more.
    pub(crate) fn draw(
        &mut self,
        ios: &mut dyn Source,
        mark: impl FnMut(&mut Io),
        device: &mut dyn Device,
    ) -> bool {
        if self.taken == self.ios.len() {
            self.ios.clear();
            ios.draw(&mut self.ios, LOOK_AHEAD);
            self.ios.iter_mut().for_each(mark);
            self.taken = 0;
            device.announce(&self.ios);
        }
        self.taken < self.ios.len()
    }

    /// What was drawn and not taken yet.
    pub(crate) fn ahead(&self) -> &[Io] {
        &self.ios[self.taken..]
    }

    /// The same, to give them slots.
    pub(crate) fn ahead_mut(&mut self) -> &mut [Io] {
        &mut self.ios[self.taken..]
    }

    /// Takes the next `count`.
    pub(crate) fn take(&mut self, count: usize) -> &[Io] {
        let begin = self.taken;
        self.taken += count;
        &self.ios[begin..self.taken]
    }
}

/// One closed-loop load: the queue is full, always.
pub struct Queue<'a> {
    ios: Box<dyn Source + 'a>,
    depth: usize,
    in_flight: usize,
    upcoming: Upcoming,
}

impl<'a> Queue<'a> {
    /// Keeps `depth` of these I/Os in flight, in their order.
    pub fn new(ios: impl Source + 'a, depth: usize) -> Self {
        Self { ios: Box::new(ios), depth, in_flight: 0, upcoming: Upcoming::new() }
    }
}

impl fmt::Debug for Queue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("depth", &self.depth)
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

impl Supply for Queue<'_> {
    fn split(self, threads: Threads) -> Vec<Self> {
        let parts = threads.for_depth(self.depth);
        if parts == 1 {
            return vec![self];
        }
        let depths: Vec<usize> = Threads::shares(self.depth, parts).collect();
        let ios = Shared::new(self.ios, &depths);
        depths.into_iter().map(|depth| Self::new(ios.clone(), depth)).collect()
    }

    fn queue_depth(&self) -> usize {
        self.depth
    }

    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        while self.in_flight < self.depth && self.upcoming.draw(&mut *self.ios, |_| {}, device) {
            let count = self.upcoming.ahead().len().min(self.depth - self.in_flight);
            device.submit(self.upcoming.take(count))?;
            self.in_flight += count;
        }
        Ok((self.in_flight > 0).then_some(DeviceTime::MAX))
    }

    fn completed(&mut self, _: &Completion) {
        self.in_flight -= 1;
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }
}

/// No I/Os, for as long as it is recorded.
#[derive(Debug, Clone, Copy)]
pub struct Idle;

impl Supply for Idle {
    fn fill(&mut self, _: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        Ok(Some(DeviceTime::MAX))
    }

    fn completed(&mut self, _: &Completion) {}

    fn in_flight(&self) -> usize {
        0
    }
}
