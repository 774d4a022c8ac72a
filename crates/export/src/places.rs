//! Ranges of a drive: as commands, as places in its real capacity, as units.

use std::io;
use std::ops::Range;

use writecliff_device::{Bytes, Io, Operation};
use writecliff_sim::Model;

use crate::store::Store;
use crate::undo::Undo;

/// The longest command that a drive gets: Linux's own limit for commands to disks (`max_sectors_kb`).
pub(crate) const COMMAND_MAX: u64 = 1280 << 10;
/// Commands of a length that a drive gets.
pub(crate) fn split(operation: Operation, range: Range<u64>) -> Vec<Io> {
    let mut commands = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let length = (range.end - at).min(COMMAND_MAX);
        commands.push(Io::new(operation, Bytes(at), Bytes(length)));
        at += length;
    }
    commands
}

/// A stretch of a range, at its place in the real capacity.
pub(crate) struct Place {
    pub(crate) range: Range<u64>,
    /// Where it begins in the range.
    pub(crate) at: usize,
}

/// Where a range really is: in pieces between the ends of the real capacity.
pub(crate) fn places(real: u64, offset: u64, length: u64) -> Vec<Place> {
    let mut places = Vec::with_capacity(1);
    let mut at = 0;
    while at < length {
        let start = (offset + at) % real;
        let piece = (real - start).min(length - at);
        places.push(Place { range: start..start + piece, at: at as usize });
        at += piece;
    }
    places
}

/// The parts of a range that the model holds, neighbours as one.
pub(crate) fn held(range: Range<u64>, unit: u64, model: &dyn Model) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    for number in range.start / unit..range.end.div_ceil(unit) {
        if !model.holds(number as u32) {
            continue;
        }
        let part = (number * unit).max(range.start)..((number + 1) * unit).min(range.end);
        match parts.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => parts.push(part),
        }
    }
    parts
}

/// Before a range is written: what its units hold is kept, and what they do not hold any more is gone
/// where only a part of one is written.
pub(crate) fn make_ready(
    range: Range<u64>,
    model: &dyn Model,
    store: &Store,
    undo: Option<&mut Undo>,
) -> io::Result<()> {
    let unit = model.unit().0;
    if let Some(undo) = undo {
        let units = range.start / unit..range.end.div_ceil(unit);
        undo.keep(units, store, model)?;
    }
    for number in in_part(range, unit) {
        if !model.holds(number as u32) {
            store.discard(number * unit, unit)?;
        }
    }
    Ok(())
}

/// The units of which a range is only a part: the first, the last, both or none.
pub(crate) fn in_part(range: Range<u64>, unit: u64) -> impl Iterator<Item = u64> {
    let (first, last) = (range.start / unit, range.end.div_ceil(unit) - 1);
    let is_partly =
        move |number: &u64| number * unit < range.start || range.end < (number + 1) * unit;
    std::iter::once(first).chain((last > first).then_some(last)).filter(is_partly)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ranges_are_several_commands() {
        let commands = split(Operation::Read, 512..512 + 2 * COMMAND_MAX + 1024);
        let lengths: Vec<u64> = commands.iter().map(|io| io.length.0).collect();
        assert_eq!(lengths, [COMMAND_MAX, COMMAND_MAX, 1024]);
        assert_eq!(commands[2].offset.0, 512 + 2 * COMMAND_MAX);
        assert!(split(Operation::Write, 512..512).is_empty());
    }

    #[test]
    fn places_behind_the_real_capacity_begin_again() {
        let found: Vec<_> =
            places(8192, 4096, 20_480).into_iter().map(|place| (place.range, place.at)).collect();
        assert_eq!(found, [(4096..8192, 0), (0..8192, 4096), (0..8192, 12_288)]);
    }
}
