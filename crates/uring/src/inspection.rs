//! What drives are and what the guard says of them, without using any.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use writecliff_admin::Facts;
use writecliff_device::{Bytes, DeviceKind};

use crate::drive::controller::Controller;
use crate::drive::identity::{self, Identity};
use crate::drive::kernel_opal::{KernelOpal, kernel_opal};
use crate::guard::anew;
use crate::guard::consent::ConsentName;
use crate::guard::error::OpenError;
use crate::guard::found::{Claim, Found, Judged, Thing};
use crate::guard::holders::Unseen;
use crate::guard::refusal::Refusal;
use crate::guard::survey::{Survey, survey};
use crate::host::sysfs::{Host, Node};

/// A device that has not answered by then is told as that in a list.
const ANSWER: Duration = Duration::from_secs(20);

/// A drive and what the guard says of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// What it is.
    pub identity: Identity,
    /// Everything that speaks against destroying its data; empty if nothing does.
    pub refusals: Vec<Refusal>,
    /// What consent to destroy its data must say.
    pub consent: ConsentName,
    /// What could not be inspected: any of it may have it open.
    pub unseen: Unseen,
    /// How to have the system find it anew, so that whatever could not be inspected holds nothing of it;
    /// `None` where there is no such way.
    pub found_anew: Option<String>,
    /// How many of some places hold data, where they were looked at.
    pub survey: Option<Survey>,
    /// What a disk says of itself, or why it does not; `None` where it was not asked.
    pub own_words: Option<Result<Facts, String>>,
    /// What the kernel's own Opal support knows of it; `None` where it has none for this drive.
    pub kernel_opal: Option<KernelOpal>,
}

impl Inspection {
    /// Whether it is a drive that processes may have open which cannot be seen from here: then consent
    /// must say that none does.
    pub fn is_out_of_sight(&self) -> bool {
        self.identity.kind == DeviceKind::BlockDevice && !self.unseen.is_all_in_sight()
    }
}

/// Tells what a drive is and whether it would be refused, without opening it for writing. Claims
/// it for a moment to see whether anybody else does.
///
/// # Errors
/// Of kind `Refused` if there is no block device or file at the path; otherwise what
/// the system could not do.
pub fn inspect(path: &Path) -> Result<Inspection, OpenError> {
    let host = Host::this_machine();
    let found = Found::at(&host, path)?;
    // Before anything is read from it, which would wake a drive that rests.
    let mut own = found.ask();
    let judged = found.judge_patiently(&host, Claim::ExclusiveRead)?;
    let capacity = judged.identity.capacity.0;
    let survey = judged.file.as_ref().ok().map(|file| survey(file, capacity));
    let mut inspection = judged.inspection(&host, &found)?;
    let own_refusal = |own: &mut Controller| found.refusal_by(own);
    if let Some(refusal) = own.as_mut().and_then(|own| own.as_mut().ok().and_then(own_refusal)) {
        // What the drive shows in this state says nothing of what it holds.
        inspection.refusals.retain(|refusal| !refusal.is_of_what_it_shows());
        inspection.refusals.insert(0, refusal);
    }
    let own_words = own.map(|own| own.map(|own| own.facts));
    Ok(Inspection { survey, own_words, kernel_opal: opal_of(&found), ..inspection })
}

/// What the kernel's Opal support knows of a block device.
fn opal_of(found: &Found) -> Option<KernelOpal> {
    match found.thing {
        Thing::Block(_) => kernel_opal(&found.open(Claim::None).ok()?.ok()?),
        Thing::File(_) => None,
    }
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
    match identity::block_device(node, &path) {
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
            let refusal = Refusal::Unreadable {
                path: path.clone(),
                error: error.to_string(),
                stake: "what this drive is",
            };
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
            unseen: Unseen::default(),
            found_anew: None,
            survey: None,
            own_words: None,
            kernel_opal: None,
        }
    }
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
            unseen: self.verdict.unseen,
            found_anew: found.node().and_then(anew::commands),
            survey: None,
            own_words: None,
            kernel_opal: None,
        })
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
            write_cache: None,
            polls: false,
        }
    }
}
