//! Which blocks of a device a trace has touched: one bit each for read, written, and touched in the
//! present window of time.
//!
//! Half a byte of memory per 4 KiB block (the fourth bit is the window's number), in pages for
//! 16 MiB of the device that are made when something in them is touched first: enough for a drive of
//! 8 TB that is touched everywhere. What is scattered farther than that is given up, so that no
//! trace takes more than 1 GiB.
//!
//! Windows that double need to know how many blocks two of them touched together. So `LEVELS` bits
//! are kept of each block instead of one: whether it was touched in the present window, in the
//! present one of twice its width, and so on. That is three times the memory.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;

/// What the footprint is counted in.
pub(super) const BLOCK: u64 = 4096;

const BLOCKS_PER_GROUP: u64 = 64;
const GROUPS_PER_PAGE: usize = 64;

/// Memory that the footprint takes at most, with one level of windows.
const MEMORY_MAX: usize = 1 << 30;
/// What a page takes in `places` at most, while that grows: 17 bytes for each of at least 7 of 16
/// slots, and half as much for those before.
const PLACE_BYTES: usize = 64;

/// 64 blocks, all that is known of them beside each other: half a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Group<const LEVELS: usize> {
    read: u64,
    written: u64,
    /// By level.
    in_window: [u64; LEVELS],
    /// The window that `in_window` is about.
    window: WindowNumber,
}

/// A window of time, of all that there are at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WindowNumber {
    /// From the trace's beginning.
    pub(super) index: u32,
    /// How often windows have doubled.
    pub(super) doublings: u32,
}

type Page<const LEVELS: usize> = [Group<LEVELS>; GROUPS_PER_PAGE];

/// The blocks that reads and writes touched so far.
pub(super) struct Footprint<const LEVELS: usize> {
    /// Where the page with this number is in `pages`.
    places: HashMap<u64, usize, BuildHasherDefault<PageHasher>>,
    pages: Vec<Page<LEVELS>>,
    /// How many pages there may be; zero once that was not enough.
    pages_max: usize,
    /// The number and the place of the page used last: the next one is often the same.
    last: Option<(u64, usize)>,
}

/// What one read or write touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touched<const LEVELS: usize> {
    /// Blocks that none of its kind touched before.
    pub(super) new_of_kind: u64,
    /// Blocks that neither a read nor a write touched before.
    pub(super) new: u64,
    /// By level, blocks that neither touched before in this window.
    pub(super) new_in_window: [u64; LEVELS],
    /// Its bytes in blocks that one of its kind touched before.
    pub(super) again_bytes: u64,
}

impl<const LEVELS: usize> Touched<LEVELS> {
    const NOTHING: Self =
        Self { new_of_kind: 0, new: 0, new_in_window: [0; LEVELS], again_bytes: 0 };
}

impl<const LEVELS: usize> Footprint<LEVELS> {
    /// Of nothing yet.
    pub(super) fn new() -> Self {
        Self::of_pages(MEMORY_MAX / (size_of::<Page<1>>() + PLACE_BYTES))
    }

    /// That gives up when more pages than this would be touched.
    pub(super) fn of_pages(pages_max: usize) -> Self {
        Self { places: HashMap::default(), pages: Vec::new(), pages_max, last: None }
    }

    /// Whether all that was touched could be noted; if not, nothing is noted any more.
    pub(super) fn is_known(&self) -> bool {
        self.pages_max > 0
    }

    /// Marks the blocks from byte `offset` to before byte `end`. What it returns means nothing
    /// unless [`Self::is_known`].
    pub(super) fn touch(
        &mut self,
        is_write: bool,
        offset: u64,
        end: u64,
        window: WindowNumber,
    ) -> Touched<LEVELS> {
        let mut touched = Touched::NOTHING;
        if end <= offset {
            return touched;
        }
        let (first, last) = (offset / BLOCK, (end - 1) / BLOCK);
        for number in first / BLOCKS_PER_GROUP..=last / BLOCKS_PER_GROUP {
            let base = number * BLOCKS_PER_GROUP;
            let (from, to) = (first.max(base) - base, last.min(base + 63) - base);
            let mask = (u64::MAX >> (63 - (to - from))) << from;
            let Some(group) = self.group(number) else { break };
            let before = group.mark(is_write, mask, window, &mut touched);
            touched.again_bytes += u64::from(before.count_ones()) * BLOCK;
            // Of its first and last block it may have only a part.
            if base + from == first && before & (1 << from) != 0 {
                touched.again_bytes -= offset - first * BLOCK;
            }
            if base + to == last && before & (1 << to) != 0 {
                touched.again_bytes -= last * BLOCK + (BLOCK - 1) - (end - 1);
            }
        }
        touched
    }

    /// Reads what is known of the first block of each of these offsets, so that the processor waits
    /// for all of them together instead of for one after the other.
    pub(super) fn look_ahead(&self, offsets: impl Iterator<Item = u64>) {
        let known = |offset: u64| {
            let number = offset / BLOCK / BLOCKS_PER_GROUP;
            let place = self.places.get(&(number / GROUPS_PER_PAGE as u64))?;
            Some(u64::from(self.pages[*place][number as usize % GROUPS_PER_PAGE].window.index))
        };
        black_box(offsets.filter_map(known).fold(0, u64::wrapping_add));
    }

    fn group(&mut self, number: u64) -> Option<&mut Group<LEVELS>> {
        let page = number / GROUPS_PER_PAGE as u64;
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => self.place(page)?,
        };
        self.last = Some((page, place));
        Some(&mut self.pages[place][number as usize % GROUPS_PER_PAGE])
    }

    fn place(&mut self, page: u64) -> Option<usize> {
        if let Some(place) = self.places.get(&page) {
            return Some(*place);
        }
        if self.pages.len() == self.pages_max {
            *self = Self::of_pages(0);
            return None;
        }
        self.places.insert(page, self.pages.len());
        self.pages.push([Group::UNTOUCHED; GROUPS_PER_PAGE]);
        Some(self.pages.len() - 1)
    }
}

impl<const LEVELS: usize> Group<LEVELS> {
    const UNTOUCHED: Self = Self {
        read: 0,
        written: 0,
        in_window: [0; LEVELS],
        window: WindowNumber { index: 0, doublings: 0 },
    };

    /// Forgets what was touched in windows that are over by now.
    #[inline]
    fn enter(&mut self, window: WindowNumber) {
        if LEVELS == 1 {
            // Of windows that do not double another one is always over.
            (self.window, self.in_window) = (window, [0; LEVELS]);
            return;
        }
        let wider = window.doublings - self.window.doublings;
        if wider > 0 {
            // As long as it was touched, the widest window was the whole trace.
            let always = self.read | self.written;
            let at = |level: usize| self.in_window.get(level).copied().unwrap_or(always);
            self.in_window = std::array::from_fn(|level| at(level.saturating_add(wider as usize)));
        }
        let before = self.window.index.checked_shr(wider).unwrap_or(0);
        // Two windows are in one of their level if nothing above its bits differs.
        let over = (u32::BITS - (before ^ window.index).leading_zeros()) as usize;
        self.in_window[..over.min(LEVELS)].fill(0);
        self.window = window;
    }

    /// Marks the blocks of `mask`; returns those of them that one of this kind touched before.
    fn mark(
        &mut self,
        is_write: bool,
        mask: u64,
        window: WindowNumber,
        touched: &mut Touched<LEVELS>,
    ) -> u64 {
        let count = |bits: u64| u64::from(bits.count_ones());
        if self.window != window {
            self.enter(window);
        }
        touched.new += count(mask & !(self.read | self.written));
        for (new, in_window) in touched.new_in_window.iter_mut().zip(&mut self.in_window) {
            *new += count(mask & !*in_window);
            *in_window |= mask;
        }
        let own = if is_write { &mut self.written } else { &mut self.read };
        let before = *own & mask;
        touched.new_of_kind += count(mask & !before);
        *own |= mask;
        before
    }
}

/// Spreads page numbers, which nobody chooses in order to harm: the usual protection against that
/// would be the greatest part of the work.
#[derive(Debug, Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 over the golden ratio; the upper half is the well mixed one.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(new_of_kind: u64, new: u64, new_in_window: u64, again_bytes: u64) -> Touched<1> {
        Touched { new_of_kind, new, new_in_window: [new_in_window], again_bytes }
    }

    fn window(index: u32) -> WindowNumber {
        WindowNumber { index, doublings: 0 }
    }

    #[test]
    fn blocks_are_new_once_for_each_kind_and_once_in_all() {
        let mut footprint = Footprint::<1>::new();
        assert_eq!(footprint.touch(true, 0, 8192, window(1)), touched(2, 2, 2, 0));
        assert_eq!(footprint.touch(false, 4096, 12288, window(1)), touched(2, 1, 1, 0));
        assert_eq!(footprint.touch(true, 0, 12288, window(2)), touched(1, 0, 3, 8192));
        assert_eq!(footprint.touch(true, 0, 0, window(2)), Touched::NOTHING);
    }

    #[test]
    fn parts_of_blocks_count_by_their_bytes() {
        let mut footprint = Footprint::<1>::new();
        // The last byte of block 0 to the first of block 2.
        assert_eq!(footprint.touch(true, 4095, 8193, window(1)), touched(3, 3, 3, 0));
        assert_eq!(footprint.touch(true, 4095, 8193, window(1)).again_bytes, 4098);
        assert_eq!(footprint.touch(true, 100, 200, window(1)).again_bytes, 100, "within a block");
        assert_eq!(footprint.touch(true, 8000, 20480, window(1)), touched(2, 2, 2, 192 + 4096));
    }

    #[test]
    fn ranges_run_over_the_borders_of_groups_and_pages() {
        const PAGE: u64 = BLOCK * BLOCKS_PER_GROUP * GROUPS_PER_PAGE as u64;
        let mut footprint = Footprint::<1>::new();
        let blocks = PAGE / BLOCK + 2;
        let (from, to) = (PAGE - BLOCK, 2 * PAGE + BLOCK);
        assert_eq!(footprint.touch(false, from, to, window(1)), touched(blocks, blocks, blocks, 0));
        assert_eq!(footprint.touch(false, from, to, window(1)).again_bytes, to - from);
        assert_eq!(footprint.pages.len(), 3);
        let group = BLOCK * BLOCKS_PER_GROUP;
        assert_eq!(footprint.touch(true, group - 1, group + 1, window(1)), touched(2, 2, 2, 0));
        // The last byte that there can be.
        assert_eq!(footprint.touch(true, u64::MAX - 1, u64::MAX, window(1)).new, 1);
    }

    #[test]
    fn what_is_scattered_too_far_is_given_up() {
        const PAGE: u64 = BLOCK * BLOCKS_PER_GROUP * GROUPS_PER_PAGE as u64;
        let mut footprint = Footprint::<1>::of_pages(3);
        for page in 0..3 {
            assert_eq!(footprint.touch(false, page * PAGE, page * PAGE + 1, window(1)).new, 1);
        }
        assert_eq!(footprint.touch(false, 0, 3 * PAGE, window(1)).new, 3 * PAGE / BLOCK - 3);
        assert!(footprint.is_known());
        footprint.touch(false, 0, 3 * PAGE + 1, window(1));
        assert!(!footprint.is_known() && footprint.pages.capacity() == 0);
        footprint.touch(true, 0, PAGE, window(1));
        footprint.look_ahead([0, u64::MAX].into_iter());
        assert!(!footprint.is_known() && footprint.pages.capacity() == 0, "for good");
    }

    #[test]
    fn pages_are_enough_for_a_drive_of_8_terabytes() {
        let pages_max = Footprint::<1>::new().pages_max as u64;
        assert!(pages_max * BLOCK * BLOCKS_PER_GROUP * GROUPS_PER_PAGE as u64 > 8_000_000_000_000);
    }
}
