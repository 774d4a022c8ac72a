//! A run's directory as an entry of the library. Figures are those of the one list that gates and
//! reports read ([`RunRecord::figures`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use writecliff::RunRecord;
use writecliff::device::DeviceKind;
use writecliff::measure::REPORT;
use writecliff::suite::{DriveWarning, Figure, JobWarning, Status, Warning, open_record};

use crate::checked::{self, Checked};
use crate::conditions::hash;
use crate::gather::NewRun;
use crate::identity::catalogue_name;
use crate::model::{Conditions, Drive, Metric, Picture, Private};
use crate::pictures;

/// The page in a report's directory.
const PAGE: &str = "index.html";

/// The doubt about a run whose record says other figures than its recording gives.
pub(crate) const CONTRADICTED: &str = "Its record says other figures than its seconds give, so that one of them was changed or damaged: \
     the figures here are those of its seconds.";

/// A run, and what pages draw of it: its recording is read once for both.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) run: NewRun,
    /// Empty of a run that has not ended.
    pub(crate) pictures: Vec<Picture>,
}

/// Reads the run in a directory, its figures computed anew from its recording.
///
/// # Errors
/// What is wrong, in a sentence that does not repeat where.
pub(crate) fn read(directory: &Path) -> Result<Taken, String> {
    let said = open_record(directory).map_err(|error| error.to_string())?;
    let (record, is_contradicted, pictures) = match said.status {
        // What it has found so far is computed whenever it is looked at.
        Status::Running => (said, false, Vec::new()),
        _ => {
            let Checked { record, recording, is_contradicted } = checked::read(directory)?;
            let pictures = pictures::pictures(&record.plan, &recording);
            (record, is_contradicted, pictures)
        }
    };
    let mut run = NewRun::of(&record).ok_or("it tested no drive, but this machine (null:)")?;
    if is_contradicted && record.tool_version == env!("CARGO_PKG_VERSION") {
        run.doubts.insert(0, CONTRADICTED.to_owned());
        run.undoubted.clear();
        run.may_win = false;
    }
    run.private.directory = Some(directory.to_owned());
    run.private.report = report(directory);
    Ok(Taken { run, pictures })
}

/// Its own page, or that of the review or the repeats that it is a part of.
fn report(directory: &Path) -> Option<PathBuf> {
    let places = [Some(directory), directory.parent()].into_iter().flatten();
    places.map(|place| place.join(REPORT).join(PAGE)).find(|page| page.is_file())
}

impl NewRun {
    /// Of a record; none if it is of no drive.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let conditions = Conditions::of(record)?;
        let drive = Drive::of(&record.drive);
        let test = record.plan.name();
        let doubts: Vec<&Warning> = record.warnings.iter().collect();
        let (mut figures, mut undoubted) = (Vec::new(), Vec::new());
        for figure in record.figures() {
            let is_doubted = record.is_in_doubt(figure.stage, figure.of.as_deref());
            let value = figure.value;
            let metric = Metric::of(test, figure);
            if !doubts.is_empty() && !is_doubted {
                undoubted.push(metric.id.clone());
            }
            figures.push((metric, value));
        }
        Some(Self {
            id: id(record),
            drive,
            variant: variant(record),
            conditions,
            started: record.started.clone(),
            label: record.options.label.as_ref().map(ToString::to_string),
            status: record.status.clone(),
            may_win: may_win(record),
            doubts: in_sentences(&doubts),
            undoubted,
            seed: record.plan.seed(),
            tool_version: record.tool_version.clone(),
            figures,
            catalogue: false,
            private: private(record),
        })
    }
}

impl Metric {
    /// The quantity that a figure of a test is of.
    pub fn of(test: &str, figure: Figure) -> Self {
        let Figure { name, of, unit, good, judged, .. } = figure;
        let (test, unit) = (test.to_owned(), unit.symbol().to_owned());
        Self { id: metric_id(&test, &name), test, name, of, unit, good, judged }
    }
}

/// Names of a test's own are shown as they are, but for what addresses do not take. Of others, like
/// those of somebody's jobs, a hash tells apart what would look the same.
fn metric_id(test: &str, name: &str) -> String {
    let mut id = format!("{test}.");
    let mut is_exact = true;
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' => id.push(c),
            ' ' => id.push('-'),
            '-' => id.push('_'),
            ',' => id.push('~'),
            '/' => id += "~~",
            '%' => id += "pct",
            _ => is_exact = false,
        }
    }
    if !is_exact {
        id += &format!(".{}", hash(name));
    }
    id
}

/// What tells a run from all others: when it began, on what, and what was asked. It stays when a
/// meter's log is added and when the run ends.
fn id(record: &RunRecord) -> String {
    let drive = &record.drive;
    let parts = [
        record.started.clone(),
        record.started_unix_ns.map_or_else(String::new, |at| at.to_string()),
        drive.address.clone(),
        drive.model.clone(),
        drive.serial.clone().unwrap_or_default(),
        serde_json::to_string(&record.plan).unwrap_or_default(),
    ];
    hash(&parts.join("\n"))
}

/// The firmware of a real drive; of a model the profile, unless it is the catalogue's of today.
fn variant(record: &RunRecord) -> Option<String> {
    let drive = &record.drive;
    if drive.kind != DeviceKind::Simulated {
        return drive.firmware.as_ref().map(|firmware| format!("firmware {firmware}"));
    }
    let profile = drive.profile.as_ref()?;
    let today = catalogue_name(drive).and_then(|name| todays_profiles().get(name));
    let digits = profile.sha256.get(..8).unwrap_or_default();
    (today != Some(&profile.sha256)).then(|| format!("profile {digits}"))
}

/// The hash of every profile of the catalogue, as this version has it.
pub(crate) fn todays_profiles() -> &'static BTreeMap<&'static str, String> {
    static PROFILES: OnceLock<BTreeMap<&'static str, String>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let hash = |name| Some((name, writecliff::sim::load(name).ok()?.record().sha256));
        writecliff::sim::catalogue().into_iter().filter_map(hash).collect()
    })
}

/// Each doubt once.
fn in_sentences(doubts: &[&Warning]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for sentence in doubts.iter().map(ToString::to_string) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

/// Whether nothing is to be doubted but what conditions say of a result and of all that it is held
/// against: that it is a file's, or another program's.
fn may_win(record: &RunRecord) -> bool {
    let is_said = |doubt: &&Warning| {
        matches!(
            doubt,
            Warning::Drive(DriveWarning::FileNotDrive) | Warning::Job(JobWarning::Imported { .. })
        )
    };
    record.status == Status::Complete && record.warnings.iter().all(|doubt| is_said(&doubt))
}

fn private(record: &RunRecord) -> Private {
    let host = &record.host;
    Private {
        serial: record.drive.serial.clone(),
        host: Some(format!("{}, {} × {}", host.kernel, host.processors, host.processor)),
        ..Private::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_that_look_alike_have_links_of_their_own() {
        let id = metric_id("consistency", "steady latency p99.9 at 25 % spare");
        assert_eq!(id, "consistency.steady-latency-p99.9-at-25-pct-spare");
        assert_ne!(metric_id("consistency", "steady p1"), metric_id("consistency", "steady-p1"));
        assert_ne!(metric_id("mixed", "a<b>"), metric_id("mixed", "a>b<"));
    }
}
