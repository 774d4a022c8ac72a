//! What a descriptor or a mapping leads to.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use super::FileId;
use crate::host::sysfs::DeviceNumber;

/// What may be sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Block(DeviceNumber),
    Character(DeviceNumber),
    File(FileId),
}

/// What a descriptor leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Held(Held),
    /// A ring of io_uring, which may hold more.
    Ring,
    /// A socket, by its inode, in which descriptors may wait.
    Socket(u64),
    Other,
}

const RING: &[u8] = b"anon_inode:[io_uring]";

impl Thing {
    /// Follows a link of `/proc`, which leads to the thing itself.
    pub(super) fn by(link: &Path) -> io::Result<Self> {
        Self::at(CWD, link, AtFlags::empty(), || fs::read_link(link))
    }

    /// Of a descriptor of this process.
    pub(super) fn of(descriptor: &impl AsFd) -> io::Result<Self> {
        let name = || {
            use std::os::fd::AsRawFd;
            let number = descriptor.as_fd().as_raw_fd();
            fs::read_link(format!("/proc/self/fd/{number}"))
        };
        Self::at(descriptor.as_fd(), Path::new(""), AtFlags::EMPTY_PATH, name)
    }

    /// Asks no remote server and no FUSE daemon, either of which might never answer.
    fn at(
        directory: BorrowedFd<'_>,
        path: &Path,
        flags: AtFlags,
        name: impl Fn() -> io::Result<std::path::PathBuf>,
    ) -> io::Result<Self> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO;
        let facts = statx(directory, path, flags | AtFlags::STATX_DONT_SYNC, wanted)?;
        let number = |major, minor| DeviceNumber { major, minor };
        Ok(match FileType::from_raw_mode(u32::from(facts.stx_mode)) {
            FileType::BlockDevice => {
                Self::Held(Held::Block(number(facts.stx_rdev_major, facts.stx_rdev_minor)))
            }
            FileType::CharacterDevice => {
                Self::Held(Held::Character(number(facts.stx_rdev_major, facts.stx_rdev_minor)))
            }
            FileType::Socket => Self::Socket(facts.stx_ino),
            FileType::Directory | FileType::Symlink | FileType::Fifo => Self::Other,
            FileType::RegularFile => Self::Held(Held::File(FileId {
                filesystem: number(facts.stx_dev_major, facts.stx_dev_minor),
                inode: facts.stx_ino,
            })),
            // What has no file behind it is of no kind at all.
            _ if name()?.as_os_str().as_encoded_bytes() == RING => Self::Ring,
            _ => Self::Other,
        })
    }
}
