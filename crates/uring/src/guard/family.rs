//! The devices whose use matters to one that is judged.

use std::fs;

use crate::guard::holders::Sought;
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
    /// Disks of the stack, each with another disk here that is the same drive by another path.
    pub(crate) paths: Vec<(Node, Node)>,
    /// The other paths to the device itself.
    own_paths: Vec<Node>,
}

impl Family {
    pub(crate) fn of(layers: &Layers<'_>, node: &Node) -> Result<Self, Unreadable> {
        let stack = layers.stack(node, Follow::Writes)?;
        let bases: Vec<Node> = stack.iter().map(|layer| layer.node.clone()).collect();
        let paths = other_paths(layers.host, &bases)?;
        let disk = node.disk()?;
        let is_own = |path: &&(Node, Node)| path.0 == disk;
        let own_paths: Vec<Node> =
            paths.iter().filter(is_own).map(|(_, other)| other.clone()).collect();
        let with = |nodes: &[Node], paths: &[Node]| with_partitions(&[nodes, paths].concat());
        let all_paths: Vec<Node> = paths.iter().map(|(_, other)| other.clone()).collect();
        Ok(Self {
            own: with(std::slice::from_ref(node), &own_paths)?,
            all: with(&bases, &all_paths)?,
            node: node.clone(),
            stack,
            paths,
            own_paths,
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
        let mut whole = self.own_paths.clone();
        whole.push(self.node.clone());
        let partitions = whole.iter().flat_map(|node| node.partitions().unwrap_or_default());
        let whole: Vec<Node> = whole.iter().cloned().chain(partitions).collect();
        let numbers = |nodes: &[Node]| nodes.iter().map(|node| node.number).collect();
        Sought {
            devices: numbers(&whole),
            unwritten_devices: numbers(&self.all),
            characters: self.all.iter().flat_map(character_devices).collect(),
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

/// The disks among `bases`, each with every other disk of this machine that has the same
/// world-wide name.
fn other_paths(host: &Host, bases: &[Node]) -> Result<Vec<(Node, Node)>, Unreadable> {
    let mut found = Vec::new();
    for other in host.disks()?.into_iter().filter(|disk| !bases.contains(disk)) {
        let Some(name) = other.world_wide_name()? else { continue };
        for base in bases.iter().filter(|base| !base.is_partition()) {
            if base.world_wide_name()?.as_ref() == Some(&name) {
                found.push((base.clone(), other.clone()));
            }
        }
    }
    Ok(found)
}

/// The character devices that pass commands to a disk: SCSI's generic ones, NVMe's of a namespace.
fn character_devices(disk: &Node) -> Vec<DeviceNumber> {
    let device = disk.directory.join("device");
    let within = |name: &str| {
        let entries = fs::read_dir(device.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut places = [within("scsi_generic"), within("bsg")].concat();
    places.extend(disk.name.strip_prefix("nvme").map(|rest| device.join(format!("ng{rest}"))));
    let numbers = places.iter().filter_map(|place| fs::read_to_string(place.join("dev")).ok());
    numbers.filter_map(|text| text.trim().parse().ok()).collect()
}
