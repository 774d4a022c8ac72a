//! What was counted in a second that has ended, on its way from who counts to who writes.

use std::sync::Arc;

use writecliff_device::{DeviceTime, Nanos, Operation, Telemetry};

use crate::failures::{FailedIo, Waiting};
use crate::latency::LatencyHistogram;
use crate::sample::Sample;

/// What completed since a second began.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) by_operation: [u64; 4],
    pub(crate) failed: u64,
    pub(crate) last_errno: Option<i32>,
    pub(crate) bytes_by_operation: [u64; 4],
    pub(crate) latency_sum_ns: u64,
    pub(crate) latency_squares: u128,
    pub(crate) latency_max_ns: u64,
}

/// A second that has ended, ready to become a sample for each series. Used again and again.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    pub(crate) second: u32,
    pub(crate) start: DeviceTime,
    pub(crate) end: DeviceTime,
    /// From the run's beginning to the second's.
    pub(crate) since_origin: Nanos,
    /// Of the second before and of this one.
    pub(crate) telemetry: [Telemetry; 2],
    pub(crate) series: Vec<FinishedSeries>,
    /// Emptied ones, for the next second.
    pub(crate) spare: Vec<FinishedSeries>,
    /// Every I/O of the second, encoded.
    pub(crate) ios: Vec<u8>,
    /// The first that failed.
    pub(crate) failures: Vec<FailedIo>,
    pub(crate) waiting: Waiting,
}

/// One series of a finished second.
#[derive(Debug, Default)]
pub(crate) struct FinishedSeries {
    pub(crate) name: Arc<str>,
    /// What the drive writes to its NAND, all series together, is told in number 0.
    pub(crate) number: usize,
    pub(crate) end: DeviceTime,
    pub(crate) counts: Counts,
    pub(crate) latencies: LatencyHistogram,
    pub(crate) busy: Option<Nanos>,
    pub(crate) drive_busy: Option<Nanos>,
}

impl Finished {
    /// What it keeps in memory, full or emptied.
    pub(crate) fn size(&self) -> usize {
        let series = self.series.len() + self.spare.len();
        series * LatencyHistogram::SIZE + self.ios.capacity()
    }

    pub(crate) fn clear(&mut self) {
        for mut series in self.series.drain(..).rev() {
            series.latencies.clear();
            self.spare.push(series);
        }
        self.ios.clear();
        self.failures.clear();
        self.waiting = Waiting::default();
    }

    pub(crate) fn sample(&self, series: &FinishedSeries) -> Sample {
        let FinishedSeries { counts, latencies, busy, drive_busy, .. } = series;
        let [before, telemetry] = &self.telemetry;
        let [reads, writes, trims, flushes] = counts.by_operation;
        let [read_bytes, written_bytes, trimmed_bytes, _] = counts.bytes_by_operation;
        let span = series.end - self.start;
        let percentile = |percent| latencies.percentile(percent).0.min(counts.latency_max_ns);
        let nand_written = telemetry.nand_written_since(before).filter(|_| series.number == 0);
        Sample {
            series: series.name.as_ref().to_owned(),
            second: self.second,
            start_ns: self.since_origin.0,
            span_ns: span.0,
            reads,
            writes,
            trims,
            flushes,
            failed: counts.failed,
            read_bytes,
            written_bytes,
            latency_mean_ns: counts.latency_sum_ns / latencies.count().max(1),
            latency_p50_ns: percentile(50.0),
            latency_p99_ns: percentile(99.0),
            latency_p999_ns: percentile(99.9),
            latency_p9999_ns: percentile(99.99),
            latency_max_ns: counts.latency_max_ns,
            queue_depth: counts.latency_sum_ns as f64 / span.0.max(1) as f64,
            nand_written_bytes: nand_written.map(|bytes| bytes.0),
            free_blocks: telemetry.free_blocks,
            power_microwatts: telemetry.power_since(before, span).map(|power| power.0),
            temperature_millicelsius: telemetry.temperature.map(|degrees| degrees.0),
            latency_deviation_ns: Some(counts.deviation(latencies.count())),
            busy_ns: busy.map(|busy| busy.0),
            drive_busy_ns: drive_busy.map(|busy| busy.0),
            trimmed_bytes: Some(trimmed_bytes).filter(|_| trims > 0),
            throttled_ns: telemetry.throttled_since(before).map(|span| span.0),
        }
    }
}

impl FinishedSeries {
    /// Becomes an empty one of the same series.
    pub(crate) fn begin(&mut self, like: &Self) {
        (self.name, self.number, self.end) = (Arc::clone(&like.name), like.number, like.end);
        self.counts = Counts::default();
        (self.busy, self.drive_busy) = (None, None);
    }

    /// Adds a part of the same series and second.
    pub(crate) fn add(&mut self, part: &Self) {
        self.end = self.end.max(part.end);
        self.counts.merge(&part.counts);
        self.latencies.merge(&part.latencies);
    }
}

impl Counts {
    /// Reads, writes, trims and flushes that worked.
    pub(crate) fn worked(&self) -> u64 {
        self.by_operation.iter().sum()
    }

    /// Counts an I/O that worked.
    pub(crate) fn add(&mut self, operation: Operation, bytes: u64, service_time: Nanos) {
        self.by_operation[operation as usize] += 1;
        self.bytes_by_operation[operation as usize] += bytes;
        self.latency_sum_ns += service_time.0;
        self.latency_squares += u128::from(service_time.0) * u128::from(service_time.0);
        self.latency_max_ns = self.latency_max_ns.max(service_time.0);
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn merge(&mut self, other: &Self) {
        let all = |to: &mut [u64; 4], from: [u64; 4]| {
            to.iter_mut().zip(from).for_each(|(sum, count)| *sum += count);
        };
        all(&mut self.by_operation, other.by_operation);
        all(&mut self.bytes_by_operation, other.bytes_by_operation);
        self.failed += other.failed;
        self.last_errno = other.last_errno.or(self.last_errno);
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_squares += other.latency_squares;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }

    /// Standard deviation of `count` latencies, from exact sums.
    fn deviation(&self, count: u64) -> u64 {
        let (count, sum) = (u128::from(count.max(1)), u128::from(self.latency_sum_ns));
        let variance = (count * self.latency_squares).saturating_sub(sum * sum) / (count * count);
        variance.isqrt() as u64
    }
}
