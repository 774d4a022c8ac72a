//! Where a recording takes its I/Os from. What every supply can do, and the two simplest: one full
//! queue, and nothing at all.

use writecliff_device::{Completion, Device, DeviceError, DeviceTime, Io};

use crate::recorder::Counter;

/// Hands a device its I/Os when they are to begin: [`Queue`], [`Streams`](crate::Streams),
/// [`Replay`](crate::Replay), [`Idle`].
pub trait Supply {
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
        ios: impl Iterator<Item = Io>,
        mark: impl FnMut(&mut Io),
        device: &mut dyn Device,
    ) -> bool {
        if self.taken == self.ios.len() {
            self.ios.clear();
            self.ios.extend(ios.take(LOOK_AHEAD));
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
#[derive(Debug)]
pub struct Queue<I> {
    ios: I,
    depth: usize,
    in_flight: usize,
    upcoming: Upcoming,
}

impl<I: Iterator<Item = Io>> Queue<I> {
    /// Keeps `depth` of these I/Os in flight, in their order.
    pub fn new(ios: I, depth: usize) -> Self {
        Self { ios, depth, in_flight: 0, upcoming: Upcoming::new() }
    }
}

impl<I: Iterator<Item = Io>> Supply for Queue<I> {
    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        while self.in_flight < self.depth && self.upcoming.draw(self.ios.by_ref(), |_| {}, device) {
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
