//! Skew: what does a drive gain when most of its data is left alone?
//!
//! Random writes all over a full drive until it is steady; then, each time from there, as many writes
//! of which most go to few pages, wherever these lie: by degrees (Zipf), hot and cold, and all to a
//! part while the rest is at rest. A drive that keeps hot pages apart from cold ones, or by and by
//! leaves the cold ones alone, has less to copy and becomes faster; one that waits for the emptiest block may become slower.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Totals};
use writecliff_workload::{
    Amount, Blocks, Distribution, Job, JobIos, Mix, Order, RandomUniform, Sizes, Zone,
};

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};
use crate::method::limits::{PlanError, check_block, check_depths, used};
use crate::method::quick::quick_span;
use crate::method::seed::seed_of;
use crate::method::separation::{best_write_amplification, mixed_write_amplification};
use crate::method::session::{Extent, RunError, Session};
use crate::method::settling::{DRIVE_WRITES_MAX, DRIVE_WRITES_MIN, Rounds, Settling, TIME_MAX};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::number::in_words;
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// The load that the others are compared with, and its phase.
pub const UNIFORM: &str = "uniform";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The skewed loads, in order.
    pub loads: Vec<Load>,
    /// How often each of them writes as much as is in use.
    pub drive_writes: f64,
    /// Size of a write.
    pub block: Bytes,
    /// Writes in flight.
    pub queue_depth: usize,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which pages are hot, and the order of the writes.
    pub seed: u64,
}

/// A skewed load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// What it is called, as a phase as well.
    pub name: String,
    /// Where the writes fall.
    pub distribution: Distribution,
}

impl Load {
    /// So many percent of the writes go to so many percent of the pages, scattered over all.
    fn of_zones(name: &str, [writes, pages]: [u32; 2]) -> Self {
        let zone = |ios, percent| Zone { ios, span: Amount::Percent(percent) };
        let zones = vec![zone(writes, pages), zone(100 - writes, 100 - pages)];
        Self { name: name.to_owned(), distribution: Distribution::Shuffled(zones) }
    }

    /// Before it the drive is written evenly again.
    fn before(index: usize) -> String {
        match index {
            0 => UNIFORM.to_owned(),
            _ => format!("{UNIFORM}-{}", index + 1),
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        let zipf = Load { name: "zipf".to_owned(), distribution: Distribution::Zipf(1.0) };
        Self {
            loads: vec![
                zipf,
                Load::of_zones("hot-and-cold", [90, 10]),
                Load::of_zones("at-rest", [100, 20]),
            ],
            drive_writes: 3.0,
            block: Bytes::from_kib(4),
            queue_depth: 32,
            span: None,
            seed: 1,
        }
    }
}

/// The figures of a load, of which a skewed one has another.
const FIGURES: [&str; 4] = ["IOPS", "write amplification", "p99", "settled after"];
const TIMES: &str = "times the even rate";
/// The even writes last so long at least.
const LEAST: Nanos = Nanos::from_secs(60);
/// A load has settled where no later round is farther from its last ones.
const SETTLED_WITHIN: f64 = 0.1;

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.block)
    }

    fn settling(&self, used: Bytes) -> Settling {
        Settling { block: self.block, least: LEAST, used }
    }

    /// What a round is: `a tenth of a drive write, or 3 s if that is more`.
    pub fn round_in_words(&self) -> String {
        Rounds::of(self.settling(self.block)).in_words()
    }

    /// Writes of a load.
    fn count(&self, used: Bytes) -> u64 {
        (used.0 as f64 / self.block.0 as f64 * self.drive_writes) as u64
    }

    fn job(&self, load: &Load, used: Bytes) -> Job {
        Job {
            name: load.name.clone(),
            mix: Mix::only(Operation::Write),
            order: Order::Random,
            block: Blocks::Same(Sizes::One(self.block)),
            size: Some(Amount::Bytes(used)),
            distribution: load.distribution.clone(),
            // Without end: they are counted.
            time_based: true,
            runtime: Some(Nanos(u64::MAX)),
            seed: Some(seed_of(self.seed, &load.name)),
            ..Job::default()
        }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "skew";
    const QUESTION: &'static str = "what does it gain when most of its data is left alone?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const NEEDS: &'static [Mechanism] = &[Mechanism::Collection];
    /// Not every load does.
    const NOT_ALWAYS: &'static [&'static str] = &["settled after"];

    fn quick(self) -> Self {
        Self { span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        let queue_depth = self.queue_depth.max(FILL_QUEUE_DEPTH);
        Demands { queue_depth, io_size: self.block.max(FILL_BLOCK) }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let used = self.used(drive);
        let time = LEAST..TIME_MAX;
        self.loads.iter().fold(Estimate::on(drive).fill(used), |estimate, _| {
            estimate.random_until(time.clone(), used, DRIVE_WRITES_MAX).random_until(
                time.clone(),
                used,
                self.drive_writes,
            )
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let refuse = |option, got: String, reason: &str| {
            Err(PlanError { option, got, reason: reason.to_owned() })
        };
        check_block(self.block, self.span, drive)?;
        check_depths([self.queue_depth, FILL_QUEUE_DEPTH], drive)?;
        if !(1.0..=100.0).contains(&self.drive_writes) {
            let reason = "each load writes the drive between 1 and 100 times over";
            return refuse("drive_writes", self.drive_writes.to_string(), reason);
        }
        if self.loads.is_empty() {
            return refuse("loads", "none".to_owned(), "there is at least one skewed load");
        }
        let used = self.used(drive);
        for (index, load) in self.loads.iter().enumerate() {
            let is_taken = self.loads[..index].iter().any(|other| other.name == load.name);
            if load.name.is_empty()
                || load.name.starts_with(UNIFORM)
                || load.name == FILL
                || is_taken
            {
                let reason = "each load has a name of its own, which begins with no other phase's";
                return refuse("the name of a load", format!("'{}'", load.name), reason);
            }
            if let Err(error) = self.job(load, used).check(drive.lba_size, drive.capacity) {
                return refuse("loads", load.name.clone(), &error.to_string());
            }
        }
        Ok(())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        // An array's NAND writes have copies and parity in them, which tell nothing of spare area.
        let is_one_drive = !known.drive.address.starts_with("array:");
        conclude(self, recording, is_one_drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        let loads = outcome.loads.iter().flat_map(|load| load.figures(Some(&outcome.uniform)));
        loads.chain(outcome.uniform.figures(None)).collect()
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        let of_skewed = self.loads.iter().flat_map(|load| {
            let all = FIGURES.iter().chain([&TIMES]);
            all.map(|figure| format!("{}, {figure}", load.name))
        });
        let of_uniform = FIGURES.iter().map(|figure| format!("{UNIFORM}, {figure}"));
        Some(of_skewed.chain(of_uniform).collect())
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let used = plan.used(session.drive());
    session.purge()?;
    session.fill(FILL, used, FILL_BLOCK, FILL_QUEUE_DEPTH)?;
    for (index, load) in plan.loads.iter().enumerate() {
        let even = Load::before(index);
        let seed = seed_of(plan.seed, &even);
        let ios = RandomUniform::new(Operation::Write, used, plan.block, seed);
        plan.settling(used).record(session, &even, ios, plan.queue_depth)?;
        let drive = session.drive();
        let ios: JobIos = plan.job(load, used).ios(drive.lba_size, drive.capacity);
        let count = plan.count(used);
        let writes = Queue::new(ios.take(count as usize), plan.queue_depth);
        session.record(&load.name, writes, None, Extent::Bytes(plan.block * count))?;
    }
    Ok(())
}

/// What skew came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the even writes, before the last skewed load that was done: those before the first may have been on the
    /// way there.
    pub uniform: LoadFigures,
    /// Of the skewed loads that were done.
    pub loads: Vec<LoadFigures>,
}

/// A load in its last five rounds, tenths of a drive write each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFigures {
    /// Which.
    pub name: String,
    /// How fast.
    pub rate: Rate,
    /// How late.
    pub latency: LatencyFigures,
    /// Pages that the NAND wrote for one of the host, if the drive counts them.
    pub write_amplification: Option<f64>,
    /// What it would be of a drive with this spare area, as the even writes tell it, that collects blocks
    /// in the order in which they were written (`method/separation.rs`). None of the even writes
    /// themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed_write_amplification: Option<f64>,
    /// What it would be at best with this spare area, as the even writes tell it: where pages of each
    /// temperature are kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_write_amplification: Option<f64>,
    /// From when on it was as it was in the end; `None` if that was not steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Moment>,
    /// Its rounds, in order.
    pub course: Vec<Round>,
}

/// A moment of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// How often the load had written as much as is in use.
    pub drive_writes: f64,
    /// Seconds from its beginning.
    pub seconds: u32,
}

/// A tenth of a drive write, or some seconds if that is more; the first may be less.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// How often the load had written as much as is in use when the round was half over.
    pub drive_writes: f64,
    /// Its mean.
    pub iops: f64,
}

impl LoadFigures {
    /// So many times the rate of the even writes.
    pub fn times(&self, uniform: &Self) -> f64 {
        self.rate.iops / uniform.rate.iops.max(f64::MIN_POSITIVE)
    }

    fn figures(&self, uniform: Option<&Self>) -> impl Iterator<Item = Figure> + use<> {
        let of = &self.name;
        let name = |figure: &str| format!("{of}, {figure}");
        let ratio = |figure: &str, value, good| Figure::new(name(figure), value, Unit::Ratio, good);
        let [iops, amplification, p99, settled] = FIGURES;
        let figures = [
            Some(Figure::iops(name(iops), self.rate.iops)),
            uniform.map(|uniform| ratio(TIMES, self.times(uniform), Good::AtLeast)),
            self.write_amplification
                .map(|factor| ratio(amplification, factor, Good::AtMost).unjudged()),
            Figure::percentile(name(p99), self.latency.p99_ns).map(Figure::unjudged),
            self.settled.map(|moment| ratio(settled, moment.drive_writes, Good::AtMost).unjudged()),
        ];
        let of_load = |figure: Figure| figure.of(of.clone());
        figures.into_iter().flatten().map(of_load).collect::<Vec<_>>().into_iter()
    }
}

fn conclude(
    plan: &Plan,
    recording: &Recording,
    has_theory: bool,
) -> (Option<Outcome>, Vec<Warning>) {
    let fill = Totals::of(recording.series(FILL)).written;
    let rounds = Rounds::of(plan.settling(fill));
    let ended = |phase: &str| {
        Warning::Method(MethodWarning::Ended { phase: phase.to_owned(), lasted: None })
    };
    let even = (&rounds, Bytes((fill.0 as f64 * DRIVE_WRITES_MIN) as u64));
    let skewed = (&rounds, plan.block * plan.count(fill));
    let Some((first, doubt)) = load_of(UNIFORM, even, recording) else {
        return (None, vec![ended(UNIFORM)]);
    };
    let mut warnings = Vec::from_iter(doubt);
    let (mut uniform, mut loads) = (first.clone(), Vec::new());
    for (index, load) in plan.loads.iter().enumerate() {
        // The first even writes are judged already.
        let again = (index > 0).then(|| load_of(&Load::before(index), even, recording)).flatten();
        let (again, doubt) = again.unzip();
        warnings.extend(doubt.flatten());
        let Some((figures, doubt)) = load_of(&load.name, skewed, recording) else {
            warnings.push(ended(&load.name));
            break;
        };
        warnings.extend(doubt);
        loads.push(figures);
        // What the last of them gave is what the drive had come to.
        uniform = again.unwrap_or(uniform);
    }
    warnings.extend(still_changing(&first, &uniform));
    uniform.name = UNIFORM.to_owned();
    let amplification = uniform.write_amplification.filter(|_| has_theory);
    for (load, figures) in plan.loads.iter().zip(&mut loads) {
        let groups = load.distribution.groups(fill, plan.block);
        figures.mixed_write_amplification =
            amplification.and_then(|even| mixed_write_amplification(even, &groups));
        figures.best_write_amplification =
            amplification.and_then(|even| best_write_amplification(even, &groups));
    }
    (Some(Outcome { uniform, loads }), warnings)
}

/// Where the even writes before the last load are not what they were before the first: the drive was on its way, and
/// each load found it somewhere else.
fn still_changing(first: &LoadFigures, last: &LoadFigures) -> Option<Warning> {
    let (then, now) = (first.rate.iops, last.rate.iops);
    let changed = (then - now).abs() > SETTLED_WITHIN * then.max(now);
    let told = |iops: f64| in_words(iops.round_ties_even(), "IOPS");
    changed.then(|| {
        Warning::Method(MethodWarning::EvenWritesChanged { first: told(then), last: told(now) })
    })
}

/// The figures of a phase and what is to be doubted of them: of all of it, and in doubt, if there are not
/// five rounds. `None` if there is nothing. Where it has settled is not known before it has written `least`.
fn load_of(
    name: &str,
    (rounds, least): (&Rounds, Bytes),
    recording: &Recording,
) -> Option<(LoadFigures, Option<Warning>)> {
    let samples: Vec<_> = recording.series(name).filter(|sample| sample.is_whole()).collect();
    let iops: Vec<f64> = samples.iter().map(|sample| sample.iops().get()).collect();
    let last = rounds.last(&iops);
    let last_from = last.map_or(0, |last| last.from);
    let window: Range<u32> = last_from as u32..u32::MAX;
    let totals = match last {
        Some(last) => Totals::of(samples[last.from..].iter().copied()),
        None => Totals::of(recording.series(name)),
    };
    let average = last.map_or(totals.iops().get(), |last| last.window.average);
    let mut all: Vec<(usize, f64)> = rounds.backwards(&iops).collect();
    // What comes before the first whole round is a shorter one.
    let rest = all.last().map_or(iops.len(), |(from, _)| *from);
    if rest > 0 {
        all.push((0, iops[..rest].iter().sum::<f64>() / rest as f64));
    }
    let is_settled = |figure: f64| (figure / average - 1.0).abs() <= SETTLED_WITHIN;
    let settled = all.iter().take_while(|(_, figure)| is_settled(*figure)).count();
    let from = match settled {
        0 => iops.len(),
        rounds => all[rounds - 1].0,
    };
    let written = |until: usize| rounds.drive_writes(&iops[..until]);
    let mut end = iops.len();
    let round = |(from, iops)| {
        let drive_writes = (written(from) + written(end)) / 2.0;
        end = from;
        Round { drive_writes, iops }
    };
    let mut course: Vec<Round> = all.iter().copied().map(round).collect();
    course.reverse();
    let rounds = all.len() as u32;
    let is_steady = last.is_some_and(|last| last.window.is_steady());
    let is_whole = Totals::of(recording.series(name)).written >= least;
    let doubt = (!is_steady).then(|| MethodWarning::NeverSteady { part: name.to_owned(), rounds });
    let figures = LoadFigures {
        name: name.to_owned(),
        rate: Rate::of(&totals)?,
        latency: LatencyFigures::of(recording, name, window),
        write_amplification: totals.write_amplification(),
        mixed_write_amplification: None,
        best_write_amplification: None,
        settled: (is_steady && is_whole)
            .then(|| Moment { drive_writes: written(from), seconds: from as u32 }),
        course,
    };
    Some((figures, doubt.map(Warning::Method)))
}

#[cfg(test)]
mod tests {
    use writecliff_measure::Sample;

    use super::*;

    /// Eighty seconds of each load, at so many writes a second, behind a fill of 100 MB.
    fn recorded(rates: &[(&str, u64)]) -> Recording {
        let second = |series: &str, second: u32, writes: u64| Sample {
            series: series.to_owned(),
            second,
            span_ns: 1_000_000_000,
            writes,
            written_bytes: writes * 4096,
            nand_written_bytes: Some(writes * 4096 * 3),
            ..Sample::default()
        };
        let mut recording = Recording::default();
        recording.samples.push(second(FILL, 0, 100_000_000 / 4096));
        for (series, writes) in rates {
            recording.samples.extend((0..80).map(|at| second(series, at, *writes)));
        }
        recording
    }

    #[test]
    fn loads_are_held_against_what_the_even_writes_had_come_to() {
        let plan = Plan::default();
        let told = |even: [u64; 3], done: usize| {
            let all = [
                ("uniform", even[0]),
                ("zipf", 1440),
                ("uniform-2", even[1]),
                ("hot-and-cold", 990),
                ("uniform-3", even[2]),
                ("at-rest", 1008),
            ];
            let (outcome, doubts) = conclude(&plan, &recorded(&all[..done]), true);
            let Outcome { uniform, loads } = outcome.unwrap();
            let times = loads.iter().map(|load| (load.times(&uniform) * 100.0).round() as u32);
            let changed = |doubt: &&Warning| {
                matches!(doubt, Warning::Method(MethodWarning::EvenWritesChanged { .. }))
            };
            (
                uniform.name.clone(),
                times.collect::<Vec<_>>(),
                doubts.iter().any(|doubt| changed(&doubt)),
            )
        };
        let name = UNIFORM.to_owned();
        assert_eq!(told([1350, 1130, 1100], 6), (name.clone(), vec![131, 90, 92], true));
        assert_eq!(told([1150, 1130, 1100], 6), (name.clone(), vec![131, 90, 92], false));
        // Even writes behind which no load came are not yet what any is held against.
        assert_eq!(told([1200, 1000, 1000], 3), (name, vec![120], false));
    }
}
