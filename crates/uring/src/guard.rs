//! The safety guard: everything that speaks against destroying a drive's data.
//!
//! It judges facts, decides nothing else and changes nothing. Whoever calls it holds the drive
//! open already, exclusively where that was possible, so that a "no objection" stays true.
//! Held true: any doubt refuses. What cannot be read is an objection like any other, and nothing
//! found is left out because something else was found first.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use writecliff_device::Bytes;

use crate::Refusal;
use crate::drive_marks;
use crate::ioctl::{LoopBacking, loop_backing};
use crate::mounts::Mount;
use crate::sysfs::{DeviceNumber, Host, Node, Unreadable, absent};

/// The smallest drive that a test means anything on: 32 writes of 128 KiB in flight are 4 MiB, and
/// a drive should be several times what is in flight.
pub(crate) const CAPACITY_MIN: Bytes = Bytes::from_mib(16);

/// Where a running system lives; what is mounted here is not to be unmounted for a test.
const SYSTEM_PLACES: &[&str] = &[
    "/",
    "/boot",
    "/boot/efi",
    "/boot/firmware",
    "/efi",
    "/usr",
    "/var",
    "/etc",
    "/opt",
    "/nix",
    "/nix/store",
    "/gnu/store",
    "/sysroot",
    "/ostree",
];

/// A regular file's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) filesystem: DeviceNumber,
    pub(crate) inode: u64,
}

/// Everything against a block device. `drive` is an open descriptor of it, to look for marks; the
/// caller refuses by itself what it could not open.
pub(crate) fn judge_block(
    host: &Host,
    node: &Node,
    drive: Option<&File>,
    capacity: Bytes,
) -> Vec<Refusal> {
    let mut verdict = Verdict::default();
    verdict.take(in_use(host, node));
    verdict.take(read_only(host, node));
    verdict.take(partitioned(host, node));
    if let Some(drive) = drive {
        verdict.take(marked(host, node, drive, capacity));
        verdict.take(parent_marked(host, node));
    }
    verdict.take(Ok(too_small(capacity)));
    verdict.refusals
}

/// Everything against a regular file; it may be an image that somebody needs.
pub(crate) fn judge_file(
    host: &Host,
    file: FileId,
    path: &Path,
    drive: Option<&File>,
    capacity: Bytes,
) -> Vec<Refusal> {
    let mut verdict = Verdict::default();
    verdict.take(file_in_use(host, file, path));
    if let Some(drive) = drive {
        let name = path.display().to_string();
        let marks = drive_marks::refusals(&name, drive, capacity.0);
        verdict.take(marks.map_err(|e| Unreadable::new(path, e)));
    }
    verdict.take(Ok(too_small(capacity)));
    verdict.refusals
}

#[derive(Default)]
struct Verdict {
    refusals: Vec<Refusal>,
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

impl From<Unreadable> for Refusal {
    fn from(doubt: Unreadable) -> Self {
        Self::Unreadable { path: doubt.path, error: doubt.source.to_string() }
    }
}

/// Who uses the drive, anything that it is part of, or anything that it stands on.
fn in_use(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let loops = attached_loops(host)?;
    let mounts = located_mounts(host)?;
    let bases = foundation(host, node, &loops, Below::Devices)?;
    let own_family = family(std::slice::from_ref(node))?;
    let family = family(&bases)?;

    let mut found = system_drive(host, &family, &mounts, &loops)?;
    found.extend(mounted(host, &family, &mounts));
    found.extend(swapped(host, &family)?);
    found.extend(held(host, &own_family, &bases, &mounts)?);
    found.extend(backing_loops(host, &family, &bases, &loops));
    found.extend(shared_backing(host, node, &loops));
    Ok(found)
}

/// A mount and the block devices that it is on.
type LocatedMount = (Mount, Vec<DeviceNumber>);

fn located_mounts(host: &Host) -> Result<Vec<LocatedMount>, Unreadable> {
    let mounts = host.mounts()?;
    let located = mounts.into_iter().map(|mount| {
        let devices = devices_of(host, &mount)?;
        Ok((mount, devices))
    });
    located.collect()
}

/// The block devices of a mount. An anonymous filesystem number (btrfs, bcachefs) says nothing, so
/// that its source, and for btrfs what sysfs lists beside it, must tell.
pub(crate) fn devices_of(host: &Host, mount: &Mount) -> Result<Vec<DeviceNumber>, Unreadable> {
    if mount.number.major != 0 {
        return Ok(vec![mount.number]);
    }
    let mut devices = Vec::new();
    for source in mount.source.to_string_lossy().split(':') {
        let path = Path::new(source);
        if !path.starts_with(&host.dev) {
            continue;
        }
        let facts = fs::metadata(path).map_err(|e| Unreadable::new(path, e))?;
        if facts.file_type().is_block_device() {
            devices.push(DeviceNumber::from_raw(facts.rdev()));
        }
    }
    if mount.filesystem == "btrfs" {
        devices.extend(btrfs_neighbours(host, &devices)?);
    }
    Ok(devices)
}

/// All devices of the btrfs filesystems that any of `devices` belongs to.
fn btrfs_neighbours(
    host: &Host,
    devices: &[DeviceNumber],
) -> Result<Vec<DeviceNumber>, Unreadable> {
    let mut neighbours = Vec::new();
    for filesystem in host.btrfs_filesystems()? {
        let known = devices.is_empty() || devices.iter().any(|d| filesystem.contains(d));
        if known {
            neighbours.extend(filesystem);
        }
    }
    Ok(neighbours)
}

/// An attached loop device and what it stands on.
pub(crate) type AttachedLoop = (Node, LoopBacking);

pub(crate) fn attached_loops(host: &Host) -> Result<Vec<AttachedLoop>, Unreadable> {
    let mut loops = Vec::new();
    for node in host.disks()? {
        if node.attribute("loop/backing_file")?.is_some() {
            let backing = backing_of(host, &node)?;
            loops.extend(backing.map(|backing| (node, backing)));
        }
    }
    Ok(loops)
}

/// What a loop device stands on, unless it is being detached just now.
fn backing_of(host: &Host, node: &Node) -> Result<Option<LoopBacking>, Unreadable> {
    let path = host.path_of(node);
    let unreadable = |error: io::Error| Unreadable::new(&path, error);
    let device = File::open(&path).map_err(unreadable)?;
    let facts = device.metadata().map_err(unreadable)?;
    if DeviceNumber::from_raw(facts.rdev()) != node.number {
        return Err(unreadable(ErrorKind::InvalidData.into()));
    }
    match loop_backing(&device) {
        Ok(backing) => Ok(Some(backing)),
        Err(error) if absent(&error) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

/// How far down to follow what a device stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// Block devices only: writing a loop device changes its file, and nothing else of the disk.
    Devices,
    /// Also to the disk of a loop device's file: the system needs it.
    Files,
}

/// A device and everything that it stands on, downwards.
fn foundation(
    host: &Host,
    node: &Node,
    loops: &[AttachedLoop],
    below: Below,
) -> Result<Vec<Node>, Unreadable> {
    let mut found = vec![node.clone()];
    let mut next = 0;
    while let Some(node) = found.get(next).cloned() {
        next += 1;
        let mut lower = node.slaves()?;
        if let Some((_, backing)) = loops.iter().find(|(device, _)| *device == node) {
            let disk_of_file =
                (below == Below::Files && backing.file.0.major != 0).then_some(backing.file.0);
            if let Some(number) = backing.block_device.or(disk_of_file) {
                lower.push(host.node(number)?);
            }
        }
        lower.retain(|node| !found.contains(node));
        found.extend(lower);
    }
    Ok(found)
}

/// Devices with their disks and all partitions of these.
fn family(nodes: &[Node]) -> Result<Vec<Node>, Unreadable> {
    let mut family: Vec<Node> = nodes.to_vec();
    for node in nodes {
        let disk = node.parent()?.unwrap_or_else(|| node.clone());
        let partitions = disk.partitions()?;
        for relative in std::iter::once(disk).chain(partitions) {
            if !family.contains(&relative) {
                family.push(relative);
            }
        }
    }
    Ok(family)
}

/// Which parts of the running system stand on the family, through any number of layers.
fn system_drive(
    host: &Host,
    family: &[Node],
    mounts: &[LocatedMount],
    loops: &[AttachedLoop],
) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for (mount, devices) in mounts {
        if !is_system_place(&mount.mount_point) {
            continue;
        }
        for number in devices {
            let below = foundation(host, &host.node(*number)?, loops, Below::Files)?;
            let shared = family.iter().find(|node| below.contains(node));
            found.extend(shared.map(|node| Refusal::SystemDrive {
                device: name_of(host, node),
                mount_point: mount.mount_point.clone(),
            }));
        }
    }
    Ok(found)
}

fn is_system_place(mount_point: &Path) -> bool {
    SYSTEM_PLACES.iter().any(|place| mount_point == Path::new(place))
}

fn mounted(host: &Host, family: &[Node], mounts: &[LocatedMount]) -> Vec<Refusal> {
    let others = mounts.iter().filter(|(mount, _)| !is_system_place(&mount.mount_point));
    let pairs = others.flat_map(|(mount, devices)| {
        let on_it = family.iter().filter(|node| devices.contains(&node.number));
        on_it.map(move |node| (node, mount))
    });
    pairs
        .map(|(node, mount)| Refusal::Mounted {
            device: name_of(host, node),
            mount_point: mount.mount_point.clone(),
        })
        .collect()
}

fn swapped(host: &Host, family: &[Node]) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for path in host.swaps()? {
        let facts = fs::metadata(&path).map_err(|e| Unreadable::new(&path, e))?;
        let number = DeviceNumber::from_raw(facts.rdev());
        let is_ours = |node: &&Node| node.number == number;
        if facts.file_type().is_block_device() {
            found.extend(
                family
                    .iter()
                    .find(is_ours)
                    .map(|node| Refusal::Swap { device: name_of(host, node) }),
            );
        }
    }
    Ok(found)
}

/// What is built on the drive, its disk or their partitions, apart from what is being judged.
fn held(
    host: &Host,
    family: &[Node],
    judged: &[Node],
    mounts: &[LocatedMount],
) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for node in family {
        for holder in node.holders()? {
            if !judged.contains(&holder) {
                found.push(Refusal::Held {
                    device: name_of(host, node),
                    mount_points: mount_points_above(&holder, mounts)?,
                    holder: name_of(host, &holder),
                });
            }
        }
    }
    Ok(found)
}

/// Where a device, or anything that is built on it, is mounted.
fn mount_points_above(holder: &Node, mounts: &[LocatedMount]) -> Result<Vec<PathBuf>, Unreadable> {
    let mut above = vec![holder.clone()];
    let mut next = 0;
    while let Some(node) = above.get(next).cloned() {
        next += 1;
        let mut higher = node.holders()?;
        higher.extend(node.partitions()?);
        higher.retain(|node| !above.contains(node));
        above.extend(higher);
    }
    let on_any = |devices: &[DeviceNumber]| above.iter().any(|n| devices.contains(&n.number));
    Ok(mounts
        .iter()
        .filter(|(_, devices)| on_any(devices))
        .map(|(mount, _)| mount.mount_point.clone())
        .collect())
}

/// The loop devices whose backing is one of the family.
fn backing_loops(
    host: &Host,
    family: &[Node],
    judged: &[Node],
    loops: &[AttachedLoop],
) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (device, backing) in loops.iter().filter(|(device, _)| !judged.contains(device)) {
        let below = family.iter().find(|node| backing.block_device == Some(node.number));
        found.extend(below.map(|node| Refusal::BacksLoop {
            device: name_of(host, node),
            loop_device: name_of(host, device),
        }));
    }
    found
}

/// Other loop devices on the same file as this one: what they show would change too.
fn shared_backing(host: &Host, node: &Node, loops: &[AttachedLoop]) -> Vec<Refusal> {
    let disk = node.parent().ok().flatten().unwrap_or_else(|| node.clone());
    let Some((_, own)) = loops.iter().find(|(device, _)| *device == disk) else {
        return Vec::new();
    };
    loops
        .iter()
        .filter(|(device, backing)| *device != disk && backing.file == own.file)
        .map(|(device, _)| Refusal::BacksLoop {
            device: format!("the file below {}", name_of(host, node)),
            loop_device: name_of(host, device),
        })
        .collect()
}

fn read_only(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let mut protected = node.number_of("ro")? != 0;
    if let Some(disk) = node.parent()? {
        protected |= disk.number_of("ro")? != 0;
    }
    let device = host.path_of(node);
    Ok(Vec::from_iter(protected.then_some(Refusal::ReadOnly { device })))
}

fn partitioned(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let partitions = node.partitions()?;
    let names: Vec<String> = partitions.iter().map(|p| name_of(host, p)).collect();
    let device = name_of(host, node);
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
    let name = name_of(host, node);
    drive_marks::refusals(&name, drive, capacity.0).map_err(|e| Unreadable::new(path, e))
}

/// Marks on the disk of a partition, other than the table that makes it one: an array or a
/// filesystem that covers the whole disk.
fn parent_marked(host: &Host, node: &Node) -> Result<Vec<Refusal>, Unreadable> {
    let Some(disk) = node.parent()? else {
        return Ok(Vec::new());
    };
    let path = host.path_of(&disk);
    let unreadable = |error: io::Error| Unreadable::new(&path, error);
    let drive = open_to_look(&path).map_err(unreadable)?;
    let facts = drive.metadata().map_err(unreadable)?;
    if DeviceNumber::from_raw(facts.rdev()) != disk.number {
        return Err(unreadable(ErrorKind::InvalidData.into()));
    }
    let capacity = Bytes(disk.number_of("size")? * 512);
    drive_marks::of_the_disk_below(&name_of(host, &disk), &drive, capacity.0).map_err(unreadable)
}

/// Opens for direct reading, without claiming.
pub(crate) fn open_to_look(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

fn too_small(capacity: Bytes) -> Vec<Refusal> {
    Vec::from_iter(
        (capacity < CAPACITY_MIN).then_some(Refusal::TooSmall { capacity, at_least: CAPACITY_MIN }),
    )
}

/// Loop devices on a file, swap in it, filesystems mounted from it.
fn file_in_use(host: &Host, file: FileId, path: &Path) -> Result<Vec<Refusal>, Unreadable> {
    let device = path.display().to_string();
    let mut found = Vec::new();
    for (loop_device, backing) in attached_loops(host)? {
        if backing.file == (file.filesystem, file.inode) {
            found.push(Refusal::BacksLoop {
                device: device.clone(),
                loop_device: name_of(host, &loop_device),
            });
        }
    }
    for swap in host.swaps()? {
        let facts = fs::metadata(&swap).map_err(|e| Unreadable::new(&swap, e))?;
        if file.is(&facts) {
            found.push(Refusal::Swap { device: device.clone() });
        }
    }
    let mounts = host.mounts()?.into_iter().filter(|mount| {
        let source = fs::metadata(&mount.source);
        mount.source.is_absolute() && source.is_ok_and(|facts| file.is(&facts))
    });
    found.extend(
        mounts.map(|mount| Refusal::Mounted {
            device: device.clone(),
            mount_point: mount.mount_point,
        }),
    );
    Ok(found)
}

impl FileId {
    /// The identity that `stat` gives.
    pub(crate) fn of(facts: &fs::Metadata) -> Self {
        Self { filesystem: DeviceNumber::from_raw(facts.dev()), inode: facts.ino() }
    }

    fn is(self, facts: &fs::Metadata) -> bool {
        facts.is_file() && Self::of(facts) == self
    }
}

fn name_of(host: &Host, node: &Node) -> String {
    host.path_of(node).display().to_string()
}

#[cfg(test)]
#[path = "guard_tests.rs"]
pub(crate) mod tests;
