//! What can keep a sweep from being done.

use std::io;
use std::path::PathBuf;

use writecliff_device::ErrorKind;
use writecliff_output::OutputError;

/// Why there is no sweep, or why it did not come to its end. What fails at one point is a row of it
/// and no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The plan's file cannot be read.
    #[error("cannot read the sweep's plan {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Not TOML, or something that a sweep does not have.
    #[error("{}:{line}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The parser's words.
        message: String,
    },
    /// A plan that makes no points, or none that could be run.
    #[error("'{key}' makes no sweep: {reason}")]
    Impossible {
        /// What to mend.
        key: String,
        /// What is wrong, and what would do.
        reason: String,
    },
    /// No point can be run.
    #[error("no point of this sweep can be run: {0}")]
    NoPoint(#[source] Box<writecliff::Error>),
    /// A point that stopped for a reason that the next one would meet as well.
    #[error(transparent)]
    Run(#[from] Box<writecliff::Error>),
    /// Its directory holds a sweep that was begun.
    #[error(
        "{} holds a sweep already; go on with that by `writecliff sweep --resume {}` (in Python with \
         plan=None), or name a new or an empty directory", path.display(), path.display()
    )]
    IsThere {
        /// The directory.
        path: PathBuf,
    },
    /// Its directory holds something else.
    #[error("{} is not empty and no sweep; name a new or an empty directory", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// Its directory cannot be made or read.
    #[error("cannot use the sweep's directory {}: {source}", path.display())]
    Directory {
        /// What of it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Its directory was begun by another plan or another version of this tool.
    #[error("{} holds another sweep: {reason}; name a directory of its own", path.display())]
    Other {
        /// The directory.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// Its results cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl SweepError {
    /// What it asks of whoever wanted the sweep.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. }
            | Self::Invalid { .. }
            | Self::Impossible { .. }
            | Self::NoPoint(_)
            | Self::IsThere { .. }
            | Self::NotEmpty { .. }
            | Self::Other { .. } => ErrorKind::Usage,
            Self::Run(error) => error.kind(),
            Self::Directory { .. } => ErrorKind::Failed,
            Self::Output(error) => error.kind(),
        }
    }
}
