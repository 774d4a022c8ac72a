//! The kernel's way to a drive: `NVME_IOCTL_ADMIN_CMD` of linux/nvme_ioctl.h, and `SG_IO` of scsi/sg.h
//! for SCSI commands, of which ATA PASS-THROUGH (16) of SAT-4 carries those of ATA.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use writecliff_admin::{
    AdminPort, AtaAbort, AtaCommand, AtaResult, Data, NvmeCommand, Protocol, ScsiCommand,
};

use writecliff_device::Link;

use crate::host::sysfs::Node;

/// `NVME_IOCTL_ID` and `NVME_IOCTL_ADMIN_CMD`.
const NVME_ID: libc::c_ulong = 0x4E40;
const NVME_ADMIN: libc::c_ulong = 0xC048_4E41;
const SG_IO: libc::c_ulong = 0x2285;

/// A drive that is open; for reading is enough.
#[derive(Debug)]
pub(crate) struct KernelPort {
    drive: File,
    node: Node,
    protocol: Protocol,
}

impl KernelPort {
    /// The way to a whole disk that is open; `None` if it speaks another language. Only a disk that
    /// the kernel knows to be ATA is asked in that language, and none behind USB in SCSI's: there are
    /// USB bridges that never recover from a command that they do not know.
    pub(crate) fn to(node: &Node, drive: File) -> Option<Self> {
        // SAFETY: the control takes no argument and returns the namespace, or an error.
        let namespace = unsafe { libc::ioctl(drive.as_raw_fd(), NVME_ID) };
        let protocol = match u32::try_from(namespace) {
            Ok(namespace @ 1..) => Protocol::Nvme { namespace },
            _ if is_ata(node) => Protocol::Ata,
            _ => is_scsi(node).then_some(Protocol::Scsi)?,
        };
        Some(Self { drive, node: node.clone(), protocol })
    }

    /// Whether it has namespaces.
    pub(crate) fn is_nvme(&self) -> bool {
        matches!(self.protocol, Protocol::Nvme { .. })
    }

    /// Another of the same, for another thread.
    pub(crate) fn again(&self) -> io::Result<Self> {
        let (drive, node) = (self.drive.try_clone()?, self.node.clone());
        Ok(Self { drive, node, protocol: self.protocol })
    }

    /// The link of an NVMe drive, as the kernel knows it from its PCI device.
    pub(crate) fn pcie_link(&self) -> Option<Link> {
        let text = |name: &str| {
            let attribute = self.node.attribute(&format!("device/device/{name}"));
            attribute.ok().flatten()
        };
        // "8.0 GT/s PCIe"; of a link that is down "Unknown".
        let speed = |name: &str| text(name)?.split_whitespace().next()?.parse::<f64>().ok();
        let lanes =
            |name: &str| text(name)?.parse::<u8>().ok().filter(|lanes| (1..=32).contains(lanes));
        Some(Link {
            now_gbps: speed("current_link_speed"),
            best_gbps: speed("max_link_speed")?,
            lanes_now: lanes("current_link_width"),
            lanes_best: lanes("max_link_width"),
        })
    }
}

/// Whether the kernel has the page of SCSI / ATA translation from it (VPD 89h), or carries it itself.
fn is_ata(node: &Node) -> bool {
    let vendor = node.attribute("device/vendor").ok().flatten();
    vendor.is_some_and(|vendor| vendor.trim() == "ATA")
        || node.attribute_bytes("device/vpd_pg89").is_ok_and(|page| page.is_some())
}

/// Whether it is a disk of SCSI, zoned or not, and not behind a USB bridge, which speaks a SCSI of its
/// own.
fn is_scsi(node: &Node) -> bool {
    let told = |name: &str| node.attribute(name).ok().flatten();
    let is_disk = matches!(told("device/type").as_deref(), Some("0" | "20"));
    is_disk && told("device/scsi_level").is_some() && node.ancestor_with("idVendor").is_none()
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

const NO_DATA: i32 = -1;
const TO_DRIVE: i32 = -2;
const FROM_DRIVE: i32 = -3;
const ATA_PASS_THROUGH_16: u8 = 0x85;
/// A command that was asked to show its registers ends with this status, whatever became of it.
const CHECK_CONDITION: u8 = 0x02;

/// Where a command's data are: direction, address, length.
fn place(data: &mut Data<'_>) -> (i32, *mut c_void, usize) {
    match data {
        Data::None => (NO_DATA, std::ptr::null_mut(), 0),
        Data::FromDrive(data) => (FROM_DRIVE, data.as_mut_ptr().cast(), data.len()),
        // The kernel only reads what goes to a drive.
        Data::ToDrive(data) => (TO_DRIVE, data.as_ptr().cast_mut().cast(), data.len()),
    }
}

impl AdminPort for KernelPort {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn nvme(&mut self, command: NvmeCommand, mut data: Data<'_>) -> io::Result<u32> {
        let (_, address, length) = place(&mut data);
        let mut admin = NvmeAdmin {
            opcode: command.opcode,
            namespace: command.namespace,
            data: address as u64,
            data_length: length as u32,
            dword_10: command.dword_10,
            dword_11: command.dword_11,
            timeout_ms: millis(command.patience),
            ..NvmeAdmin::default()
        };
        // SAFETY: the structure has the kernel's layout, and the data outlive the call, which writes no
        // more than their length, and only to those that the drive fills: the opcode's lowest bits say
        // which way data go, and every command here is made with the data that its opcode has.
        let status =
            unsafe { libc::ioctl(self.drive.as_fd().as_raw_fd(), NVME_ADMIN, &raw mut admin) };
        match status {
            0 => Ok(admin.result),
            1.. => Err(io::Error::other(format!("the drive answered with status {status:#x}"))),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn ata(&mut self, command: AtaCommand, mut data: Data<'_>) -> io::Result<AtaResult> {
        let (direction, _, length) = place(&mut data);
        let cdb = pass_through(command, direction, length / 512);
        let mut sense = [0_u8; 32];
        let io = self.sg_io(&cdb, command.patience, &mut data, &mut sense)?;
        if direction == NO_DATA {
            let shown = io.status == CHECK_CONDITION && io.host_status == 0;
            let told = shown.then(|| registers(&sense[..usize::from(io.sense_length).min(32)]));
            return told.flatten().ok_or_else(|| io.refused())?;
        }
        let is_whole = io.is_good() && io.residual == 0;
        is_whole.then_some(AtaResult::default()).ok_or_else(|| io.refused())
    }

    fn scsi(&mut self, command: ScsiCommand, mut data: Data<'_>) -> io::Result<()> {
        let io = self.sg_io(command.block(), command.patience, &mut data, &mut [0; 32])?;
        io.is_good().then_some(()).ok_or_else(|| io.refused())
    }
}

impl KernelPort {
    /// Sends one SCSI command; what became of it is in the answer.
    fn sg_io(
        &self,
        cdb: &[u8],
        patience: Duration,
        data: &mut Data<'_>,
        sense: &mut [u8; 32],
    ) -> io::Result<SgIo> {
        let (direction, address, length) = place(data);
        let mut io = SgIo {
            interface: i32::from(b'S'),
            direction,
            command_length: cdb.len() as u8,
            sense_max: sense.len() as u8,
            pieces: 0,
            data_length: length as u32,
            data: address,
            command: cdb.as_ptr(),
            sense: sense.as_mut_ptr(),
            timeout_ms: millis(patience),
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
        // which writes no more than their lengths, and to the data only if the drive fills them.
        let done = unsafe { libc::ioctl(self.drive.as_fd().as_raw_fd(), SG_IO, &raw mut io) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(io) }
    }
}

impl SgIo {
    /// Whether the drive did it.
    fn is_good(&self) -> bool {
        self.status == 0 && self.host_status == 0
    }

    fn refused(&self) -> io::Error {
        io::Error::other(format!(
            "it answered with status {:#x}, {:#x}, {:#x}",
            self.status, self.host_status, self.driver_status
        ))
    }
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

/// SAT-4, table 133.
fn pass_through(command: AtaCommand, direction: i32, sectors: usize) -> [u8; 16] {
    /// In blocks of 512 bytes, as many as the count says.
    const TRANSFER: u8 = 0b0000_0110;
    const FROM_DRIVE_FLAG: u8 = 0b0000_1000;
    /// The registers are wanted, in the sense data.
    const SHOW_REGISTERS: u8 = 0b0010_0000;
    let (protocol, flags, count) = match direction {
        FROM_DRIVE => (4, TRANSFER | FROM_DRIVE_FLAG, sectors as u16),
        TO_DRIVE => (5, TRANSFER, sectors as u16),
        _ => (3, SHOW_REGISTERS, command.count),
    };
    let [lba_0, lba_1, lba_2, lba_3, lba_4, lba_5, ..] = command.lba.to_le_bytes();
    let [feature_low, feature_high] = command.feature.to_le_bytes();
    let [count_low, count_high] = count.to_le_bytes();
    [
        ATA_PASS_THROUGH_16,
        protocol << 1 | u8::from(command.is_extended),
        flags,
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

/// The registers in sense data: SAT-4, 12.2.2.7, a descriptor of type 9 and 12 bytes; in the fixed
/// format, information and command-specific information (12.2.2.8). `None` where there are none; an
/// error if they say that the command failed.
fn registers(sense: &[u8]) -> Option<io::Result<AtaResult>> {
    const DESCRIPTORS: u8 = 0x72;
    const FIXED: u8 = 0x70;
    const RETURN: [u8; 2] = [0x09, 0x0C];
    const ERROR: u8 = 0x01;
    const FAULT: u8 = 0x20;
    let (error, status, result) = match sense.first()? & 0x7F {
        DESCRIPTORS => {
            let found = sense.get(8..22).filter(|found| found[..2] == RETURN)?;
            let lba = [found[7], found[9], found[11], found[6], found[8], found[10], 0, 0];
            let count = u16::from_be_bytes([found[4], found[5]]);
            (found[3], found[13], AtaResult { count, lba: u64::from_le_bytes(lba) })
        }
        FIXED => {
            let found = sense.get(..12)?;
            let lba = [found[9], found[10], found[11], 0, 0, 0, 0, 0];
            let count = u16::from(found[6]);
            (found[3], found[4], AtaResult { count, lba: u64::from_le_bytes(lba) })
        }
        _ => return None,
    };
    Some(match status & (ERROR | FAULT) {
        0 => Ok(result),
        _ => Err(AtaAbort { error, result }.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_that_the_kernel_has() {
        assert_eq!(size_of::<NvmeAdmin>(), 72);
        assert_eq!(size_of::<SgIo>(), 88);
    }

    /// A disk in a directory of files, `above` in one further up.
    fn disk(attributes: &[(&str, &str)], above: &str) -> (tempfile::TempDir, Node) {
        let top = tempfile::TempDir::new().unwrap();
        let directory = top.path().join("bus/disk");
        let number = crate::host::sysfs::DeviceNumber { major: 8, minor: 0 };
        for (name, value) in attributes {
            let file = directory.join("device").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, value).unwrap();
        }
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(top.path().join("bus").join(above), "").unwrap();
        (top, Node { number, name: "sda".to_owned(), directory })
    }

    #[test]
    fn only_what_the_kernel_knows_for_sure_is_asked_in_a_language() {
        let scsi: &[(&str, &str)] =
            &[("scsi_level", "7\n"), ("type", "0\n"), ("vendor", "SEAGATE \n")];
        let speaks = |attributes, above| {
            let (_top, node) = disk(attributes, above);
            (is_ata(&node), is_scsi(&node))
        };
        assert_eq!(speaks(scsi, "phy"), (false, true));
        assert_eq!(speaks(scsi, "idVendor"), (false, false), "a USB bridge");
        let ata: &[(&str, &str)] = &[("scsi_level", "6\n"), ("vendor", "ATA     \n")];
        assert!(speaks(ata, "ata1").0);
        let translated: &[(&str, &str)] = &[("scsi_level", "6\n"), ("vpd_pg89", "page")];
        assert!(speaks(translated, "idVendor").0, "a bridge that says how it translates");
        assert_eq!(speaks(&[], "virtio0"), (false, false));
        let optical: &[(&str, &str)] = &[("scsi_level", "6\n"), ("type", "5\n")];
        assert_eq!(speaks(optical, "phy"), (false, false));
    }

    #[test]
    fn fields_of_an_ata_command_are_where_sat_has_them() {
        let cdb = pass_through(AtaCommand::smart(0xD0), FROM_DRIVE, 1);
        assert_eq!(cdb, [0x85, 8, 0x0E, 0, 0xD0, 0, 1, 0, 0, 0, 0x4F, 0, 0xC2, 0x40, 0xB0, 0]);
        let cdb = pass_through(AtaCommand::log(4, 7), FROM_DRIVE, 1);
        assert_eq!(cdb, [0x85, 9, 0x0E, 0, 0, 0, 1, 0, 4, 0, 7, 0, 0, 0x40, 0x2F, 0]);
        let cdb = pass_through(AtaCommand::new(0xF1), TO_DRIVE, 1);
        assert_eq!(cdb, [0x85, 10, 0x06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0xF1, 0]);
        let sanitize = AtaCommand {
            feature: 0x12,
            count: 0x10,
            lba: 0x426B_4572,
            is_extended: true,
            ..AtaCommand::new(0xB4)
        };
        let cdb = pass_through(sanitize, NO_DATA, 0);
        let expected =
            [0x85, 7, 0x20, 0, 0x12, 0, 0x10, 0x42, 0x72, 0, 0x45, 0, 0x6B, 0x40, 0xB4, 0];
        assert_eq!(cdb, expected);
    }

    #[test]
    fn registers_are_read_from_both_kinds_of_sense_data() {
        let mut sense = [0; 22];
        sense[..8].copy_from_slice(&[0x72, 1, 0, 0x1D, 0, 0, 0, 14]);
        // extended, error, count, and the LBA with its upper and lower half by turns
        sense[8..].copy_from_slice(&[9, 12, 1, 0, 0x40, 0x02, 4, 1, 5, 2, 6, 3, 0x40, 0x50]);
        let result = registers(&sense).unwrap().unwrap();
        assert_eq!((result.count, result.lba), (0x4002, 0x0605_0403_0201));
        sense[21] = 0x51;
        sense[11] = 0x04;
        assert!(registers(&sense).unwrap().unwrap_err().to_string().contains("0x04"));
        let fixed = [0x70, 0, 1, 0, 0x50, 0x40, 0x02, 10, 0, 1, 2, 3];
        let result = registers(&fixed).unwrap().unwrap();
        assert_eq!((result.count, result.lba), (2, 0x03_0201));
        assert!(registers(&[0x70, 0, 5]).is_none() && registers(&[]).is_none());
    }
}
