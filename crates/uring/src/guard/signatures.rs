//! The marks that filesystems, partition tables, arrays and the like leave on a drive.
//!
//! One table of data, from the formats' own documentation and header files. A mark is enough: what
//! is damaged may still be somebody's only copy. Only where a mark is so short that random data
//! bears it now and then must the sector around it look right as well.

use std::fs::File;
use std::io;

use crate::guard::extent::Extent;
use crate::host::direct_read::read_at;
use reader::{ReadAt, Reader};
use table::SIGNATURES;

mod plausible;
mod reader;
mod table;

const SECTOR: u64 = 512;

/// A mark and the places where it is found.
#[derive(Debug)]
struct Signature {
    what: &'static str,
    layout: Layout,
    places: &'static [Place],
    magic: &'static [u8],
    plausible: Option<fn(&[u8]) -> bool>,
}

/// Whether a mark tells how a disk is divided, which its partitions do not mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Table,
    Content,
}

/// Byte offsets where a mark may be: from the start, or back from the end rounded down.
#[derive(Debug, Clone, Copy)]
enum Place {
    Start(u64),
    StartSeries { first: u64, step: u64, count: u64 },
    End(u64),
    EndRounded { unit: u64, back: u64 },
    EndSeries { unit: u64, back: u64, step: u64, count: u64 },
}

use Place::{End, EndRounded, EndSeries, Start, StartSeries};

/// A mark that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) what: &'static str,
    /// The bytes that are the mark.
    pub(crate) place: Extent,
    table: bool,
}

impl Found {
    /// Whether it only tells how a disk is divided into partitions.
    pub(crate) fn is_partition_table(&self) -> bool {
        self.table
    }
}

/// Bytes in which a mark may be and that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadBlock {
    pub(crate) place: Extent,
    /// What the drive said.
    pub(crate) error: String,
}

/// What is marked on a drive, and where nobody can tell.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Every place of every kind, kind by kind.
    pub(crate) found: Vec<Found>,
    /// By their offsets.
    pub(crate) bad_blocks: Vec<BadBlock>,
}

/// All marks on a drive of `capacity` bytes; of a file also those in a rest at its end that direct
/// I/O does not reach.
///
/// # Errors
/// If the drive cannot be read at all, or ends before its capacity.
pub(crate) fn find(drive: &File, capacity: u64) -> io::Result<Marks> {
    let facts = drive.metadata()?;
    let capacity = if facts.is_file() { facts.len().max(capacity) } else { capacity };
    find_by(&|buffer, start| read_at(drive, buffer, start), capacity)
}

fn find_by(read_at: &ReadAt<'_>, capacity: u64) -> io::Result<Marks> {
    let mut reader = Reader::new(read_at, capacity);
    let mut marks = Marks::default();
    for signature in SIGNATURES {
        for place in signature.places {
            for offset in place.offsets(capacity) {
                match reader.has(offset, signature)? {
                    Ok(true) => marks.found(signature, offset),
                    Ok(false) => {}
                    Err(bad) => marks.bad_block(&bad),
                }
            }
        }
    }
    marks.bad_blocks.sort_by_key(|bad| bad.place.offset);
    Ok(marks)
}

impl Marks {
    fn found(&mut self, signature: &Signature, offset: u64) {
        let length = signature.magic.len() as u64;
        let place = Extent { offset, length };
        let found = Found { what: signature.what, place, table: signature.layout == Layout::Table };
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }

    fn bad_block(&mut self, bad: &reader::BadPiece) {
        let place = Extent { offset: bad.offset, length: bad.length };
        if !self.bad_blocks.iter().any(|known| known.place == place) {
            self.bad_blocks.push(BadBlock { place, error: io::Error::from(bad.error).to_string() });
        }
    }
}

impl Place {
    /// The offsets on a drive of this capacity; none where it is too small.
    fn offsets(self, capacity: u64) -> impl Iterator<Item = u64> {
        let (first, step, count) = match self {
            Start(offset) => (Some(offset), 0, 1),
            StartSeries { first, step, count } => (Some(first), step, count),
            End(back) => ((capacity / SECTOR * SECTOR).checked_sub(back), 0, 1),
            EndRounded { unit, back } => ((capacity / unit * unit).checked_sub(back), 0, 1),
            EndSeries { unit, back, step, count } => {
                ((capacity / unit * unit).checked_sub(back), step, count)
            }
        };
        let offsets = (0..count).filter_map(move |index| Some(first? + index * step));
        offsets.filter(move |&offset| offset < capacity)
    }
}

#[cfg(test)]
#[path = "signatures_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "signatures_against_tools_tests.rs"]
mod against_tools_tests;
