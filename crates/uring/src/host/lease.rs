//! Whether anybody else has a regular file open, by the kernel's own count.
//!
//! A write lease is given to the only one who has a file open, by whatever he has it: a descriptor of
//! any process, one on its way through a socket, a file that is registered with io_uring, a mapping, a
//! loop device, a server in the kernel. It is asked for and given back at once.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// `F_SETSIG` of linux/fcntl.h.
const SET_SIGNAL: libc::c_int = 10;

/// Whether anybody but this open file has the file open; `None` where that is not told: a filesystem
/// without leases, another user's file, or a file that this process has open in another way.
pub(crate) fn is_shared(file: &File) -> Option<bool> {
    let descriptor = file.as_raw_fd();
    // SAFETY: all three take numbers alone. Who opens the file in between makes the kernel send a
    // signal: one that does nothing (SIGURG) instead of one that ends this process (SIGIO).
    let answer = unsafe {
        if libc::fcntl(descriptor, SET_SIGNAL, libc::SIGURG) != 0 {
            return None;
        }
        match libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_WRLCK) {
            0 => {
                libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK);
                Some(false)
            }
            _ => {
                let error = std::io::Error::last_os_error();
                (error.raw_os_error() == Some(libc::EAGAIN)).then_some(true)
            }
        }
    };
    answer.filter(|&is_shared| !is_shared || !is_open_here(file))
}

/// Whether this process has the file open beside `file` and copies of that.
fn is_open_here(file: &File) -> bool {
    let identity = |facts: fs::Metadata| (facts.dev(), facts.ino());
    let Ok(own) = file.metadata().map(identity) else { return true };
    let numbers = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.any(|number: i32| {
        let link = format!("/proc/self/fd/{number}");
        fs::metadata(link).is_ok_and(|facts| identity(facts) == own)
            && !is_by_path_alone(number)
            && !is_same_open_file(file.as_raw_fd(), number)
    })
}

/// Whether a descriptor can neither read nor write (`O_PATH`), and so does not count.
fn is_by_path_alone(number: i32) -> bool {
    // SAFETY: F_GETFL takes numbers alone.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_PATH != 0
}

/// Whether two descriptors of this process are copies of each other.
fn is_same_open_file(one: i32, other: i32) -> bool {
    /// `KCMP_FILE` of linux/kcmp.h.
    const FILE: libc::c_int = 0;
    let own = std::process::id();
    // SAFETY: kcmp takes numbers alone, and changes nothing.
    one == other || unsafe { libc::syscall(libc::SYS_kcmp, own, own, FILE, one, other) } == 0
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::eventually::eventually;

    #[test]
    fn a_file_is_shared_while_another_process_has_it_and_its_own_copies_do_not_count() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        // Where the filesystem knows no leases, nothing is told at all.
        let Some(is_shared_alone) = is_shared(&file) else { return };
        assert!(!is_shared_alone);
        let copy = file.try_clone().unwrap();
        assert_eq!(is_shared(&file), Some(false));
        drop(copy);
        let reader = Stdio::from(File::open(&path).unwrap());
        let mut other = Command::new("sleep").arg("600").stdin(reader).spawn().unwrap();
        // The child's copies of what this process has are closed when its program begins.
        assert!(eventually(|| is_shared(&file) == Some(true)));
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(eventually(|| is_shared(&file) == Some(false)));
        // In this process itself it is nobody's business.
        let again = File::open(&path).unwrap();
        assert_eq!(is_shared(&file), None);
        drop(again);
    }
}
