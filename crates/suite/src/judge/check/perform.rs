//! A treatment, done to a drive.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use writecliff_device::{Bytes, Device, DeviceError, Io, Nanos, Operation};
use writecliff_measure::{Queue, Sample, Statistics, Totals, tally};
use writecliff_workload::{RandomUniform, Sequential};

use super::error::CheckError;
use super::quantity::Measured;
use super::test_system::TestSystem;
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
                let mut system = TestSystem::new(device, treatment.host);
                let seconds = run(&mut system, load, *until, &mut next)?;
                let read =
                    |scenario: &Scenario| (scenario.name, read(scenario.statistic, load, &seconds));
                figures.extend(gives.iter().map(read));
            }
        }
        if wanted.iter().all(|scenario| figures.contains_key(scenario.name)) {
            break;
        }
    }
    Ok(figures)
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
    if load.order == Order::Anywhere {
        let ios = RandomUniform::new(load.operation, span, load.block, SEED);
        return seconds(device, ios.with_content(load.content).take(most), load.depth, duration);
    }
    let whole = if load.order == Order::Onward { capacity } else { span };
    let first = if load.order == Order::Onward { next.0 / load.block.0 } else { 0 };
    let ios = Sequential::new(load.operation, whole, load.block).with_content(load.content);
    let mut last = *next;
    let counted =
        ios.skip(first as usize).take(most).inspect(|io: &Io| last = io.offset + io.length);
    let done = seconds(device, counted, load.depth, duration)?;
    *next = last;
    Ok(done)
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
fn read(statistic: Statistic, load: &Load, seconds: &[Sample]) -> Measured {
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
    match statistic {
        Statistic::Mean => {
            let (iops, bytes_per_second) = (totals.iops().get(), totals.bytes_per_second());
            Measured::Rate { iops, bytes_per_second }
        }
        Statistic::Latency => Measured::Time { seconds: load.depth as f64 / totals.iops().get() },
        Statistic::Slowest => of(all(), |seconds| seconds.floor),
        Statistic::Fastest => of(all(), |seconds| seconds.peak),
        Statistic::P1 => of(all(), |seconds| seconds.p1),
        Statistic::SteadyMean => of(steady(), |seconds| seconds.mean),
        Statistic::SteadySlowest => of(steady(), |seconds| seconds.floor),
        Statistic::SteadyFastest => of(steady(), |seconds| seconds.peak),
        Statistic::SteadyP1 => of(steady(), |seconds| seconds.p1),
    }
}
