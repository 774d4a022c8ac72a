//! `run.json`: everything about a run that is not a series. docs/formats.md describes it.

use serde::{Deserialize, Serialize};
use writecliff_device::{DeviceInfo, PurgeOutcome};
use writecliff_measure::FailedIo;

use crate::record::efficiency::Efficiency;
use crate::record::host::Host;
use crate::record::options::RunOptions;
use crate::record::phase::Phase;
use crate::record::power_source::PowerSource;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::{MethodWarning, Warning};

/// Raised when a reader of the old form would misread the new one. What older versions wrote is
/// read as well.
pub const SCHEMA_VERSION: u32 = 2;

/// A run, as `run.json` holds it, whatever tests there are: `P` is what can be asked, `O` what can
/// come of it. A [`RunRecord`](crate::RunRecord) is one of any of the tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<P, O> {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of the tool that ran it.
    pub tool_version: String,
    /// Wall-clock time of the beginning, RFC 3339 in UTC.
    pub started: String,
    /// The same moment exactly, in nanoseconds since 1970: what other clocks' records are aligned
    /// by. Device time zero of the recording.
    #[serde(default)]
    pub started_unix_ns: Option<u64>,
    /// How far it came.
    pub status: Status,
    /// What was asked, the seed included.
    pub plan: P,
    /// [`TestEntry::method_version`](crate::TestEntry::method_version) of the writer.
    #[serde(default = "first_method")]
    pub method_version: u32,
    /// How it was kept and called.
    #[serde(default)]
    pub options: RunOptions,
    /// What was known of the traces that it does when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceFacts>,
    /// What it was asked of.
    pub drive: DeviceInfo,
    /// The machine.
    pub host: Host,
    /// What the purge did, if there was one.
    pub purge: Option<PurgeOutcome>,
    /// The parts of the test that were begun, in order.
    pub phases: Vec<Phase>,
    /// What told the power in the samples.
    #[serde(default)]
    pub power_source: PowerSource,
    /// The first I/Os that the drive failed, 16 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_ios: Vec<FailedIo>,
    /// What each phase gave for a watt, where power is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efficiency: Vec<Efficiency>,
    /// The answer, as far as what was recorded gives one.
    pub outcome: Option<O>,
    /// Doubts about it.
    pub warnings: Vec<Warning>,
}

/// Of records from before it was kept.
fn first_method() -> u32 {
    1
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

impl<P, O> Record<P, O> {
    /// Whether its plan was cut down to minutes: its figures are not those of the method, and nothing
    /// is to be concluded from them.
    pub fn is_quick(&self) -> bool {
        self.warnings.contains(&Warning::Method(MethodWarning::Quick))
    }

    /// That the drive did not keep what was written to it, if that was found.
    pub fn lost_data(&self) -> Option<&Warning> {
        self.warnings.iter().find(|warning| warning.is_of_lost_data())
    }
}
