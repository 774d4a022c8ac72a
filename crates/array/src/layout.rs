//! Where the bytes of an array are on its members: arithmetic, as Linux' md has it.
//!
//! A stripe is a chunk of every member, all at the same place. Without parity its chunks are the
//! array's data in order, each on as many neighbours as there are copies. With parity these rotate as
//! md's default for RAID-5 and RAID-6 has it (left-symmetric): in stripe `s` of `n` members the first
//! parity is on member `n - 1 - s mod n`, the others follow it, and the data follow these, round and
//! round.

use std::ops::Range;

/// How an array's bytes are laid out. A stripe's chunks of data are its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) columns: usize,
    /// Members that have the same data; 1 where there is parity.
    pub(crate) copies: usize,
    /// Members of a stripe that have parity; 0 where there are copies.
    pub(crate) parities: usize,
    /// Bytes of a chunk; of a single column all that a member has.
    pub(crate) chunk: u64,
    /// Bytes of a member that are used: whole chunks.
    pub(crate) used: u64,
}

/// A byte's place in its stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) stripe: u64,
    pub(crate) column: usize,
    /// From the beginning of the chunk.
    pub(crate) row: u64,
}

impl Layout {
    /// Over members of `member` bytes. What is less than a chunk at their ends is not used.
    pub(crate) fn new(
        (columns, copies, parities): (usize, usize, usize),
        chunk: u64,
        member: u64,
    ) -> Self {
        let is_single = columns == 1 && parities == 0;
        let chunk = if is_single { member } else { chunk };
        Self { columns, copies, parities, chunk, used: member / chunk * chunk }
    }

    pub(crate) fn members(&self) -> usize {
        self.columns * self.copies + self.parities
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.used * self.columns as u64
    }

    /// Bytes of data in a stripe.
    pub(crate) fn stripe(&self) -> u64 {
        self.chunk * self.columns as u64
    }

    pub(crate) fn place(&self, address: u64) -> Place {
        let within = address % self.stripe();
        Place {
            stripe: address / self.stripe(),
            column: (within / self.chunk) as usize,
            row: within % self.chunk,
        }
    }

    /// The first of the members that have this column of this stripe; further copies follow it.
    pub(crate) fn member_of(&self, stripe: u64, column: usize) -> usize {
        match self.parities {
            0 => column * self.copies,
            parities => (self.first_parity(stripe) + parities + column) % self.members(),
        }
    }

    /// The member that has this parity, the `nth` from 0, of this stripe.
    pub(crate) fn parity_of(&self, stripe: u64, nth: usize) -> usize {
        (self.first_parity(stripe) + nth) % self.members()
    }

    fn first_parity(&self, stripe: u64) -> usize {
        let members = self.members();
        members - 1 - (stripe % members as u64) as usize
    }

    /// The part of a column, by the place on its members, that the array's `range` has: one stretch, for
    /// a column's chunks follow each other there. Of layouts without parity.
    pub(crate) fn stretch(&self, column: usize, range: &Range<u64>) -> Range<u64> {
        let before = |address: u64| {
            let within = address % self.stripe();
            let of_column = within.saturating_sub(column as u64 * self.chunk).min(self.chunk);
            address / self.stripe() * self.chunk + of_column
        };
        before(range.start)..before(range.end)
    }

    /// The places on the members between which all lies that shares parity, or copies, with the array's
    /// `range`.
    pub(crate) fn rows(&self, range: &Range<u64>) -> Range<u64> {
        let (first, last) = (self.place(range.start), self.place(range.end - 1));
        let at = |place: Place| place.stripe * self.chunk;
        // Where it goes on to the next column of its stripe, that begins at the top.
        let goes_on = |place: Place, other: Place| {
            other.stripe == place.stripe && other.column != place.column
        };
        let has_more_before = last.column > 0 && last.stripe > first.stripe;
        let has_more_behind = first.column + 1 < self.columns && last.stripe > first.stripe;
        let start = if goes_on(first, last) || has_more_behind { 0 } else { first.row };
        let end = if goes_on(last, first) || has_more_before { self.chunk } else { last.row + 1 };
        at(first) + start..at(last) + end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u64 = 64 << 10;

    fn of_parity(members: usize, parities: usize) -> Layout {
        Layout::new((members - parities, 1, parities), CHUNK, CHUNK * 100)
    }

    /// What is on the members of a stripe: the columns by number, parities as letters.
    fn drawn(layout: &Layout, stripe: u64) -> String {
        let mut drawn = vec!['?'; layout.members()];
        for column in 0..layout.columns {
            let number = layout.columns as u64 * stripe + column as u64;
            drawn[layout.member_of(stripe, column)] = char::from_digit(number as u32, 36).unwrap();
        }
        for nth in 0..layout.parities {
            drawn[layout.parity_of(stripe, nth)] = ['P', 'Q', 'R', 'S'][nth];
        }
        drawn.into_iter().collect()
    }

    /// The table of left-symmetric RAID-5 as it is printed for md: data begin behind the parity.
    #[test]
    fn raid5_is_left_symmetric() {
        let four: Vec<_> = (0..5).map(|stripe| drawn(&of_parity(4, 1), stripe)).collect();
        assert_eq!(four, ["012P", "45P3", "8P67", "P9ab", "cdeP"]);
        let five: Vec<_> = (0..5).map(|stripe| drawn(&of_parity(5, 1), stripe)).collect();
        assert_eq!(five, ["0123P", "567P4", "abP89", "fPcde", "Pghij"]);
    }

    /// md's RAID-6: Q behind P, data behind Q.
    #[test]
    fn raid6_and_codes_go_round_the_same_way() {
        let five: Vec<_> = (0..5).map(|stripe| drawn(&of_parity(5, 2), stripe)).collect();
        assert_eq!(five, ["Q012P", "345PQ", "78PQ6", "bPQ9a", "PQcde"]);
        let of_three: Vec<_> = (0..3).map(|stripe| drawn(&of_parity(5, 3), stripe)).collect();
        assert_eq!(of_three, ["QR01P", "R23PQ", "45PQR"]);
    }

    #[test]
    fn copies_are_neighbours_and_stay_where_they_are() {
        let raid10 = Layout::new((2, 2, 0), CHUNK, CHUNK * 100);
        assert_eq!((raid10.member_of(0, 1), raid10.member_of(7, 1)), (2, 2));
        assert_eq!(raid10.capacity(), CHUNK * 200);
    }

    #[test]
    fn what_is_less_than_a_chunk_is_not_used_unless_there_is_one_column() {
        let raid0 = Layout::new((2, 1, 0), CHUNK, CHUNK * 3 + 512);
        assert_eq!(raid0.capacity(), CHUNK * 6);
        let raid1 = Layout::new((1, 2, 0), CHUNK, CHUNK * 3 + 512);
        assert_eq!(raid1.capacity(), CHUNK * 3 + 512);
    }

    #[test]
    fn a_stretch_holds_what_byte_by_byte_is_there() {
        let layout = Layout::new((3, 1, 0), 4, 40);
        for start in 0..50 {
            for end in start + 1..=60 {
                for column in 0..3 {
                    let here = (start..end).filter(|byte| layout.place(*byte).column == column);
                    let here: Vec<u64> = here
                        .map(|byte| layout.place(byte).stripe * 4 + layout.place(byte).row)
                        .collect();
                    let stretch = layout.stretch(column, &(start..end));
                    assert_eq!(stretch.collect::<Vec<_>>(), here, "{start}..{end} of {column}");
                }
            }
        }
    }

    #[test]
    fn rows_reach_from_the_first_to_the_last_byte_by_byte() {
        let layout = Layout::new((3, 1, 1), 4, 40);
        for start in 0..50 {
            for end in start + 1..=60 {
                let on_members = |byte| layout.place(byte).stripe * 4 + layout.place(byte).row;
                let first = (start..end).map(on_members).min().unwrap();
                let last = (start..end).map(on_members).max().unwrap();
                assert_eq!(layout.rows(&(start..end)), first..last + 1, "{start}..{end}");
            }
        }
    }
}
