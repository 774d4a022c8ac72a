//! Runs a workload on a [`Device`](writecliff_device::Device) and records it.
//!
//! [`record`] keeps a queue full and cuts the device's time into seconds; a [`Recorder`] turns
//! each second into a [`Sample`] and puts it on disk before the next one begins. What is on disk is
//! a [`RunDirectory`]: readable at any moment, also after the process was killed. [`tally`] is for
//! figures that nobody wants to keep: it only counts.

mod columns;
mod io_log;
mod latency;
mod meter;
mod record;
mod recorder;
mod replay;
mod run_directory;
mod sample;
mod statistics;
mod supply;
mod tally;

pub use latency::{LATENCY_ERROR_PERCENT, LatencyCount, LatencyHistogram};
pub use meter::{Adapter, MeterError, MeterOptions, PowerSeries, Reading};
pub use record::{
    Load, RecordError, Watch, record, record_idle, record_operations, record_replay, record_streams,
};
pub use recorder::{PhaseSpan, Recorder};
pub use replay::{Replay, ReplayIo, Series, Timing};
pub use run_directory::{Liveness, Recording, RunDirectory, RunDirectoryError, amend, recover};
pub use sample::Sample;
pub use statistics::{Statistics, drift};
pub use supply::{Pace, Stream};
pub use tally::{Tally, tally};
