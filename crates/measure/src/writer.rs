//! Puts finished seconds on disk and shows them, so that whoever counts need not wait for either.
//!
//! Held true: what was shown is on disk; seconds are written in their order; what is handed over
//! and not yet written is bounded. A device whose clock is virtual waits for the disk: nothing is
//! lost by that, and the same run ends with the same bytes. On a real one the writer is a thread of
//! its own, and a disk that takes nothing for a minute ends the run instead of pausing the load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use writecliff_device::{DeviceTime, Nanos, Operation, Telemetry};

use crate::error::{RecordError, Watch};
use crate::failures::{FailedIo, Waiting};
use crate::judge::Judge;
use crate::latency::LatencyHistogram;
use crate::run_directory::RunDirectory;
use crate::sample::Sample;

/// So many seconds of a real drive may wait for the disk...
const SECONDS_WAITING_MAX: usize = 60;
/// ... and so many bytes of them: a few seconds of every I/O on the fastest drives.
const BYTES_WAITING_MAX: usize = 512 << 20;

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

/// Writes and shows.
pub(crate) struct Writer<'a> {
    directory: &'a mut RunDirectory,
    watch: Watch<'a>,
    samples: Vec<Sample>,
}

/// Where finished seconds go.
pub(crate) trait Seconds {
    /// Whether nothing more is wanted: the watcher broke off, or the disk failed.
    fn is_stopped(&self) -> bool;

    /// Takes the second that `fill` puts into the value given to it.
    ///
    /// # Errors
    /// If the load is not to go on.
    fn take(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError>;
}

/// Where whole seconds go: past the judge to the disk.
pub(crate) struct Sink<'a> {
    judge: &'a mut Judge,
    to: To<'a>,
}

enum To<'a> {
    /// At once.
    Disk { writer: Writer<'a>, finished: Box<Finished> },
    /// By the thread that writes.
    Thread(ToThread<'a>),
}

/// The measuring end of the two channels: full seconds go out, emptied ones come back.
pub(crate) struct ToThread<'a> {
    full: Sender<Finished>,
    emptied: Receiver<Finished>,
    stopped: &'a AtomicBool,
    pool: Vec<Finished>,
    waiting: usize,
    waiting_bytes: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(directory: &'a mut RunDirectory, watch: Watch<'a>) -> Self {
        Self { directory, watch, samples: Vec::new() }
    }

    /// Puts a second on disk, shows it, and empties it.
    fn put(&mut self, finished: &mut Finished) -> Result<(), RecordError> {
        self.write(finished)?;
        self.show(finished.waiting)
    }

    fn write(&mut self, finished: &mut Finished) -> Result<(), RecordError> {
        self.samples.clear();
        for index in 0..finished.series.len() {
            let sample = finished.sample(&finished.series[index]);
            // All of the second's I/Os are in one piece, in front of its first sample.
            let ios = if index == 0 { &finished.ios[..] } else { &[] };
            self.directory.append(&sample, &finished.series[index].latencies, ios)?;
            self.samples.push(sample);
        }
        finished.clear();
        Ok(())
    }

    fn show(&mut self, waiting: Waiting) -> Result<(), RecordError> {
        for sample in &self.samples {
            if (self.watch)(sample, waiting).is_break() {
                return Err(RecordError::Interrupted);
            }
        }
        Ok(())
    }

    /// Writes what comes until there is no more. After the watcher broke off, what was counted
    /// meanwhile is still written, and shown to nobody.
    fn run(
        mut self,
        full: &Receiver<Finished>,
        emptied: &Sender<Finished>,
        stopped: &AtomicBool,
    ) -> Result<(), RecordError> {
        let mut shown = Ok(());
        for mut finished in full {
            let waiting = finished.waiting;
            let ended = self.write(&mut finished);
            if ended.is_ok() && shown.is_ok() {
                shown = self.show(waiting);
            }
            if ended.is_err() || shown.is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
            ended?;
            // Whoever counts may have ended meanwhile and want none back.
            let _ = emptied.send(finished);
        }
        shown
    }
}

/// Runs `load` with a thread beside it that writes and shows what it hands over; ends when all of
/// that is written.
pub(crate) fn beside(
    writer: Writer<'_>,
    judge: &mut Judge,
    load: impl FnOnce(&mut Sink<'_>) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let stopped = AtomicBool::new(false);
    let (full, to_write) = channel();
    let (empty, emptied) = channel();
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            // Taken along, so that the channel is closed when the thread ends.
            let to_write: Receiver<Finished> = to_write;
            writer.run(&to_write, &empty, &stopped)
        });
        let (pool, waiting, waiting_bytes) = (Vec::new(), 0, 0);
        let to_thread = ToThread { full, emptied, stopped: &stopped, pool, waiting, waiting_bytes };
        let mut sink = Sink { judge, to: To::Thread(to_thread) };
        let ended = load(&mut sink);
        // Closes the channel: the writer ends when it has written what is left in it.
        drop(sink);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The writer's reason comes first: all that the load saw of it is that it was to stop.
        written.and(ended)
    })
}

impl<'a> Sink<'a> {
    pub(crate) fn disk(writer: Writer<'a>, judge: &'a mut Judge) -> Self {
        Self { judge, to: To::Disk { writer, finished: Box::default() } }
    }

    /// What is raised when nothing more is wanted, if another thread writes.
    pub(crate) fn stopped(&self) -> Option<&'a AtomicBool> {
        match &self.to {
            To::Disk { .. } => None,
            To::Thread(thread) => Some(thread.stopped),
        }
    }
}

impl Seconds for Sink<'_> {
    fn is_stopped(&self) -> bool {
        self.stopped().is_some_and(|stopped| stopped.load(Ordering::Relaxed))
    }

    fn take(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError> {
        let Self { judge, to } = self;
        let mut verdict = Ok(());
        let fill = |finished: &mut Finished| {
            fill(finished);
            verdict = judge.verdict(finished);
        };
        match to {
            To::Disk { writer, finished } => {
                fill(finished);
                writer.put(finished)?;
            }
            To::Thread(thread) => thread.send(fill)?,
        }
        verdict
    }
}

impl ToThread<'_> {
    fn send(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError> {
        while let Ok(emptied) = self.emptied.try_recv() {
            self.waiting -= 1;
            self.waiting_bytes -= emptied.size();
            self.pool.push(emptied);
        }
        if self.waiting >= SECONDS_WAITING_MAX || self.waiting_bytes > BYTES_WAITING_MAX {
            return Err(RecordError::DiskTooSlow { seconds: self.waiting });
        }
        let mut finished = self.pool.pop().unwrap_or_default();
        fill(&mut finished);
        self.waiting += 1;
        self.waiting_bytes += finished.size();
        // A writer that has ended has said why, and `is_stopped` tells so.
        let _ = self.full.send(finished);
        Ok(())
    }
}

impl Finished {
    /// What it keeps in memory, full or emptied.
    fn size(&self) -> usize {
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

    fn sample(&self, series: &FinishedSeries) -> Sample {
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
