//! What an I/O of the host asks of the members: which are read, which are written, and which writes wait
//! for what was read.
//!
//! Pure: a plan follows from the layout, the I/O, and a view of the members.

use std::ops::Range;

use writecliff_device::{Bytes, Content, Io, Operation};

use crate::layout::Layout;

/// Parity is computed for whole pages of this size, as md's stripes are.
const PAGE: u64 = 4096;

/// A member's part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) member: usize,
    pub(crate) operation: Operation,
    /// On the member.
    pub(crate) range: Range<u64>,
    pub(crate) content: Content,
}

/// What a request asks of the members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) reads: Vec<Piece>,
    /// What needs nothing that is read.
    pub(crate) at_once: Vec<Piece>,
    /// Writes that wait for all that is read.
    pub(crate) after: Vec<Piece>,
}

/// More members of a stripe are missing than it has parities, or copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost;

/// How the members are.
pub(crate) trait View {
    /// Whether a member has nothing, or nothing yet, at the byte `at`.
    fn is_missing(&self, member: usize, at: u64) -> bool;

    /// How much of the beginning of a range a member has.
    fn end_of_present(&self, member: usize, range: &Range<u64>) -> u64;

    /// I/Os that a member has or that wait for it.
    fn load(&self, member: usize) -> usize;
}

/// What `io`, a read, a write or a trim, asks of the members.
///
/// # Errors
/// [`Lost`].
pub(crate) fn plan(layout: &Layout, io: &Io, view: &impl View) -> Result<Plan, Lost> {
    let range = io.offset.0..io.offset.0 + io.length.0;
    match layout.parities {
        0 => of_copies(layout, io, &range, view),
        _ => of_parity(layout, io, &range, view),
    }
}

/// What makes `range` of the member `target` anew, without reading that.
///
/// # Errors
/// [`Lost`].
pub(crate) fn rebuild(
    layout: &Layout,
    target: usize,
    range: &Range<u64>,
    view: &impl View,
) -> Result<Plan, Lost> {
    let mut plan = Plan::default();
    reconstruct(layout, target, range, view, &mut plan.reads)?;
    let write = piece(target, Operation::Write, range.clone(), Content::INCOMPRESSIBLE);
    plan.after.push(write);
    Ok(plan)
}

/// Reads of other members that together tell what `target` has, or would have, in `range`.
///
/// # Errors
/// [`Lost`].
pub(crate) fn reconstruct(
    layout: &Layout,
    target: usize,
    range: &Range<u64>,
    view: &impl View,
    reads: &mut Vec<Piece>,
) -> Result<(), Lost> {
    if layout.parities == 0 {
        let first = target / layout.copies * layout.copies;
        let has_it =
            |member: &usize| *member != target && view.end_of_present(*member, range) == range.end;
        let copies = (first..first + layout.copies).filter(has_it);
        let copy = copies.min_by_key(|member| view.load(*member)).ok_or(Lost)?;
        reads.push(read(copy, range.clone()));
        return Ok(());
    }
    for stripe in range.start / layout.chunk..range.end.div_ceil(layout.chunk) {
        let at = stripe * layout.chunk;
        let is_missing = |member: usize| member == target || view.is_missing(member, at);
        let present = Present::of(layout, stripe, is_missing);
        let members = present.enough(layout).ok_or(Lost)?.members(layout, stripe);
        let rows = at.max(range.start)..(at + layout.chunk).min(range.end);
        members.for_each(|member| add(reads, read(member, rows.clone())));
    }
    Ok(())
}

fn of_copies(layout: &Layout, io: &Io, range: &Range<u64>, view: &impl View) -> Result<Plan, Lost> {
    let mut plan = Plan::default();
    for column in 0..layout.columns {
        let stretch = layout.stretch(column, range);
        if stretch.is_empty() {
            continue;
        }
        let first = layout.member_of(0, column);
        let copies = first..first + layout.copies;
        if io.operation == Operation::Read {
            let has_it = |member: &usize| view.end_of_present(*member, &stretch) == stretch.end;
            let nearest = copies.filter(has_it).min_by_key(|member| view.load(*member));
            plan.reads.push(read(nearest.ok_or(Lost)?, stretch));
            continue;
        }
        let mut is_somewhere = false;
        for member in copies {
            let end = view.end_of_present(member, &stretch);
            is_somewhere |= end == stretch.end;
            if end > stretch.start {
                plan.at_once.push(piece(member, io.operation, stretch.start..end, io.content));
            }
        }
        if !is_somewhere {
            return Err(Lost);
        }
    }
    Ok(plan)
}

fn of_parity(layout: &Layout, io: &Io, range: &Range<u64>, view: &impl View) -> Result<Plan, Lost> {
    let mut plan = Plan::default();
    for stripe in range.start / layout.stripe()..range.end.div_ceil(layout.stripe()) {
        let (begin, at) = (stripe * layout.stripe(), stripe * layout.chunk);
        let part = range.start.max(begin) - begin..(range.end - begin).min(layout.stripe());
        let present = Present::of(layout, stripe, |member| view.is_missing(member, at));
        for Band { rows, touched, whole } in bands(layout, &part, io.operation) {
            let rows = at + rows.start..at + rows.end;
            if io.operation == Operation::Read {
                let parts = parts_to_read(layout, touched, present).ok_or(Lost)?;
                let members = parts.members(layout, stripe);
                members.for_each(|member| add(&mut plan.reads, read(member, rows.clone())));
                continue;
            }
            let before = parts_before_write(layout, touched, whole, present).ok_or(Lost)?;
            let needs_none = before == Parts::default();
            let members = before.members(layout, stripe);
            members.for_each(|member| add(&mut plan.reads, read(member, rows.clone())));
            let writes = if needs_none { &mut plan.at_once } else { &mut plan.after };
            let write = |member, content| piece(member, Operation::Write, rows.clone(), content);
            let data = Parts { columns: touched & present.0.columns, parities: 0 };
            for member in data.members(layout, stripe) {
                add(writes, write(member, io.content));
            }
            let parity = Parts { columns: 0, parities: present.0.parities };
            for member in parity.members(layout, stripe) {
                add(writes, write(member, Content::INCOMPRESSIBLE));
            }
        }
    }
    Ok(plan)
}

/// Rows of a stripe of which the same columns are touched.
#[derive(Debug, PartialEq, Eq)]
struct Band {
    rows: Range<u64>,
    /// Columns, a bit each.
    touched: u32,
    /// Those of them that are touched in all of these rows.
    whole: u32,
}

/// The bands of a part of a stripe. Those of a write end at whole pages, for which parity is computed.
fn bands(layout: &Layout, part: &Range<u64>, operation: Operation) -> Vec<Band> {
    let chunk = layout.chunk;
    let (first, last) = (part.start / chunk, (part.end - 1) / chunk);
    let (top, bottom) = (part.start % chunk, (part.end - 1) % chunk + 1);
    let mut ends = vec![0, top, bottom, chunk];
    if operation == Operation::Write {
        let around = |row: u64| [row / PAGE * PAGE, row.next_multiple_of(PAGE)];
        ends = [[0, chunk], around(top), around(bottom)].concat();
    }
    ends.sort_unstable();
    ends.dedup();
    let band = |rows: Range<u64>| {
        let (mut touched, mut whole) = (0, 0);
        for column in first..=last {
            let start = if column == first { top } else { 0 };
            let end = if column == last { bottom } else { chunk };
            touched |= u32::from(start < rows.end && rows.start < end) << column;
            whole |= u32::from(start <= rows.start && rows.end <= end) << column;
        }
        Band { rows, touched, whole }
    };
    let bands = ends.windows(2).map(|ends| band(ends[0]..ends[1]));
    bands.filter(|band| band.touched != 0).collect()
}

/// Some of a stripe's columns and parities, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Parts {
    columns: u32,
    parities: u32,
}

impl Parts {
    fn count(self) -> u32 {
        self.columns.count_ones() + self.parities.count_ones()
    }

    /// The members that have them.
    fn members(self, layout: &Layout, stripe: u64) -> impl Iterator<Item = usize> {
        let bits = |mask: u32| (0..32).filter(move |bit| mask & (1 << bit) != 0);
        let columns = bits(self.columns).map(move |column| layout.member_of(stripe, column));
        columns.chain(bits(self.parities).map(move |nth| layout.parity_of(stripe, nth)))
    }
}

/// The parts of a stripe that are there.
#[derive(Debug, Clone, Copy)]
struct Present(Parts);

impl Present {
    fn of(layout: &Layout, stripe: u64, is_missing: impl Fn(usize) -> bool) -> Self {
        let mask = |parts: usize, member: &dyn Fn(usize) -> usize| {
            let there = (0..parts).filter(|part| !is_missing(member(*part)));
            there.fold(0, |mask, part| mask | 1 << part)
        };
        Self(Parts {
            columns: mask(layout.columns, &|column| layout.member_of(stripe, column)),
            parities: mask(layout.parities, &|nth| layout.parity_of(stripe, nth)),
        })
    }

    /// So many parts that all others follow from them: data first, then the first parities.
    fn enough(self, layout: &Layout) -> Option<Parts> {
        let mut parts = Parts { parities: 0, ..self.0 };
        for nth in 0..layout.parities {
            if parts.count() as usize == layout.columns {
                break;
            }
            parts.parities |= self.0.parities & 1 << nth;
        }
        (parts.count() as usize == layout.columns).then_some(parts)
    }
}

/// What is read to give these columns: themselves, or enough to compute what is missing.
fn parts_to_read(layout: &Layout, wanted: u32, present: Present) -> Option<Parts> {
    match wanted & !present.0.columns {
        0 => Some(Parts { columns: wanted, parities: 0 }),
        _ => present.enough(layout),
    }
}

/// What is read before these columns are written: what the parities are computed of.
fn parts_before_write(
    layout: &Layout,
    touched: u32,
    whole: u32,
    present: Present,
) -> Option<Parts> {
    let all = u32::MAX >> (32 - layout.columns);
    let there = present.0;
    if there.parities == 0 {
        let has_data = touched & there.columns == touched;
        return has_data.then(Parts::default);
    }
    // The new parity of all data: those that are not written anew are read. md prefers it where both
    // read as much.
    let others = all & !whole;
    let reconstruct =
        (others & !there.columns == 0).then_some(Parts { columns: others, parities: 0 });
    // The change of the parity by the change of the data.
    let modify = (touched & !there.columns == 0)
        .then_some(Parts { columns: touched, parities: there.parities });
    // What is missing has to be computed first.
    let compute = present.enough(layout);
    [reconstruct, modify, compute].into_iter().flatten().min_by_key(|parts| parts.count())
}

fn piece(member: usize, operation: Operation, range: Range<u64>, content: Content) -> Piece {
    Piece { member, operation, range, content }
}

fn read(member: usize, range: Range<u64>) -> Piece {
    piece(member, Operation::Read, range, Content::INCOMPRESSIBLE)
}

/// Adds a piece, to the member's last one where that ends where it begins.
fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    let last = pieces.iter_mut().rev().find(|last| last.member == piece.member);
    match last {
        Some(last) if last.range.end == piece.range.start && last.content == piece.content => {
            last.range.end = piece.range.end;
        }
        _ => pieces.push(piece),
    }
}

impl Piece {
    /// What the member gets.
    pub(crate) fn io(&self) -> Io {
        let length = Bytes(self.range.end - self.range.start);
        Io::new(self.operation, Bytes(self.range.start), length).with_content(self.content)
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
