//! How the drive served the traces.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Operation};

use crate::record::rate::LatencyFigures;

/// How the drive served the traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the plan; one that the run did not come to is left out.
    pub traces: Vec<Served>,
}

/// How the drive served one trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// The trace's name.
    pub trace: String,
    /// What tells it from other traces of this name: its seed, or a hash of its operations; `None`
    /// if nothing does.
    #[serde(default)]
    pub identity: Option<String>,
    /// Whether a generator made it.
    #[serde(default)]
    pub synthetic: bool,
    /// How many operations the whole trace has, if only the first of them were to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_part_of: Option<u64>,
    /// How many times as fast as by its own clock it was done; `None` if as fast as it allows. Unknown of older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Everything together; trims and flushes have no bytes.
    pub all: Share,
    /// The reads alone.
    pub reads: Share,
    /// The writes alone.
    pub writes: Share,
    /// Due to completed; only of a replay by the clock.
    pub response: Option<Times>,
    /// Due to submitted: how late this program, or a full queue, made the I/Os.
    pub lateness: Option<Times>,
    /// The longest service times, the longest first; one a second at most.
    pub slowest: Vec<Moment>,
}

/// What a part of a trace's operations amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Operations done.
    pub operations: u64,
    /// Bytes transferred.
    pub bytes: Bytes,
    /// Disk busy time: with at least one of these operations in flight. Idle time is not in it.
    pub busy_ns: u64,
    /// Average data rate: bytes over busy time, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// Their service times.
    pub service: Times,
}

/// Times of many operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Average, in nanoseconds.
    pub mean_ns: u64,
    /// Standard deviation, of all operations and not of the seconds' means.
    pub deviation_ns: u64,
    /// Percentiles.
    pub percentiles: LatencyFigures,
}

/// A second with a long service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The second of the replay in which it ended.
    pub second: u32,
    /// What took so long.
    pub operation: Operation,
    /// How long.
    pub length_ns: u64,
}
