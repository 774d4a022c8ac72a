//! The few device controls that have no safe wrapper elsewhere.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, Setter, ioctl, opcode};
use writecliff_device::Bytes;

use crate::host::sysfs::DeviceNumber;

/// `BLKDISCARD` of linux/fs.h: a start and a length in bytes.
const BLOCK_DISCARD: u32 = opcode::none(0x12, 119);
/// `BLKGETSIZE64` of linux/fs.h: the size in bytes.
const BLOCK_SIZE: u32 = opcode::read::<usize>(0x12, 114);
/// `BLKROGET` of linux/fs.h.
const BLOCK_READ_ONLY: u32 = opcode::none(0x12, 94);
/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS: u32 = 0x4C05;

/// Tells a block device that a byte range is no longer needed.
///
/// # Errors
/// What the kernel says; EOPNOTSUPP where the device cannot.
pub(crate) fn discard(device: &File, offset: u64, length: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two u64 from its argument, and the type is just that.
    unsafe {
        let range = Setter::<BLOCK_DISCARD, [u64; 2]>::new([offset, length]);
        ioctl(device.as_fd(), range)?;
    }
    Ok(())
}

/// The size of a block device now, from the kernel's memory: it asks no drive.
///
/// # Errors
/// What the kernel says; ENOTTY for what is no block device.
pub(crate) fn size(device: &File) -> io::Result<Bytes> {
    // SAFETY: BLKGETSIZE64 fills a u64, whatever its number says of a size_t.
    let size = unsafe { ioctl(device.as_fd(), Getter::<BLOCK_SIZE, u64>::new())? };
    Ok(Bytes(size))
}

/// Whether a block device takes no writes just now; no where it is none.
pub(crate) fn is_read_only(device: &File) -> bool {
    // SAFETY: BLKROGET fills an int.
    let told = unsafe { ioctl(device.as_fd(), Getter::<BLOCK_READ_ONLY, i32>::new()) };
    told.is_ok_and(|flag| flag != 0)
}

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
#[allow(dead_code, reason = "the kernel's layout; only the identity is of use")]
struct LoopInfo {
    device: u64,
    inode: u64,
    raw_device: u64,
    offset: u64,
    size_limit: u64,
    numbers_and_flags: [u32; 4],
    names_and_key: [u8; 64 + 64 + 32],
    init: [u64; 2],
}

/// What a loop device stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopBacking {
    /// The filesystem and inode of the file.
    pub(crate) file: (DeviceNumber, u64),
    /// The block device, if the file is the node of one.
    pub(crate) block_device: Option<DeviceNumber>,
    /// The byte of it that the loop device begins at.
    pub(crate) offset: u64,
}

/// What an attached loop device stands on.
///
/// # Errors
/// ENXIO if it is not attached.
pub(crate) fn loop_backing(device: &File) -> io::Result<LoopBacking> {
    // SAFETY: LOOP_GET_STATUS64 fills a loop_info64, whose layout `LoopInfo` has.
    let info = unsafe { ioctl(device.as_fd(), Getter::<LOOP_GET_STATUS, LoopInfo>::new())? };
    let block_device = (info.raw_device != 0).then(|| DeviceNumber::from_raw(info.raw_device));
    let file = (DeviceNumber::from_raw(info.device), info.inode);
    Ok(LoopBacking { file, block_device, offset: info.offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_layout_has_the_size_that_the_kernel_writes() {
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(BLOCK_DISCARD, 0x1277);
    }
}
