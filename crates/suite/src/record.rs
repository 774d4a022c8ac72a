//! `run.json`: everything about a run that is not a series. docs/formats.md describes it.

use serde::{Deserialize, Serialize};
use writecliff_device::{DeviceInfo, Nanos, PurgeOutcome, Telemetry};
use writecliff_measure::{FailedIo, Recording};

use crate::doubts::doubts;
use crate::meter::PowerSource;
use crate::mixed::Told;
use crate::{Efficiency, Figure, Good, Outcome, Plan, RunOptions, TraceFacts, Unit, Warning};

/// Raised when a reader of the old form would misread the new one. What older versions wrote is
/// read as well.
pub const SCHEMA_VERSION: u32 = 2;

/// A run, as `run.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
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
    pub plan: Plan,
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
    pub outcome: Option<Outcome>,
    /// Doubts about it.
    pub warnings: Vec<Warning>,
}

/// Of records from before it was kept.
fn first_method() -> u32 {
    1
}

/// A record for a program that reads it: what can be counted need not be looked for.
#[derive(Debug, Serialize)]
pub struct WithFigures<'a> {
    /// As in `run.json`.
    #[serde(flatten)]
    pub record: &'a RunRecord,
    /// [`RunRecord::figures`].
    pub figures: Vec<Figure>,
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
    /// The most threads that a load of it was spread over.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: usize,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_one(threads: &usize) -> bool {
    *threads == 1
}

impl RunRecord {
    /// The results as numbers, the most telling first, what each phase gave for a watt, and what a real
    /// drive counted of itself; none as long as there is no outcome.
    pub fn figures(&self) -> Vec<Figure> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let mut figures = outcome.figures();
        figures.extend(self.efficiency.iter().flat_map(Efficiency::figures));
        figures.extend(counted(self));
        figures
    }

    /// Which program measured it, if it was another one.
    pub fn told(&self) -> Option<&Told> {
        match &self.outcome {
            Some(Outcome::Mixed(outcome)) => outcome.told.as_ref(),
            _ => None,
        }
    }

    /// Whether its plan was cut down to minutes: its figures are not those of the method, and nothing
    /// is to be concluded from them.
    pub fn is_quick(&self) -> bool {
        self.warnings.contains(&Warning::Quick)
    }

    /// That the drive did not keep what was written to it, if that was found.
    pub fn lost_data(&self) -> Option<&Warning> {
        self.warnings.iter().find(|warning| warning.is_of_lost_data())
    }

    /// The record as JSON has it, and its figures beside it.
    pub fn with_figures(&self) -> WithFigures<'_> {
        WithFigures { record: self, figures: self.figures() }
    }

    /// Gives the run its status and the outcome that its recording allows, with the doubts that
    /// come from the recording.
    pub(crate) fn conclude(&mut self, recording: &Recording, status: Status) {
        self.status = status;
        let (outcome, warnings) = self.conclusion(recording);
        self.outcome = outcome;
        self.efficiency = Efficiency::of_phases(&self.phases, recording);
        self.warnings.extend(warnings);
    }

    /// Draws the conclusions from the recording, in place of those that it came with: whoever made
    /// it may have written anything there. Doubts that no recording can tell stay.
    pub(crate) fn conclude_anew(&mut self, recording: &Recording) {
        let (outcome, warnings) = self.conclusion(recording);
        self.outcome = outcome;
        self.efficiency = Efficiency::of_phases(&self.phases, recording);
        self.warnings.retain(|warning| !warnings.contains(warning));
        self.warnings.extend(warnings);
    }

    /// Takes back what was concluded from `before` and concludes from `after` instead; doubts that
    /// did not come from the recording stay.
    pub(crate) fn conclude_again(&mut self, before: &Recording, after: &Recording) {
        let (_, old) = self.conclusion(before);
        self.warnings.retain(|warning| !old.contains(warning));
        self.conclude(after, self.status.clone());
    }

    fn conclusion(&self, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
        let (outcome, mut warnings) =
            self.plan.conclude(recording, &self.traces, self.outcome.as_ref(), &self.phases);
        // What a complete run lacks was not possible on this drive.
        let is_complete = self.status == Status::Complete;
        warnings.retain(|warning| !is_complete || !matches!(warning, Warning::Ended { .. }));
        warnings.extend(doubts(self, recording));
        (outcome, warnings)
    }
}

/// What a real drive counted from the first phase to the last.
fn counted(record: &RunRecord) -> Vec<Figure> {
    let of_drive = |phase: &&Phase| phase.before.own.is_some() && phase.after.own.is_some();
    let asked: Vec<&Phase> = record.phases.iter().filter(of_drive).collect();
    let ([first, ..], Some(last)) = (&asked[..], asked.last()) else { return Vec::new() };
    let (before, after) = (&first.before, &last.after);
    let amplification = after
        .measured_write_amplification_since(before)
        .map(|times| Figure::new("drive's write amplification", times, Unit::Ratio, Good::AtMost));
    let used = before.wear_permille.zip(after.wear_permille).map(|(before, after)| {
        let percent = after.saturating_sub(before) as f64 / 10.0;
        Figure::new("drive's endurance used", percent, Unit::Percent, Good::AtMost).unjudged()
    });
    amplification.into_iter().chain(used).collect()
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
