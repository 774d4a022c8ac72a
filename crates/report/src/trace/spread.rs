//! How figures of single operations are spread: sizes, queue depths, spans between them.

use writecliff_trace::{Class, Description, Info, Transfers};

use super::over_time::{height, points, time};
use super::view;
use crate::picture::{Axis, BLUE, ORANGE, PURPLE, Picture, Points, READS, WRITES, latency, short};
use crate::section::View;

/// Highest queue depth that a linear axis shows well.
const LINEAR_DEPTH_MAX: u32 = 64;

pub(super) fn sizes(traces: &[Description]) -> Vec<Option<View>> {
    let text = "Reads and writes by the power of two that they just fit into, in percent of both.";
    vec![view(traces, ("trace-sizes", "Sizes", text), |trace, id, title| {
        size_columns(&trace.info, id, title)
    })]
}

pub(super) fn queue(traces: &[Description]) -> Vec<Option<View>> {
    let computed = "In flight at the issue of each read and write, itself included.";
    let pauses = "Spans between the issues of operations that follow each other. Logarithmic; at \
                  the left edge those issued together.";
    vec![
        view(traces, ("trace-depths", "Queue depth", computed), |trace, id, title| {
            depth_columns(&trace.info, id, title)
        }),
        view(
            traces,
            (
                "trace-depths-over-time",
                "Queue depth over time",
                "The mean and the highest of each window of time; nothing where nothing was issued.",
            ),
            |trace, id, title| depths_over_time(&trace.info, id, title),
        ),
        view(
            traces,
            ("trace-inter-arrival", "Time between operations", pauses),
            |trace, id, title| inter_arrival(&trace.info, id, title),
        ),
    ]
}

fn size_columns(info: &Info, id: String, title: String) -> Option<Picture> {
    let classes = &info.transfers.size_classes;
    classes.first()?;
    let share = |transfers: &Transfers| -> Vec<(f64, f64)> {
        let of_all = |class: &Class| class.count as f64 * 100.0 / info.transfers.count as f64;
        let column = |(place, class): (usize, &Class)| {
            let own = transfers.size_classes.iter().find(|own| own.to == class.to)?;
            (own.count > 0).then(|| (place as f64, of_all(own)))
        };
        classes.iter().enumerate().filter_map(column).collect()
    };
    let (reads, writes) = (share(&info.reads), share(&info.writes));
    let x = Axis::names("size up to", classes.iter().map(|class| binary(class.to)).collect());
    let y = height("% of reads and writes", &[&reads, &writes]);
    let columns =
        vec![Points::columns("reads", READS, reads), Points::columns("writes", WRITES, writes)];
    Some(Picture::new(id, title, x, y, columns))
}

/// `4K`: binary, as sizes of operations are said.
fn binary(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

fn depth_columns(info: &Info, id: String, title: String) -> Option<Picture> {
    let depths = info.queue_depths.as_ref()?;
    let percent = |class: &Class| class.count as f64 * 100.0 / depths.known as f64;
    let column = |(place, class): (usize, &Class)| (place as f64, percent(class));
    let columns: Vec<(f64, f64)> = depths.classes.iter().enumerate().map(column).collect();
    let name = |class: &Class| match class.from == class.to {
        true => class.to.to_string(),
        false => format!("{}–{}", class.from, class.to),
    };
    let x = Axis::names("queue depth", depths.classes.iter().map(name).collect());
    let y = height("% of reads and writes", &[&columns]);
    let columns = vec![Points::columns("queue depth", PURPLE, columns)];
    Some(Picture::new(id, title, x, y, columns))
}

fn depths_over_time(info: &Info, id: String, title: String) -> Option<Picture> {
    let depths = info.queue_depths.as_ref()?;
    let mean = points(info, |window| window.queue_depth_mean);
    let highest = points(info, |window| Some(f64::from(window.queue_depth_max?)));
    let y = match depths.max > LINEAR_DEPTH_MAX {
        true => Axis::decades("queue depth", (1.0, f64::from(depths.max)), false, short),
        false => height("queue depth", &[&highest]),
    };
    // A line would lead through pauses, in which there is no depth.
    let traces = vec![Points::dots("highest", ORANGE, highest), Points::dots("mean", PURPLE, mean)];
    Some(Picture::new(id, title, time(info).0, y, traces))
}

fn inter_arrival(info: &Info, id: String, title: String) -> Option<Picture> {
    let classes = &info.inter_arrival_ns;
    let (first, last) = (classes.first()?, classes.last()?);
    let all: u64 = classes.iter().map(|class| class.count).sum();
    let column = |class: &Class| (class.to as f64, class.count as f64 * 100.0 / all as f64);
    let columns: Vec<(f64, f64)> = classes.iter().map(column).collect();
    let has_zero = first.to == 0;
    let shortest = classes.iter().find(|class| class.to > 0 && class.count > 0);
    let lowest = shortest.map_or(1.0, |class| class.to as f64 / 2.0).max(1.0);
    let range = (lowest, (last.to as f64).max(lowest * 2.0));
    let x = Axis::decades("ns between issues, up to", range, has_zero, latency).untitled();
    let y = height("% of operations", &[&columns]);
    Some(Picture::new(id, title, x, y, vec![Points::columns("operations", BLUE, columns)]))
}
