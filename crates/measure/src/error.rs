//! Who watches a recording, and why it stops before its end.

use std::ops::ControlFlow;

use writecliff_device::{DeviceError, ErrorKind, error_advice, error_text};

use crate::failures::{FAILED_ONE_IN, FailedIo, UnansweredIo, Waiting};
use crate::run_directory::RunDirectoryError;
use crate::sample::Sample;

/// Why recording stopped before its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The device cannot go on.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A sample could not be put on disk.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// For whole seconds the device failed every I/O.
    #[error(
        "the device failed all {failed} I/Os from second {from} on, and nothing more was sent to it: {}; {}",
        error_text(*errno), error_advice(*errno)
    )]
    EveryIoFailed {
        /// The first such second of the load.
        from: u32,
        /// I/Os that failed since.
        failed: u64,
        /// The system's error number of the last one.
        errno: i32,
    },
    /// The device failed a noticeable share of a series' I/Os.
    #[error(
        "the device failed {failed} of {all} I/Os of {series}{} (`failed_ios` in run.json); from 1 in {FAILED_ONE_IN} on a \
         run's figures are not the drive's: {}",
        first.as_ref().map_or_else(String::new, |first| format!(", the first a {first}")),
        error_advice(first.as_ref().map_or(0, |first| first.errno))
    )]
    IosFailed {
        /// The series.
        series: String,
        /// I/Os that failed in it.
        failed: u64,
        /// All that ended in it.
        all: u64,
        /// The first of them, if it was among the run's first failures.
        first: Option<Box<FailedIo>>,
    },
    /// The device did not answer.
    #[error(
        "the device has not answered: {io}; its io_timeout is half of that. What was recorded until \
         then is kept; check its cabling and health, or give it a longer io_timeout"
    )]
    Unanswered {
        /// What it did not answer longest.
        io: UnansweredIo,
    },
    /// What was recorded could not be put on disk as fast as time passed.
    #[error(
        "the last {seconds} s of samples could not be put on disk: where the run is kept takes \
         nothing, or the terminal does not. The load was ended; what is on disk is kept: \
         choose another disk for it"
    )]
    DiskTooSlow {
        /// Seconds that were not written.
        seconds: usize,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl RecordError {
    /// What it asks of whoever recorded.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::RunDirectory(error) => error.kind(),
            Self::Interrupted => ErrorKind::Interrupted,
            Self::EveryIoFailed { .. }
            | Self::IosFailed { .. }
            | Self::Unanswered { .. }
            | Self::DiskTooSlow { .. } => ErrorKind::Failed,
        }
    }
}

/// What sees every sample as it is put on disk, and what has been in flight for long, and may break
/// off. On a real device another thread than the measuring one calls it.
pub type Watch<'a> = &'a mut (dyn FnMut(&Sample, Waiting) -> ControlFlow<()> + Send);
