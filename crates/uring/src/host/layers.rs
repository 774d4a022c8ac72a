//! What stands on what on this machine: partitions, mappings, arrays, loop devices, filesystems.
//!
//! One walk, for whoever asks: the guard (who else needs these blocks?), the recorder (does writing
//! here reach that disk?), the report (what is below this volume?). Held true: where it is not known
//! which bytes of a device another lies on, it is all of them.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::host::device_mapper::{self, Lower, Place};
use crate::host::ioctl::{LoopBacking, loop_backing};
use crate::host::mounts::Mount;
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable, absent};

/// Filesystems without a local disk below them: in memory, or another machine's.
const DISKLESS: &[&str] =
    &["tmpfs", "ramfs", "devtmpfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph"];

/// The block devices, mounts and loop devices of a machine.
pub(crate) struct Layers<'a> {
    pub(crate) host: &'a Host,
    pub(crate) mounts: Vec<LocatedMount>,
    pub(crate) loops: Vec<AttachedLoop>,
}

/// A mount and the block devices that it is on.
pub(crate) type LocatedMount = (Mount, Vec<DeviceNumber>);

/// An attached loop device and what it stands on.
pub(crate) type AttachedLoop = (Node, LoopBacking);

/// A device that another stands on, and which of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) node: Node,
    pub(crate) bytes: Vec<Range<u64>>,
}

/// A device that lies on bytes that another one's writing changes.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// What both stand on.
    pub(crate) base: Node,
    pub(crate) other: Node,
    /// The other and all that it stands on.
    pub(crate) below: Vec<Node>,
}

/// Which way down to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// What writing the device changes.
    Writes,
    /// What the device's contents depend on.
    Contents,
}

/// Everything below a filesystem.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Below {
    Nodes(Vec<Node>),
    /// There is a filesystem of this kind among it, and nobody tells what is below that.
    Unknown(String),
}

impl<'a> Layers<'a> {
    pub(crate) fn of(host: &'a Host) -> Result<Self, Unreadable> {
        Ok(Self { host, mounts: located_mounts(host)?, loops: attached_loops(host)? })
    }

    /// A device and all that it stands on, downwards, each with the bytes that are concerned. A loop
    /// device on a file ends the way: writing it changes the file, and nothing else of its disk.
    pub(crate) fn stack(&self, node: &Node, follow: Follow) -> Result<Vec<Layer>, Unreadable> {
        let mut stack: Vec<Layer> = Vec::new();
        let mut next = vec![Layer::whole(node.clone())?];
        while let Some(layer) = next.pop() {
            next.extend(self.lower(&layer, follow)?);
            match stack.iter_mut().find(|known| known.node == layer.node) {
                Some(known) => known.bytes.extend(layer.bytes),
                None => stack.push(layer),
            }
        }
        Ok(stack)
    }

    /// What a device stands on directly.
    fn lower(&self, layer: &Layer, follow: Follow) -> Result<Vec<Layer>, Unreadable> {
        let node = &layer.node;
        if let Some(disk) = node.parent()? {
            let start = node.number_of("start")? * 512;
            return Ok(vec![layer.moved_to(disk, start)]);
        }
        if let Some((_, backing)) = self.loops.iter().find(|(device, _)| device == node) {
            let Some(number) = backing.block_device else {
                return Ok(Vec::new());
            };
            return Ok(vec![layer.moved_to(self.host.node(number)?, backing.offset)]);
        }
        let slaves = node.slaves()?;
        match self.table(node) {
            Some(table) => self.below_mapping(layer, &table, &slaves, follow),
            None if layer.bytes.is_empty() => {
                let without = |node| Layer { node, bytes: Vec::new() };
                Ok(slaves.into_iter().map(without).collect())
            }
            None => slaves.into_iter().map(Layer::whole).collect(),
        }
    }

    /// The table of a mapping; `None` if it is none, or nobody may ask.
    fn table(&self, node: &Node) -> Option<Vec<device_mapper::Target>> {
        let is_mapping = node.directory.join("dm").exists();
        let control = self.host.dev.join("mapper/control");
        is_mapping.then(|| device_mapper::table(&control, node.number).ok()).flatten()
    }

    /// Whether volumes are given their blocks of this device one by one, as they write them.
    pub(crate) fn is_pool(&self, node: &Node) -> bool {
        let table = self.table(node).unwrap_or_default();
        table.iter().any(|target| target.kind == "thin-pool")
    }

    fn below_mapping(
        &self,
        layer: &Layer,
        table: &[device_mapper::Target],
        slaves: &[Node],
        follow: Follow,
    ) -> Result<Vec<Layer>, Unreadable> {
        let mut found = Vec::new();
        for target in table {
            let concerned = overlap(&layer.bytes, std::slice::from_ref(&target.range));
            if concerned.is_empty() && !layer.bytes.is_empty() {
                continue;
            }
            let line = Layer { node: layer.node.clone(), bytes: concerned };
            for lower in self.pieces(target, slaves) {
                if lower.written || follow == Follow::Contents {
                    let node = self.host.node(lower.device)?;
                    found.push(line.at(target, node, lower.place)?);
                }
            }
        }
        Ok(found)
    }

    fn pieces(&self, target: &device_mapper::Target, slaves: &[Node]) -> Vec<Lower> {
        let place = match target.kind.as_str() {
            "multipath" => Place::From(target.range.start),
            _ => Place::Anywhere,
        };
        target.lower().unwrap_or_else(|| {
            let lower =
                |node: &Node| Lower { device: node.number, place: place.clone(), written: true };
            slaves.iter().map(lower).collect()
        })
    }

    /// The devices that are no part of a stack and lie on bytes of it all the same.
    pub(crate) fn sharing(&self, stack: &[Layer]) -> Result<Vec<Sharing>, Unreadable> {
        let mut found = Vec::new();
        let others = self.host.block_devices()?;
        for other in others.into_iter().filter(|o| stack.iter().all(|layer| layer.node != *o)) {
            let theirs = other.unless_it_goes(|other| self.stack(other, Follow::Contents))?;
            let Some(theirs) = theirs else { continue };
            let shared = stack.iter().find(|layer| {
                let same = theirs.iter().find(|their| their.node == layer.node);
                same.is_some_and(|their| !overlap(&layer.bytes, &their.bytes).is_empty())
            });
            found.extend(shared.map(|layer| Sharing {
                base: layer.node.clone(),
                below: theirs.iter().map(|layer| layer.node.clone()).collect(),
                other,
            }));
        }
        Ok(found)
    }

    /// The devices below a resolved path: partitions with their disks, what mappings and arrays are
    /// built of, and what the file of a loop device is on.
    pub(crate) fn below(&self, path: &Path) -> Result<Below, Unreadable> {
        match self.mount_of(path) {
            Some(mount) => self.below_devices(devices_below(self.host, mount)?),
            None => Ok(Below::not_mounted()),
        }
    }

    /// The same below a block device, itself included.
    pub(crate) fn below_device(&self, number: DeviceNumber) -> Result<Below, Unreadable> {
        self.below_devices(Below::Nodes(vec![self.host.node(number)?]))
    }

    fn below_devices(&self, mut next: Below) -> Result<Below, Unreadable> {
        let mut found = Vec::new();
        let mut filesystems = Vec::new();
        loop {
            match next {
                Below::Nodes(nodes) => filesystems.extend(self.descend(nodes, &mut found)?),
                unknown @ Below::Unknown(_) => return Ok(unknown),
            }
            match filesystems.pop() {
                Some(filesystem) => next = self.devices(filesystem)?,
                None => return Ok(Below::Nodes(found)),
            }
        }
    }

    /// Adds devices and all below them to `found`; gives the filesystems that files below are on.
    fn descend(
        &self,
        nodes: Vec<Node>,
        found: &mut Vec<Node>,
    ) -> Result<Vec<DeviceNumber>, Unreadable> {
        let mut filesystems = Vec::new();
        for node in nodes {
            for Layer { node, .. } in self.stack(&node, Follow::Contents)? {
                let backing = self.loops.iter().find(|(device, _)| *device == node);
                if let Some((_, LoopBacking { file, block_device: None, .. })) = backing {
                    filesystems.push(file.0);
                }
                if !found.contains(&node) {
                    found.push(node);
                }
            }
        }
        Ok(filesystems)
    }

    /// The mount that a path is on: of those at the nearest place above, the last. The number that
    /// `stat` gives would not do: btrfs has one for each subvolume, which no mount shows.
    fn mount_of(&self, path: &Path) -> Option<&LocatedMount> {
        let above = self.mounts.iter().filter(|(mount, _)| path.starts_with(&mount.mount_point));
        above.max_by_key(|(mount, _)| mount.mount_point.components().count())
    }

    /// The devices that a filesystem is on itself.
    fn devices(&self, filesystem: DeviceNumber) -> Result<Below, Unreadable> {
        if filesystem.major != 0 {
            return Ok(Below::Nodes(vec![self.host.node(filesystem)?]));
        }
        let mount = self.mounts.iter().find(|(mount, _)| mount.number == filesystem);
        mount.map_or_else(|| Ok(Below::not_mounted()), |mount| devices_below(self.host, mount))
    }
}

impl Layer {
    fn whole(node: Node) -> Result<Self, Unreadable> {
        let bytes = std::iter::once(0..node.size()?).collect();
        Ok(Self { node, bytes })
    }

    /// The same bytes, which begin at `start` of another device.
    fn moved_to(&self, node: Node, start: u64) -> Self {
        let moved = self.bytes.iter().map(|range| range.start + start..range.end + start);
        Self { bytes: moved.collect(), node }
    }

    /// Where these bytes of a line of a table lie on the device below.
    fn at(
        &self,
        line: &device_mapper::Target,
        node: Node,
        place: Place,
    ) -> Result<Self, Unreadable> {
        let from_line = |start: u64| {
            let offset = |byte: u64| byte - line.range.start + start;
            self.bytes.iter().map(|range| offset(range.start)..offset(range.end)).collect()
        };
        // Who comes by a way without bytes of its own has none further down.
        let bytes = match place {
            _ if self.bytes.is_empty() => Vec::new(),
            Place::From(start) => from_line(start),
            Place::Within(range) => vec![range],
            Place::Anywhere => return Self::whole(node),
            Place::Own => Vec::new(),
        };
        Ok(Self { node, bytes })
    }
}

impl Below {
    fn not_mounted() -> Self {
        Self::Unknown("a kind that is not mounted here".to_owned())
    }
}

/// What two lists of ranges have in common.
fn overlap(ours: &[Range<u64>], theirs: &[Range<u64>]) -> Vec<Range<u64>> {
    let pairs = ours.iter().flat_map(|our| theirs.iter().map(move |their| (our, their)));
    let common = pairs.map(|(our, their)| our.start.max(their.start)..our.end.min(their.end));
    common.filter(|range| range.start < range.end).collect()
}

fn located_mounts(host: &Host) -> Result<Vec<LocatedMount>, Unreadable> {
    let located = host.mounts()?.into_iter().map(|mount| {
        let devices = devices_of(host, &mount)?;
        Ok((mount, devices))
    });
    located.collect()
}

fn devices_below(host: &Host, (mount, numbers): &LocatedMount) -> Result<Below, Unreadable> {
    if DISKLESS.contains(&mount.filesystem.as_str()) {
        return Ok(Below::Nodes(Vec::new()));
    }
    if numbers.is_empty() {
        return Ok(Below::Unknown(mount.filesystem.clone()));
    }
    let nodes = numbers.iter().map(|number| host.node(*number));
    Ok(Below::Nodes(nodes.collect::<Result<_, _>>()?))
}

/// The block devices of a mount. An anonymous filesystem number (btrfs, bcachefs) says nothing, so
/// that its source, and for btrfs what sysfs lists beside it, must tell.
fn devices_of(host: &Host, mount: &Mount) -> Result<Vec<DeviceNumber>, Unreadable> {
    if mount.number.major != 0 {
        return Ok(vec![mount.number]);
    }
    let mut devices = Vec::new();
    for source in mount.source.to_string_lossy().split(':') {
        let path = Path::new(source);
        if !path.starts_with(&host.dev) {
            continue;
        }
        match fs::metadata(path) {
            Ok(facts) if facts.file_type().is_block_device() => {
                devices.push(DeviceNumber::from_raw(facts.rdev()));
            }
            Ok(_) => {}
            // Its node is another container's, or has gone: by its name, then. A filesystem claims its
            // devices, so that nobody else gets a claim on one that has no name here either.
            Err(_) => devices.extend(host.node_by_name(path).map(|node| node.number)),
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

/// Whether a loop device is attached, and to which file, as sysfs tells everybody.
pub(crate) fn backing_path(node: &Node) -> Result<Option<PathBuf>, Unreadable> {
    Ok(node.attribute_bytes("loop/backing_file")?.and_then(|bytes| {
        use std::os::unix::ffi::OsStrExt;
        let name = bytes.trim_ascii_end();
        (!name.is_empty()).then(|| PathBuf::from(std::ffi::OsStr::from_bytes(name)))
    }))
}

fn attached_loops(host: &Host) -> Result<Vec<AttachedLoop>, Unreadable> {
    let mut loops = Vec::new();
    for node in host.disks()? {
        if let Some(path) = backing_path(&node)? {
            let backing = match backing_of(host, &node) {
                // Who has not its node, or may not open it, goes by the path that it shows.
                Err(doubt) => Some(backing_by_path(host, &path).ok_or(doubt)?),
                Ok(backing) => backing,
            };
            loops.extend(backing.map(|backing| (node, backing)));
        }
    }
    Ok(loops)
}

/// What a loop device stands on by the path that sysfs shows; `None` if that may be a block device that
/// has no such name here.
fn backing_by_path(host: &Host, path: &Path) -> Option<LoopBacking> {
    let on = |file, block_device| LoopBacking { file, block_device, offset: 0 };
    match fs::metadata(path) {
        Ok(facts) => {
            let file = (DeviceNumber::from_raw(facts.dev()), facts.ino());
            let is_block = facts.file_type().is_block_device();
            Some(on(file, is_block.then(|| DeviceNumber::from_raw(facts.rdev()))))
        }
        Err(_) => {
            let nowhere = (DeviceNumber { major: 0, minor: 0 }, 0);
            let named = host.node_by_name(path).map(|node| node.number);
            (named.is_some() || !path.starts_with(&host.dev)).then(|| on(nowhere, named))
        }
    }
}

/// What a loop device stands on, unless it is being detached just now.
pub(crate) fn backing_of(host: &Host, node: &Node) -> Result<Option<LoopBacking>, Unreadable> {
    let path = host.path_of(node);
    let stake = "whether a loop device stands on it";
    let unreadable = |error: io::Error| Unreadable::new(&path, error).at_stake(stake);
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

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
