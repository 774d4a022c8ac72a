//! A way to a drive's own commands.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

/// What a drive speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// NVM Express; commands are about this namespace.
    Nvme {
        /// Its number, from 1.
        namespace: u32,
    },
    /// ATA, behind whatever carries it.
    Ata,
    /// SCSI, as drives with SAS speak it.
    Scsi,
}

/// What a command moves, beside itself.
#[derive(Debug)]
pub enum Data<'a> {
    /// Nothing.
    None,
    /// The drive fills it whole.
    FromDrive(&'a mut [u8]),
    /// The drive gets it.
    ToDrive(&'a [u8]),
}

/// A question is answered in moments; a drive that has not by then is left alone.
const PATIENCE: Duration = Duration::from_secs(10);

/// An NVMe admin command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvmeCommand {
    /// The opcode.
    pub opcode: u8,
    /// The namespace that it is about; zero or all ones for the controller.
    pub namespace: u32,
    /// Command dword 10.
    pub dword_10: u32,
    /// Command dword 11.
    pub dword_11: u32,
    /// So long the drive may take.
    pub patience: Duration,
}

impl NvmeCommand {
    /// A namespace number that means the controller.
    pub const ALL_NAMESPACES: u32 = u32::MAX;

    /// Identify (Base Specification 2.1, 5.1.13): 4 KiB about what `structure` (CNS) names.
    pub fn identify(structure: u8, namespace: u32) -> Self {
        Self { namespace, dword_10: u32::from(structure), ..Self::new(0x06) }
    }

    /// Get Log Page (5.1.12): `length` bytes, a multiple of four.
    pub fn log_page(page: u8, namespace: u32, length: usize) -> Self {
        let dwords = (length / 4).saturating_sub(1) as u32;
        Self {
            namespace,
            dword_10: dwords << 16 | u32::from(page),
            dword_11: dwords >> 16,
            ..Self::new(0x02)
        }
    }

    /// Get Features (5.1.11): the current value of one, which comes as the command's result.
    pub fn feature(identifier: u8) -> Self {
        Self { dword_10: u32::from(identifier), ..Self::new(0x0A) }
    }

    /// A command of this opcode that says nothing more, and is about the controller.
    pub fn new(opcode: u8) -> Self {
        Self { opcode, namespace: 0, dword_10: 0, dword_11: 0, patience: PATIENCE }
    }
}

/// An ATA command; one that moves data moves whole sectors of 512 bytes, by PIO, and its count is
/// theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtaCommand {
    /// The command.
    pub command: u8,
    /// The feature field.
    pub feature: u16,
    /// The count field of a command without data.
    pub count: u16,
    /// The LBA field.
    pub lba: u64,
    /// Whether its fields have 48 bits.
    pub is_extended: bool,
    /// So long the drive may take.
    pub patience: Duration,
}

impl AtaCommand {
    /// IDENTIFY DEVICE (ACS-4, 7.13): one sector.
    pub fn identify() -> Self {
        Self::new(0xEC)
    }

    /// One sector of SMART, the data (0xD0) for instance. The LBA is the key that the standard asks
    /// for.
    pub fn smart(subcommand: u8) -> Self {
        Self { feature: u16::from(subcommand), lba: 0xC2_4F00, ..Self::new(0xB0) }
    }

    /// READ LOG EXT (7.22): one page of a general purpose log.
    pub fn log(address: u8, page: u8) -> Self {
        let lba = u64::from(page) << 8 | u64::from(address);
        Self { lba, is_extended: true, ..Self::new(0x2F) }
    }

    /// CHECK POWER MODE (7.3): it changes no mode, wakes nothing, and restarts no timer.
    pub fn check_power_mode() -> Self {
        Self::new(0xE5)
    }

    /// A command that says nothing more.
    pub fn new(command: u8) -> Self {
        Self { command, feature: 0, count: 0, lba: 0, is_extended: false, patience: PATIENCE }
    }
}

/// What an ATA drive leaves in its registers after a command without data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AtaResult {
    /// The count field.
    pub count: u16,
    /// The LBA field.
    pub lba: u64,
}

/// A SCSI command: its descriptor block of six, ten or sixteen bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScsiCommand {
    block: [u8; 16],
    length: usize,
    /// So long the drive may take.
    pub patience: Duration,
}

impl ScsiCommand {
    /// INQUIRY (SPC-4, 6.6): what the drive is, in `length` bytes at most.
    pub fn inquiry(length: u16) -> Self {
        let [high, low] = length.to_be_bytes();
        Self::new(&[0x12, 0, 0, high, low, 0])
    }

    /// INQUIRY for a page of vital product data (SPC-4, 7.8).
    pub fn vital_page(page: u8, length: u16) -> Self {
        let [high, low] = length.to_be_bytes();
        Self::new(&[0x12, 1, page, high, low, 0])
    }

    /// READ CAPACITY (16) (SBC-4, 5.21): 32 bytes.
    pub fn read_capacity() -> Self {
        Self::new(&[0x9E, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0])
    }

    /// LOG SENSE (SPC-4, 6.8): the values that a page has counted up to now.
    pub fn log(page: u8, length: u16) -> Self {
        let [high, low] = length.to_be_bytes();
        Self::new(&[0x4D, 0, 0b0100_0000 | page, 0, 0, 0, 0, high, low, 0])
    }

    /// MODE SENSE (10) (SPC-4, 6.14): how a mode page is set now, without block descriptors.
    pub fn mode(page: u8, length: u16) -> Self {
        let [high, low] = length.to_be_bytes();
        Self::new(&[0x5A, 0b1000, page, 0, 0, 0, 0, high, low, 0])
    }

    /// The command descriptor block.
    pub fn block(&self) -> &[u8] {
        &self.block[..self.length]
    }

    fn new(bytes: &[u8]) -> Self {
        let mut block = [0; 16];
        block[..bytes.len()].copy_from_slice(bytes);
        Self { block, length: bytes.len(), patience: PATIENCE }
    }
}

/// What an ATA drive leaves in its registers when it aborts a command: what is within the error that
/// [`AdminPort::ata`] gives then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtaAbort {
    /// The error field.
    pub error: u8,
    /// The other registers.
    pub result: AtaResult,
}

impl fmt::Display for AtaAbort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the drive aborted it with error {:#04x}", self.error)
    }
}

impl Error for AtaAbort {}

impl From<AtaAbort> for io::Error {
    fn from(abort: AtaAbort) -> Self {
        Self::other(abort)
    }
}

/// Carries commands to a drive.
pub trait AdminPort {
    /// What the drive speaks.
    fn protocol(&self) -> Protocol;

    /// Sends an NVMe admin command; returns its result, dword 0.
    ///
    /// # Errors
    /// What the kernel says; `Other` with the status if the drive refused.
    fn nvme(&mut self, command: NvmeCommand, data: Data<'_>) -> io::Result<u32>;

    /// Sends an ATA command; returns the registers after one without data, and zeros after others.
    ///
    /// # Errors
    /// What the kernel says; `Other` if the drive, or what is before it, refused, with an [`AtaAbort`]
    /// where the registers show one.
    fn ata(&mut self, command: AtaCommand, data: Data<'_>) -> io::Result<AtaResult>;

    /// Sends a SCSI command. An answer may be shorter than the place for it, whose rest is left as
    /// it is.
    ///
    /// # Errors
    /// What the kernel says; `Other` if the drive refused; `Unsupported` by a port to drives that do
    /// not speak SCSI.
    fn scsi(&mut self, command: ScsiCommand, data: Data<'_>) -> io::Result<()> {
        let _ = (command, data);
        Err(io::ErrorKind::Unsupported.into())
    }
}
