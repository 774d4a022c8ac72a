//! The kernel's own Opal support (linux/sed-opal.h), as far as it tells how a drive stands.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, ioctl, opcode};

/// `IOC_OPAL_GET_STATUS`: flags, and four bytes that are not used.
const GET_STATUS: u32 = opcode::read::<[u32; 2]>(b'p', 236);

/// What the kernel would lock and unlock by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelOpal {
    /// It can give this drive Opal commands.
    pub supported: bool,
    /// Locking is on.
    pub locking_enabled: bool,
    /// A range is locked.
    pub locked: bool,
}

/// `None` where the kernel knows nothing of the kind: no such support, or no such drive.
pub(crate) fn kernel_opal(drive: &File) -> Option<KernelOpal> {
    // SAFETY: the control fills two u32, and the type is just that.
    let [flags, _] = unsafe { ioctl(drive.as_fd(), Getter::<GET_STATUS, [u32; 2]>::new()) }.ok()?;
    let flag = |bit: u32| flags >> bit & 1 == 1;
    Some(KernelOpal { supported: flag(0), locking_enabled: flag(2), locked: flag(3) })
}
