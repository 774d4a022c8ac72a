//! A block device to test on, of a file in memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A loop device over a file in memory, where that can be had; gone with its file when dropped.
pub(crate) struct Loop {
    /// Its path.
    pub(crate) device: String,
    /// What it stands on.
    file: PathBuf,
}

impl Loop {
    /// `None` without root's rights, without loop devices, or without /dev/shm.
    pub(crate) fn of(length: u64) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("writecliff-{}-{count}.img", std::process::id());
        let file = Path::new("/dev/shm").join(name);
        std::fs::File::create(&file).and_then(|made| made.set_len(length)).ok()?;
        let arguments = ["--find", "--show", "--direct-io=on"];
        let output = Command::new("losetup").args(arguments).arg(&file).output().ok()?;
        let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() {
            let _ = std::fs::remove_file(&file);
            return None;
        }
        Some(Self { device, file })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // A test may have detached it, and somebody else have its number by now.
        let name = self.device.trim_start_matches("/dev/");
        let backing = std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        if backing.is_ok_and(|backing| Path::new(backing.trim()) == self.file) {
            let _ = Command::new("losetup").args(["--detach", &self.device]).status();
        }
        let _ = std::fs::remove_file(&self.file);
    }
}
