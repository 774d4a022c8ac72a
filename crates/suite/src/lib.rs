//! The tests: what each asks of a drive, how, and what the answer is.
//!
//! One file a test, four items in it: `Plan`, `run`, `Outcome`, helpers. [`TESTS`] is the one table
//! of them; [`run`] runs one on any [`Device`] and keeps it in a
//! run directory, whose `run.json` is a [`RunRecord`]. [`check`] is no test of a drive but of the
//! simulated ones: it holds them against published figures.

pub mod check;
pub mod consistency;
mod doubts;
mod meter;
mod record;
mod session;
mod warning;

use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use writecliff_device::{Device, DeviceInfo};
use writecliff_measure::{Liveness, Recording, RunDirectoryError, Sample, recover};

pub use meter::{AddMeterError, Metered, PowerSource, add_meter};
pub use record::{Host, Phase, RunRecord, SCHEMA_VERSION, Status};
pub use session::{Progress, RunError};
pub use warning::Warning;

use session::Session;

/// A row of the table of tests.
#[derive(Debug)]
pub struct TestEntry {
    /// What it is called on the command line and in files.
    pub name: &'static str,
    /// What it answers.
    pub question: &'static str,
    /// Whether it destroys what is on the drive.
    pub writes: bool,
}

/// All tests.
pub const TESTS: &[TestEntry] = &[TestEntry {
    name: consistency::NAME,
    question: "does the drive serve the same load equally well every second, once full?",
    writes: true,
}];

/// A test and what it is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "test", rename_all = "kebab-case")]
pub enum Plan {
    /// See [`consistency`].
    Consistency(consistency::Plan),
}

/// A test's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "test", rename_all = "kebab-case")]
pub enum Outcome {
    /// See [`consistency`].
    Consistency(consistency::Outcome),
}

impl Plan {
    /// The test's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Consistency(_) => consistency::NAME,
        }
    }

    /// Whether the test destroys what is on the drive; one that does not opens it only to read.
    pub fn writes(&self) -> bool {
        TESTS.iter().any(|test| test.name == self.name() && test.writes)
    }

    /// Checks the plan against the drive, before anything is done to it.
    ///
    /// # Errors
    /// [`PlanError`] with what to change.
    pub fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        match self {
            Self::Consistency(plan) => plan.check(drive),
        }
    }

    /// Decides everything that is random in the test.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Consistency(plan) => plan.seed,
        }
    }

    /// The most I/Os in flight and the longest of them.
    pub fn demands(&self) -> Demands {
        match self {
            Self::Consistency(plan) => plan.demands(),
        }
    }
}

/// What a plan needs of a device's engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demands {
    /// I/Os in flight at once.
    pub queue_depth: usize,
    /// The longest read or write.
    pub io_size: writecliff_device::Bytes,
}

/// A plan that cannot be carried out on this drive.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{option} {got} is not possible: {reason}")]
pub struct PlanError {
    /// What to change.
    pub option: &'static str,
    /// What it was.
    pub got: String,
    /// Why it cannot be, and what can.
    pub reason: String,
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
    watch: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<RunRecord, RunError> {
    plan.check(device.info())?;
    let mut session = Session::begin(plan, device, path, watch)?;
    let ended = match plan {
        Plan::Consistency(plan) => consistency::run(plan, &mut session),
    };
    session.end(ended)
}

/// Reads a run back, whether it ended or was cut off; the outcome of one that was cut off is
/// computed from what it recorded.
///
/// # Errors
/// [`RunDirectoryError`] with the file that is missing or damaged.
pub fn open(path: &Path) -> Result<(RunRecord, Recording), RunDirectoryError> {
    let alive = recover(path)? == Liveness::Alive;
    let (record, recording) = Recording::open(path)?;
    let mut record = parse(record).map_err(|source| {
        let path = path.join("run.json");
        RunDirectoryError::Read { path, source }
    })?;
    if record.status == Status::Running {
        let status = if alive { Status::Running } else { Status::CutOff };
        record.conclude(&recording, status);
    }
    Ok((record, recording))
}

/// A record of this version of the schema; others would be misread.
fn parse(record: serde_json::Value) -> std::io::Result<RunRecord> {
    let version = &record["schema_version"];
    if *version != SCHEMA_VERSION {
        let message = format!(
            "schema_version is {version}, and this version of writecliff reads {SCHEMA_VERSION}; \
             use the version that wrote it"
        );
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
    }
    Ok(serde_json::from_value(record)?)
}

/// A phase's samples as IOPS, one a second; the last second of a phase is left out if it is a
/// fragment.
fn iops_of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<f64> {
    let whole = samples.filter(|sample| sample.span_ns == 1_000_000_000);
    whole.map(|sample| sample.iops().get()).collect()
}
