//! What a path leads to: held by one descriptor, claimed, and judged.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use writecliff_device::Bytes;

use crate::drive::controller::Controller;
use crate::drive::gauges::Gauges;
use crate::drive::identity::{self, Identity};
use crate::guard::consent::{ConsentName, DestroyData};
use crate::guard::error::OpenError;
use crate::guard::existing_contents::{Contents, contents_of};
use crate::guard::holders::FileId;
use crate::guard::judgment::{self, Verdict};
use crate::guard::refusal::{self, DriveLock, Refusal};
use crate::host::descriptor::path_of_descriptor;
use crate::host::layers::Layers;
use crate::host::lock::{self, Lock};
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable};

/// Between two looks at a drive that somebody has for a moment.
const STEP: Duration = Duration::from_millis(50);

/// What a path led to: one thing, held by a descriptor that cannot read or write.
pub(crate) struct Found {
    /// As the caller named it.
    typed: PathBuf,
    /// Resolved.
    pub(crate) path: PathBuf,
    pub(crate) handle: OwnedFd,
    pub(crate) thing: Thing,
}

pub(crate) enum Thing {
    Block(Node),
    File(FileId),
}

/// How to open what was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// To read beside others.
    None,
    /// To read as the only one.
    ExclusiveRead,
    /// To read and write as the only one.
    ExclusiveWrite,
}

/// The guard's verdict on a drive, and the claim on it.
pub(crate) struct Judged {
    pub(crate) identity: Identity,
    pub(crate) file: Result<File, Refusal>,
    pub(crate) verdict: Verdict,
}

impl Found {
    /// Follows links and takes hold of what is there.
    pub(crate) fn at(host: &Host, path: &Path) -> Result<Self, OpenError> {
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
        Ok(Self { typed: path.to_owned(), path: resolved, handle, thing })
    }

    pub(crate) fn refused(&self, refusal: Refusal) -> OpenError {
        OpenError::Refused { path: self.path.clone(), refusals: vec![refusal] }
    }

    /// The block device; `None` for a file.
    pub(crate) fn node(&self) -> Option<&Node> {
        match &self.thing {
            Thing::Block(node) => Some(node),
            Thing::File(_) => None,
        }
    }

    /// Opens the thing itself, whatever its path leads to by now; the inner result is the guard's
    /// affair, the outer error is not.
    pub(crate) fn open(&self, claim: Claim) -> Result<Result<File, Refusal>, OpenError> {
        let mode = match claim {
            Claim::ExclusiveWrite => OFlags::RDWR,
            Claim::ExclusiveRead | Claim::None => OFlags::RDONLY,
        };
        let exclusive = match &self.thing {
            Thing::Block(_) if claim != Claim::None => OFlags::EXCL,
            _ => OFlags::empty(),
        };
        let flags = mode | exclusive | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(path_of_descriptor(&self.handle), flags, Mode::empty()) {
            Ok(file) => self.lock(file.into(), claim),
            Err(Errno::BUSY | Errno::TXTBSY) => Ok(Err(Refusal::Busy)),
            Err(Errno::ROFS) => Ok(Err(Refusal::ReadOnly { device: self.path.clone() })),
            Err(error @ (Errno::ACCESS | Errno::PERM)) => Ok(Err(not_permitted(error))),
            Err(Errno::INVAL) => Err(OpenError::NoDirectIo { path: self.path.clone() }),
            Err(error) => Err(system(&self.path, "opening it", error)),
        }
    }

    /// Others who ask for no exclusive open may hold a lock; and a file has no exclusive open, so
    /// that a lock keeps at least other runs away.
    fn lock(&self, file: File, claim: Claim) -> Result<Result<File, Refusal>, OpenError> {
        let file = blocking(file).map_err(|error| system(&self.path, "opening it", error))?;
        let locked = match claim {
            Claim::None => return Ok(Ok(file)),
            Claim::ExclusiveRead => lock::look(&file),
            Claim::ExclusiveWrite => lock::take(&file),
        };
        match locked.map_err(|error| system(&self.path, "locking it", error))? {
            Lock::Taken => Ok(Ok(file)),
            Lock::Refused => Ok(Err(Refusal::Locked)),
        }
    }

    /// Claims and lets the guard judge, again and again for a while if somebody has it only for a
    /// moment.
    pub(crate) fn judge_patiently(&self, host: &Host, claim: Claim) -> Result<Judged, OpenError> {
        let (mut seen, mut patience) = (None, Duration::ZERO);
        let mut way = claim;
        loop {
            let judged = self.judge(host, self.open(way)?)?;
            // The first look may take longer than anybody is waited for: time counts from its end.
            let seen = *seen.get_or_insert_with(Instant::now);
            let wait = refusal::patience(&judged.verdict.refusals);
            patience = patience.max(wait);
            let may_pass = wait > Duration::ZERO;
            if may_pass && seen.elapsed() < patience {
                // When a descriptor for writing is closed, udev looks at the drive once more: it is
                // waited for by reading.
                way = Claim::ExclusiveRead;
                drop(judged);
                thread::sleep(STEP);
            } else if way == claim || may_pass {
                return Ok(judged);
            } else {
                way = claim;
            }
        }
    }

    /// Lets the guard judge. Where the claim failed it still looks for all other reasons.
    pub(crate) fn judge(
        &self,
        host: &Host,
        claim: Result<File, Refusal>,
    ) -> Result<Judged, OpenError> {
        let identity = self.identify(host)?;
        let (file, denied) = match claim {
            Ok(file) => (Ok(file), None),
            Err(denied) => (self.open(Claim::None)?, Some(denied)),
        };
        let mut verdict = self.verdict(host, file.as_ref().ok(), identity.capacity);
        let unreadable = file.as_ref().err().cloned();
        for denial in denied.into_iter().chain(unreadable) {
            if !verdict.refusals.iter().any(|found| found.explains(&denial)) {
                verdict.refusals.push(denial);
            }
        }
        Ok(Judged { identity, file, verdict })
    }

    fn verdict(&self, host: &Host, file: Option<&File>, capacity: Bytes) -> Verdict {
        match &self.thing {
            Thing::Block(node) => judgment::judge_block(host, node, file, capacity),
            Thing::File(id) => judgment::judge_file(host, *id, &self.path, file, capacity),
        }
    }

    /// The names by which consent may be given, the best first. A file that holds data needs more than
    /// its path, unless these were given up before, by `earlier` consent or in a run before.
    pub(crate) fn consent_names(
        &self,
        host: &Host,
        identity: &Identity,
        file: Option<&File>,
        earlier: Option<&DestroyData>,
    ) -> Result<Vec<ConsentName>, OpenError> {
        let id = match &self.thing {
            Thing::Block(node) => {
                let names = ConsentName::of_block_device(host, node, identity, &self.typed);
                return names.map_err(|doubt| self.refused(doubt.into()));
            }
            Thing::File(id) => *id,
        };
        let contents = match file.filter(|_| !earlier.is_some_and(|consent| consent.gave_up(id))) {
            Some(file) => contents_of(file, identity.capacity.0)
                .map_err(|error| system(&self.path, "looking at what it holds", error))?,
            None => Contents::Nothing,
        };
        let holds = match contents {
            Contents::Nothing | Contents::OwnTestFile => None,
            Contents::Data(kind) => Some(kind),
        };
        Ok(vec![ConsentName::of_file(&self.path, holds)])
    }

    /// What a whole disk says of itself, whoever else uses it; `None` for a file, a partition and
    /// what stands on other devices, an error where it does not tell.
    pub(crate) fn ask(&self) -> Option<Result<Controller, String>> {
        match &self.thing {
            Thing::Block(node) if node.is_whole_disk() => {
                let drive = self.open(Claim::None).ok().and_then(Result::ok);
                Some(Controller::ask(node, drive))
            }
            _ => None,
        }
    }

    /// Its controller; `None` for what has none, or does not let this user send it any commands.
    pub(crate) fn controller(&self) -> Option<Controller> {
        self.ask()?.ok()
    }

    /// Why a drive cannot be tested as its controller is: a purge that is not over, or a lock.
    pub(crate) fn refusal_by(&self, controller: &mut Controller) -> Option<Refusal> {
        let device = self.path.clone();
        match controller.unfinished_purge() {
            Some(purge) => Some(Refusal::UnfinishedPurge { device, purge }),
            None => {
                DriveLock::of(&controller.facts).map(|lock| Refusal::DriveLocked { device, lock })
            }
        }
    }

    pub(crate) fn gauges(&self) -> Gauges {
        match &self.thing {
            Thing::Block(node) => Gauges::of(node),
            Thing::File(_) => Gauges::default(),
        }
    }

    pub(crate) fn identify(&self, host: &Host) -> Result<Identity, OpenError> {
        let identity = match &self.thing {
            Thing::Block(node) => identity::block_device(node, &self.path).map(|identity| {
                let layers = Layers::of(host);
                let foundation = |layers: Layers<'_>| identity::foundation(&layers, node);
                Identity { stands_on: layers.map(foundation).unwrap_or_default(), ..identity }
            }),
            Thing::File(_) => identity::regular_file(&self.handle, &self.path),
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

/// A descriptor that was opened without waiting for a medium waits for its I/O again: stacked devices
/// would fail it (EAGAIN) instead.
fn blocking(file: File) -> io::Result<File> {
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

impl Refusal {
    /// Whether this finding is the reason why a claim was denied, which then tells nothing new.
    fn explains(&self, denial: &Self) -> bool {
        match denial {
            Self::Busy | Self::Locked => matches!(
                self,
                Self::Mounted { .. }
                    | Self::Swap { .. }
                    | Self::Held { .. }
                    | Self::InUse(_)
                    | Self::SystemDrive { .. }
            ),
            Self::NotPermitted { .. } => matches!(self, Self::ReadOnly { .. }) || self == denial,
            _ => self == denial,
        }
    }
}

fn not_permitted(error: Errno) -> Refusal {
    Refusal::NotPermitted { error: io::Error::from(error).to_string() }
}

fn system(path: &Path, doing: &'static str, source: impl Into<io::Error>) -> OpenError {
    OpenError::System { path: path.to_owned(), doing, source: source.into() }
}
