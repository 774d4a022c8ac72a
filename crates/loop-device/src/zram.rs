//! Disks in memory whose driver takes bios and compresses what it keeps.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::thread;
use std::time::Duration;

/// A device of the kernel's `zram`; gone when dropped.
#[derive(Debug)]
pub struct Zram {
    number: u32,
    path: String,
}

impl Zram {
    /// A new one of so many bytes.
    ///
    /// # Errors
    /// Without root's rights, and where the kernel has none.
    pub fn new(length: u64) -> Result<Self> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")?;
        let number =
            number.trim().parse().map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
        let zram = Self { number, path: format!("/dev/zram{number}") };
        fs::write(format!("/sys/block/zram{number}/disksize"), length.to_string())?;
        Ok(zram)
    }

    /// Its path: `/dev/zram1`.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        for _ in 0..100 {
            // Refused while somebody looks at the device.
            if fs::write("/sys/class/zram-control/hot_remove", self.number.to_string()).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
