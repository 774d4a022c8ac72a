//! What is asked of a device and what it answers.

use serde::{Deserialize, Serialize};

use crate::{Bytes, DeviceTime, Nanos};

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
    /// A read of `length` bytes at `offset`.
    pub const fn read(offset: Bytes, length: Bytes) -> Self {
        Self { operation: Operation::Read, offset, length }
    }

    /// A write of `length` bytes at `offset`.
    pub const fn write(offset: Bytes, length: Bytes) -> Self {
        Self { operation: Operation::Write, offset, length }
    }

    /// A trim of `length` bytes at `offset`.
    pub const fn trim(offset: Bytes, length: Bytes) -> Self {
        Self { operation: Operation::Trim, offset, length }
    }

    /// A flush of everything acknowledged so far.
    pub const fn flush() -> Self {
        Self { operation: Operation::Flush, offset: Bytes::ZERO, length: Bytes::ZERO }
    }
}

impl Completion {
    /// Submit to complete.
    pub fn service_time(&self) -> Nanos {
        self.completed - self.submitted
    }
}
