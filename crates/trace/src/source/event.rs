//! What the kernel's block layer tells of a request: the same in every format of its traces.

use std::fmt;

use writecliff_device::{Bytes, Operation};

use super::fields::{Expected, Fields};
use super::order::Timed;
use crate::io::TRANSFER_MAX;

/// The kernel's sectors, whatever the device's are.
pub(super) const SECTOR: u64 = 512;

/// What a longer read or write should have been.
pub(super) const OVERSIZED: Expected = "a read or write of at most 4 GiB";

/// Something that happened to a request, or to a bio where the driver takes those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// By the trace's clock.
    pub(super) time_ns: u64,
    pub(super) what: What,
    pub(super) operation: Operation,
    pub(super) device: DeviceNumber,
    pub(super) stream: u16,
    /// Zero for a flush.
    pub(super) sector: u64,
    /// Zero for a flush.
    pub(super) sectors: u32,
    /// Whether a completion tells an error.
    pub(super) is_failed: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A bio was given to the device: issued, if its driver takes no requests.
    Queued,
    /// A request was given to the driver.
    Issued,
    /// The driver gave it back undone, to be issued again.
    Requeued,
    /// A request was done.
    Completed,
    /// A bio was done.
    BioCompleted,
    /// Either was done: blktrace writes the same for both.
    AnyCompleted,
}

impl What {
    pub(super) fn is_completion(self) -> bool {
        matches!(self, Self::Completed | Self::BioCompleted | Self::AnyCompleted)
    }

    /// The action's letter in the text of blkparse.
    pub(super) fn of_letter(letter: &[u8]) -> Option<Self> {
        match letter {
            b"Q" => Some(Self::Queued),
            b"D" => Some(Self::Issued),
            b"R" => Some(Self::Requeued),
            b"C" => Some(Self::AnyCompleted),
            _ => None,
        }
    }

    /// The event's number in the low half of blktrace's action.
    pub(super) fn of_action(number: u16) -> Option<Self> {
        match number {
            1 => Some(Self::Queued),
            6 => Some(Self::Requeued),
            7 => Some(Self::Issued),
            8 => Some(Self::AnyCompleted),
            _ => None,
        }
    }
}

/// The operation that the kernel's letters mean, for so many sectors; `None` for what moves no
/// data: commands to the drive, and the end of a write whose data went before.
///
/// The letters (`blk_fill_rwbs`): F first for a flush ahead; then R, W, D for discard, F for flush
/// or N for anything else; then further marks.
pub(crate) fn operation(letters: &[u8], sectors: u64) -> Option<Operation> {
    let is_flush_first = letters.first() == Some(&b'F');
    if sectors == 0 {
        return is_flush_first.then_some(Operation::Flush);
    }
    match letters.get(usize::from(is_flush_first)) {
        Some(b'R') => Some(Operation::Read),
        Some(b'W') => Some(Operation::Write),
        Some(b'D') => Some(Operation::Trim),
        _ => None,
    }
}

/// First sector and count; a flush has none, whatever the kernel says.
pub(super) fn range(
    operation: Operation,
    sector: u64,
    sectors: u64,
) -> Result<(u64, u32), Expected> {
    if operation == Operation::Flush {
        return Ok((0, 0));
    }
    let count = u32::try_from(sectors).map_err(|_| "fewer than 2^32 sectors")?;
    if operation != Operation::Trim && sectors > TRANSFER_MAX.0 / SECTOR {
        return Err(OVERSIZED);
    }
    let last = sector.checked_add(sectors).and_then(|end| end.checked_mul(SECTOR));
    last.map(|_| (sector, count)).ok_or("a range that ends below 2^64 bytes")
}

impl Event {
    pub(super) fn offset(&self) -> Bytes {
        Bytes(self.sector * SECTOR)
    }

    pub(super) fn length(&self) -> Bytes {
        Bytes(u64::from(self.sectors) * SECTOR)
    }
}

impl Timed for Event {
    fn time(&self) -> u64 {
        self.time_ns
    }
}

/// A device's number: 12 bits of major, 20 of minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DeviceNumber(pub(super) u32);

impl DeviceNumber {
    pub(super) fn new(major: u64, minor: u64) -> Option<Self> {
        (major < 1 << 12 && minor < 1 << 20).then_some(Self((major << 20 | minor) as u32))
    }

    /// `8,0`, and nothing else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(text);
        let device = Self::read(&mut fields).ok()?;
        fields.rest().is_empty().then_some(device)
    }

    /// Takes `8,0` from a line.
    #[inline]
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Expected> {
        const EXPECTED: Expected = "a device as MAJOR,MINOR";
        let major = fields.number(EXPECTED)?;
        fields.expect(b',', EXPECTED)?;
        let minor = fields.number(EXPECTED)?;
        Self::new(major, minor).ok_or(EXPECTED)
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.0 >> 20, self.0 & ((1 << 20) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_letters_mean_operations() {
        for (letters, sectors, expected) in [
            ("R", 8, Some(Operation::Read)),
            ("RAM", 8, Some(Operation::Read)),
            ("WS", 8, Some(Operation::Write)),
            ("FWFS", 8, Some(Operation::Write)),
            ("DS", 8, Some(Operation::Trim)),
            ("DE", 8, Some(Operation::Trim)),
            ("FF", 0, Some(Operation::Flush)),
            ("FN", 0, Some(Operation::Flush)),
            ("FWS", 0, Some(Operation::Flush)),
            ("WS", 0, None),
            ("N", 8, None),
            ("N", 0, None),
            ("", 8, None),
        ] {
            assert_eq!(operation(letters.as_bytes(), sectors), expected, "{letters} {sectors}");
        }
    }

    #[test]
    fn a_device_is_written_as_it_is_read() {
        for text in ["8,0", "259,1", "4095,1048575"] {
            assert_eq!(DeviceNumber::parse(text.as_bytes()).unwrap().to_string(), text);
        }
        for text in ["", "8", "8,", "8,0 ", "4096,0", "0,1048576", "sda"] {
            assert_eq!(DeviceNumber::parse(text.as_bytes()), None, "{text}");
        }
    }
}
