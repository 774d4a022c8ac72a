//! Whether jobs can be run on a drive.

use writecliff_device::{DeviceInfo, DeviceKind, Operation};
use writecliff_workload::{Job, JobError};

use super::plan::{Plan, Prepare};
use super::series::series_of;
use crate::method::fill::FILL_BLOCK;
use crate::method::limits::{IN_FLIGHT_MAX, PlanError, check_block, check_duration};

/// As many as an I/O can be of.
const SERIES_MAX: usize = 256;
/// In flight in a directory.
const THREADS_MAX: usize = 128;

pub(super) fn check(plan: &Plan, drive: &DeviceInfo) -> Result<(), PlanError> {
    plan.duration.map_or(Ok(()), |duration| check_duration("duration", duration))?;
    if plan.prepare == Prepare::Fill {
        check_block(FILL_BLOCK, plan.span, drive)?;
    }
    if drive.kind == DeviceKind::Directory {
        check_in_directory(plan)?;
    }
    let capacity = plan.capacity(drive);
    plan.list().check(drive.lba_size, capacity).map_err(from_job)?;
    let groups = plan.groups(capacity);
    if let Some(group) = groups.iter().find(|group| series_of(group).len() > SERIES_MAX) {
        let got = format!("of {} series", series_of(group).len());
        let reason = format!("at most {SERIES_MAX} are recorded at once; use more groups");
        return Err(PlanError { option: "a group", got, reason });
    }
    let wanted = plan.in_flight();
    if wanted > IN_FLIGHT_MAX {
        let reason = format!(
            "at most {IN_FLIGHT_MAX} are kept in flight; lower queue_depth or copies (iodepth or \
             numjobs)"
        );
        let (option, got) = ("the jobs of a group with", format!("{wanted} I/Os in flight"));
        return Err(PlanError { option, got, reason });
    }
    let trims = plan.jobs.iter().any(|job| job.operations().any(|op| op == Operation::Trim));
    if trims && !drive.trim {
        let (option, got) = ("a job with", "trims".to_owned());
        let reason = format!("{} takes no TRIM; leave them out", drive.model);
        return Err(PlanError { option, got, reason });
    }
    Ok(())
}

/// In a directory there is what a file system has to do: writes that somebody waits for.
fn check_in_directory(plan: &Plan) -> Result<(), PlanError> {
    if plan.prepare != Prepare::Nothing {
        let (option, got) = ("prepare", "a purge".to_owned());
        let reason =
            "in a directory nothing is purged or filled; say prepare = \"nothing\"".to_owned();
        return Err(PlanError { option, got, reason });
    }
    let wanted = plan.in_flight();
    if wanted > THREADS_MAX {
        let (option, got) = ("the jobs of a group with", format!("{wanted} I/Os in flight"));
        let reason =
            format!("in a directory each is a thread's, and there are at most {THREADS_MAX}");
        return Err(PlanError { option, got, reason });
    }
    let mut layouts = plan.jobs.iter().filter_map(|job| Some((job, job.layout?)));
    if let Some((_, first)) = layouts.next()
        && let Some((job, _)) = layouts.find(|(_, other)| *other != first)
    {
        return Err(PlanError {
            option: "a job with",
            got: "another layout".to_owned(),
            reason: format!(
                "job '{}': in a directory all jobs of a run have one file; run them one after the other",
                job.name
            ),
        });
    }
    let reads = |job: &&Job| job.operations().any(|op| op == Operation::Read);
    let waits =
        |job: &Job| !job.durability.is_later() || job.flush_every.is_some() || job.flush_at_end;
    let refused = |job: &Job, got: &str, why: &str| PlanError {
        option: "a job with",
        got: got.to_owned(),
        reason: format!("job '{}': in a directory {why}", job.name),
    };
    match (plan.jobs.iter().find(reads), plan.jobs.iter().find(|job| !waits(job))) {
        (Some(job), _) => {
            Err(refused(job, "reads", "they would be answered from memory; run it on the drive"))
        }
        (_, Some(job)) => Err(refused(
            job,
            "writes alone",
            "they would stay in memory; have them flushed (fdatasync=1, flush_every = 1) or forced \
             (sync=dsync, durability = \"forced\")",
        )),
        _ => Ok(()),
    }
}

fn from_job(JobError { job, key, got, reason }: JobError) -> PlanError {
    PlanError { option: key, got, reason: format!("job '{job}': {reason}") }
}
