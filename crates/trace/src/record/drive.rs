//! The drive that is recorded: whether it is still there, and which disks its requests go to.
//!
//! A drive that goes away makes no more events, as one that nobody asks does; only sysfs tells them
//! apart. A disk of NVMe's own multipathing makes no requests itself: it hands every operation to
//! the hidden disk of one of its paths, whose number stands in the events of requests and, with the
//! names, in `/proc/diskstats` alone.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Target;
use crate::RecordError;

/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A drive that is looked at now and then.
#[derive(Debug)]
pub(super) struct Drive {
    name: String,
    /// Its directory of sysfs.
    directory: PathBuf,
    diskstats: PathBuf,
    first: State,
    /// Its disk, if that has requests on the disks of its paths only.
    head: Option<Head>,
    numbers: Vec<(u32, u32)>,
    looked: Instant,
}

/// What changes when a drive goes away or another comes in its place; what the kernel does not tell
/// is `None` always.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    has_blocks: bool,
    /// Counts up with each disk, medium and attached file (Linux 5.15).
    disk_sequence: Option<String>,
    /// Of a partition.
    start: Option<String>,
}

/// A disk of NVMe's multipathing, by the numbers in its name: `nvme1n2` is (1, 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    subsystem: u32,
    namespace: u32,
}

impl Drive {
    /// The drive of a target, on the machine whose sysfs and proc these are.
    pub(super) fn find(target: &Target, sys: &Path, proc: &Path) -> Self {
        let of = |(major, minor): (u32, u32)| sys.join(format!("dev/block/{major}:{minor}"));
        let disk = target.numbers.first().map(|number| of(*number));
        let name = disk.and_then(|disk| fs::canonicalize(disk).ok());
        let name = name.as_deref().and_then(Path::file_name).unwrap_or_default();
        let head = Head::of_name(&name.to_string_lossy()).filter(|_| !target.has_requests);
        let directory = of(target.number);
        let mut drive = Self {
            name: target.name.clone(),
            first: State::of(&directory).unwrap_or(State::UNKNOWN),
            directory,
            diskstats: proc.join("diskstats"),
            head,
            numbers: target.numbers.clone(),
            looked: Instant::now(),
        };
        drive.find_paths();
        drive
    }

    /// Whether its requests are those of the disks of its paths.
    pub(super) fn has_paths(&self) -> bool {
        self.head.is_some()
    }

    /// The disks that its events name.
    pub(super) fn numbers(&self) -> &[(u32, u32)] {
        &self.numbers
    }

    /// Looks after it once a second; tells whether its numbers have changed.
    ///
    /// # Errors
    /// [`RecordError::DriveGone`].
    pub(super) fn look(&mut self) -> Result<bool, RecordError> {
        if self.looked.elapsed() < LOOK_EVERY {
            return Ok(false);
        }
        self.looked = Instant::now();
        match self.is_there() {
            true => Ok(self.find_paths()),
            false => Err(RecordError::DriveGone { name: self.name.clone() }),
        }
    }

    /// Whether it is the same as at the beginning; any doubt leaves it there.
    fn is_there(&self) -> bool {
        let Some(now) = State::of(&self.directory) else { return false };
        // A reader may have been empty when the recording began.
        let has_blocks = now.has_blocks || !self.first.has_blocks;
        let is_same = |then: &Option<String>, now: &Option<String>| match (then, now) {
            (Some(then), Some(now)) => then == now,
            _ => true,
        };
        let is_same_disk = is_same(&self.first.disk_sequence, &now.disk_sequence)
            || (!self.first.has_blocks && now.has_blocks);
        has_blocks && is_same_disk && is_same(&self.first.start, &now.start)
    }

    /// Looks which disks its paths have; tells whether that has changed.
    fn find_paths(&mut self) -> bool {
        let Some(head) = self.head else { return false };
        // What cannot be read now is read the next time.
        let Ok(diskstats) = fs::read_to_string(&self.diskstats) else { return false };
        let numbers = head.paths(&diskstats);
        let has_changed = numbers != self.numbers;
        self.numbers = numbers;
        has_changed
    }
}

impl State {
    const UNKNOWN: Self = Self { has_blocks: false, disk_sequence: None, start: None };

    /// `None` if there is no such device any more.
    fn of(directory: &Path) -> Option<Self> {
        let text = |name: &str| fs::read_to_string(directory.join(name));
        let trimmed = |text: String| text.trim().to_owned();
        let size = match text("size") {
            Ok(size) => trimmed(size),
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(_) => String::new(),
        };
        // Behind the link, a partition's directory is in its disk's.
        let sequence = text("diskseq").or_else(|_| text("../diskseq"));
        Some(Self {
            has_blocks: size != "0",
            disk_sequence: sequence.ok().map(trimmed),
            start: text("start").ok().map(trimmed),
        })
    }
}

impl Head {
    fn of_name(name: &str) -> Option<Self> {
        let (subsystem, namespace) = name.strip_prefix("nvme")?.split_once('n')?;
        Some(Self { subsystem: number(subsystem)?, namespace: number(namespace)? })
    }

    /// The numbers of its paths' disks, which are called `nvme1c0n2`, `nvme1c1n2` and so on.
    fn paths(self, diskstats: &str) -> Vec<(u32, u32)> {
        let path = |line: &str| {
            let mut words = line.split_whitespace();
            let (major, minor, name) = (words.next()?, words.next()?, words.next()?);
            let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
            let (controller, namespace) = rest.split_once('n')?;
            number(controller)?;
            let own = Self { subsystem: number(subsystem)?, namespace: number(namespace)? };
            if own == self { Some((number(major)?, number(minor)?)) } else { None }
        };
        let mut paths: Vec<_> = diskstats.lines().filter_map(path).collect();
        paths.sort_unstable();
        paths
    }
}

/// Digits only.
fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use writecliff_device::Bytes;

    /// Linux 6.1 with a namespace on two controllers, beside others.
    const DISKSTATS: &str = "\
 259       0 nvme1c1n1 3 0 24 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       1 nvme2n1 3 0 24 1 0 0 0 0 0 4 1 0 0 0 0 0 0
 259       3 nvme1c0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       2 nvme1n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       4 nvme1n1p1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       5 nvme1c0n11 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       6 nvme11c0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
";

    /// A machine of plain files with a disk 259:2 and its partition 259:4.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(disk: &str) -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            let directory = machine.path("devices").join(disk);
            let partition = directory.join("part");
            for (directory, number) in [(&directory, "259:2"), (&partition, "259:4")] {
                fs::create_dir_all(directory).unwrap();
                fs::write(directory.join("size"), "2048\n").unwrap();
                fs::create_dir_all(machine.path("dev/block")).unwrap();
                symlink(directory, machine.path("dev/block").join(number)).unwrap();
            }
            fs::write(directory.join("diskseq"), "7\n").unwrap();
            fs::write(partition.join("start"), "64\n").unwrap();
            fs::write(machine.path("diskstats"), DISKSTATS).unwrap();
            machine
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn set(&self, number: &str, file: &str, value: &str) {
            fs::write(self.path("dev/block").join(number).join(file), value).unwrap();
        }

        fn find(&self, number: (u32, u32), has_requests: bool) -> Drive {
            let numbers = vec![(259, 2), (259, 4)];
            let (name, sectors, size) = ("x".to_owned(), None, Bytes(0));
            let target = Target { name, number, numbers, sectors, size, has_requests };
            Drive::find(&target, self.0.path(), self.0.path())
        }
    }

    #[test]
    fn a_multipath_disk_is_recorded_on_the_disks_of_its_paths() {
        let machine = Machine::new("nvme1n1");
        let mut drive = machine.find((259, 4), false);
        assert!(drive.has_paths());
        assert_eq!(drive.numbers(), [(259, 0), (259, 3)]);
        fs::write(machine.path("diskstats"), " 259 9 nvme1c4n1 0\n").unwrap();
        assert!(drive.find_paths() && !drive.find_paths());
        assert_eq!(drive.numbers(), [(259, 9)]);
        // Others have requests, or bios, of their own.
        for (disk, has_requests) in [("nvme1n1", true), ("md127", false), ("nvme1c0n1", false)] {
            let drive = Machine::new(disk).find((259, 2), has_requests);
            assert_eq!((drive.has_paths(), drive.numbers()), (false, &[(259, 2), (259, 4)][..]));
        }
    }

    #[test]
    fn a_drive_is_gone_that_is_not_there_has_no_blocks_or_is_another() {
        for number in [(259, 2), (259, 4)] {
            let name = format!("{}:{}", number.0, number.1);
            let find = || {
                let machine = Machine::new("sda");
                (machine.find(number, true), machine)
            };
            let (drive, machine) = find();
            machine.set(&name, "size", "4096\n");
            assert!(drive.is_there(), "it has grown");
            machine.set(&name, "size", "0\n");
            assert!(!drive.is_there());
            let (drive, machine) = find();
            machine.set("259:2", "diskseq", "8\n");
            assert!(!drive.is_there(), "another disk");
            let (drive, machine) = find();
            fs::remove_file(machine.path("dev/block").join(&name)).unwrap();
            assert!(!drive.is_there());
        }
        let machine = Machine::new("sda");
        let drive = machine.find((259, 4), true);
        machine.set("259:4", "start", "128\n");
        assert!(!drive.is_there(), "another partition");
    }

    #[test]
    fn a_medium_may_come_into_an_empty_reader() {
        let machine = Machine::new("sda");
        machine.set("259:2", "size", "0\n");
        let drive = machine.find((259, 2), true);
        assert!(drive.is_there());
        machine.set("259:2", "size", "2048\n");
        machine.set("259:2", "diskseq", "8\n");
        assert!(drive.is_there());
    }
}
