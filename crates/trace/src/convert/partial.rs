//! A file that is whole or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Goes by its name with `.partial` behind it until it is finished, and away if it never is.
pub(super) struct PartialFile {
    path: PathBuf,
    partial: PathBuf,
    writer: BufWriter<File>,
    is_finished: bool,
}

impl PartialFile {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let writer = BufWriter::with_capacity(1 << 16, File::create(&partial)?);
        Ok(Self { path: path.to_owned(), partial, writer, is_finished: false })
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        fs::rename(&self.partial, &self.path)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_file(&self.partial);
        }
    }
}
