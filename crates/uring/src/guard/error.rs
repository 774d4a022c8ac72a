//! Why a drive could not be opened.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use writecliff_admin::RevertError;
use writecliff_device::{Bytes, DeviceError, DeviceKind, ErrorKind, Purge, error_advice};

use crate::guard::consent::ConsentName;
use crate::guard::erasing::advice;
use crate::guard::refusal::Refusal;

/// Why [`open`](crate::open), [`look`](crate::look) or [`inspect`](crate::inspect) gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The guard found something; nothing was written.
    #[error(
        "{} {}:{}", path.display(),
        match refusals.iter().all(Refusal::is_no_drive) {
            true => "is no drive",
            false => "is refused, nothing was written",
        },
        Listed(refusals)
    )]
    Refused {
        /// The drive, resolved where it exists.
        path: PathBuf,
        /// Everything that was found, at least one.
        refusals: Vec<Refusal>,
    },
    /// The consent names another drive; nothing was written.
    #[error(
        "all data on {} ({model}, {}) would be destroyed, and {}; nothing was written. Consent names \
         it {} ({})",
        path.display(), capacity, match named {
            None => "nobody agreed to that".to_owned(),
            Some(named) => format!("'{}' is not its name", named.display()),
        },
        expected.quoted(), expected.kind
    )]
    Consent {
        /// The drive, resolved.
        path: PathBuf,
        /// Its model, or what kind of thing it is.
        model: String,
        /// Its size.
        capacity: Bytes,
        /// What the user named; `None` if nobody was asked.
        named: Option<OsString>,
        /// What would have been right.
        expected: ConsentName,
    },
    /// The purge that was asked for is not to be had.
    #[error(
        "{} cannot be purged by {how}: {why}; `writecliff drives {}` tells which purges it has",
        path.display(), path.display()
    )]
    NoPurge {
        /// The drive.
        path: PathBuf,
        /// What was asked.
        how: Purge,
        /// What is in the way.
        why: String,
    },
    /// The path leads to something else.
    #[error("{} is {found}; name a block device, `writecliff drives` lists them", path.display())]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// The queue depth or the longest I/O is out of range for this drive.
    #[error("a {what} of {got} does not suit {}; use {expected}", path.display())]
    Options {
        /// The drive.
        path: PathBuf,
        /// Which option.
        what: &'static str,
        /// What was asked.
        got: u64,
        /// What is possible.
        expected: String,
    },
    /// Completions can be polled only where the drive's driver has set queues aside for it.
    #[error(
        "completions of {} cannot be polled: {}, or leave --poll out", path.display(),
        match kind {
            DeviceKind::File => "name a drive itself instead of a file",
            _ => "the system has no queues for that (queue/io_poll is 0); load NVMe's driver with \
                  some (nvme.poll_queues=4 on the kernel's command line)",
        }
    )]
    NoPolling {
        /// The drive.
        path: PathBuf,
        /// A block device, or a file.
        kind: DeviceKind,
    },
    /// The filesystem has no direct I/O.
    #[error("{} cannot be opened for direct I/O; put the file on a filesystem that supports O_DIRECT, like ext4 or xfs", path.display())]
    NoDirectIo {
        /// The file.
        path: PathBuf,
    },
    /// The kernel gives this process no io_uring.
    #[error(
        "io_uring is not available: {source}; Linux 5.11 or newer is needed, with `sysctl kernel.io_uring_disabled=0` and no container policy against it"
    )]
    RingUnavailable {
        /// What the kernel said.
        source: io::Error,
    },
    /// The buffers could not be locked in memory.
    #[error("{} of buffers could not be locked in memory: {source}; raise the limit (`ulimit -l`) or lower the queue depth", needed.exact())]
    LockedMemory {
        /// What is needed.
        needed: Bytes,
        /// What the kernel said.
        source: io::Error,
    },
    /// The system failed a step.
    #[error(
        "{}: {doing} failed: {source}; {}", path.display(),
        error_advice(source.raw_os_error().unwrap_or(0))
    )]
    System {
        /// The drive.
        path: PathBuf,
        /// The step.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Why [`finish_purge`](crate::finish_purge) did not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FinishError {
    /// The drive was refused, or could not be looked at.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The drive did not do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Why [`psid_revert`](crate::psid_revert) did not; unless it failed on the way, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PsidRevertError {
    /// The drive was refused, or could not be looked at.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It is no whole drive that takes commands, or this user may not send any.
    #[error(
        "{} takes no commands of NVMe or ATA from this user; name a whole drive, as root",
        path.display()
    )]
    NoCommands {
        /// The drive.
        path: PathBuf,
    },
    /// A revert is of the whole drive.
    #[error(
        "{} is not the only namespace of its drive, or the drive does not tell, and a revert erases \
         them all; move the others' data away and delete them first (`nvme delete-ns`); nothing was \
         changed", path.display()
    )]
    OtherNamespaces {
        /// The namespace.
        path: PathBuf,
    },
    /// It has no TCG subsystem, or the commands do not reach it.
    #[error(
        "{} shows no TCG subsystem that could be reverted; of a SATA drive the kernel shows it only if \
         it was started with libata.allow_tpm=1", path.display()
    )]
    Unsupported {
        /// The drive.
        path: PathBuf,
    },
    /// Another drive's, or mistyped.
    #[error(
        "{} does not know this PSID, and nothing was changed; read its label again (0 and O, 1 and I). \
         After a few wrong ones it takes none until its power was off", path.display()
    )]
    WrongPsid {
        /// The drive.
        path: PathBuf,
    },
    /// Too many wrong ones.
    #[error(
        "{} takes no PSID any more, because too many were wrong; switch its power off and on, then \
         try again", path.display()
    )]
    LockedOut {
        /// The drive.
        path: PathBuf,
    },
    /// The drive or the kernel failed a step.
    #[error("{} was not reverted: {reason}", path.display())]
    Failed {
        /// The drive.
        path: PathBuf,
        /// What was said.
        reason: String,
    },
}

impl PsidRevertError {
    pub(crate) fn of(path: PathBuf, error: RevertError) -> Self {
        match error {
            RevertError::Unsupported => Self::Unsupported { path },
            RevertError::WrongPsid => Self::WrongPsid { path },
            RevertError::LockedOut => Self::LockedOut { path },
            RevertError::Refused { doing, status } => {
                Self::Failed { path, reason: format!("{doing} was answered with {status:#04x}") }
            }
            RevertError::Failed(error) => Self::Failed { path, reason: error.to_string() },
            other => Self::Failed { path, reason: format!("{other:?}") },
        }
    }

    /// What it asks of the user.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Open(error) => error.kind(),
            Self::OtherNamespaces { .. } => ErrorKind::Refused,
            Self::NoCommands { .. } | Self::Unsupported { .. } => ErrorKind::Usage,
            Self::WrongPsid { .. } | Self::LockedOut { .. } | Self::Failed { .. } => {
                ErrorKind::Failed
            }
        }
    }
}

impl OpenError {
    /// Refused where it is the guard's no, and there is something that it guards.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused { refusals, .. } if refusals.iter().all(Refusal::is_no_drive) => {
                ErrorKind::Usage
            }
            Self::Refused { .. } | Self::Consent { .. } => ErrorKind::Refused,
            Self::NotABlockDevice { .. }
            | Self::Options { .. }
            | Self::NoPurge { .. }
            | Self::NoPolling { .. } => ErrorKind::Usage,
            Self::System { source, .. } => ErrorKind::of_path(source),
            Self::NoDirectIo { .. } | Self::RingUnavailable { .. } | Self::LockedMemory { .. } => {
                ErrorKind::Failed
            }
        }
    }
}

struct Listed<'a>(&'a [Refusal]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|refusal| write!(f, "\n  - {refusal}"))?;
        match advice(self.0) {
            Some(advice) => write!(f, "\n{advice}"),
            None => Ok(()),
        }
    }
}
