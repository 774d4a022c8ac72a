//! A block device as the kernel's tracing knows it, and which disks a file's writing reaches.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use writecliff_device::Bytes;

use crate::OpenError;
use crate::guard::{AttachedLoop, attached_loops, devices_of};
use crate::identify::{self, Identity};
use crate::mounts::Mount;
use crate::sysfs::{DeviceNumber, Host, Node, Unreadable};

/// Filesystems without a local disk below them: in memory, or another machine's.
const DISKLESS: &[&str] =
    &["tmpfs", "ramfs", "devtmpfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph"];

/// A disk, or a partition of one. Finding it opens nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockDevice {
    /// Model, serial, sizes.
    pub identity: Identity,
    /// Major and minor numbers of the whole disk and of all its partitions; the disk's is first.
    pub numbers: Vec<(u32, u32)>,
    /// Where a partition begins on its disk; `None` for a whole disk.
    pub starts_at: Option<Bytes>,
    /// Whether the driver takes requests from the kernel's queues; else it takes bios as they come
    /// (zram, most mappings and arrays).
    pub has_requests: bool,
}

/// Whether writing in a directory makes I/O on a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// It does not.
    Apart,
    /// It does: the directory's filesystem is on the disk, through any number of layers.
    Reaches,
    /// Nobody can tell: what the filesystem, of this kind, is on is not to be seen from here.
    Unknown(String),
}

impl BlockDevice {
    /// The block device that a path leads to.
    ///
    /// # Errors
    /// [`OpenError::NotABlockDevice`]; [`OpenError::System`] if the system does not tell enough.
    pub fn at(path: &Path) -> Result<Self, OpenError> {
        let found = |found| OpenError::NotABlockDevice { path: path.to_owned(), found };
        let facts = match fs::metadata(path) {
            Ok(facts) => facts,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(found("not there"));
            }
            Err(source) => return Err(system(path, source)),
        };
        let kind = facts.file_type();
        match (kind.is_block_device(), kind.is_file(), kind.is_dir()) {
            (true, ..) => {}
            (_, true, _) => return Err(found("a plain file")),
            (.., true) => return Err(found("a directory")),
            _ => return Err(found("neither a block device nor a file")),
        }
        Self::of(&Host::this_machine(), path, DeviceNumber::from_raw(facts.rdev()))
            .map_err(|doubt| system(&doubt.path, doubt.source))
    }

    fn of(host: &Host, path: &Path, number: DeviceNumber) -> Result<Self, Unreadable> {
        let node = host.node(number)?;
        let parent = node.parent()?;
        let starts_at = match parent {
            Some(_) => Some(Bytes(node.number_of("start")? * 512)),
            None => None,
        };
        let disk = parent.unwrap_or_else(|| node.clone());
        let mut numbers = vec![disk.number];
        numbers.extend(disk.partitions()?.iter().map(|partition| partition.number));
        Ok(Self {
            identity: identify::block_device(&node, path)?,
            numbers: numbers.iter().map(|number| (number.major, number.minor)).collect(),
            starts_at,
            has_requests: disk.directory.join("mq").exists(),
        })
    }

    /// Whether writing a file in `directory` makes I/O on this disk, any partition of it included.
    ///
    /// # Errors
    /// [`OpenError::System`] if the system does not tell enough.
    pub fn reached_from(&self, directory: &Path) -> Result<Reach, OpenError> {
        let host = Host::this_machine();
        let resolved = fs::canonicalize(directory).map_err(|source| system(directory, source))?;
        let below = Layers::of(&host).and_then(|layers| layers.below(&resolved));
        let below = below.map_err(|doubt| system(&doubt.path, doubt.source))?;
        let is_of_this =
            |node: &Node| self.numbers.contains(&(node.number.major, node.number.minor));
        Ok(match below {
            Below::Nodes(nodes) if nodes.iter().any(is_of_this) => Reach::Reaches,
            Below::Nodes(_) => Reach::Apart,
            Below::Unknown(filesystem) => Reach::Unknown(filesystem),
        })
    }
}

/// What stands on what on this machine.
struct Layers<'a> {
    host: &'a Host,
    mounts: Vec<Mount>,
    loops: Vec<AttachedLoop>,
}

/// Everything below a filesystem.
#[derive(Debug, PartialEq, Eq)]
enum Below {
    Nodes(Vec<Node>),
    /// There is a filesystem of this kind among it, and nobody tells what is below that.
    Unknown(String),
}

impl<'a> Layers<'a> {
    fn of(host: &'a Host) -> Result<Self, Unreadable> {
        Ok(Self { host, mounts: host.mounts()?, loops: attached_loops(host)? })
    }

    /// The devices below a resolved path: partitions with their disks, what mappings and arrays are
    /// built of, and what the file of a loop device is on.
    fn below(&self, path: &Path) -> Result<Below, Unreadable> {
        let mut found = Vec::new();
        let mut filesystems = Vec::new();
        let mut next = match self.mount_of(path) {
            Some(mount) => self.devices_of_mount(mount)?,
            None => Below::not_mounted(),
        };
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

    /// The mount that a path is on: of those at the nearest place above, the last. The number that
    /// `stat` gives would not do: btrfs has one for each subvolume, which no mount shows.
    fn mount_of(&self, path: &Path) -> Option<&Mount> {
        let above = self.mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
        above.max_by_key(|mount| mount.mount_point.components().count())
    }

    /// Adds devices and all below them to `found`; gives the filesystems that files below are on.
    fn descend(
        &self,
        mut nodes: Vec<Node>,
        found: &mut Vec<Node>,
    ) -> Result<Vec<DeviceNumber>, Unreadable> {
        let mut filesystems = Vec::new();
        while let Some(node) = nodes.pop() {
            if found.contains(&node) {
                continue;
            }
            nodes.extend(node.parent()?);
            nodes.extend(node.slaves()?);
            let backing = self.loops.iter().find(|(device, _)| *device == node);
            if let Some((_, backing)) = backing {
                match backing.block_device {
                    Some(number) => nodes.push(self.host.node(number)?),
                    None => filesystems.push(backing.file.0),
                }
            }
            found.push(node);
        }
        Ok(filesystems)
    }

    /// The devices that a filesystem is on itself.
    fn devices(&self, filesystem: DeviceNumber) -> Result<Below, Unreadable> {
        if filesystem.major != 0 {
            return Ok(Below::Nodes(vec![self.host.node(filesystem)?]));
        }
        let mount = self.mounts.iter().find(|mount| mount.number == filesystem);
        mount.map_or_else(|| Ok(Below::not_mounted()), |mount| self.devices_of_mount(mount))
    }

    fn devices_of_mount(&self, mount: &Mount) -> Result<Below, Unreadable> {
        if DISKLESS.contains(&mount.filesystem.as_str()) {
            return Ok(Below::Nodes(Vec::new()));
        }
        let numbers = devices_of(self.host, mount)?;
        if numbers.is_empty() {
            return Ok(Below::Unknown(mount.filesystem.clone()));
        }
        let nodes = numbers.iter().map(|number| self.host.node(*number));
        Ok(Below::Nodes(nodes.collect::<Result<_, _>>()?))
    }
}

impl Below {
    fn not_mounted() -> Self {
        Self::Unknown("a kind that is not mounted here".to_owned())
    }
}

fn system(path: &Path, source: io::Error) -> OpenError {
    OpenError::System { path: path.to_owned(), doing: "looking at it", source }
}

#[cfg(test)]
#[path = "block_device_tests.rs"]
mod tests;
