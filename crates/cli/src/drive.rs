//! From what the user calls a drive to a device that can be tested.

use std::convert::Infallible;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use writecliff_device::Device;
use writecliff_sim::Profile;
use writecliff_suite::Plan;
use writecliff_uring::{Access, DestroyData, Options};

use crate::error::CliError;

/// A drive as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DriveName {
    /// A simulated drive: a name of the catalogue, or the path of a profile.
    Simulated(String),
    /// A block device or a file.
    Real(PathBuf),
}

impl FromStr for DriveName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix("sim:") {
            Some(name) => Self::Simulated(name.to_owned()),
            None => Self::Real(PathBuf::from(text)),
        })
    }
}

impl DriveName {
    /// A short form for directory names.
    pub(crate) fn slug(&self) -> String {
        let name = match self {
            Self::Simulated(name) => Path::new(name).file_stem(),
            Self::Real(path) => path.file_name(),
        };
        let name = name.map_or_else(|| "drive".into(), |name| name.to_string_lossy());
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
    }

    /// Opens the drive for `plan`. A real drive must pass the guard, and losing its data must be
    /// agreed to by `consent` or at a prompt.
    pub(crate) fn open(
        &self,
        plan: &Plan,
        consent: Option<&str>,
    ) -> Result<Box<dyn Device>, CliError> {
        match self {
            Self::Simulated(name) => simulated(name),
            Self::Real(path) => open_real(path, plan, consent),
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

fn open_real(path: &Path, plan: &Plan, consent: Option<&str>) -> Result<Box<dyn Device>, CliError> {
    if let Some(name) = path.to_str()
        && !path.exists()
        && writecliff_sim::catalogue().contains(&name)
    {
        return Err(CliError::MeantSimulated { name: name.to_owned() });
    }
    let access = match (plan.writes(), consent) {
        (false, _) => Access::ReadOnly,
        (true, Some(named)) => Access::Destroy(DestroyData::named(named)),
        (true, None) => Access::Destroy(ask_for_consent(path)?),
    };
    let demands = plan.demands();
    let options = Options {
        queue_depth: demands.queue_depth,
        io_size_max: demands.io_size,
        seed: plan.seed(),
    };
    Ok(Box::new(writecliff_uring::open(path, &access, &options)?))
}

/// Shows what would be destroyed and lets the user type its name; without a terminal there is
/// nobody to ask, and the guard's own refusal says what to pass.
fn ask_for_consent(path: &Path) -> Result<DestroyData, CliError> {
    let inspection = writecliff_uring::inspect(path)?;
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !interactive || !inspection.refusals.is_empty() {
        return Ok(DestroyData::named(""));
    }
    let mut typed = String::new();
    let identity = &inspection.identity;
    let prompt = format!(
        "All data on {} will be destroyed:\n  {}, {}\nType {} to go on: ",
        identity.path.display(),
        identity.model.as_deref().unwrap_or("no model name"),
        identity.capacity,
        inspection.consent
    );
    let mut terminal = std::io::stderr();
    terminal
        .write_all(prompt.as_bytes())
        .and_then(|()| std::io::stdin().lock().read_line(&mut typed))
        .map_err(|source| CliError::Prompt { source })?;
    Ok(DestroyData::named(typed.trim_end_matches(['\n', '\r'])))
}
