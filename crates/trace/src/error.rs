//! What can be wrong with a trace.

use std::io;
use std::path::PathBuf;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}; free some space or choose another place", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Parquet, but not a trace, or a damaged one.
    #[error("{} is no trace of Writecliff: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Operations must be given to a writer in order of issue.
    #[error(
        "{}: operation {index}, issued at {} ns, comes after one issued at {} ns; sort it first",
        path.display(), issued_ns, before_ns
    )]
    Unsorted {
        /// The file that was to be written.
        path: PathBuf,
        /// Counted from zero.
        index: u64,
        /// Its issue.
        issued_ns: u64,
        /// The issue of the one before.
        before_ns: u64,
    },
    /// Recording needs rights that this process lacks.
    #[error("recording was not permitted ({}: {source}); run as root", path.display())]
    RecordNotPermitted {
        /// What was refused.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel was built without tracing.
    #[error(
        "this kernel has no tracefs, so nothing can be recorded here; record elsewhere with perf \
         or blktrace, and use `writecliff trace convert`"
    )]
    NoTracefs,
    /// The kernel was built without the block layer's tracepoints, or describes them otherwise.
    #[error(
        "this kernel has no {name} as known here; use a kernel with CONFIG_BLK_DEV_IO_TRACE, or \
         record with perf or blktrace and use `writecliff trace convert`"
    )]
    NoTracepoint {
        /// Which one.
        name: &'static str,
    },
    /// The kernel's tracing does not do as asked.
    #[error("cannot record: {}: {source}; see `dmesg` for what the kernel says", path.display())]
    Tracefs {
        /// The file of tracefs.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A page of the kernel's buffer is not as the kernel describes it.
    #[error(
        "the trace buffer of processor {processor} holds what this version does not understand; \
         record with perf or blktrace instead, and use `writecliff trace convert`"
    )]
    TracePage {
        /// Counted as the pipes are.
        processor: usize,
    },
}
