//! The vocabulary: what the block layer tells of a request or a bio.

use std::fmt;

use writecliff_device::{Bytes, Operation};

use crate::io::TRANSFER_MAX;

/// The kernel's sectors, whatever the device's are.
pub(crate) const SECTOR: u64 = 512;

/// What a longer read or write should have been.
pub(crate) const OVERSIZED: &str = "a read or write of at most 4 GiB";

/// Something that happened to a request, or to a bio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// By the trace's clock.
    pub(crate) time_ns: u64,
    pub(crate) what: What,
    pub(crate) operation: Operation,
    pub(crate) device: DeviceNumber,
    /// Whose it is; told by issues only.
    pub(crate) stream: u16,
    /// Zero for a flush.
    pub(crate) sector: u64,
    /// Zero for a flush.
    pub(crate) sectors: u32,
    /// Whether a completion tells an error.
    pub(crate) is_failed: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A bio was given to the device: issued, if its driver takes no requests.
    BioQueued,
    /// A request waits for its turn. Only who asked for it is to be learnt from that.
    Inserted,
    /// A request was given to the driver.
    Issued,
    /// The driver gave it back undone, to be issued again.
    Requeued,
    /// Its path failed, nothing of it was done, and its bios were taken back to go by another.
    TakenBack,
    /// A request was done, or a part of it.
    Completed,
    /// A bio was done, or a part of it.
    BioCompleted,
    /// Either was done: blktrace writes the same for both.
    AnyCompleted,
    /// Events were lost before this: what was in flight may be done long since.
    Gap,
}

impl What {
    pub(crate) fn is_issue(self) -> bool {
        matches!(self, Self::Issued | Self::BioQueued)
    }

    pub(crate) fn is_completion(self) -> bool {
        matches!(self, Self::Completed | Self::BioCompleted | Self::AnyCompleted)
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

/// First sector and count, or what they should have been; a flush has none, whatever the kernel
/// says.
pub(crate) fn range(
    operation: Operation,
    sector: u64,
    sectors: u64,
) -> Result<(u64, u32), &'static str> {
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
    /// That events were lost before `time_ns`.
    pub(crate) const fn gap(time_ns: u64) -> Self {
        let (what, operation, device) = (What::Gap, Operation::Flush, DeviceNumber(0));
        let (stream, sector, sectors, is_failed) = (0, 0, 0, false);
        Self { time_ns, what, operation, device, stream, sector, sectors, is_failed }
    }

    pub(crate) fn offset(&self) -> Bytes {
        Bytes(self.sector * SECTOR)
    }

    pub(crate) fn length(&self) -> Bytes {
        Bytes(u64::from(self.sectors) * SECTOR)
    }
}

/// A device's number: 12 bits of major, 20 of minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DeviceNumber(pub(crate) u32);

impl DeviceNumber {
    pub(crate) fn new(major: u64, minor: u64) -> Option<Self> {
        (major < 1 << 12 && minor < 1 << 20).then_some(Self((major << 20 | minor) as u32))
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
        use Operation::{Flush, Read, Trim, Write};
        for (letters, sectors, expected) in [
            ("R", 8, Some(Read)),
            ("RAM", 8, Some(Read)),
            ("WS", 8, Some(Write)),
            ("WFS", 8, Some(Write)),  // forced through the drive's cache
            ("FWFS", 8, Some(Write)), // and behind a flush
            ("D", 128, Some(Trim)),
            ("DS", 8, Some(Trim)),
            ("DE", 8, Some(Trim)),
            ("F", 0, Some(Flush)),
            ("FF", 0, Some(Flush)), // as the drive gets it
            ("FN", 0, Some(Flush)),
            ("FWS", 0, Some(Flush)), // a flush without data
            ("WS", 0, None),         // what remains of a flush that the block layer took apart
            ("R", 0, None),
            ("N", 8, None), // a command passed through
            ("N", 0, None),
            ("NS", 2048, None),
            ("\0\0", 8, None),
            ("", 8, None),
        ] {
            assert_eq!(operation(letters.as_bytes(), sectors), expected, "{letters} {sectors}");
        }
    }
}
