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
use crate::exports::exports;
use crate::family::Family;
use crate::layers::{Below, Layers, Sharing, backing_of, backing_path};
use crate::mounts::Mount;
use crate::sysfs::{DeviceNumber, Host, Node, Unreadable};
use crate::users::{FileId, Sought};

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

/// What was found, and who is to be asked for again before the first write.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) sought: Sought,
    /// Processes that could not be looked into.
    pub(crate) unseen: usize,
    /// The device, its disk, their partitions, and the same of other paths to it.
    pub(crate) own_nodes: Vec<Node>,
    /// Disks of its, each with another that is the same drive by another path.
    pub(crate) other_paths: Vec<(Node, Node)>,
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
            verdict.take(in_use(&layers, &family));
            (verdict.own_nodes, verdict.other_paths) = (family.own, family.paths);
            let asked = ask_around(host, &mut verdict);
            verdict.take(asked);
            verdict.take(Ok(unseen_by_a_user(verdict.unseen)));
        }
        Err(doubt) => verdict.take(Err(doubt)),
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
    match is_on_overlay(host, path) {
        // Through an overlay a file shows its own inode number and the overlay's filesystem.
        Ok(true) => verdict.sought.inodes.push(file.inode),
        Ok(false) => verdict.sought.files.push(file),
        Err(doubt) => verdict.take(Err(doubt)),
    }
    verdict.take(file_in_use(host, &verdict.sought, path));
    let asked = ask_around(host, &mut verdict);
    verdict.take(asked);
    if let Some(drive) = drive {
        let name = path.display().to_string();
        let marks = drive_marks::refusals(&name, drive, capacity.0);
        verdict.take(marks.map_err(|e| Unreadable::new(path, e)));
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

impl From<Unreadable> for Refusal {
    fn from(doubt: Unreadable) -> Self {
        Self::Unreadable { path: doubt.path, error: doubt.source.to_string() }
    }
}

/// The processes that use the drive and the exports of it.
fn ask_around(host: &Host, verdict: &mut Verdict) -> Result<Vec<Refusal>, Unreadable> {
    let (found, unseen) = used_by(host, &verdict.sought)?;
    verdict.unseen = unseen;
    Ok(found)
}

/// Where root may not look, as in containers, nobody may, and it is only told. Another user can do
/// something about it.
fn unseen_by_a_user(processes: usize) -> Vec<Refusal> {
    let is_refused = processes > 0 && !rustix::process::geteuid().is_root();
    Vec::from_iter(is_refused.then_some(Refusal::UnseenProcesses { processes }))
}

/// Processes and exports that use what is sought, and how many processes could not be looked into.
/// Asked for once more right before the first write.
pub(crate) fn used_by(host: &Host, sought: &Sought) -> Result<(Vec<Refusal>, usize), Unreadable> {
    let users = sought.users(host).map_err(|error| Unreadable::new(&host.proc, error))?;
    let mut found: Vec<Refusal> = users.found.into_iter().map(Refusal::InUse).collect();
    for export in exports(host)? {
        if fs::metadata(&export.device).is_ok_and(|facts| sought.has(&facts)) {
            found.push(Refusal::Exported { device: export.device, place: export.place });
        }
    }
    Ok((found, users.unseen))
}

/// Who uses the drive, anything that it is part of, or anything that it stands on.
fn in_use(layers: &Layers<'_>, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let host = layers.host;
    let mut found = system_drive(layers, family)?;
    found.extend(mounted(layers, family));
    found.extend(swapped(host, family)?);
    found.extend(held(layers, family)?);
    found.extend(backing_loops(layers, family));
    found.extend(shared_backing(layers, &family.node));
    found.extend(sharing(layers, family)?);
    found.extend(sharing_pool(layers, family)?);
    if !found.is_empty() {
        found.extend(family.paths.iter().map(|(ours, other)| Refusal::OtherPath {
            device: name_of(host, ours),
            path: name_of(host, other),
        }));
    }
    Ok(found)
}

/// Which parts of the running system stand on the family, through any number of layers.
fn system_drive(layers: &Layers<'_>, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for (mount, devices) in &layers.mounts {
        if !is_system_place(&mount.mount_point) {
            continue;
        }
        for number in devices {
            let Below::Nodes(below) = layers.below_device(*number)? else { continue };
            let shared = family.all.iter().find(|node| below.contains(node));
            found.extend(shared.map(|node| Refusal::SystemDrive {
                device: name_of(layers.host, node),
                mount_point: mount.mount_point.clone(),
            }));
        }
    }
    Ok(found)
}

fn is_system_place(mount_point: &Path) -> bool {
    SYSTEM_PLACES.iter().any(|place| mount_point == Path::new(place))
}

fn mounted(layers: &Layers<'_>, family: &Family) -> Vec<Refusal> {
    let others = layers.mounts.iter().filter(|(mount, _)| !is_system_place(&mount.mount_point));
    let pairs = others.flat_map(|(mount, devices)| {
        let on_it = family.all.iter().filter(|node| devices.contains(&node.number));
        on_it.map(move |node| (node, mount))
    });
    pairs
        .map(|(node, mount)| Refusal::Mounted {
            device: name_of(layers.host, node),
            mount_point: mount.mount_point.clone(),
        })
        .collect()
}

fn swapped(host: &Host, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for path in host.swaps()? {
        let facts = fs::metadata(&path).map_err(|e| Unreadable::new(&path, e))?;
        let number = DeviceNumber::from_raw(facts.rdev());
        let is_ours = |node: &&Node| node.number == number;
        if facts.file_type().is_block_device() {
            found.extend(
                family
                    .all
                    .iter()
                    .find(is_ours)
                    .map(|node| Refusal::Swap { device: name_of(host, node) }),
            );
        }
    }
    Ok(found)
}

/// What is built on the drive, its disk, their partitions, or another path to it, apart from what
/// is being judged.
fn held(layers: &Layers<'_>, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for node in &family.own {
        for holder in node.holders()? {
            if !family.stands_on(&holder) {
                found.push(Refusal::Held {
                    device: name_of(layers.host, node),
                    mount_points: mount_points_above(layers, &holder)?,
                    holder: name_of(layers.host, &holder),
                });
            }
        }
    }
    Ok(found)
}

/// Where a device, or anything that is built on it, is mounted.
fn mount_points_above(layers: &Layers<'_>, holder: &Node) -> Result<Vec<PathBuf>, Unreadable> {
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
    let mounts = layers.mounts.iter().filter(|(_, devices)| on_any(devices));
    Ok(mounts.map(|(mount, _)| mount.mount_point.clone()).collect())
}

/// The loop devices whose backing is one of the family.
fn backing_loops(layers: &Layers<'_>, family: &Family) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (device, backing) in layers.loops.iter().filter(|(device, _)| !family.stands_on(device)) {
        let below = family.all.iter().find(|node| backing.block_device == Some(node.number));
        found.extend(below.map(|node| Refusal::BacksLoop {
            device: name_of(layers.host, node),
            loop_device: name_of(layers.host, device),
        }));
    }
    found
}

/// Other loop devices on the same file as this one: what they show would change too.
fn shared_backing(layers: &Layers<'_>, node: &Node) -> Vec<Refusal> {
    let disk = node.disk().unwrap_or_else(|_| node.clone());
    let Some((_, own)) = layers.loops.iter().find(|(device, _)| *device == disk) else {
        return Vec::new();
    };
    layers
        .loops
        .iter()
        .filter(|(device, backing)| *device != disk && backing.file == own.file)
        .map(|(device, _)| Refusal::BacksLoop {
            device: format!("the file below {}", name_of(layers.host, node)),
            loop_device: name_of(layers.host, device),
        })
        .collect()
}

/// Mappings and the like that lie on the same blocks and are neither below the drive nor, by their
/// names, on it: two mappings of one disk, an origin and its snapshot.
fn sharing(layers: &Layers<'_>, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let mut told: Vec<Node> = family.node.partitions()?;
    for node in &family.own {
        told.extend(node.holders()?);
    }
    told.extend(layers.loops.iter().map(|(device, _)| device.clone()));
    let mut found = Vec::new();
    for Sharing { base, other, below } in layers.sharing(&family.stack)? {
        if below.iter().any(|node| told.contains(node)) {
            continue;
        }
        found.push(Refusal::SharesBlocks {
            device: name_of(layers.host, &base),
            other: name_of(layers.host, &other),
            mount_points: mount_points_above(layers, &other)?,
        });
        told.push(other);
    }
    Ok(found)
}

/// Mounted volumes of the same thin pool: a test may use up the space that they need.
fn sharing_pool(layers: &Layers<'_>, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    let pools = family.stack.iter().filter(|layer| layers.is_pool(&layer.node));
    for pool in pools.filter(|pool| pool.node != family.node) {
        for other in pool.node.holders()?.iter().filter(|other| !family.stands_on(other)) {
            let mount_points = mount_points_above(layers, other)?;
            let (pool, other) = (name_of(layers.host, &pool.node), name_of(layers.host, other));
            if !mount_points.is_empty() {
                found.push(Refusal::SharesPool { pool, other, mount_points });
            }
        }
    }
    Ok(found)
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
        .map(|model| Refusal::Zoned { device: name_of(host, node), model })
        .into_iter()
        .collect())
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
    let capacity = disk.size()?;
    drive_marks::of_the_disk_below(&name_of(host, &disk), &drive, capacity).map_err(unreadable)
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

/// Loop devices on a file, swap in it, filesystems mounted from it.
fn file_in_use(host: &Host, sought: &Sought, path: &Path) -> Result<Vec<Refusal>, Unreadable> {
    let device = path.display().to_string();
    let mut found = Vec::new();
    for node in host.disks()? {
        if is_backing(host, &node, sought, path)? {
            let loop_device = name_of(host, &node);
            found.push(Refusal::BacksLoop { device: device.clone(), loop_device });
        }
    }
    for swap in host.swaps()? {
        let facts = fs::metadata(&swap).map_err(|e| Unreadable::new(&swap, e))?;
        if sought.has(&facts) {
            found.push(Refusal::Swap { device: device.clone() });
        }
    }
    let is_source = |mount: &Mount| {
        let source = fs::metadata(&mount.source);
        mount.source.is_absolute() && source.is_ok_and(|facts| sought.has(&facts))
    };
    let mounts = host.mounts()?.into_iter().filter(is_source);
    found.extend(mounts.map(|Mount { mount_point, .. }| {
        let device = device.clone();
        Refusal::Mounted { device, mount_point }
    }));
    Ok(found)
}

/// Whether a loop device stands on the file. Who may not ask the loop device itself goes by the
/// path that it shows; a file that one may not even look at is another one, unless it is called the
/// same.
fn is_backing(host: &Host, node: &Node, sought: &Sought, path: &Path) -> Result<bool, Unreadable> {
    let Some(shown) = backing_path(node)? else {
        return Ok(false);
    };
    let by_path = || match fs::metadata(&shown) {
        Ok(facts) => sought.has(&facts),
        Err(_) => shown.file_name() == path.file_name(),
    };
    match backing_of(host, node) {
        Ok(backing) => Ok(backing.is_some_and(|backing| {
            let (filesystem, inode) = backing.file;
            sought.has_file(FileId { filesystem, inode }) || by_path()
        })),
        Err(doubt) if doubt.source.kind() == ErrorKind::PermissionDenied => Ok(by_path()),
        Err(doubt) => Err(doubt),
    }
}

/// What people call a device: a mapping by its name, which stays the same from boot to boot.
pub(crate) fn name_of(host: &Host, node: &Node) -> String {
    host.lasting_path_of(node).unwrap_or_else(|| host.path_of(node)).display().to_string()
}

#[cfg(test)]
#[path = "guard_tests.rs"]
pub(crate) mod tests;
