//! From what a drive is called to what it is, to consent, to a device that can be tested.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use writecliff_array::{ARRAY, ArrayName, Simulated};
use writecliff_device::{Bytes, Device, DeviceInfo, ProfileRecord, nearest};
use writecliff_sim::{Build, Profile, ProfileError};
use writecliff_suite::{Demands, Plan, RunOptions};
use writecliff_uring::{
    Access, DestroyData, DirectoryDevice, Inspection, NullDevice, Options, QUEUE_DEPTH_MAX,
};

use crate::error::Error;

/// A drive, as it is called: `sim:NAME` or `sim:PATH.toml`, with `@1/16` behind it a scale model of
/// that; `array:raid5:4:sim:NAME` an [array](ArrayName) of these; `null:`; and anything else is the path of
/// a block device or file.
///
/// ```
/// use writecliff::DriveName;
///
/// let drive = DriveName::from("sim:samsung-840-evo-250gb");
/// assert_eq!(drive.look()?.model, "Samsung SSD 840 EVO 250GB");
/// assert_eq!(DriveName::from("/dev/nvme0n1"), DriveName::Real("/dev/nvme0n1".into()));
/// # Ok::<(), writecliff::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveName {
    /// A simulated drive: a name of the catalogue, or the path of a profile.
    Simulated(String),
    /// An array of simulated drives, as it is called; whether there is one shows when it is looked at.
    Array(String),
    /// A block device or a file.
    Real(PathBuf),
    /// A directory of a mounted file system, in which a file of its own is written; of `commit` alone. No
    /// name of a drive means it.
    Directory(PathBuf),
    /// No drive: what this machine itself can do.
    Null,
    /// The simulated drive, or array, of a run, from the profile that its record carries.
    Recorded {
        /// What it was called then.
        address: String,
        /// What it was built of.
        profile: Box<ProfileRecord>,
    },
}

/// What no drive is called.
const NULL: &str = "null:";
/// The same, mistyped.
const NULL_WITHOUT_COLON: &str = "null";
/// What the names of simulated drives begin with.
const SIMULATED: &str = "sim:";

impl From<OsString> for DriveName {
    fn from(name: OsString) -> Self {
        match name.to_str() {
            Some(NULL) => Self::Null,
            Some(text) if text.starts_with(SIMULATED) => {
                Self::Simulated(text[SIMULATED.len()..].to_owned())
            }
            Some(text) if text.starts_with(ARRAY) => Self::Array(text.to_owned()),
            _ => Self::Real(PathBuf::from(name)),
        }
    }
}

impl From<&str> for DriveName {
    fn from(name: &str) -> Self {
        Self::from(OsString::from(name))
    }
}

impl FromStr for DriveName {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(Self::from(name))
    }
}

/// As it is called.
impl fmt::Display for DriveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulated(name) => write!(f, "{SIMULATED}{name}"),
            Self::Real(path) | Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Null => f.write_str(NULL),
            Self::Array(address) | Self::Recorded { address, .. } => f.write_str(address),
        }
    }
}

impl DriveName {
    /// A short form for names of files and directories: ASCII letters, digits, dots and dashes.
    pub fn slug(&self) -> String {
        let name = match self {
            Self::Simulated(name) => stem(name),
            Self::Array(address) | Self::Recorded { address, .. } => match address.parse() {
                Ok(array) => array_slug(&array),
                Err(_) => stem(address.trim_start_matches(SIMULATED)),
            },
            Self::Real(path) | Self::Directory(path) => {
                path.file_name().map(|name| name.to_string_lossy().into_owned())
            }
            Self::Null => Some("null".to_owned()),
        };
        let name = name.unwrap_or_else(|| "drive".to_owned());
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
    }

    /// Whether the drive is a model, of which there can be as many as one likes.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Self::Simulated(_) | Self::Array(_) | Self::Recorded { .. })
    }

    /// What a simulated drive, or an array of them, is built of.
    ///
    /// # Errors
    /// [`Error::Profile`] or [`Error::Array`]; [`Error::MeantNull`] of a drive that is no model.
    pub fn simulated(&self) -> Result<Simulated, Error> {
        match self {
            Self::Simulated(name) => Ok(Simulated::Drive(profile(name)?)),
            Self::Array(name) => {
                let ArrayName { shape, drive } = name.parse()?;
                Ok(Simulated::array(profile(&drive)?, shape)?)
            }
            Self::Recorded { profile, .. } => Ok(Simulated::recorded(profile)?),
            Self::Real(_) | Self::Directory(_) | Self::Null => Err(Error::MeantNull),
        }
    }

    /// What the drive is, without touching it.
    ///
    /// # Errors
    /// [`Error::Profile`], [`Error::Array`], [`Error::Open`], [`Error::MeantSimulated`],
    /// [`Error::MeantProfile`] or [`Error::MeantNull`].
    pub fn look(&self) -> Result<DeviceInfo, Error> {
        match self {
            Self::Simulated(_) | Self::Array(_) | Self::Recorded { .. } => {
                Ok(self.simulated()?.info(&self.to_string()))
            }
            Self::Real(path) => Ok(writecliff_uring::look(existing(path)?)?),
            Self::Directory(_) => self.look_for(&Plan::Commit(Default::default())),
            Self::Null => {
                let (queue_depth, io_size_max) = (QUEUE_DEPTH_MAX, Bytes::from_kib(4));
                let (seed, purge, poll) = (1, None, false);
                let options = Options { queue_depth, io_size_max, seed, purge, poll };
                Ok(NullDevice::new(&options).info().clone())
            }
        }
    }

    /// The same before this test is run on it, which decides how large its file is in a directory.
    ///
    /// # Errors
    /// As [`Self::look`].
    pub fn look_for(&self, plan: &Plan) -> Result<DeviceInfo, Error> {
        match self {
            Self::Directory(path) => {
                Ok(writecliff_uring::look_at_directory(path, plan.file_size())?)
            }
            _ => self.look(),
        }
    }

    /// What the safety guard says of the drive, and by which name one consents to lose its data;
    /// `None` for a drive that has none to lose. Whoever asks a user for consent shows this first.
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::MeantSimulated`] or [`Error::MeantProfile`].
    pub fn inspect(&self) -> Result<Option<Inspection>, Error> {
        match self {
            Self::Real(path) => Ok(Some(writecliff_uring::inspect(existing(path)?)?)),
            Self::Simulated(_)
            | Self::Array(_)
            | Self::Recorded { .. }
            | Self::Directory(_)
            | Self::Null => Ok(None),
        }
    }

    /// Opens the drive for `plan`, with the purge and the polling that a run wants of it. A real drive
    /// must pass the guard if the plan writes, and `consent` must name it; nobody else needs any.
    ///
    /// # Errors
    /// As [`Self::look`]; [`Error::Open`] is of kind `Refused` if the guard or the consent forbids it.
    pub fn open(
        &self,
        plan: &Plan,
        consent: Option<&DestroyData>,
        run: &RunOptions,
    ) -> Result<Box<dyn Device>, Error> {
        match self {
            Self::Simulated(_) | Self::Array(_) | Self::Recorded { .. } => {
                Ok(self.simulated()?.build(&self.to_string())?)
            }
            Self::Null => Ok(Box::new(NullDevice::new(&options(plan, run)))),
            Self::Directory(path) if matches!(plan, Plan::Commit(_) | Plan::Mixed(_)) => {
                let size = plan.file_size();
                Ok(Box::new(DirectoryDevice::create(path, size, &options(plan, run))?))
            }
            Self::Directory(_) => Err(Error::NoTestOfDirectories { test: plan.name() }),
            Self::Real(path) => {
                let access = match plan.writes() {
                    false => Access::ReadOnly,
                    true => Access::Destroy(consent.cloned()),
                };
                let device = writecliff_uring::open(existing(path)?, &access, &options(plan, run))?;
                Ok(Box::new(device))
            }
        }
    }
}

/// A simulated drive as it leaves the factory: a name of the catalogue, or the path of a profile,
/// without `sim:`.
///
/// # Errors
/// [`Error::Profile`].
pub fn simulated(name: &str) -> Result<Box<dyn Device>, Error> {
    Ok(profile(name)?.open(&format!("{SIMULATED}{name}")))
}

/// What a simulated drive is built of: the profile of a catalogue's name, or of a file if the name
/// looks like one; of its scale model with `@1/PARTS` behind it.
///
/// # Errors
/// [`Error::Profile`]; [`Error::MeantNull`] of no drive.
pub fn profile(name: &str) -> Result<Profile, Error> {
    if [NULL, NULL_WITHOUT_COLON].contains(&name) {
        return Err(Error::MeantNull);
    }
    if let Some((name, parts)) = scale(name) {
        let whole = profile(name)?;
        let parts = parts.parse().map_err(|_| ProfileError::NoScaleModel {
            model: whole.identity().model.clone(),
            reason: format!("'1/{parts}' is no part; write 1/16"),
        })?;
        return Ok(writecliff_sim::scaled(&whole, parts)?);
    }
    let is_path = name.contains('/') || name.ends_with(".toml");
    Ok(if is_path {
        writecliff_sim::load_file(Path::new(name))?
    } else {
        writecliff_sim::load(name)?
    })
}

/// A simulated drive's name without a directory and an ending.
fn stem(name: &str) -> Option<String> {
    let stem = |name| Some(Path::new(name).file_stem()?.to_string_lossy());
    match scale(name) {
        Some((whole, parts)) => Some(format!("{}-1-{parts}", stem(whole)?)),
        None => Some(stem(name)?.into_owned()),
    }
}

/// `raid5-4-NAME-dead-1`.
fn array_slug(array: &ArrayName) -> Option<String> {
    let ArrayName { shape, drive } = array;
    let called = ArrayName { shape: shape.clone(), drive: stem(drive)? }.to_string();
    Some(called.trim_start_matches(ARRAY).replacen(SIMULATED, "", 1))
}

/// `NAME@1/16`: the whole drive's name, and how many such parts it has.
pub(crate) fn scale(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once("@1/")
}

/// The path, unless it can only be meant for a simulated drive, or for none.
pub(crate) fn existing(path: &Path) -> Result<&Path, Error> {
    if path.extension().is_some_and(|ending| ending == "toml") {
        return Err(Error::MeantProfile { path: path.to_owned() });
    }
    let name = path.to_str().filter(|name| !name.contains('/') && !path.exists());
    let meant = name.map_or_else(Vec::new, |name| nearest(name, writecliff_sim::catalogue()));
    match (name, &meant[..]) {
        (Some(NULL_WITHOUT_COLON), _) => Err(Error::MeantNull),
        (None, _) | (_, []) => Ok(path),
        (Some(name), [exact, ..]) if name == *exact => {
            Err(Error::MeantSimulated { name: name.to_owned(), meant: vec![exact] })
        }
        (Some(name), _) => Err(Error::MeantSimulated { name: name.to_owned(), meant }),
    }
}

/// What a plan wants of the engine.
fn options(plan: &Plan, run: &RunOptions) -> Options {
    let Demands { queue_depth, io_size } = plan.demands();
    // What is more waits in the host.
    let queue_depth = queue_depth.min(QUEUE_DEPTH_MAX);
    let RunOptions { purge, poll, .. } = *run;
    Options { queue_depth, io_size_max: io_size, seed: plan.seed(), purge, poll }
}
