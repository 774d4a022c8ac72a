//! One second of a run.

use parquet_derive::ParquetRecordWriter;
use serde::{Deserialize, Serialize};
use writecliff_device::{Iops, Nanos};

/// What happened in one second of the device's time; a row of `series.parquet`. The last sample of
/// a phase may be shorter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ParquetRecordWriter)]
pub struct Sample {
    /// The part of the test it belongs to.
    pub phase: String,
    /// Seconds since the phase began.
    pub second: u32,
    /// Nanoseconds from the run's beginning to this sample's.
    pub start_ns: u64,
    /// Length of the sample in nanoseconds: one second, or less at a phase's end.
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

    /// NAND writes per host write; `None` if the drive does not tell or the host wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        let nand = self.nand_written_bytes?;
        (self.written_bytes > 0).then(|| nand as f64 / self.written_bytes as f64)
    }

    /// Bytes read and written per second, in MB/s (10^6).
    pub fn megabytes_per_second(&self) -> f64 {
        let seconds = Nanos(self.span_ns).as_secs_f64();
        if seconds == 0.0 {
            return 0.0;
        }
        (self.read_bytes + self.written_bytes) as f64 / 1e6 / seconds
    }
}
