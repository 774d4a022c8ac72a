//! Counts completions, second by second, for the one who puts them on disk.

use std::mem;
use std::sync::Arc;

use writecliff_device::{
    Bytes, Completion, DeviceInfo, DeviceKind, DeviceTime, Io, Nanos, Operation, Status, Telemetry,
};

use crate::error::{RecordError, Watch};
use crate::failures::{FAILURES_NAMED, FailedIo, Waiting};
use crate::finished::{Counts, Finished};
use crate::io_log::IoEncoder;
use crate::judge::Judge;
use crate::latency::LatencyHistogram;
use crate::run_directory::RunDirectory;
use crate::threads::Threads;
use crate::writer::{Sink, Writer, beside};

/// Writes one run's samples to its directory. Memory does not grow with the run's length.
#[derive(Debug)]
pub struct Recorder {
    directory: RunDirectory,
    counter: Counter,
    judge: Judge,
    io_timeout: Nanos,
    threads: Threads,
    threads_used: usize,
}

/// What is known of the run while its load goes on: counts what its supply has it count.
#[derive(Debug)]
pub struct Counter {
    pub(crate) origin: DeviceTime,
    /// Those of the load under way, by their numbers.
    series: Vec<Series>,
    telemetry: Telemetry,
    /// For every I/O, if they are kept.
    encoder: Option<IoEncoder>,
    ios: Vec<u8>,
    lba_size: Bytes,
    /// The first of the open second.
    failures: Vec<FailedIo>,
}

/// The open second of one series.
#[derive(Debug, Default)]
struct Series {
    name: Arc<str>,
    counts: Counts,
    latencies: LatencyHistogram,
    last_completed: DeviceTime,
    state: SeriesState,
    busy: Option<Nanos>,
    drive_busy: Option<Nanos>,
}

/// How far a series is: its last sample ends with its last I/O, and none follows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum SeriesState {
    #[default]
    Open,
    Ending,
    Ended,
}

/// The second being counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Second {
    pub(crate) index: u32,
    pub(crate) start: DeviceTime,
    pub(crate) end: DeviceTime,
}

/// Where a phase lies in the run, on the device's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSpan {
    /// From the run's beginning to the phase's.
    pub start: Nanos,
    /// The phase's length.
    pub length: Nanos,
}

impl Recorder {
    /// How long an I/O may be in flight unless somebody says otherwise: longer than disks try by
    /// themselves to read a bad sector, and than the system's own time limit for a command.
    pub const IO_TIMEOUT: Nanos = Nanos::from_secs(60);

    /// A recorder for a run that begins now, at `origin` on the device's clock.
    pub fn new(directory: RunDirectory, origin: DeviceTime, every_io: bool) -> Self {
        Self {
            directory,
            counter: Counter::new(origin, every_io),
            judge: Judge::default(),
            io_timeout: Self::IO_TIMEOUT,
            threads: Threads::ONE,
            threads_used: 1,
        }
    }

    /// The same, but an I/O that is in flight so long has failed, and one that is in flight twice
    /// as long ends the run.
    #[must_use]
    pub fn with_io_timeout(self, io_timeout: Nanos) -> Self {
        Self { io_timeout, ..self }
    }

    /// The same, but loads that can be shared are supplied by several threads, if the device has a way
    /// into it for each.
    #[must_use]
    pub fn with_threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// How many threads supplied the last load.
    pub fn threads_used(&self) -> usize {
        self.threads_used
    }

    /// Where the run is kept.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// Names the series of the load that follows, in the order of their numbers. `telemetry` is the
    /// device's of now.
    pub fn begin(&mut self, series: &[&str], telemetry: Telemetry) {
        let names: Vec<Arc<str>> = series.iter().map(|name| Arc::from(*name)).collect();
        self.judge.begin(&names);
        self.counter.begin(names);
        self.counter.telemetry = telemetry;
    }

    /// The span from `start` to `end` as the run's files count time.
    pub fn span(&self, start: DeviceTime, end: DeviceTime) -> PhaseSpan {
        PhaseSpan { start: start.since(self.counter.origin), length: end.since(start) }
    }

    /// The first I/Os of the run that failed, [`FAILURES_NAMED`] at most.
    pub fn failures(&self) -> &[FailedIo] {
        self.judge.failures()
    }

    /// Ends recording; the directory is still to be closed.
    pub fn finish(self) -> RunDirectory {
        self.directory
    }

    /// Runs a load with what counts it and where its seconds go. Where it `looks_for_failures`, they
    /// end it only if nothing works.
    pub(crate) fn during(
        &mut self,
        device: &DeviceInfo,
        looks_for_failures: bool,
        watch: Watch<'_>,
        load: impl FnOnce(&mut Counter, &mut Sink<'_>) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let Self { directory, counter, judge, .. } = self;
        counter.lba_size = device.lba_size;
        judge.looks_for_failures = looks_for_failures;
        let writer = Writer::new(directory, watch);
        let ended = match device.kind {
            DeviceKind::Simulated => load(counter, &mut Sink::disk(writer, judge)),
            DeviceKind::BlockDevice
            | DeviceKind::File
            | DeviceKind::Directory
            | DeviceKind::Null => beside(writer, judge, |sink| load(counter, sink)),
        };
        judge.name(counter.take_failures());
        ended.and_then(|()| judge.last_verdict())
    }

    pub(crate) fn io_timeout(&self) -> Nanos {
        self.io_timeout
    }

    pub(crate) fn threads(&self) -> Threads {
        self.threads
    }

    pub(crate) fn note_threads(&mut self, used: usize) {
        self.threads_used = used;
    }
}

impl Counter {
    fn new(origin: DeviceTime, every_io: bool) -> Self {
        Self {
            origin,
            series: Vec::new(),
            telemetry: Telemetry::default(),
            encoder: every_io.then(|| IoEncoder::new(origin)),
            ios: Vec::new(),
            lba_size: Bytes(512),
            failures: Vec::new(),
        }
    }

    fn begin(&mut self, names: Vec<Arc<str>>) {
        let named = |name| Series { name, ..Series::default() };
        self.series = names.into_iter().map(named).collect();
    }

    /// One without a recorder, whose series are begun.
    pub(crate) fn alone(
        series: &[&str],
        lba_size: Bytes,
        origin: DeviceTime,
        telemetry: Telemetry,
    ) -> Self {
        let mut alone = Self { lba_size, telemetry, ..Self::new(origin, false) };
        alone.begin(series.iter().map(|name| Arc::from(*name)).collect());
        alone
    }

    /// One that counts a part of the same load.
    pub(crate) fn for_part(&self) -> Self {
        let mut part = Self::new(self.origin, self.encoder.is_some());
        part.lba_size = self.lba_size;
        part.begin(self.series.iter().map(|series| Arc::clone(&series.name)).collect());
        part
    }

    /// Counts one completion in the second that is open.
    ///
    /// # Panics
    /// If its series was not begun.
    pub fn observe(&mut self, completion: &Completion) {
        let series = &mut self.series[usize::from(completion.io.series)];
        if let Some(errno) = completion.errno() {
            series.observe_failed(completion, errno);
            self.name(completion, errno);
        } else {
            series.observe(completion);
            if let Some(encoder) = &mut self.encoder {
                encoder.encode(completion, &mut self.ios);
            }
        }
    }

    /// Keeps the first failures of a second in detail.
    #[cold]
    fn name(&mut self, completion: &Completion, errno: i32) {
        if self.failures.len() < FAILURES_NAMED {
            let series = &self.series[usize::from(completion.io.series)].name;
            let at = completion.completed.since(self.origin);
            self.failures.push(FailedIo::new(series, at, completion, self.lba_size, errno));
        }
    }

    /// Counts in the open second of this series that it took from `begin` to `end` for the
    /// `operation` of an I/O that [`observe`](Self::observe) has counted, bytes and all, in its own.
    pub(crate) fn observe_span(
        &mut self,
        series: usize,
        operation: Operation,
        begin: DeviceTime,
        end: DeviceTime,
    ) {
        let io = Io::new(operation, Bytes::ZERO, Bytes::ZERO);
        let (submitted, completed) = (begin.min(end), end);
        let span = Completion { io, submitted, completed, status: Status::Done };
        self.series[series].observe(&span);
    }

    /// Notes how long a series kept the drive busy in the open second.
    pub(crate) fn busy(&mut self, series: usize, busy: Nanos) {
        self.series[series].busy = Some(busy);
    }

    /// Notes how long the drive was busy in the open second.
    pub(crate) fn drive_busy(&mut self, busy: Nanos) {
        self.series[0].drive_busy = Some(busy);
    }

    /// Whether anything was counted in the open second.
    pub(crate) fn is_open(&self) -> bool {
        self.series.iter().any(|series| series.latencies.count() + series.counts.failed > 0)
    }

    /// The unit that the device counts its blocks in.
    pub(crate) fn lba_size(&self) -> Bytes {
        self.lba_size
    }

    /// Ends the series, by their numbers, that are over although others go on.
    pub(crate) fn end_series(&mut self, is_over: impl Fn(usize) -> bool) {
        for (number, series) in self.series.iter_mut().enumerate() {
            if series.state == SeriesState::Open && is_over(number) {
                series.state = SeriesState::Ending;
            }
        }
    }

    /// Hands the open second over, of each series that has not ended, and opens the next.
    pub(crate) fn end_second(
        &mut self,
        second: &Second,
        telemetry: Telemetry,
        waiting: Waiting,
        finished: &mut Finished,
    ) {
        (finished.second, finished.start, finished.end) = (second.index, second.start, second.end);
        finished.since_origin = second.start.since(self.origin);
        finished.telemetry = self.tell(telemetry);
        finished.waiting = waiting;
        mem::swap(&mut finished.ios, &mut self.ios);
        mem::swap(&mut finished.failures, &mut self.failures);
        for (number, series) in self.series.iter_mut().enumerate() {
            series.end_second(number, second, finished);
        }
    }

    /// What the device told at the end of the second before, and tells now.
    pub(crate) fn tell(&mut self, telemetry: Telemetry) -> [Telemetry; 2] {
        [mem::replace(&mut self.telemetry, telemetry), telemetry]
    }

    /// The failures named in the open second.
    pub(crate) fn take_failures(&mut self) -> Vec<FailedIo> {
        mem::take(&mut self.failures)
    }

    /// Names further ones in it.
    pub(crate) fn add_failures(&mut self, failures: Vec<FailedIo>) {
        self.failures.extend(failures);
    }

    /// What encodes every I/O, if they are kept.
    pub(crate) fn encoder(&mut self) -> Option<&mut IoEncoder> {
        self.encoder.as_mut()
    }
}

impl Series {
    fn end_second(&mut self, number: usize, second: &Second, finished: &mut Finished) {
        let end = match self.state {
            SeriesState::Open => second.end,
            SeriesState::Ending => self.last_completed.max(second.start + Nanos(1)).min(second.end),
            SeriesState::Ended => return,
        };
        let mut ended = finished.spare.pop().unwrap_or_default();
        ended.name = Arc::clone(&self.name);
        (ended.number, ended.end) = (number, end);
        ended.counts = mem::take(&mut self.counts);
        mem::swap(&mut ended.latencies, &mut self.latencies);
        (ended.busy, ended.drive_busy) = (self.busy.take(), self.drive_busy.take());
        finished.series.push(ended);
        if self.state == SeriesState::Ending {
            self.state = SeriesState::Ended;
        }
    }

    fn observe(&mut self, completion: &Completion) {
        self.last_completed = completion.completed;
        let (io, service_time) = (&completion.io, completion.service_time());
        self.counts.add(io.operation, io.length.0, service_time);
        self.latencies.record(service_time);
    }

    fn observe_failed(&mut self, completion: &Completion, errno: i32) {
        self.last_completed = completion.completed;
        self.counts.failed += 1;
        self.counts.last_errno = Some(errno);
    }
}
