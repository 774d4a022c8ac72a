//! Where a recording takes its I/Os from: one full queue, several streams at their own pace, or
//! nothing at all.

use std::fmt;

use writecliff_device::{
    Completion, Device, DeviceError, DeviceTime, Io, Nanos, Operation, Throughput,
};

use crate::recorder::Counter;

/// Hands a device its I/Os when they are to begin.
pub(crate) trait Supply {
    /// Submits all that is to begin now, and returns when there will be more even if nothing
    /// completes; `None` when the load is over and nothing is in flight.
    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError>;

    /// Takes note of a completion.
    fn completed(&mut self, completion: &Completion);

    /// Has a completion recorded that counts; comes before [`completed`](Self::completed).
    fn observe(&self, completion: &Completion, counter: &mut Counter) {
        counter.observe(completion);
    }

    /// Tells the recorder what only the supply knows of the second that ends now.
    fn end_second(&mut self, end: DeviceTime, counter: &mut Counter) {
        let _ = (end, counter);
    }

    /// I/Os submitted and not completed.
    fn in_flight(&self) -> usize;

    /// Whether the series of this label has ended before the others.
    fn is_over(&self, label: usize) -> bool {
        let _ = label;
        false
    }
}

/// I/Os drawn ahead of those in flight, for the device to make itself ready.
const LOOK_AHEAD: usize = 64;

/// One closed-loop load: the queue is full, always.
pub(crate) struct Queue<I> {
    ios: I,
    depth: usize,
    pub(crate) in_flight: usize,
    /// Drawn and announced; those before `next` were submitted.
    upcoming: Vec<Io>,
    next: usize,
}

impl<I: Iterator<Item = Io>> Queue<I> {
    pub(crate) fn new(ios: I, depth: usize) -> Self {
        Self { ios, depth, in_flight: 0, upcoming: Vec::with_capacity(LOOK_AHEAD), next: 0 }
    }

    fn draw(&mut self, device: &mut dyn Device) {
        self.upcoming.clear();
        self.upcoming.extend(self.ios.by_ref().take(LOOK_AHEAD));
        self.next = 0;
        device.announce(&self.upcoming);
    }
}

impl<I: Iterator<Item = Io>> Supply for Queue<I> {
    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        while self.in_flight < self.depth {
            if self.next == self.upcoming.len() {
                self.draw(device);
            }
            let ahead = &self.upcoming[self.next..];
            let batch = &ahead[..ahead.len().min(self.depth - self.in_flight)];
            if batch.is_empty() {
                break;
            }
            device.submit(batch)?;
            self.in_flight += batch.len();
            self.next += batch.len();
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
pub(crate) struct Idle;

impl Supply for Idle {
    fn fill(&mut self, _: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        Ok(Some(DeviceTime::MAX))
    }

    fn completed(&mut self, _: &Completion) {}

    fn in_flight(&self) -> usize {
        0
    }
}

/// When a stream's next I/O begins, given room in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// At once.
    Closed,
    /// After every so many I/Os the stream rests, from the last one's completion on.
    Think {
        /// How long.
        rest: Nanos,
        /// I/Os between rests, at least one.
        every: u32,
    },
    /// At its due time, one after the other at equal steps. What is late begins at once; no due
    /// time moves for it.
    Every(Nanos),
    /// At its due time, as far after the one before as that one's bytes take at this rate.
    Rate(Throughput),
}

/// One of several loads that run at once.
pub struct Stream<'a> {
    /// What to do, in order.
    pub ios: Box<dyn Iterator<Item = Io> + 'a>,
    /// The most I/Os in flight.
    pub queue_depth: usize,
    /// When they begin.
    pub pace: Pace,
    /// No I/O begins later than this after the start; `None` to go on until `ios` ends.
    pub duration: Option<Nanos>,
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue_depth, pace, duration, .. } = self;
        write!(f, "Stream {{ queue_depth: {queue_depth}, pace: {pace:?}, duration: {duration:?} }}")
    }
}

/// Several streams; each I/O carries the number of the series that it is recorded in.
pub(crate) struct Streams<'a> {
    running: Vec<Running<'a>>,
    /// The stream that each series is of.
    owners: Vec<usize>,
}

/// The series that a stream's I/Os are recorded in, by operation.
type Labels = [u8; 4];

struct Running<'a> {
    stream: Stream<'a>,
    labels: Labels,
    ends: DeviceTime,
    in_flight: usize,
    /// Submitted since the last rest.
    since_rest: u32,
    /// The next I/O, once drawn, and the earliest time for it.
    next: Option<Io>,
    due: DeviceTime,
    is_over: bool,
}

impl<'a> Streams<'a> {
    /// Every stream is a series.
    ///
    /// # Panics
    /// If there are more than 256, the number of labels that an I/O has.
    pub(crate) fn new(streams: Vec<Stream<'a>>, start: DeviceTime) -> Self {
        let mut all = Self { running: Vec::new(), owners: Vec::new() };
        for stream in streams {
            let label = all.next_label();
            all.add(stream, [label; 4], start);
        }
        all
    }

    /// Every operation of every stream is a series, in the order of `operations`.
    ///
    /// # Panics
    /// If there are more than 256 series, or a stream has no operations of its own.
    pub(crate) fn by_operation(
        streams: Vec<Stream<'a>>,
        operations: &[Vec<Operation>],
        start: DeviceTime,
    ) -> Self {
        assert_eq!(streams.len(), operations.len(), "operations are given for each stream");
        let mut all = Self { running: Vec::new(), owners: Vec::new() };
        for (stream, operations) in streams.into_iter().zip(operations) {
            let mut labels = None;
            for operation in operations {
                let label = all.next_label();
                labels.get_or_insert([label; 4])[*operation as usize] = label;
            }
            all.add(stream, labels.expect("a stream has an operation"), start);
        }
        all
    }

    /// The label of a further series, of the stream that is about to be added.
    fn next_label(&mut self) -> u8 {
        let label = u8::try_from(self.owners.len()).expect("at most 256 series at once");
        self.owners.push(self.running.len());
        label
    }

    fn add(&mut self, stream: Stream<'a>, labels: Labels, start: DeviceTime) {
        self.running.push(Running {
            ends: stream.duration.map_or(DeviceTime::MAX, |duration| start + duration),
            labels,
            in_flight: 0,
            since_rest: 0,
            next: None,
            due: start,
            is_over: false,
            stream,
        });
    }
}

impl Supply for Streams<'_> {
    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        let mut next = None;
        for running in &mut self.running {
            let wake = running.fill(device)?;
            next = [next, wake].into_iter().flatten().min();
        }
        Ok(next)
    }

    fn completed(&mut self, completion: &Completion) {
        let owner = self.owners[usize::from(completion.io.stream)];
        self.running[owner].completed(completion);
    }

    fn in_flight(&self) -> usize {
        self.running.iter().map(|running| running.in_flight).sum()
    }

    fn is_over(&self, label: usize) -> bool {
        let owner = &self.running[self.owners[label]];
        owner.is_over && owner.in_flight == 0
    }
}

impl Running<'_> {
    /// Submits what is due; says when the next I/O is, [`DeviceTime::MAX`] if that depends on a
    /// completion, and `None` when all is over.
    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        while self.in_flight < self.stream.queue_depth && !self.must_rest() {
            let Some(io) = self.peek(device.now()) else {
                return Ok((self.in_flight > 0).then_some(DeviceTime::MAX));
            };
            // A flush belongs to the write before it, whenever the next one is due.
            if self.due > device.now() && io.operation != Operation::Flush {
                return Ok(Some(self.due));
            }
            let label = self.labels[io.operation as usize];
            device.submit(&[Io { stream: label, ..io }])?;
            self.submitted(io);
        }
        Ok(Some(DeviceTime::MAX))
    }

    /// The next I/O, unless the stream is over or would be by the time that it is due.
    fn peek(&mut self, now: DeviceTime) -> Option<Io> {
        if self.next.is_none() && !self.is_over {
            self.next = self.stream.ios.next();
        }
        self.is_over |= self.next.is_none() || self.due.max(now) >= self.ends;
        self.next.filter(|_| !self.is_over)
    }

    fn must_rest(&self) -> bool {
        let Pace::Think { every, .. } = self.stream.pace else {
            return false;
        };
        self.since_rest >= every
    }

    fn submitted(&mut self, io: Io) {
        self.next = None;
        self.in_flight += 1;
        if io.operation == Operation::Flush {
            return;
        }
        self.since_rest += 1;
        match self.stream.pace {
            Pace::Closed | Pace::Think { .. } => {}
            Pace::Every(step) => self.due = self.due + step,
            Pace::Rate(rate) => self.due = self.due + rate.time_for(io.length),
        }
    }

    fn completed(&mut self, completion: &Completion) {
        self.in_flight -= 1;
        if let Pace::Think { rest, .. } = self.stream.pace
            && self.must_rest()
            && self.in_flight == 0
        {
            self.since_rest = 0;
            self.due = completion.completed + rest;
        }
    }
}
