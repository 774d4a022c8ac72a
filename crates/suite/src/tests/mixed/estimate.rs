//! What jobs will take of the engine, of time, and of the drive's endurance.

use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Layout, Nanos, Throughput};
use writecliff_workload::{Amount, Job, Order};

use super::plan::{Plan, Prepare};
use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};
use crate::method::test::FILE_SIZE;

pub(super) fn demands(plan: &Plan) -> Demands {
    let (fill_depth, fill_block) = match plan.prepare {
        Prepare::Fill => (FILL_QUEUE_DEPTH, FILL_BLOCK),
        Prepare::Nothing | Prepare::Purge => (0, Bytes::ZERO),
    };
    let longest = plan.jobs.iter().map(Job::transfer_size_max).max().unwrap_or(Bytes::ZERO);
    Demands {
        queue_depth: plan.in_flight().max(fill_depth),
        // Trims and flushes need no buffer, but an engine has one.
        io_size: longest.max(fill_block).max(Bytes::from_kib(4)),
    }
}

/// What the jobs have in a directory: a file that holds all of them, and no less than other tests'.
pub(super) fn file_size(plan: &Plan) -> Bytes {
    let bytes = |amount| match amount {
        Amount::Bytes(Bytes(bytes)) => bytes,
        Amount::Percent(_) => 0,
    };
    let end = |job: &Job| {
        let copies = u64::from(job.copies.saturating_sub(1));
        let later = bytes(job.offset_increment).saturating_mul(copies);
        let length = job.end.map_or(0, |end| end.0).max(job.size.map_or(0, bytes));
        bytes(job.offset).saturating_add(later).saturating_add(length)
    };
    Bytes(plan.jobs.iter().map(end).max().unwrap_or(0)).max(FILE_SIZE)
}

pub(super) fn estimate(plan: &Plan, drive: &DeviceInfo) -> Estimate {
    let capacity = plan.capacity(drive);
    let is_written_before = drive.kind == DeviceKind::Directory
        && plan.jobs.iter().any(|job| job.layout == Some(Layout::Overwritten));
    let prepared = match plan.prepare == Prepare::Fill || is_written_before {
        true => Estimate::on(drive).fill(capacity),
        false => Estimate::on(drive),
    };
    plan.groups(capacity).iter().fold(prepared, |sum, group| {
        let jobs: Vec<Estimate> = group.iter().map(|job| of_job(plan, job, group, drive)).collect();
        let time = jobs.iter().map(|job| job.time).max().unwrap_or(Nanos::ZERO);
        let written = jobs.iter().fold(Bytes::ZERO, |sum, job| sum + job.written);
        let is_timed = jobs.iter().any(|job| job.is_timed);
        sum.and(Estimate { time, written, is_timed, ..Estimate::on(drive) })
    })
}

/// A job that is ended by its bytes takes what an SSD takes for them; one that is ended by its
/// time does what an SSD does in it, of which jobs that are as fast as they can have a part each.
fn of_job(plan: &Plan, job: &Job, group: &[Job], drive: &DeviceInfo) -> Estimate {
    let (nothing, capacity) = (Estimate::on(drive), plan.capacity(drive));
    let asked = |job: &Job| job.pace.asked(job.transfer_size_max());
    let rate = asked(job).unwrap_or_else(|| {
        let all = match job.order {
            Order::Sequential => nothing.rates.sequential,
            Order::Random => nothing.rates.random,
        };
        let as_fast_as_they_can = group.iter().filter(|other| asked(other).is_none()).count();
        Throughput((all.0 / as_fast_as_they_can.max(1) as u64).max(1))
    });
    // Trims move no data.
    let moved = |amount| if job.mix.trim == 100 { Bytes::ZERO } else { amount };
    let longest = job.transfer_size_max();
    let in_number = job.number_ios.map(|count| Bytes(longest.0.saturating_mul(count)));
    let amount = [job.amount(capacity), in_number].into_iter().flatten().min();
    let by_amount = amount.map(|amount| rate.time_for(moved(amount)));
    let time = [by_amount, plan.limit(job)].into_iter().flatten().min().unwrap_or(Nanos::ZERO);
    let written = rate.0 as f64 * time.as_secs_f64() * f64::from(job.mix.write) / 100.0;
    let is_timed = by_amount != Some(time) && asked(job).is_none() && written > 0.0;
    Estimate { time, written: Bytes(written as u64), is_timed, ..nothing }
}
