//! The parts that have rounds: each measures its mixes and sizes over and over, until what it tracks
//! is steady, and at most 25 times. The figures are averages over the last five rounds.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Totals};
use writecliff_workload::{RandomUniform, Sequential};

use super::part::Metric;
use super::plan::{BySeries, Plan, SEQUENTIAL, SEQUENTIAL_LARGE, TRACKED};
use crate::method::estimate::Estimate;
use crate::method::session::{Extent, RunError, Session};
use crate::method::window::{Settled, WINDOW, Window, is_steady};
use crate::record::rate::Rate;
use crate::record::warning::{MethodWarning, Warning};

/// Sequential writes in flight before the rounds.
pub(super) const PRECONDITION_QUEUE_DEPTH: usize = 32;

impl Metric {
    /// The figure that steadiness is judged by: IOPS, MB/s, or mean latency in µs.
    fn tracked(self, rate: &Rate) -> f64 {
        match self {
            Self::Iops => rate.iops,
            Self::Throughput | Self::ThroughputMib => rate.megabytes_per_second,
            Self::Latency => rate.mean_ns as f64 / 1e3,
        }
    }

    /// The share of reads and the size that it is judged by.
    fn tracked_cell(self) -> (u8, Bytes) {
        let size = match self {
            Self::Throughput => SEQUENTIAL,
            Self::ThroughputMib => SEQUENTIAL_LARGE,
            Self::Iops | Self::Latency => TRACKED,
        };
        (0, size)
    }
}

/// One measurement of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Anywhere in the span, or in order.
    pub random: bool,
    /// Share of the I/Os, in percent, that read; the rest write.
    pub read_percent: u8,
    /// Size of an I/O.
    pub size: Bytes,
    /// I/Os in flight.
    pub queue_depth: usize,
}

/// Of as many rounds as a drive usually takes, which is not known beforehand.
pub(super) fn estimate(
    plan: &Plan,
    metric: Metric,
    drive: &DeviceInfo,
    before: Estimate,
) -> Estimate {
    let written = Bytes(plan.used(drive).0 * u64::from(plan.precondition_passes));
    let measurements = cells(plan, metric, drive.lba_size).len() as u64 * WINDOW as u64;
    let time = Nanos(plan.measurement.0 * measurements);
    // About half of a part's time goes to writes.
    before.fill(written).random(Nanos(time.0 / 2)).rest(Nanos(time.0 / 2))
}

pub(super) fn run(plan: &Plan, session: &mut Session<'_>, metric: Metric) -> Result<(), RunError> {
    precondition(plan, session, metric.name())?;
    rounds(plan, session, metric)
}

/// The measurements of each round, in order.
fn cells(plan: &Plan, metric: Metric, lba_size: Bytes) -> Vec<Cell> {
    let queue_depth = plan.queue_depth;
    match metric {
        Metric::Iops => {
            let mixes = plan.iops_read_percents.iter();
            mixes
                .flat_map(|read_percent| {
                    let (random, read_percent) = (true, *read_percent);
                    let cell = move |size| Cell { random, read_percent, size, queue_depth };
                    let sizes = plan.iops_sizes.iter().copied();
                    sizes.filter(move |size| size.is_multiple_of(lba_size)).map(cell)
                })
                .collect()
        }
        Metric::Throughput | Metric::ThroughputMib => {
            let (random, (_, size)) = (false, metric.tracked_cell());
            [100, 0].map(|read_percent| Cell { random, read_percent, size, queue_depth }).to_vec()
        }
        Metric::Latency => [100, 65, 0]
            .into_iter()
            .flat_map(|read_percent| {
                let sizes = [Bytes::from_kib(8), TRACKED, Bytes(512)];
                let cell = move |size| Cell { random: true, read_percent, size, queue_depth: 1 };
                sizes.into_iter().filter(move |s| s.is_multiple_of(lba_size)).map(cell)
            })
            .collect(),
    }
}

/// The round's phase in `run.json`.
fn round_phase(metric: Metric, round: u32) -> String {
    format!("{} round {round}", metric.name())
}

/// The series of one measurement of a round; rounds count from 1.
pub fn series(metric: Metric, round: u32, read_percent: u8, size: Bytes) -> String {
    format!("{}/{round}/{read_percent}%/{}", metric.name(), size.exact())
}

/// Sequential writes before the rounds of the part named.
pub(super) fn precondition(
    plan: &Plan,
    session: &mut Session<'_>,
    part: &str,
) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    for pass in 1..=plan.precondition_passes {
        let name = format!("{part} precondition {pass}");
        session.fill(&name, span, SEQUENTIAL, PRECONDITION_QUEUE_DEPTH)?;
    }
    Ok(())
}

/// Rounds until what is tracked is steady.
fn rounds(plan: &Plan, session: &mut Session<'_>, metric: Metric) -> Result<(), RunError> {
    let cells = cells(plan, metric, session.drive().lba_size);
    let mut tracked = Vec::new();
    for round in 1..=plan.rounds_max {
        session.phase(&round_phase(metric, round), |session| {
            for cell in &cells {
                let rate = measure(plan, session, metric, round, cell)?;
                if (cell.read_percent, cell.size) == metric.tracked_cell() {
                    tracked.extend(rate.map(|rate| metric.tracked(&rate)));
                }
            }
            Ok(())
        })?;
        if is_steady(&tracked).is_some() {
            break;
        }
    }
    Ok(())
}

fn measure(
    plan: &Plan,
    session: &mut Session<'_>,
    metric: Metric,
    round: u32,
    cell: &Cell,
) -> Result<Option<Rate>, RunError> {
    let span = plan.used(session.drive());
    let (queue_depth, duration) = (cell.queue_depth, Some(plan.measurement));
    let name = series(metric, round, cell.read_percent, cell.size);
    let extent = Extent::Time(plan.measurement);
    let seed = plan.seed_of(&name);
    if cell.random {
        let ios = RandomUniform::new(Operation::Write, span, cell.size, seed);
        let ios = ios.with_reads(cell.read_percent);
        session.series(&name, Queue::new(ios, queue_depth), duration, extent)
    } else {
        let operation = if cell.read_percent == 0 { Operation::Write } else { Operation::Read };
        let ios = std::iter::repeat(Sequential::new(operation, span, cell.size)).flatten();
        session.series(&name, Queue::new(ios, queue_depth), duration, extent)
    }
}

/// What the rounds of a part came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartOutcome {
    /// Which.
    pub part: Metric,
    /// The tracked figure of each round: IOPS, MB/s (10^6), or mean latency in µs.
    pub tracked: Vec<f64>,
    /// The last five rounds, or all if there are fewer.
    pub window: Window,
    /// Whether these are steady.
    pub steady: bool,
    /// Averages over these rounds.
    pub cells: Vec<CellFigures>,
}

/// One mix and size, averaged over the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CellFigures {
    /// Which.
    pub cell: Cell,
    /// How fast and how late.
    pub rate: Rate,
    /// What the part tracks, of this cell, if its rounds are not steady by the rule, which asks for the tracked cell's
    /// alone. Older runs do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsteady: Option<Window>,
}

impl PartOutcome {
    /// Whether there were as many rounds as the rule looks at.
    pub fn is_judged(&self) -> bool {
        self.tracked.len() >= WINDOW
    }

    pub(super) fn doubt(&self) -> Option<Warning> {
        let (part, rounds) = (self.part.name().to_owned(), self.tracked.len() as u32);
        (!self.steady).then_some(Warning::Method(MethodWarning::NeverSteady { part, rounds }))
    }
}

/// `None` if not one round was recorded.
pub(super) fn conclude(
    plan: &Plan,
    metric: Metric,
    by_series: &BySeries<'_>,
) -> Option<PartOutcome> {
    let samples = |name: String| by_series.get(name.as_str()).map_or(&[][..], |found| &found[..]);
    let figure = |round| {
        let (read_percent, size) = metric.tracked_cell();
        let samples = samples(series(metric, round, read_percent, size));
        // One that was broken off is no round.
        let totals = Totals::of(samples.iter().copied());
        let rate = Rate::of(&totals).filter(|_| totals.span >= plan.measurement)?;
        Some(metric.tracked(&rate))
    };
    let settled = Settled::of((1..=plan.rounds_max).map_while(figure).collect())?;
    let Settled { tracked, window, steady } = settled;
    let in_window = |cell: &Cell| {
        let of_round = |round| samples(series(metric, round, cell.read_percent, cell.size));
        let rounds = || (window.first_round..=tracked.len() as u32).map(of_round);
        let rate = Rate::of(&Totals::of(rounds().flatten().copied()))?;
        // Rounds last equally long, and each counts as much as any other, however many I/Os it had.
        let of_each = rounds().filter_map(|round| Rate::of(&Totals::of(round.iter().copied())));
        let of_each: Vec<Rate> = of_each.collect();
        let mean_ns = of_each.iter().map(|rate| rate.mean_ns).sum::<u64>() / of_each.len() as u64;
        let figures: Vec<f64> = of_each.iter().map(|rate| metric.tracked(rate)).collect();
        let unsteady = Some(Window::of(&figures, window.first_round)).filter(|w| !w.is_steady());
        Some(CellFigures { cell: *cell, rate: Rate { mean_ns, ..rate }, unsteady })
    };
    // Sizes that the drive cannot be asked for have no samples, and so no figures.
    let cells = cells(plan, metric, Bytes(1)).iter().filter_map(in_window).collect();
    Some(PartOutcome { part: metric, tracked, window, steady, cells })
}

#[cfg(test)]
mod tests {
    use writecliff_measure::Sample;

    use super::*;

    /// One I/O at a time, of so many microseconds each.
    fn seconds(series: &str, micros: u64) -> Vec<Sample> {
        let ios = 1_000_000 / micros;
        let second = |second: u64| Sample {
            series: series.into(),
            start_ns: second * 1_000_000_000,
            span_ns: 1_000_000_000,
            writes: ios,
            written_bytes: ios * 8192,
            latency_mean_ns: micros * 1000,
            latency_max_ns: micros * 1000,
            ..Sample::default()
        };
        (0..60).map(second).collect()
    }

    #[test]
    fn every_round_counts_alike_however_many_ios_it_had() {
        let plan = Plan::default();
        let (percent, tracked) = Metric::Latency.tracked_cell();
        let other = Bytes::from_kib(8);
        let all: Vec<(String, Vec<Sample>)> = (1..=5)
            .flat_map(|round| {
                let name = |size| series(Metric::Latency, round, percent, size);
                let micros = if round == 1 { 100 } else { 500 };
                [(name(tracked), 200), (name(other), micros)]
            })
            .map(|(name, micros)| (name.clone(), seconds(&name, micros)))
            .collect();
        let by_series =
            all.iter().map(|(name, samples)| (name.as_str(), samples.iter().collect())).collect();
        let outcome = conclude(&plan, Metric::Latency, &by_series).unwrap();
        assert!(outcome.steady, "{outcome:?}");
        let of = |size| {
            let is_it =
                |one: &&CellFigures| (one.cell.read_percent, one.cell.size) == (percent, size);
            outcome.cells.iter().find(is_it)
        };
        let (other, tracked) = (of(other).unwrap(), of(tracked).unwrap());
        assert_eq!(other.rate.mean_ns, 420_000);
        assert_eq!(tracked.rate.mean_ns, 200_000);
        let range = other.unsteady.map(|window| (window.range * 100.0).round());
        assert_eq!((range, tracked.unsteady), (Some(95.0), None), "400 of 420 µs");
    }
}
