//! File systems that do not answer.

use std::io::{Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
