//! Several loads at once, each at a pace of its own.

use std::fmt;

use writecliff_device::{Completion, Device, DeviceError, DeviceTime, Io, Nanos, Operation};
use writecliff_workload::{DueTimes, Pace, Steady};

use crate::host_queue::HostQueue;
use crate::recorder::Counter;
use crate::source::{Shared, Source};
use crate::steady::Watch;
use crate::supply::{Supply, Upcoming};
use crate::threads::Threads;

/// One of several loads that run at once.
pub struct Stream<'a> {
    /// What to do, in order.
    pub ios: Box<dyn Source + 'a>,
    /// The most I/Os in flight.
    pub queue_depth: usize,
    /// When they begin.
    pub pace: Pace,
    /// Decides due times that are random.
    pub seed: u64,
    /// No I/O begins later than this after the start; `None` to go on until `ios` ends. In an open
    /// loop no I/O is due later, and what is late may take as much time again to begin: who waited
    /// longest is not left out.
    pub duration: Option<Nanos>,
    /// The operations that are recorded in a series each; what it does beside them goes into the
    /// first of these. Empty if all that it does is one series.
    pub operations: Vec<Operation>,
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("queue_depth", &self.queue_depth)
            .field("pace", &self.pace)
            .field("duration", &self.duration)
            .field("operations", &self.operations)
            .finish_non_exhaustive()
    }
}

/// Several streams. Their series are numbered stream after stream, those of a stream in the order
/// of its operations. Ends when every stream has ended; a stream's own end lets what it has in
/// flight complete and count. Together they may have more in flight than the drive takes at once: the
/// rest waits in the host, and its latency counts from there.
#[derive(Debug)]
pub struct Streams<'a> {
    running: Vec<Running<'a>>,
    queue: HostQueue,
    /// The stream that each series is of.
    owners: Vec<usize>,
    /// The series that each is recorded in: itself, unless streams share theirs.
    recorded_in: Vec<u8>,
    watches: Vec<Watch>,
    /// Whether the drive's own words are all that is recorded: no stream is late, and none waits.
    is_plain: bool,
}

/// The series that each operation of a stream is recorded in.
type SeriesOf = [u8; 4];

#[derive(Debug)]
struct Running<'a> {
    stream: Stream<'a>,
    series: SeriesOf,
    /// No I/O is due then or later.
    ends: DeviceTime,
    /// What has not begun by then never does.
    gives_up: DeviceTime,
    upcoming: Upcoming,
    in_flight: usize,
    /// Submitted since the last rest.
    since_rest: u32,
    /// From the load's beginning to the first I/O's due time.
    delay: Nanos,
    due_times: DueTimes,
    /// When the next I/O is due.
    due: DeviceTime,
    /// When the last rest ends.
    rests_until: DeviceTime,
    /// In an open loop, when each I/O in flight was due.
    due_of: Slots,
    is_over: bool,
}

impl<'a> Streams<'a> {
    /// These streams, from their beginning.
    ///
    /// # Panics
    /// If they have more than 256 series, which is as many as an I/O can be of.
    pub fn new(streams: impl IntoIterator<Item = Stream<'a>>) -> Self {
        let (running, owners, queue) = (Vec::new(), Vec::new(), HostQueue::new());
        let (recorded_in, watches) = (Vec::new(), Vec::new());
        let mut all = Self { running, queue, owners, recorded_in, watches, is_plain: false };
        streams.into_iter().for_each(|stream| all.add(stream));
        all
    }

    /// The same, with all streams' I/Os of an operation in one series: those of the operations
    /// that occur, in the order of their numbers.
    #[must_use]
    pub fn by_operation(mut self) -> Self {
        let operations =
            || self.running.iter().flat_map(|running| running.stream.operations.iter());
        let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
        let occurring: Vec<_> =
            all.into_iter().filter(|one| operations().any(|other| other == one)).collect();
        let place = |one: &Operation| occurring.iter().position(|other| other == one).unwrap_or(0);
        let recorded_in = operations().map(|operation| place(operation) as u8);
        self.recorded_in = recorded_in.collect();
        self
    }

    /// The same, each of which begins so long after the load's beginning.
    ///
    /// # Panics
    /// If there is not one time for each stream.
    #[must_use]
    pub fn delayed(mut self, delays: impl IntoIterator<Item = Nanos>) -> Self {
        let delays: Vec<_> = delays.into_iter().collect();
        assert_eq!(delays.len(), self.running.len(), "a time for each stream");
        self.running.iter_mut().zip(delays).for_each(|(running, delay)| running.delay = delay);
        self
    }

    /// The same, which end once they are steady: each by its own rule, or those together that
    /// say so.
    ///
    /// # Panics
    /// If there is not one rule, or none, for each stream.
    #[must_use]
    pub fn until_steady(mut self, rules: impl IntoIterator<Item = Option<Steady>>) -> Self {
        let rules: Vec<_> = rules.into_iter().collect();
        assert_eq!(rules.len(), self.running.len(), "a rule for each stream");
        for (stream, rule) in rules.into_iter().enumerate() {
            let Some(rule) = rule else { continue };
            let same = self.watches.iter_mut().find(|watch| watch.is_by(rule) && rule.together);
            match same {
                Some(watch) => watch.add(stream),
                None => self.watches.push(Watch::new(rule, stream)),
            }
        }
        self
    }

    fn add(&mut self, stream: Stream<'a>) {
        let first = self.add_series();
        let mut series = [first; 4];
        for operation in stream.operations.iter().skip(1) {
            series[*operation as usize] = self.add_series();
        }
        self.running.push(Running::new(stream, series));
    }

    /// The number of a further series, of the stream that is about to be added.
    fn add_series(&mut self) -> u8 {
        let series = u8::try_from(self.owners.len()).expect("at most 256 series at once");
        self.owners.push(self.running.len());
        self.recorded_in.push(series);
        series
    }

    fn end_the_steady(&mut self, now: DeviceTime) {
        for watch in &mut self.watches {
            watch.pass(now);
            if watch.is_steady() {
                watch.streams().for_each(|stream| self.running[stream].is_over = true);
            }
        }
    }
}

impl Supply for Streams<'_> {
    /// A closed loop is shared by its depth, where that is enough for a share each; others stay whole.
    /// Streams that end once they are steady are watched by one thread.
    fn split(self, threads: Threads) -> Vec<Self> {
        let count = threads.for_depth(self.queue_depth());
        if count == 1 || !self.watches.is_empty() {
            return vec![self];
        }
        let Self { running, owners, recorded_in, .. } = self;
        let mut parts: Vec<Self> = Vec::new();
        parts.resize_with(count, || Self {
            running: Vec::new(),
            queue: HostQueue::new(),
            owners: owners.clone(),
            recorded_in: recorded_in.clone(),
            watches: Vec::new(),
            is_plain: false,
        });
        for stream in running {
            let busy = parts.iter().map(Self::queue_depth);
            let least =
                busy.enumerate().min_by_key(|(_, depth)| *depth).map_or(0, |(part, _)| part);
            let shares = stream.split(count, least);
            parts.iter_mut().zip(shares).for_each(|(part, share)| part.running.push(share));
        }
        parts.retain(|part| part.queue_depth() > 0);
        parts
    }

    fn queue_depth(&self) -> usize {
        self.running.iter().map(|running| running.stream.queue_depth).sum()
    }

    fn begin(&mut self, device: &mut dyn Device) {
        self.queue.begin(device);
        self.is_plain = self.queue_depth() <= device.info().queue_depth_max
            && self.running.iter().all(|running| running.stream.pace == Pace::Closed)
            && (0..=u8::MAX).zip(&self.recorded_in).all(|(series, in_it)| series == *in_it);
        self.watches.iter_mut().for_each(|watch| watch.begin(device.now()));
        self.running.iter_mut().for_each(|running| running.begin(device.now()));
    }

    fn fill(&mut self, device: &mut dyn Device) -> Result<Option<DeviceTime>, DeviceError> {
        self.queue.go_on(device)?;
        if !self.watches.is_empty() {
            self.end_the_steady(device.now());
        }
        let mut next = None;
        for running in &mut self.running {
            let wake = running.fill(&mut self.queue, device)?;
            next = [next, wake].into_iter().flatten().min();
        }
        Ok(next)
    }

    fn observe(&self, completion: &Completion, counter: &mut Counter) {
        if self.is_plain {
            return counter.observe(completion);
        }
        let owner = &self.running[self.owners[usize::from(completion.io.series)]];
        let submitted = match owner.stream.pace.is_open() {
            true => owner.due_of.get(completion.io.slot),
            false => self.queue.submitted(completion),
        };
        let series = self.recorded_in[usize::from(completion.io.series)];
        if (submitted, series) == (completion.submitted, completion.io.series) {
            return counter.observe(completion);
        }
        let io = Io { series, ..completion.io };
        counter.observe(&Completion { io, submitted, ..*completion });
    }

    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.queue.completed(completion);
        let owner = self.owners[usize::from(completion.io.series)];
        self.running[owner].completed(completion);
        self.watches.iter_mut().for_each(|watch| watch.count(owner, completion));
    }

    fn in_flight(&self) -> usize {
        self.queue.in_flight()
    }

    fn is_over(&self, series: usize) -> bool {
        let is_done = |running: &Running<'_>| running.is_over && running.in_flight == 0;
        let recorded = self.owners.iter().zip(&self.recorded_in);
        recorded
            .filter(|(_, recorded_in)| usize::from(**recorded_in) == series)
            .all(|(owner, _)| is_done(&self.running[*owner]))
    }
}

impl<'a> Running<'a> {
    fn new(stream: Stream<'a>, series: SeriesOf) -> Self {
        let due_times = stream.pace.due_times(stream.seed);
        Self {
            stream,
            series,
            ends: DeviceTime::MAX,
            gives_up: DeviceTime::MAX,
            upcoming: Upcoming::new(),
            in_flight: 0,
            since_rest: 0,
            delay: Nanos::ZERO,
            due_times,
            due: DeviceTime::default(),
            rests_until: DeviceTime::default(),
            due_of: Slots::default(),
            is_over: false,
        }
    }

    /// A share for each part; a stream that cannot be shared goes to the one named, and the others
    /// have one that is over.
    fn split(self, parts: usize, least: usize) -> Vec<Self> {
        let Self { stream, series, delay, .. } = self;
        let Stream { ios, queue_depth, pace, seed, duration, operations } = stream;
        let depths: Vec<usize> = match pace == Pace::Closed && queue_depth >= parts {
            true => Threads::shares(queue_depth, parts).collect(),
            false => (0..parts).map(|part| if part == least { queue_depth } else { 0 }).collect(),
        };
        let ios = Shared::new(ios, &depths);
        let share = |queue_depth: usize| {
            let (ios, operations) = (Box::new(ios.clone()), operations.clone());
            let stream = Stream { ios, queue_depth, pace, seed, duration, operations };
            Self { delay, is_over: queue_depth == 0, ..Self::new(stream, series) }
        };
        depths.into_iter().map(share).collect()
    }

    fn begin(&mut self, start: DeviceTime) {
        if let Some(duration) = self.stream.duration {
            let late = if self.stream.pace.is_open() { duration } else { Nanos::ZERO };
            (self.ends, self.gives_up) = (start + duration, start + duration + late);
        }
        self.due = start + self.delay;
    }

    /// Submits what is due; says when the next I/O is, [`DeviceTime::MAX`] if that depends on a
    /// completion, and `None` when all is over.
    fn fill(
        &mut self,
        queue: &mut HostQueue,
        device: &mut dyn Device,
    ) -> Result<Option<DeviceTime>, DeviceError> {
        while self.has_room() {
            self.draw(device);
            let count = self.begin_due(device.now());
            if count == 0 {
                break;
            }
            queue.submit(self.upcoming.take(count), device)?;
        }
        Ok(match (self.has_room(), self.is_over) {
            (_, true) => (self.in_flight > 0).then_some(DeviceTime::MAX),
            (true, false) => Some(self.earliest()),
            (false, false) => Some(DeviceTime::MAX),
        })
    }

    fn has_room(&self) -> bool {
        self.in_flight < self.stream.queue_depth && !self.must_rest()
    }

    fn draw(&mut self, device: &mut dyn Device) {
        let Self { stream, series, upcoming, is_over, .. } = self;
        if !*is_over {
            let mark = |io: &mut Io| io.series = series[io.operation as usize];
            *is_over = !upcoming.draw(&mut *stream.ios, mark, device);
        }
    }

    /// How many of the I/Os drawn begin now, together. A trim begins alone: a real drive does it
    /// while it is handed over, and time passes.
    fn begin_due(&mut self, now: DeviceTime) -> usize {
        match self.stream.pace {
            Pace::Closed if self.earliest() <= now => self.begin_at_once(now),
            _ => self.begin_by_pace(now),
        }
    }

    /// In a closed loop whose time has come, all begin that there is room for.
    fn begin_at_once(&mut self, now: DeviceTime) -> usize {
        let Some(&first) = self.upcoming.ahead().first() else { return 0 };
        if !self.may_begin(first, now) {
            return 0;
        }
        let room = self.stream.queue_depth - self.in_flight;
        let mut together = self.upcoming.ahead().iter().take(room);
        let trim = together.position(|io| is_trim(*io)).unwrap_or(usize::MAX);
        let count = self.upcoming.ahead().len().min(room).min(trim.max(1));
        self.in_flight += count;
        count
    }

    fn begin_by_pace(&mut self, now: DeviceTime) -> usize {
        let (mut count, mut is_alone) = (0, false);
        while let Some(&io) = self.upcoming.ahead().get(count)
            && !is_alone
            && !(is_trim(io) && count > 0)
            && self.has_room()
            && self.may_begin(io, now)
        {
            let slot = self.begins(io, now);
            self.upcoming.ahead_mut()[count].slot = slot;
            count += 1;
            is_alone = is_trim(io);
        }
        count
    }

    /// Whether the next I/O is due, unless the stream is over or would be by then.
    fn may_begin(&mut self, io: Io, now: DeviceTime) -> bool {
        self.is_over |= self.earliest() >= self.ends || now >= self.gives_up;
        // A flush belongs to the write before it, whenever the next one is due.
        !self.is_over && (self.earliest() <= now || io.operation == Operation::Flush)
    }

    fn must_rest(&self) -> bool {
        self.stream.pace.rests().is_some_and(|(_, every)| self.since_rest >= every)
    }

    /// When the next I/O may begin.
    fn earliest(&self) -> DeviceTime {
        self.due.max(self.rests_until)
    }

    /// Takes note that it begins, and gives it its slot.
    fn begins(&mut self, io: Io, now: DeviceTime) -> u16 {
        self.in_flight += 1;
        let slot = match self.stream.pace.is_open() {
            true => self.due_of.put(self.due.min(now)),
            false => 0,
        };
        if io.operation != Operation::Flush {
            self.since_rest += 1;
            self.due = self.due + self.due_times.step(io.length);
        }
        slot
    }

    fn completed(&mut self, completion: &Completion) {
        self.in_flight -= 1;
        if self.stream.pace.is_open() {
            self.due_of.give_back(completion.io.slot);
        }
        if self.must_rest()
            && self.in_flight == 0
            && let Some(rest) = self.due_times.rest()
        {
            self.since_rest = 0;
            self.rests_until = completion.completed + rest;
        }
    }
}

fn is_trim(io: Io) -> bool {
    io.operation == Operation::Trim
}

/// A time for each I/O in flight, in a slot that it has to itself.
#[derive(Debug, Default)]
struct Slots {
    times: Vec<DeviceTime>,
    free: Vec<u16>,
}

impl Slots {
    /// # Panics
    /// If more are in flight than an I/O can tell apart: 65,536.
    fn put(&mut self, time: DeviceTime) -> u16 {
        if let Some(slot) = self.free.pop() {
            self.times[usize::from(slot)] = time;
            return slot;
        }
        self.times.push(time);
        u16::try_from(self.times.len() - 1).expect("at most 65,536 in flight")
    }

    fn get(&self, slot: u16) -> DeviceTime {
        self.times[usize::from(slot)]
    }

    fn give_back(&mut self, slot: u16) {
        self.free.push(slot);
    }
}
