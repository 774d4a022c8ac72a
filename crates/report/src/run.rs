//! A run, read back, and how it is told in words.

use std::iter;
use std::path::{Path, PathBuf};

use serde_json::Value;
use writecliff_device::{DeviceKind, Nanos, ProfileRecord, printable};
use writecliff_measure::{Recording, RunDirectory, RunDirectoryError};
use writecliff_suite::{
    DriveWarning, Host, JobWarning, MethodWarning, Phase, Plan, PowerSource, Repeats, ResultsError,
    RunRecord, Stage, Status, TESTS, Warning, consistency,
};

use crate::number::{self, NONE};

/// A run, read back.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its directory.
    pub path: PathBuf,
    /// What was asked of which drive, and the answer.
    pub record: RunRecord,
    /// Every second of it.
    pub recording: Recording,
    /// The same with other seeds, as far as they are complete; empty if it was not repeated.
    pub repeats: Vec<Run>,
    /// How often it was to be run.
    pub asked: usize,
}

/// What a run is called that leaves nothing to choose.
const DEFAULT: &str = "Default";

/// Which figures of random writes are in doubt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InDoubt {
    /// The rate of the fill before them.
    pub(crate) fill: bool,
    /// The rate of the fresh drive, and the cliff, which is told by it.
    pub(crate) fresh: bool,
    /// All others.
    pub(crate) steady: bool,
}

impl InDoubt {
    /// Whether those of this stage are.
    pub(crate) fn at(self, stage: Stage) -> bool {
        match stage {
            Stage::Fill => self.fill,
            Stage::Fresh => self.fresh,
            Stage::Later => self.steady,
        }
    }
}

impl Run {
    /// Reads a run's directory, whether the run has ended or was cut off.
    ///
    /// # Errors
    /// [`RunDirectoryError`] with the file that is missing or damaged.
    pub fn open(path: &Path) -> Result<Self, RunDirectoryError> {
        let (record, recording) = writecliff_suite::open(path)?;
        Ok(Self { path: path.to_owned(), record, recording, repeats: Vec::new(), asked: 1 })
    }

    /// Reads the runs of these repeats in their directory: the first that is complete, with the
    /// others in it.
    ///
    /// # Errors
    /// [`ResultsError`] if there is none, or with the file that is missing or damaged.
    pub fn open_repeats(path: &Path, repeats: &Repeats) -> Result<Self, ResultsError> {
        let plans = repeats.plans()?;
        let places = plans.iter().map(|(directory, _)| path.join(directory));
        let begun = places.filter(|place| RunDirectory::is_at(place));
        let mut runs = begun.map(|place| Self::open(&place)).collect::<Result<Vec<_>, _>>()?;
        let has_complete = runs.iter().any(Self::is_complete);
        runs.retain(|run| run.is_complete() || !has_complete);
        let mut runs = runs.into_iter();
        let first = runs.next().ok_or_else(|| ResultsError::no_run(path))?;
        let repeats = runs.filter(Self::is_complete).collect();
        Ok(Self { repeats, asked: plans.len(), ..first })
    }

    pub(crate) fn is_repeated(&self) -> bool {
        !self.repeats.is_empty()
    }

    /// It and its repeats.
    pub(crate) fn and_repeats(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.repeats)
    }

    /// Where its test stands in the table of tests.
    pub(crate) fn test_index(&self) -> usize {
        let name = self.record.plan.name();
        TESTS.iter().position(|test| test.name == name).unwrap_or(TESTS.len())
    }

    /// Where a simulated drive lost a die among what is compared with one another.
    pub(crate) fn lost_die_in(&self) -> Option<&str> {
        // All that follows fills at the beginning is of what was left.
        let is_fill = |phase: &str| phase.rsplit('/').next() == Some(consistency::FILL);
        let mut phases = self.record.phases.iter().map(|phase| &*phase.name);
        let measured = phases.position(|phase| !is_fill(phase)).unwrap_or_default();
        let is_before =
            |phase: &str| self.record.phases[..measured].iter().any(|before| before.name == phase);
        self.record.warnings.iter().find_map(|doubt| match doubt {
            Warning::Drive(DriveWarning::DieLost { phase, .. }) if !is_before(phase) => {
                Some(phase.as_str())
            }
            _ => None,
        })
    }

    /// How many dies of a simulated drive had stopped working when a phase ended.
    pub(crate) fn lost_dies_after(&self, phase: &str) -> u64 {
        let phase = self.record.phases.iter().find(|of| of.name == phase);
        phase.and_then(|phase| phase.after.lost_dies).unwrap_or(0)
    }

    /// When a simulated drive lost its power in a phase, since that began.
    pub(crate) fn power_lost_in<'a>(&'a self, phase: &'a str) -> impl Iterator<Item = Nanos> + 'a {
        let doubts = self.record.warnings.iter().map(Warning::of_any_setting);
        let losses = doubts.filter_map(|doubt| match doubt {
            Warning::Drive(DriveWarning::PowerLost { phase, after, later, .. }) => {
                let later = later.iter().map(|(phase, after)| (phase, *after));
                Some(iter::once((phase, *after)).chain(later))
            }
            _ => None,
        });
        losses.flatten().filter(move |(own, _)| *own == phase).map(|(_, after)| after)
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.record.drive.kind == DeviceKind::Simulated
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.record.status == Status::Complete
    }

    /// Whether it came to any figure: not if all of it was left out, or the model lacks what it is about.
    pub(crate) fn is_measured(&self) -> bool {
        match &self.record.plan {
            // Its steps may all be of what the model takes no time for.
            Plan::Suite(_) => !self.record.figures().is_empty(),
            _ => self.record.outcome.is_some(),
        }
    }

    /// What sets it apart from other runs of its test on the same drive: the spare area.
    pub(crate) fn setting(&self) -> String {
        match &self.record.plan {
            Plan::Consistency(plan) => spare_setting(plan.spare_percent),
            _ => DEFAULT.to_owned(),
        }
    }

    /// The test and what sets the run apart: `consistency, 25 % spare`.
    pub(crate) fn name(&self) -> String {
        match (self.record.plan.name(), self.setting()) {
            (name, setting) if setting == DEFAULT => name.to_owned(),
            (name, setting) => format!("{name}, {setting}"),
        }
    }

    /// How many of its repeats are there, if some are missing.
    pub(crate) fn of_repeats(&self) -> Option<String> {
        let there = self.and_repeats().filter(|run| run.is_complete()).count();
        let asked = self.asked;
        let are = if there == 1 { "is" } else { "are" };
        (asked > 1 && there < asked).then(|| format!("{there} of {asked} repeats {are} complete"))
    }

    /// How far it came, in words that follow a colon.
    pub(crate) fn status(&self) -> String {
        if let Some(there) = self.of_repeats() {
            return there;
        }
        match &self.record.status {
            Status::Running => "still running".to_owned(),
            Status::Complete if !self.is_measured() => "ended, with nothing measured".to_owned(),
            Status::Complete => match self.steps_left_out() {
                0 => "complete".to_owned(),
                1 => "complete but for a step".to_owned(),
                steps => format!("complete but for {steps} steps"),
            },
            Status::Interrupted => "interrupted".to_owned(),
            Status::Failed { error } => format!("failed ({error})"),
            Status::CutOff => "cut off before its end".to_owned(),
        }
    }

    /// The same where a doubt tells all of it: why a run failed, for one.
    pub(crate) fn status_in_short(&self) -> String {
        match &self.record.status {
            Status::Failed { .. } => "failed".to_owned(),
            _ => self.status(),
        }
    }

    /// Of a suite: those that the drive was too small for.
    fn steps_left_out(&self) -> usize {
        let is_one =
            |warning: &&Warning| matches!(warning, Warning::Job(JobWarning::StepLeftOut { .. }));
        self.record.warnings.iter().filter(is_one).count()
    }

    /// Why the writes with so much of the LBAs left untouched are to be doubted.
    pub(crate) fn doubts_at(&self, spare_percent: f64) -> impl Iterator<Item = &Warning> {
        self.record.warnings.iter().filter_map(move |warning| match warning {
            Warning::Method(MethodWarning::AtSpare { percent, doubt }) => {
                (*percent == spare_percent).then_some(&**doubt)
            }
            other => Some(other),
        })
    }

    /// Whether these writes are in doubt, in this run or in a repeat of it. Of a run that was broken off its doubts
    /// tell which are: those of another spare area may have come to their end.
    pub(crate) fn in_doubt_at(&self, spare_percent: f64) -> InDoubt {
        let is_short = self.of_repeats().is_some();
        let doubts = || self.and_repeats().flat_map(|run| run.doubts_at(spare_percent));
        let at = |stage| is_short || doubts().any(|doubt| doubt.is_of(stage));
        let [fill, fresh, steady] = [Stage::Fill, Stage::Fresh, Stage::Later].map(at);
        InDoubt { fill, fresh, steady }
    }

    /// Whether a figure of this part of its test is in doubt that the drive gave at this stage, in this run or in a
    /// repeat of it. Of a run that was broken off its doubts tell which are.
    pub(crate) fn is_doubtful_at(&self, stage: Stage, part: Option<&str>) -> bool {
        self.of_repeats().is_some()
            || self.and_repeats().any(|run| run.record.is_in_doubt(stage, part))
    }

    /// Whether these random writes would have used up any spare area, and not within their first second; a disk
    /// has none.
    pub(crate) fn had_time_for_a_cliff(&self, series: &str) -> bool {
        let written: u64 = self.recording.series(series).map(|sample| sample.written_bytes).sum();
        let seconds = self.recording.series(series).filter(|sample| sample.is_whole()).count();
        let used_up = written >= self.record.drive.capacity.0 && seconds > 1;
        self.record.drive.rotational || used_up
    }

    /// What was asked, in one line.
    pub(crate) fn method(&self) -> String {
        let of = |plan: &consistency::Plan| {
            let (block, depth) = (number::size(plan.block), plan.queue_depth);
            let duration = number::seconds(plan.duration.as_secs_f64());
            let duration = match plan.until_steady {
                consistency::UntilSteady::Yes => format!("{duration} and on, until it is steady, "),
                _ => format!("{duration} "),
            };
            let purge = if self.record.purge.is_some() { "purge, " } else { "" };
            format!("{purge}sequential fill, then {duration}of {block} random writes at QD{depth}")
        };
        match &self.record.plan {
            Plan::Consistency(plan) => of(plan),
            Plan::SpareArea(plan) => {
                let settings: Vec<String> =
                    plan.settings.iter().map(|setting| format!("{setting} %")).collect();
                let settings = settings.join(", ");
                format!("with {settings} of the LBAs untouched: {}", of(&plan.at(0.0)))
            }
            plan => plan.entry().question.to_owned(),
        }
    }

    /// Everything that somebody needs to do it again.
    pub(crate) fn details(&self) -> Vec<(String, String)> {
        let (record, drive) = (&self.record, &self.record.drive);
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
        let bytes = number::thousands(drive.capacity.0 as f64);
        let (logical, physical) =
            (number::size(drive.lba_size), number::size(drive.physical_block_size));
        let host = &record.host;
        // Another program tells neither.
        let (capacity, sectors) = match drive.capacity.0 {
            0 => (String::new(), String::new()),
            // A file's is its own size, and nothing of a drive's.
            _ if drive.kind == DeviceKind::Directory => (String::new(), String::new()),
            _ if record.imported_from().is_some() && drive.capacity.0 == 0 => {
                (String::new(), String::new())
            }
            _ if record.imported_from().is_some() => (drive.capacity.to_string(), String::new()),
            _ => (
                format!("{} ({bytes} bytes)", drive.capacity),
                format!("{logical} logical, {physical} physical"),
            ),
        };
        let mut details = vec![
            ("Drive", format!("{} ({})", drive.model, drive.kind)),
            ("Label", record.options.label.as_ref().map_or_else(String::new, ToString::to_string)),
            ("Address", drive.address.clone()),
            ("Serial", text(&drive.serial)),
            ("World-wide name", text(&drive.world_wide_name)),
            ("Stands on", drive.stands_on.join("; ")),
            ("Firmware", text(&drive.firmware)),
            ("Capacity", capacity),
            ("Sectors", sectors),
            ("Scheduler", text(&drive.scheduler)),
            ("Write cache", text(&drive.write_cache)),
            ("Test", format!("{}: {}", record.plan.name(), self.method())),
            ("Purge", self.purge()),
            ("Started", record.started.clone()),
            ("Host", host_in_words(host)),
            ("Threads", threads_in_words(&record.phases)),
            ("Completions", completions_in_words(record.options.poll)),
            ("Writecliff", format!("{}, schema {}", record.tool_version, record.schema_version)),
            ("Data", self.data()),
        ];
        if record.power_source != PowerSource::Drive {
            details.push(("Power", "from a meter's log".to_owned()));
        }
        if let Some(profile) = &drive.profile {
            details.push(("Profile", in_words(profile)));
        }
        let plan = match record.served() {
            Some(_) => "none: other programs did what they had to do".to_owned(),
            None if record.imported_from().is_some() => String::new(),
            None => self.plan_in_words(),
        };
        details.push(("Plan", plan));
        let read_as: &[String] = match &record.plan {
            Plan::Mixed(plan) => &plan.read_as,
            Plan::Suite(plan) => &plan.read_as,
            _ => &[],
        };
        details.push(("Job file", printable(&read_as.join("; "))));
        details.retain(|(_, value)| !value.is_empty());
        details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// How the drive was purged, and what that was worth.
    pub(crate) fn purge(&self) -> String {
        let Some(purge) = self.record.purge else {
            let is_told = self.record.imported_from().is_none();
            return if is_told { "none" } else { "not told" }.to_owned();
        };
        match purge.sampled {
            0 => purge.how.describe().to_owned(),
            sampled => format!(
                "{}; {} of {sampled} places read back still held data",
                purge.how.describe(),
                purge.still_readable
            ),
        }
    }

    /// The plan as `run.json` has it: `duration 2000s, block 4KiB, ...`.
    fn plan_in_words(&self) -> String {
        let Ok(Value::Object(plan)) = serde_json::to_value(&self.record.plan) else {
            return NONE.to_owned();
        };
        let parts = plan
            .iter()
            .filter(|(key, _)| !["test", "read_as"].contains(&key.as_str()))
            .map(|(key, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), number::spaced);
                format!("{} {value}", key.replace('_', " "))
            });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Where everything that was recorded is to be found.
    fn data(&self) -> String {
        let is_cut_off = self.path.join("journal.jsonl").exists();
        let every_io = ["ios.parquet", "ios.journal"].map(|name| self.path.join(name).exists());
        let files = match (is_cut_off, every_io.contains(&true)) {
            (false, false) => "run.json, series.parquet and histograms.parquet",
            (false, true) => "run.json, series.parquet, histograms.parquet and ios.parquet",
            (true, false) => "run.json and journal.jsonl",
            (true, true) => "run.json, journal.jsonl and ios.journal",
        };
        format!("{files} in {}", printable(&self.path.display().to_string()))
    }
}

/// The machine; nothing where that is not to be told.
pub(crate) fn host_in_words(host: &Host) -> String {
    match host.processors {
        0 => String::new(),
        processors => {
            format!("{}, {}, {processors} logical processors", host.kernel, host.processor)
        }
    }
}

/// How many threads kept the drive busy, where it was ever more than one.
fn threads_in_words(phases: &[Phase]) -> String {
    let of = |wanted: usize| {
        let spread = phases.iter().filter(|phase| phase.threads == wanted);
        spread.map(|phase| phase.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match phases.iter().map(|phase| phase.threads).max() {
        Some(most @ 2..) if phases.iter().all(|phase| phase.threads == most) => most.to_string(),
        Some(most @ 2..) => format!("{most} in {}; fewer elsewhere", of(most)),
        _ => String::new(),
    }
}

/// How completions were noticed, where it was not by interrupt.
fn completions_in_words(poll: bool) -> String {
    if poll { "polled".to_owned() } else { String::new() }
}

/// `samsung-840-evo-250gb, gc.quantum = 4; SHA-256 bd1e...`.
fn in_words(profile: &ProfileRecord) -> String {
    let of_members = profile.values.get("array").map(|array| {
        let member = array.get("catalogue").and_then(|name| name.as_str());
        format!("an array of {}", member.unwrap_or("drives of its own"))
    });
    let origin = of_members.or_else(|| profile.catalogue.clone());
    let origin = origin.unwrap_or_else(|| "of its own".to_owned());
    let changes = profile.changes.iter().map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!(", {key} = {value}")
    });
    format!("{origin}{}; SHA-256 {}", changes.collect::<String>(), profile.sha256)
}

/// What a share of untouched LBAs is called: reviews say "default" for none.
pub(crate) fn spare_setting(percent: f64) -> String {
    if percent == 0.0 { DEFAULT.to_owned() } else { format!("{percent} % spare") }
}
