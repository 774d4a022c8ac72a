//! Write saturation: 4 KiB random writes without pause, on a drive that begins fresh.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Sample, Totals};
use writecliff_workload::RandomUniform;

use super::part::SATURATION;
use super::plan::{BySeries, Plan, TRACKED};
use crate::method::estimate::Estimate;
use crate::method::session::{Extent, RunError, Session};
use crate::record::rate::Rate;

pub(super) fn estimate(plan: &Plan, drive: &DeviceInfo, before: Estimate) -> Estimate {
    let written = Bytes(plan.used(drive).0 * u64::from(plan.saturation_passes));
    let rate = Estimate::on(drive).random(Nanos::from_secs(1)).written;
    before.random(Nanos::from_secs(written.0 / rate.0.max(1)).min(plan.saturation_limit))
}

pub(super) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    let total = Bytes(span.0 * u64::from(plan.saturation_passes));
    let writes = (total.0 / TRACKED.0) as usize;
    let ios = RandomUniform::new(Operation::Write, span, TRACKED, plan.seed).take(writes);
    let (queue, limit) = (Queue::new(ios, plan.queue_depth), Some(plan.saturation_limit));
    session.record(SATURATION, queue, limit, Extent::Bytes(total))
}

/// Write saturation: 4 KiB random writes without pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// What was written.
    pub written: Bytes,
    /// In what time.
    pub took: Nanos,
    /// IOPS of the first minute, or of the first tenth of less than ten.
    pub first_iops: f64,
    /// IOPS of the last tenth.
    pub last_iops: f64,
    /// Mean service time in the last tenth, in nanoseconds.
    pub last_mean_ns: u64,
    /// NAND writes per host write, if the drive tells.
    pub write_amplification: Option<f64>,
}

/// `None` if the run did not come to it.
pub(super) fn conclude(by_series: &BySeries<'_>) -> Option<Saturation> {
    saturated(by_series.get(SATURATION)?)
}

fn saturated(samples: &[&Sample]) -> Option<Saturation> {
    let totals = |samples: &[&Sample]| Totals::of(samples.iter().copied());
    let rate = |samples: &[&Sample]| Rate::of(&totals(samples));
    let tenth = samples.len().div_ceil(10);
    let first = rate(&samples[..tenth.min(60)])?;
    let last = rate(&samples[samples.len() - tenth..])?;
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
