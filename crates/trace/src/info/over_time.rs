//! A trace over time: figures of equal windows, and where on the device its operations began.

use serde::Serialize;

use super::footprint::{BLOCK, Touched};

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

/// Cuts time into windows; time that goes back counts as standing still.
#[derive(Debug)]
pub(super) struct Windows {
    /// Nanoseconds of a window.
    pub(super) width: u64,
    list: Vec<OpenWindow>,
    last: usize,
    end: u64,
}

/// A window and what is only needed until it is closed.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenWindow {
    figures: Window,
    touched_blocks: u64,
    depths: u64,
    depth_sum: u64,
}

impl Windows {
    /// Of a trace that lasts `duration` nanoseconds.
    pub(super) fn new(duration: u64) -> Self {
        // The last moment of a trace is in its last window.
        let width = duration / WINDOWS + 1;
        let count = (duration / width + 1) as usize;
        Self { width, list: vec![OpenWindow::default(); count], last: 0, end: width }
    }

    /// The window of an operation issued at `issued`, and its index. What comes after the duration
    /// is in the last window.
    pub(super) fn at(&mut self, issued: u64) -> (usize, &mut OpenWindow) {
        while issued >= self.end && self.last + 1 < self.list.len() {
            self.last += 1;
            self.end = self.end.saturating_add(self.width);
        }
        (self.last, &mut self.list[self.last])
    }

    pub(super) fn close(self, is_footprint_known: bool) -> Vec<Window> {
        let close = |window: OpenWindow| {
            let mean = |count: u64| window.depth_sum as f64 / count as f64;
            let queue_depth_mean = (window.depths > 0).then(|| mean(window.depths));
            let touched_bytes = is_footprint_known.then_some(window.touched_blocks * BLOCK);
            Window { queue_depth_mean, touched_bytes, ..window.figures }
        };
        self.list.into_iter().map(close).collect()
    }
}

impl OpenWindow {
    /// Counts a read or write of so many bytes.
    pub(super) fn count(
        &mut self,
        is_write: bool,
        bytes: u64,
        depth: Option<u32>,
        touched: &Touched,
    ) {
        let figures = &mut self.figures;
        let (count, sum) = match is_write {
            true => (&mut figures.writes, &mut figures.written_bytes),
            false => (&mut figures.reads, &mut figures.read_bytes),
        };
        *count += 1;
        *sum += bytes;
        self.touched_blocks += touched.new_in_window;
        if let Some(depth) = depth {
            self.depths += 1;
            self.depth_sum += u64::from(depth);
            figures.queue_depth_max = figures.queue_depth_max.max(Some(depth));
        }
    }
}

/// Counts for an [`OffsetMap`]; rows become twice as high when something lies above the highest.
#[derive(Debug)]
pub(super) struct Offsets {
    row_shift: u32,
    windows: Vec<[u64; ROWS]>,
}

impl Offsets {
    pub(super) fn new(windows: &Windows) -> Self {
        Self { row_shift: 12, windows: vec![[0; ROWS]; windows.list.len()] }
    }

    pub(super) fn count(&mut self, window: usize, offset: u64) {
        while offset >> self.row_shift >= ROWS as u64 {
            self.windows.iter_mut().for_each(halve);
            self.row_shift += 1;
        }
        self.windows[window][(offset >> self.row_shift) as usize] += 1;
    }

    pub(super) fn close(&self) -> OffsetMap {
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
            let mut windows = Windows::new(duration);
            assert!(windows.list.len() <= WINDOWS as usize, "{duration}");
            assert_eq!(windows.at(0).0, 0);
            let (last, width) = (windows.list.len() - 1, windows.width);
            assert_eq!(windows.at(duration).0, last, "{duration}");
            assert_eq!((duration / width) as usize, last, "{duration}: no window is empty by rule");
        }
        let mut windows = Windows::new(1999);
        let at: Vec<usize> = [0, 9, 10, 1989, 5, 1990].iter().map(|t| windows.at(*t).0).collect();
        assert_eq!((windows.width, at), (10, vec![0, 0, 1, 198, 198, 199]));
        assert_eq!(windows.at(99_999).0, 199, "what comes later counts at the end");
    }

    #[test]
    fn rows_double_until_the_highest_offset_fits() {
        let windows = Windows::new(0);
        let mut offsets = Offsets::new(&windows);
        let end = ROWS as u64 * 4096;
        [0, 4096, 8192, end - 1].into_iter().for_each(|offset| offsets.count(0, offset));
        let cell = |row, count| OffsetCell(0, row, count);
        let map = offsets.close();
        assert_eq!(map.row_bytes, 4096);
        assert_eq!(map.cells, [cell(0, 1), cell(1, 1), cell(2, 1), cell(127, 1)]);
        offsets.count(0, end);
        let map = offsets.close();
        assert_eq!(map.row_bytes, 8192);
        assert_eq!(map.cells, [cell(0, 2), cell(1, 1), cell(63, 1), cell(64, 1)]);
        offsets.count(0, u64::MAX);
        assert_eq!(offsets.close().cells, [cell(0, 5), cell(127, 1)]);
    }
}
