//! What fio measured, as a run beside ours.
//!
//! fio's JSON has a job's totals and percentiles; its logs, where they lie beside it, have the
//! seconds. What neither tells stays untold: a run that was brought in has no seconds without logs,
//! and nothing of the drive but what the caller knows.

mod asked;
mod logs;
mod output;

use std::fs;
use std::path::{Path, PathBuf};

use writecliff_device::{
    Bytes, DeviceInfo, DeviceKind, ErrorKind, Nanos, Operation, Telemetry, printable,
};
use writecliff_measure::{LatencyHistogram, RunDirectory, RunDirectoryError, Sample};
use writecliff_suite::mixed::{self, JobFigures, KnownLatencies, OperationFigures};
use writecliff_suite::{
    Host, ImportedFrom, JobWarning, Label, Outcome, Phase, Plan, RunOptions, RunRecord,
    SCHEMA_VERSION, Status, TestEntry, Warning, ios_for,
};

use asked::Asked;
use logs::{Logs, Quantity, Second};
use output::{Direction, JobOutput, Output, Times};

/// What the caller knows of the drive, and fio does not tell.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// The maker's model name; without it the drive is called by the file that fio was given.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Bytes that a host can address.
    pub capacity: Option<Bytes>,
    /// A name of one's own for the run.
    pub label: Option<Label>,
}

/// Why fio's output does not become a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read, or is longer than any output.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
        /// What that asks for.
        kind: ErrorKind,
    },
    /// It is not fio's JSON, or of a version that is not read.
    #[error("{} is no result of fio's: {reason}", path.display())]
    NotFio {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// A log beside it is damaged.
    #[error("a log of {}: {reason}", path.display())]
    Log {
        /// The output that it belongs to.
        path: PathBuf,
        /// The file, its line, and what is wrong.
        reason: String,
    },
    /// The run cannot be written.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
}

impl ImportError {
    /// What it asks of whoever named the file.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { kind, .. } => *kind,
            Self::NotFio { .. } | Self::Log { .. } => ErrorKind::Usage,
            Self::Directory(error) => error.kind(),
        }
    }
}

/// Longer outputs are something else.
const TEXT_MAX: u64 = 256 << 20;

/// Brings what fio printed as JSON into the new directory `out`, as a run of the test `mixed`; with the
/// seconds, if the logs that its options name lie beside it.
///
/// # Errors
/// [`ImportError`]; nothing is left behind then.
pub fn import_fio(json: &Path, known: &Imported, out: &Path) -> Result<RunRecord, ImportError> {
    let not_fio = |reason: String| ImportError::NotFio { path: json.to_owned(), reason };
    let output = Output::last_in(&read(json)?).map_err(not_fio)?;
    match output.major() {
        Some(3..) => {}
        Some(_) => {
            let reason =
                format!("it is by {}, and versions before 3.0 told other times", output.version);
            return Err(not_fio(reason));
        }
        None => return Err(not_fio(format!("its version is '{}'", printable(&output.version)))),
    }
    let Asked { plan, beside } = Asked::of(&output).map_err(not_fio)?;
    let jobs = Job::all(&output, json)?;
    let held = |job: &Job<'_>| plan.held(&job.output.jobname);
    let figures =
        jobs.iter().filter_map(|job| Some(JobFigures { held: held(job), ..job.figures()? }));
    let figures: Vec<JobFigures> = figures.collect();
    if figures.is_empty() {
        return Err(not_fio("no job did any I/O".to_owned()));
    }
    let program = ImportedFrom {
        program: printable(&output.version),
        without_submission: jobs.iter().any(Job::leaves_out_submission),
        beside,
        logged_percent: logged_percent(&jobs),
    };
    let outcome = mixed::Outcome { jobs: figures, imported_from: Some(program), served: None };
    let record = record(&output, &jobs, Plan::Mixed(plan), outcome, known);
    store(&record, &jobs, out)?;
    Ok(record)
}

/// How much of what jobs with logs moved those tell, if that is not nearly all.
fn logged_percent(jobs: &[Job<'_>]) -> Option<u32> {
    let (mut logged, mut counted) = (0.0, 0.0);
    for job in jobs {
        for (operation, direction) in job.output.directions() {
            let told: f64 = job.logs.of(operation).iter().map(|second| second.bytes).sum();
            if told > 0.0 {
                (logged, counted) = (logged + told, counted + direction.io_bytes as f64);
            }
        }
    }
    let percent = (counted > 0.0).then(|| (100.0 * logged / counted).round() as u32)?;
    (percent.abs_diff(100) > ImportedFrom::NEAR).then_some(percent)
}

fn read(path: &Path) -> Result<String, ImportError> {
    let failed =
        |reason: String, kind| ImportError::Unreadable { path: path.to_owned(), reason, kind };
    let io = |error: std::io::Error| failed(error.to_string(), ErrorKind::of_path(&error));
    let facts = fs::metadata(path).map_err(io)?;
    if !facts.is_file() || facts.len() > TEXT_MAX {
        let reason = "it is no file of at most 256 MiB".to_owned();
        return Err(failed(reason, ErrorKind::Usage));
    }
    let text = fs::read(path).map_err(io)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A job, or what stands for several of one group.
struct Job<'a> {
    name: String,
    output: &'a JobOutput,
    logs: Logs,
    /// From fio's beginning to the job's.
    start: Nanos,
}

impl<'a> Job<'a> {
    fn all(output: &'a Output, json: &Path) -> Result<Vec<Self>, ImportError> {
        let mut jobs: Vec<Self> = Vec::new();
        let (mut group_start, mut group, mut group_length) = (Nanos::ZERO, 0, Nanos::ZERO);
        for (index, job) in output.jobs.iter().enumerate() {
            if job.groupid != group {
                (group_start, group) = (group_start + group_length, job.groupid);
                group_length = Nanos::ZERO;
            }
            group_length = group_length.max(job.length());
            let names = name_of(job);
            let copies = output.jobs.iter().filter(|other| name_of(other) == names).count();
            let before =
                output.jobs[..index].iter().filter(|other| name_of(other) == names).count();
            let name = match copies {
                1 => names,
                _ => format!("{names} {}", before + 1),
            };
            let logs = Self::logs(output, index, json)?;
            jobs.push(Self { name, output: job, logs, start: group_start });
        }
        Ok(jobs)
    }

    /// The logs that the job's options name: `NAME_iops.3.log` is of fio's third job. Where one entry
    /// stands for several jobs, all with its name are its own.
    fn logs(output: &Output, index: usize, json: &Path) -> Result<Logs, ImportError> {
        let job = &output.jobs[index];
        let option = |key: &str| job.options.get(key).or_else(|| output.global.get(key));
        let averaged =
            option("log_avg_msec").is_some_and(|ms| ms.parse().is_ok_and(|ms: u64| ms > 0));
        let shared = |key: &str| {
            let name = option(key);
            let others = output.jobs.iter().enumerate().filter(|(other, _)| *other != index);
            others
                .into_iter()
                .any(|(_, other)| other.options.get(key).or_else(|| output.global.get(key)) == name)
        };
        let mut logs = Logs::default();
        let has_one_size = !SIZES.iter().any(|key| option(key).is_some());
        let kinds = [
            ("write_iops_log", &["iops"][..], Quantity::Iops),
            ("write_bw_log", &["bw"][..], Quantity::Bandwidth),
            ("write_lat_log", &["lat", "clat"][..], Quantity::Latency),
        ];
        for (key, endings, quantity) in kinds {
            let Some(name) = option(key) else { continue };
            let name = if name.is_empty() { &job.jobname } else { name };
            let number = shared(key).then_some(index + 1);
            // The first of the two is the whole latency.
            let found = endings.iter().map(|ending| files_of(json, name, ending, number));
            for file in { found }.find(|files| !files.is_empty()).unwrap_or_default() {
                let added = logs.add(&file, quantity, averaged);
                added.map_err(|reason| ImportError::Log { path: json.to_owned(), reason })?;
            }
        }
        // What one kind of log leaves out follows from the other where all I/Os are of one size.
        for (operation, direction) in job.directions() {
            if has_one_size && direction.total_ios > 0 {
                logs.complete(operation, direction.io_bytes as f64 / direction.total_ios as f64);
            }
        }
        Ok(logs)
    }

    /// None if it did nothing.
    fn figures(&self) -> Option<JobFigures> {
        let length = self.output.length();
        let [reads, writes, trims, flushes] = self
            .output
            .directions()
            .map(|(operation, direction)| direction.figures(operation, length));
        let did = [&reads, &writes, &trims, &flushes].into_iter().any(Option::is_some);
        did.then(|| JobFigures {
            name: self.name.clone(),
            group: self.output.groupid,
            seconds: length.as_secs_f64(),
            held: None,
            reads,
            writes,
            trims,
            flushes,
        })
    }

    fn leaves_out_submission(&self) -> bool {
        let is_told = |direction: &Direction| std::ptr::eq(direction.times(), &direction.clat_ns);
        self.output
            .directions()
            .iter()
            .any(|(_, direction)| direction.total_ios > 0 && is_told(direction))
    }

    /// A sample for every second of every operation that the logs tell.
    fn samples(&self) -> impl Iterator<Item = (Sample, &LatencyHistogram)> {
        [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush].into_iter().flat_map(
            move |operation| {
                let seconds = self.logs.of(operation).iter().zip(0u32..);
                let told = seconds.filter(|(second, _)| second.is_of_something());
                told.map(move |(second, at)| {
                    (self.sample(operation, second, at), &second.latencies)
                })
            },
        )
    }

    fn sample(&self, operation: Operation, second: &Second, at: u32) -> Sample {
        let percentile =
            |percent| second.latencies.percentile(percent).0.min(second.latency_max_ns);
        let mut sample = Sample {
            series: mixed::series(&self.name, operation),
            second: at,
            start_ns: self.start.0 + u64::from(at) * SECOND,
            span_ns: self.logs.span(operation, at).0,
            latency_mean_ns: (second.latency_sum_ns / second.timed.max(f64::MIN_POSITIVE)) as u64,
            latency_p50_ns: percentile(50.0),
            latency_p99_ns: percentile(99.0),
            latency_p999_ns: percentile(99.9),
            latency_p9999_ns: percentile(99.99),
            latency_max_ns: second.latency_max_ns,
            ..Sample::default()
        };
        let (ios, bytes) = (second.ios.round() as u64, second.bytes.round() as u64);
        match operation {
            Operation::Read => (sample.reads, sample.read_bytes) = (ios, bytes),
            Operation::Write => (sample.writes, sample.written_bytes) = (ios, bytes),
            Operation::Trim => (sample.trims, sample.trimmed_bytes) = (ios, Some(bytes)),
            Operation::Flush => sample.flushes = ios,
        }
        sample.queue_depth =
            sample.latency_mean_ns as f64 * ios as f64 / sample.span_ns.max(1) as f64;
        sample
    }
}

const SECOND: u64 = 1_000_000_000;

/// Options of fio's that give a job's I/Os several sizes.
const SIZES: [&str; 3] = ["bssplit", "bsrange", "blocksize_range"];

/// Files called `NAME_ENDING.log`, or with a job's number in it, in the directory of the output; the
/// directory that fio was told was one of another machine, perhaps.
fn files_of(json: &Path, name: &str, ending: &str, number: Option<usize>) -> Vec<PathBuf> {
    let stem =
        Path::new(name).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let is_it = |file: &str| {
        let rest = file.strip_prefix(&format!("{stem}_{ending}"));
        let between = rest.and_then(|rest| rest.strip_suffix("log")?.strip_prefix('.'));
        match (between, number) {
            (Some(""), None) => true,
            (Some(between), None) => between.trim_end_matches('.').parse::<u32>().is_ok(),
            (Some(between), Some(number)) => between == format!("{number}."),
            (None, _) => false,
        }
    };
    let directory = json.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).into_iter().flatten();
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|name| is_it(&name.to_string_lossy()));
    let mut files: Vec<PathBuf> = paths.filter(named).collect();
    files.sort();
    files
}

impl Second {
    fn is_of_something(&self) -> bool {
        self.ios.round() > 0.0 || self.bytes > 0.0
    }
}

impl JobOutput {
    fn directions(&self) -> [(Operation, &Direction); 4] {
        let Self { read, write, trim, sync, .. } = self;
        [
            (Operation::Read, read),
            (Operation::Write, write),
            (Operation::Trim, trim),
            (Operation::Flush, sync),
        ]
    }

    fn length(&self) -> Nanos {
        let directions = [&self.read, &self.write, &self.trim, &self.sync];
        Nanos::from_millis(
            directions.map(|direction| direction.runtime).into_iter().max().unwrap_or(0),
        )
    }
}

/// What a job is called; of several machines with the machine before it.
fn name_of(job: &JobOutput) -> String {
    let name = printable(&job.jobname);
    match &job.hostname {
        Some(host) => format!("{}: {name}", printable(host)),
        None => name,
    }
}

impl Direction {
    /// One kind of latency for all figures: the whole one, unless percentiles are of the other.
    fn times(&self) -> &Times {
        match self.lat_ns.has_percentiles() || !self.clat_ns.has_percentiles() {
            true => &self.lat_ns,
            false => &self.clat_ns,
        }
    }

    /// How many there were. Of flushes fio 3.33 tells 0 there, and times of each.
    fn ios(&self, operation: Operation) -> u64 {
        match (operation, self.total_ios) {
            (Operation::Flush, 0) => self.lat_ns.count,
            (_, told) => told,
        }
    }

    /// Of a job of this length; flushes have no time of their own.
    fn figures(&self, operation: Operation, length: Nanos) -> Option<OperationFigures> {
        let own = Nanos::from_millis(self.runtime);
        let seconds = if own > Nanos::ZERO { own } else { length }.as_secs_f64();
        let ios = self.ios(operation);
        if ios == 0 || seconds <= 0.0 {
            return None;
        }
        let times = self.times();
        Some(OperationFigures {
            ios,
            bytes: Bytes(self.io_bytes),
            iops: ios as f64 / seconds,
            megabytes_per_second: self.io_bytes as f64 / 1e6 / seconds,
            mean_ns: (times.count > 0).then_some(times.mean as u64),
            latency: times.known(ios),
        })
    }
}

impl Times {
    /// Of so many I/Os: fio tells every percentile that it was asked for, few as they may be.
    /// fio's percentiles are those of its buckets' ends, which may lie behind the longest.
    fn known(&self, ios: u64) -> KnownLatencies {
        let longest = if self.max > 0.0 { self.max as u64 } else { u64::MAX };
        let percentile = |percent| {
            self.percentile(percent).filter(|_| ios >= ios_for(percent)).map(|ns| ns.min(longest))
        };
        KnownLatencies {
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            p999_ns: percentile(99.9),
            p9999_ns: percentile(99.99),
            max_ns: (self.count > 0).then_some(self.max as u64),
        }
    }
}

fn record(
    output: &Output,
    jobs: &[Job<'_>],
    plan: Plan,
    outcome: mixed::Outcome,
    known: &Imported,
) -> RunRecord {
    let elapsed = output.jobs.iter().map(|job| job.elapsed).max().unwrap_or(0);
    let printed = output.timestamp_ms.or(output.timestamp.map(|s| s.saturating_mul(1000)));
    let started = printed.and_then(|ms| {
        let began = ms.checked_sub(i64::try_from(elapsed).ok()?.checked_mul(1000)?)?;
        jiff::Timestamp::from_millisecond(began).ok()
    });
    let failed = output.jobs.iter().find(|job| job.error != 0);
    let status = failed.map_or(Status::Complete, |job| Status::Failed {
        error: format!("fio says that job '{}' failed with error {}", name_of(job), job.error),
    });
    let program = outcome.imported_from.clone();
    let method_version = TestEntry::find(plan.name()).map_or(1, |test| test.method_version);
    RunRecord {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        started_unix_ns: started.and_then(|at| u64::try_from(at.as_nanosecond()).ok()),
        status,
        plan,
        method_version,
        options: RunOptions { label: known.label.clone(), ..RunOptions::default() },
        traces: Vec::new(),
        drive: drive(output, known),
        host: Host { kernel: String::new(), processor: String::new(), processors: 0 },
        purge: None,
        phases: phases(jobs),
        power_source: Default::default(),
        failed_ios: Vec::new(),
        efficiency: Vec::new(),
        outcome: Some(Outcome::Mixed(outcome)),
        warnings: program
            .into_iter()
            .map(|from| Warning::Job(JobWarning::Imported { from }))
            .collect(),
    }
}

/// A phase for each group, as a run of ours has them.
fn phases(jobs: &[Job<'_>]) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    for job in jobs {
        let (name, length) = (mixed::phase(job.output.groupid), job.output.length());
        match phases.last_mut().filter(|phase| phase.name == name) {
            Some(phase) => phase.length = phase.length.max(length),
            None => {
                let (before, after) = (Telemetry::default(), Telemetry::default());
                let (start, threads, unfinished) = (job.start, 1, false);
                phases.push(Phase { name, start, length, before, after, threads, unfinished });
            }
        }
    }
    phases
}

fn drive(output: &Output, known: &Imported) -> DeviceInfo {
    let options = output.jobs.iter().map(|job| &job.options).chain([&output.global]);
    let named = { options }.find_map(|options| options.get("filename"));
    // Of jobs in files fio tells the disk beneath those of its directory, which they are not.
    let in_files = output.jobs.iter().map(|job| &job.options).chain([&output.global]);
    let in_files = { in_files }.any(|options| options.contains_key("directory"));
    let used = output.disk_util.first().map(|disk| format!("/dev/{}", disk.name));
    let used = used.filter(|_| !in_files);
    let address = named.cloned().or(used).unwrap_or_else(|| "a file of fio's".to_owned());
    let address = printable(&address);
    let is_device = address.starts_with("/dev/") || address.starts_with("\\\\.\\");
    let kind = if is_device { DeviceKind::BlockDevice } else { DeviceKind::File };
    DeviceInfo {
        model: known.model.clone().unwrap_or_else(|| address.clone()),
        serial: known.serial.clone(),
        firmware: known.firmware.clone(),
        io_size_max: Bytes::ZERO,
        queue_depth_max: 0,
        ..DeviceInfo::of(address, kind, known.capacity.unwrap_or(Bytes::ZERO))
    }
}

/// Puts all of it on disk as a run.
fn store(record: &RunRecord, jobs: &[Job<'_>], out: &Path) -> Result<(), ImportError> {
    let mut directory = RunDirectory::create(out, record, false)?;
    let mut samples: Vec<_> = jobs.iter().flat_map(Job::samples).collect();
    samples.sort_by_key(|(sample, _)| sample.start_ns);
    for (sample, latencies) in samples {
        directory.put(&sample, latencies)?;
    }
    Ok(directory.close(record)?)
}
