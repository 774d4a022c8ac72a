//! Mixed: how fast and how late is the drive under a load of one's own?
//!
//! Jobs, as a plan of ours or a fio job file describes them: reads, writes and trims in any
//! mixture, of any sizes, with think time or at a rate, several at once and one after the other.
//! Every operation of every job is a series of its own, so that reads are judged beside writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Nanos, Operation};
use writecliff_measure::{OfJob, Recording, Sample, Stream, Streams, Totals};
use writecliff_workload::fio::FioJobs;
use writecliff_workload::{Job, JobError, JobList, Mix, Of, Order, Pace, Steady};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_duration};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Test};
use crate::record::figure::Figure;
use crate::record::imported::ImportedFrom;
use crate::record::rate::{LatencyFigures, iops_of};
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;
use crate::record::warning::job::JobWarning;

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// Writes of the fill, and how many are in flight.
const FILL_BLOCK: Bytes = Bytes::from_kib(128);
const FILL_QUEUE_DEPTH: usize = 32;

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
    fn from(jobs: FioJobs) -> Self {
        jobs.list.into()
    }
}

impl Plan {
    fn capacity(&self, drive: &DeviceInfo) -> Bytes {
        self.span.unwrap_or(drive.capacity).min(drive.capacity)
    }

    fn list(&self) -> JobList {
        JobList { title: self.title.clone(), jobs: self.jobs.clone() }
    }

    /// Whether the drive holds nothing when the jobs begin; a simulated one is as it left the
    /// factory.
    fn finds_nothing(&self, drive: &DeviceInfo) -> bool {
        match self.prepare {
            Prepare::Nothing => drive.kind == DeviceKind::Simulated,
            Prepare::Purge => true,
            Prepare::Fill => false,
        }
    }

    /// I/Os in flight at most, of all jobs of a group together.
    fn in_flight(&self) -> usize {
        // Names, places and seeds do not matter here.
        let groups = self.groups(Bytes(u64::MAX));
        let loads =
            |group: &Vec<Job>| -> Vec<Job> { group.iter().flat_map(Job::by_rate).collect() };
        let depth = |group| loads(group).iter().map(|job| job.queue_depth).sum::<usize>();
        groups.iter().map(depth).max().unwrap_or(0)
    }

    /// The groups as they run.
    fn groups(&self, capacity: Bytes) -> Vec<Vec<Job>> {
        self.list().groups(self.seed, capacity)
    }

    /// How long a job lasts at most.
    fn limit(&self, job: &Job) -> Option<Nanos> {
        [job.duration(), self.duration].into_iter().flatten().min()
    }

    /// A job that is ended by its bytes takes what an SSD takes for them; one that is ended by its
    /// time does what an SSD does in it.
    fn of_job(&self, job: &Job, capacity: Bytes, drive: &DeviceInfo) -> Estimate {
        let nothing = Estimate::on(drive);
        let rate = job.pace.asked(job.transfer_size_max()).unwrap_or(match job.order {
            Order::Sequential => nothing.rates.sequential,
            Order::Random => nothing.rates.random,
        });
        // Trims move no data.
        let moved = |amount| if job.mix.trim == 100 { Bytes::ZERO } else { amount };
        let by_amount = job.amount(capacity).map(|amount| rate.time_for(moved(amount)));
        let time = [by_amount, self.limit(job)].into_iter().flatten().min().unwrap_or(Nanos::ZERO);
        let written = rate.0 as f64 * time.as_secs_f64() * f64::from(job.mix.write) / 100.0;
        Estimate { time, written: Bytes(written as u64), ..nothing }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "mixed";
    const QUESTION: &'static str = "how fast and how late is the drive under a load of one's own?";
    const REVIEWS: InReviews = InReviews::ByName;
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    /// Whether the drive's contents are changed.
    fn writes(&self) -> bool {
        self.prepare != Prepare::Nothing || self.jobs.iter().any(Job::writes)
    }

    fn purges(&self) -> bool {
        self.prepare != Prepare::Nothing
    }

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { duration: overrides.duration.or(self.duration), ..self })
    }

    fn quick(self) -> Self {
        let duration = self.duration.map_or(QUICK_MEASUREMENT, |own| own.min(QUICK_MEASUREMENT));
        Self { duration: Some(duration), span: quick_span(self.span), ..self }
    }

    fn as_asked(&self) -> Self {
        Self { title: None, ..self.clone() }
    }

    fn demands(&self) -> Demands {
        let (fill_depth, fill_block) = match self.prepare {
            Prepare::Fill => (FILL_QUEUE_DEPTH, FILL_BLOCK),
            Prepare::Nothing | Prepare::Purge => (0, Bytes::ZERO),
        };
        let longest = self.jobs.iter().map(Job::transfer_size_max).max().unwrap_or(Bytes::ZERO);
        Demands {
            queue_depth: self.in_flight().max(fill_depth),
            // Trims and flushes need no buffer, but an engine has one.
            io_size: longest.max(fill_block).max(Bytes::from_kib(4)),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let capacity = self.capacity(drive);
        let prepared = match self.prepare {
            Prepare::Fill => Estimate::on(drive).fill(capacity),
            Prepare::Nothing | Prepare::Purge => Estimate::on(drive),
        };
        self.groups(capacity).iter().fold(prepared, |sum, group| {
            let jobs: Vec<Estimate> =
                group.iter().map(|job| self.of_job(job, capacity, drive)).collect();
            let time = jobs.iter().map(|job| job.time).max().unwrap_or(Nanos::ZERO);
            let written = jobs.iter().fold(Bytes::ZERO, |sum, job| sum + job.written);
            sum.and(Estimate { time, written, ..Estimate::on(drive) })
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        self.duration.map_or(Ok(()), |duration| check_duration("duration", duration))?;
        if self.prepare == Prepare::Fill {
            check_block(FILL_BLOCK, self.span, drive)?;
        }
        let capacity = self.capacity(drive);
        self.list().check(drive.lba_size, capacity).map_err(from_job)?;
        let groups = self.groups(capacity);
        if let Some(group) = groups.iter().find(|group| series_of(group).len() > SERIES_MAX) {
            let got = format!("of {} series", series_of(group).len());
            let reason = format!("at most {SERIES_MAX} are recorded at once; use more groups");
            return Err(PlanError { option: "a group", got, reason });
        }
        let wanted = self.in_flight();
        if wanted > IN_FLIGHT_MAX {
            let reason = format!(
                "at most {IN_FLIGHT_MAX} are kept in flight; lower queue_depth or copies (iodepth or \
                 numjobs)"
            );
            let (option, got) = ("the jobs of a group with", format!("{wanted} I/Os in flight"));
            return Err(PlanError { option, got, reason });
        }
        let trims = self.jobs.iter().any(|job| job.operations().any(|op| op == Operation::Trim));
        if trims && !drive.trim {
            let (option, got) = ("a job with", "trims".to_owned());
            let reason = format!("{} takes no TRIM; leave them out", drive.model);
            return Err(PlanError { option, got, reason });
        }
        Ok(())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &[TraceFacts]) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    /// What another program measured is in no recording.
    fn conclude_from(
        &self,
        recording: &Recording,
        traces: &[TraceFacts],
        found: Option<&Outcome>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        match found {
            Some(Outcome { imported_from: Some(program), .. }) => {
                (found.cloned(), vec![Warning::Job(JobWarning::Imported { from: program.clone() })])
            }
            _ => self.conclude(recording, traces),
        }
    }

    fn imported_from(outcome: &Outcome) -> Option<&ImportedFrom> {
        outcome.imported_from.as_ref()
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.jobs.iter().flat_map(JobFigures::figures).collect()
    }
}

fn from_job(JobError { job, key, got, reason }: JobError) -> PlanError {
    PlanError { option: key, got, reason: format!("job '{job}': {reason}") }
}

/// As many as an I/O can be of.
const SERIES_MAX: usize = 256;
/// As many as Linux lets all programs together submit without waiting (`fs.aio-max-nr`).
pub(crate) const IN_FLIGHT_MAX: usize = 65_536;

/// What a series is called: a job's reads, for one.
pub fn series(job: &str, operation: Operation) -> String {
    format!("{job} {}", plural(operation))
}

pub(crate) fn plural(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Trim => "trims",
        Operation::Flush => "flushes",
    }
}

fn series_of(group: &[Job]) -> Vec<String> {
    group.iter().flat_map(series_of_job).collect()
}

fn series_of_job(job: &Job) -> Vec<String> {
    job.operations().map(|operation| series(&job.name, operation)).collect()
}

/// What a group is called among the phases.
pub fn phase(group: u32) -> String {
    format!("group {group}")
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let capacity = plan.capacity(session.drive());
    if plan.prepare != Prepare::Nothing {
        session.purge()?;
    }
    if plan.prepare == Prepare::Fill {
        let whole = FILL_BLOCK * (capacity.0 / FILL_BLOCK.0);
        let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
        session.fill(FILL, whole, FILL_BLOCK, depth)?;
    }
    let groups = plan.groups(capacity);
    if plan.finds_nothing(session.drive()) && groups.first().is_some_and(|group| reads(group)) {
        session.warn(JobWarning::ReadsNothing);
    }
    let (wanted, taken) = (plan.in_flight(), session.drive().queue_depth_max);
    if wanted > taken {
        session.warn(JobWarning::QueuedInHost { wanted, taken });
    }
    for group in groups {
        if session.drive().kind != DeviceKind::Simulated && trims_beside_others(&group) {
            session.warn(JobWarning::TrimsHoldUp);
        }
        run_group(plan, &group, capacity, session)?;
    }
    Ok(())
}

fn trims_beside_others(group: &[Job]) -> bool {
    let operations = || group.iter().flat_map(Job::operations);
    operations().any(|op| op == Operation::Trim) && operations().any(|op| op != Operation::Trim)
}

fn reads(group: &[Job]) -> bool {
    group.iter().any(|job| job.mix.read > 0)
}

fn run_group(
    plan: &Plan,
    group: &[Job],
    capacity: Bytes,
    session: &mut Session<'_>,
) -> Result<(), RunError> {
    let lba_size = session.drive().lba_size;
    let names = series_of(group);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let name = phase(group.first().map_or(0, |job| job.group));
    let extent = extent(plan, group, capacity);
    let supply = supply(group, lba_size, capacity);
    session.record_as(&name, &names, supply, plan.duration, extent)
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
    /// of all, and so on.
    pub(crate) fn run_together(
        &self,
        name: &str,
        session: &mut Session<'_>,
    ) -> Result<(), RunError> {
        let (lba_size, capacity) = (session.drive().lba_size, self.capacity(session.drive()));
        let group: Vec<Job> = self.groups(capacity).into_iter().flatten().collect();
        let (wanted, taken) = (self.in_flight(), session.drive().queue_depth_max);
        if wanted > taken {
            session.warn(JobWarning::QueuedInHost { wanted, taken });
        }
        if session.drive().kind != DeviceKind::Simulated && trims_beside_others(&group) {
            session.warn(JobWarning::TrimsHoldUp);
        }
        let series = self.series_together(name);
        let series: Vec<&str> = series.iter().map(String::as_str).collect();
        let extent = extent(self, &group, capacity);
        let supply = supply(&group, lba_size, capacity).by_operation();
        session.record_as(name, &series, supply, self.duration, extent)
    }

    /// The series in which the phase `name` is recorded then: of the operations that occur.
    pub(crate) fn series_together(&self, name: &str) -> Vec<String> {
        let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
        let occurs =
            |one: &Operation| self.jobs.iter().flat_map(Job::operations).any(|op| op == *one);
        all.into_iter().filter(occurs).map(|operation| series(name, operation)).collect()
    }

    /// Whether so much was recorded that no job that has a time was cut short.
    pub(crate) fn is_whole(&self, recorded: Nanos) -> bool {
        let timed = self.jobs.iter().filter(|job| job.time_based && job.steady.is_none());
        let ends = timed.filter_map(|job| Some(self.limit(job)?.0.saturating_sub(slack(job).0)));
        ends.max().is_none_or(|ends| recorded.0 >= ends)
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

/// What each job met with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// By job, in the order in which they ran.
    pub jobs: Vec<JobFigures>,
    /// Whose figures these are, if another program measured them.
    #[serde(rename = "told", default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<ImportedFrom>,
}

/// What a job met with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobFigures {
    /// The job; copies have a number behind the name.
    pub name: String,
    /// Jobs with the same number ran at once.
    pub group: u32,
    /// Seconds that the figures are about: from the end of the ramp to the last second in which an
    /// I/O completed.
    pub seconds: f64,
    /// Its reads, if it had any.
    pub reads: Option<OperationFigures>,
    /// Its writes.
    pub writes: Option<OperationFigures>,
    /// Its trims.
    pub trims: Option<OperationFigures>,
    /// Its flushes.
    pub flushes: Option<OperationFigures>,
}

impl JobFigures {
    /// Its operations by name, as far as they occurred.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &OperationFigures)> {
        let all = [
            (Operation::Read, &self.reads),
            (Operation::Write, &self.writes),
            (Operation::Trim, &self.trims),
            (Operation::Flush, &self.flushes),
        ];
        all.into_iter().filter_map(|(op, figures)| Some((plural(op), figures.as_ref()?)))
    }
}

impl JobFigures {
    fn figures(&self) -> Vec<Figure> {
        let of_operation = |(operation, figures): (&str, &OperationFigures)| {
            figures.figures(&format!("{} {operation}", self.name)).collect::<Vec<_>>()
        };
        self.operations().flat_map(of_operation).collect()
    }
}

/// One operation of a job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OperationFigures {
    /// I/Os completed.
    pub ios: u64,
    /// Bytes read or written.
    pub bytes: Bytes,
    /// I/Os over time.
    pub iops: f64,
    /// Bytes over time, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// Mean service time in nanoseconds, if it is known.
    pub mean_ns: Option<u64>,
    /// Percentiles of it.
    pub latency: KnownLatencies,
}

/// Percentiles of the service time in nanoseconds. All are known of what was measured here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KnownLatencies {
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p999_ns: Option<u64>,
    /// 99.99 %.
    pub p9999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

impl From<LatencyFigures> for KnownLatencies {
    fn from(latency: LatencyFigures) -> Self {
        Self {
            p50_ns: Some(latency.p50_ns),
            p99_ns: Some(latency.p99_ns),
            p999_ns: Some(latency.p999_ns),
            p9999_ns: Some(latency.p9999_ns),
            max_ns: Some(latency.max_ns),
        }
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut jobs = Vec::new();
    // Names and operations do not depend on the drive's capacity.
    for job in plan.groups(Bytes(u64::MAX)).iter().flatten() {
        let recorded = time_of(job, recording, 0).unwrap_or(Nanos::ZERO);
        match figures(job, recording) {
            Some(figures) => {
                warnings.extend(unevenness(job, recording));
                jobs.push(figures);
            }
            None => warnings.push(Warning::Job(JobWarning::NoFigures { job: job.name.clone() })),
        }
        if let Some(planned) = plan.limit(job).filter(|_| job.time_based)
            && job.steady.is_none()
            && recorded + slack(job) < planned
        {
            warnings.push(Warning::Job(JobWarning::JobCutShort {
                job: job.name.clone(),
                recorded,
                planned,
            }));
        }
    }
    for group in plan.groups(Bytes(u64::MAX)) {
        warnings.extend(never_steady(&group, recording));
    }
    ((!jobs.is_empty()).then_some(Outcome { jobs, imported_from: None }), warnings)
}

/// The jobs of a group that were to end when they are steady, and were not.
fn never_steady(group: &[Job], recording: &Recording) -> Vec<Warning> {
    let is_unsteady = |job: &&Job| {
        job.steady.is_some_and(|rule| {
            let together = group.iter().filter(|other| rule.together || other.name == job.name);
            let names: Vec<String> = together.flat_map(series_of_job).collect();
            !was_steady(rule, &names, recording)
        })
    };
    let unsteady = group.iter().filter(is_unsteady);
    unsteady.map(|job| Warning::Job(JobWarning::JobNotSteady { job: job.name.clone() })).collect()
}

/// Whether these series together were steady at any time.
pub(crate) fn was_steady(rule: Steady, names: &[String], recording: &Recording) -> bool {
    let rates = rates(rule, names, recording);
    rates.windows(rule.seconds().max(1)).any(|rates| rule.is_reached(rates))
}

/// The rate of these series together, second by second from where they are judged.
fn rates(rule: Steady, names: &[String], recording: &Recording) -> Vec<f64> {
    let mut seconds = BTreeMap::<u32, f64>::new();
    let of_series = recording.samples.iter().filter(|sample| names.contains(&sample.series));
    for sample in of_series.filter(|sample| sample.is_whole()) {
        let done = match rule.of {
            Of::Iops => sample.ios(),
            Of::Bandwidth => Totals::of([sample]).bytes().0 + sample.trimmed_bytes.unwrap_or(0),
        };
        *seconds.entry(sample.second).or_default() += done as f64;
    }
    let counted = rule.after.0.div_ceil(1_000_000_000) as u32;
    seconds.into_iter().filter(|(at, _)| *at >= counted).map(|(_, rate)| rate).collect()
}

/// The first and the last third of a job's time may be this far apart, as a share of the larger.
const UNEVEN: f64 = 0.25;

/// Whether the average of a job that was as fast as it could be hides how it changed.
fn unevenness(job: &Job, recording: &Recording) -> Option<Warning> {
    if job.pace != Pace::Closed {
        return None;
    }
    let name = series(&job.name, job.operations().next()?);
    let iops = iops_of(recording.series(&name));
    let third = iops.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&iops[..third]), mean(&iops[iops.len() - third..]));
    let is_long = third >= 10;
    let apart = (first - last).abs() > UNEVEN * first.max(last);
    let job = job.name.clone();
    (is_long && apart).then_some(Warning::Job(JobWarning::Uneven { job, first, last }))
}

/// How much before its time a job may have begun its last I/O.
fn slack(job: &Job) -> Nanos {
    let second = Nanos::from_secs(1);
    let mean_step = |job: &Job| job.pace.mean_step(job.transfer_size_max());
    match job.pace {
        Pace::Think { rest, .. } | Pace::Bursts { rest, .. } => second + rest + mean_step(job),
        Pace::Rates { .. } => second,
        // Of a thousand million exponential gaps one is longer than 20 mean ones.
        Pace::Arrivals { .. } => second + mean_step(job) * 20,
        _ => second + mean_step(job),
    }
}

/// From a second on to the end of the job's last I/O, whatever its operation; `None` if there was
/// none.
fn time_of(job: &Job, recording: &Recording, from: u32) -> Option<Nanos> {
    let names = series_of_job(job);
    let of_job = |sample: &&Sample| sample.second >= from && names.contains(&sample.series);
    let start = recording.samples.iter().filter(of_job).map(|sample| sample.start_ns).min()?;
    let active = recording.samples.iter().filter(of_job).filter(|sample| sample.ios() > 0);
    let end = active.map(|sample| sample.start_ns + sample.span_ns).max()?;
    Some(Nanos(end - start))
}

/// None if nothing of it was recorded behind its ramp.
fn figures(job: &Job, recording: &Recording) -> Option<JobFigures> {
    let from = job.before_figures().0.div_ceil(1_000_000_000) as u32;
    let samples = |name: &str| -> Vec<&Sample> {
        let all = recording.samples.iter();
        all.filter(|sample| sample.series == name && sample.second >= from).collect()
    };
    let span = time_of(job, recording, from)?;
    let of = |operation| {
        let name = series(&job.name, operation);
        let samples = samples(&name);
        let latency = LatencyFigures::of(recording, &name, from..u32::MAX);
        OperationFigures::of(&samples, span, latency)
    };
    Some(JobFigures {
        name: job.name.clone(),
        group: job.group,
        seconds: span.as_secs_f64(),
        reads: of(Operation::Read),
        writes: of(Operation::Write),
        trims: of(Operation::Trim),
        flushes: of(Operation::Flush),
    })
}

impl OperationFigures {
    fn figures(&self, of: &str) -> impl Iterator<Item = Figure> {
        let name = |figure: &str| format!("{of}, {figure}");
        let latency =
            |figure: &str, nanos: Option<u64>| Some(Figure::latency(name(figure), nanos?));
        let KnownLatencies { p99_ns, p999_ns, max_ns, .. } = self.latency;
        let figures = [
            Some(Figure::iops(name("rate"), self.iops)),
            Some(Figure::rate(name("data rate"), self.megabytes_per_second).unjudged()),
            latency("mean", self.mean_ns).map(Figure::unjudged),
            latency("p99", p99_ns).map(Figure::unjudged),
            latency("p99.9", p999_ns),
            latency("longest", max_ns),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(of))
    }

    fn of(samples: &[&Sample], span: Nanos, latency: LatencyFigures) -> Option<Self> {
        let totals = Totals::of(samples.iter().copied()).over(span);
        (totals.ios > 0 && span > Nanos::ZERO).then(|| Self {
            ios: totals.ios,
            bytes: totals.bytes(),
            iops: totals.iops().get(),
            megabytes_per_second: totals.megabytes_per_second(),
            mean_ns: Some(totals.mean().0),
            latency: latency.into(),
        })
    }
}
