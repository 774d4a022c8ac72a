//! What is done to a drive to bring it into a scenario. Every one begins with a purge.
//!
//! The content of all writes is incompressible, but where the experiment says otherwise.

use std::ops::ControlFlow;

use writecliff_device::{Bytes, Content, Device, DeviceError, Io, Nanos, Operation};
use writecliff_measure::{Queue, Sample, Statistics, Totals, tally};
use writecliff_workload::{RandomUniform, Sequential};

use super::CheckError;
use super::quantity::Measured;
use super::scenario::Scenario;
use crate::consistency;

/// One treatment of a drive, which may give several figures; the longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Experiment {
    Trim60,
    Trim40,
    Trim30,
    ConsistencySpare25,
    Consistency,
    RandomWriteUsed,
    Reads,
    RandomWriteQd3,
    RandomWriteQd4,
    Clean,
    Sustained,
    AfterIdle,
    RandomWrite,
    RandomWriteQd1,
    RandomWriteCompressible,
    SequentialWrite,
    SequentialWriteQd1,
    SequentialWriteCompressible,
}

/// What each gives: a scenario is measured by one of them.
#[rustfmt::skip]
const EXPERIMENTS: &[(Experiment, &[Scenario])] = {
    use Experiment as E;
    use Scenario as S;
    &[
        (E::Trim60, &[S::TrimDirty60, S::TrimAfter60]),
        (E::Trim40, &[S::TrimDirty40, S::TrimAfter40]),
        (E::Trim30, &[S::TrimDirtySlowest30, S::TrimBurstAfter30]),
        (E::ConsistencySpare25, &[S::SteadyMeanSpare25, S::SteadyFloorSpare25, S::SteadyP1Spare25, S::SteadyMaxSpare25, S::SlowestSecondSpare25]),
        (E::Consistency, &[S::SteadyMean, S::SteadyFloor, S::SteadyP1, S::SteadyMax, S::SlowestSecond]),
        (E::RandomWriteUsed, &[S::RandomWriteQd3Used]),
        (E::Reads, &[S::SequentialRead, S::SequentialReadQd1, S::RandomRead, S::RandomReadQd1, S::RandomReadQd3, S::RandomReadQd4]),
        (E::RandomWriteQd3, &[S::RandomWriteQd3, S::RandomWriteQd3Latency]),
        (E::RandomWriteQd4, &[S::RandomWriteQd4]),
        (E::Clean, &[S::TrimClean]),
        (E::Sustained, &[S::SequentialWriteSustained]),
        (E::AfterIdle, &[S::SequentialWriteAfterIdle]),
        (E::RandomWrite, &[S::RandomWrite]),
        (E::RandomWriteQd1, &[S::RandomWriteQd1]),
        (E::RandomWriteCompressible, &[S::RandomWriteCompressible]),
        (E::SequentialWrite, &[S::SequentialWrite]),
        (E::SequentialWriteQd1, &[S::SequentialWriteQd1]),
        (E::SequentialWriteCompressible, &[S::SequentialWriteCompressible]),
    ]
};

impl Experiment {
    /// The one that measures a scenario.
    pub(super) fn of(scenario: Scenario) -> Self {
        let found = EXPERIMENTS.iter().find(|(_, scenarios)| scenarios.contains(&scenario));
        found.unwrap_or_else(|| unreachable!("{scenario:?} is measured by no experiment")).0
    }
}

/// A transfer of the sequential tests.
const LARGE: Bytes = Bytes::from_kib(128);
/// A transfer of the random tests: "4KB".
const SMALL: Bytes = Bytes::from_kib(4);
/// What ratings of 4KB writes, and the reviews' random tests, are confined to.
const RANDOM_WRITE_SPAN: Bytes = Bytes(8_000_000_000);
/// A rating: long enough for an even rate, too short to fill an SLC buffer of 3 GB.
const RATING: Nanos = Nanos::from_secs(5);
/// The reviews' random tests, and the sequential ones below.
const RANDOM_TEST: Nanos = Nanos::from_secs(180);
const SEQUENTIAL_TEST: Nanos = Nanos::from_secs(60);
/// Between one program of a person's and the next.
const PAUSE: Nanos = Nanos::from_secs(60);
/// More than three times the largest SLC buffer of the catalogue (12 GB).
const SUSTAINED: Bytes = Bytes(40_000_000_000);
/// Fills any SLC buffer of the catalogue once.
const BUFFER_FILL: Bytes = Bytes(16_000_000_000);
/// Shorter than it takes to fill the buffer again.
const BURST: Nanos = Nanos::from_secs(2);
/// The repeating data that ratings of drives which compress are given for: a page of them all but
/// vanishes, and what is left is the drive's own least share.
const REPEATING: Content = Content { compressible_percent: 100, duplicate_percent: 0 };
/// Decides where random I/Os go.
const SEED: u64 = 1;

type Figures = Vec<(Scenario, Measured)>;

impl Experiment {
    /// Does it, and says what the drive did.
    pub(super) fn run(self, device: &mut dyn Device) -> Result<Figures, CheckError> {
        use Scenario as S;
        purge(device)?;
        let one = |scenario, seconds: Vec<Sample>| Ok(vec![(scenario, rate(&seconds))]);
        match self {
            Self::Reads => reads(device),
            Self::SequentialWrite => one(S::SequentialWrite, write_in_order(device, 32, RATING)?),
            Self::SequentialWriteCompressible => {
                let seconds = write_in_order_of(REPEATING, device, 32, RATING)?;
                one(S::SequentialWriteCompressible, seconds)
            }
            Self::SequentialWriteQd1 => {
                one(S::SequentialWriteQd1, write_in_order(device, 1, RATING)?)
            }
            Self::Clean => one(S::TrimClean, write_in_order(device, 1, SEQUENTIAL_TEST)?),
            Self::Sustained => one(S::SequentialWriteSustained, sustained(device)?),
            Self::AfterIdle => one(S::SequentialWriteAfterIdle, after_idle(device)?),
            Self::RandomWrite => one(S::RandomWrite, write_anywhere(device, 32, RATING)?),
            Self::RandomWriteCompressible => {
                let seconds = write_anywhere_of(REPEATING, device, 32, RATING)?;
                one(S::RandomWriteCompressible, seconds)
            }
            Self::RandomWriteQd1 => one(S::RandomWriteQd1, write_anywhere(device, 1, RATING)?),
            Self::RandomWriteQd3 => random_write_qd3(device),
            Self::RandomWriteQd4 => {
                one(S::RandomWriteQd4, write_anywhere(device, 4, SEQUENTIAL_TEST)?)
            }
            Self::RandomWriteUsed => {
                let all = capacity(device);
                fill(device, all)?;
                one(S::RandomWriteQd3Used, write_anywhere(device, 3, RANDOM_TEST)?)
            }
            Self::Consistency => {
                let scenarios =
                    [S::SteadyMean, S::SteadyFloor, S::SteadyP1, S::SteadyMax, S::SlowestSecond];
                torture_steadily(device, 0.0, scenarios)
            }
            Self::ConsistencySpare25 => {
                let scenarios = [
                    S::SteadyMeanSpare25,
                    S::SteadyFloorSpare25,
                    S::SteadyP1Spare25,
                    S::SteadyMaxSpare25,
                    S::SlowestSecondSpare25,
                ];
                torture_steadily(device, 25.0, scenarios)
            }
            Self::Trim30 => {
                let (dirty, after) = trim(device, Nanos::from_secs(30 * 60))?;
                let (slowest, best) = (extreme(&dirty, f64::min), extreme(&after, f64::max));
                Ok(vec![(S::TrimDirtySlowest30, slowest), (S::TrimBurstAfter30, best)])
            }
            Self::Trim40 => {
                let (dirty, after) = trim(device, Nanos::from_secs(40 * 60))?;
                Ok(vec![(S::TrimDirty40, rate(&dirty)), (S::TrimAfter40, rate(&after))])
            }
            Self::Trim60 => {
                let (dirty, after) = trim(device, Nanos::from_secs(60 * 60))?;
                Ok(vec![(S::TrimDirty60, rate(&dirty)), (S::TrimAfter60, rate(&after))])
            }
        }
    }
}

/// All reads are of a full drive that has had a minute to put its house in order.
fn reads(device: &mut dyn Device) -> Result<Figures, CheckError> {
    let all = capacity(device);
    fill(device, all)?;
    idle(device, Nanos::from_secs(60))?;
    let mut in_order = |queue_depth| {
        let ios = Sequential::new(Operation::Read, all, LARGE);
        Ok::<_, CheckError>(rate(&run(device, ios, queue_depth, Some(RATING))?))
    };
    let (deep, shallow) = (in_order(32)?, in_order(1)?);
    let mut anywhere = |queue_depth| {
        let ios = RandomUniform::new(Operation::Read, all, SMALL, SEED);
        Ok::<_, CheckError>(rate(&run(device, ios, queue_depth, Some(RATING))?))
    };
    Ok(vec![
        (Scenario::SequentialRead, deep),
        (Scenario::SequentialReadQd1, shallow),
        (Scenario::RandomRead, anywhere(32)?),
        (Scenario::RandomReadQd1, anywhere(1)?),
        (Scenario::RandomReadQd3, anywhere(3)?),
        (Scenario::RandomReadQd4, anywhere(4)?),
    ])
}

/// From the first LBA on.
fn write_in_order(
    device: &mut dyn Device,
    queue_depth: usize,
    duration: Nanos,
) -> Result<Vec<Sample>, CheckError> {
    write_in_order_of(Content::INCOMPRESSIBLE, device, queue_depth, duration)
}

fn write_in_order_of(
    content: Content,
    device: &mut dyn Device,
    queue_depth: usize,
    duration: Nanos,
) -> Result<Vec<Sample>, CheckError> {
    let ios = Sequential::new(Operation::Write, capacity(device), LARGE).with_content(content);
    run(device, ios, queue_depth, Some(duration))
}

/// 4KB writes in the first 8 GB. On a drive that is smaller, no more than a quarter of its
/// capacity is written, which leaves it as fresh as 8 GB leave a large one.
fn write_anywhere(
    device: &mut dyn Device,
    queue_depth: usize,
    duration: Nanos,
) -> Result<Vec<Sample>, CheckError> {
    write_anywhere_of(Content::INCOMPRESSIBLE, device, queue_depth, duration)
}

fn write_anywhere_of(
    content: Content,
    device: &mut dyn Device,
    queue_depth: usize,
    duration: Nanos,
) -> Result<Vec<Sample>, CheckError> {
    let all = capacity(device);
    let ios = RandomUniform::new(Operation::Write, RANDOM_WRITE_SPAN.min(all), SMALL, SEED)
        .with_content(content);
    let most = if all < RANDOM_WRITE_SPAN { (all.0 / 4 / SMALL.0) as usize } else { usize::MAX };
    run(device, ios.take(most), queue_depth, Some(duration))
}

/// Latency is what a program sees that keeps three writes under way, wherever they queue: three
/// over the rate (Little's law).
fn random_write_qd3(device: &mut dyn Device) -> Result<Figures, CheckError> {
    let writes = write_anywhere(device, 3, RANDOM_TEST)?;
    let latency = Measured::Time { seconds: 3.0 / Totals::of(&writes).iops().get() };
    Ok(vec![(Scenario::RandomWriteQd3, rate(&writes)), (Scenario::RandomWriteQd3Latency, latency)])
}

/// The last quarter of a long sequential write: 40 GB, or half of a small drive.
fn sustained(device: &mut dyn Device) -> Result<Vec<Sample>, CheckError> {
    let span = SUSTAINED.min(Bytes(capacity(device).0 / 2));
    let mut ios = Sequential::new(Operation::Write, span, LARGE);
    let early = (span.0 / LARGE.0) as usize * 3 / 4;
    run(device, ios.by_ref().take(early), 32, None)?;
    run(device, ios, 32, None)
}

/// Fills the SLC buffer, if there is one, gives the drive 30 s, and writes a burst where the first
/// write stopped.
fn after_idle(device: &mut dyn Device) -> Result<Vec<Sample>, CheckError> {
    let fill = BUFFER_FILL.min(Bytes(capacity(device).0 / 4));
    let mut ios = Sequential::new(Operation::Write, capacity(device), LARGE);
    run(device, ios.by_ref().take((fill.0 / LARGE.0) as usize), 32, None)?;
    idle(device, Nanos::from_secs(30))?;
    run(device, ios, 32, Some(BURST))
}

/// The consistency test, without its recording: mean, floor, lowest 1 % and best second of the
/// steady window, and the slowest second of the whole torture.
fn torture_steadily(
    device: &mut dyn Device,
    spare_percent: f64,
    scenarios: [Scenario; 5],
) -> Result<Figures, CheckError> {
    let plan = consistency::Plan { spare_percent, ..consistency::Plan::default() };
    let span = plan.used(capacity(device));
    fill(device, span)?;
    let ios = RandomUniform::new(Operation::Write, span, plan.block, plan.seed);
    let seconds = run(device, ios, plan.queue_depth, Some(plan.duration))?;

    let iops: Vec<f64> = seconds.iter().map(|second| second.iops().get()).collect();
    let steady_from = consistency::steady_from(&plan, iops.len());
    let (Some(whole), Some(steady)) = (Statistics::of(&iops), Statistics::of(&iops[steady_from..]))
    else {
        unreachable!("{} of torture have seconds", plan.duration.exact());
    };
    let figures = [steady.mean, steady.floor, steady.p1, steady.peak, whole.floor];
    let rates =
        figures.map(|iops| Measured::Rate { iops, bytes_per_second: iops * plan.block.0 as f64 });
    Ok(scenarios.into_iter().zip(rates).collect())
}

/// A minute of sequential writes after torture, and again after TRIM of every LBA; a minute of
/// nothing before each, in which a person starts another program.
fn trim(device: &mut dyn Device, torture: Nanos) -> Result<(Vec<Sample>, Vec<Sample>), CheckError> {
    if !device.info().trim {
        return Err(CheckError::NoTrim { address: device.info().address.clone() });
    }
    let all = capacity(device);
    fill(device, all)?;
    let anywhere = RandomUniform::new(Operation::Write, all, SMALL, SEED);
    run(device, anywhere, 32, Some(torture))?;
    idle(device, PAUSE)?;
    let dirty = write_in_order(device, 1, SEQUENTIAL_TEST)?;
    let everything = Sequential::new(Operation::Trim, all, Bytes::from_mib(128));
    run(device, everything, 1, None)?;
    idle(device, PAUSE)?;
    let after = write_in_order(device, 1, SEQUENTIAL_TEST)?;
    Ok((dirty, after))
}

fn purge(device: &mut dyn Device) -> Result<(), DeviceError> {
    // A drive that cannot be purged, such as a disk, is never worn by earlier writes.
    match device.info().purges.first() {
        Some(&how) => device.purge(how, &mut |_| ControlFlow::Continue(())).map(|_| ()),
        None => Ok(()),
    }
}

fn fill(device: &mut dyn Device, span: Bytes) -> Result<(), CheckError> {
    let ios = Sequential::new(Operation::Write, span, LARGE);
    run(device, ios, 32, None).map(|_| ())
}

fn idle(device: &mut dyn Device, span: Nanos) -> Result<(), DeviceError> {
    let end = device.now() + span;
    let mut none = Vec::new();
    while device.now() < end {
        device.reap(end, &mut none)?;
    }
    Ok(())
}

/// What a drive's queue does not hold waits in the host's, as it does under Iometer.
fn run(
    device: &mut dyn Device,
    ios: impl Iterator<Item = Io>,
    queue_depth: usize,
    duration: Option<Nanos>,
) -> Result<Vec<Sample>, CheckError> {
    let queue_depth = queue_depth.min(device.info().queue_depth_max);
    let seconds = tally(device, Queue::new(ios, queue_depth), duration)?;
    match Totals::of(&seconds).failed {
        0 => Ok(seconds),
        failed => Err(CheckError::FailedIos { address: device.info().address.clone(), failed }),
    }
}

/// In whole 4 KiB, so that random I/Os can reach all of it.
fn capacity(device: &dyn Device) -> Bytes {
    SMALL * (device.info().capacity.0 / SMALL.0)
}

fn rate(seconds: &[Sample]) -> Measured {
    let sum = Totals::of(seconds);
    Measured::Rate { iops: sum.iops().get(), bytes_per_second: sum.bytes_per_second() }
}

/// The slowest or the fastest second; the rest that a write ends with is none.
fn extreme(seconds: &[Sample], choose: fn(f64, f64) -> f64) -> Measured {
    let whole = seconds.iter().filter(|second| second.is_whole());
    let iops = whole.map(|second| second.iops().get()).reduce(choose).unwrap_or(0.0);
    Measured::Rate { iops, bytes_per_second: iops * LARGE.0 as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::quantity::Quantity;
    use super::super::scenario::SCENARIOS;
    use super::*;
    use crate::Unit;
    use writecliff_device::Throughput;
    use writecliff_sim::{ProgramTime, Ssd, SsdProfile, load};

    fn tiny() -> SsdProfile {
        load("tiny").unwrap().into_ssd().unwrap()
    }

    fn value(profile: SsdProfile, scenario: Scenario, unit: Unit) -> f64 {
        let mut ssd = Ssd::new(profile, "sim:tiny");
        let figures = Experiment::of(scenario).run(&mut ssd).unwrap();
        let found = figures.into_iter().find(|(measured, _)| *measured == scenario);
        found.unwrap().1.in_unit(unit)
    }

    fn assert_near(got: f64, expected: f64, percent: f64) {
        let error = (got / expected - 1.0) * 100.0;
        assert!(error.abs() <= percent, "{got} instead of {expected}: {error:.2} %");
    }

    /// NAND that takes no time: what is left is link and firmware.
    fn link_bound() -> SsdProfile {
        let mut profile = tiny();
        profile.nand.read_time = Nanos(1);
        profile.nand.program_time = Nanos(1).into();
        profile.nand.erase_time = Nanos(1);
        profile.nand.channel_throughput = Throughput(100_000_000_000);
        profile
    }

    #[test]
    fn sequential_rates_are_the_link_s_where_nothing_else_takes_time() {
        // 128 KiB at 550 MB/s and 2 us for the command.
        let expected = 131_072.0 / (131_072.0 / 550.0 + 2.0);
        for scenario in [Scenario::SequentialRead, Scenario::SequentialWrite] {
            assert_near(value(link_bound(), scenario, Unit::MegabytesPerSecond), expected, 1.0);
        }
        let mebi = value(link_bound(), Scenario::SequentialRead, Unit::MebibytesPerSecond);
        assert_near(mebi, expected / 1.048_576, 1.0);
    }

    #[test]
    fn sequential_writes_go_at_the_array_s_rate_in_the_end() {
        // Four dies, 8 KiB each 600 us; the transfer to the die comes before its program.
        let mut profile = tiny();
        profile.nand.channel_throughput = Throughput(100_000_000_000);
        let expected = 4.0 * 8192.0 / 600.0;
        let sustained = Scenario::SequentialWriteSustained;
        assert_near(value(profile, sustained, Unit::MegabytesPerSecond), expected, 2.0);
    }

    #[test]
    fn a_random_read_at_queue_depth_1_takes_the_sum_of_its_parts() {
        // Firmware, NAND, 4 KiB on the channel, command and 4 KiB on the link.
        let us = 5.0 + 50.0 + 4096.0 / 400.0 + 2.0 + 4096.0 / 550.0;
        assert_near(value(tiny(), Scenario::RandomReadQd1, Unit::Iops), 1e6 / us, 0.5);
    }

    #[test]
    fn repeating_data_are_written_as_much_faster_as_the_drive_stores_less_of_them() {
        use Scenario::{RandomWriteCompressible, SequentialWriteCompressible};
        let array_bound = |compression| {
            let mut profile = slow();
            profile.reduction.compression = compression;
            profile.reduction.stored_percent_min = 25;
            profile
        };
        for scenario in [SequentialWriteCompressible, RandomWriteCompressible] {
            let rate = |compression| value(array_bound(compression), scenario, Unit::Iops);
            assert_near(rate(true) / rate(false), 4.0, 5.0);
        }
        let incompressible = value(array_bound(true), Scenario::SequentialWrite, Unit::Iops);
        let stored_whole = value(array_bound(false), SequentialWriteCompressible, Unit::Iops);
        assert_near(incompressible, stored_whole, 0.1);
    }

    #[test]
    fn random_writes_into_the_buffer_are_bound_by_the_firmware() {
        let mut profile = link_bound();
        profile.firmware.write_time = Nanos::from_micros(100);
        for scenario in [Scenario::RandomWrite, Scenario::RandomWriteQd4] {
            assert_near(value(profile.clone(), scenario, Unit::Iops), 10_000.0, 0.5);
        }
    }

    #[test]
    fn latency_is_queue_depth_over_rate() {
        let mut profile = link_bound();
        profile.firmware.write_time = Nanos::from_millis(2);
        let latency = value(profile.clone(), Scenario::RandomWriteQd3Latency, Unit::Milliseconds);
        assert_near(latency, 6.0, 1.0);
        profile.link.queue_depth = 1; // the others wait in the host
        let latency = value(profile, Scenario::RandomWriteQd3Latency, Unit::Milliseconds);
        assert_near(latency, 6.0, 1.0);
    }

    #[test]
    fn consistency_figures_are_those_of_the_test() {
        let floor = value(slow(), Scenario::SteadyFloor, Unit::Iops);
        let mean = value(slow(), Scenario::SteadyMean, Unit::Iops);
        let spare = value(slow(), Scenario::SteadyMeanSpare25, Unit::Iops);
        assert!(floor > 0.0 && floor <= mean, "{floor} {mean}");
        assert!(spare > 1.5 * mean, "{spare} {mean}");
    }

    /// A tenth of the speed: virtual time passes at the same cost with a tenth of the I/Os.
    fn slow() -> SsdProfile {
        let mut profile = tiny();
        let times = profile.nand.program_time.0.iter();
        profile.nand.program_time = ProgramTime(times.map(|time| *time * 10).collect());
        profile.nand.erase_time = profile.nand.erase_time * 10;
        profile
    }

    #[test]
    fn trim_brings_the_clean_rate_back_to_a_drive_that_forgets_at_once() {
        let clean = value(slow(), Scenario::TrimClean, Unit::Iops);
        let figures = Experiment::Trim40.run(&mut Ssd::new(slow(), "sim:slow")).unwrap();
        let share = |index: usize| figures[index].1.in_unit(Unit::Iops) / clean;
        assert_eq!([figures[0].0, figures[1].0], [Scenario::TrimDirty40, Scenario::TrimAfter40]);
        assert!(share(0) < 0.8, "{}", share(0));
        // A clean drive has nothing to erase; here 32 pages of 6 ms may wait for 30 ms of erasing.
        let erasing = 32.0 * 6.0 / (32.0 * 6.0 + 30.0);
        assert!((0.99 * erasing..1.01).contains(&share(1)), "{}", share(1));
    }

    #[test]
    fn every_experiment_gives_what_the_table_says_of_it() {
        assert_eq!(
            EXPERIMENTS.iter().map(|(_, gives)| gives.len()).sum::<usize>(),
            SCENARIOS.len()
        );
        for (experiment, promised) in EXPERIMENTS {
            let figures = experiment.run(&mut Ssd::new(slow(), "sim:slow")).unwrap();
            let mut promised = promised.to_vec();
            let mut given: Vec<_> = figures.iter().map(|(scenario, _)| *scenario).collect();
            promised.sort_unstable();
            given.sort_unstable();
            assert_eq!(given, promised, "{experiment:?}");
            for (scenario, measured) in figures {
                let unit = match scenario.entry().quantity {
                    Quantity::Rate => Unit::Iops,
                    Quantity::Time => Unit::Milliseconds,
                };
                let value = measured.in_unit(unit);
                assert!(value > 0.0 && value.is_finite(), "{scenario:?}: {value}");
            }
        }
    }
}
