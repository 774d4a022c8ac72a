//! A way to a drive's own commands.

use std::io;

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
}

/// An NVMe admin command that reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvmeCommand {
    /// The opcode: [`Self::IDENTIFY`], [`Self::GET_LOG_PAGE`] or [`Self::GET_FEATURES`].
    pub opcode: u8,
    /// The namespace that it is about; zero or all ones for the controller.
    pub namespace: u32,
    /// Command dword 10.
    pub dword_10: u32,
    /// Command dword 11.
    pub dword_11: u32,
}

impl NvmeCommand {
    /// Base Specification 2.1, 5.1.12.
    pub const GET_LOG_PAGE: u8 = 0x02;
    /// 5.1.13.
    pub const IDENTIFY: u8 = 0x06;
    /// 5.1.11.
    pub const GET_FEATURES: u8 = 0x0A;
    /// A namespace number that means the controller.
    pub const ALL_NAMESPACES: u32 = u32::MAX;

    /// Identify: 4 KiB about what `structure` (CNS) names.
    pub fn identify(structure: u8, namespace: u32) -> Self {
        let opcode = Self::IDENTIFY;
        Self { opcode, namespace, dword_10: u32::from(structure), dword_11: 0 }
    }

    /// A log page of `length` bytes, a multiple of four.
    pub fn log_page(page: u8, namespace: u32, length: usize) -> Self {
        let dwords = (length / 4).saturating_sub(1) as u32;
        Self {
            opcode: Self::GET_LOG_PAGE,
            namespace,
            dword_10: dwords << 16 | u32::from(page),
            dword_11: dwords >> 16,
        }
    }

    /// The current value of a feature, which comes as the command's result.
    pub fn feature(identifier: u8) -> Self {
        let opcode = Self::GET_FEATURES;
        Self { opcode, namespace: 0, dword_10: u32::from(identifier), dword_11: 0 }
    }
}

/// An ATA command that reads whole sectors of 512 bytes, by PIO.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtaCommand {
    /// The command: [`Self::IDENTIFY_DEVICE`], [`Self::SMART`] or [`Self::READ_LOG`].
    pub command: u8,
    /// The feature field.
    pub feature: u16,
    /// The LBA field.
    pub lba: u64,
}

impl AtaCommand {
    /// ACS-4, 7.13.
    pub const IDENTIFY_DEVICE: u8 = 0xEC;
    /// 7.46 (of ACS-3: 7.48).
    pub const SMART: u8 = 0xB0;
    /// READ LOG EXT: 7.22.
    pub const READ_LOG: u8 = 0x2F;

    /// Identify device: one sector.
    pub fn identify() -> Self {
        Self { command: Self::IDENTIFY_DEVICE, feature: 0, lba: 0 }
    }

    /// One sector of SMART, the data (0xD0) for instance. The LBA is the key that the standard asks
    /// for.
    pub fn smart(subcommand: u8) -> Self {
        Self { command: Self::SMART, feature: u16::from(subcommand), lba: 0xC2_4F00 }
    }

    /// One page of a general purpose log.
    pub fn log(address: u8, page: u8) -> Self {
        let lba = u64::from(page) << 8 | u64::from(address);
        Self { command: Self::READ_LOG, feature: 0, lba }
    }

    /// Whether it has fields of 48 bits.
    pub fn is_extended(&self) -> bool {
        self.command == Self::READ_LOG
    }
}

/// Carries commands that read to a drive.
pub trait AdminPort {
    /// What the drive speaks.
    fn protocol(&self) -> Protocol;

    /// Sends an NVMe admin command, which fills `data`; returns its result, dword 0.
    ///
    /// # Errors
    /// What the kernel says; `Other` with the status if the drive refused.
    fn nvme(&mut self, command: NvmeCommand, data: &mut [u8]) -> io::Result<u32>;

    /// Sends an ATA command, which fills `data`, whole sectors.
    ///
    /// # Errors
    /// What the kernel says; `Other` if the drive, or what is before it, refused.
    fn ata(&mut self, command: AtaCommand, data: &mut [u8]) -> io::Result<()>;
}
