//! What a caller may do with a drive, and the consent that destroying its data takes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::drive::identity::{self, Identity};
use crate::guard::holders::FileId;
use crate::host::sysfs::{Host, Node, Unreadable};

/// Consent to lose everything on one drive, by the name that the user gave for it.
///
/// It is worth something only if the name is right, and right for this drive alone.
/// [`open`](crate::open) compares.
#[derive(Debug, Clone)]
pub struct DestroyData {
    name: OsString,
    /// Files that were opened by this consent, whose contents are tests' own since. Shared by copies
    /// of the consent.
    given_up: Arc<Mutex<Vec<FileId>>>,
    /// Whether processes that cannot be seen are taken not to use it.
    pub(crate) others_not_visible: bool,
}

impl DestroyData {
    /// Consent for the drive that the user named, as typed or passed; never filled in by a program.
    pub fn named(name: impl Into<OsString>) -> Self {
        Self { name: name.into(), given_up: Arc::default(), others_not_visible: false }
    }

    /// The same, and that no process uses the drive that cannot be seen from here, as in a container.
    /// Without that such a drive is refused.
    pub fn though_others_are_not_visible(self) -> Self {
        Self { others_not_visible: true, ..self }
    }

    /// What the user named.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    pub(crate) fn give_up(&self, file: FileId) {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }

    pub(crate) fn gave_up(&self, file: FileId) -> bool {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).contains(&file)
    }
}

/// What may be done with a drive.
#[derive(Debug, Clone)]
pub enum Access {
    /// Reading only: the drive may be mounted or in use, and cannot be changed.
    ReadOnly,
    /// Everything: the drive's data is lost. Without consent the answer is what it takes, or what
    /// speaks against it.
    Destroy(Option<DestroyData>),
}

/// A name that consent may give, and what kind of name it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentName {
    /// The name.
    pub name: OsString,
    /// Why it is this one.
    pub kind: ConsentKind,
}

/// What a drive is called by in a consent: by the first of these that no other drive here shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentKind {
    /// Its serial number.
    Serial,
    /// Its world-wide name, because its serial is not the only one of its kind here, or is missing.
    WorldWide,
    /// The path that leads to a mapping after the next boot as well.
    LastingPath,
    /// Its resolved path, for want of anything better.
    Path,
    /// A file's resolved path and what it holds.
    Contents,
}

impl fmt::Display for ConsentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Serial => "its serial",
            Self::WorldWide => "its world-wide name: no other drive here shares it",
            Self::LastingPath => "its lasting path: its number may be another after the next boot",
            Self::Path => "it has no serial of its own, so its full resolved path",
            Self::Contents => "its path and what it holds: it is no empty file",
        })
    }
}

impl ConsentName {
    pub(crate) fn new(name: impl Into<OsString>, kind: ConsentKind) -> Self {
        Self { name: name.into(), kind }
    }

    /// The names that name a block device and nothing else here, the best first. A mapping's number
    /// may be another's after the next boot: it will do only beside a lasting name, as which the
    /// device was `typed`.
    ///
    /// # Errors
    /// If another drive's names cannot be read: it might have the same.
    pub(crate) fn of_block_device(
        host: &Host,
        node: &Node,
        identity: &Identity,
        typed: &Path,
    ) -> Result<Vec<Self>, Unreadable> {
        let mut names = Vec::new();
        let others = Names::of_others(host, &node.disk()?)?;
        let is_only =
            |name: &&String, all: &[Option<String>]| !all.iter().flatten().any(|n| n == *name);
        // A serial that looks like a path would name another drive to whoever reads it.
        let is_no_path = |name: &&String| !name.starts_with('/');
        let serial = identity.serial.as_ref().filter(is_no_path);
        let serial = serial.filter(|name| is_only(name, &others.serials));
        names.extend(serial.map(|name| Self::new(name, ConsentKind::Serial)));
        if let Some(path) = host.lasting_path_of(node) {
            names.push(Self::new(path, ConsentKind::LastingPath));
            if typed != identity.path {
                names.push(Self::new(&identity.path, ConsentKind::Path));
            }
        }
        let world_wide = identity.world_wide_name.as_ref();
        let world_wide = world_wide.filter(|name| is_only(name, &others.world_wide_names));
        names.extend(world_wide.map(|name| Self::new(name, ConsentKind::WorldWide)));
        if names.is_empty() {
            names.push(Self::new(&identity.path, ConsentKind::Path));
        }
        Ok(names)
    }

    /// The name of a file: its path, with what it holds if that is more than zeros.
    pub(crate) fn of_file(path: &Path, holds: Option<&str>) -> Self {
        match holds {
            None => Self::new(path, ConsentKind::Path),
            Some(holds) => {
                let mut name = path.as_os_str().to_owned();
                name.push(": ");
                name.push(holds);
                Self::new(name, ConsentKind::Contents)
            }
        }
    }

    /// As an argument that a shell takes for this one word.
    pub fn quoted(&self) -> String {
        let text = self.name.to_string_lossy();
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// What the other drives of a machine are called.
struct Names {
    serials: Vec<Option<String>>,
    world_wide_names: Vec<Option<String>>,
}

impl Names {
    fn of_others(host: &Host, disk: &Node) -> Result<Self, Unreadable> {
        let mut names = Self { serials: Vec::new(), world_wide_names: Vec::new() };
        for other in host.disks()?.iter().filter(|other| *other != disk) {
            let called = |other: &Node| Ok((identity::serial_of(other)?, other.world_wide_name()?));
            if let Some((serial, world_wide_name)) = other.unless_it_goes(called)? {
                names.serials.push(serial);
                names.world_wide_names.push(world_wide_name);
            }
        }
        Ok(names)
    }
}
