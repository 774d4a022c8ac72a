//! The way in: find the drive, claim it, judge it, ask for consent, and only then use it.
//!
//! The order is the safety. One descriptor, opened by path once, says what the thing is; every
//! later one is opened through it, so that nothing can be swapped in between. The exclusive claim
//! comes before the judgment, so that what was judged unused stays so; what no claim keeps away, the
//! [`Sentry`] asks for again before the first write.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use writecliff_admin::{Psid, UnfinishedPurge};
use writecliff_device::{Bytes, DeviceInfo, PrepareWatch, Purge};

use crate::drive::identity::Identity;
use crate::drive::mapping;
use crate::drive::purge::firmware;
use crate::engine::device::UringDevice;
use crate::engine::device::opening::{self, Opened};
use crate::engine::options::Options;
use crate::guard::consent::{Access, ConsentName, DestroyData};
use crate::guard::error::{FinishError, OpenError, PsidRevertError};
use crate::guard::family::{OtherPath, character_devices};
use crate::guard::found::{Claim, Found, Judged, Thing};
use crate::guard::holders::Unseen;
use crate::guard::ledger::Ledger;
use crate::guard::refusal::{DriveLock, Refusal};
use crate::guard::sentry::Sentry;
use crate::guard::test_file;
use crate::host::descriptor::path_of_descriptor;
use crate::host::sysfs::{Host, Node};

/// Opens a drive or file for a run.
///
/// # Errors
/// Of kind `Refused` if the guard or the missing consent forbids it; nothing has been written then.
/// Otherwise what the system could not do.
pub fn open(path: &Path, access: &Access, options: &Options) -> Result<UringDevice, OpenError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    match access {
        Access::ReadOnly => open_to_read(&host, &found, options),
        Access::Destroy(consent) => open_to_destroy(&host, &found, consent.as_ref(), options),
    }
}

/// What a drive or file is, as a device would say it that is opened for as many and as long I/Os as
/// there can be. Neither claims nor judges it.
///
/// Whether a file's filesystem can punch holes only shows when it is open for writing; here it says
/// that it can be asked to.
///
/// # Errors
/// Of kind `Refused` if there is nothing that could be read; otherwise what the system could not do.
pub fn look(path: &Path) -> Result<DeviceInfo, OpenError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    let (_, identity) = readable(&host, &found)?;
    Ok(opening::outline(&identity, &found.gauges()))
}

fn open_to_read(host: &Host, found: &Found, options: &Options) -> Result<UringDevice, OpenError> {
    let (file, identity) = readable(host, found)?;
    let (gauges, controller) = (found.gauges(), found.controller());
    UringDevice::read_only(Opened { file, identity, gauges, controller }, options)
}

/// The drive, open to be read, if there is anything on it.
fn readable(host: &Host, found: &Found) -> Result<(File, Identity), OpenError> {
    let file = found.open(Claim::None)?.map_err(|no| found.refused(no))?;
    let identity = found.identify(host)?;
    if identity.capacity == Bytes::ZERO {
        let (capacity, at_least) = (identity.capacity, identity.lba_size);
        return Err(found.refused(Refusal::TooSmall { capacity, at_least }));
    }
    Ok((file, identity))
}

fn open_to_destroy(
    host: &Host,
    found: &Found,
    consent: Option<&DestroyData>,
    options: &Options,
) -> Result<UringDevice, OpenError> {
    if let Thing::Block(node) = &found.thing {
        // Of a run that was killed. It holds nothing, and the guard would take it for somebody's.
        mapping::remove_leftovers(host, node);
    }
    let mut controller = found.controller();
    if let Some(refusal) = controller.as_mut().and_then(|own| found.refusal_by(own)) {
        return Err(found.refused(refusal));
    }
    let ledger = found.node().map(|node| Ledger::begin(host, node));
    let Judged { identity, file, mut verdict } =
        found.judge_patiently(host, Claim::ExclusiveWrite)?;
    verdict.refusals.extend(out_of_sight(found, &verdict.unseen, consent));
    let path = found.path.clone();
    let (Ok(file), true) = (file, verdict.refusals.is_empty()) else {
        return Err(OpenError::Refused { path, refusals: verdict.refusals });
    };
    let names = found.consent_names(host, &identity, Some(&file), consent)?;
    let consent = check_consent(&identity, names, consent)?;
    if let Thing::File(id) = found.thing {
        consent.give_up(id);
        // Where the filesystem cannot keep that, the next run asks again what the file holds.
        let _ = test_file::mark(&file);
    }
    let claims = claim(host, &verdict.other_paths)
        .map_err(|refusals| OpenError::Refused { path, refusals })?;
    if let Some(ledger) = &ledger {
        ledger.watch(&verdict.other_paths);
    }
    let watched = ways_in(host, found, &verdict.nodes);
    let sentry = Sentry::post(host, &watched, verdict.watched, ledger, claims);
    let gauges = found.gauges();
    UringDevice::writable(Opened { file, identity, gauges, controller }, options, sentry)
}

/// Brings a purge by the drive's own command, which was broken off or goes on by itself, to its end:
/// waits for it, or undoes what it left. `None` if there is none.
///
/// # Errors
/// Of kind `Refused` if the consent is not the drive's, or somebody uses it; otherwise what the drive
/// or the system could not do.
pub fn finish_purge(
    path: &Path,
    consent: Option<&DestroyData>,
    watch: PrepareWatch<'_>,
) -> Result<Option<UnfinishedPurge>, FinishError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    let Some(mut controller) = found.controller() else { return Ok(None) };
    let Some(left) = controller.unfinished_purge() else { return Ok(None) };
    let _claim = claim_unreadable(&host, &found, consent)?;
    let address = found.path.display().to_string();
    let how = match left {
        UnfinishedPurge::OwnPassword => Purge::AtaSecureErase,
        _ => Purge::SanitizeBlock,
    };
    firmware::end(controller.port, left, watch)
        .map_err(|unfinished| unfinished.told(address, how))?;
    Ok(Some(left))
}

/// Reverts a self-encrypting drive to its factory state by the PSID on its label: no password, no
/// lock, no data.
///
/// # Errors
/// Of kind `Refused` if the consent is not the drive's, or somebody uses it; otherwise what the drive
/// or the system could not do.
pub fn psid_revert(
    path: &Path,
    psid: &Psid,
    consent: Option<&DestroyData>,
) -> Result<(), PsidRevertError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    let device = || found.path.clone();
    let Some(mut controller) = found.controller() else {
        return Err(PsidRevertError::NoCommands { path: device() });
    };
    if controller.has_other_namespaces() {
        return Err(PsidRevertError::OtherNamespaces { path: device() });
    }
    // Kept to the end, so that nobody comes in.
    let _claims = match DriveLock::of(&controller.facts) {
        Some(DriveLock::Tcg) => (Some(claim_unreadable(&host, &found, consent)?), None),
        // What it shows is what it holds.
        _ => (None, Some(open_to_destroy(&host, &found, consent, &REVERTING)?)),
    };
    writecliff_admin::psid_revert(&mut controller.port, psid, &mut std::thread::sleep)
        .map_err(|error| PsidRevertError::of(device(), error))
}

/// Enough to be opened.
const REVERTING: Options =
    Options { queue_depth: 1, io_size_max: Bytes::from_mib(1), seed: 1, purge: None, poll: false };

/// Consent, guard and claim for a drive that cannot be read as it is: that is no objection to helping
/// it out, all others are.
fn claim_unreadable(
    host: &Host,
    found: &Found,
    consent: Option<&DestroyData>,
) -> Result<File, OpenError> {
    let identity = found.identify(host)?;
    check_consent(&identity, found.consent_names(host, &identity, None, consent)?, consent)?;
    let Judged { file, verdict, .. } = found.judge_patiently(host, Claim::ExclusiveRead)?;
    let mut refusals = verdict.refusals;
    refusals.extend(out_of_sight(found, &verdict.unseen, consent));
    refusals.retain(|refusal| !refusal.is_of_what_it_shows());
    match file {
        Ok(file) if refusals.is_empty() => Ok(file),
        _ => Err(OpenError::Refused { path: found.path.clone(), refusals }),
    }
}

/// That there may be processes which cannot be seen, and nobody has said that none of them matters. A
/// file's other users are counted by the kernel.
fn out_of_sight(found: &Found, unseen: &Unseen, consent: Option<&DestroyData>) -> Option<Refusal> {
    let is_agreed = consent.is_some_and(|consent| consent.others_not_visible);
    let is_doubt = found.node().is_some() && !unseen.is_all_in_sight() && !is_agreed;
    is_doubt.then(|| Refusal::OthersNotVisible { horizon: unseen.horizon.to_string() })
}

/// The nodes by which somebody could come in: of the device, of all that it stands on or that is the same
/// drive, and those that pass commands to these.
fn ways_in(host: &Host, found: &Found, nodes: &[Node]) -> Vec<PathBuf> {
    let mut ways = vec![path_of_descriptor(&found.handle)];
    ways.extend(nodes.iter().map(|node| host.path_of(node)));
    let characters = nodes.iter().flat_map(character_devices);
    ways.extend(characters.map(|(_, name)| host.dev.join(name)));
    ways.retain(|path| path.exists());
    ways
}

/// Claims the other paths to a drive, so that nobody can by them what this one's claim forbids.
fn claim(host: &Host, other_paths: &[OtherPath]) -> Result<Vec<File>, Vec<Refusal>> {
    let mut claims = Vec::new();
    for certain in other_paths.iter().filter(|path| path.is_certain()) {
        let path = host.path_of(&certain.other);
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(claim) => claims.push(claim.into()),
            Err(Errno::BUSY) => {
                return Err(vec![Refusal::Busy, certain.told(host)]);
            }
            // A path that is down leads nobody to the drive.
            Err(_) => {}
        }
    }
    Ok(claims)
}

fn check_consent<'a>(
    identity: &Identity,
    names: Vec<ConsentName>,
    consent: Option<&'a DestroyData>,
) -> Result<&'a DestroyData, OpenError> {
    let is_right =
        |consent: &&DestroyData| names.iter().any(|expected| expected.name == consent.name());
    if let Some(right) = consent.filter(is_right) {
        return Ok(right);
    }
    let expected = names.into_iter().next();
    Err(OpenError::Consent {
        path: identity.path.clone(),
        model: identity.model.clone().unwrap_or_else(|| identity.kind.to_string()),
        capacity: identity.capacity,
        named: consent.map(|consent| consent.name().to_owned()),
        expected: expected.unwrap_or_else(|| ConsentName::of_file(&identity.path, None)),
    })
}
