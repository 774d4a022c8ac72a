//! Runs a workload on a [`Device`](writecliff_device::Device) and records it.
//!
//! [`record`] keeps a queue full and cuts the device's time into seconds; a [`Recorder`] turns
//! each second into a [`Sample`] and puts it on disk, beside the load if the device is a real one:
//! the thread that measures waits for nothing but the device. What is on disk is
//! a [`RunDirectory`]: readable at any moment, also after the process was killed. [`tally`] is for
//! figures that nobody wants to keep: it only counts.

mod columns;
mod cycle;
mod error;
mod failures;
mod files;
mod finished;
mod host_queue;
mod io_log;
mod judge;
mod lanes;
mod latency;
mod meter;
mod monitor;
mod record;
mod recorder;
mod replay;
mod run_directory;
mod sample;
mod source;
mod statistics;
mod steady;
mod streams;
mod supply;
mod tally;
mod threads;
mod totals;
mod writer;

pub use error::{RecordError, Watch};
pub use failures::{FAILED_ONE_IN, FAILURES_NAMED, FailedIo, UnansweredIo, Waiting};
pub use files::{REPORT, STAMPS};
pub use latency::{LATENCY_ERROR_PERCENT, LatencyCount, LatencyHistogram};
pub use meter::{Adapter, MeterError, MeterOptions, PowerSeries, Reading};
pub use monitor::Monitor;
pub use record::{Recorded, RecordingLoop, record};
pub use recorder::{Counter, PhaseSpan, Recorder};
pub use replay::{Replay, ReplayIo, ReplaySeries, Timing};
pub use run_directory::{Liveness, Recording, RunDirectory, RunDirectoryError, amend, recover};
pub use sample::Sample;
pub use source::{OfJob, Source, Until};
pub use statistics::{Statistics, drift};
pub use streams::{Stream, Streams};
pub use supply::{Idle, Queue, Supply};
pub use tally::tally;
pub use threads::Threads;
pub use totals::Totals;
