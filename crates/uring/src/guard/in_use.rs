//! Who uses a drive: the running system, mounts, swap, devices that stand on it or share its blocks,
//! processes and exports.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::guard::exports::exports_of;
use crate::guard::family::Family;
use crate::guard::holders::{FileId, Sought, Unseen};
use crate::guard::refusal::Refusal;
use crate::host::layers::{Below, Layers, Sharing, backing_of, backing_path};
use crate::host::mounts::Mount;
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable};

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

/// Processes and exports that use what is sought, and what could not be inspected. Asked for once more
/// right before the first write.
pub(crate) fn used_by(host: &Host, sought: &Sought) -> Result<(Vec<Refusal>, Unseen), Unreadable> {
    let users = sought.users(host);
    let users = users
        .map_err(|e| Unreadable::new(&host.proc, e).at_stake("which processes have it open"))?;
    let mut found: Vec<Refusal> = users.found.into_iter().map(Refusal::InUse).collect();
    found.extend(exports_of(host, sought)?);
    Ok((found, users.unseen))
}

/// Who uses the drive, anything that it is part of, or anything that it stands on.
pub(super) fn in_use(layers: &Layers<'_>, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
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
        found.extend(family.paths.iter().map(|path| path.told(host)));
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
                device: layers.host.name_of(node),
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
            device: layers.host.name_of(node),
            mount_point: mount.mount_point.clone(),
        })
        .collect()
}

fn swapped(host: &Host, family: &Family) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for path in host.swaps()? {
        let is_ours = |node: &&Node| match fs::metadata(&path) {
            Ok(facts) => {
                facts.file_type().is_block_device()
                    && node.number == DeviceNumber::from_raw(facts.rdev())
            }
            // Of another root, or gone since. The kernel claims what it swaps on, so that nobody else
            // gets a claim on it: this is for who only looks.
            Err(_) => {
                path.starts_with(&host.dev) && path.file_name() == host.path_of(node).file_name()
            }
        };
        let swap = family.all.iter().find(is_ours);
        found.extend(swap.map(|node| Refusal::Swap { device: host.name_of(node) }));
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
                    device: layers.host.name_of(node),
                    mount_points: mount_points_above(layers, &holder)?,
                    holder: layers.host.name_of(&holder),
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
            device: layers.host.name_of(node),
            loop_device: layers.host.name_of(device),
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
            device: format!("the file below {}", layers.host.name_of(node)),
            loop_device: layers.host.name_of(device),
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
            device: layers.host.name_of(&base),
            other: layers.host.name_of(&other),
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
            let (pool, other) = (layers.host.name_of(&pool.node), layers.host.name_of(other));
            if !mount_points.is_empty() {
                found.push(Refusal::SharesPool { pool, other, mount_points });
            }
        }
    }
    Ok(found)
}

/// Loop devices on a file, swap in it, filesystems mounted from it.
pub(super) fn file_in_use(
    host: &Host,
    sought: &Sought,
    path: &Path,
) -> Result<Vec<Refusal>, Unreadable> {
    let device = path.display().to_string();
    let mut found = Vec::new();
    for node in host.disks()? {
        if is_backing(host, &node, sought, path)? {
            let loop_device = host.name_of(&node);
            found.push(Refusal::BacksLoop { device: device.clone(), loop_device });
        }
    }
    for swap in host.swaps()? {
        let is_ours = match fs::metadata(&swap) {
            Ok(facts) => sought.has(&facts),
            // Of another root, or unmounted lazily: it may be this file only if it is called the same.
            Err(_) => sought.has_name(&without_deleted(&swap)),
        };
        if is_ours {
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

/// A path as it was before what it leads to was deleted.
fn without_deleted(path: &Path) -> PathBuf {
    path.to_str()
        .and_then(|text| text.strip_suffix(" (deleted)"))
        .map_or(path, Path::new)
        .to_owned()
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
