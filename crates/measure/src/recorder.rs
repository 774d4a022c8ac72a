//! Turns completions into samples and puts them on disk, second by second.

use std::mem;

use writecliff_device::{Bytes, Completion, DeviceTime, Io, Nanos, Operation, Status, Telemetry};

use crate::io_log::IoEncoder;
use crate::latency::LatencyHistogram;
use crate::record::failed;
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::sample::Sample;

/// Writes one run's samples to its directory. Memory does not grow with the run's length.
#[derive(Debug)]
pub struct Recorder {
    directory: RunDirectory,
    origin: DeviceTime,
    /// One for each stream of the load under way, in the order of their labels.
    lanes: Vec<Lane>,
    telemetry: Telemetry,
    every_io: Option<EveryIo>,
    last_samples: Vec<Sample>,
}

/// The open second of one phase.
#[derive(Debug, Default)]
struct Lane {
    phase: String,
    counts: Counts,
    latencies: LatencyHistogram,
    last_completed: DeviceTime,
    state: LaneState,
    busy: Option<Nanos>,
    drive_busy: Option<Nanos>,
}

/// How far a series is: its last sample ends with its last I/O, and none follows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum LaneState {
    #[default]
    Open,
    Ending,
    Ended,
}

/// Where a phase lies in the run, on the device's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSpan {
    /// From the run's beginning to the phase's.
    pub start: Nanos,
    /// The phase's length.
    pub length: Nanos,
}

/// What completed since the second began.
#[derive(Debug, Default)]
struct Counts {
    by_operation: [u64; 4],
    failed: u64,
    last_errno: Option<i32>,
    read_bytes: u64,
    written_bytes: u64,
    latency_sum_ns: u64,
    latency_squares: u128,
    latency_max_ns: u64,
}

impl Counts {
    /// Standard deviation of `count` latencies, from exact sums.
    fn deviation(&self, count: u64) -> u64 {
        let (count, sum) = (u128::from(count.max(1)), u128::from(self.latency_sum_ns));
        let variance = (count * self.latency_squares).saturating_sub(sum * sum) / (count * count);
        variance.isqrt() as u64
    }
}

#[derive(Debug)]
struct EveryIo {
    encoder: IoEncoder,
    bytes: Vec<u8>,
}

impl Recorder {
    /// A recorder for a run that begins now, at `origin` on the device's clock.
    pub fn new(directory: RunDirectory, origin: DeviceTime, every_io: bool) -> Self {
        Self {
            directory,
            origin,
            lanes: Vec::new(),
            telemetry: Telemetry::default(),
            every_io: every_io
                .then(|| EveryIo { encoder: IoEncoder::new(origin), bytes: Vec::new() }),
            last_samples: Vec::new(),
        }
    }

    /// Where the run is kept.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// Names the samples that follow: a phase for each stream of the load, in their order.
    pub fn begin_phases(&mut self, names: &[&str], telemetry: Telemetry) {
        let lane = |name: &&str| Lane { phase: (*name).to_owned(), ..Lane::default() };
        self.lanes = names.iter().map(lane).collect();
        self.telemetry = telemetry;
    }

    /// The span from `start` to `end` as the run's files count time.
    pub fn span(&self, start: DeviceTime, end: DeviceTime) -> PhaseSpan {
        PhaseSpan { start: start.since(self.origin), length: end.since(start) }
    }

    /// Ends recording; the directory is still to be closed.
    pub fn finish(self) -> RunDirectory {
        self.directory
    }

    /// Counts one completion in the second that is open.
    ///
    /// # Panics
    /// If no phase was begun for its stream.
    pub(crate) fn observe(&mut self, completion: &Completion) {
        let lane = &mut self.lanes[usize::from(completion.io.stream)];
        if lane.observe(completion)
            && let Some(every_io) = &mut self.every_io
        {
            every_io.encoder.encode(completion, &mut every_io.bytes);
        }
    }

    /// Counts in the open second of the series `label` that it took from `begin` to `end` for the
    /// `operation` of an I/O that [`observe`](Self::observe) has counted, bytes and all, in its own.
    pub(crate) fn observe_span(
        &mut self,
        label: usize,
        operation: Operation,
        begin: DeviceTime,
        end: DeviceTime,
    ) {
        let io = Io::new(operation, Bytes::ZERO, Bytes::ZERO);
        let (submitted, completed) = (begin.min(end), end);
        let span = Completion { io, submitted, completed, status: Status::Done };
        self.lanes[label].observe(&span);
    }

    /// Notes how long the series `label` kept the drive busy in the open second.
    pub(crate) fn busy(&mut self, label: usize, busy: Nanos) {
        self.lanes[label].busy = Some(busy);
    }

    /// Notes how long the drive was busy in the open second.
    pub(crate) fn drive_busy(&mut self, busy: Nanos) {
        self.lanes[0].drive_busy = Some(busy);
    }

    /// Whether anything was counted in the open second.
    pub(crate) fn is_open(&self) -> bool {
        self.lanes.iter().any(|lane| lane.latencies.count() + lane.counts.failed > 0)
    }

    /// Why the last failed I/O of the open second failed.
    pub(crate) fn last_errno(&self) -> Option<i32> {
        self.lanes.iter().find_map(|lane| lane.counts.last_errno)
    }

    /// Ends the series, by their labels, that are over although others go on.
    pub(crate) fn end_series(&mut self, is_over: impl Fn(usize) -> bool) {
        for (label, lane) in self.lanes.iter_mut().enumerate() {
            if lane.state == LaneState::Open && is_over(label) {
                lane.state = LaneState::Ending;
            }
        }
    }

    /// Puts the open second on disk and opens the next; returns a sample for each phase that has
    /// not ended. What the drive writes to its NAND is in the first of them.
    pub(crate) fn end_second(
        &mut self,
        second: u32,
        start: DeviceTime,
        end: DeviceTime,
        telemetry: Telemetry,
    ) -> Result<&[Sample], RunDirectoryError> {
        self.last_samples.clear();
        let mut ios =
            self.every_io.as_mut().map_or_else(Vec::new, |every_io| mem::take(&mut every_io.bytes));
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            let end = match lane.state {
                LaneState::Open => end,
                LaneState::Ending => lane.last_completed.max(start + Nanos(1)).min(end),
                LaneState::Ended => continue,
            };
            let mut sample = self.sample(lane, second, start, end, &telemetry);
            sample.nand_written_bytes = sample.nand_written_bytes.filter(|_| index == 0);
            let lane = &mut self.lanes[index];
            self.directory.append(&sample, &lane.latencies, &ios)?;
            ios.clear();
            lane.counts = Counts::default();
            (lane.busy, lane.drive_busy) = (None, None);
            lane.latencies.clear();
            if lane.state == LaneState::Ending {
                lane.state = LaneState::Ended;
            }
            self.last_samples.push(sample);
        }
        if let Some(every_io) = &mut self.every_io {
            every_io.bytes = ios;
        }
        self.telemetry = telemetry;
        Ok(&self.last_samples)
    }

    fn sample(
        &self,
        lane: &Lane,
        second: u32,
        start: DeviceTime,
        end: DeviceTime,
        telemetry: &Telemetry,
    ) -> Sample {
        let Lane { phase, counts, latencies, busy, drive_busy, .. } = lane;
        let [reads, writes, trims, flushes] = counts.by_operation;
        let span = end - start;
        let percentile = |percent| latencies.percentile(percent).0.min(counts.latency_max_ns);
        Sample {
            phase: phase.clone(),
            second,
            start_ns: start.since(self.origin).0,
            span_ns: span.0,
            reads,
            writes,
            trims,
            flushes,
            failed: counts.failed,
            read_bytes: counts.read_bytes,
            written_bytes: counts.written_bytes,
            latency_mean_ns: counts.latency_sum_ns / latencies.count().max(1),
            latency_p50_ns: percentile(50.0),
            latency_p99_ns: percentile(99.0),
            latency_p999_ns: percentile(99.9),
            latency_p9999_ns: percentile(99.99),
            latency_max_ns: counts.latency_max_ns,
            queue_depth: counts.latency_sum_ns as f64 / span.0.max(1) as f64,
            nand_written_bytes: telemetry.nand_written_since(&self.telemetry).map(|b| b.0),
            free_blocks: telemetry.free_blocks,
            power_microwatts: telemetry.power_since(&self.telemetry, span).map(|power| power.0),
            temperature_millicelsius: telemetry.temperature.map(|degrees| degrees.0),
            latency_deviation_ns: Some(counts.deviation(latencies.count())),
            busy_ns: busy.map(|busy| busy.0),
            drive_busy_ns: drive_busy.map(|busy| busy.0),
        }
    }
}

impl Lane {
    /// Counts one completion; returns whether it worked.
    fn observe(&mut self, completion: &Completion) -> bool {
        let counts = &mut self.counts;
        self.last_completed = completion.completed;
        if let Some(errno) = failed(completion) {
            counts.failed += 1;
            counts.last_errno = Some(errno);
            return false;
        }
        let io = &completion.io;
        counts.by_operation[io.operation as usize] += 1;
        match io.operation {
            Operation::Read => counts.read_bytes += io.length.0,
            Operation::Write => counts.written_bytes += io.length.0,
            Operation::Trim | Operation::Flush => {}
        }
        let service_time = completion.service_time();
        counts.latency_sum_ns += service_time.0;
        counts.latency_squares += u128::from(service_time.0) * u128::from(service_time.0);
        counts.latency_max_ns = counts.latency_max_ns.max(service_time.0);
        self.latencies.record(service_time);
        true
    }
}
