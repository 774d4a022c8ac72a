//! What jobs will take of the engine, of time, and of the drive's endurance.

use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_workload::{Job, Order};

use super::plan::{Plan, Prepare};
use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};

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

pub(super) fn estimate(plan: &Plan, drive: &DeviceInfo) -> Estimate {
    let capacity = plan.capacity(drive);
    let prepared = match plan.prepare {
        Prepare::Fill => Estimate::on(drive).fill(capacity),
        Prepare::Nothing | Prepare::Purge => Estimate::on(drive),
    };
    plan.groups(capacity).iter().fold(prepared, |sum, group| {
        let jobs: Vec<Estimate> =
            group.iter().map(|job| of_job(plan, job, capacity, drive)).collect();
        let time = jobs.iter().map(|job| job.time).max().unwrap_or(Nanos::ZERO);
        let written = jobs.iter().fold(Bytes::ZERO, |sum, job| sum + job.written);
        sum.and(Estimate { time, written, ..Estimate::on(drive) })
    })
}

/// A job that is ended by its bytes takes what an SSD takes for them; one that is ended by its
/// time does what an SSD does in it.
fn of_job(plan: &Plan, job: &Job, capacity: Bytes, drive: &DeviceInfo) -> Estimate {
    let nothing = Estimate::on(drive);
    let rate = job.pace.asked(job.transfer_size_max()).unwrap_or(match job.order {
        Order::Sequential => nothing.rates.sequential,
        Order::Random => nothing.rates.random,
    });
    // Trims move no data.
    let moved = |amount| if job.mix.trim == 100 { Bytes::ZERO } else { amount };
    let by_amount = job.amount(capacity).map(|amount| rate.time_for(moved(amount)));
    let time = [by_amount, plan.limit(job)].into_iter().flatten().min().unwrap_or(Nanos::ZERO);
    let written = rate.0 as f64 * time.as_secs_f64() * f64::from(job.mix.write) / 100.0;
    Estimate { time, written: Bytes(written as u64), ..nothing }
}
