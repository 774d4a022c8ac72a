//! A sentence for each test, for drives that lack the tests of the verdict in five sentences.

use writecliff_device::Operation;
use writecliff_suite::corners::{CornerFigures, Data};
use writecliff_suite::{
    Outcome, corners, incompressible, mixed, power, steady_state, storage_bench, stutter,
    transfer_size,
};

use crate::number;

/// What a test found, and the anchor of its section; `None` if the verdict has it or it found
/// nothing.
pub(crate) fn headline(outcome: &Outcome) -> Option<(String, &'static str)> {
    match outcome {
        Outcome::Corners(outcome) => Some((of_corners(outcome), corners::NAME)),
        Outcome::Incompressible(outcome) => {
            Some((of_incompressible(outcome)?, incompressible::NAME))
        }
        Outcome::TransferSize(outcome) => Some((of_transfer_size(outcome)?, transfer_size::NAME)),
        Outcome::Stutter(outcome) => Some((of_stutter(outcome), stutter::NAME)),
        Outcome::StorageBench(outcome) => Some((of_storage_bench(outcome)?, storage_bench::NAME)),
        Outcome::Power(outcome) => Some((of_power(outcome)?, power::NAME)),
        Outcome::SteadyState(outcome) => Some((of_steady_state(outcome)?, steady_state::NAME)),
        Outcome::Mixed(outcome) => Some((of_mixed(outcome)?, mixed::NAME)),
        Outcome::Consistency(_) | Outcome::SpareArea(_) | Outcome::Trim(_) => None,
    }
}

fn of_corners(outcome: &corners::Outcome) -> String {
    let in_words = |figures: &CornerFigures| {
        let corner = figures.corner;
        let operation = if corner.operation == Operation::Read { "reads" } else { "writes" };
        let (order, rate) = match corner.random {
            true => ("random", number::iops(figures.rate.iops)),
            false => {
                ("sequential", number::megabytes_per_second(figures.rate.megabytes_per_second))
            }
        };
        format!("{order} {operation} at QD{} {rate}", corner.queue_depth)
    };
    let all = outcome.corners.iter().filter(|figures| figures.corner.data == Data::Random);
    format!("Corners: {}.", all.map(in_words).collect::<Vec<_>>().join(", "))
}

fn of_incompressible(outcome: &incompressible::Outcome) -> Option<String> {
    let (first, last) = (outcome.steps.first()?, outcome.steps.last()?);
    let rate = number::megabytes_per_second;
    if (last.write / first.write - 1.0).abs() < 0.02 {
        let rate = rate(first.write);
        return Some(format!("Compressible data make no difference: it writes {rate} of any."));
    }
    Some(format!(
        "It writes {} of data that are {} % compressible, and {} at {} %.",
        rate(first.write),
        first.compressible_percent,
        rate(last.write),
        last.compressible_percent
    ))
}

fn of_transfer_size(outcome: &transfer_size::Outcome) -> Option<String> {
    let best = outcome.sizes.iter().map(|figures| figures.write).fold(0.0, f64::max);
    // Where the curve is level.
    let enough = outcome.sizes.iter().find(|figures| figures.write >= 0.9 * best)?;
    let (best, size) = (number::megabytes_per_second(best), enough.size.exact());
    Some(format!("Writes reach 90 % of their best rate, {best}, at {size}."))
}

fn of_stutter(outcome: &stutter::Outcome) -> String {
    let (longest, mean) = (outcome.latency.max_ns, outcome.mean_ns);
    let noticed = match outcome.over_100ms {
        0.0 => String::new(),
        share => format!("; {} took over 100 ms, which a person notices", number::percent(share)),
    };
    format!(
        "The longest pause of a small write was {}, the average {}{noticed}.",
        number::latency(longest),
        number::latency(mean)
    )
}

fn of_storage_bench(outcome: &storage_bench::Outcome) -> Option<String> {
    let in_words = |served: &storage_bench::Served| {
        let rate = number::megabytes_per_second(served.all.megabytes_per_second);
        let service = served.all.service;
        let (mean, deviation) =
            (number::latency(service.mean_ns), number::latency(service.deviation_ns));
        let synthetic = if served.synthetic { " (synthetic)" } else { "" };
        let trace = &served.trace;
        format!("{trace}{synthetic} at {rate}, average service time {mean} ± {deviation}")
    };
    let all: Vec<String> = outcome.traces.iter().map(in_words).collect();
    (!all.is_empty()).then(|| format!("Application traces: {}.", all.join("; ")))
}

fn of_power(outcome: &power::Outcome) -> Option<String> {
    let watts = |name| outcome.phases.iter().find(|phase| phase.phase == name).map(|p| p.mean);
    let (idle, busy) = (watts(power::IDLE)?, watts(power::SEQUENTIAL_WRITE)?);
    Some(format!("It draws {idle:.2} W idle and {busy:.2} W in sequential writes."))
}

fn of_steady_state(outcome: &steady_state::Outcome) -> Option<String> {
    let part = outcome.parts.iter().find(|part| part.part == steady_state::Part::Iops)?;
    let verdict = if part.steady { "steady" } else { "not steady" };
    let iops = number::iops(part.window.average);
    Some(format!("By SNIA's rule: {iops} of 4KiB random writes, {verdict}."))
}

fn of_mixed(outcome: &mixed::Outcome) -> Option<String> {
    let streams = outcome.jobs.iter().flat_map(|job| {
        job.operations().map(|(operation, figures)| {
            format!("{} {operation} {}", job.name, number::iops(figures.iops))
        })
    });
    let streams: Vec<String> = streams.collect();
    // More is a table, not a sentence.
    const MAX: usize = 4;
    let more = if streams.len() > MAX { ", and more" } else { "" };
    let first = streams.get(..streams.len().min(MAX)).filter(|first| !first.is_empty())?;
    Some(format!("Jobs: {}{more}.", first.join(", ")))
}
