//! A trace over time: where it went on the device, how fast, and how much of it at once.

use writecliff_trace::{Description, Info, OffsetCell, OffsetMap, Window};

use super::view;
use crate::picture::{Axis, GREEN, Heat, Picture, Points, READS, Trace, WRITES, bytes};
use crate::section::View;

pub(super) fn views(traces: &[Description]) -> Vec<Option<View>> {
    let offsets = "Each place of a moment and a stretch of the device: the stronger its colour, the \
                   more operations began there; each colour stands for ten times the one before. \
                   Reads and writes have the same colours and the same axes.";
    vec![
        view(traces, ("trace-read-offsets", "Where it reads", offsets), |trace, id, title| {
            offset_map(&trace.info, &trace.info.read_offsets, "reads", id, title)
        }),
        view(traces, ("trace-write-offsets", "Where it writes", ""), |trace, id, title| {
            offset_map(&trace.info, &trace.info.write_offsets, "writes", id, title)
        }),
        view(
            traces,
            ("trace-rates", "Reads and writes over time", "Data rates, by time of issue."),
            |trace, id, title| rates(&trace.info, id, title),
        ),
        view(
            traces,
            (
                "trace-read-share",
                "Share of reads over time",
                "Reads among reads and writes, in percent of the operations.",
            ),
            |trace, id, title| read_share(&trace.info, id, title),
        ),
        view(
            traces,
            (
                "trace-working-set",
                "Working set over time",
                "The different 4 KiB blocks that each window of time touches.",
            ),
            |trace, id, title| working_set(&trace.info, id, title),
        ),
    ]
}

/// Time in a unit that suits its length, and how many nanoseconds that is.
pub(super) fn time(info: &Info) -> (Axis, f64) {
    let (unit, nanos) = match info.duration_ns {
        14_400_000_000_000.. => ("hours", 3.6e12),
        4_000_000_000.. => ("seconds", 1e9),
        4_000_000.. => ("milliseconds", 1e6),
        4_000.. => ("microseconds", 1e3),
        _ => ("nanoseconds", 1.0),
    };
    (Axis::span(unit, 0.0, (info.duration_ns.max(1)) as f64 / nanos), nanos)
}

/// The middle of each window with what `value` finds in it.
pub(super) fn points(info: &Info, value: impl Fn(&Window) -> Option<f64>) -> Vec<(f64, f64)> {
    let (_, unit) = time(info);
    let middle = |index: usize| (index as f64 + 0.5) * info.window_ns as f64 / unit;
    let point = |(index, window)| Some((middle(index), value(window)?));
    info.windows.iter().enumerate().filter_map(point).collect()
}

/// From zero to the highest of all points.
pub(super) fn height(quantity: &str, lines: &[&Vec<(f64, f64)>]) -> Axis {
    let points = lines.iter().flat_map(|line| line.iter());
    Axis::linear(quantity, points.map(|point| point.1).fold(0.0, f64::max))
}

fn rates(info: &Info, id: String, title: String) -> Option<Picture> {
    let rate = |bytes: u64| Some(bytes as f64 * 1e3 / info.window_ns as f64);
    let reads = points(info, |window| rate(window.read_bytes));
    let writes = points(info, |window| rate(window.written_bytes));
    let y = height("MB/s", &[&reads, &writes]);
    let traces = vec![Points::line("reads", READS, reads), Points::line("writes", WRITES, writes)];
    is_any(info).then(|| Picture::new(id, title, time(info).0, y, traces))
}

fn read_share(info: &Info, id: String, title: String) -> Option<Picture> {
    let share = |window: &Window| {
        let all = window.reads + window.writes;
        (all > 0).then(|| window.reads as f64 * 100.0 / all as f64)
    };
    let y = Axis::linear("reads, %", 99.0);
    let traces = vec![Points::dots("reads", READS, points(info, share))];
    is_any(info).then(|| Picture::new(id, title, time(info).0, y, traces))
}

fn working_set(info: &Info, id: String, title: String) -> Option<Picture> {
    let touched = points(info, |window| Some(window.touched_bytes? as f64));
    let y = height("bytes touched", &[&touched]).named(bytes).untitled();
    let is_known = !touched.is_empty();
    let traces = vec![Points::line("working set", GREEN, touched)];
    (is_any(info) && is_known).then(|| Picture::new(id, title, time(info).0, y, traces))
}

fn offset_map(
    info: &Info,
    map: &OffsetMap,
    quantity: &'static str,
    id: String,
    title: String,
) -> Option<Picture> {
    let end = |map: &OffsetMap| {
        let rows = map.cells.iter().map(|cell| u64::from(cell.1) + 1).max().unwrap_or(0);
        rows as f64 * map.row_bytes as f64
    };
    let both = || [&info.read_offsets, &info.write_offsets].into_iter();
    let full = both().flat_map(|map| &map.cells).map(|cell| cell.2).max()?;
    let rows = map.cells.iter().map(|cell| cell.1 as usize + 1).max()?;
    let mut columns = vec![vec![0.0; rows]; info.windows.len()];
    for OffsetCell(window, row, count) in &map.cells {
        columns[*window as usize][*row as usize] = *count as f64;
    }
    let (x, time_unit) = time(info);
    let edge = |index: usize| index as f64 * info.window_ns as f64 / time_unit;
    let heat = Heat {
        x_edges: (0..=columns.len()).map(edge).collect(),
        y_edges: (0..=rows).map(|row| row as f64 * map.row_bytes as f64).collect(),
        columns,
        quantity,
        unit: quantity,
        full: full as f64,
    };
    let y = Axis::linear("offset, bytes", both().map(end).fold(0.0, f64::max));
    let y = y.named(bytes).untitled();
    Some(Picture::new(id, title, x, y, vec![Trace::Heat(heat)]))
}

/// Whether there is anything to draw.
fn is_any(info: &Info) -> bool {
    info.transfers.count > 0
}
