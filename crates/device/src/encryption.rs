//! Encryption by software, between a host and a drive.

use crate::{DeviceError, DeviceInfo, DeviceKind, Throughput};

/// AES-256 in XTS mode on every sector, as dm-crypt has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encryption {
    /// Whether trims reach the drive; else they are done at once, and it never hears of them.
    pub passes_trims: bool,
    /// What a processor encrypts or decrypts, where the host is a model as well; a real host takes
    /// the time that it takes.
    pub cipher: Throughput,
    /// Decides the key. It protects nothing.
    pub seed: u64,
}

impl DeviceInfo {
    /// Why a device that is no drive of its own cannot be encrypted.
    pub fn no_encryption(&self) -> DeviceError {
        let why = match self.kind {
            DeviceKind::File => {
                "it is a file, and dm-crypt maps block devices (a loop device is one)"
            }
            DeviceKind::Null => "it is no drive",
            DeviceKind::Simulated | DeviceKind::BlockDevice => "nothing here can do that",
        };
        DeviceError::NoEncryption { address: self.address.clone(), why: why.to_owned() }
    }
}
