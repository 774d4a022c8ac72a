//! Drives, and tests run on them.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use serde_json::{Map, Value};
use writecliff::array::Simulated;
use writecliff::device::ProfileRecord;
use writecliff::sim;
use writecliff::suite::{InReviews, Progress};
use writecliff::{DestroyData, DriveName, Event, Overrides, Plan, RunOptions, TESTS};

use crate::device::Device;
use crate::errors::{Raised, UsageError};
use crate::json;
use crate::watched::{Told, Watch, watched};

/// A drive by its name; a simulated one with all that it is built of.
#[pyclass(frozen, module = "writecliff._native")]
pub(crate) struct Drive {
    pub(crate) name: DriveName,
}

/// What a simulated drive's address begins with.
const SIMULATED: &str = "sim:";

#[pymethods]
impl Drive {
    /// `name` as on the command line, or a simulated drive's name as it is; `changes` as JSON, by
    /// `section.key`.
    #[new]
    fn new(name: &str, changes: &str) -> PyResult<Self> {
        let changes: Map<String, Value> = json::read("changes", changes)?;
        let name = match DriveName::from(name) {
            DriveName::Real(path) if is_simulated(name) => {
                DriveName::Simulated(path.display().to_string())
            }
            name => name,
        };
        if !name.is_simulated() {
            return match changes.keys().next() {
                Some(key) => {
                    let text = format!(
                        "{name} is no simulated drive, and nothing of it can be changed: {key}"
                    );
                    Err(UsageError::new_err(text))
                }
                None => Ok(Self { name }),
            };
        }
        let simulated = name.simulated().map_err(|error| error.raised())?;
        Self::of(name.to_string(), &simulated, &changes)
    }

    /// The simulated drive of a profile's TOML text.
    #[staticmethod]
    fn of_profile(text: &str, changes: &str) -> PyResult<Self> {
        let changes: Map<String, Value> = json::read("changes", changes)?;
        let profile = sim::load_text("profile", text);
        let profile = profile.map_err(|error| writecliff::Error::from(error).raised())?;
        Self::of(format!("{SIMULATED}profile"), &profile.into(), &changes)
    }

    /// A directory of a mounted file system, in which commits are measured.
    #[staticmethod]
    fn of_directory(path: PathBuf) -> Self {
        Self { name: DriveName::Directory(path) }
    }

    /// The drive that [`Self::state`] is of.
    #[staticmethod]
    fn of_state(address: &str, profile: Option<&str>, is_directory: bool) -> PyResult<Self> {
        if is_directory {
            return Ok(Self::of_directory(PathBuf::from(address)));
        }
        let Some(profile) = profile else { return Self::new(address, "{}") };
        let profile: ProfileRecord = json::read("profile", profile)?;
        Simulated::recorded(&profile).map_err(|error| writecliff::Error::from(error).raised())?;
        Ok(Self {
            name: DriveName::Recorded { address: address.to_owned(), profile: Box::new(profile) },
        })
    }

    /// What makes it again anywhere: its address; of a simulated one what it is built of, as JSON; and
    /// whether it is a directory.
    fn state(&self) -> PyResult<(String, Option<String>, bool)> {
        let profile = match &self.name {
            DriveName::Recorded { profile, .. } => Some(json::text(profile)?),
            _ => None,
        };
        let is_directory = matches!(self.name, DriveName::Directory(_));
        Ok((self.name.to_string(), profile, is_directory))
    }

    /// What it is, as JSON.
    fn info(&self) -> PyResult<String> {
        json::text(&self.name.look().map_err(|error| error.raised())?)
    }

    /// What it is called in names of files.
    fn slug(&self) -> String {
        self.name.slug()
    }

    /// The seam to a simulated drive, as it leaves the factory.
    fn device(&self) -> PyResult<Device> {
        if !self.name.is_simulated() {
            let text =
                format!("{} is no simulated drive; on real ones tests run, guarded", self.name);
            return Err(UsageError::new_err(text));
        }
        let simulated = self.name.simulated().map_err(|error| error.raised())?;
        let built = simulated.build(&self.name.to_string());
        Ok(Device::new(built.map_err(|error| writecliff::Error::from(error).raised())?))
    }
}

impl Drive {
    fn of(address: String, drive: &Simulated, changes: &Map<String, Value>) -> PyResult<Self> {
        let changed = drive.changed(changes);
        let changed = changed.map_err(|error| writecliff::Error::from(error).raised())?;
        let profile = Box::new(changed.record());
        Ok(Self { name: DriveName::Recorded { address, profile } })
    }
}

/// Whether a name without `sim:` can only be a simulated drive's: no file is one by mistake.
fn is_simulated(name: &str) -> bool {
    let whole = name.rsplit_once("@1/").map_or(name, |(whole, _)| whole);
    whole.ends_with(".toml") || sim::catalogue().contains(&whole) && !Path::new(name).exists()
}

/// The names of the simulated drives that ship.
#[pyfunction]
pub(crate) fn catalogue() -> Vec<&'static str> {
    sim::catalogue()
}

/// Name and question of every test, and whether reviews have it by default.
#[pyfunction]
pub(crate) fn tests() -> Vec<(&'static str, &'static str, bool)> {
    let told =
        TESTS.iter().map(|test| (test.name, test.question, test.reviews == InReviews::ByDefault));
    told.collect()
}

/// The plan of a test, as JSON: the method's or a file's, cut down if it is to be `quick`, with the overrides and
/// the keys given as JSON.
#[pyfunction]
#[pyo3(signature = (test, quick, overrides, keys, file = None))]
pub(crate) fn plan(
    test: &str,
    quick: bool,
    overrides: &str,
    keys: &str,
    file: Option<PathBuf>,
) -> PyResult<String> {
    let overrides: Overrides = json::read("overrides", overrides)?;
    let keys: Map<String, Value> = json::read("plan", keys)?;
    let method = match &file {
        Some(file) => writecliff::read_plan(test, file).map(|(plan, _)| plan),
        None => writecliff::plan(test),
    };
    let method = method.map_err(|error| error.raised())?;
    let method = if quick { method.quick() } else { method };
    let plan = method.with_keys(&keys).and_then(|plan| plan.with(&overrides));
    json::text(&plan.map_err(|error| writecliff::Error::from(error).raised())?)
}

/// Runs a plan on a drive into the new directory `out`.
#[pyfunction]
#[pyo3(signature = (drive, plan, out, options, consent = None, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    drive: &Drive,
    plan: &str,
    out: PathBuf,
    options: &str,
    consent: Option<(String, bool)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let plan: Plan = json::read("plan", plan)?;
    let options: RunOptions = json::read("options", options)?;
    let consent = consent.map(agreed);
    let name = &drive.name;
    let ended = watched(py, progress, |watch| {
        writecliff::run(&plan, name, consent.as_ref(), &out, options, &|event| told(watch, &event))
    })?;
    ended.map(drop).map_err(|error| error.raised())
}

/// Consent by a name, and whether it is given though not all processes can be seen from here.
pub(crate) fn agreed((name, others_not_visible): (String, bool)) -> DestroyData {
    let consent = DestroyData::named(name);
    match others_not_visible {
        true => consent.though_others_are_not_visible(),
        false => consent,
    }
}

/// What of an event is shown.
pub(crate) fn told(watch: Watch<'_>, event: &Event<'_>) -> std::ops::ControlFlow<()> {
    let Event::Progress(test, Progress { step, fraction, .. }) = event else { return watch(None) };
    watch(Some(Told { step: format!("{test}: {step}"), fraction: *fraction }))
}
