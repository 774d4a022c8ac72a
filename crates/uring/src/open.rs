//! The way in: find the drive, claim it, judge it, ask for consent, and only then use it.
//!
//! The order is the safety. One descriptor, opened by path once, says what the thing is; every
//! later one is opened through it, so that nothing can be swapped in between. The exclusive claim
//! comes before the judgment, so that what was judged unused stays so; what no claim keeps away, the
//! [`Sentry`] asks for again before the first write.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use writecliff_device::{Bytes, DeviceKind};

use crate::gauges::Gauges;
use crate::guard::{self, Verdict};
use crate::held::{Held, held_by};
use crate::identify::{self, Identity};
use crate::layers::Layers;
use crate::lock::{self, Lock};
use crate::sentry::{Sentry, path_of_descriptor};
use crate::survey::{Survey, survey};
use crate::sysfs::{DeviceNumber, Host, Node, Unreadable};
use crate::test_file;
use crate::users::FileId;
use crate::{Access, ConsentName, DestroyData, OpenError, Options, Refusal, UringDevice};

/// Who uses a drive only for a moment (udev after a change, a run that was just stopped) is given
/// so long.
const PATIENCE: Duration = Duration::from_millis(1500);
const STEP: Duration = Duration::from_millis(50);
/// A device that has not answered by then is told as that in a list.
const ANSWER: Duration = Duration::from_secs(20);

/// A drive and what the guard says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// What it is.
    pub identity: Identity,
    /// Everything that speaks against destroying its data; empty if nothing does.
    pub refusals: Vec<Refusal>,
    /// What `--destroy-data-on` must say for it.
    pub consent: ConsentName,
    /// Processes that could not be looked into: one of them may have it open.
    pub unseen_processes: usize,
    /// How many of some places hold data, where they were looked at.
    pub survey: Option<Survey>,
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
        Access::ReadOnly => open_to_read(&host, &found, options),
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
    let judged = found.judge_patiently(&host, Claim::ExclusiveRead)?;
    let capacity = judged.identity.capacity.0;
    let survey = judged.file.as_ref().ok().map(|file| survey(file, capacity));
    Ok(Inspection { survey, ..judged.inspection(&host, &found)? })
}

/// Every block device of this machine, partitions included, that has any capacity, and the verdict
/// on it. Claims nothing, so that it disturbs nobody: what only a claim shows ([`Refusal::Busy`])
/// is left to [`inspect`] and [`open`]. One that does not answer keeps nobody waiting for the others.
pub fn block_devices() -> Vec<Inspection> {
    let host = Host::this_machine();
    let mut nodes = host.block_devices().unwrap_or_default();
    nodes.retain(has_capacity);
    let (answers, answered) = mpsc::channel();
    for (index, node) in nodes.iter().enumerate() {
        let (host, node, answers) = (host.clone(), node.clone(), answers.clone());
        // Not waited for: the kernel may hold it for as long as the device is silent.
        thread::spawn(move || {
            // Whoever waited has gone by now if it comes too late.
            let _ = answers.send((index, look_at(&host, &node)));
        });
    }
    drop(answers);
    let until = Instant::now() + ANSWER;
    let mut looked: Vec<Option<Inspection>> = vec![None; nodes.len()];
    while let Ok((index, inspection)) =
        answered.recv_timeout(until.saturating_duration_since(Instant::now()))
    {
        looked[index] = Some(inspection);
    }
    let pairs = nodes.iter().zip(looked);
    // Devices come and go: what has gone meanwhile is no news.
    let still_there = pairs.filter(|(node, _)| has_capacity(node));
    still_there.map(|(node, looked)| looked.unwrap_or_else(|| silent(&host, node))).collect()
}

/// A device that does not answer, by the system's own notes of it.
fn silent(host: &Host, node: &Node) -> Inspection {
    let path = host.path_of(node);
    let refusal = Refusal::NoAnswer { seconds: ANSWER.as_secs() };
    let unknown = Inspection::unknown(&path, refusal);
    match identify::block_device(node, &path) {
        Ok(identity) => Inspection { identity, ..unknown },
        Err(_) => unknown,
    }
}

/// The paths of all disks, volumes and arrays of this machine that have any capacity; opens nothing.
pub fn disks() -> Vec<PathBuf> {
    let host = Host::this_machine();
    let disks = host.disks().unwrap_or_default().into_iter().filter(has_capacity);
    disks.map(|disk| host.lasting_path_of(&disk).unwrap_or_else(|| host.path_of(&disk))).collect()
}

fn has_capacity(node: &Node) -> bool {
    node.number_of("size").is_ok_and(|sectors| sectors > 0)
}

fn look_at(host: &Host, node: &Node) -> Inspection {
    let path = host.path_of(node);
    let looked = Found::at(host, &path).and_then(|found| {
        let unclaimed = found.open(Claim::None)?;
        found.judge(host, unclaimed)?.inspection(host, &found)
    });
    looked.unwrap_or_else(|error| match error {
        OpenError::Refused { refusals, .. } => {
            Inspection { refusals, ..Inspection::unknown(&path, Refusal::Missing) }
        }
        error => {
            let refusal = Refusal::Unreadable { path: path.clone(), error: error.to_string() };
            Inspection::unknown(&path, refusal)
        }
    })
}

impl Inspection {
    /// Of a device that could not be looked at.
    fn unknown(path: &Path, refusal: Refusal) -> Self {
        Self {
            identity: Identity::unknown(path),
            refusals: vec![refusal],
            consent: ConsentName::of_file(path, None),
            unseen_processes: 0,
            survey: None,
        }
    }
}

fn open_to_read(host: &Host, found: &Found, options: &Options) -> Result<UringDevice, OpenError> {
    let file = found.open(Claim::None)?.map_err(|no| found.refused(no))?;
    let identity = found.identify(host)?;
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
    let Judged { identity, file, verdict } = found.judge_patiently(host, Claim::ExclusiveWrite)?;
    let path = found.path.clone();
    let (Ok(file), true) = (file, verdict.refusals.is_empty()) else {
        return Err(OpenError::Refused { path, refusals: verdict.refusals });
    };
    let names = found.consent_names(host, &identity, Some(&file), Some(consent))?;
    check_consent(&identity, names, consent)?;
    if let Thing::File(id) = found.thing {
        consent.give_up(id);
        // Where the filesystem cannot keep that, the next run asks again what the file holds.
        let _ = test_file::mark(&file);
    }
    let claims = claim(host, &verdict.other_paths)
        .map_err(|refusals| OpenError::Refused { path, refusals })?;
    let mut watched = vec![path_of_descriptor(&found.handle)];
    watched.extend(verdict.own_nodes.iter().map(|node| host.path_of(node)));
    watched.retain(|path| path.exists());
    let sentry = Sentry::post(host, &watched, verdict.sought, claims);
    UringDevice::writable(file, &identity, found.gauges(), options, sentry)
}

/// Claims the other paths to a drive, so that nobody can by them what this one's claim forbids.
fn claim(host: &Host, other_paths: &[(Node, Node)]) -> Result<Vec<File>, Vec<Refusal>> {
    let mut claims = Vec::new();
    for (ours, other) in other_paths {
        let path = host.path_of(other);
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(claim) => claims.push(claim.into()),
            Err(Errno::BUSY) => {
                let (device, path) = (guard::name_of(host, ours), guard::name_of(host, other));
                return Err(vec![Refusal::Busy, Refusal::OtherPath { device, path }]);
            }
            // A path that is down leads nobody to the drive.
            Err(_) => {}
        }
    }
    Ok(claims)
}

fn check_consent(
    identity: &Identity,
    names: Vec<ConsentName>,
    consent: &DestroyData,
) -> Result<(), OpenError> {
    if names.iter().any(|expected| expected.name == consent.name()) {
        return Ok(());
    }
    let expected = names.into_iter().next();
    Err(OpenError::Consent {
        path: identity.path.clone(),
        model: identity.model.clone().unwrap_or_else(|| identity.kind.to_string()),
        capacity: identity.capacity,
        named: consent.name().to_owned(),
        expected: expected.unwrap_or_else(|| ConsentName::of_file(&identity.path, None)),
    })
}

/// What a path led to: one thing, held by a descriptor that cannot read or write.
struct Found {
    /// As the caller named it.
    typed: PathBuf,
    /// Resolved.
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

/// The guard's verdict on a drive, and the claim on it.
struct Judged {
    identity: Identity,
    file: Result<File, Refusal>,
    verdict: Verdict,
}

impl Judged {
    fn inspection(self, host: &Host, found: &Found) -> Result<Inspection, OpenError> {
        let names = found.consent_names(host, &self.identity, self.file.as_ref().ok(), None)?;
        let path = &self.identity.path;
        let consent = names.into_iter().next();
        Ok(Inspection {
            consent: consent.unwrap_or_else(|| ConsentName::of_file(path, None)),
            identity: self.identity,
            refusals: self.verdict.refusals,
            unseen_processes: self.verdict.unseen,
            survey: None,
        })
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
        Ok(Self { typed: path.to_owned(), path: resolved, handle, thing })
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
    fn judge_patiently(&self, host: &Host, claim: Claim) -> Result<Judged, OpenError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let judged = self.judge(host, self.open(claim)?)?;
            let refusals = &judged.verdict.refusals;
            let may_pass = !refusals.is_empty() && refusals.iter().all(Refusal::may_pass);
            if !may_pass || Instant::now() >= until {
                return Ok(judged);
            }
            drop(judged);
            thread::sleep(STEP);
        }
    }

    /// Lets the guard judge. Where the claim failed it still looks for all other reasons.
    fn judge(&self, host: &Host, claim: Result<File, Refusal>) -> Result<Judged, OpenError> {
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
            Thing::Block(node) => guard::judge_block(host, node, file, capacity),
            Thing::File(id) => guard::judge_file(host, *id, &self.path, file, capacity),
        }
    }

    /// The names by which consent may be given, the best first. A file that holds data needs more than
    /// its path, unless these were given up before, by `earlier` consent or in a run before.
    fn consent_names(
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
        let held = match file.filter(|_| !earlier.is_some_and(|consent| consent.gave_up(id))) {
            Some(file) => held_by(file, identity.capacity.0)
                .map_err(|error| system(&self.path, "looking at what it holds", error))?,
            None => Held::Nothing,
        };
        let holds = match held {
            Held::Nothing | Held::OwnTestFile => None,
            Held::Data(kind) => Some(kind),
        };
        Ok(vec![ConsentName::of_file(&self.path, holds)])
    }

    fn gauges(&self) -> Gauges {
        match &self.thing {
            Thing::Block(node) => Gauges::of(node),
            Thing::File(_) => Gauges::default(),
        }
    }

    fn identify(&self, host: &Host) -> Result<Identity, OpenError> {
        let identity = match &self.thing {
            Thing::Block(node) => identify::block_device(node, &self.path).map(|identity| {
                let layers = Layers::of(host);
                let foundation = |layers: Layers<'_>| identify::foundation(&layers, node);
                Identity { stands_on: layers.map(foundation).unwrap_or_default(), ..identity }
            }),
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

/// A descriptor that was opened without waiting for a medium waits for its I/O again: stacked devices
/// would fail it (EAGAIN) instead.
fn blocking(file: File) -> io::Result<File> {
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

impl Refusal {
    /// Whether this may be over in a moment.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Busy | Self::Locked | Self::InUse(_))
    }

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

impl Identity {
    /// All that is known of a drive that could not be looked at.
    fn unknown(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            kind: DeviceKind::BlockDevice,
            model: None,
            serial: None,
            firmware: None,
            world_wide_name: None,
            stands_on: Vec::new(),
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
