//! The devices whose use matters to one that is judged.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use writecliff_device::Bytes;

use crate::guard::holders::Sought;
use crate::guard::refusal::Refusal;
use crate::guard::twins::{Sameness, sameness};
use crate::host::layers::{Follow, Layer, Layers};
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable};

/// A device's relatives.
pub(crate) struct Family {
    pub(crate) node: Node,
    /// The device and all that writing it changes, downwards.
    pub(crate) stack: Vec<Layer>,
    /// The device with its disk and all partitions of that, and the same of other paths to it.
    pub(crate) own: Vec<Node>,
    /// The same for everything that it stands on.
    pub(crate) all: Vec<Node>,
    /// What is the same drive, or may be, as a disk of the stack.
    pub(crate) paths: Vec<OtherPath>,
}

/// A disk here that is the same drive as another, by another path, or may be.
#[derive(Debug, Clone)]
pub(crate) struct OtherPath {
    /// Of the stack.
    pub(crate) own: Node,
    pub(crate) other: Node,
    pub(crate) sameness: Sameness,
}

impl OtherPath {
    /// Why its use counts.
    pub(crate) fn told(&self, host: &Host) -> Refusal {
        let Self { own, other, sameness } = self;
        let (device, path) = (host.name_of(own), host.name_of(other));
        Refusal::OtherPath { device, path, sameness: sameness.clone() }
    }

    /// Whether it is certain.
    pub(crate) fn is_certain(&self) -> bool {
        self.sameness == Sameness::WorldWideName
    }
}

impl Family {
    pub(crate) fn of(layers: &Layers<'_>, node: &Node) -> Result<Self, Unreadable> {
        let stack = layers.stack(node, Follow::Writes)?;
        let bases: Vec<Node> = stack.iter().map(|layer| layer.node.clone()).collect();
        let paths = other_paths(layers.host, &bases)?;
        let disk = node.disk()?;
        let others = |own: Option<&Node>| -> Vec<Node> {
            let paths = paths.iter().filter(|path| own.is_none_or(|own| path.own == *own));
            paths.map(|path| path.other.clone()).collect()
        };
        let with = |nodes: &[Node], paths: &[Node]| with_partitions(&[nodes, paths].concat());
        Ok(Self {
            own: with(std::slice::from_ref(node), &others(Some(&disk)))?,
            all: with(&bases, &others(None))?,
            node: node.clone(),
            stack,
            paths,
        })
    }

    /// Whether the device is this one or stands on it.
    pub(crate) fn stands_on(&self, node: &Node) -> bool {
        self.stack.iter().any(|layer| layer.node == *node)
    }

    /// What no other process may have open: the device itself, its partitions and other paths to it;
    /// and for writing everything else of the family. Reading what lies below is what daemons do
    /// that look after paths and arrays.
    pub(crate) fn sought(&self) -> Sought {
        self.sought_but(&[])
    }

    /// The same without what only may be the same drive: it is judged, but what others do with it is
    /// theirs.
    pub(crate) fn sought_for_certain(&self) -> Sought {
        self.sought_but(&self.doubtful())
    }

    /// Everything of the family but what only may be the same drive.
    pub(crate) fn certain(&self) -> Vec<Node> {
        let doubtful = self.doubtful();
        self.all.iter().filter(|node| !doubtful.contains(node)).cloned().collect()
    }

    /// What only may be the same drive, with its partitions.
    fn doubtful(&self) -> Vec<Node> {
        let doubtful = self.paths.iter().filter(|path| !path.is_certain());
        let doubtful: Vec<Node> = doubtful.map(|path| path.other.clone()).collect();
        with_partitions(&doubtful).unwrap_or(doubtful)
    }

    fn sought_but(&self, passed_over: &[Node]) -> Sought {
        let disk = self.node.disk().unwrap_or_else(|_| self.node.clone());
        let own_paths = self.paths.iter().filter(|path| path.own == disk).map(|path| &path.other);
        let whole: Vec<&Node> = own_paths.chain([&self.node]).collect();
        let partitions = whole.iter().flat_map(|node| node.partitions().unwrap_or_default());
        let whole: Vec<Node> = partitions.chain(whole.iter().map(|node| (*node).clone())).collect();
        let kept = |nodes: &[Node]| -> Vec<Node> {
            nodes.iter().filter(|node| !passed_over.contains(node)).cloned().collect()
        };
        let (whole, all) = (kept(&whole), kept(&self.all));
        let numbers = |nodes: &[Node]| nodes.iter().map(|node| node.number).collect();
        Sought {
            devices: numbers(&whole),
            unwritten_devices: numbers(&all),
            characters: all.iter().flat_map(character_devices).map(|(number, _)| number).collect(),
            names: whole.iter().chain(&all).map(|node| OsString::from(&node.name)).collect(),
            sizes: whole
                .iter()
                .chain(&all)
                .filter_map(|node| node.size().ok())
                .map(Bytes)
                .collect(),
            ..Sought::default()
        }
    }
}

/// Devices with their disks and all partitions of these.
fn with_partitions(nodes: &[Node]) -> Result<Vec<Node>, Unreadable> {
    let mut family: Vec<Node> = nodes.to_vec();
    for node in nodes {
        let disk = node.disk()?;
        let partitions = disk.partitions()?;
        for relative in std::iter::once(disk).chain(partitions) {
            if !family.contains(&relative) {
                family.push(relative);
            }
        }
    }
    Ok(family)
}

/// The disks among `bases`, each with every other disk of this machine that is the same drive, or may
/// be.
fn other_paths(host: &Host, bases: &[Node]) -> Result<Vec<OtherPath>, Unreadable> {
    let mut found = Vec::new();
    for other in host.disks()?.into_iter().filter(|disk| !bases.contains(disk)) {
        for own in bases.iter().filter(|base| !base.is_partition()) {
            let sameness = other.unless_it_goes(|other| sameness(host, own, other))?.flatten();
            found.extend(sameness.map(|sameness| OtherPath {
                own: own.clone(),
                other: other.clone(),
                sameness,
            }));
        }
    }
    Ok(found)
}

/// The character devices that pass commands to a disk, with their places below `/dev`: SCSI's generic
/// ones, NVMe's of a namespace and of the controllers that lead to it.
pub(crate) fn character_devices(disk: &Node) -> Vec<(DeviceNumber, PathBuf)> {
    let device = disk.directory.join("device");
    let within = |place: PathBuf| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut places = [within(device.join("scsi_generic")), within(device.join("bsg"))].concat();
    if let Some(rest) = disk.name.strip_prefix("nvme") {
        places.push(device.join(format!("ng{rest}")));
        // A namespace is below its controller, or below a subsystem that its controllers are in.
        places.push(device.clone());
        let is_controller = |path: &PathBuf| {
            path.file_name().is_some_and(|name| {
                name.as_encoded_bytes()
                    .strip_prefix(b"nvme")
                    .is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
            })
        };
        places.extend(within(device).into_iter().filter(is_controller));
    }
    let named = places.iter().filter_map(|place| {
        let number = fs::read_to_string(place.join("dev")).ok()?.trim().parse().ok()?;
        let place = fs::canonicalize(place).ok()?;
        let name = place.file_name()?;
        let is_of_bsg = place.parent().is_some_and(|above| above.ends_with("bsg"));
        Some((number, if is_of_bsg { Path::new("bsg").join(name) } else { name.into() }))
    });
    named.collect()
}
