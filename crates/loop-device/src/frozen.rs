//! File systems that do not answer, and drives on them.

use std::io::{Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use tempfile::TempDir;

use crate::LoopDevice;

/// Waits for the end of its input, which comes with the end of whoever gave it, and thaws.
const THAW: &str = "trap '' HUP INT TERM; cat > /dev/null; exec fsfreeze --unfreeze \"$0\"";

/// A frozen file system: what is written to it does not come back, nor what is asked of drives over its files.
///
/// It is thawed when this is dropped, and when the process ends in whatever way: whoever looks at such a
/// drive hangs, and a test that was killed would leave a machine on which everybody does.
#[derive(Debug)]
pub struct Frozen {
    thaws: Child,
}

impl Frozen {
    /// Freezes the file system that is mounted there.
    ///
    /// # Errors
    /// Without root's rights, without `fsfreeze`, or of a file system that cannot be frozen.
    pub fn at(mount: &Path) -> Result<Self> {
        let mut thaws = Command::new("sh");
        let thaws = thaws.args(["-c", THAW]).arg(mount).stdin(Stdio::piped()).spawn()?;
        let frozen = Self { thaws };
        let status = Command::new("fsfreeze").arg("--freeze").arg(mount).status()?;
        match status.success() {
            true => Ok(frozen),
            false => Err(Error::other(format!("fsfreeze ends with {status}"))),
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        drop(self.thaws.stdin.take());
        let _ = self.thaws.wait();
    }
}

/// A loop device on a file of a file system that can be frozen: what is asked of it then does not come back
/// before it is thawed.
#[derive(Debug)]
pub struct Freezable {
    drive: LoopDevice,
    mount: TempDir,
    _below: LoopDevice,
}

impl Freezable {
    /// 64 MiB, all written, so that a load allocates nothing.
    ///
    /// # Errors
    /// Without root's rights, loop devices, `mkfs.ext4` or `fsfreeze`.
    pub fn new() -> Result<Self> {
        succeeds(Command::new("fsfreeze").arg("--version"))?;
        let below = LoopDevice::in_memory(256 << 20)?;
        succeeds(Command::new("mkfs.ext4").args(["-q", below.path()]))?;
        let mount = TempDir::new()?;
        succeeds(Command::new("mount").arg(below.path()).arg(mount.path()))?;
        let backing = mount.path().join("backing");
        fs::write(&backing, vec![0x5a; 64 << 20])?;
        let drive = LoopDevice::over(&backing, &["--direct-io=on"])?;
        Ok(Self { drive, mount, _below: below })
    }

    /// Its path: `/dev/loop7`.
    pub fn path(&self) -> &Path {
        Path::new(self.drive.path())
    }

    /// Where the file system is mounted that holds its file.
    pub fn mount(&self) -> &Path {
        self.mount.path()
    }

    /// Has it hang, until the value is dropped.
    ///
    /// # Errors
    /// As [`Frozen::at`].
    pub fn freeze(&self) -> Result<Frozen> {
        Frozen::at(self.mount())
    }
}

impl Drop for Freezable {
    fn drop(&mut self) {
        // What hung goes on now, and a process that was killed meanwhile takes a moment to end.
        for _ in 0..100 {
            self.drive.detach();
            if succeeds(Command::new("umount").arg(self.mount())).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let _ = succeeds(Command::new("umount").arg("--lazy").arg(self.mount()));
    }
}

fn succeeds(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}
