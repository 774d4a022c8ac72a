//! Demand intensity: how fast and how late is a mixture of reads and writes with ever fewer I/Os in
//! flight? Of two mixtures: small random I/Os as of transactions, and the composite of an enterprise
//! drive's sizes and places.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Io, Nanos};
use writecliff_measure::{LatencyHistogram, Recording, Stream, Totals};
use writecliff_workload::{Amount, Blocks, Job, Mix, Order, Pace, Share, Sizes};

use super::part::Mixture;
use super::plan::{BySeries, Plan, TRACKED};
use super::{rounds, soak};
use crate::method::estimate::Estimate;
use crate::method::loads::Load;
use crate::method::session::{RunError, Session};
use crate::method::window::{Settled, WINDOW, is_steady};
use crate::record::rate::{LatencyFigures, Rate};

impl Mixture {
    /// Its I/Os, or only the writes among them, without an end.
    fn stream(
        self,
        read_percent: u8,
        place: Place,
        queue_depth: usize,
        seed: u64,
    ) -> Stream<'static> {
        let Place { span, lba_size } = place;
        match self {
            Self::Transactions => {
                let load = Load { random: true, read_percent, block: Bytes::from_kib(8) };
                load.stream(span, lba_size, queue_depth, seed)
            }
            Self::Composite => Stream {
                ios: Box::new(composite(read_percent, place, seed)),
                queue_depth,
                pace: Pace::Closed,
                seed,
                duration: None,
                operations: Vec::new(),
            },
        }
    }
}

/// Where the I/Os go.
#[derive(Debug, Clone, Copy)]
struct Place {
    span: Bytes,
    lba_size: Bytes,
}

impl Place {
    fn of(plan: &Plan, drive: &DeviceInfo) -> Self {
        Self { span: plan.used(drive), lba_size: drive.lba_size }
    }
}

/// Sizes of the composite in sectors of 512 bytes, with their shares in percent.
const COMPOSITE_SIZES: [(u64, u32); 12] = [
    (1, 4),
    (2, 1),
    (3, 1),
    (4, 1),
    (5, 1),
    (6, 1),
    (7, 1),
    (8, 67),
    (16, 10),
    (32, 7),
    (64, 3),
    (128, 3),
];
/// Where groups of LBAs of the composite begin and how long they are, in percent of the span.
const COMPOSITE_GROUPS: [(u32, u32); 3] = [(0, 5), (5, 15), (20, 80)];
/// Which group each I/O of ten goes to: half of them to the first, 30 % to the second.
const COMPOSITE_TURNS: [usize; 10] = [0, 1, 0, 2, 0, 1, 0, 2, 0, 1];
/// The smallest span in which each group has places for the longest I/O.
pub(super) const COMPOSITE_SPAN_MIN: Bytes = Bytes::from_mib(4);

/// The I/Os of the composite. All begin at multiples of 4 KiB.
fn composite(read_percent: u8, place: Place, seed: u64) -> impl Iterator<Item = Io> {
    let sizes =
        COMPOSITE_SIZES.map(|(sectors, weight)| Share { size: Bytes(sectors * 512), weight });
    let whole = sizes.into_iter().filter(|share| share.size.is_multiple_of(place.lba_size));
    let sizes = Sizes::Split(whole.collect());
    let group = |(index, (from, length)): (u64, (u32, u32))| {
        let job = Job {
            name: "composite".to_owned(),
            mix: Mix { read: read_percent, write: 100 - read_percent, trim: 0 },
            order: Order::Random,
            block: Blocks::Same(sizes.clone()),
            align: Some(TRACKED),
            offset: Amount::Percent(from),
            size: Some(Amount::Percent(length)),
            once_each: false,
            time_based: true,
            runtime: Some(Nanos(u64::MAX)),
            seed: Some(seed.wrapping_add(index)),
            ..Job::default()
        };
        job.ios(place.lba_size, place.span)
    };
    let mut groups: Vec<_> = (0..).zip(COMPOSITE_GROUPS).map(group).collect();
    COMPOSITE_TURNS.into_iter().cycle().map_while(move |turn| groups[turn].next())
}

/// Of as many rounds as a drive usually takes.
pub(super) fn estimate(plan: &Plan, drive: &DeviceInfo, before: Estimate) -> Estimate {
    let rounds = WINDOW as u64;
    let measured = plan.measurement * (plan.demand.queue_depths.len() as u64 * rounds);
    let written = Bytes(plan.used(drive).0 * u64::from(plan.precondition_passes));
    before
        .fill(written)
        .random(plan.estimated_soak())
        .random(plan.demand.pre_writes * rounds)
        .random(measured)
}

/// The series of one measurement; rounds count from 1.
fn series(mixture: Mixture, round: u32, queue_depth: usize) -> String {
    format!("{}/{round}/QD{queue_depth}", mixture.part().name())
}

pub(super) fn run(
    plan: &Plan,
    session: &mut Session<'_>,
    mixture: Mixture,
) -> Result<(), RunError> {
    let (place, deepest) = (Place::of(plan, session.drive()), plan.demand.deepest());
    let writes = |seed| mixture.stream(0, place, deepest, seed);
    rounds::precondition(plan, session, mixture.part().name())?;
    soak::run(plan, session, mixture.part(), writes)?;
    let mut tracked = Vec::new();
    for round in 1..=plan.rounds_max {
        let name = format!("{} round {round}", mixture.part().name());
        session.phase(&name, |session| {
            let before = format!("{}/{round}/before", mixture.part().name());
            soak::measure(session, &before, writes(plan.seed_of(&before)), plan.demand.pre_writes)?;
            for depth in plan.demand.deepest_first() {
                let name = series(mixture, round, depth);
                let seed = plan.seed_of(&name);
                let stream = mixture.stream(mixture.read_percent(), place, depth, seed);
                let rate = soak::measure(session, &name, stream, plan.measurement)?;
                tracked.extend(rate.filter(|_| depth == deepest).map(|rate| rate.iops));
            }
            Ok(())
        })?;
        if is_steady(&tracked).is_some() {
            break;
        }
    }
    Ok(())
}

/// How fast and how late one mixture was with how many in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Which.
    pub mixture: Mixture,
    /// The writes before, in IOPS.
    pub before: Settled,
    /// IOPS with the most in flight, round by round.
    pub rounds: Settled,
    /// Over the last rounds, from the most in flight to the fewest.
    pub depths: Vec<DemandFigures>,
}

/// With so many in flight; reads and writes together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DemandFigures {
    /// I/Os in flight, those that wait in the host among them.
    pub queue_depth: usize,
    /// How fast, and how late on average.
    pub rate: Rate,
    /// How late.
    pub latency: LatencyFigures,
}

/// The specification looks for the highest IOPS among what answers within this on average.
pub const IN_TIME: Nanos = Nanos::from_millis(5);

/// What is less than this below the highest is as high: more in flight only wait.
const AS_FAST: f64 = 0.99;

impl Demand {
    /// The fastest of what answers within 5 ms on average; of equals the one with the fewest in
    /// flight.
    pub fn best_in_time(&self) -> Option<&DemandFigures> {
        let in_time = || self.depths.iter().filter(|depth| depth.rate.mean_ns <= IN_TIME.0);
        let best = in_time().map(|depth| depth.rate.iops).reduce(f64::max)?;
        let as_fast = in_time().filter(|depth| depth.rate.iops >= AS_FAST * best);
        as_fast.min_by_key(|depth| depth.queue_depth)
    }
}

/// `None` if the run did not come to it.
pub(super) fn conclude(
    plan: &Plan,
    mixture: Mixture,
    recording: &Recording,
    by_series: &BySeries<'_>,
) -> Option<Demand> {
    let before = soak::conclude(plan, mixture.part(), by_series)?;
    let totals = |round: u32, depth: usize| {
        let samples = by_series.get(series(mixture, round, depth).as_str())?;
        // One that was broken off is none.
        Some(Totals::of(samples.iter().copied())).filter(|all| all.span >= plan.measurement)
    };
    let iops = |round| Rate::of(&totals(round, plan.demand.deepest())?).map(|rate| rate.iops);
    let rounds = Settled::of((1..=plan.rounds_max).map_while(iops).collect())?;
    let window = rounds.window.first_round..=rounds.tracked.len() as u32;
    let figures = |queue_depth: usize| {
        let names: Vec<String> =
            window.clone().map(|round| series(mixture, round, queue_depth)).collect();
        let samples = names.iter().filter_map(|name| by_series.get(name.as_str())).flatten();
        let totals = Totals::of(samples.copied());
        let mut latencies = LatencyHistogram::default();
        let counts = names.iter().flat_map(|name| recording.latency_counts(name));
        counts.for_each(|(_, counts)| counts.iter().for_each(|counted| latencies.add(*counted)));
        let latency = LatencyFigures::from(&latencies, totals.longest);
        Some(DemandFigures { queue_depth, rate: Rate::of(&totals)?, latency })
    };
    let depths = plan.demand.deepest_first().into_iter().filter_map(figures).collect();
    Some(Demand { mixture, before, rounds, depths })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_composite_has_its_sizes_and_places() {
        let place = Place { span: Bytes::from_gib(1), lba_size: Bytes(512) };
        let all: Vec<Io> = composite(40, place, 1).take(100_000).collect();
        let share = |is: &dyn Fn(&Io) -> bool| {
            all.iter().filter(|io| is(io)).count() as f64 / all.len() as f64
        };
        let of_size = |kib: f64| share(&|io| io.length.0 as f64 == kib * 1024.0);
        for (kib, expected) in [(0.5, 0.04), (3.5, 0.01), (4.0, 0.67), (8.0, 0.10), (64.0, 0.03)] {
            assert!((of_size(kib) - expected).abs() < 0.005, "{kib} KiB: {}", of_size(kib));
        }
        let reads = share(&|io| io.operation == writecliff_device::Operation::Read);
        assert!((reads - 0.4).abs() < 0.01, "{reads}");
        let within = |from: f64, to: f64| {
            let span = place.span.0 as f64;
            share(&|io| (from * span..to * span).contains(&(io.offset.0 as f64)))
        };
        for (from, to, expected) in [(0.0, 0.05, 0.5), (0.05, 0.2, 0.3), (0.2, 1.0, 0.2)] {
            assert!((within(from, to) - expected).abs() < 0.001, "{}", within(from, to));
        }
        assert!(all.iter().all(|io| io.offset.0.is_multiple_of(4096)));
    }

    #[test]
    fn sizes_below_an_lba_are_left_out_of_the_composite() {
        let place = Place { span: Bytes::from_mib(64), lba_size: Bytes(4096) };
        assert!(composite(0, place, 1).take(10_000).all(|io| io.length >= Bytes(4096)));
    }
}
