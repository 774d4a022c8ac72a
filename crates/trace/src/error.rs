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
    /// No system lets so long an operation through.
    #[error(
        "operation {index} is {length} bytes long, at byte {offset}: more than any drive takes at \
         once; the trace is damaged, or its format is not the one it was read as"
    )]
    Oversized {
        /// Counted from zero.
        index: u64,
        /// Where it begins.
        offset: u64,
        /// Its length.
        length: u64,
    },
    /// A plan of a trace that is not TOML, or has an unknown or missing key.
    #[error("{file}:{line}: {message}")]
    PlanSyntax {
        /// The file.
        file: String,
        /// The line in it.
        line: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// A plan of a trace that cannot be.
    #[error("the plan {plan} cannot be carried out: {reason}")]
    PlanImpossible {
        /// The plan's name.
        plan: String,
        /// What contradicts what.
        reason: String,
    },
}
