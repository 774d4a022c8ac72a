//! The tests: what each asks of a drive, how, and what the answer is.
//!
//! One file a test, four items in it: `Plan`, `run`, `Outcome`, helpers. The list of them stands
//! once, below; [`TESTS`], [`Plan`] and [`Outcome`] are made from it. [`run`] runs one on any
//! [`Device`] and keeps it in a run directory, whose `run.json` is a [`RunRecord`]; a [`Review`] is
//! a directory of such runs. [`check`] is no test of a drive but of the simulated ones: it holds
//! them against published figures.

mod across;
pub mod check;
pub mod consistency;
pub mod corners;
mod doubts;
mod fast_part;
mod foreign;
pub mod gate;
pub mod incompressible;
mod meter;
pub mod mixed;
mod plan;
pub mod power;
mod rate;
mod record;
mod review;
mod session;
pub mod spare_area;
pub mod steady_state;
pub mod storage_bench;
pub mod stutter;
mod traces;
pub mod transfer_size;
pub mod trim;
mod warning;

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use writecliff_device::{Device, DeviceInfo, Nanos};
use writecliff_measure::{
    Liveness, Recorder, Recording, RunDirectory, RunDirectoryError, Sample, recover,
};

pub use across::doubts_across;
pub use fast_part::FastPart;
pub use meter::{AddMeterError, Metered, PowerSource, add_meter};
pub use plan::{Demands, Estimate, Overrides, PlanError};
pub use rate::{LatencyFigures, Rate};
pub use record::{Host, Phase, RunRecord, SCHEMA_VERSION, Status};
pub use review::{DriveIdentity, Review, ReviewError, ReviewTest};
pub use session::{PURGE, Progress, RunError, RunWatch};
pub use warning::Warning;

use session::Session;

/// A row of the table of tests.
#[derive(Debug)]
pub struct TestEntry {
    /// What it is called on the command line and in files.
    pub name: &'static str,
    /// What it answers.
    pub question: &'static str,
    /// Whether a review has it without being asked.
    pub by_default: bool,
    /// The method's plan.
    pub plan: fn() -> Plan,
}

/// Makes the table and the two enums from the one list of tests.
macro_rules! tests {
    ($($variant:ident $module:ident)*) => {
        /// All tests, in the order of a review.
        pub const TESTS: &[TestEntry] = &[$(TestEntry {
            name: $module::NAME,
            question: $module::QUESTION,
            by_default: $module::BY_DEFAULT,
            plan: || Plan::$variant($module::Plan::default()),
        }),*];

        /// A test and what it is to do.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "test", rename_all = "kebab-case")]
        pub enum Plan {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant($module::Plan),)*
        }

        /// A test's answer.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "test", rename_all = "kebab-case")]
        pub enum Outcome {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant($module::Outcome),)*
        }

        impl Plan {
            /// The test's name.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $module::NAME,)* }
            }

            /// Checks the plan against the drive, before anything is done to it.
            ///
            /// # Errors
            /// [`PlanError`] with what to change.
            pub fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
                match self { $(Self::$variant(plan) => plan.check(drive),)* }
            }

            /// The plan with what the user changed.
            ///
            /// # Errors
            /// [`PlanError`] if the test has no such option.
            pub fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
                overrides.check_traces(self.name())?;
                match self { $(Self::$variant(plan) => plan.with(overrides).map(Self::$variant),)* }
            }

            /// The plan cut down to minutes: shorter, and on a small part of the drive.
            #[must_use]
            pub fn quick(self) -> Self {
                match self { $(Self::$variant(plan) => Self::$variant(plan.quick()),)* }
            }

            /// Decides everything that is random in the test.
            pub fn seed(&self) -> u64 {
                match self { $(Self::$variant(plan) => plan.seed,)* }
            }

            /// The most I/Os in flight and the longest of them.
            pub fn demands(&self) -> Demands {
                match self { $(Self::$variant(plan) => plan.demands(),)* }
            }

            /// How long it will take and how much it will write, roughly.
            pub fn estimate(&self, drive: &DeviceInfo) -> Estimate {
                match self { $(Self::$variant(plan) => plan.estimate(drive),)* }
            }

            /// Reads the plan of the test of this name; `None` if there is no such test. What is
            /// left out is the method's.
            ///
            /// # Errors
            /// The deserializer's, with the key that is unknown or has the wrong type.
            pub fn read<'de, D: Deserializer<'de>>(
                test: &str,
                from: D,
            ) -> Option<Result<Self, D::Error>> {
                match test {
                    $($module::NAME => {
                        Some($module::Plan::deserialize(from).map(Self::$variant))
                    })*
                    _ => None,
                }
            }

            fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
                match self { $(Self::$variant(plan) => $module::run(plan, session),)* }
            }

            fn conclude(&self, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
                match self {
                    $(Self::$variant(plan) => {
                        let (outcome, warnings) = $module::conclude(plan, recording);
                        (outcome.map(Outcome::$variant), warnings)
                    })*
                }
            }
        }
    };
}

tests! {
    Consistency consistency
    SpareArea spare_area
    Trim trim
    Corners corners
    Incompressible incompressible
    TransferSize transfer_size
    Stutter stutter
    StorageBench storage_bench
    Power power
    SteadyState steady_state
    Mixed mixed
}

/// How a run is kept and called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// Keep every single I/O, not only every second.
    pub every_io: bool,
    /// The plan was cut down by [`Plan::quick`]: the report says so.
    pub quick: bool,
    /// How long an I/O may be in flight before it has failed; after as long again the run ends.
    pub io_timeout: Nanos,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { every_io: false, quick: false, io_timeout: Recorder::IO_TIMEOUT }
    }
}

impl Plan {
    /// Whether the test destroys what is on the drive; one that does not opens it only to read.
    pub fn writes(&self) -> bool {
        match self {
            Self::Mixed(plan) => plan.writes(),
            Self::StorageBench(plan) => plan.writes(),
            _ => true,
        }
    }
}

impl Plan {
    /// The plan as a review runs it, in which a small drive is no reason to refuse.
    #[must_use]
    pub(crate) fn fitted(self, drive: &DeviceInfo) -> Self {
        match self {
            Self::StorageBench(plan) => Self::StorageBench(plan.fitted(drive)),
            other => other,
        }
    }
}

impl Plan {
    /// Whether `other` asks the same of a drive. Where a trace's file lies is no part of that.
    pub(crate) fn asks_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::StorageBench(plan), Self::StorageBench(other)) => plan.asks_as(other),
            _ => self == other,
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
    let mut session = Session::begin(plan, device, path, options, watch)?;
    let ended = plan.run(&mut session);
    session.end(ended)
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
