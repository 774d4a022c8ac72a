//! What can keep a fleet from being simulated.

use std::io;
use std::path::PathBuf;

use writecliff_device::{DeviceError, ErrorKind};
use writecliff_output::OutputError;
use writecliff_trace::{Misfit, ReadError};

/// Why there is no fleet, or why it did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The plan's file cannot be read.
    #[error("cannot read the fleet's plan {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Not TOML, or something that a fleet does not have.
    #[error("{}:{line}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The parser's words.
        message: String,
    },
    /// A plan that makes no fleet.
    #[error("the plan makes no fleet: {key}: {reason}")]
    Impossible {
        /// What to mend.
        key: String,
        /// What is wrong, and what would do.
        reason: String,
    },
    /// A drive that cannot be.
    #[error(transparent)]
    Drive(#[from] writecliff::Error),
    /// A drive that cannot go on.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A trace that cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
    /// A trace that fits no volume.
    #[error("a volume of '{trace}' has no place on these drives: {misfit}")]
    Misfit {
        /// The trace.
        trace: String,
        /// Why not.
        misfit: Misfit,
    },
    /// Its directory holds a fleet that was begun.
    #[error(
        "{} holds a fleet already; go on with that by `writecliff fleet --resume {}` (in Python with \
         plan=None), or name a new or an empty directory", path.display(), path.display()
    )]
    IsThere {
        /// The directory.
        path: PathBuf,
    },
    /// Its directory holds something else.
    #[error("{} is not empty and no fleet; name a new or an empty directory", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// Its directory cannot be made or read.
    #[error("cannot use the fleet's directory {}: {source}", path.display())]
    Directory {
        /// What of it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Its directory holds another one.
    #[error("{} holds another fleet: {reason}; name a directory of its own", path.display())]
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

impl FleetError {
    /// What it asks of whoever wanted the fleet.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. }
            | Self::Invalid { .. }
            | Self::Impossible { .. }
            | Self::Misfit { .. }
            | Self::IsThere { .. }
            | Self::NotEmpty { .. }
            | Self::Other { .. } => ErrorKind::Usage,
            Self::Drive(error) => error.kind(),
            Self::Trace(error) => error.kind(),
            Self::Device(_) | Self::Directory { .. } => ErrorKind::Failed,
            Self::Output(error) => error.kind(),
        }
    }
}
