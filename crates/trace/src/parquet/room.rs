//! Room on the disk for what a trace still needs, so that a disk that fills up ends the trace in
//! order: Parquet without its end cannot be read.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::write::ROWS_PER_GROUP;

/// The longest row: nine columns of at most 8 bytes, and as many for what is around the values.
const ROW_BYTES_MAX: u64 = 80;
/// A group's place in the file's end: nine columns of some 200 bytes.
const GROUP_END_BYTES: u64 = 4 << 10;
/// The metadata, and the names of streams in them.
const END_BYTES: u64 = 256 << 10;

/// Keeps room behind what is written.
#[derive(Debug)]
pub(super) struct Room {
    file: File,
}

impl Room {
    pub(super) fn behind(file: &File) -> io::Result<Self> {
        Ok(Self { file: file.try_clone()? })
    }

    /// Sees to it that another group and the file's end will fit behind `written` bytes with
    /// `groups` groups in them. A filesystem that cannot reserve does not.
    ///
    /// # Errors
    /// What the system says, most likely that the disk is full; what was reserved before stays.
    pub(super) fn reserve(&self, written: u64, groups: u64) -> io::Result<()> {
        let group = ROWS_PER_GROUP as u64 * ROW_BYTES_MAX;
        let end = END_BYTES + (groups + 1) * GROUP_END_BYTES;
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, written, group + end) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives back what was not needed of a file that is written.
    pub(super) fn release(&self) -> io::Result<()> {
        self.file.set_len(self.file.metadata()?.len())
    }
}
