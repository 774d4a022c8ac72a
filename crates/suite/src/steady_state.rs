//! Steady state: the drive's performance by the SNIA Solid State Storage Performance Test
//! Specification (PTS) 2.0.2.
//!
//! Each part begins with a purge; all but write saturation then write twice the capacity in order
//! and run rounds until the tracked figure is steady: over five rounds its range is at most 20 % of its average,
//! and the line fitted through them rises by at most 10 % of it; at most 25 rounds. The figures are
//! averages over these five rounds.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Sample, Totals};
use writecliff_workload::{RandomUniform, Sequential};

use crate::plan::{
    QUICK_MEASUREMENT, QUICK_TORTURE, check_block, check_depths, check_duration, check_list,
    quick_span, used,
};
use crate::session::{Extent, RunError, Session};
use crate::{Demands, Estimate, Overrides, PlanError, Rate, Warning};

/// The test's name on the command line and in files.
pub const NAME: &str = "steady-state";
/// What it answers.
pub const QUESTION: &str = "what is left in steady state, by SNIA's test specification?";
pub(crate) const BY_DEFAULT: bool = false;

/// Rounds that are looked at together.
pub const WINDOW: usize = 5;
/// The range over the window may be this share of its average, and no more.
const RANGE_MAX: f64 = 0.20;
/// The fitted line may rise by this share of the average over the window, and no more.
const RISE_MAX: f64 = 0.10;

/// What to do. The defaults are the specification's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The parts to run.
    pub parts: Vec<Part>,
    /// Shares of reads, in percent, of the IOPS part.
    pub iops_read_percents: Vec<u8>,
    /// Sizes of the IOPS part; those that are not whole LBAs of the drive are left out.
    pub iops_sizes: Vec<Bytes>,
    /// I/Os in flight of the IOPS, throughput and write saturation parts.
    pub queue_depth: usize,
    /// Length of a measurement of one mix and size.
    pub measurement: Nanos,
    /// The most rounds of a part.
    pub rounds_max: u32,
    /// Times the capacity that is written in order before the rounds.
    pub precondition_passes: u32,
    /// Times the capacity that write saturation writes...
    pub saturation_passes: u32,
    /// ... but for no longer than this.
    pub saturation_limit: Nanos,
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written, in which order, and with what data.
    pub seed: u64,
}

/// A part of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Random IOPS over mixes and sizes; tracked: 4 KiB writes.
    Iops,
    /// 128 KiB sequential throughput; tracked: writes.
    Throughput,
    /// Response times one I/O at a time; tracked: 4 KiB writes.
    Latency,
    /// 4 KiB random writes without pause.
    WriteSaturation,
}

impl Part {
    /// Its name in phases and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::WriteSaturation => "write-saturation",
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            parts: vec![Part::Iops, Part::Throughput, Part::Latency, Part::WriteSaturation],
            iops_read_percents: vec![100, 95, 65, 50, 35, 5, 0],
            iops_sizes: [1024, 128, 64, 32, 16, 8, 4]
                .map(Bytes::from_kib)
                .into_iter()
                .chain([Bytes(512)])
                .collect(),
            queue_depth: 32,
            measurement: Nanos::from_secs(60),
            rounds_max: 25,
            precondition_passes: 2,
            saturation_passes: 4,
            saturation_limit: Nanos::from_secs(24 * 3600),
            span: None,
            seed: 1,
        }
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

/// 4 KiB: what the specification tracks.
const TRACKED: Bytes = Bytes::from_kib(4);
/// Size of a sequential I/O.
const SEQUENTIAL: Bytes = Bytes::from_kib(128);
/// Sequential writes in flight before the rounds.
const PRECONDITION_QUEUE_DEPTH: usize = 32;

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, TRACKED)
    }

    /// The measurements of each round of a part, in order; none for write saturation, which has
    /// one long one.
    pub fn cells(&self, part: Part, lba_size: Bytes) -> Vec<Cell> {
        let queue_depth = self.queue_depth;
        match part {
            Part::Iops => {
                let mixes = self.iops_read_percents.iter();
                mixes
                    .flat_map(|read_percent| {
                        let (random, read_percent) = (true, *read_percent);
                        let cell = move |size| Cell { random, read_percent, size, queue_depth };
                        let sizes = self.iops_sizes.iter().copied();
                        sizes.filter(move |size| size.is_multiple_of(lba_size)).map(cell)
                    })
                    .collect()
            }
            Part::Throughput => [100, 0]
                .map(|read_percent| Cell {
                    random: false,
                    read_percent,
                    size: SEQUENTIAL,
                    queue_depth,
                })
                .to_vec(),
            Part::Latency => [100, 65, 0]
                .into_iter()
                .flat_map(|read_percent| {
                    let sizes = [Bytes::from_kib(8), TRACKED, Bytes(512)];
                    let cell =
                        move |size| Cell { random: true, read_percent, size, queue_depth: 1 };
                    sizes.into_iter().filter(move |s| s.is_multiple_of(lba_size)).map(cell)
                })
                .collect(),
            Part::WriteSaturation => Vec::new(),
        }
    }

    pub(crate) fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        overrides.refuse_spare(NAME)?;
        let measurement = overrides.duration.unwrap_or(self.measurement);
        Ok(Self { measurement, seed: overrides.seed.unwrap_or(self.seed), ..self })
    }

    pub(crate) fn quick(self) -> Self {
        Self {
            iops_read_percents: vec![100, 65, 0],
            iops_sizes: vec![Bytes::from_kib(128), TRACKED],
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            rounds_max: WINDOW as u32,
            saturation_limit: QUICK_TORTURE.min(self.saturation_limit),
            span: quick_span(self.span),
            ..self
        }
    }

    pub(crate) fn demands(&self) -> Demands {
        let largest = self.iops_sizes.iter().copied().max().unwrap_or(TRACKED);
        Demands {
            queue_depth: self.queue_depth.max(PRECONDITION_QUEUE_DEPTH),
            io_size: largest.max(SEQUENTIAL),
        }
    }

    /// Of as many rounds as a drive usually takes, which is not known beforehand.
    pub(crate) fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let used = self.used(drive);
        let before = Bytes(used.0 * u64::from(self.precondition_passes));
        self.parts.iter().fold(Estimate::on(drive), |estimate, part| {
            if *part == Part::WriteSaturation {
                let written = Bytes(used.0 * u64::from(self.saturation_passes));
                let rate = Estimate::on(drive).random(Nanos::from_secs(1)).written;
                let time = Nanos::from_secs(written.0 / rate.0.max(1)).min(self.saturation_limit);
                return estimate.random(time);
            }
            let cells = self.cells(*part, drive.lba_size).len() as u64 * WINDOW as u64;
            let time = Nanos(self.measurement.0 * cells);
            // About half of a part's time goes to writes.
            estimate.fill(before).random(Nanos(time.0 / 2)).rest(Nanos(time.0 / 2))
        })
    }

    pub(crate) fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let refuse = |option, got: String, reason: &str| {
            Err(PlanError { option, got, reason: reason.to_owned() })
        };
        check_duration("--duration", self.measurement)?;
        check_duration("saturation_limit", self.saturation_limit)?;
        check_block(TRACKED, self.span, drive)?;
        check_block(SEQUENTIAL, self.span, drive)?;
        check_list("parts", &self.parts)?;
        check_list("iops_read_percents", &self.iops_read_percents)?;
        check_list("iops_sizes", &self.iops_sizes)?;
        let sizes = self.iops_sizes.iter().filter(|size| size.is_multiple_of(drive.lba_size));
        sizes.copied().try_for_each(|size| check_block(size, self.span, drive))?;
        if self.rounds_max < WINDOW as u32 {
            let got = self.rounds_max.to_string();
            return refuse("rounds_max", got, "steady state is a matter of at least 5 rounds");
        }
        if self.iops_read_percents.iter().any(|percent| *percent > 100) {
            let got = format!("{:?}", self.iops_read_percents);
            return refuse("iops_read_percents", got, "a share is at most 100 percent");
        }
        let tracks = self.iops_read_percents.contains(&0) && self.iops_sizes.contains(&TRACKED);
        if self.parts.contains(&Part::Iops) && !tracks {
            let got = format!("{:?} of {:?}", self.iops_read_percents, self.iops_sizes);
            return refuse("the IOPS part", got, "it tracks 4KiB at 0 percent reads; add them");
        }
        check_depths([self.queue_depth, PRECONDITION_QUEUE_DEPTH], drive)
    }
}

/// The round's phase in `run.json`.
fn round_phase(part: Part, round: u32) -> String {
    format!("{} round {round}", part.name())
}

/// The series of one measurement of a round; rounds count from 1.
pub fn series(part: Part, round: u32, read_percent: u8, size: Bytes) -> String {
    format!("{}/{round}/{read_percent}%/{}", part.name(), size.exact())
}

pub(crate) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    for part in &plan.parts {
        session.purge()?;
        match part {
            // Begins on the fresh drive: that is what it shows.
            Part::WriteSaturation => saturate(plan, session)?,
            _ => {
                precondition(plan, session, *part)?;
                rounds(plan, session, *part)?;
            }
        }
    }
    Ok(())
}

fn precondition(plan: &Plan, session: &mut Session<'_>, part: Part) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    for pass in 1..=plan.precondition_passes {
        let name = format!("{} precondition {pass}", part.name());
        session.fill(&name, span, SEQUENTIAL, PRECONDITION_QUEUE_DEPTH)?;
    }
    Ok(())
}

/// Rounds until what is tracked is steady.
fn rounds(plan: &Plan, session: &mut Session<'_>, part: Part) -> Result<(), RunError> {
    let cells = plan.cells(part, session.drive().lba_size);
    let mut tracked = Vec::new();
    for round in 1..=plan.rounds_max {
        session.phase(&round_phase(part, round), |session| {
            for cell in &cells {
                let rate = measure(plan, session, part, round, cell)?;
                if (cell.read_percent, cell.size) == tracked_cell(part) {
                    tracked.extend(rate.map(|rate| tracked_figure(part, &rate)));
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
    part: Part,
    round: u32,
    cell: &Cell,
) -> Result<Option<Rate>, RunError> {
    let span = plan.used(session.drive());
    let (queue_depth, duration) = (cell.queue_depth, Some(plan.measurement));
    let name = series(part, round, cell.read_percent, cell.size);
    let extent = Extent::Time(plan.measurement);
    // Every measurement goes to places of its own, or drives would see the same writes again.
    let seed = plan.seed.wrapping_mul(1_000_003).wrapping_add(hash(&name));
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

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn saturate(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    let total = Bytes(span.0 * u64::from(plan.saturation_passes));
    let writes = (total.0 / TRACKED.0) as usize;
    let ios = RandomUniform::new(Operation::Write, span, TRACKED, plan.seed).take(writes);
    let (queue, limit) = (Queue::new(ios, plan.queue_depth), Some(plan.saturation_limit));
    session.record(Part::WriteSaturation.name(), queue, limit, Extent::Bytes(total))
}

/// The five rounds in which a figure was steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The first of them, from 1.
    pub first_round: u32,
    /// Their average.
    pub average: f64,
    /// Highest less lowest, as a share of the average.
    pub range: f64,
    /// Rise of the fitted line from the first to the last, as a share of the average.
    pub rise: f64,
}

impl Window {
    fn of(figures: &[f64], first_round: u32) -> Self {
        let average = figures.iter().sum::<f64>() / figures.len() as f64;
        let highest = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let range = if average == 0.0 { 0.0 } else { (highest - lowest) / average };
        Self { first_round, average, range, rise: writecliff_measure::drift(figures) }
    }

    /// The specification's rule; both bounds are still steady.
    pub fn is_steady(&self) -> bool {
        // What is equal to a bound must not fail by the last bit of a division.
        const ROUNDING: f64 = 1e-12;
        self.average > 0.0
            && self.range <= RANGE_MAX + ROUNDING
            && self.rise.abs() <= RISE_MAX + ROUNDING
    }
}

/// The window that ends with the last round, if the figures are steady in it.
fn is_steady(figures: &[f64]) -> Option<Window> {
    last_window(figures).filter(Window::is_steady)
}

fn last_window(figures: &[f64]) -> Option<Window> {
    let first = figures.len().checked_sub(WINDOW)?;
    Some(Window::of(&figures[first..], first as u32 + 1))
}

/// The parts that were run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// IOPS, throughput and latency, in the order of the plan.
    pub parts: Vec<PartOutcome>,
    /// Write saturation.
    pub saturation: Option<Saturation>,
}

/// What the rounds of a part came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartOutcome {
    /// Which.
    pub part: Part,
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
}

/// Write saturation: 4 KiB random writes without pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// What was written.
    pub written: Bytes,
    /// In what time.
    pub took: Nanos,
    /// IOPS of the first minute.
    pub first_iops: f64,
    /// IOPS of the last tenth.
    pub last_iops: f64,
    /// Mean service time in the last tenth, in nanoseconds.
    pub last_mean_ns: u64,
    /// NAND writes per host write, if the drive tells.
    pub write_amplification: Option<f64>,
}

/// What a part's steadiness is judged by: IOPS, MB/s, or mean latency in µs.
fn tracked_figure(part: Part, rate: &Rate) -> f64 {
    match part {
        Part::Throughput => rate.megabytes_per_second,
        Part::Latency => rate.mean_ns as f64 / 1e3,
        Part::Iops | Part::WriteSaturation => rate.iops,
    }
}

/// The share of reads and the size that it is judged by.
fn tracked_cell(part: Part) -> (u8, Bytes) {
    (0, if part == Part::Throughput { SEQUENTIAL } else { TRACKED })
}

pub(crate) fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let mut by_series: HashMap<&str, Vec<&Sample>> = HashMap::new();
    for sample in &recording.samples {
        by_series.entry(&sample.series).or_default().push(sample);
    }
    let (mut parts, mut saturation, mut warnings) = (Vec::new(), None, Vec::new());
    for part in &plan.parts {
        let is_there = if *part == Part::WriteSaturation {
            saturation = by_series.get(part.name()).and_then(|samples| saturated(samples));
            saturation.is_some()
        } else {
            let outcome = conclude_part(plan, *part, &by_series);
            if let Some(outcome) = outcome.as_ref().filter(|outcome| !outcome.steady) {
                let rounds = outcome.tracked.len() as u32;
                warnings.push(Warning::NeverSteady { part: part.name().to_owned(), rounds });
            }
            parts.extend(outcome);
            parts.last().is_some_and(|outcome: &PartOutcome| outcome.part == *part)
        };
        if !is_there {
            warnings
                .push(Warning::Ended { phase: format!("the end of a round of {}", part.name()) });
            break;
        }
    }
    let is_empty = parts.is_empty() && saturation.is_none();
    ((!is_empty).then_some(Outcome { parts, saturation }), warnings)
}

fn conclude_part(
    plan: &Plan,
    part: Part,
    by_series: &HashMap<&str, Vec<&Sample>>,
) -> Option<PartOutcome> {
    let samples = |name: String| by_series.get(name.as_str()).map_or(&[][..], |found| &found[..]);
    let figure = |round| {
        let (read_percent, size) = tracked_cell(part);
        let samples = samples(series(part, round, read_percent, size));
        // One that was broken off is no round.
        let totals = Totals::of(samples.iter().copied());
        let rate = Rate::of(&totals).filter(|_| totals.span >= plan.measurement)?;
        Some(tracked_figure(part, &rate))
    };
    let tracked: Vec<f64> = (1..=plan.rounds_max).map_while(figure).collect();
    let rounds = tracked.len();
    let first = rounds.saturating_sub(WINDOW);
    let window = (rounds > 0).then(|| Window::of(&tracked[first..], first as u32 + 1))?;
    let in_window = |cell: &Cell| {
        let rounds = window.first_round..=rounds as u32;
        let all = rounds.flat_map(|round| {
            samples(series(part, round, cell.read_percent, cell.size)).iter().copied()
        });
        Some(CellFigures { cell: *cell, rate: Rate::of(&Totals::of(all))? })
    };
    // Sizes that the drive cannot be asked for have no samples, and so no figures.
    let cells = plan.cells(part, Bytes(1)).iter().filter_map(in_window).collect();
    let steady = rounds >= WINDOW && window.is_steady();
    Some(PartOutcome { part, tracked, window, steady, cells })
}

fn saturated(samples: &[&Sample]) -> Option<Saturation> {
    let totals = |samples: &[&Sample]| Totals::of(samples.iter().copied());
    let rate = |samples: &[&Sample]| Rate::of(&totals(samples));
    let first = rate(&samples[..samples.len().min(60)])?;
    let last = rate(&samples[samples.len() - samples.len().div_ceil(10)..])?;
    let all = totals(samples);
    Some(Saturation {
        written: all.written,
        took: all.span,
        first_iops: first.iops,
        last_iops: last.iops,
        last_mean_ns: last.mean_ns,
        write_amplification: all.write_amplification(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(figures: &[f64]) -> bool {
        is_steady(figures).is_some()
    }

    #[test]
    fn a_range_of_exactly_20_percent_is_steady_and_a_hair_more_is_not() {
        // Average 100 and no rise: highest and lowest on either side of the middle.
        let symmetric = |half: f64| [100.0, 100.0 + half, 100.0 - 2.0 * half, 100.0 + half, 100.0];
        let range = |half: f64| 3.0 * half / 100.0;
        assert_eq!(range(20.0 / 3.0), 0.20);
        assert!(steady(&symmetric(20.0 / 3.0)));
        assert!(!steady(&symmetric(20.0 / 3.0 + 0.001)));
    }

    #[test]
    fn a_rise_of_exactly_10_percent_is_steady_and_a_hair_more_is_not() {
        let line = |rise: f64| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|step| 100.0 + step * rise / 4.0);
        assert!(steady(&line(10.0)) && steady(&line(-10.0)));
        assert!(!steady(&line(10.001)) && !steady(&line(-10.001)));
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        let mut figures = vec![900.0, 500.0];
        figures.extend([100.0; 4]);
        assert_eq!(is_steady(&figures), None);
        figures.push(100.0);
        assert_eq!(is_steady(&figures).unwrap().first_round, 3);
        assert_eq!(is_steady(&[100.0; 4]), None);
        assert_eq!(is_steady(&[0.0; 5]), None, "nothing at all is no steady state");
    }
}
