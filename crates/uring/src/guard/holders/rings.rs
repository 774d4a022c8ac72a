//! Rings of io_uring: files that are registered with one stay open though their descriptors are closed.
//!
//! `fdinfo` of a ring's descriptor lists them: by their paths on newer kernels (6.18), by their last
//! names before (6.12). It leaves them out while the ring is at work.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use super::held::Thing;
use crate::host::mounts::unescape;
use crate::host::sysfs::Host;

/// A ring at work is asked so often, with so long between.
const TRIES: usize = 5;
const STEP: Duration = Duration::from_millis(2);

/// The files that a ring holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Registered {
    /// By the kernel's names.
    Files(Vec<Vec<u8>>),
    /// The kernel does not tell.
    Unknown,
}

/// What a ring's `fdinfo` tells.
pub(super) fn registered(fdinfo: &Path) -> io::Result<Registered> {
    for _ in 0..TRIES {
        match parse(&fs::read(fdinfo)?) {
            Registered::Unknown => thread::sleep(STEP),
            told => return Ok(told),
        }
    }
    Ok(Registered::Unknown)
}

/// `UserFiles:` with the number of places, then a line for each: `NUMBER: NAME`. Places that hold
/// nothing are called `<none>`, or left out by newer kernels.
fn parse(text: &[u8]) -> Registered {
    let mut lines = text.split(|&byte| byte == b'\n');
    let count = lines.by_ref().find_map(|line| line.strip_prefix(b"UserFiles:"));
    let count = count.and_then(|count| std::str::from_utf8(count).ok()?.trim().parse::<u32>().ok());
    let Some(count) = count else { return Registered::Unknown };
    let mut names = Vec::new();
    for line in lines {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { break };
        let (number, name) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
            break;
        }
        names.push(name.to_vec());
    }
    if names.is_empty() && count > 0 {
        return Registered::Unknown;
    }
    names.retain(|name| name != b"<none>");
    Registered::Files(names)
}

/// What a path leads to in the root of a process, or the last name of one below `/dev`; `None` where
/// nothing is there, or finding it would mean to ask somebody. What is open is in the kernel's memory.
pub(super) fn leads_to(name: &[u8], process: &Path) -> Option<Thing> {
    let path = match name.strip_prefix(b"/") {
        Some(path) => unescape(path),
        None => Path::new("dev").join(unescape(name)),
    };
    let root =
        rustix::fs::open(process.join("root"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = openat2(root.ok()?, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    Thing::of(&found).ok()
}

/// Whether a name can only be that of something else than a drive or a file: a pipe, an eventfd, a
/// terminal, another block device of this machine.
pub(super) fn is_no_drive(name: &[u8], host: &Host) -> bool {
    let is_pseudo = name.starts_with(b"[") && name != b"[io_uring]"
        || [&b"anon_inode:["[..], b"socket:[", b"pipe:["].iter().any(|kind| name.starts_with(kind))
            && !is_ring(name);
    let own_name = std::str::from_utf8(name).ok().filter(|name| !name.contains('/'));
    let is_other =
        |name: &str| !name.is_empty() && host.sys.join("class/block").join(name).exists();
    is_pseudo || own_name.is_some_and(is_other)
}

/// Whether a mapping is of a ring, by what `maps` says of its file.
pub(super) fn is_ring(file: &[u8]) -> bool {
    file.ends_with(b"anon_inode:[io_uring]")
}

/// Whether a mapping of a ring is that of its submissions, of which each has one
/// (`IORING_OFF_SQES`).
pub(super) fn is_queue(offset: &[u8]) -> bool {
    offset == b"10000000"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Registered {
        Registered::Files(names.iter().map(|name| name.as_bytes().to_vec()).collect())
    }

    #[test]
    fn what_the_kernel_lists_is_read_in_its_old_and_its_new_way() {
        let old =
            b"SqMask:\t0x3\nUserFiles:\t3\n    0: vdb\n    1: <none>\n    2: a b\nUserBufs:\t0\n";
        assert_eq!(parse(old), files(&["vdb", "a b"]));
        let new = b"UserFiles:\t64\n   63: /dev/loop1\nUserBufs:\t0\nPollList:\n";
        assert_eq!(parse(new), files(&["/dev/loop1"]));
        assert_eq!(parse(b"UserFiles:\t0\nUserBufs:\t0\n"), files(&[]));
        // All places are empty.
        assert_eq!(parse(b"UserFiles:\t1\n    0: <none>\nUserBufs:\t0\n"), files(&[]));
    }

    #[test]
    fn a_ring_at_work_is_unclear() {
        assert_eq!(parse(b"SqMask:\t0x3\nUserFiles:\t2\nUserBufs:\t0\n"), Registered::Unknown);
        assert_eq!(parse(b"SqMask:\t0x3\n"), Registered::Unknown);
    }

    #[test]
    fn what_can_be_no_drive_is_clear() {
        let host = Host::this_machine();
        for name in ["[eventfd]", "anon_inode:[eventpoll]", "socket:[12]", "pipe:[3]"] {
            assert!(is_no_drive(name.as_bytes(), &host), "{name}");
        }
        for name in ["[io_uring]", "anon_inode:[io_uring]", "data.db", "/srv/data.db", ""] {
            assert!(!is_no_drive(name.as_bytes(), &host), "{name}");
        }
    }
}
