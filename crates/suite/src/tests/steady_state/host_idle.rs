//! Host idle recovery: short accesses of 4 KiB random writes with rests between them, and after each
//! length of rest writes without a pause, which bring the drive back to where it was.

use serde::{Deserialize, Serialize};
use writecliff_device::{DeviceInfo, Nanos};
use writecliff_measure::{Idle, Sample, Stream, Totals};

use super::part::Part;
use super::plan::{BySeries, Plan, TRACKED};
use super::soak;
use crate::method::estimate::Estimate;
use crate::method::loads::Load;
use crate::method::session::{Extent, RunError, Session};
use crate::method::window::Settled;
use crate::record::rate::Rate;

const PART: Part = Part::HostIdleRecovery;

/// Of as many rounds of writes as a drive usually takes.
pub(super) fn estimate(plan: &Plan, before: Estimate) -> Estimate {
    let settings = &plan.host_idle;
    let one = |estimate: Estimate, rest: &Nanos| {
        let (accesses, written) = (u64::from(settings.accesses), settings.access);
        estimate.random(written * accesses).rest(*rest * accesses).random(settings.baseline)
    };
    settings.rests.iter().fold(before.random(plan.estimated_soak()), one)
}

/// The series of the accesses with a rest, of the rests, and of the writes after them.
pub fn series(rest: Nanos) -> [String; 3] {
    let (name, rest) = (PART.name(), rest.exact());
    ["access", "idle", "baseline"].map(|what| format!("{name}/{rest}/{what}"))
}

pub(super) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let writes = writes(plan, session.drive());
    soak::run(plan, session, PART, &writes)?;
    plan.host_idle.rests.iter().try_for_each(|rest| with_rest(plan, session, *rest, &writes))
}

fn writes(plan: &Plan, drive: &DeviceInfo) -> impl Fn(u64) -> Stream<'static> + use<> {
    let (span, lba_size, queue_depth) = (plan.used(drive), drive.lba_size, plan.queue_depth);
    let load = Load { random: true, read_percent: 0, block: TRACKED };
    move |seed| load.stream(span, lba_size, queue_depth, seed)
}

/// Accesses with a rest after each, and then writes without one.
fn with_rest(
    plan: &Plan,
    session: &mut Session<'_>,
    rest: Nanos,
    writes: &impl Fn(u64) -> Stream<'static>,
) -> Result<(), RunError> {
    let settings = &plan.host_idle;
    let [access, idle, baseline] = series(rest);
    session.phase(&format!("{} {}", PART.name(), rest.exact()), |session| {
        for number in 1..=settings.accesses {
            let seed = plan.seed_of(&format!("{access} {number}"));
            soak::measure(session, &access, writes(seed), settings.access)?;
            session.series(&idle, Idle, Some(rest), Extent::Time(rest))?;
        }
        soak::measure(session, &baseline, writes(plan.seed_of(&baseline)), settings.baseline)?;
        Ok(())
    })
}

/// What rests of several lengths give back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostIdle {
    /// The writes without a pause before, in IOPS.
    pub before: Settled,
    /// In the order of the plan.
    pub rests: Vec<AfterRest>,
}

/// Accesses with rests of one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AfterRest {
    /// The length.
    pub rest: Nanos,
    /// IOPS of the first access with a rest before it.
    pub first_iops: f64,
    /// Mean IOPS of all accesses with a rest before them.
    pub iops: f64,
    /// IOPS of the last access.
    pub last_iops: f64,
    /// Mean IOPS of the last tenth of the writes without a pause that follow.
    pub baseline_iops: f64,
}

/// `None` if the run did not come to it.
pub(super) fn conclude(plan: &Plan, by_series: &BySeries<'_>) -> Option<HostIdle> {
    let before = soak::conclude(plan, PART, by_series)?;
    let rests = plan.host_idle.rests.iter().map_while(|rest| after_rest(*rest, by_series));
    Some(HostIdle { before, rests: rests.collect() })
}

fn after_rest(rest: Nanos, by_series: &BySeries<'_>) -> Option<AfterRest> {
    let [access, _, baseline] = series(rest);
    let iops =
        |samples: &[&Sample]| Rate::of(&Totals::of(samples.iter().copied())).map(|rate| rate.iops);
    let accesses = accesses(by_series.get(access.as_str())?);
    // What comes before the first access was no rest.
    let rested = if accesses.len() > 1 { &accesses[1..] } else { &accesses[..] };
    let baseline = by_series.get(baseline.as_str())?;
    Some(AfterRest {
        rest,
        first_iops: iops(rested.first()?)?,
        iops: iops(&rested.concat())?,
        last_iops: iops(rested.last()?)?,
        baseline_iops: iops(&baseline[baseline.len() - baseline.len().div_ceil(10)..])?,
    })
}

/// The samples of each access: its seconds count from zero.
pub fn accesses<'a>(samples: &[&'a Sample]) -> Vec<Vec<&'a Sample>> {
    samples.chunk_by(|_, next| next.second > 0).map(<[_]>::to_vec).collect()
}
