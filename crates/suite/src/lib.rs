//! The tests: what each asks of a drive, how, and what the answer is.
//!
//! One file a test: a `Plan`, which says all that is asked of a test (`test.rs`), `run`, `conclude`,
//! `Outcome`. The list of them stands once (`list.rs`); [`TESTS`], [`Plan`] and [`Outcome`] are made
//! from it. [`run`] runs one on any [`Device`] and keeps it in a run directory, whose `run.json` is a
//! [`RunRecord`]; a [`Review`] is a directory of such runs. What comes of a run are its
//! [`Figure`]s: [`gate`], tables and whatever compares drives read that one list. [`check`] is no
//! test of a drive but of the simulated ones: it holds them against published figures.

mod across;
mod again;
pub mod check;
pub mod consistency;
pub mod corners;
mod doubts;
mod efficiency;
pub mod encryption;
mod fast_part;
mod figure;
mod foreign;
pub mod fullness;
pub mod gate;
pub mod heat;
pub mod idle;
pub mod incompressible;
pub mod integrity;
mod label;
pub mod latency_at_load;
mod levels;
mod list;
pub mod loads;
mod meter;
pub mod mixed;
mod parallel;
mod plan;
pub mod power;
pub mod queue_depth;
mod rate;
pub mod read_write_mix;
mod record;
pub mod recovery;
mod repeats;
mod results;
mod review;
mod session;
pub mod spare_area;
pub mod steady_state;
pub mod storage_bench;
pub mod stutter;
pub mod suite;
mod test;
mod thread_count;
mod traces;
pub mod transfer_size;
pub mod trim;
mod unit;
mod warning;
pub mod whole_drive;
pub mod working_set;

use std::path::Path;

use serde::{Deserialize, Serialize};
use writecliff_device::{Device, DeviceError, DeviceInfo, DeviceKind, Nanos, Purge};
use writecliff_measure::{
    Liveness, Recorder, Recording, RunDirectory, RunDirectoryError, Sample, recover,
};

pub use across::doubts_across;
pub use again::AgainError;
pub use efficiency::Efficiency;
pub use fast_part::FastPart;
pub use figure::{Figure, FigureOf, Good};
pub use label::{Label, LabelError};
pub use levels::Level;
pub use list::{Outcome, Plan, TESTS, TestEntry};
pub use meter::{AddMeterError, Metered, PowerSource, add_meter};
pub use parallel::in_parallel;
pub use plan::{Choice, Demands, Estimate, Overrides, PlanError};
pub use rate::{LatencyFigures, Rate};
pub use record::{Host, Phase, RunRecord, SCHEMA_VERSION, Status, WithFigures};
pub use repeats::{FigureStatistics, Repeated, Repeats, RepeatsError, mean_and_deviation};
pub use results::{Results, ResultsError};
pub use review::{ALL_TESTS, DriveIdentity, Review, ReviewError, ReviewTest};
pub use session::{PURGE, Progress, RunError, RunWatch};
pub use test::InReviews;
pub use thread_count::{ThreadCount, ThreadCountError};
pub use traces::{Resolved, TraceFacts};
pub use unit::Unit;
pub use warning::Warning;

use session::Session;

/// How a run is kept and called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// What its user calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Keep every single I/O, not only every second.
    pub every_io: bool,
    /// The plan was cut down by [`Plan::quick`]: the report says so.
    pub quick: bool,
    /// How long an I/O may be in flight before it has failed; after as long again the run ends.
    pub io_timeout: Nanos,
    /// How the drive is to be purged; the best that it has, but for those that are only done by name,
    /// if it is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,
    /// How many threads keep a real drive busy.
    #[serde(skip_serializing_if = "ThreadCount::is_auto")]
    pub threads: ThreadCount,
    /// Ask a real drive for completions instead of waiting for its interrupts.
    #[serde(skip_serializing_if = "is_false")]
    pub poll: bool,
}

/// For serde, which names functions.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            label: None,
            every_io: false,
            quick: false,
            io_timeout: Recorder::IO_TIMEOUT,
            purge: None,
            threads: ThreadCount::Auto,
            poll: false,
        }
    }
}

/// Runs `plan` on `device`, recording into the new directory `path`; `watch` sees every second as
/// it passes and may break off. Returns the finished record, also of a run that was interrupted.
///
/// # Errors
/// [`RunError`]; what was recorded before it is kept in the directory.
pub fn run(
    plan: &Plan,
    device: &mut dyn Device,
    path: &Path,
    options: RunOptions,
    watch: RunWatch<'_>,
) -> Result<RunRecord, RunError> {
    plan.check(device.info())?;
    check_purge(plan, device.info(), options.purge)?;
    check_poll(device.info(), options.poll)?;
    let mut session = Session::begin(plan, device, path, options, watch)?;
    let ended = plan.run(&mut session);
    session.end(ended)
}

/// Refuses a purge that the drive has not, before anything is done to it.
fn check_purge(plan: &Plan, drive: &DeviceInfo, how: Option<Purge>) -> Result<(), DeviceError> {
    match how {
        Some(how) if plan.purges() && !drive.purges.contains(&how) => {
            Err(DeviceError::PurgeUnsupported {
                address: drive.address.clone(),
                how,
                supported: drive.purges.clone(),
            })
        }
        _ => Ok(()),
    }
}

/// Refuses to ask for completions where nothing has any to ask for; of real drives, opening them knows.
fn check_poll(drive: &DeviceInfo, poll: bool) -> Result<(), PlanError> {
    let what = match drive.kind {
        DeviceKind::Simulated if poll => "a simulated drive",
        DeviceKind::Null if poll => "null:",
        _ => return Ok(()),
    };
    let reason = format!("{what} has no completions to be asked for; leave it out");
    Err(PlanError { option: "poll", got: "true".to_owned(), reason })
}

/// Reads a run back, whether it ended or was cut off; the outcome of one that was cut off is
/// computed from what it recorded.
///
/// # Errors
/// [`RunDirectoryError`] with the file that is missing or damaged.
pub fn open(path: &Path) -> Result<(RunRecord, Recording), RunDirectoryError> {
    let alive = recover(path)? == Liveness::Alive;
    let (mut record, recording) = (read_record(path)?, Recording::read(path)?);
    if record.status == Status::Running {
        let status = if alive { Status::Running } else { Status::CutOff };
        record.conclude(&recording, status);
    }
    Ok((record, recording))
}

/// The record of a run alone, without its seconds: at once, where the run has ended.
///
/// # Errors
/// As [`open`].
pub fn open_record(path: &Path) -> Result<RunRecord, RunDirectoryError> {
    let record = read_record(path)?;
    match record.status {
        Status::Running => Ok(open(path)?.0),
        _ => Ok(record),
    }
}

/// Reads a run of somebody else's: its outcome is what its seconds give, whatever `run.json` says.
///
/// # Errors
/// As [`open`].
pub fn open_anew(path: &Path) -> Result<(RunRecord, Recording), RunDirectoryError> {
    let (mut record, recording) = open(path)?;
    record.conclude_anew(&recording);
    Ok((record, recording))
}

/// `run.json` as it stands.
pub(crate) fn read_record(path: &Path) -> Result<RunRecord, RunDirectoryError> {
    let file = RunDirectory::record_of(path);
    let read = |source| RunDirectoryError::Read { path: file.clone(), source };
    let text = std::fs::read(&file).map_err(read)?;
    serde_json::from_slice(&text).map_err(std::io::Error::from).and_then(parse).map_err(read)
}

/// A record of this version of the schema or an earlier one; others would be misread.
fn parse(record: serde_json::Value) -> std::io::Result<RunRecord> {
    check_version(&record)?;
    Ok(serde_json::from_value(foreign::printable_record(record))?)
}

/// Version 1 had the same values; `phase` was its name for the series of a sample or an I/O.
fn check_version(record: &serde_json::Value) -> std::io::Result<()> {
    let version = &record["schema_version"];
    let is_known = version.as_u64().is_some_and(|v| (1..=u64::from(SCHEMA_VERSION)).contains(&v));
    if !is_known {
        let message = format!(
            "schema_version is {version}, and this version of writecliff reads 1 to \
             {SCHEMA_VERSION}; use the version that wrote it"
        );
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
    }
    Ok(())
}

/// A phase's samples as IOPS, one a second; the last second of a phase is left out if it is a
/// fragment.
fn iops_of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<f64> {
    let whole = samples.filter(|sample| sample.is_whole());
    whole.map(|sample| sample.iops().get()).collect()
}
