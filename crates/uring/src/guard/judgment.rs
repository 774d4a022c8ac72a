//! The safety guard: everything that speaks against destroying a drive's data.
//!
//! It judges facts, decides nothing else and changes nothing. Whoever calls it holds the drive
//! open already, exclusively where that was possible, so that a "no objection" stays true.
//! Held true: any doubt refuses. What cannot be read is an objection like any other, and nothing
//! found is left out because something else was found first.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use writecliff_device::Bytes;

use crate::guard::family::{Family, OtherPath};
use crate::guard::holders::{FileId, Sought, Unseen};
use crate::guard::refusal::Refusal;
use crate::guard::{drive_marks, in_use};
use crate::host::io_counts::IoCounter;
use crate::host::layers::Layers;
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable};
use crate::host::{device_mapper, lease};

/// The smallest drive that a test means anything on: 32 writes of 128 KiB in flight are 4 MiB, and
/// a drive should be several times what is in flight.
pub(crate) const CAPACITY_MIN: Bytes = Bytes::from_mib(16);

const CONTENTS: &str = "what it holds";

/// What was found, and who is to be asked for again before the first write.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) refusals: Vec<Refusal>,
    /// Whom the judgment asked around for.
    pub(crate) sought: Sought,
    /// Whom to watch for from now on.
    pub(crate) watched: Sought,
    /// What could not be inspected.
    pub(crate) unseen: Unseen,
    /// The nodes by which it, or what it stands on, can be written.
    pub(crate) nodes: Vec<Node>,
    /// What is the same drive as a disk of its, or may be.
    pub(crate) other_paths: Vec<OtherPath>,
}

/// Everything against a block device. `drive` is an open descriptor of it, to look for marks; the
/// caller refuses by itself what it could not open.
pub(crate) fn judge_block(
    host: &Host,
    node: &Node,
    drive: Option<&File>,
    capacity: Bytes,
) -> Verdict {
    let mut verdict = Verdict::default();
    match Layers::of(host).and_then(|layers| Ok((Family::of(&layers, node)?, layers))) {
        Ok((family, layers)) => {
            verdict.sought = family.sought();
            verdict.take(in_use::in_use(&layers, &family));
            verdict.watched = family.sought_for_certain();
            (verdict.nodes, verdict.other_paths) = (family.certain(), family.paths);
            let asked = ask_around(host, &mut verdict);
            verdict.take(asked);
            verdict.take(Ok(unseen_by_a_user(&verdict.unseen)));
        }
        Err(doubt) => verdict.take(Err(doubt)),
    }
    verdict.unseen.uncounted = IoCounter::of(node).is_none();
    if verdict.refusals.is_empty() {
        verdict.take(Ok(held_unseen(host, node, drive.is_some())));
    }
    verdict.take(read_only(host, node));
    verdict.take(zoned(host, node));
    verdict.take(partitioned(host, node));
    if let Some(drive) = drive {
        verdict.take(marked(host, node, drive, capacity));
        verdict.take(parent_marked(host, node));
    }
    verdict.take(Ok(too_small(capacity)));
    verdict
}

/// Everything against a regular file; it may be an image that somebody needs.
pub(crate) fn judge_file(
    host: &Host,
    file: FileId,
    path: &Path,
    drive: Option<&File>,
    capacity: Bytes,
) -> Verdict {
    let mut verdict = Verdict::default();
    verdict.sought.names.extend(path.file_name().map(ToOwned::to_owned));
    verdict.sought.sizes.push(capacity);
    match is_on_overlay(host, path) {
        // Through an overlay a file shows its own inode number and the overlay's filesystem.
        Ok(true) => verdict.sought.inodes.push(file.inode),
        Ok(false) => verdict.sought.files.push(file),
        Err(doubt) => verdict.take(Err(doubt)),
    }
    verdict.take(in_use::file_in_use(host, &verdict.sought, path));
    let asked = ask_around(host, &mut verdict);
    verdict.take(asked);
    verdict.watched = verdict.sought.clone();
    if let Some(drive) = drive {
        let name = path.display().to_string();
        // Where a process was found, that is who.
        if verdict.refusals.is_empty() && lease::is_shared(drive) == Some(true) {
            verdict.refusals.push(Refusal::HeldUnseen { device: name.clone() });
        }
        let marks = drive_marks::refusals(&name, drive, capacity.0);
        verdict.take(marks.map_err(|e| Unreadable::new(path, e).at_stake(CONTENTS)));
    }
    verdict.take(Ok(too_small(capacity)));
    verdict
}

impl Verdict {
    fn take(&mut self, found: Result<Vec<Refusal>, Unreadable>) {
        let found = found.unwrap_or_else(|doubt| vec![doubt.into()]);
        for refusal in found {
            if !self.refusals.contains(&refusal) {
                self.refusals.push(refusal);
            }
        }
    }
}

/// The processes that use the drive and the exports of it.
fn ask_around(host: &Host, verdict: &mut Verdict) -> Result<Vec<Refusal>, Unreadable> {
    let (found, unseen) = in_use::used_by(host, &verdict.sought)?;
    verdict.unseen = unseen;
    Ok(found)
}

/// A mapping tells how often it is open: more often than by this program, and no process shows it.
fn held_unseen(host: &Host, node: &Node, is_open: bool) -> Vec<Refusal> {
    let control = host.dev.join("mapper/control");
    if !node.directory.join("dm").exists() {
        return Vec::new();
    }
    // Whose control device may not be asked may not be asked for anything else, either.
    let opened = device_mapper::open_count(&control, node.number).unwrap_or(0);
    let device = host.name_of(node);
    Vec::from_iter((opened > u32::from(is_open)).then_some(Refusal::HeldUnseen { device }))
}

/// Where root may not look, as in containers, nobody may, and it is only told. Another user can do
/// something about it.
fn unseen_by_a_user(unseen: &Unseen) -> Vec<Refusal> {
    let is_refused = unseen.processes > 0 && !rustix::process::geteuid().is_root();
    Vec::from_iter(is_refused.then_some(Refusal::UnseenProcesses { processes: unseen.processes }))
}

fn read_only(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let protected = node.number_of("ro")? != 0 || node.disk()?.number_of("ro")? != 0;
    let device = host.path_of(node);
    Ok(Vec::from_iter(protected.then_some(Refusal::ReadOnly { device })))
}

/// A zoned drive takes writes only in order within a zone, which no test here keeps to.
fn zoned(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let model = node.disk()?.attribute("queue/zoned")?;
    let model = model.filter(|model| model != "none");
    Ok(model
        .map(|model| Refusal::Zoned { device: host.name_of(node), model })
        .into_iter()
        .collect())
}

fn partitioned(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let partitions = node.partitions()?;
    let names: Vec<String> = partitions.iter().map(|p| host.name_of(p)).collect();
    let device = host.name_of(node);
    let found = Refusal::Partitioned { device, partitions: names.clone() };
    Ok(Vec::from_iter((!names.is_empty()).then_some(found)))
}

fn marked(
    host: &Host,
    node: &Node,
    drive: &File,
    capacity: Bytes,
) -> Result<Vec<Refusal>, Unreadable> {
    let path = host.path_of(node);
    let name = host.name_of(node);
    let marks = drive_marks::refusals(&name, drive, capacity.0);
    marks.map_err(|e| Unreadable::new(path, e).at_stake(CONTENTS))
}

/// Marks on the disk of a partition, other than the table that makes it one: an array or a
/// filesystem that covers the whole disk.
fn parent_marked(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let Some(disk) = node.parent()? else {
        return Ok(Vec::new());
    };
    let path = host.path_of(&disk);
    let unreadable = |error: io::Error| Unreadable::new(&path, error).at_stake(CONTENTS);
    let drive = open_to_look(&path).map_err(unreadable)?;
    let facts = drive.metadata().map_err(unreadable)?;
    if DeviceNumber::from_raw(facts.rdev()) != disk.number {
        return Err(unreadable(ErrorKind::InvalidData.into()));
    }
    let capacity = disk.size()?;
    drive_marks::of_the_disk_below(&host.name_of(&disk), &drive, capacity).map_err(unreadable)
}

/// Opens for direct reading, without claiming.
fn open_to_look(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

fn too_small(capacity: Bytes) -> Vec<Refusal> {
    Vec::from_iter(
        (capacity < CAPACITY_MIN).then_some(Refusal::TooSmall { capacity, at_least: CAPACITY_MIN }),
    )
}

fn is_on_overlay(host: &Host, path: &Path) -> Result<bool, Unreadable> {
    let mounts = host.mounts()?;
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    let nearest = above.max_by_key(|mount| mount.mount_point.components().count());
    Ok(nearest.is_some_and(|mount| mount.filesystem == "overlay"))
}

#[cfg(test)]
#[path = "judgment_tests.rs"]
mod tests;
