//! Software encryption of a real drive: a dm-crypt mapping over it, for as long as a test asks.
//!
//! The mapping wants the drive for itself, so that our own claim goes to it and comes back. In
//! between somebody could come in: the locks are held throughout, the [`Sentry`] watches on, and all
//! are asked for once more after each change.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use writecliff_device::{Bytes, Encryption, split_mix};

use crate::drive::mapping::{Line, Mapping, await_node, missing, patiently};
use crate::guard::holders::Sought;
use crate::guard::refusal::Refusal;
use crate::guard::sentry::Sentry;
use crate::host::descriptor::path_of_descriptor;
use crate::host::sysfs::{DeviceNumber, Host};
use crate::host::{ioctl, lock};

/// A mapping over a drive, while it is there. Fields are dropped in this order.
#[derive(Debug)]
pub(crate) struct Encrypted {
    sentry: Sentry,
    mapping: Mapping,
    /// The drive, without a claim: the mapping has that. It holds the locks.
    drive: File,
    pub(crate) passes_trims: bool,
}

impl Encrypted {
    /// Why there can be none here; `None` if there can.
    pub(crate) fn missing(host: &Host) -> Option<String> {
        missing(host, "crypt")
    }

    /// Maps a drive that is open without a claim, and that nobody else claims any more; gives the
    /// mapping, opened exclusively.
    ///
    /// # Errors
    /// What the kernel says; the drive is given back as it was.
    pub(crate) fn over(
        host: &Host,
        drive: File,
        with: &Encryption,
    ) -> Result<(Self, File), (io::Error, File)> {
        match map(host, &drive, with) {
            Ok((mapping, file, sentry)) => {
                Ok((Self { sentry, mapping, drive, passes_trims: with.passes_trims }, file))
            }
            Err(error) => Err((error, drive)),
        }
    }

    /// The drive below.
    pub(crate) fn drive(&self) -> &File {
        &self.drive
    }

    /// Takes the mapping away, which nobody may have open, and gives the drive.
    pub(crate) fn removed(self) -> File {
        let Self { sentry, mapping, drive, .. } = self;
        drop((sentry, mapping));
        drive
    }

    /// Who has the mapping open for writing, beside this process.
    pub(crate) fn intruders(&self) -> Vec<Refusal> {
        self.sentry.intruders()
    }
}

fn map(host: &Host, drive: &File, with: &Encryption) -> io::Result<(Mapping, File, Sentry)> {
    let below = DeviceNumber::from_raw(drive.metadata()?.rdev());
    let Bytes(size) = ioctl::size(drive)?;
    let trims = if with.passes_trims { " 1 allow_discards" } else { "" };
    let parameters = format!("aes-xts-plain64 {} 0 {below} 0{trims}", key(with.seed));
    let line = Line { sectors: size / 512, kind: "crypt", parameters: &parameters };
    let mapping = Mapping::over(host, below, &line)?;
    let node = await_node(host, mapping.number)?;
    let file = patiently(|| open(&node, OFlags::EXCL))?;
    mapping.leave_to_the_kernel()?;
    let sought = Sought { devices: vec![mapping.number], ..Sought::default() };
    let sentry = Sentry::post(host, &[node], sought, None, Vec::new());
    Ok((mapping, file, sentry))
}

/// 512 bits in hexadecimal digits, for AES-256 in XTS mode. They are in the kernel's memory, and never
/// on a disk.
fn key(seed: u64) -> String {
    (0..8).fold(String::new(), |mut key, word| {
        let _ = write!(key, "{:016x}", split_mix(split_mix(seed).wrapping_add(word)));
        key
    })
}

/// The same device by another descriptor, without a claim.
pub(crate) fn without_claim(drive: &File) -> io::Result<File> {
    open(&path_of_descriptor(drive), OFlags::empty())
}

/// The same device by another descriptor, which claims it.
pub(crate) fn with_claim(drive: &File) -> io::Result<File> {
    patiently(|| open(&path_of_descriptor(drive), OFlags::EXCL))
}

/// Takes the locks that a descriptor just closed has given back, or is about to.
pub(crate) fn lock_patiently(drive: &File) -> io::Result<()> {
    patiently(|| match lock::take(drive)? {
        lock::Lock::Taken => Ok(()),
        lock::Lock::Refused => Err(Errno::BUSY.into()),
    })
}

fn open(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC | more;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_512_bits_and_follows_the_seed() {
        assert_eq!(key(1).len(), 128);
        assert!(key(1).chars().all(|digit| digit.is_ascii_hexdigit()));
        assert_eq!(key(1), key(1));
        assert_ne!(key(1), key(2));
    }
}
