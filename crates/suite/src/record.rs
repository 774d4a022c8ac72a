//! `run.json`: everything about a run that is not a series. docs/formats.md describes it.

use serde::{Deserialize, Serialize};
use writecliff_device::{DeviceInfo, Nanos, PurgeOutcome, Telemetry};
use writecliff_measure::Recording;

use crate::doubts::doubts;
use crate::{Outcome, Plan, Warning, consistency};

/// Raised when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// A run, as `run.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of the tool that ran it.
    pub tool_version: String,
    /// Wall-clock time of the beginning, RFC 3339 in UTC.
    pub started: String,
    /// How far it came.
    pub status: Status,
    /// What was asked, the seed included.
    pub plan: Plan,
    /// What it was asked of.
    pub drive: DeviceInfo,
    /// The machine.
    pub host: Host,
    /// What the purge did, if there was one.
    pub purge: Option<PurgeOutcome>,
    /// The parts of the test that were begun, in order.
    pub phases: Vec<Phase>,
    /// The answer, as far as what was recorded gives one.
    pub outcome: Option<Outcome>,
    /// Doubts about it.
    pub warnings: Vec<Warning>,
}

/// How far a run came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Status {
    /// Not ended yet, or ended by a kill.
    Running,
    /// As planned.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// An error stopped it.
    Failed {
        /// What the user was told.
        error: String,
    },
    /// Found in the state `running` by a reader.
    CutOff,
}

/// The machine that ran a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Kernel name and release.
    pub kernel: String,
    /// Processor model.
    pub processor: String,
    /// Processors available.
    pub processors: usize,
}

/// A part of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name in the series.
    pub name: String,
    /// From the run's beginning to the phase's, on the device's clock.
    pub start: Nanos,
    /// Its length; zero while it goes on.
    pub length: Nanos,
    /// What the drive said of itself before.
    pub before: Telemetry,
    /// What it said after; as before, while the phase goes on.
    pub after: Telemetry,
}

impl RunRecord {
    /// Gives the run its status and the outcome that its recording allows, with the doubts that
    /// come from the recording.
    pub(crate) fn conclude(&mut self, recording: &Recording, status: Status) {
        let (outcome, warnings) = match &self.plan {
            Plan::Consistency(plan) => {
                let (outcome, warnings) = consistency::conclude(plan, recording);
                (outcome.map(Outcome::Consistency), warnings)
            }
        };
        self.status = status;
        self.outcome = outcome;
        self.warnings.extend(warnings);
        self.warnings.extend(doubts(self, recording));
    }
}

impl Host {
    /// This machine, as far as the kernel tells.
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model =
            cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            kernel: format!("{} {}", read("/proc/sys/kernel/ostype").trim(), release.trim()),
            processor: model.map_or("unknown", |(_, name)| name.trim()).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
