//! What can keep a drive from being exported.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use writecliff_device::{Bytes, DeviceError, ErrorKind};
use writecliff_measure::RunDirectoryError;
use writecliff_output::OutputError;
use writecliff_trace::WriteError;

/// Why nothing is served, or not any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A drive that cannot be.
    #[error(transparent)]
    Drive(#[from] writecliff::Error),
    /// A drive that is no model.
    #[error(
        "{name} is no simulated drive, and only those are exported: name one as sim:NAME, which `writecliff \
         drives` lists, or several as array:raid5:4:sim:NAME"
    )]
    NotSimulated {
        /// What was asked for.
        name: String,
    },
    /// A drive that loses nothing in a power cut, or whose model does not tell what.
    #[error(
        "'{name}' has no writes that --shorn-writes could shear: either capacitors keep all that it acknowledged, \
         or what it loses in a power cut is not modelled, as of magnetic disks and arrays; export it without"
    )]
    NothingToShear {
        /// The export.
        name: String,
    },
    /// Two drives of the same name.
    #[error(
        "two exports would be called '{name}', and a client could not tell them apart; give one of them a \
         name of its own, as in other=sim:{name}"
    )]
    SameName {
        /// The name.
        name: String,
    },
    /// A model that cannot go on.
    #[error(transparent)]
    Model(#[from] DeviceError),
    /// Something else is where a store was to be.
    #[error(
        "{} is there and is no store of an export ({found}); nothing was changed: name a new file, or a store",
        path.display()
    )]
    NoStore {
        /// The file.
        path: PathBuf,
        /// What shows it.
        found: String,
    },
    /// The store of another drive.
    #[error(
        "{} holds the data of {found}, and this is {drive}; nothing was changed: export that drive, or name \
         another file", path.display()
    )]
    OtherDrive {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: String,
        /// Whose it should be.
        drive: String,
    },
    /// A device is where a store was to be.
    #[error(transparent)]
    Destination(#[from] OutputError),
    /// Another process has the store.
    #[error("{} is in use by another process, perhaps another export; end that first", path.display())]
    StoreInUse {
        /// The file.
        path: PathBuf,
    },
    /// Several drives, and one file.
    #[error(
        "{drives} drives need a store each: name a directory that is there, in which each gets a file"
    )]
    OneStore {
        /// How many there are.
        drives: usize,
    },
    /// The system does not give what a store takes.
    #[error("cannot keep {} of data in {place}: {doing}: {source}", capacity.exact())]
    Store {
        /// Where.
        place: String,
        /// The drive's capacity.
        capacity: Bytes,
        /// The step.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Somebody listens there.
    #[error(
        "{} is taken: another process listens there, perhaps another export; end it, or name another \
         socket", path.display()
    )]
    SocketTaken {
        /// The socket.
        path: PathBuf,
    },
    /// Something that is no socket is where one was to be.
    #[error("{} is there and is no socket; nothing was changed: name another one", path.display())]
    NoSocket {
        /// What is there.
        path: PathBuf,
    },
    /// A socket cannot be made.
    #[error("cannot listen on {}: {source}; name a socket in a directory that can be written", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An address cannot be had.
    #[error(
        "cannot listen on {address}: {source}; choose an address of this machine and a port that is free"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// An address that others reach.
    #[error(
        "{address} can be reached from other machines, and whoever reaches it reads and writes the drive; \
         127.0.0.1 is this machine alone"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// Several drives, and one trace.
    #[error(
        "a trace is of one drive, and {drives} are exported; export one at a time to record it"
    )]
    OneTrace {
        /// How many there are.
        drives: usize,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] WriteError),
    /// A record cannot be written.
    #[error(transparent)]
    Record(#[from] RunDirectoryError),
    /// The system gives no thread.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
    /// Whoever asked has broken it off.
    #[error("interrupted while the drive was prepared; nothing was served")]
    Interrupted,
}

impl ExportError {
    /// What it asks of whoever wanted the export.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Drive(error) => error.kind(),
            Self::NotSimulated { .. }
            | Self::SameName { .. }
            | Self::NothingToShear { .. }
            | Self::OneStore { .. }
            | Self::OneTrace { .. } => ErrorKind::Usage,
            Self::Trace(error) => error.kind(),
            Self::Record(error) => error.kind(),
            Self::Destination(error) => error.kind(),
            Self::NoStore { .. }
            | Self::OtherDrive { .. }
            | Self::StoreInUse { .. }
            | Self::NoSocket { .. }
            | Self::NotLoopback { .. } => ErrorKind::Refused,
            Self::SocketTaken { .. } | Self::Listen { .. } => ErrorKind::Usage,
            Self::Store { source, .. } | Self::Socket { source, .. } => ErrorKind::of_path(source),
            Self::Model(_) | Self::System(_) => ErrorKind::Failed,
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }
}
