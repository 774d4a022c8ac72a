//! Block devices for tests and benchmarks, which take root: loop devices over files, by `losetup`,
//! [`Zram`] in memory, and [`Freezable`] for those that hang.

mod frozen;
mod zram;

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

pub use frozen::{Freezable, Frozen};
pub use zram::Zram;

/// A block device over a file; detached when dropped.
#[derive(Debug)]
pub struct LoopDevice {
    path: String,
    backing: PathBuf,
    /// Gone with the device, if it was made for it.
    file: Option<NamedTempFile>,
}

impl LoopDevice {
    /// Over a new file of so many bytes in memory, with direct I/O.
    ///
    /// # Errors
    /// Without /dev/shm, and as [`Self::over`].
    pub fn in_memory(length: u64) -> Result<Self> {
        let file = NamedTempFile::with_prefix_in("writecliff-", "/dev/shm")?;
        file.as_file().set_len(length)?;
        let mut device = Self::over(file.path(), &["--direct-io=on"])?;
        device.file = Some(file);
        Ok(device)
    }

    /// Over a file or device that is there, with more of losetup's options.
    ///
    /// # Errors
    /// What losetup says: without root's rights, without loop devices, or where none is free.
    pub fn over(backing: &Path, options: &[&str]) -> Result<Self> {
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show"]).args(options).arg(backing).stdin(Stdio::null());
        let output = losetup.output()?;
        if !output.status.success() {
            return Err(Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Self { path, backing: backing.canonicalize()?, file: None })
    }

    /// Its path: `/dev/loop7`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The file or device below it.
    pub fn backing(&self) -> &Path {
        &self.backing
    }

    /// Detaches it from what is below, if its number is still its own: somebody may have detached it, and
    /// somebody else have the number by now.
    pub fn detach(&self) {
        let name = self.path.trim_start_matches("/dev/");
        let below = std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        // What was deleted is called so behind its name.
        let is_ours =
            |below: String| Path::new(below.trim().trim_end_matches(" (deleted)")) == self.backing;
        if below.is_ok_and(is_ours) {
            let _ = Command::new("losetup").args(["--detach", &self.path]).status();
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.detach();
    }
}
