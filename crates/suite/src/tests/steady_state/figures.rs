//! The figures of the test: every mix and size of each part, and what became of write saturation.

use super::cross_stimulus::{CrossStimulus, Stage};
use super::demand::{Demand, DemandFigures};
use super::host_idle::{AfterRest, HostIdle};
use super::outcome::Outcome;
use super::part::{Metric, Part, SATURATION};
use super::rounds::{CellFigures, PartOutcome};
use super::saturation::Saturation;
use crate::record::figure::{Figure, Good};
use crate::record::unit::Unit;

pub(super) fn of(outcome: &Outcome) -> Vec<Figure> {
    let parts = outcome.parts.iter().flat_map(of_part);
    let saturation = outcome.saturation.iter().flat_map(of_saturation);
    let idle = outcome.host_idle.iter().flat_map(of_idle);
    let cross = outcome.cross_stimulus.iter().flat_map(of_cross);
    let demands = outcome.demands.iter().flat_map(of_demand);
    parts.chain(saturation).chain(idle).chain(cross).chain(demands).collect()
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

fn of_cell(part: &str, CellFigures { cell, rate, .. }: &CellFigures) -> [Figure; 4] {
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
    let name = |figure: &str| format!("{}, {figure}", SATURATION);
    let amplification = saturation.write_amplification.map(|amplification| {
        Figure::new(name("write amplification"), amplification, Unit::Ratio, Good::AtMost)
    });
    let speed = [
        Figure::iops(name("at first"), saturation.first_iops),
        Figure::iops(name("in the end"), saturation.last_iops),
        Figure::latency(name("mean in the end"), saturation.last_mean_ns),
    ];
    let all = speed.into_iter().chain(amplification);
    all.map(|figure| figure.of(SATURATION).unjudged()).collect()
}

fn of_idle(idle: &HostIdle) -> Vec<Figure> {
    let part = Part::HostIdleRecovery.name();
    let without = Figure::iops(format!("{part}, without rests"), idle.before.window.average);
    let of_rest = |after: &AfterRest| {
        let name = format!("{part}, rests of {}", after.rest.exact());
        let back = Figure::iops(format!("{name}, writes without rests after"), after.baseline_iops);
        [Figure::iops(&name, after.iops), back.unjudged()]
    };
    let all = [without].into_iter().chain(idle.rests.iter().flat_map(of_rest));
    all.map(|figure| figure.of(part)).collect()
}

fn of_cross(cross: &CrossStimulus) -> Vec<Figure> {
    let part = Part::CrossStimulusRecovery.name();
    let stages = Stage::ALL.into_iter().zip(&cross.stages).flat_map(|(stage, figures)| {
        let name = stage.series();
        [
            Figure::rate(format!("{name}, in the end"), figures.end_megabytes_per_second),
            Figure::latency(format!("{name}, worst mean"), figures.worst_mean_ns).unjudged(),
            Figure::latency(format!("{name}, longest"), figures.rate.max_ns).unjudged(),
        ]
    });
    let recovered = cross.recovered_after.map(|after| {
        let name = format!("{part}, until as fast as before");
        Figure::new(name, after.as_secs_f64(), Unit::Seconds, Good::AtMost)
    });
    stages.chain(recovered).map(|figure| figure.of(part)).collect()
}

fn of_demand(demand: &Demand) -> Vec<Figure> {
    let part = demand.mixture.part().name();
    let best = demand
        .best_in_time()
        .map(|best| Figure::iops(format!("{part}, at most 5 ms on average"), best.rate.iops));
    let of_depth = |one: &DemandFigures| {
        let name = format!("{part} at QD{}", one.queue_depth);
        let mean = Figure::latency(format!("{name}, mean"), one.rate.mean_ns).unjudged();
        let p99 = Figure::percentile(format!("{name}, p99"), one.latency.p99_ns);
        [Some(Figure::iops(&name, one.rate.iops)), Some(mean), p99.map(Figure::unjudged)]
    };
    let all = best.into_iter().chain(demand.depths.iter().flat_map(of_depth).flatten());
    all.map(|figure| figure.of(part)).collect()
}
