//! What is asked: jobs, and the state that they find the drive in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Nanos, Operation};
use writecliff_workload::fio::FioJobs;
use writecliff_workload::{Job, JobList, Mix, Order, Pace};

use super::series::series_of_job;

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the jobs are, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is done to the drive before.
    #[serde(default = "default_preparation")]
    pub prepare: Prepare,
    /// No group of jobs runs longer than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
    /// The part of the drive, from its start, that is the whole drive to the jobs; `None` for all
    /// of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides everything that is random, but for jobs with a seed of their own.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// What its job file says and is done in a way that may surprise: option and how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_as: Vec<String>,
    /// The jobs. A file that has none is not meant for the load that is run without a file.
    #[serde(rename = "job")]
    pub jobs: Vec<Job>,
}

fn default_preparation() -> Prepare {
    Plan::default().prepare
}

fn default_seed() -> u64 {
    Plan::default().seed
}

/// The state that the jobs find the drive in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// As it is, as fio does.
    Nothing,
    /// Purged.
    Purge,
    /// Purged, and then every LBA in use written once, in order, so that reads find data.
    Fill,
}

impl Default for Plan {
    /// The load that is quoted most: 70 % reads, 4 KiB at random places, 32 in flight.
    fn default() -> Self {
        let job = Job {
            name: "read-write".to_owned(),
            mix: Mix { read: 70, write: 30, trim: 0 },
            order: Order::Random,
            once_each: false,
            queue_depth: 32,
            runtime: Some(Nanos::from_secs(300)),
            time_based: true,
            ..Job::default()
        };
        Self {
            title: None,
            prepare: Prepare::Fill,
            duration: None,
            span: None,
            seed: 1,
            read_as: Vec::new(),
            jobs: vec![job],
        }
    }
}

impl From<JobList> for Plan {
    /// Nothing but these jobs, on the drive as it is.
    fn from(JobList { title, jobs }: JobList) -> Self {
        Self { title, jobs, prepare: Prepare::Nothing, ..Self::default() }
    }
}

impl From<FioJobs> for Plan {
    /// The jobs of fio's file, on the drive as it is.
    fn from(FioJobs { list, notes }: FioJobs) -> Self {
        let told = notes.iter().filter(|note| note.is_of_the_load());
        let read_as = told.map(|note| format!("{}: {}", note.option, note.text)).collect();
        Self { read_as, ..list.into() }
    }
}

impl Plan {
    pub(super) fn capacity(&self, drive: &DeviceInfo) -> Bytes {
        self.span.unwrap_or(drive.capacity).min(drive.capacity)
    }

    pub(super) fn list(&self) -> JobList {
        JobList { title: self.title.clone(), jobs: self.jobs.clone() }
    }

    /// Whether the drive holds nothing when the jobs begin; a simulated one is as it left the
    /// factory.
    pub(super) fn finds_nothing(&self, drive: &DeviceInfo) -> bool {
        match self.prepare {
            Prepare::Nothing => drive.kind == DeviceKind::Simulated,
            Prepare::Purge => true,
            Prepare::Fill => false,
        }
    }

    /// I/Os in flight at most, of all jobs of a group together.
    pub(crate) fn in_flight(&self) -> usize {
        // Names, places and seeds do not matter here.
        let groups = self.groups(Bytes(u64::MAX));
        let loads =
            |group: &Vec<Job>| -> Vec<Job> { group.iter().flat_map(Job::by_rate).collect() };
        let depth = |group| loads(group).iter().map(|job| job.queue_depth).sum::<usize>();
        groups.iter().map(depth).max().unwrap_or(0)
    }

    /// The series of all jobs, and the second of each that its figures begin with: behind the job's delay and ramp.
    pub(crate) fn told_from(&self) -> BTreeMap<String, u32> {
        // Names and operations do not depend on the drive's capacity.
        let groups = self.groups(Bytes(u64::MAX));
        let of = |job: &Job| {
            let from = job.before_figures().0.div_ceil(1_000_000_000) as u32;
            series_of_job(job).into_iter().map(move |name| (name, from))
        };
        groups.iter().flatten().flat_map(of).collect()
    }

    /// The groups as they run.
    pub(crate) fn groups(&self, capacity: Bytes) -> Vec<Vec<Job>> {
        self.list().groups(self.seed, capacity)
    }

    fn jobs_of(&self, operation: Operation) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(move |job| job.operations().any(|one| one == operation))
    }

    /// Whether any job does this.
    pub(crate) fn has(&self, operation: Operation) -> bool {
        self.jobs_of(operation).next().is_some()
    }

    /// Whether chance decides how many of these I/Os come.
    pub(crate) fn are_drawn(&self, operation: Operation) -> bool {
        self.jobs_of(operation)
            .any(|job| matches!(job.pace, Pace::Arrivals { .. } | Pace::Scatter(_)))
    }

    /// How long the jobs that do this last after `ramp`; `None` if one has no time.
    pub(crate) fn lasts(&self, operation: Operation, ramp: Nanos) -> Option<Nanos> {
        let has_time = |job: &Job| job.time_based && job.steady.is_none();
        let ends = self.jobs_of(operation).map(|job| self.limit(job).filter(|_| has_time(job)));
        let last = ends.collect::<Option<Vec<Nanos>>>()?.into_iter().max()?;
        Some(Nanos(last.0.saturating_sub(ramp.0)))
    }

    /// How long a job lasts at most.
    pub(super) fn limit(&self, job: &Job) -> Option<Nanos> {
        [job.duration(), self.duration].into_iter().flatten().min()
    }
}
