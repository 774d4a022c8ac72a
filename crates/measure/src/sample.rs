//! One second of a run.

use serde::{Deserialize, Serialize};
use writecliff_columns::Storage;
use writecliff_device::{Completion, Iops, Nanos, Operation};

use crate::columns::{Column, FEW_ROWS, Row, SERIES};

/// What happened in one second of the device's time; a row of `series.parquet`. The last sample of
/// a series may be shorter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// The series it belongs to: a phase of the test, or one of several loads of it.
    #[serde(alias = "phase")]
    pub series: String,
    /// Seconds since the series began.
    pub second: u32,
    /// Nanoseconds from the run's beginning to this sample's.
    pub start_ns: u64,
    /// Length of the sample in nanoseconds: one second, or less at a series' end.
    pub span_ns: u64,
    /// Reads completed.
    pub reads: u64,
    /// Writes completed.
    pub writes: u64,
    /// Trims completed.
    pub trims: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// I/Os that the device failed; they are in no other column.
    pub failed: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Mean service time; zero if nothing completed, as for all latencies.
    pub latency_mean_ns: u64,
    /// Median service time.
    pub latency_p50_ns: u64,
    /// 99th percentile of the service time.
    pub latency_p99_ns: u64,
    /// 99.9th percentile of the service time.
    pub latency_p999_ns: u64,
    /// 99.99th percentile of the service time.
    pub latency_p9999_ns: u64,
    /// Longest service time, exact.
    pub latency_max_ns: u64,
    /// I/Os in flight on average: the service times' sum over the span (Little's law).
    pub queue_depth: f64,
    /// Bytes programmed into NAND during the sample, if the drive tells.
    pub nand_written_bytes: Option<u64>,
    /// Free blocks at the sample's end, if the drive tells.
    pub free_blocks: Option<u64>,
    /// Mean power drawn during the sample, in microwatts, if the drive tells.
    #[serde(default)]
    pub power_microwatts: Option<u64>,
    /// Temperature at the sample's end, in thousandths of a degree Celsius, if the drive tells.
    #[serde(default)]
    pub temperature_millicelsius: Option<u64>,
    /// Standard deviation of the service times; not known of recordings by older versions.
    #[serde(default)]
    pub latency_deviation_ns: Option<u64>,
    /// Time with at least one I/O of the series in flight; known of replays.
    #[serde(default)]
    pub busy_ns: Option<u64>,
    /// Time with any I/O in flight, of whatever series; in a replay's first series.
    #[serde(default)]
    pub drive_busy_ns: Option<u64>,
    /// Bytes trimmed; not known of recordings by older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimmed_bytes: Option<u64>,
    /// Time for which it kept commands waiting because it was too warm, if the drive tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
}

impl Row for Sample {
    const STORAGE: Storage = FEW_ROWS;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::text(SERIES, |row| &mut row.series),
        Column::small("second", |row| &mut row.second),
        Column::number("start_ns", |row| &mut row.start_ns),
        Column::number("span_ns", |row| &mut row.span_ns),
        Column::number("reads", |row| &mut row.reads),
        Column::number("writes", |row| &mut row.writes),
        Column::number("trims", |row| &mut row.trims),
        Column::number("flushes", |row| &mut row.flushes),
        Column::number("failed", |row| &mut row.failed),
        Column::number("read_bytes", |row| &mut row.read_bytes),
        Column::number("written_bytes", |row| &mut row.written_bytes),
        Column::number("latency_mean_ns", |row| &mut row.latency_mean_ns),
        Column::number("latency_p50_ns", |row| &mut row.latency_p50_ns),
        Column::number("latency_p99_ns", |row| &mut row.latency_p99_ns),
        Column::number("latency_p999_ns", |row| &mut row.latency_p999_ns),
        Column::number("latency_p9999_ns", |row| &mut row.latency_p9999_ns),
        Column::number("latency_max_ns", |row| &mut row.latency_max_ns),
        Column::fraction("queue_depth", |row| &mut row.queue_depth),
        Column::known("nand_written_bytes", |row| &mut row.nand_written_bytes),
        Column::known("free_blocks", |row| &mut row.free_blocks),
        Column::known("power_microwatts", |row| &mut row.power_microwatts),
        Column::known("temperature_millicelsius", |row| &mut row.temperature_millicelsius),
        Column::known("latency_deviation_ns", |row| &mut row.latency_deviation_ns),
        Column::known("busy_ns", |row| &mut row.busy_ns),
        Column::known("drive_busy_ns", |row| &mut row.drive_busy_ns),
        Column::known("trimmed_bytes", |row| &mut row.trimmed_bytes),
        Column::known("throttled_ns", |row| &mut row.throttled_ns),
    ];
}

impl Sample {
    /// Reads, writes, trims and flushes completed.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }

    /// Their rate.
    pub fn iops(&self) -> Iops {
        Iops::over(self.ios(), Nanos(self.span_ns))
    }

    /// Whether it is of a whole second, and not what a series ended with.
    pub fn is_whole(&self) -> bool {
        self.span_ns == 1_000_000_000
    }

    /// All that is ever added up of samples.
    pub(crate) fn amounts(&self) -> [u64; 13] {
        let Self { reads, writes, trims, flushes, failed, read_bytes, written_bytes, .. } = *self;
        [
            self.span_ns,
            reads,
            writes,
            trims,
            flushes,
            failed,
            read_bytes,
            written_bytes,
            self.nand_written_bytes.unwrap_or(0),
            self.power_microwatts.unwrap_or(0),
            self.busy_ns.unwrap_or(0),
            self.drive_busy_ns.unwrap_or(0),
            self.trimmed_bytes.unwrap_or(0),
        ]
    }

    /// Counts a completion. Latencies are counted elsewhere.
    pub(crate) fn count(&mut self, completion: &Completion) {
        if completion.errno().is_some() {
            self.failed += 1;
            return;
        }
        let bytes = completion.io.length.0;
        match completion.io.operation {
            Operation::Read => {
                (self.reads, self.read_bytes) = (self.reads + 1, self.read_bytes + bytes);
            }
            Operation::Write => {
                (self.writes, self.written_bytes) = (self.writes + 1, self.written_bytes + bytes);
            }
            Operation::Trim => {
                self.trims += 1;
                self.trimmed_bytes = Some(self.trimmed_bytes.unwrap_or(0) + bytes);
            }
            Operation::Flush => self.flushes += 1,
        }
    }
}
