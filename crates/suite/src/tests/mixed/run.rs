//! Runs groups of jobs, one after the other.

use std::ops::Range;

use writecliff_device::{Bytes, DeviceKind, Durability, Layout, LogWrites, Nanos, Operation};
use writecliff_measure::{OfJob, Recorded, Stream, Streams};
use writecliff_workload::Job;

use super::plan::{FILL, Plan, Prepare};
use super::series::{phase, series, series_of};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};
use crate::method::session::{Extent, RunError, Session};
use crate::record::warning::JobWarning;

pub(super) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let capacity = plan.capacity(session.drive());
    if session.drive().kind == DeviceKind::Directory {
        lay_out(plan, session)?;
    }
    if plan.prepare != Prepare::Nothing {
        session.purge()?;
    }
    if plan.prepare == Prepare::Fill {
        let whole = FILL_BLOCK * (capacity.0 / FILL_BLOCK.0);
        let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
        session.fill(FILL, whole, FILL_BLOCK, depth)?;
    }
    let groups = plan.groups(capacity);
    // What was written since nothing was, as long as no reads of anything else are told.
    let mut written: Option<Vec<Written>> = plan.finds_nothing(session.drive()).then(Vec::new);
    for group in groups {
        if session.drive().kind != DeviceKind::Simulated && trims_beside_others(&group) {
            session.warn(JobWarning::TrimsHoldUp);
        }
        let ran = run_group(plan, &group, capacity, session);
        // Of a group that was broken off its reads are doubted as well, as if nothing had been written beside.
        let wrote = ran.as_ref().map_or(Bytes::ZERO, |wrote| *wrote);
        if let Some(before) = &mut written {
            if let Some(doubt) = reads_unwritten(before, &group, wrote, capacity) {
                session.warn(doubt);
                written = None;
            } else {
                before.extend(Written::by(&group, wrote, capacity));
            }
        }
        ran?;
    }
    Ok(())
}

/// In a directory the jobs have one file. Unless they say what it is to be, its space is there and was never
/// written, as of fio's own; where the file system has no such space, it was written before.
fn lay_out(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let log = |layout| LogWrites {
        layout,
        durability: Durability::Flushed,
        committers: plan.in_flight(),
        begins_anew: false,
    };
    let layout = plan.jobs.iter().find_map(|job| job.layout).unwrap_or(Layout::Preallocated);
    if session.prepare_log(log(layout))?.is_none() {
        session.prepare_log(log(Layout::Overwritten))?;
    }
    Ok(())
}

fn trims_beside_others(group: &[Job]) -> bool {
    let operations = || group.iter().flat_map(Job::operations);
    operations().any(|op| op == Operation::Trim) && operations().any(|op| op != Operation::Trim)
}

/// Jobs that read a place of which those before them have written less than this share read hardly any data.
const WRITTEN: f64 = 0.9;

/// What a job that is over has written, and where.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    place: Range<u64>,
    bytes: Bytes,
}

impl Written {
    /// By each job of a group, which `wrote` so much together: no more than it was to.
    pub(crate) fn by(group: &[Job], wrote: Bytes, capacity: Bytes) -> impl Iterator<Item = Self> {
        group.iter().filter(|job| job.mix.write > 0).map(move |job| Self {
            place: job.place(capacity),
            bytes: job.amount(capacity).map_or(wrote, |amount| amount.min(wrote)),
        })
    }

    /// How much of a place that can have been, at most.
    fn within(&self, place: &Range<u64>) -> u64 {
        let both = self.place.end.min(place.end).saturating_sub(self.place.start.max(place.start));
        both.min(self.bytes.0)
    }
}

/// What is written over and over beside the reads is written for the first time in this share of their time.
const OVER_AND_OVER: u64 = 10;

/// That a job of the group, which `wrote` so much, reads from where the jobs before it, on a drive that held
/// nothing, have written little.
pub(crate) fn reads_unwritten(
    before: &[Written],
    group: &[Job],
    wrote: Bytes,
    capacity: Bytes,
) -> Option<JobWarning> {
    let beside: Vec<Written> =
        Written::by(group, Bytes(wrote.0 / OVER_AND_OVER), capacity).collect();
    group.iter().filter(|job| job.mix.read > 0).find_map(|job| {
        let place = job.place(capacity);
        let of = |all: &[Written]| all.iter().map(|written| written.within(&place)).sum::<u64>();
        let (written, beside) = (of(before), of(&beside));
        let size = Bytes(place.end - place.start);
        let is_little = ((written + beside) as f64) < WRITTEN * size.0 as f64;
        let (job, written) = (job.name.clone(), Bytes(written));
        is_little.then_some(match written {
            Bytes(0) => JobWarning::ReadsNothing,
            written => JobWarning::ReadsLittle { job, size, written },
        })
    })
}

/// Runs a group; returns how much it wrote.
fn run_group(
    plan: &Plan,
    group: &[Job],
    capacity: Bytes,
    session: &mut Session<'_>,
) -> Result<Bytes, RunError> {
    let lba_size = session.drive().lba_size;
    let names = series_of(group);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let name = phase(group.first().map_or(0, |job| job.group));
    let extent = extent(plan, group, capacity);
    let supply = supply(group, lba_size, capacity);
    recorded(session, &name, &names, supply, plan.duration, extent)
}

/// Records a phase; returns how much was written in it.
fn recorded(
    session: &mut Session<'_>,
    name: &str,
    series: &[&str],
    supply: impl Recorded,
    duration: Option<Nanos>,
    extent: Extent,
) -> Result<Bytes, RunError> {
    let done =
        session.phase(name, |session| session.several(name, series, supply, duration, extent))?;
    Ok(done.iter().fold(Bytes::ZERO, |sum, one| sum + one.written))
}

/// The I/Os of a group, each job's at its own pace.
fn supply(group: &[Job], lba_size: Bytes, capacity: Bytes) -> Streams<'static> {
    let loads: Vec<Job> = group.iter().flat_map(Job::by_rate).collect();
    let streams = loads.iter().map(|job| Stream {
        ios: Box::new(OfJob(job.ios(lba_size, capacity))),
        queue_depth: job.queue_depth,
        pace: job.pace,
        seed: job.seed.unwrap_or(0),
        duration: job.duration(),
        operations: job.operations().collect(),
    });
    Streams::new(streams)
        .delayed(loads.iter().map(|job| job.start_delay))
        .until_steady(loads.iter().map(|job| job.steady))
}

impl Plan {
    /// Runs the jobs of the only group as the phase `name`, recorded together: a series for the reads
    /// of all, and so on. Returns how much they wrote.
    pub(crate) fn run_together(
        &self,
        name: &str,
        session: &mut Session<'_>,
    ) -> Result<Bytes, RunError> {
        let (lba_size, capacity) = (session.drive().lba_size, self.capacity(session.drive()));
        let group: Vec<Job> = self.groups(capacity).into_iter().flatten().collect();
        if session.drive().kind != DeviceKind::Simulated && trims_beside_others(&group) {
            session.warn(JobWarning::TrimsHoldUp);
        }
        let series = self.series_together(name);
        let series: Vec<&str> = series.iter().map(String::as_str).collect();
        let extent = extent(self, &group, capacity);
        let supply = supply(&group, lba_size, capacity).by_operation();
        recorded(session, name, &series, supply, self.duration, extent)
    }

    /// The series in which the phase `name` is recorded then: of the operations that occur.
    pub(crate) fn series_together(&self, name: &str) -> Vec<String> {
        let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
        let occurs =
            |one: &Operation| self.jobs.iter().flat_map(Job::operations).any(|op| op == *one);
        all.into_iter().filter(occurs).map(|operation| series(name, operation)).collect()
    }
}

/// What progress is measured by: the longest time, if all are ended by time.
fn extent(plan: &Plan, group: &[Job], capacity: Bytes) -> Extent {
    let limits: Option<Vec<Nanos>> = group.iter().map(|job| plan.limit(job)).collect();
    match limits.and_then(|limits| limits.into_iter().max()) {
        Some(longest) => Extent::Time(longest),
        None => {
            let amounts = group.iter().filter_map(|job| job.amount(capacity));
            Extent::Bytes(amounts.fold(Bytes::ZERO, |sum, amount| sum + amount))
        }
    }
}

#[cfg(test)]
mod tests {
    use writecliff_workload::{Amount, Mix};

    use super::*;

    #[test]
    fn reads_of_what_the_jobs_before_have_not_written_are_told() {
        let capacity = Bytes::from_mib(64);
        let job = |operation, mib: Option<u64>| Job {
            name: "a".to_owned(),
            mix: Mix::only(operation),
            size: mib.map(|mib| Amount::Bytes(Bytes::from_mib(mib))),
            ..Job::default()
        };
        let after = |before: &[Job], wrote: Bytes, reader: Job| {
            let before: Vec<Written> = Written::by(before, wrote, capacity).collect();
            reads_unwritten(&before, &[reader], Bytes::ZERO, capacity)
        };
        let of = |before: &[Job], reader: Job| after(before, capacity, reader);
        let write = |mib| job(Operation::Write, mib);
        let little = |written| {
            let (job, size) = ("a".to_owned(), capacity);
            Some(JobWarning::ReadsLittle { job, size, written: Bytes::from_mib(written) })
        };
        let reads_all = || job(Operation::Read, None);
        assert_eq!(of(&[], reads_all()), Some(JobWarning::ReadsNothing));
        assert_eq!(of(&[reads_all()], reads_all()), Some(JobWarning::ReadsNothing));
        assert_eq!(of(&[write(Some(1))], reads_all()), little(1));
        assert_eq!(of(&[write(Some(1))], job(Operation::Read, Some(1))), None);
        assert_eq!(of(&[write(None)], reads_all()), None);
        // Elsewhere, less than its span, and for a time: as much as was written in it.
        let behind = Job { offset: Amount::Bytes(Bytes::from_mib(32)), ..write(None) };
        assert_eq!(
            of(std::slice::from_ref(&behind), job(Operation::Read, Some(32))),
            Some(JobWarning::ReadsNothing)
        );
        assert_eq!(of(&[behind], reads_all()), little(32));
        let short = Job { io_size: Some(Amount::Bytes(Bytes::from_mib(8))), ..write(None) };
        assert_eq!(of(std::slice::from_ref(&short), reads_all()), little(8));
        let timed = [Job { time_based: true, ..short }];
        assert_eq!(of(&timed, reads_all()), None);
        assert_eq!(after(&timed, Bytes::from_mib(3), reads_all()), little(3));
        assert_eq!(after(&[write(None)], Bytes::from_mib(3), reads_all()), little(3), "cut off");
        assert_eq!(of(&[write(None)], write(None)), None, "nothing is read");
        // Beside writes of its own.
        let mixed =
            [Job { mix: Mix { read: 50, write: 50, trim: 0 }, time_based: true, ..write(None) }];
        let beside = |mib| reads_unwritten(&[], &mixed, Bytes::from_mib(mib), capacity);
        assert_eq!(beside(64), Some(JobWarning::ReadsNothing), "once over");
        assert_eq!(beside(640), None, "ten times over");
    }
}
