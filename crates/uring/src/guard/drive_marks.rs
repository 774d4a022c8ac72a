//! What a drive holds, as refusals: the guard's own marks, blocks that nobody can read, and what
//! other programs recognise.

use std::fs::File;
use std::io;

use crate::guard::extent::{Extent, extents};
use crate::guard::external_detectors::{self, Answer, Recognised};
use crate::guard::refusal::Refusal;
use crate::guard::signatures::{self, BadBlock, Found, Marks};

/// Everything that a drive or file holds by its marks and by what other programs say.
///
/// # Errors
/// If it cannot be read at all.
pub(crate) fn refusals(device: &str, drive: &File, capacity: u64) -> io::Result<Vec<Refusal>> {
    let marks = signatures::find(drive, capacity)?;
    let erase = |place: &[Extent]| extents(place.iter().copied(), capacity);
    let mut refusals = own(device, &marks, &erase);
    let answers = external_detectors::ask(drive, &marks.found);
    refusals.extend(answers.into_iter().map(|answer| told(device, answer, capacity)));
    Ok(refusals)
}

/// Marks on the disk of a partition, other than the table that makes it one: an array or a
/// filesystem that covers the whole disk. Erasing them might take the partition's neighbours along.
///
/// # Errors
/// If the disk cannot be read at all.
pub(crate) fn of_the_disk_below(
    disk: &str,
    drive: &File,
    capacity: u64,
) -> io::Result<Vec<Refusal>> {
    let mut marks = signatures::find(drive, capacity)?;
    marks.found.retain(|found| !found.is_partition_table());
    Ok(own(disk, &marks, &|_| Vec::new()))
}

/// One refusal for each kind of mark, and one for each range that cannot be read.
fn own(device: &str, marks: &Marks, erase: &dyn Fn(&[Extent]) -> Vec<Extent>) -> Vec<Refusal> {
    let kinds = by_kind(&marks.found).into_iter().map(|(what, places)| Refusal::Signature {
        device: device.to_owned(),
        what,
        offset: places[0].offset,
        more: places.len() - 1,
        extents: erase(&places),
    });
    let unreadable = in_ranges(&marks.bad_blocks).into_iter().map(|bad| Refusal::BadBlock {
        device: device.to_owned(),
        offset: bad.place.offset,
        length: bad.place.length,
        extents: erase(&[bad.place]),
        error: bad.error,
    });
    kinds.chain(unreadable).collect()
}

/// The places of each kind, at least one.
fn by_kind(found: &[Found]) -> Vec<(&'static str, Vec<Extent>)> {
    let mut kinds: Vec<(&'static str, Vec<Extent>)> = Vec::new();
    for Found { what, place, .. } in found {
        match kinds.iter_mut().find(|(kind, _)| kind == what) {
            Some((_, places)) => places.push(*place),
            None => kinds.push((what, vec![*place])),
        }
    }
    kinds
}

/// Blocks side by side as one range.
fn in_ranges(bad_blocks: &[BadBlock]) -> Vec<BadBlock> {
    let mut ranges: Vec<BadBlock> = Vec::new();
    for bad in bad_blocks {
        match ranges.last_mut() {
            Some(last) if last.place.offset + last.place.length == bad.place.offset => {
                last.place.length += bad.place.length;
            }
            _ => ranges.push(bad.clone()),
        }
    }
    ranges
}

fn told(device: &str, answer: Answer, capacity: u64) -> Refusal {
    let device = device.to_owned();
    match answer {
        Answer::Recognised(Recognised { tool, what, place, .. }) => {
            let places = place.map_or_else(|| both_ends(capacity), |place| vec![place]);
            let extents = extents(places, capacity);
            let offset = place.map(|place| place.offset);
            Refusal::OtherTool { device, tool, what, offset, extents }
        }
        Answer::Failed { tool, problem } => Refusal::ToolFailed { device, tool, problem },
    }
}

/// Where marks are that a tool does not tell the place of.
fn both_ends(capacity: u64) -> Vec<Extent> {
    let length = capacity.min(1 << 20);
    vec![Extent { offset: 0, length }, Extent { offset: capacity - length, length }]
}
