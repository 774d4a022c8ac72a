//! Room on the disk for what a trace still needs, so that a disk that fills up ends the trace in
//! order: Parquet without its end cannot be read.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::ROWS_PER_GROUP;

/// The longest row: nine columns of at most 8 bytes, and as many for what is around the values.
const ROW_BYTES_MAX: u64 = 80;
/// A group's place in the file's end: nine columns of some 200 bytes.
const GROUP_END_BYTES: u64 = 4 << 10;
/// The metadata without the names of streams.
const END_BYTES: u64 = 256 << 10;
/// Room for names grows in steps of this.
const NAMES_STEP: u64 = 64 << 10;

/// Keeps room behind what is written.
#[derive(Debug)]
pub(super) struct Room {
    file: File,
    /// What is kept for the names of streams.
    names: u64,
}

impl Room {
    pub(super) fn behind(file: &File) -> io::Result<Self> {
        Ok(Self { file: file.try_clone()?, names: 0 })
    }

    /// Sees to it that so many bytes of names will be reserved, too; `false` if they are already.
    pub(super) fn expect_names(&mut self, bytes: u64) -> bool {
        let is_more = bytes > self.names;
        if is_more {
            self.names = bytes.next_multiple_of(NAMES_STEP);
        }
        is_more
    }

    /// What must fit behind `groups` groups.
    pub(super) fn needed(&self, groups: u64) -> u64 {
        let group = ROWS_PER_GROUP as u64 * ROW_BYTES_MAX;
        group + self.names + END_BYTES + (groups + 1) * GROUP_END_BYTES
    }

    /// Sees to it that another group and the file's end will fit behind `written` bytes with
    /// `groups` groups in them. A filesystem that cannot reserve does not.
    ///
    /// # Errors
    /// What the system says, most likely that the disk is full; what was reserved before stays.
    pub(super) fn reserve(&self, written: u64, groups: u64) -> io::Result<()> {
        let needed = self.needed(groups);
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, written, needed) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives back what was not needed of a file that is written.
    pub(super) fn release(&self) -> io::Result<()> {
        self.file.set_len(self.file.metadata()?.len())
    }
}
