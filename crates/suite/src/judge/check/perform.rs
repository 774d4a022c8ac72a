//! A treatment, done to a drive.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use writecliff_device::{Bytes, Device, DeviceError, Io, Nanos, Operation};
use writecliff_measure::{Queue, Sample, Statistics, Totals, tally};
use writecliff_workload::{
    Amount, Blocks, Distribution, Job, Mix, Order as JobOrder, RandomUniform, Sequential, Sizes,
    Zone,
};

use super::error::CheckError;
use super::quantity::Measured;
use super::test_system::{HostCost, TestSystem};
use super::treatment::{Load, Order, Scenario, Span, Statistic, Step, Treatment, Until};
use crate::tests::consistency;

/// Decides where random I/Os go.
const SEED: u64 = 1;
/// No more of a small drive is written than leaves it as fresh as the span leaves a large one.
const SMALL_DRIVE_SHARE: u64 = 4;

/// What each scenario of a treatment gave.
pub(super) type Figures = BTreeMap<&'static str, Measured>;

/// Does a treatment as far as the last of the `wanted` scenarios needs, and reads all that was
/// given by then.
pub(super) fn perform(
    treatment: &Treatment,
    device: &mut dyn Device,
    wanted: &[Scenario],
) -> Result<Figures, CheckError> {
    purge(device)?;
    let mut figures = Figures::new();
    let mut next = Bytes::ZERO;
    for step in &treatment.steps {
        match step {
            Step::Rest(span) => rest(device, *span)?,
            Step::Trim => trim(device)?,
            Step::Do(load, until, gives) if gives.is_empty() => {
                run(device, load, *until, &mut next)?;
            }
            Step::Do(load, until, gives) => {
                let span = load.span(device.info().capacity);
                let seconds = match treatment.host {
                    HostCost::NONE => run(device, load, *until, &mut next)?,
                    host => run(&mut TestSystem::new(device, host), load, *until, &mut next)?,
                };
                let read = |scenario: &Scenario| {
                    let value = read(scenario.statistic, load, span, treatment.scale, &seconds);
                    (scenario.name, value)
                };
                figures.extend(gives.iter().map(read));
            }
        }
        if wanted.iter().all(|scenario| figures.contains_key(scenario.name)) {
            break;
        }
    }
    Ok(figures)
}

/// The IOPS of each second of the steady state that pictures of reviews show: random writes for 2000 s
/// behind a fill, with so many percent of the LBAs untouched, from second 1400 on.
pub(super) fn steady_seconds(
    device: &mut dyn Device,
    spare_percent: f64,
) -> Result<Vec<f64>, CheckError> {
    purge(device)?;
    let plan = consistency::Plan::default();
    let fill = Load::writes(Order::FromFirst, Span::Spare(spare_percent));
    let torture = Load::writes(Order::Anywhere, Span::Spare(spare_percent));
    let mut next = Bytes::ZERO;
    run(device, &fill, Until::Moved(100.0), &mut next)?;
    let seconds = run(device, &torture, Until::After(plan.duration), &mut next)?;
    let whole = seconds.iter().filter(|second| second.is_whole());
    let iops: Vec<f64> = whole.map(|second| second.iops().get()).collect();
    let from = consistency::steady_from(&plan, iops.len()).min(iops.len());
    Ok(iops[from..].to_vec())
}

fn purge(device: &mut dyn Device) -> Result<(), DeviceError> {
    // A drive that cannot be purged, such as a disk, is never worn by earlier writes.
    match device.info().purges.first() {
        Some(&how) => device.purge(how, &mut |_| ControlFlow::Continue(())).map(|_| ()),
        None => Ok(()),
    }
}

fn rest(device: &mut dyn Device, span: Nanos) -> Result<(), DeviceError> {
    let end = device.now() + span;
    let mut none = Vec::new();
    while device.now() < end {
        device.reap(end, &mut none)?;
    }
    Ok(())
}

fn trim(device: &mut dyn Device) -> Result<(), CheckError> {
    let info = device.info();
    if !info.trim {
        return Err(CheckError::NoTrim { address: info.address.clone() });
    }
    let everything = Sequential::new(Operation::Trim, info.capacity, Bytes::from_mib(128));
    seconds(device, everything, 1, None).map(|_| ())
}

/// Does a load; `next` is where the next one onward begins.
fn run(
    device: &mut dyn Device,
    load: &Load,
    until: Until,
    next: &mut Bytes,
) -> Result<Vec<Sample>, CheckError> {
    let capacity = device.info().capacity;
    let span = load.span(capacity);
    let durability = load.durability;
    let lasting = move |io: Io| Io { durability, ..io };
    let is_small = matches!(load.span, Span::First(bytes) if bytes > capacity);
    let moved = |percent: f64| (span.0 as f64 * percent / 100.0 / load.block.0 as f64) as usize;
    let (most, duration) = match until {
        Until::After(duration) if is_small && load.operation == Operation::Write => {
            ((span.0 / SMALL_DRIVE_SHARE / load.block.0) as usize, Some(duration))
        }
        Until::After(duration) => (usize::MAX, Some(duration)),
        Until::Moved(_) if is_small => ((span.0 / SMALL_DRIVE_SHARE / load.block.0) as usize, None),
        Until::Moved(percent) => (moved(percent), None),
    };
    if let Some(percent) = load.hot_percent {
        let ios = scattered(load, span, percent);
        let ios = ios.ios(device.info().lba_size, capacity).take(most).map(lasting);
        return seconds(device, ios, load.depth, duration);
    }
    if load.order == Order::Anywhere {
        let ios = RandomUniform::new(load.operation, span, load.block, SEED);
        let ios = ios.with_content(load.content).take(most).map(lasting);
        return seconds(device, ios, load.depth, duration);
    }
    let whole = if load.order == Order::Onward { capacity } else { span };
    let first = if load.order == Order::Onward { next.0 / load.block.0 } else { 0 };
    let ios = Sequential::new(load.operation, whole, load.block).with_content(load.content);
    let mut last = *next;
    let counted =
        ios.skip(first as usize).take(most).inspect(|io: &Io| last = io.offset + io.length);
    let done = seconds(device, counted.map(lasting), load.depth, duration)?;
    *next = last;
    Ok(done)
}

/// Random places of which so many percent, scattered over the span, get all I/Os.
fn scattered(load: &Load, span: Bytes, percent: u32) -> Job {
    let zone = |ios, percent| Zone { ios, span: Amount::Percent(percent) };
    Job {
        name: "hot".to_owned(),
        mix: Mix::only(load.operation),
        order: JobOrder::Random,
        block: Blocks::Same(Sizes::One(load.block)),
        size: Some(Amount::Bytes(span)),
        distribution: Distribution::Shuffled(vec![zone(1, percent), zone(0, 100 - percent)]),
        // Without end: the treatment says when it ends.
        time_based: true,
        runtime: Some(Nanos(u64::MAX)),
        ..Job::default()
    }
}

/// No deeper than the drive's queue, as a kernel does.
fn seconds(
    device: &mut dyn Device,
    ios: impl Iterator<Item = Io> + Send,
    depth: usize,
    duration: Option<Nanos>,
) -> Result<Vec<Sample>, CheckError> {
    let depth = depth.min(device.info().queue_depth_max);
    let seconds = tally(device, Queue::new(ios, depth), duration)?;
    match Totals::of(&seconds).failed {
        0 => Ok(seconds),
        failed => Err(CheckError::FailedIos { address: device.info().address.clone(), failed }),
    }
}

/// What a statistic says of the seconds of a load.
fn read(
    statistic: Statistic,
    load: &Load,
    span: Bytes,
    scale: u32,
    seconds: &[Sample],
) -> Measured {
    let totals = Totals::of(seconds);
    let whole = seconds.iter().filter(|second| second.is_whole());
    let iops: Vec<f64> = whole.map(|second| second.iops().get()).collect();
    let steady_from = consistency::steady_from(&consistency::Plan::default(), iops.len());
    let all = || Statistics::of(&iops);
    let steady = || Statistics::of(&iops[steady_from.min(iops.len())..]);
    let of = |statistics: Option<Statistics>, get: fn(&Statistics) -> f64| {
        // A load of less than a second has its mean only.
        let iops = statistics.as_ref().map_or(totals.iops().get(), get);
        Measured::Rate { iops, bytes_per_second: iops * load.block.0 as f64 }
    };
    let rate = |bytes_per_second: f64| Measured::Rate {
        iops: bytes_per_second / load.block.0 as f64,
        bytes_per_second,
    };
    match statistic {
        Statistic::Between(from, to) => rate(between(seconds, span, [from, to])),
        Statistic::SlowestMinute => rate(slowest_minute(seconds, span, scale).0),
        Statistic::SlowestMinuteAt => {
            Measured::Share { percent: slowest_minute(seconds, span, scale).1 }
        }
        Statistic::Mean => {
            let (iops, bytes_per_second) = (totals.iops().get(), totals.bytes_per_second());
            Measured::Rate { iops, bytes_per_second }
        }
        Statistic::Latency => Measured::Time { seconds: load.depth as f64 / totals.iops().get() },
        Statistic::Slowest => of(all(), |seconds| seconds.floor),
        Statistic::Fastest => of(all(), |seconds| seconds.peak),
        Statistic::P1 => of(all(), hundredth),
        Statistic::SteadyMean => of(steady(), |seconds| seconds.mean),
        Statistic::SteadySlowest => of(steady(), |seconds| seconds.floor),
        Statistic::SteadyFastest => of(steady(), |seconds| seconds.peak),
        Statistic::SteadyP1 => of(steady(), hundredth),
    }
}

/// The second that one in a hundred is as slow as, at least; of fewer than a hundred the slowest.
fn hundredth(seconds: &Statistics) -> f64 {
    seconds.p1.unwrap_or(seconds.floor)
}

/// Bytes per second while from so many to so many percent of the span were moved; a second that is partly
/// there counts for its part.
fn between(seconds: &[Sample], span: Bytes, [from, to]: [u32; 2]) -> f64 {
    let at = |percent: u32| span.0 as f64 * f64::from(percent) / 100.0;
    let (from, to) = (at(from), at(to));
    let (mut before, mut time) = (0.0, 0.0);
    for second in seconds {
        let moved = (second.written_bytes + second.read_bytes) as f64;
        let part = (to.min(before + moved) - from.max(before)).max(0.0);
        if moved > 0.0 {
            time += second.span_ns as f64 / 1e9 * part / moved;
        }
        before += moved;
    }
    (to.min(before) - from).max(0.0) / time
}

/// Bytes per second in the slowest minute of a drive that is so many parts as large, and how many percent
/// of the span had been moved in its middle.
fn slowest_minute(seconds: &[Sample], span: Bytes, scale: u32) -> (f64, f64) {
    let length = (60 / scale.max(1)).max(1) as usize;
    let moved = |second: &Sample| (second.written_bytes + second.read_bytes) as f64;
    let whole: Vec<f64> = seconds.iter().filter(|second| second.is_whole()).map(moved).collect();
    let sums = whole.windows(length).map(|window| window.iter().sum::<f64>());
    let slowest = sums.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let (start, sum) = slowest.unwrap_or((0, whole.iter().sum()));
    let before: f64 = whole[..start].iter().sum();
    (sum / length as f64, (before + sum / 2.0) / span.0 as f64 * 100.0)
}
