//! What is asked of a device and what it answers.

use serde::{Deserialize, Serialize};

use crate::{Bytes, DeviceTime, Nanos, Pass};

/// The four things a host asks of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Operation {
    /// Transfer data from the device.
    Read = 0,
    /// Transfer data to the device.
    Write = 1,
    /// Tell the device that a range's data is no longer needed.
    Trim = 2,
    /// Make everything acknowledged so far durable.
    Flush = 3,
}

/// One request: an operation on a byte range. A flush has an empty range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// What to do.
    pub operation: Operation,
    /// Where the range starts; a multiple of the device's LBA size.
    pub offset: Bytes,
    /// How long the range is; a multiple of the device's LBA size.
    pub length: Bytes,
    /// What the data of a write are like; incompressible for all that is not a write.
    pub content: Content,
    /// When a write is complete; of no meaning to all that is not a write.
    pub durability: Durability,
    /// The pass that the blocks of a write are stamped with, whatever its content class; a read that
    /// has one looks at what its blocks hold. Only of devices that [stamp](crate::Device::stamp).
    pub stamp: Option<Pass>,
    /// The series that it is recorded in, by its number among those of its load: comes back with
    /// the completion, and is nothing to the device.
    pub series: u8,
    /// The place in which its supply keeps what it must know when the I/O completes: comes back
    /// with the completion, and is nothing to the device.
    pub slot: u16,
}

/// When a write is complete: as soon as the drive has it, or when its data would survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// The drive has taken it; it is durable at some later time, or after a flush.
    #[default]
    Later,
    /// Its own data are durable: *forced unit access*, FUA, as `O_DSYNC` asks for.
    Forced,
    /// It has been flushed, with all that was written before it: what a database that writes and then
    /// calls `fdatasync` waits for.
    Flushed,
}

impl Durability {
    /// Whether it is complete without being durable.
    pub fn is_later(&self) -> bool {
        *self == Self::Later
    }
}

/// The content class of written data: what a drive that compresses or deduplicates can save.
///
/// A real device gets data made to this measure, a simulated one the two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    /// The share of every 4 KiB block that a compressor can remove: 0 to 100 %.
    pub compressible_percent: u8,
    /// The share of 4 KiB blocks that repeat an earlier one: 0 to 100 %.
    pub duplicate_percent: u8,
}

/// How an I/O ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// As asked.
    Done,
    /// The device failed this I/O but can go on: a media error. Holds the system's error number.
    Failed(i32),
}

/// The end of one I/O, with the two readings of the device's clock that its service time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The I/O as it was submitted.
    pub io: Io,
    /// When the device was handed the I/O.
    pub submitted: DeviceTime,
    /// When the device had finished it.
    pub completed: DeviceTime,
    /// Whether it worked.
    pub status: Status,
}

impl Io {
    /// An operation on `length` bytes at `offset`; a write is incompressible and without
    /// duplicates.
    pub const fn new(operation: Operation, offset: Bytes, length: Bytes) -> Self {
        let content = Content::INCOMPRESSIBLE;
        Self {
            operation,
            offset,
            length,
            content,
            durability: Durability::Later,
            stamp: None,
            series: 0,
            slot: 0,
        }
    }

    /// A read of `length` bytes at `offset`.
    pub const fn read(offset: Bytes, length: Bytes) -> Self {
        Self::new(Operation::Read, offset, length)
    }

    /// A write of `length` bytes at `offset`, incompressible and without duplicates.
    pub const fn write(offset: Bytes, length: Bytes) -> Self {
        Self::new(Operation::Write, offset, length)
    }

    /// A trim of `length` bytes at `offset`.
    pub const fn trim(offset: Bytes, length: Bytes) -> Self {
        Self::new(Operation::Trim, offset, length)
    }

    /// A flush of everything acknowledged so far.
    pub const fn flush() -> Self {
        Self { operation: Operation::Flush, ..Self::read(Bytes::ZERO, Bytes::ZERO) }
    }

    /// The same I/O, complete when this says if it is a write; otherwise unchanged.
    #[must_use]
    pub const fn with_durability(self, durability: Durability) -> Self {
        match self.operation {
            Operation::Write => Self { durability, ..self },
            Operation::Read | Operation::Trim | Operation::Flush => self,
        }
    }

    /// The same I/O, whose blocks are stamped with this pass if it is a write, and looked at if it is
    /// a read.
    #[must_use]
    pub const fn with_stamp(self, pass: Pass) -> Self {
        Self { stamp: Some(pass), ..self }
    }

    /// The same I/O with data of this class if it is a write; otherwise unchanged.
    ///
    /// # Panics
    /// If a share is above 100 %.
    #[must_use]
    pub const fn with_content(self, content: Content) -> Self {
        let Content { compressible_percent, duplicate_percent } = content;
        let shares = compressible_percent <= 100 && duplicate_percent <= 100;
        assert!(shares, "a content class has a share above 100 %");
        match self.operation {
            Operation::Write => Self { content, ..self },
            Operation::Read | Operation::Trim | Operation::Flush => self,
        }
    }
}

impl Content {
    /// Random data without duplicates: nothing to save.
    pub const INCOMPRESSIBLE: Self = Self { compressible_percent: 0, duplicate_percent: 0 };
}

impl Completion {
    /// Submit to complete.
    pub fn service_time(&self) -> Nanos {
        self.completed - self.submitted
    }

    /// The system's error number, if the device failed the I/O.
    pub fn errno(&self) -> Option<i32> {
        match self.status {
            Status::Done => None,
            Status::Failed(errno) => Some(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: Content = Content { compressible_percent: 40, duplicate_percent: 60 };

    /// Every I/O in flight is kept, and copied, several times.
    #[test]
    fn an_io_is_small() {
        assert!(size_of::<Io>() <= 32);
    }

    #[test]
    fn only_writes_have_a_content_class() {
        let size = Bytes(4096);
        let write = Io::write(size, size);
        assert_eq!(write.content, Content::INCOMPRESSIBLE);
        assert_eq!(Content::default(), Content::INCOMPRESSIBLE);
        assert_eq!(write.with_content(MIXED), Io { content: MIXED, ..write });
        for io in [Io::read(size, size), Io::trim(size, size), Io::flush()] {
            assert_eq!(io.with_content(MIXED), io);
        }
    }

    #[test]
    #[should_panic(expected = "a share above 100 %")]
    fn a_share_above_all_is_a_bug() {
        let too_much = Content { duplicate_percent: 101, ..MIXED };
        let _ = Io::write(Bytes::ZERO, Bytes(4096)).with_content(too_much);
    }
}
