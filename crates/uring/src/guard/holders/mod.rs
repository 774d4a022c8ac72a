//! Who holds a drive or a file: whoever can still read or write it, by whatever name.
//!
//! `O_EXCL` keeps away only those who ask for it as well: mounts, arrays, other runs. A database on
//! a raw partition, a virtual machine, an exporting server does not. They are found by looking
//! through every process of `/proc` (`search`), by the identity of what they hold: by a descriptor of
//! any of their threads (`tables`), a mapping, a file registered with a ring of io_uring (`rings`), a
//! descriptor that waits in a socket (`sockets`). What one may not look into, and what the kernel does
//! not tell, is counted.

mod held;
mod rings;
mod search;
mod sockets;
mod tables;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use held::Held;
use search::Search;
use writecliff_device::Bytes;

use crate::host::horizon::Horizon;
use crate::host::sysfs::{DeviceNumber, Host};

/// A regular file's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) filesystem: DeviceNumber,
    pub(crate) inode: u64,
}

impl FileId {
    /// The identity that `stat` gives.
    pub(crate) fn of(facts: &fs::Metadata) -> Self {
        Self { filesystem: DeviceNumber::from_raw(facts.dev()), inode: facts.ino() }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sought {
    /// Block devices that nobody else may have open at all.
    pub(crate) devices: Vec<DeviceNumber>,
    /// Block devices that nobody else may have open for writing.
    pub(crate) unwritten_devices: Vec<DeviceNumber>,
    /// Character devices by which the same drives can be written.
    pub(crate) characters: Vec<DeviceNumber>,
    /// Regular files that nobody else may have open at all.
    pub(crate) files: Vec<FileId>,
    /// The same where only the inode is known, and not its filesystem.
    pub(crate) inodes: Vec<u64>,
    /// What all of these are called, without a directory: for what the kernel knows by that alone.
    pub(crate) names: Vec<OsString>,
    /// How large each of them is.
    pub(crate) sizes: Vec<Bytes>,
}

/// A process that has something open or mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// What it has, as it calls it.
    pub device: PathBuf,
    /// Its number.
    pub process: u32,
    /// Its program.
    pub program: String,
    /// How it has it.
    pub holding: Holding,
    /// Whether it looks at drives for a moment only: one of udev's, a program that udev runs, or another
    /// process of this program, which compares drives of one size that nothing else tells apart.
    pub is_passing: bool,
}

impl User {
    /// Whether somebody looks at the device who does so for a moment, as udev does at every new and
    /// changed one. Others may call themselves so: it is only waited for.
    pub(crate) fn is_a_passing_look(&self) -> bool {
        self.holding == Holding::Reading && self.is_passing
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, process, program, holding, .. } = self;
        let device = device.display();
        write!(f, "{program} ")?;
        match holding {
            Holding::Reading => write!(f, "has {device} open for reading"),
            Holding::Writing => write!(f, "has {device} open for writing"),
            Holding::Mapped => write!(f, "has {device} mapped into its memory"),
            Holding::Registered => write!(f, "has {device} registered with io_uring"),
            Holding::OnItsWay { .. } => {
                write!(f, "has a descriptor of {device} waiting in a socket")
            }
            Holding::Unknown { descriptors: 1 } => {
                write!(f, "has a descriptor waiting in a socket that may be of it")
            }
            Holding::Unknown { descriptors } => {
                write!(f, "has {descriptors} descriptors waiting in a socket that may be of it")
            }
        }?;
        write!(f, " (process {process})")
    }
}

/// How a process has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holding {
    /// Open for reading.
    Reading,
    /// Open for writing.
    Writing,
    /// Mapped into its memory.
    Mapped,
    /// Registered with a ring of io_uring, its descriptor closed or not.
    Registered,
    /// By a descriptor that waits in a socket to be received.
    OnItsWay {
        /// Whether it can only be read by it.
        is_reading: bool,
    },
    /// Perhaps, by descriptors that wait in a socket and cannot be looked at.
    Unknown {
        /// How many.
        descriptors: usize,
    },
}

impl Holding {
    /// Whether it cannot be written this way.
    pub(crate) fn is_reading(self) -> bool {
        matches!(self, Self::Reading | Self::OnItsWay { is_reading: true })
    }
}

/// Everybody who was found.
#[derive(Debug, Default)]
pub(crate) struct Users {
    pub(crate) found: Vec<User>,
    pub(crate) unseen: Unseen,
}

/// What could not be inspected: each of it may hold the drive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Processes that may not be looked into.
    pub processes: usize,
    /// Processes with a ring of io_uring of whose files the kernel does not tell.
    pub rings: Vec<RingOwner>,
    /// Why there may be processes that are not even counted.
    pub(crate) horizon: Horizon,
    /// Whether the kernel does not count what is written to it, so that a write of somebody else's is
    /// not noticed.
    pub uncounted: bool,
}

/// A process with a ring of io_uring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingOwner {
    /// Its number.
    pub process: u32,
    /// Its program.
    pub program: String,
}

impl Unseen {
    /// Whether everything was inspected.
    pub fn is_empty(&self) -> bool {
        self.processes == 0 && self.rings.is_empty() && self.is_all_in_sight() && !self.uncounted
    }

    /// Whether at least all processes were counted.
    pub fn is_all_in_sight(&self) -> bool {
        self.horizon == Horizon::Machine
    }
}

impl fmt::Display for Unseen {
    /// How much of what could not be inspected.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match self.processes {
            0 => {}
            1 => parts.push("1 process that may not be looked into".to_owned()),
            count => parts.push(format!("{count} processes that may not be looked into")),
        }
        if !self.rings.is_empty() {
            let owners = self.rings.iter();
            let owners: Vec<_> =
                owners.map(|ring| format!("{} ({})", ring.program, ring.process)).collect();
            parts.push(format!(
                "the files that {} with io_uring registered: {}",
                match owners.len() {
                    1 => "1 process".to_owned(),
                    count => format!("{count} processes"),
                },
                owners.join(", ")
            ));
        }
        if !self.is_all_in_sight() {
            parts.push(format!("whatever runs outside of what is seen here ({})", self.horizon));
        }
        if self.uncounted {
            parts.push("writes of others, which the kernel does not count here".to_owned());
        }
        f.write_str(&parts.join("; "))
    }
}

impl Sought {
    /// All processes but this one that have any of it.
    ///
    /// # Errors
    /// If there is no list of processes at all.
    pub(crate) fn users(&self, host: &Host) -> io::Result<Users> {
        let mut users = Search::new(self, host).run()?;
        users.unseen.horizon = Horizon::of(host);
        Ok(users)
    }

    /// Whether a thing is sought, by what `stat` tells of it.
    pub(crate) fn has(&self, facts: &fs::Metadata) -> bool {
        let kind = facts.file_type();
        let number = DeviceNumber::from_raw(facts.rdev());
        (kind.is_file() && self.has_file(FileId::of(facts)))
            || (kind.is_char_device() && self.characters.contains(&number))
            || (kind.is_block_device() && self.has_device(number))
    }

    pub(crate) fn has_device(&self, number: DeviceNumber) -> bool {
        self.devices.contains(&number) || self.unwritten_devices.contains(&number)
    }

    pub(crate) fn has_file(&self, file: FileId) -> bool {
        self.files.contains(&file) || self.inodes.contains(&file.inode)
    }

    /// Whether something here has this as its last name.
    pub(crate) fn has_name(&self, path: &std::path::Path) -> bool {
        path.file_name().is_some_and(|name| self.names.iter().any(|own| own == name))
    }

    fn matches(&self, held: &Held, holding: Holding) -> bool {
        match *held {
            Held::Block(number) => {
                self.devices.contains(&number)
                    || (!holding.is_reading() && self.unwritten_devices.contains(&number))
            }
            Held::Character(number) => !holding.is_reading() && self.characters.contains(&number),
            Held::File(file) => self.has_file(file),
        }
    }
}

#[cfg(test)]
mod tests;
