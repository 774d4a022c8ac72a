//! A block device as the kernel's tracing knows it, and which disks a file's writing reaches.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use writecliff_device::Bytes;

use crate::drive::identity::{self, Identity};
use crate::guard::error::OpenError;
use crate::host::layers::{Below, Layers};
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable};

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
            identity: identity::block_device(&node, path)?,
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

fn system(path: &Path, source: io::Error) -> OpenError {
    OpenError::System { path: path.to_owned(), doing: "looking at it", source }
}
