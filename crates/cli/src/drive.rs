//! From what the user calls a drive to a device that can be tested.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use writecliff_device::{Bytes, Device, DeviceInfo, printable_lines};
use writecliff_sim::Profile;
use writecliff_suite::{Demands, Plan};
use writecliff_uring::{Access, DestroyData, Inspection, NullDevice, Options, QUEUE_DEPTH_MAX};

use crate::commands::say;
use crate::error::CliError;

/// A drive as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DriveName {
    /// A simulated drive: a name of the catalogue, or the path of a profile.
    Simulated(String),
    /// A block device or a file.
    Real(PathBuf),
    /// No drive: what this machine itself can do.
    Null,
}

/// What no drive is called.
const NULL: &str = "null:";
/// What the names of simulated drives begin with.
const SIMULATED: &str = "sim:";

impl From<OsString> for DriveName {
    fn from(name: OsString) -> Self {
        match name.to_str() {
            Some(NULL) => Self::Null,
            Some(text) if text.starts_with(SIMULATED) => {
                Self::Simulated(text[SIMULATED.len()..].to_owned())
            }
            _ => Self::Real(PathBuf::from(name)),
        }
    }
}

impl DriveName {
    /// A short form for directory names.
    pub(crate) fn slug(&self) -> String {
        let name = match self {
            Self::Simulated(name) => Path::new(name).file_stem(),
            Self::Real(path) => path.file_name(),
            Self::Null => Some("null".as_ref()),
        };
        let name = name.map_or_else(|| "drive".into(), |name| name.to_string_lossy());
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
    }

    /// As the user named it.
    pub(crate) fn as_typed(&self) -> String {
        match self {
            Self::Simulated(name) => format!("sim:{name}"),
            Self::Real(path) => path.display().to_string(),
            Self::Null => NULL.to_owned(),
        }
    }

    /// What the drive is, without touching it.
    pub(crate) fn info(&self) -> Result<DeviceInfo, CliError> {
        match self {
            Self::Simulated(name) => Ok(simulated(name)?.info().clone()),
            Self::Null => {
                let (queue_depth, io_size_max) = (QUEUE_DEPTH_MAX, Bytes::from_kib(4));
                let device = NullDevice::new(&Options { queue_depth, io_size_max, seed: 1 });
                Ok(device.info().clone())
            }
            Self::Real(path) => {
                let options = Options { queue_depth: 1, io_size_max: Bytes::from_kib(4), seed: 1 };
                let device = writecliff_uring::open(named(path)?, &Access::ReadOnly, &options)?;
                // Whether it takes TRIM only shows when it is open for writing, and the queue is as
                // deep as it is opened for: the run looks again.
                let info = device.info().clone();
                Ok(DeviceInfo { trim: true, queue_depth_max: QUEUE_DEPTH_MAX, ..info })
            }
        }
    }

    /// Whether the drive is a model, of which there can be as many as tests.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self, Self::Simulated(_))
    }

    /// Consent to lose the drive's data: as passed, or as typed at a prompt. Where nothing is
    /// written, and on a simulated drive, there is none to lose.
    pub(crate) fn consent(
        &self,
        writes: bool,
        passed: Option<&OsStr>,
    ) -> Result<DestroyData, CliError> {
        let (Self::Real(path), true) = (self, writes) else {
            return Ok(DestroyData::named(""));
        };
        let inspection = writecliff_uring::inspect(named(path)?)?;
        tell_what_was_not_seen(&inspection);
        match passed {
            Some(name) => Ok(DestroyData::named(name)),
            None => ask_for_consent(&inspection),
        }
    }

    /// Opens the drive for `plan`. A real drive must pass the guard, and the consent must be for
    /// it if the plan writes.
    pub(crate) fn open(
        &self,
        plan: &Plan,
        consent: &DestroyData,
    ) -> Result<Box<dyn Device>, CliError> {
        match self {
            Self::Simulated(name) => simulated(name),
            Self::Null => Ok(Box::new(NullDevice::new(&options(plan)))),
            Self::Real(path) => open_real(named(path)?, plan, consent),
        }
    }
}

/// A simulated drive as it leaves the factory: a name of the catalogue, or the path of a profile.
pub(crate) fn simulated(name: &str) -> Result<Box<dyn Device>, CliError> {
    Ok(profile(name)?.open(&format!("sim:{name}")))
}

/// The profile of a catalogue name, or of a file if it looks like one.
pub(crate) fn profile(name: &str) -> Result<Profile, CliError> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    Ok(if is_path {
        writecliff_sim::load_file(Path::new(name))?
    } else {
        writecliff_sim::load(name)?
    })
}

/// The path, unless it can only be meant for a simulated drive.
fn named(path: &Path) -> Result<&Path, CliError> {
    if let Some(name) = path.to_str()
        && !path.exists()
        && writecliff_sim::catalogue().contains(&name)
    {
        return Err(CliError::MeantSimulated { name: name.to_owned() });
    }
    Ok(path)
}

fn open_real(path: &Path, plan: &Plan, consent: &DestroyData) -> Result<Box<dyn Device>, CliError> {
    let access = match plan.writes() {
        false => Access::ReadOnly,
        true => Access::Destroy(consent.clone()),
    };
    Ok(Box::new(writecliff_uring::open(path, &access, &options(plan))?))
}

/// What a plan wants of the engine.
fn options(plan: &Plan) -> Options {
    let Demands { queue_depth, io_size } = plan.demands();
    Options { queue_depth, io_size_max: io_size, seed: plan.seed() }
}

/// Who may have the drive open and cannot be seen from here is told: there is nothing to ask.
fn tell_what_was_not_seen(inspection: &Inspection) {
    let Inspection { identity, unseen_processes: unseen @ 1.., .. } = inspection else {
        return;
    };
    let processes = if *unseen == 1 { "process" } else { "processes" };
    say(&format!(
        "note: {unseen} {processes} could not be looked into from here (of another user, or outside \
         of this container): make sure that none uses {}",
        identity.path.display()
    ));
}

/// Shows what would be destroyed and lets the user type its name; without a terminal there is
/// nobody to ask, and the guard's own refusal says what to pass.
fn ask_for_consent(inspection: &Inspection) -> Result<DestroyData, CliError> {
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !interactive || !inspection.refusals.is_empty() {
        return Ok(DestroyData::named(""));
    }
    let mut typed = String::new();
    let Inspection { identity, survey, consent, .. } = inspection;
    let survey = survey.map_or_else(String::new, |survey| format!(", {survey}"));
    let prompt = format!(
        "All data on {} will be destroyed:\n  {}, {}{survey}\nType {} to go on: ",
        identity.path.display(),
        identity.model.as_deref().unwrap_or("no model name"),
        identity.capacity,
        consent.name.display(),
    );
    let mut terminal = std::io::stderr();
    terminal
        .write_all(printable_lines(&prompt).as_bytes())
        .and_then(|()| std::io::stdin().lock().read_line(&mut typed))
        .map_err(|source| CliError::Prompt { source })?;
    Ok(DestroyData::named(typed.trim_end_matches(['\n', '\r'])))
}
