//! The way in: find the drive, claim it, judge it, ask for consent, and only then use it.
//!
//! The order is the safety. One descriptor, opened by path once, says what the thing is; every
//! later one is opened through it, so that nothing can be swapped in between. The exclusive claim
//! comes before the judgment, so that what was judged unused stays so.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use writecliff_device::{Bytes, DeviceKind};

use crate::gauges::Gauges;
use crate::guard::{self, FileId};
use crate::identify::{self, Identity};
use crate::sysfs::{DeviceNumber, Host, Node, Unreadable};
use crate::{Access, DestroyData, OpenError, Options, Refusal, UringDevice};

/// A drive and what the guard says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// What it is.
    pub identity: Identity,
    /// Everything that speaks against destroying its data; empty if nothing does.
    pub refusals: Vec<Refusal>,
    /// What `--destroy-data-on` must say for it.
    pub consent: String,
}

/// Opens a drive or file for a run.
///
/// # Errors
/// With [`OpenError::is_refusal`] if the guard or the missing consent forbids it; nothing has been
/// written then. Otherwise what the system could not do.
pub fn open(path: &Path, access: &Access, options: &Options) -> Result<UringDevice, OpenError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    match access {
        Access::ReadOnly => open_to_read(&found, options),
        Access::Destroy(consent) => open_to_destroy(&host, &found, consent, options),
    }
}

/// Tells what a drive is and whether it would be refused, without opening it for writing. Claims
/// it for a moment to see whether anybody else does.
///
/// # Errors
/// With [`OpenError::is_refusal`] if there is no block device or file at the path; otherwise what
/// the system could not do.
pub fn inspect(path: &Path) -> Result<Inspection, OpenError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    let claim = found.open(Claim::ExclusiveRead)?;
    let (identity, refusals) = found.judge(&host, claim)?.parts();
    Ok(Inspection::new(identity, refusals))
}

/// Every block device of this machine, partitions included, that has any capacity, and the verdict
/// on it. Claims nothing, so that it disturbs nobody: what only a claim shows ([`Refusal::Busy`])
/// is left to [`inspect`] and [`open`].
pub fn block_devices() -> Vec<Inspection> {
    let host = Host::this_machine();
    let mut nodes = Vec::new();
    for disk in host.disks().unwrap_or_default() {
        let partitions = disk.partitions().unwrap_or_default();
        nodes.push(disk);
        nodes.extend(partitions);
    }
    nodes.retain(has_capacity);
    let looked = nodes.iter().map(|node| (node, look_at(&host, node)));
    // Devices come and go: what has gone meanwhile is no news.
    let still_there = looked.filter(|(node, _)| has_capacity(node));
    still_there.map(|(_, inspection)| inspection).collect()
}

fn has_capacity(node: &Node) -> bool {
    node.number_of("size").is_ok_and(|sectors| sectors > 0)
}

fn look_at(host: &Host, node: &Node) -> Inspection {
    let path = host.path_of(node);
    let looked = Found::at(host, &path).and_then(|found| {
        let unclaimed = found.open(Claim::None)?;
        Ok(found.judge(host, unclaimed)?.parts())
    });
    let (identity, refusals) = looked.unwrap_or_else(|error| {
        let refusals = match error {
            OpenError::Refused { refusals, .. } => refusals,
            error => vec![Refusal::Unreadable { path: path.clone(), error: error.to_string() }],
        };
        (Identity::unknown(&path), refusals)
    });
    Inspection::new(identity, refusals)
}

impl Inspection {
    fn new(identity: Identity, refusals: Vec<Refusal>) -> Self {
        Self { consent: identity.consent(), identity, refusals }
    }
}

fn open_to_read(found: &Found, options: &Options) -> Result<UringDevice, OpenError> {
    let file = found.open(Claim::None)?.map_err(|no| found.refused(no))?;
    let identity = found.identify()?;
    if identity.capacity == Bytes::ZERO {
        let (capacity, at_least) = (identity.capacity, identity.lba_size);
        return Err(found.refused(Refusal::TooSmall { capacity, at_least }));
    }
    UringDevice::read_only(file, &identity, found.gauges(), options)
}

fn open_to_destroy(
    host: &Host,
    found: &Found,
    consent: &DestroyData,
    options: &Options,
) -> Result<UringDevice, OpenError> {
    let claim = found.open(Claim::ExclusiveWrite)?;
    let (identity, file) = match found.judge(host, claim)? {
        Judged::Unused { identity, file } => (identity, file),
        Judged::Refused { refusals, .. } => {
            return Err(OpenError::Refused { path: found.path.clone(), refusals });
        }
    };
    check_consent(&identity, consent)?;
    UringDevice::writable(file, &identity, found.gauges(), options)
}

fn check_consent(identity: &Identity, consent: &DestroyData) -> Result<(), OpenError> {
    let expected = identity.consent();
    if consent.name() == expected {
        return Ok(());
    }
    let kind = identity.kind.to_string();
    Err(OpenError::Consent {
        path: identity.path.clone(),
        model: identity.model.clone().unwrap_or(kind),
        capacity: identity.capacity,
        named: consent.name().to_owned(),
        expected,
        is_serial: identity.serial.is_some(),
    })
}

/// What a path led to: one thing, held by a descriptor that cannot read or write.
struct Found {
    path: PathBuf,
    handle: OwnedFd,
    thing: Thing,
}

enum Thing {
    Block(Node),
    File(FileId),
}

/// How to open what was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// To read beside others.
    None,
    /// To read as the only one.
    ExclusiveRead,
    /// To read and write as the only one.
    ExclusiveWrite,
}

/// The guard's verdict.
enum Judged {
    Unused { identity: Identity, file: File },
    Refused { identity: Identity, refusals: Vec<Refusal> },
}

impl Judged {
    fn parts(self) -> (Identity, Vec<Refusal>) {
        match self {
            Self::Unused { identity, .. } => (identity, Vec::new()),
            Self::Refused { identity, refusals } => (identity, refusals),
        }
    }
}

impl Found {
    /// Follows links and takes hold of what is there.
    fn at(host: &Host, path: &Path) -> Result<Self, OpenError> {
        let refused =
            |refusal| OpenError::Refused { path: path.to_owned(), refusals: vec![refusal] };
        let opened = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let handle = match opened {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR) => return Err(refused(Refusal::Missing)),
            Err(error @ (Errno::ACCESS | Errno::PERM)) => {
                return Err(refused(not_permitted(error)));
            }
            Err(error) => return Err(system(path, "finding it", error)),
        };
        let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let resolved = fs::read_link(&name).map_err(|e| system(path, "resolving it", e))?;
        let facts = fs::metadata(&name).map_err(|e| system(path, "looking at it", e))?;
        let thing = Thing::of(host, &facts).map_err(refused)?;
        Ok(Self { path: resolved, handle, thing })
    }

    fn refused(&self, refusal: Refusal) -> OpenError {
        OpenError::Refused { path: self.path.clone(), refusals: vec![refusal] }
    }

    /// Opens the thing itself, whatever its path leads to by now; the inner result is the guard's
    /// affair, the outer error is not.
    fn open(&self, claim: Claim) -> Result<Result<File, Refusal>, OpenError> {
        let mode = match claim {
            Claim::ExclusiveWrite => OFlags::RDWR,
            Claim::ExclusiveRead | Claim::None => OFlags::RDONLY,
        };
        let exclusive = match &self.thing {
            Thing::Block(_) if claim != Claim::None => OFlags::EXCL,
            _ => OFlags::empty(),
        };
        let flags = mode | exclusive | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(file) => self.lock(file.into(), claim),
            Err(Errno::BUSY | Errno::TXTBSY) => Ok(Err(Refusal::Busy)),
            Err(Errno::ROFS) => Ok(Err(Refusal::ReadOnly { device: self.path.clone() })),
            Err(error @ (Errno::ACCESS | Errno::PERM)) => Ok(Err(not_permitted(error))),
            Err(Errno::INVAL) => Err(OpenError::NoDirectIo { path: self.path.clone() }),
            Err(error) => Err(system(&self.path, "opening it", error)),
        }
    }

    /// A file has no exclusive open: a lock keeps at least other runs away.
    fn lock(&self, file: File, claim: Claim) -> Result<Result<File, Refusal>, OpenError> {
        if matches!(self.thing, Thing::Block(_)) || claim == Claim::None {
            return Ok(Ok(file));
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Ok(file)),
            Err(Errno::WOULDBLOCK) => Ok(Err(Refusal::Busy)),
            Err(error) => Err(system(&self.path, "locking it", error)),
        }
    }

    /// Lets the guard judge. Where the claim failed it still looks for all other reasons.
    fn judge(&self, host: &Host, claim: Result<File, Refusal>) -> Result<Judged, OpenError> {
        let identity = self.identify()?;
        let (file, denied) = match claim {
            Ok(file) => (Ok(file), None),
            Err(denied) => (self.open(Claim::None)?, Some(denied)),
        };
        let mut refusals = self.objections(host, file.as_ref().ok(), identity.capacity);
        let unreadable = file.as_ref().err().cloned();
        for denial in denied.into_iter().chain(unreadable) {
            if !refusals.iter().any(|found| found.explains(&denial)) {
                refusals.push(denial);
            }
        }
        match file {
            Ok(file) if refusals.is_empty() => Ok(Judged::Unused { identity, file }),
            _ => Ok(Judged::Refused { identity, refusals }),
        }
    }

    fn objections(&self, host: &Host, file: Option<&File>, capacity: Bytes) -> Vec<Refusal> {
        match &self.thing {
            Thing::Block(node) => guard::judge_block(host, node, file, capacity),
            Thing::File(id) => guard::judge_file(host, *id, &self.path, file, capacity),
        }
    }

    fn gauges(&self) -> Gauges {
        match &self.thing {
            Thing::Block(node) => Gauges::of(node),
            Thing::File(_) => Gauges::default(),
        }
    }

    fn identify(&self) -> Result<Identity, OpenError> {
        let identity = match &self.thing {
            Thing::Block(node) => identify::block_device(node, &self.path),
            Thing::File(_) => identify::regular_file(&self.handle, &self.path),
        };
        identity.map_err(|doubt| self.refused(doubt.into()))
    }
}

impl Thing {
    fn of(host: &Host, facts: &fs::Metadata) -> Result<Self, Refusal> {
        let kind = facts.file_type();
        if kind.is_block_device() {
            let number = DeviceNumber::from_raw(facts.rdev());
            let node = host.node(number);
            return node.map(Self::Block).map_err(|doubt: Unreadable| doubt.into());
        }
        if kind.is_file() {
            return Ok(Self::File(FileId::of(facts)));
        }
        Err(match kind {
            kind if kind.is_dir() => Refusal::Directory,
            kind if kind.is_char_device() => Refusal::CharacterDevice,
            _ => Refusal::NotADrive,
        })
    }
}

impl Refusal {
    /// Whether this finding is the reason why a claim was denied, which then tells nothing new.
    fn explains(&self, denial: &Self) -> bool {
        match denial {
            Self::Busy => matches!(
                self,
                Self::Mounted { .. }
                    | Self::Swap { .. }
                    | Self::Held { .. }
                    | Self::SystemDrive { .. }
            ),
            Self::NotPermitted { .. } => matches!(self, Self::ReadOnly { .. }) || self == denial,
            _ => self == denial,
        }
    }
}

impl Identity {
    /// All that is known of a drive that could not be looked at.
    fn unknown(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            kind: DeviceKind::BlockDevice,
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes::ZERO,
            lba_size: Bytes(512),
            physical_block_size: Bytes(512),
            rotational: false,
            discard_max: Bytes::ZERO,
            scheduler: None,
        }
    }
}

fn not_permitted(error: Errno) -> Refusal {
    Refusal::NotPermitted { error: io::Error::from(error).to_string() }
}

fn system(path: &Path, doing: &'static str, source: impl Into<io::Error>) -> OpenError {
    OpenError::System { path: path.to_owned(), doing, source: source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_is_the_serial_where_there_is_one() {
        let identity = Identity {
            serial: Some("S1DBNSAF123456".to_owned()),
            model: Some("Samsung SSD 840 EVO 250GB".to_owned()),
            ..Identity::unknown(Path::new("/dev/sdx"))
        };
        let right = DestroyData::named("S1DBNSAF123456");
        assert!(check_consent(&identity, &right).is_ok());
        for wrong in ["/dev/sdx", "S1DBNSAF12345", "s1dbnsaf123456", ""] {
            let error = check_consent(&identity, &DestroyData::named(wrong));
            let text = error.map_or_else(|error| error.to_string(), |()| "passed".to_owned());
            assert!(text.contains("--destroy-data-on 'S1DBNSAF123456'"), "{text}");
            assert!(text.contains("Samsung SSD 840 EVO 250GB"), "{text}");
        }
    }
}
