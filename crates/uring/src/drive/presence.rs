//! Whether a drive is still there, and still what it was. Nothing here waits for it: its size and its entries in sysfs are
//! the kernel's own memory.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

use writecliff_device::{Bytes, DeviceTime, Nanos};

use crate::host::ioctl;
use crate::host::sysfs::Node;

/// Somebody looks so often while nothing else tells how the drive is.
const PERIOD: Nanos = Nanos::from_secs(1);
/// What the drivers of SCSI and NVMe call a device that takes no more I/O.
const GONE_STATES: &[&str] =
    &["offline", "transport-offline", "cancel", "del", "deleting", "deleted", "dead"];

/// Why a drive cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It is gone, as this shows.
    Gone(String),
    /// It has another size.
    Resized { was: Bytes, now: Bytes },
    /// It takes no writes.
    WriteProtected,
}

/// Where a drive would be missed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence {
    /// The device and its whole disk, in sysfs.
    entries: Vec<PathBuf>,
    /// What its driver says of it.
    state: Option<PathBuf>,
    /// As it was opened; `None` for a file, which may have any length.
    size: Option<Bytes>,
    /// Whether it took writes then.
    is_writable: bool,
    looked: DeviceTime,
}

impl Presence {
    /// Of a block device.
    pub(crate) fn of(node: &Node, disk: &Node) -> Self {
        let mut entries = vec![node.directory.clone()];
        if disk.directory != node.directory {
            entries.push(disk.directory.clone());
        }
        let state = Some(disk.directory.join("device/state")).filter(|state| state.is_file());
        Self { entries, state, size: None, is_writable: false, looked: DeviceTime(0) }
    }

    /// Notes how large the opened device is, and whether it takes writes; a file's size tells nothing.
    pub(crate) fn note(&mut self, opened: &File) {
        if !self.entries.is_empty() {
            self.size = ioctl::size(opened).ok();
            self.is_writable = !ioctl::is_read_only(opened);
        }
    }

    /// What has become of it, if it cannot be used any more; looks once a second however often it is
    /// asked.
    pub(crate) fn look_sometimes(&mut self, opened: &File, now: DeviceTime) -> Option<Loss> {
        if now.since(self.looked) < PERIOD {
            return None;
        }
        self.looked = now;
        self.missing(opened)
    }

    /// What has become of it, if it cannot be used any more.
    pub(crate) fn missing(&self, opened: &File) -> Option<Loss> {
        let gone = || self.unlisted().or_else(|| self.given_up()).map(Loss::Gone);
        self.resized(opened).or_else(gone).or_else(|| self.protected(opened))
    }

    fn resized(&self, opened: &File) -> Option<Loss> {
        let was = self.size?;
        match ioctl::size(opened) {
            Ok(now) if now == was => None,
            // A drive that is unplugged has no size at first, and then no entries.
            Ok(now @ Bytes::ZERO) => Some(Loss::Gone(format!(
                "its size is {} now, and was {}",
                now.exact(),
                was.exact()
            ))),
            Ok(now) => Some(Loss::Resized { was, now }),
            Err(error) => Some(Loss::Gone(format!("asked for its size, the system says: {error}"))),
        }
    }

    fn protected(&self, opened: &File) -> Option<Loss> {
        (self.is_writable && ioctl::is_read_only(opened)).then_some(Loss::WriteProtected)
    }

    fn unlisted(&self) -> Option<String> {
        let is_missing = |entry: &&PathBuf| {
            fs::symlink_metadata(entry).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let missing = self.entries.iter().find(is_missing)?;
        Some(format!("the system no longer lists it ({})", missing.display()))
    }

    fn given_up(&self) -> Option<String> {
        let state = fs::read_to_string(self.state.as_ref()?).ok()?;
        let state = state.trim();
        GONE_STATES.contains(&state).then(|| format!("its driver calls it {state}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::sysfs::Host;

    /// A SCSI disk of plain files with one partition.
    fn disk() -> (tempfile::TempDir, Node) {
        let directory = tempfile::TempDir::new().unwrap();
        let sys = directory.path().join("sys");
        let disk = sys.join("dev/block/8:0");
        for (name, text) in [
            ("dev", "8:0\n"),
            ("device/state", "running\n"),
            ("p1/dev", "8:1\n"),
            ("p1/partition", "1\n"),
        ] {
            let file = disk.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let (proc, dev) = (sys.join("proc"), sys.join("dev"));
        let node = Host { sys, proc, dev }.node("8:0".parse().unwrap()).unwrap();
        (directory, node)
    }

    #[test]
    fn a_drive_is_gone_when_its_driver_or_the_system_says_so() {
        let (_directory, disk) = disk();
        let partition = disk.partitions().unwrap().remove(0);
        let presence = Presence::of(&partition, &disk);
        let opened = File::open("/dev/null").unwrap();
        assert_eq!(presence.missing(&opened), None);
        fs::write(disk.directory.join("device/state"), "blocked\n").unwrap();
        assert_eq!(presence.missing(&opened), None);
        fs::write(disk.directory.join("device/state"), "offline\n").unwrap();
        let gone = |presence: &Presence| match presence.missing(&opened) {
            Some(Loss::Gone(evidence)) => evidence,
            other => panic!("{other:?}"),
        };
        assert_eq!(gone(&presence), "its driver calls it offline");
        fs::remove_dir_all(&partition.directory).unwrap();
        assert!(gone(&presence).contains("no longer lists it"));
    }

    #[test]
    fn a_file_may_have_any_length_and_is_never_missed() {
        let mut presence = Presence::default();
        let file = tempfile::tempfile().unwrap();
        presence.note(&file);
        assert_eq!(presence.look_sometimes(&file, DeviceTime(0) + PERIOD), None);
    }

    #[test]
    fn whoever_asks_all_the_time_gets_one_look_a_second() {
        let (_directory, disk) = disk();
        let mut presence = Presence::of(&disk, &disk);
        fs::remove_dir_all(&disk.directory).unwrap();
        let opened = File::open("/dev/null").unwrap();
        let at = |millis| DeviceTime(0) + Nanos::from_millis(millis);
        let looks =
            [999, 1000, 1999, 2000].map(|t| presence.look_sometimes(&opened, at(t)).is_some());
        assert_eq!(looks, [false, true, false, true]);
    }
}
