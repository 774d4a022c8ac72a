//! Turns completions into samples and puts them on disk, second by second.

use writecliff_device::{Completion, DeviceTime, Nanos, Operation, Telemetry};

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
    phase: String,
    counts: Counts,
    latencies: LatencyHistogram,
    telemetry: Telemetry,
    every_io: Option<EveryIo>,
    last_sample: Option<Sample>,
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
    latency_max_ns: u64,
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
            phase: String::new(),
            counts: Counts::default(),
            latencies: LatencyHistogram::default(),
            telemetry: Telemetry::default(),
            every_io: every_io
                .then(|| EveryIo { encoder: IoEncoder::new(origin), bytes: Vec::new() }),
            last_sample: None,
        }
    }

    /// Where the run is kept.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// Names the samples that follow.
    pub fn begin_phase(&mut self, name: &str, telemetry: Telemetry) {
        name.clone_into(&mut self.phase);
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
    pub(crate) fn observe(&mut self, completion: &Completion) {
        let counts = &mut self.counts;
        if let Some(errno) = failed(completion) {
            counts.failed += 1;
            counts.last_errno = Some(errno);
            return;
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
        counts.latency_max_ns = counts.latency_max_ns.max(service_time.0);
        self.latencies.record(service_time);
        if let Some(every_io) = &mut self.every_io {
            every_io.encoder.encode(completion, &mut every_io.bytes);
        }
    }

    /// Why the last failed I/O of the open second failed.
    pub(crate) fn last_errno(&self) -> Option<i32> {
        self.counts.last_errno
    }

    /// Puts the open second on disk and opens the next.
    pub(crate) fn end_second(
        &mut self,
        second: u32,
        start: DeviceTime,
        end: DeviceTime,
        telemetry: Telemetry,
    ) -> Result<&Sample, RunDirectoryError> {
        let sample = self.sample(second, start, end, &telemetry);
        let bytes = self.every_io.as_ref().map_or(&[][..], |every_io| &every_io.bytes);
        self.directory.append(&sample, &self.latencies, bytes)?;
        self.telemetry = telemetry;
        self.counts = Counts::default();
        self.latencies.clear();
        if let Some(every_io) = &mut self.every_io {
            every_io.bytes.clear();
        }
        Ok(self.last_sample.insert(sample))
    }

    fn sample(
        &self,
        second: u32,
        start: DeviceTime,
        end: DeviceTime,
        telemetry: &Telemetry,
    ) -> Sample {
        let counts = &self.counts;
        let [reads, writes, trims, flushes] = counts.by_operation;
        let span = end - start;
        let percentile = |percent| self.latencies.percentile(percent).0.min(counts.latency_max_ns);
        Sample {
            phase: self.phase.clone(),
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
            latency_mean_ns: counts.latency_sum_ns / self.latencies.count().max(1),
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
        }
    }
}
