//! The data of a drive: a sparse file, in memory or on a disk. What was never written, what holds only
//! zeros and what was given back takes no room.
//!
//! A file has the drive's bytes at their places, so that other programs can read it, and behind them one
//! block that says whose they are: no file without it is ever written to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom, fallocate, memfd_create, seek};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo};
use writecliff_output::check_file;

use crate::error::ExportError;
use crate::wire::reply::is_zero;

/// The block behind the data.
const LABEL_SIZE: usize = 4096;
/// What a file of this kind calls itself.
const KIND: &str = "store of writecliff export, version 1";

/// Where the data of a drive are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAt {
    /// In memory, and nowhere when the export has ended.
    Memory,
    /// In a file of this path, or in one for each drive if it is a directory.
    File(PathBuf),
}

/// The data of one drive.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    capacity: u64,
}

/// Whose data a file has.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Label {
    kind: String,
    drive: String,
    capacity: u64,
    /// Of the drive's profile.
    sha256: String,
}

impl Store {
    /// Nothing but zeros, in memory.
    pub(crate) fn in_memory(capacity: Bytes) -> Result<Self, ExportError> {
        let failed = |source: Errno| ExportError::Store {
            place: "memory".to_owned(),
            capacity,
            doing: "asking the system for memory",
            source: source.into(),
        };
        let file = File::from(memfd_create("writecliff", MemfdFlags::CLOEXEC).map_err(failed)?);
        rustix::fs::ftruncate(&file, capacity.0).map_err(failed)?;
        Ok(Self { file, capacity: capacity.0 })
    }

    /// What `path` holds, or nothing but zeros in a new file there.
    pub(crate) fn at(path: &Path, drive: &DeviceInfo) -> Result<Self, ExportError> {
        let capacity = drive.capacity;
        let failed = |doing| {
            move |source| {
                let place = path.display().to_string();
                ExportError::Store { place, capacity, doing, source }
            }
        };
        // Opening a device for writing is noticed by others, even where nothing is written.
        check_file(path)?;
        let label = Label::of(drive);
        let mut options = OpenOptions::new();
        let mut is_new = false;
        let file = match options.read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                is_new = true;
                options.create_new(true).open(path).map_err(failed("making the file"))?
            }
            opened => opened.map_err(failed("opening the file"))?,
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(ExportError::StoreInUse { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(failed("locking the file")(source)),
            Ok(()) => {}
        }
        let store = Self { file, capacity: capacity.0 };
        match is_new {
            true => store.begin(&label).map_err(failed("writing the file"))?,
            false => store.is_of(&label, path)?,
        }
        Ok(store)
    }

    /// Writes whose data are to come.
    fn begin(&self, label: &Label) -> io::Result<()> {
        let mut block = serde_json::to_vec(label)?;
        block.resize(LABEL_SIZE, 0);
        self.file.write_all_at(&block, self.capacity)
    }

    /// Refuses a file with anything else in it.
    fn is_of(&self, label: &Label, path: &Path) -> Result<(), ExportError> {
        let none =
            |found: &str| ExportError::NoStore { path: path.to_owned(), found: found.to_owned() };
        let metadata = self.file.metadata().map_err(|error| none(&error.to_string()))?;
        if !metadata.is_file() {
            return Err(none("it is no regular file"));
        }
        let Some(place) = metadata.len().checked_sub(LABEL_SIZE as u64) else {
            return Err(none("it is too short"));
        };
        let mut block = vec![0; LABEL_SIZE];
        self.file.read_exact_at(&mut block, place).map_err(|error| none(&error.to_string()))?;
        let end = block.iter().position(|byte| *byte == 0).unwrap_or(LABEL_SIZE);
        let found: Label = serde_json::from_slice(&block[..end])
            .map_err(|_| none("its last block does not say whose data it has"))?;
        if found.kind != KIND {
            return Err(none("its last block says that it is something else"));
        }
        if found == *label && place == self.capacity {
            return Ok(());
        }
        let mut found_drive = writecliff_device::printable(&found.drive);
        if found.drive == label.drive {
            found_drive += " with another profile or of another size";
        }
        Err(ExportError::OtherDrive {
            path: path.to_owned(),
            found: found_drive,
            drive: label.drive.clone(),
        })
    }

    /// Reads what is at `offset`; zeros where nothing was written.
    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(to, offset)
    }

    /// Writes at `offset`. Zeros take no room.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if is_zero(data) {
            return self.discard(offset, data.len() as u64);
        }
        self.file.write_all_at(data, offset)
    }

    /// Has a range read as zeros, and gives its room back.
    pub(crate) fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, flags, offset, length) {
            Err(Errno::OPNOTSUPP) => self.write_zeros(offset, length),
            done => Ok(done?),
        }
    }

    /// For file systems without holes.
    fn write_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        const PIECE: u64 = 1 << 20;
        let zeros = vec![0; length.min(PIECE) as usize];
        let mut at = offset;
        while at < offset + length {
            let piece = (offset + length - at).min(PIECE);
            self.file.write_all_at(&zeros[..piece as usize], at)?;
            at += piece;
        }
        Ok(())
    }

    /// The next stretch at or behind `offset` that may hold other than zeros: its first byte and the one
    /// behind its last; `None` if there is none.
    pub(crate) fn next_data(&self, offset: u64) -> io::Result<Option<(u64, u64)>> {
        let begin = match seek(&self.file, SeekFrom::Data(offset)) {
            Ok(begin) => begin,
            Err(Errno::NXIO) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if begin >= self.capacity {
            return Ok(None);
        }
        let end = seek(&self.file, SeekFrom::Hole(begin))?;
        Ok(Some((begin, end.min(self.capacity))))
    }

    /// What it takes.
    pub(crate) fn used(&self) -> Bytes {
        Bytes(self.file.metadata().map_or(0, |metadata| metadata.blocks() * 512))
    }

    /// Brings everything to the disk, if it is on one, and leaves the file to whoever wants it next.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.file.sync_all()?;
        self.file.unlock()
    }
}

impl Label {
    fn of(drive: &DeviceInfo) -> Self {
        Self {
            kind: KIND.to_owned(),
            drive: drive.address.clone(),
            capacity: drive.capacity.0,
            sha256: drive.profile.as_ref().map_or_else(String::new, |p| p.sha256.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(name: &str) -> DeviceInfo {
        writecliff::DriveName::from(name).look().unwrap()
    }

    #[test]
    fn memory_keeps_what_was_written_and_takes_no_more() {
        let store = Store::in_memory(Bytes::from_gib(1000)).unwrap();
        store.write(700 << 30, &[7; 8192]).unwrap();
        store.write(0, &[0; 8192]).unwrap();
        assert_eq!(store.used(), Bytes(8192));
        let mut read = [1; 8192];
        store.read((700 << 30) + 4096, &mut read).unwrap();
        assert_eq!((read[4095], read[4096]), (7, 0));
        assert_eq!(store.next_data(0).unwrap(), Some((700 << 30, (700 << 30) + 8192)));
        store.discard(700 << 30, 8192).unwrap();
        assert_eq!((store.used(), store.next_data(0).unwrap()), (Bytes(0), None));
    }

    #[test]
    fn a_file_has_its_data_when_it_is_opened_again_and_is_used_once_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tiny.store");
        let tiny = drive("sim:tiny");
        let store = Store::at(&path, &tiny).unwrap();
        store.write(4096, &[7; 4096]).unwrap();
        let again = Store::at(&path, &tiny).unwrap_err();
        assert!(matches!(again, ExportError::StoreInUse { .. }), "{again}");
        drop(store);
        let store = Store::at(&path, &tiny).unwrap();
        let mut read = [0; 4096];
        store.read(4096, &mut read).unwrap();
        assert_eq!(read, [7; 4096]);
        assert_eq!(store.next_data(0).unwrap(), Some((4096, 8192)), "the label is no data");
        drop(store);
        let other = Store::at(&path, &drive("sim:tiny@1/4")).unwrap_err();
        assert!(matches!(other, ExportError::OtherDrive { .. }), "{other}");
    }

    #[test]
    fn what_is_no_store_is_never_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("disk.img");
        for content in [b"short".to_vec(), vec![0; 10_000], vec![b'{'; 10_000]] {
            std::fs::write(&path, &content).unwrap();
            let refused = Store::at(&path, &drive("sim:tiny")).unwrap_err();
            assert!(matches!(refused, ExportError::NoStore { .. }), "{refused}");
            assert_eq!(std::fs::read(&path).unwrap(), content);
        }
    }
}
