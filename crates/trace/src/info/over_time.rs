//! A trace over time: figures of equal windows, and where on the device its operations began.

use serde::Serialize;

use super::footprint::{BLOCK, Touched, WindowNumber};

/// Windows of a trace at most: each is a few pixels wide on a large screen.
const WINDOWS: u64 = 200;
/// Rows of the map of offsets at most.
const ROWS: usize = 128;

/// One of the equal windows that a trace's duration is cut into; an operation counts in the one in
/// which it was issued.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Window {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// The working set: bytes of the 4 KiB blocks that its reads and writes touched; `None` if the
    /// trace's footprint is not known.
    pub touched_bytes: Option<u64>,
    /// Mean queue depth of its reads and writes, where it is known.
    pub queue_depth_mean: Option<f64>,
    /// The highest queue depth of its reads and writes.
    pub queue_depth_max: Option<u32>,
}

/// Where reads and writes began over time: counts of a grid of windows and equal stretches of the
/// device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct OffsetMap {
    /// Bytes of the device that a row is about, a power of two.
    pub row_bytes: u64,
    /// The cells that are not empty, by window, then by row.
    pub cells: Vec<OffsetCell>,
}

/// A cell of an [`OffsetMap`]: its window, its row from the device's beginning, and the operations
/// that began there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OffsetCell(pub u32, pub u32, pub u64);

/// Levels of windows that double: of at most 200 windows, the eighth has two or one.
pub(super) const LEVELS_DOUBLING: usize = 8;
const _: () = assert!(WINDOWS <= 1 << LEVELS_DOUBLING);

/// Cuts time into windows; time that goes back counts as standing still.
///
/// Where the duration is not known, windows begin at 1 ns, and each two become one when they are
/// too many. The blocks that both touched are counted in advance, for windows of twice the width,
/// four times, and so on, `LEVELS` in all.
#[derive(Debug)]
pub(super) struct Windows<const LEVELS: usize> {
    /// Nanoseconds of a window.
    pub(super) width: u64,
    list: Vec<OpenWindow>,
    /// By level, the blocks touched in each window.
    touched_blocks: [Vec<u64>; LEVELS],
    /// In all.
    touched: u64,
    last: WindowNumber,
    end: u64,
    /// As many as there may be.
    max: usize,
}

/// A window and what is only needed until it is closed.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenWindow {
    figures: Window,
    depths: u64,
    depth_sum: u64,
}

impl Windows<1> {
    /// Of a trace that lasts `duration` nanoseconds.
    pub(super) fn of(duration: u64) -> Self {
        // The last moment of a trace is in its last window.
        let width = duration / WINDOWS + 1;
        Self::new(width, (duration / width + 1) as usize)
    }
}

impl Windows<LEVELS_DOUBLING> {
    /// Of a trace that lasts nobody knows how long.
    pub(super) fn doubling() -> Self {
        Self::new(1, WINDOWS as usize)
    }
}

impl<const LEVELS: usize> Windows<LEVELS> {
    fn new(width: u64, max: usize) -> Self {
        let count = if LEVELS == 1 { max } else { 1 };
        Self {
            width,
            list: vec![OpenWindow::default(); count],
            touched_blocks: std::array::from_fn(|_| vec![0; count]),
            touched: 0,
            last: WindowNumber::default(),
            end: width,
            max,
        }
    }

    /// The window of an operation issued at `issued`, which the next count is for. What comes after
    /// a duration that is known is in the last window.
    pub(super) fn at(&mut self, issued: u64) -> WindowNumber {
        while issued >= self.end && self.goes_on() {
            self.last.index += 1;
            self.end = self.end.saturating_add(self.width);
            if self.end == u64::MAX {
                break;
            }
        }
        self.last
    }

    /// Sees to it that there is another window; `false` if there may be none.
    fn goes_on(&mut self) -> bool {
        let next = self.last.index as usize + 1;
        if next < self.list.len() {
            return true;
        }
        if LEVELS == 1 {
            return false;
        }
        if next == self.max {
            self.double();
        }
        self.list.resize_with(self.last.index as usize + 2, OpenWindow::default);
        true
    }

    /// Makes one of each two windows.
    fn double(&mut self) {
        let pairs = self.list.chunks(2).map(|pair| pair.iter().cloned().reduce(OpenWindow::with));
        self.list = pairs.flatten().collect();
        self.touched_blocks.rotate_left(1);
        self.touched_blocks[LEVELS - 1] = vec![self.touched];
        self.width *= 2;
        self.last = WindowNumber { index: self.last.index / 2, doublings: self.last.doublings + 1 };
        self.end = self.width.saturating_mul(u64::from(self.last.index) + 1);
    }

    /// Counts a read or write of so many bytes in the present window.
    pub(super) fn count(
        &mut self,
        is_write: bool,
        bytes: u64,
        depth: Option<u32>,
        touched: &Touched<LEVELS>,
    ) {
        let index = self.last.index as usize;
        self.list[index].count(is_write, bytes, depth);
        self.touched += touched.new;
        for (level, (windows, new)) in
            self.touched_blocks.iter_mut().zip(touched.new_in_window).enumerate()
        {
            let index = index >> level;
            if LEVELS > 1 && index >= windows.len() {
                windows.resize(index + 1, 0);
            }
            windows[index] += new;
        }
    }

    /// Goes on to the last moment of a trace whose duration was not known; gives its window.
    pub(super) fn end_at(&mut self, duration: u64) -> WindowNumber {
        if LEVELS == 1 { self.last } else { self.at(duration) }
    }

    pub(super) fn close(self, is_footprint_known: bool) -> Vec<Window> {
        let touched = self.touched_blocks[0].iter().copied().chain(std::iter::repeat(0));
        let close = |(window, touched_blocks): (OpenWindow, u64)| {
            let mean = |count: u64| window.depth_sum as f64 / count as f64;
            let queue_depth_mean = (window.depths > 0).then(|| mean(window.depths));
            let touched_bytes = is_footprint_known.then_some(touched_blocks * BLOCK);
            Window { queue_depth_mean, touched_bytes, ..window.figures }
        };
        self.list.into_iter().zip(touched).map(close).collect()
    }
}

impl OpenWindow {
    fn count(&mut self, is_write: bool, bytes: u64, depth: Option<u32>) {
        let figures = &mut self.figures;
        let (count, sum) = match is_write {
            true => (&mut figures.writes, &mut figures.written_bytes),
            false => (&mut figures.reads, &mut figures.read_bytes),
        };
        *count += 1;
        *sum += bytes;
        if let Some(depth) = depth {
            self.depths += 1;
            self.depth_sum += u64::from(depth);
            figures.queue_depth_max = figures.queue_depth_max.max(Some(depth));
        }
    }

    /// Both as one.
    fn with(self, next: Self) -> Self {
        let (one, other) = (self.figures, next.figures);
        Self {
            figures: Window {
                reads: one.reads + other.reads,
                writes: one.writes + other.writes,
                read_bytes: one.read_bytes + other.read_bytes,
                written_bytes: one.written_bytes + other.written_bytes,
                queue_depth_max: one.queue_depth_max.max(other.queue_depth_max),
                ..Window::default()
            },
            depths: self.depths + next.depths,
            depth_sum: self.depth_sum + next.depth_sum,
        }
    }
}

/// Counts for an [`OffsetMap`]; rows become twice as high when something lies above the highest.
#[derive(Debug)]
pub(super) struct Offsets {
    row_shift: u32,
    windows: Vec<[u64; ROWS]>,
    /// How often windows had doubled when the last one was counted.
    doublings: u32,
}

impl Default for Offsets {
    fn default() -> Self {
        Self { row_shift: 12, windows: Vec::new(), doublings: 0 }
    }
}

impl Offsets {
    pub(super) fn count(&mut self, window: WindowNumber, offset: u64) {
        while offset >> self.row_shift >= ROWS as u64 {
            self.windows.iter_mut().for_each(halve);
            self.row_shift += 1;
        }
        self.double_to(window.doublings);
        let index = window.index as usize;
        if index >= self.windows.len() {
            self.windows.resize(index + 1, [0; ROWS]);
        }
        self.windows[index][(offset >> self.row_shift) as usize] += 1;
    }

    /// Makes one of each two windows as often as that was done elsewhere.
    fn double_to(&mut self, doublings: u32) {
        for _ in self.doublings..doublings {
            let both = |pair: &[[u64; ROWS]]| {
                std::array::from_fn(|row| pair.iter().map(|window| window[row]).sum())
            };
            self.windows = self.windows.chunks(2).map(both).collect();
        }
        self.doublings = doublings;
    }

    pub(super) fn close(&mut self, last: WindowNumber) -> OffsetMap {
        self.double_to(last.doublings);
        let mut cells = Vec::new();
        for (window, rows) in (0u32..).zip(&self.windows) {
            let filled = (0u32..).zip(rows).filter(|(_, count)| **count > 0);
            cells.extend(filled.map(|(row, count)| OffsetCell(window, row, *count)));
        }
        OffsetMap { row_bytes: 1 << self.row_shift, cells }
    }
}

/// Puts each two rows into one.
fn halve(rows: &mut [u64; ROWS]) {
    for row in 0..ROWS {
        rows[row] = if row < ROWS / 2 { rows[2 * row] + rows[2 * row + 1] } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_equal_and_hold_the_last_moment() {
        for duration in [0, 1, 199, 200, 201, 1_000_003, u64::MAX / 2] {
            let mut windows = Windows::of(duration);
            assert!(windows.list.len() <= WINDOWS as usize, "{duration}");
            assert_eq!(windows.at(0).index, 0);
            let (last, width) = (windows.list.len() - 1, windows.width);
            assert_eq!(windows.at(duration).index as usize, last, "{duration}");
            assert_eq!((duration / width) as usize, last, "{duration}: no window is empty by rule");
        }
        let mut windows = Windows::of(1999);
        let at = [0, 9, 10, 1989, 5, 1990].map(|t| windows.at(t).index);
        assert_eq!((windows.width, at), (10, [0, 0, 1, 198, 198, 199]));
        assert_eq!(windows.at(99_999).index, 199, "what comes later counts at the end");
    }

    #[test]
    fn windows_double_when_they_are_too_many() {
        let mut windows = Windows::doubling();
        for (issued, index, width) in
            [(0, 0, 1), (199, 199, 1), (200, 100, 2), (399, 199, 2), (1 << 40, 128, 1 << 33)]
        {
            assert_eq!((windows.at(issued).index, windows.width), (index, width), "{issued}");
        }
        let last = windows.at(u64::MAX);
        assert!((100..200).contains(&last.index), "{last:?}");
        assert_eq!(u64::from(last.index), u64::MAX / windows.width);
    }

    #[test]
    fn rows_double_until_the_highest_offset_fits() {
        let (mut offsets, window) = (Offsets::default(), WindowNumber::default());
        let end = ROWS as u64 * 4096;
        [0, 4096, 8192, end - 1].into_iter().for_each(|offset| offsets.count(window, offset));
        let cell = |row, count| OffsetCell(0, row, count);
        let map = offsets.close(window);
        assert_eq!(map.row_bytes, 4096);
        assert_eq!(map.cells, [cell(0, 1), cell(1, 1), cell(2, 1), cell(127, 1)]);
        offsets.count(window, end);
        let map = offsets.close(window);
        assert_eq!(map.row_bytes, 8192);
        assert_eq!(map.cells, [cell(0, 2), cell(1, 1), cell(63, 1), cell(64, 1)]);
        offsets.count(window, u64::MAX);
        assert_eq!(offsets.close(window).cells, [cell(0, 5), cell(127, 1)]);
    }
}
