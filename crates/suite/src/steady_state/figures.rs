//! The figures of the test: every mix and size of each part, and what became of write saturation.

use super::saturation::{self, Saturation};
use super::{CellFigures, Metric, Outcome, PartOutcome};
use crate::Unit;
use crate::figure::{Figure, Good};

pub(super) fn of(outcome: &Outcome) -> Vec<Figure> {
    let parts = outcome.parts.iter().flat_map(of_part);
    parts.chain(outcome.saturation.iter().flat_map(of_saturation)).collect()
}

fn of_part(part: &PartOutcome) -> Vec<Figure> {
    let name = part.part.name();
    let average = part.window.average;
    let tracked = format!("{name}, tracked");
    let tracked = match part.part {
        Metric::Iops => Figure::iops(tracked, average),
        Metric::Throughput | Metric::ThroughputMib => Figure::rate(tracked, average),
        // In microseconds.
        Metric::Latency => Figure::new(tracked, average / 1e3, Unit::Milliseconds, Good::AtMost),
    };
    let cells = part.cells.iter().flat_map(|cell| of_cell(name, cell));
    [tracked.of(name).unjudged()].into_iter().chain(cells).collect()
}

fn of_cell(part: &str, CellFigures { cell, rate }: &CellFigures) -> [Figure; 4] {
    let of = format!("{part}, {} % reads of {}", cell.read_percent, cell.size.exact());
    let name = |figure: &str| format!("{of}, {figure}");
    [
        Figure::iops(&of, rate.iops).of(&of),
        Figure::rate(name("data rate"), rate.megabytes_per_second).of(&of).unjudged(),
        Figure::latency(name("mean"), rate.mean_ns).of(&of).unjudged(),
        Figure::latency(name("longest"), rate.max_ns).of(&of).unjudged(),
    ]
}

fn of_saturation(saturation: &Saturation) -> Vec<Figure> {
    let name = |figure: &str| format!("{}, {figure}", saturation::NAME);
    let amplification = saturation.write_amplification.map(|amplification| {
        Figure::new(name("write amplification"), amplification, Unit::Ratio, Good::AtMost)
    });
    let speed = [
        Figure::iops(name("at first"), saturation.first_iops),
        Figure::iops(name("in the end"), saturation.last_iops),
        Figure::latency(name("mean in the end"), saturation.last_mean_ns),
    ];
    let all = speed.into_iter().chain(amplification);
    all.map(|figure| figure.of(saturation::NAME).unjudged()).collect()
}
