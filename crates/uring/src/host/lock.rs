//! Locks on whole files and devices, of both kinds that Linux has.
//!
//! Virtual machines, their tools and many servers lock what they use by ranges of bytes (POSIX or
//! OFD locks); `flock` is what udev keeps to, and what other runs take. Either kind does not see the
//! other, so both are taken.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Whether a lock was to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// It is held until the file is closed.
    Taken,
    /// Another process holds one.
    Refused,
}

/// Takes both locks on all of a file that is open for writing.
///
/// # Errors
/// What the system says, unless the filesystem has no locks.
pub(crate) fn take(file: &File) -> io::Result<Lock> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(Lock::Refused),
        Err(error) if !has_no_locks(error) => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    of_ranges(file, libc::F_OFD_SETLK).map(|_| Lock::Taken).or_else(refused)
}

/// Looks whether a file that is open for reading could be locked; holds `flock`'s lock from then on.
///
/// # Errors
/// As [`take`].
pub(crate) fn look(file: &File) -> io::Result<Lock> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(Lock::Refused),
        Err(error) if !has_no_locks(error) => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    match of_ranges(file, libc::F_OFD_GETLK) {
        Ok(kind) if kind == libc::F_UNLCK => Ok(Lock::Taken),
        Ok(_) => Ok(Lock::Refused),
        Err(error) => refused(error),
    }
}

/// A write lock on all bytes; gives the kind of lock that the system answers with.
fn of_ranges(file: &File, command: i32) -> io::Result<i32> {
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as _,
        l_whence: libc::SEEK_SET as _,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: both commands read and write one `flock`, which lives until the call returns.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(i32::from(lock.l_type)),
    }
}

fn refused(error: io::Error) -> io::Result<Lock> {
    match Errno::from_io_error(&error) {
        Some(Errno::AGAIN | Errno::ACCESS) => Ok(Lock::Refused),
        Some(errno) if has_no_locks(errno) => Ok(Lock::Taken),
        _ => Err(error),
    }
}

/// Some filesystems, of other machines mostly, have none.
fn has_no_locks(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::NOTSUP | Errno::NOLCK | Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use rustix::fs::fcntl_lock;

    use super::*;
    use crate::eventually::eventually;

    fn opened(path: &std::path::Path) -> File {
        File::options().read(true).write(true).open(path).unwrap()
    }

    #[test]
    fn each_kind_of_lock_keeps_others_away() {
        let file = tempfile::NamedTempFile::new().unwrap();
        type Held = fn(&File);
        let kinds: [(&str, Held); 3] = [
            ("flock", |file| flock(file, FlockOperation::NonBlockingLockShared).unwrap()),
            ("posix", |file| {
                fcntl_lock(file, FlockOperation::NonBlockingLockExclusive).unwrap();
            }),
            ("ofd", |file| {
                assert_eq!(of_ranges(file, libc::F_OFD_SETLK).unwrap(), libc::F_WRLCK);
            }),
        ];
        for (kind, hold) in kinds {
            // Closing any descriptor of a file gives back the process's POSIX locks on it.
            let (holder, taker) = (opened(file.path()), opened(file.path()));
            let looker = File::open(file.path()).unwrap();
            hold(&holder);
            assert_eq!(take(&taker).unwrap(), Lock::Refused, "{kind}");
            assert_eq!(look(&looker).unwrap(), Lock::Refused, "{kind}");
            drop((holder, looker));
            assert!(eventually(|| take(&taker).unwrap() == Lock::Taken), "{kind}");
            drop(taker);
            let looker = opened(file.path());
            assert!(eventually(|| look(&looker).unwrap() == Lock::Taken), "{kind}");
        }
    }
}
