//! Descriptors on their way through unix sockets: nobody's, until somebody receives them.
//!
//! `fdinfo` of a socket tells how many wait in it. Which they are is seen by a copy of the socket's
//! descriptor and a look (`MSG_PEEK`), which leaves them where they are.
#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::io::IoSliceMut;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::held::Thing;

/// `SCM_MAX_FD`: as many may be sent by one message.
const MOST: usize = 253;

/// How many descriptors wait in a socket.
pub(super) fn waiting(fdinfo: &Path) -> io::Result<usize> {
    let text = fs::read_to_string(fdinfo)?;
    let count = text.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    Ok(count.and_then(|count| count.trim().parse().ok()).unwrap_or(0))
}

/// A descriptor of our own for the socket that a process has as this number, if it still is this one.
pub(super) fn copied(process: u32, number: i32, inode: u64) -> Option<OwnedFd> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    let socket = pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()?;
    (Thing::of(&socket).ok()? == Thing::Socket(inode)).then_some(socket)
}

/// Copies of the descriptors of the first message that has any; the messages stay. None where looking
/// would change where the socket's owner looks next (`SO_PEEK_OFF`).
pub(super) fn peek(socket: &OwnedFd) -> Vec<OwnedFd> {
    if peeks_further(socket) {
        return Vec::new();
    }
    let mut byte = [0];
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    if recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, flags).is_err() {
        return Vec::new();
    }
    let mut copies = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            copies.extend(descriptors);
        }
    }
    copies
}

/// Whether a look moves on by itself, or may.
fn peeks_further(socket: &OwnedFd) -> bool {
    let mut offset: libc::c_int = -1;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: getsockopt writes at most `length` bytes to `offset`, which is as long.
    let asked = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEEK_OFF,
            (&raw mut offset).cast(),
            &raw mut length,
        )
    };
    asked != 0 || offset >= 0
}
