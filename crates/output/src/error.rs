//! Why nothing is written somewhere.

use std::io;
use std::path::PathBuf;

use writecliff_device::ErrorKind;

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The name leads to a block device, whose data would be lost.
    #[error(
        "{} is a block device, and results are never written to one; nothing was written to it: \
         name a file", path.display()
    )]
    BlockDevice {
        /// The device, or a link to it.
        path: PathBuf,
    },
    /// A file of this name is there, and was to stay.
    #[error("{} is there already and was not changed; name another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A pipe, another device, a directory or a link, none of which a file may take the place of.
    #[error(
        "{} is there and is no regular file, which could be replaced; name another file",
        path.display()
    )]
    NoFile {
        /// What is there.
        path: PathBuf,
    },
    /// The system does not let it be written.
    #[error("cannot write {}: {source}; free some space or choose another place", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl OutputError {
    /// What it asks of whoever named the file.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::BlockDevice { .. } => ErrorKind::Refused,
            Self::Exists { .. } | Self::NoFile { .. } => ErrorKind::Usage,
            Self::Write { source, .. } => ErrorKind::of_path(source),
        }
    }
}
