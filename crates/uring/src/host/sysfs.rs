//! Block devices as sysfs shows them: what is part of what, and what stands on what.
//!
//! Everything hangs below one [`Host`], so that tests can build a machine of plain files. A file
//! that is not there means "no such thing"; one that cannot be read is [`Unreadable`], which the
//! guard takes for a refusal.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

/// The kernel's number of a block device, or of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceNumber {
    /// From the encoding that `stat` uses.
    pub(crate) fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let (major, minor) = text.split_once(':').ok_or(ErrorKind::InvalidData)?;
        let number = |digits: &str| digits.parse().map_err(|_| ErrorKind::InvalidData);
        Ok(Self { major: number(major)?, minor: number(minor)? })
    }
}

/// Something that the decision needs and that could not be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
    /// What it would have told.
    pub(crate) stake: &'static str,
}

impl Unreadable {
    pub(crate) fn new(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self {
            path: path.into(),
            source: source.into(),
            stake: "what this drive is and who uses it",
        }
    }

    /// With a word for what it would have told.
    pub(crate) fn at_stake(self, stake: &'static str) -> Self {
        Self { stake, ..self }
    }
}

/// The places where a machine tells of itself.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) sys: PathBuf,
    pub(crate) proc: PathBuf,
    pub(crate) dev: PathBuf,
}

impl Host {
    /// The machine that this program runs on.
    pub(crate) fn this_machine() -> Self {
        Self { sys: "/sys".into(), proc: "/proc".into(), dev: "/dev".into() }
    }

    /// The block device of a number.
    pub(crate) fn node(&self, number: DeviceNumber) -> Result<Node, Unreadable> {
        Node::at(&self.sys.join(format!("dev/block/{number}")))
    }

    /// The block device whose node below `/dev` would have this path.
    pub(crate) fn node_by_name(&self, path: &Path) -> Option<Node> {
        let name = path.strip_prefix(&self.dev).ok()?.to_str()?.replace('/', "!");
        let number =
            fs::read_to_string(self.sys.join("class/block").join(name).join("dev")).ok()?;
        self.node(number.trim().parse().ok()?).ok()
    }

    /// All block devices but partitions, by name.
    pub(crate) fn disks(&self) -> Result<Vec<Node>, Unreadable> {
        linked_nodes(&self.sys.join("block"))
    }

    /// All block devices, disks and partitions.
    pub(crate) fn block_devices(&self) -> Result<Vec<Node>, Unreadable> {
        let mut nodes = Vec::new();
        for disk in self.disks()? {
            if let Some(partitions) = disk.unless_it_goes(Node::partitions)? {
                nodes.push(disk);
                nodes.extend(partitions);
            }
        }
        Ok(nodes)
    }

    /// The devices of each btrfs filesystem in use; none on a kernel without btrfs.
    pub(crate) fn btrfs_filesystems(&self) -> Result<Vec<Vec<DeviceNumber>>, Unreadable> {
        let all = self.sys.join("fs/btrfs");
        if !all.exists() {
            return Ok(Vec::new());
        }
        let mut filesystems = Vec::new();
        for filesystem in entries(&all)? {
            let devices = filesystem.join("devices");
            if devices.exists() {
                let nodes = linked_nodes(&devices)?;
                filesystems.push(nodes.iter().map(|node| node.number).collect());
            }
        }
        Ok(filesystems)
    }

    /// Where the node of a device is expected.
    pub(crate) fn path_of(&self, node: &Node) -> PathBuf {
        self.dev.join(&node.name)
    }

    /// A mapping's path by the name that it was given, which leads to it after the next boot as
    /// well; its number then is another. `None` if it is no mapping.
    pub(crate) fn lasting_path_of(&self, node: &Node) -> Option<PathBuf> {
        let name = node.attribute("dm/name").ok().flatten()?;
        let path = self.dev.join("mapper").join(name);
        let facts = fs::metadata(&path).ok()?;
        (DeviceNumber::from_raw(facts.rdev()) == node.number).then_some(path)
    }

    /// What people call a device: a mapping by its name, which stays the same from boot to boot.
    pub(crate) fn name_of(&self, node: &Node) -> String {
        self.lasting_path_of(node).unwrap_or_else(|| self.path_of(node)).display().to_string()
    }
}

/// A device is gone for good so long after it began to go.
const GOING: Duration = Duration::from_millis(500);

/// One block device: a whole disk or a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) number: DeviceNumber,
    /// As below `/dev`.
    pub(crate) name: String,
    /// Where sysfs has it.
    pub(crate) directory: PathBuf,
}

impl Node {
    fn at(path: &Path) -> Result<Self, Unreadable> {
        let directory = fs::canonicalize(path).map_err(|e| Unreadable::new(path, e))?;
        let file = directory.join("dev");
        let text = fs::read_to_string(&file).map_err(|e| Unreadable::new(&file, e))?;
        let number = text.trim().parse();
        let name = directory.file_name().unwrap_or_default();
        Ok(Self {
            number: number.map_err(|e| Unreadable::new(file, e))?,
            // The kernel writes a slash in a device name (cciss/c0d0) as '!'.
            name: name.to_string_lossy().replace('!', "/"),
            directory,
        })
    }

    /// Whether this is a part of a disk.
    pub(crate) fn is_partition(&self) -> bool {
        self.directory.join("partition").exists()
    }

    /// Whether this is a disk that stands on no other device.
    pub(crate) fn is_whole_disk(&self) -> bool {
        !self.is_partition() && self.slaves().is_ok_and(|below| below.is_empty())
    }

    /// The disk that this is a partition of.
    pub(crate) fn parent(&self) -> Result<Option<Self>, Unreadable> {
        match self.directory.parent() {
            Some(disk) if self.is_partition() => Self::at(disk).map(Some),
            _ => Ok(None),
        }
    }

    /// The whole disk that this is a part of; itself, if it is one.
    pub(crate) fn disk(&self) -> Result<Self, Unreadable> {
        Ok(self.parent()?.unwrap_or_else(|| self.clone()))
    }

    /// Its length in bytes.
    pub(crate) fn size(&self) -> Result<u64, Unreadable> {
        Ok(self.number_of("size")? * 512)
    }

    /// The name that the drive has in the whole world, whatever path leads to it and whatever the
    /// system calls it: NVMe's EUI-64, NGUID or UUID, SCSI's and ATA's page 83h, the UUID of a
    /// mapping, an array or a memory card. A partition has its disk's.
    pub(crate) fn world_wide_name(&self) -> Result<Option<String>, Unreadable> {
        let disk = self.disk()?;
        for name in ["wwid", "device/wwid", "dm/uuid", "md/uuid", "device/cid"] {
            match disk.attribute(name) {
                Ok(None) => {}
                // SCSI's way to say that its page 83h holds no name.
                Err(doubt) if Errno::from_io_error(&doubt.source) == Some(Errno::INVAL) => {}
                told => return told,
            }
        }
        Ok(None)
    }

    /// The partitions that the kernel knows on this disk, by name.
    pub(crate) fn partitions(&self) -> Result<Vec<Self>, Unreadable> {
        let mut found = Vec::new();
        for path in entries(&self.directory)? {
            if path.join("partition").exists() {
                found.extend(Self::at_if_there(&path)?);
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The devices that are built on this one: arrays, volumes, mappings.
    pub(crate) fn holders(&self) -> Result<Vec<Self>, Unreadable> {
        linked_nodes(&self.directory.join("holders"))
    }

    /// The devices that this one is built on; a partition has none of its own.
    pub(crate) fn slaves(&self) -> Result<Vec<Self>, Unreadable> {
        if self.is_partition() {
            return Ok(Vec::new());
        }
        linked_nodes(&self.directory.join("slaves"))
    }

    /// A text attribute, trimmed; `None` if there is none or it is empty.
    pub(crate) fn attribute(&self, name: &str) -> Result<Option<String>, Unreadable> {
        let bytes = self.attribute_bytes(name)?;
        Ok(bytes.and_then(|bytes| readable_text(&bytes)))
    }

    /// An attribute as it is; `None` if there is none.
    pub(crate) fn attribute_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let path = self.directory.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(Unreadable::new(path, error)),
        }
    }

    /// A number that every block device has.
    pub(crate) fn number_of(&self, name: &str) -> Result<u64, Unreadable> {
        let text = self.attribute(name)?.unwrap_or_default();
        let path = || self.directory.join(name);
        let parsed = text.parse();
        parsed.map_err(|_| Unreadable::new(path(), ErrorKind::InvalidData))
    }

    /// The nearest directory above that has `marker`: a USB device, say.
    pub(crate) fn ancestor_with(&self, marker: &str) -> Option<PathBuf> {
        let mut above = self.directory.ancestors();
        above.find(|directory| directory.join(marker).exists()).map(Path::to_owned)
    }

    /// What a look at it tells; `None` if it goes away meanwhile. Devices come and go, and one that is
    /// going has lost what it tells of itself a moment before its directory.
    pub(crate) fn unless_it_goes<T>(
        &self,
        look: impl Fn(&Self) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, Unreadable> {
        let since = Instant::now();
        loop {
            match look(self) {
                Ok(told) => return Ok(Some(told)),
                Err(_) if !self.directory.exists() => return Ok(None),
                Err(doubt) if since.elapsed() > GOING => return Err(doubt),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn at_if_there(path: &Path) -> Result<Option<Self>, Unreadable> {
        match Self::at(path) {
            Ok(node) => Ok(Some(node)),
            Err(error) if absent(&error.source) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Bytes of a drive's identity as text: NULs and blanks around it dropped. Whoever made the drive
/// chose them: what could steer a terminal, or turn a line round, becomes a question mark.
pub(crate) fn readable_text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}')
    };
    (!text.is_empty()).then(|| text.chars().map(|c| if steers(c) { '?' } else { c }).collect())
}

/// Whether a thing is not there, or has just gone away.
pub(crate) fn absent(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
        || matches!(Errno::from_io_error(error), Some(Errno::NXIO | Errno::NODEV))
}

/// The devices that a directory of links names, without those that go away meanwhile.
fn linked_nodes(directory: &Path) -> Result<Vec<Node>, Unreadable> {
    let mut found = Vec::new();
    for path in entries(directory)? {
        found.extend(Node::at_if_there(&path)?);
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let unreadable = |error| Unreadable::new(directory, error);
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.file_name() != Some(OsStr::new("subsystem")) {
            paths.push(path);
        }
    }
    Ok(paths)
}
