//! The kernel's way to a drive: `NVME_IOCTL_ADMIN_CMD` of linux/nvme_ioctl.h, and ATA PASS-THROUGH
//! (16) of SAT-4 by `SG_IO` of scsi/sg.h.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use writecliff_admin::{AdminPort, AtaCommand, Facts, NvmeCommand, Protocol, ask};

use crate::found::{Claim, Found, Thing};
use crate::sysfs::Node;

/// `NVME_IOCTL_ID` and `NVME_IOCTL_ADMIN_CMD`.
const NVME_ID: libc::c_ulong = 0x4E40;
const NVME_ADMIN: libc::c_ulong = 0xC048_4E41;
const SG_IO: libc::c_ulong = 0x2285;
/// A drive that has not answered by then is left alone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks a whole disk about itself, whoever else uses it; `None` for a file, a partition and what
/// stands on other devices. What it sends only reads.
pub(crate) fn own_words(found: &Found) -> Option<Result<Facts, String>> {
    let Thing::Block(node) = &found.thing else { return None };
    if node.is_partition() || node.slaves().is_ok_and(|below| !below.is_empty()) {
        return None;
    }
    let drive = found.open(Claim::None).ok()?.ok()?;
    let Some(mut port) = KernelPort::to(node, &drive) else {
        return Some(Err("it takes no commands of NVMe or ATA".to_owned()));
    };
    Some(ask(&mut port).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => "only root may ask the drive itself".to_owned(),
        _ => error.to_string(),
    }))
}

/// A drive that is open; for reading is enough.
#[derive(Debug)]
pub(crate) struct KernelPort<'a> {
    drive: &'a File,
    protocol: Protocol,
}

impl<'a> KernelPort<'a> {
    /// The way to a drive; `None` if it is neither. Only a disk that the kernel knows to be ATA is
    /// asked in that language: there are USB bridges that never recover from a command that they do
    /// not know.
    fn to(node: &Node, drive: &'a File) -> Option<Self> {
        // SAFETY: the control takes no argument and returns the namespace, or an error.
        let namespace = unsafe { libc::ioctl(drive.as_raw_fd(), NVME_ID) };
        let protocol = match u32::try_from(namespace) {
            Ok(namespace @ 1..) => Protocol::Nvme { namespace },
            _ => is_ata(node).then_some(Protocol::Ata)?,
        };
        Some(Self { drive, protocol })
    }
}

/// Whether the kernel has the page of SCSI / ATA translation from it (VPD 89h), or carries it itself.
fn is_ata(node: &Node) -> bool {
    let vendor = node.attribute("device/vendor").ok().flatten();
    vendor.is_some_and(|vendor| vendor.trim() == "ATA")
        || node.attribute_bytes("device/vpd_pg89").is_ok_and(|page| page.is_some())
}

/// `struct nvme_admin_cmd`.
#[repr(C)]
#[derive(Default)]
struct NvmeAdmin {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_length: u32,
    data_length: u32,
    dword_10: u32,
    dword_11: u32,
    dwords_12_to_15: [u32; 4],
    timeout_ms: u32,
    result: u32,
}

/// `struct sg_io_hdr`.
#[repr(C)]
struct SgIo {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_max: u8,
    pieces: u16,
    data_length: u32,
    data: *mut c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: i32,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_length: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

const FROM_DRIVE: i32 = -3;
const ATA_PASS_THROUGH_16: u8 = 0x85;

impl AdminPort for KernelPort<'_> {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn nvme(&mut self, command: NvmeCommand, data: &mut [u8]) -> io::Result<u32> {
        let mut admin = NvmeAdmin {
            opcode: command.opcode,
            namespace: command.namespace,
            data: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
            data_length: data.len() as u32,
            dword_10: command.dword_10,
            dword_11: command.dword_11,
            timeout_ms: PATIENCE.as_millis() as u32,
            ..NvmeAdmin::default()
        };
        // SAFETY: the structure has the kernel's layout, and `data` outlives the call, which writes no
        // more than its length.
        let status =
            unsafe { libc::ioctl(self.drive.as_fd().as_raw_fd(), NVME_ADMIN, &raw mut admin) };
        match status {
            0 => Ok(admin.result),
            1.. => Err(io::Error::other(format!("the drive answered with status {status:#x}"))),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn ata(&mut self, command: AtaCommand, data: &mut [u8]) -> io::Result<()> {
        let cdb = pass_through(command, data.len() / 512);
        let mut sense = [0_u8; 32];
        let mut io = SgIo {
            interface: i32::from(b'S'),
            direction: FROM_DRIVE,
            command_length: cdb.len() as u8,
            sense_max: sense.len() as u8,
            pieces: 0,
            data_length: data.len() as u32,
            data: data.as_mut_ptr().cast(),
            command: cdb.as_ptr(),
            sense: sense.as_mut_ptr(),
            timeout_ms: PATIENCE.as_millis() as u32,
            flags: 0,
            pack: 0,
            user: std::ptr::null_mut(),
            status: 0,
            masked_status: 0,
            message_status: 0,
            sense_length: 0,
            host_status: 0,
            driver_status: 0,
            residual: 0,
            duration_ms: 0,
            info: 0,
        };
        // SAFETY: the structure has the kernel's layout; command, data and sense outlive the call,
        // which writes no more than their lengths.
        let done = unsafe { libc::ioctl(self.drive.as_fd().as_raw_fd(), SG_IO, &raw mut io) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        let is_whole = io.status == 0 && io.host_status == 0 && io.residual == 0;
        is_whole.then_some(()).ok_or_else(|| {
            io::Error::other(format!(
                "it answered with status {:#x}, {:#x}, {:#x}",
                io.status, io.host_status, io.driver_status
            ))
        })
    }
}

/// SAT-4, table 133.
fn pass_through(command: AtaCommand, sectors: usize) -> [u8; 16] {
    const PIO_DATA_IN: u8 = 4;
    /// From the drive, in blocks of 512 bytes, as many as the count says.
    const TRANSFER: u8 = 0b0000_1110;
    let extended = u8::from(command.is_extended());
    let [lba_0, lba_1, lba_2, lba_3, lba_4, lba_5, ..] = command.lba.to_le_bytes();
    let [feature_low, feature_high] = command.feature.to_le_bytes();
    let [count_low, count_high] = (sectors as u16).to_le_bytes();
    [
        ATA_PASS_THROUGH_16,
        PIO_DATA_IN << 1 | extended,
        TRANSFER,
        feature_high,
        feature_low,
        count_high,
        count_low,
        lba_3,
        lba_0,
        lba_4,
        lba_1,
        lba_5,
        lba_2,
        0x40, // the LBA is one, as old drives want to be told
        command.command,
        0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_that_the_kernel_has() {
        assert_eq!(size_of::<NvmeAdmin>(), 72);
        assert_eq!(size_of::<SgIo>(), 88);
    }

    #[test]
    fn fields_of_an_ata_command_are_where_sat_has_them() {
        let cdb = pass_through(AtaCommand::smart(0xD0), 1);
        assert_eq!(cdb, [0x85, 8, 0x0E, 0, 0xD0, 0, 1, 0, 0, 0, 0x4F, 0, 0xC2, 0x40, 0xB0, 0]);
        let cdb = pass_through(AtaCommand::log(4, 7), 1);
        assert_eq!(cdb, [0x85, 9, 0x0E, 0, 0, 0, 1, 0, 4, 0, 7, 0, 0, 0x40, 0x2F, 0]);
    }
}
