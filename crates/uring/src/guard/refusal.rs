//! Why a drive is refused: what was found, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use writecliff_admin::{Facts, PASSWORD, UnfinishedPurge};
use writecliff_device::Bytes;

use crate::guard::extent::Extent;
use crate::guard::holders::User;
use crate::guard::twins::Sameness;
use crate::host::sysfs::Unreadable;

/// One thing that was found about a drive and that makes destroying its data wrong or impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is nothing at the path.
    #[error(
        "there is nothing at this path; check its spelling, `writecliff drives` lists what is here"
    )]
    Missing,
    /// The path is a directory.
    #[error("it is a directory; name a block device or a file in it")]
    Directory,
    /// The path is a character device, like a terminal or an NVMe controller.
    #[error(
        "it is a character device; name a block device (an NVMe drive is /dev/nvme0n1, not /dev/nvme0)"
    )]
    CharacterDevice,
    /// The path is a socket, a pipe or the like.
    #[error("it is neither a block device nor a regular file; name one of these")]
    NotADrive,
    /// The system does not let this user open it.
    #[error("opening it was not permitted ({error}); run as root, or take it off write protection")]
    NotPermitted {
        /// What the system said.
        error: String,
    },
    /// The device or its filesystem is write-protected.
    #[error(
        "{device} is read-only; take it off write protection (`blockdev --setrw`, a switch on the card, a remount), or run a test that only reads"
    )]
    ReadOnly {
        /// The device or file.
        device: PathBuf,
    },
    /// Another process or the kernel has it open exclusively.
    #[error(
        "it is in use: the kernel or another process holds it exclusively; find out who (`lsblk`, `fuser -v`, another writecliff?) and stop that first"
    )]
    Busy,
    /// Another process has it, a partition of it or another path to it open or mapped, or writes to
    /// what it stands on.
    #[error("{_0}; if this is the right drive, stop that first")]
    InUse(User),
    /// Another process holds a lock on it.
    #[error(
        "another process holds a lock on it, as virtual machines and servers do; find out who \
         (`lslocks`, `fuser -v`) and stop that first"
    )]
    Locked,
    /// There are processes that may have it open and that this user may not look into.
    #[error(
        "{processes} process{} could not be looked into and may have it open; run as root",
        if *processes == 1 { "" } else { "es" }
    )]
    UnseenProcesses {
        /// How many.
        processes: usize,
    },
    /// The kernel gives it to another machine.
    #[error(
        "{} is exported to other machines ({}); disable that first, if nobody uses it",
        device.display(), place.display()
    )]
    Exported {
        /// What is exported.
        device: PathBuf,
        /// Where that is configured.
        place: PathBuf,
    },
    /// The kernel gives something to another machine that may be this.
    #[error(
        "{} exports {} to other machines, which leads nowhere here: it may be this drive by a name that \
         it had; disable that first, or make the name lead to it again",
        place.display(), device.display()
    )]
    ExportOfUnknown {
        /// What is exported, by its name of then.
        device: PathBuf,
        /// Where that is configured.
        place: PathBuf,
    },
    /// It is open, and no process shows by whom.
    #[error(
        "something has {device} open that no process shows: a descriptor on its way, a file registered \
         with io_uring, the kernel itself (a server, an accounting of processes); find out and stop that \
         first"
    )]
    HeldUnseen {
        /// The device or file.
        device: String,
    },
    /// Somebody else writes to it: the kernel counts more than this program's writes.
    #[error(
        "{device} was written or trimmed by somebody else: {} by the kernel's count, of which this \
         program knows nothing; find out who (`fuser -v`, `lsof`, another machine on the same drive) and \
         stop that first", bytes.exact()
    )]
    WrittenByOthers {
        /// The disk.
        device: String,
        /// How much.
        bytes: Bytes,
    },
    /// Not all processes of the machine can be seen from here, and nobody has said that none matters.
    #[error(
        "not all processes of this machine can be seen from here ({horizon}), so that nobody can tell \
         whether one has it open; run outside, or give the container the machine's processes \
         (--pid=host), or pass --others-not-visible if none of them uses it"
    )]
    OthersNotVisible {
        /// Why.
        horizon: String,
    },
    /// Another device, which is not built on it, lies on the same blocks.
    #[error(
        "{other} lies on the same blocks of {device}{}; if its data may go, remove it first \
         (`dmsetup remove`, `lvremove`)",
        mounted_at(mount_points)
    )]
    SharesBlocks {
        /// What both stand on.
        device: String,
        /// The other device.
        other: String,
        /// Where that is mounted.
        mount_points: Vec<PathBuf>,
    },
    /// Another volume of its thin pool is in use, and would have no space left.
    #[error(
        "{other} takes its space from {pool} as well{}, and a test may use it up; unmount that \
         first, or use a volume that has its own space",
        mounted_at(mount_points)
    )]
    SharesPool {
        /// The pool.
        pool: String,
        /// The other volume.
        other: String,
        /// Where that is mounted.
        mount_points: Vec<PathBuf>,
    },
    /// Why the use of another device counts.
    #[error("{path} {} as {device}: {sameness}", match sameness {
        Sameness::WorldWideName => "leads to the same drive",
        Sameness::Contents { .. } => "may be the same drive",
    })]
    OtherPath {
        /// The one that is judged, or that it stands on.
        device: String,
        /// The other.
        path: String,
        /// Why it is taken for the same drive.
        sameness: Sameness,
    },
    /// It takes writes only in order within each zone.
    #[error(
        "{device} is a zoned drive ({model}): it takes writes only in order within a zone, and the \
         tests write at random; use another drive, or put dm-zoned on it"
    )]
    Zoned {
        /// The device.
        device: String,
        /// `host-managed` or `host-aware`.
        model: String,
    },
    /// It does not answer.
    #[error(
        "it did not answer within {} s: nobody can tell what it holds; check its cabling and the \
         kernel's log (`dmesg`)",
        seconds
    )]
    NoAnswer {
        /// How long was waited.
        seconds: u64,
    },
    /// Its own lock is closed: what it shows is not what it holds.
    #[error(
        "{} is locked ({lock}): what it shows is not what it holds; unlock it, or, if its data may go, \
         {}",
        device.display(), lock.way_out(device)
    )]
    DriveLocked {
        /// The drive.
        device: PathBuf,
        /// Which of its locks.
        lock: DriveLock,
    },
    /// A purge by the drive's own command was broken off, or is under way.
    #[error(
        "{}; `writecliff purge {}` brings that to its end first",
        in_words(*purge), device.display()
    )]
    UnfinishedPurge {
        /// The drive.
        device: PathBuf,
        /// How it stands.
        purge: UnfinishedPurge,
    },
    /// A filesystem on it, its parent, a partition or a neighbour partition is mounted.
    #[error("{device} is mounted at {}; if this is the right drive, run `umount {}` first", mount_point.display(), mount_point.display())]
    Mounted {
        /// What is mounted.
        device: String,
        /// Where.
        mount_point: PathBuf,
    },
    /// It is swapped on.
    #[error("{device} is swap in use; if this is the right drive, run `swapoff {device}` first")]
    Swap {
        /// The device or file.
        device: String,
    },
    /// An array, volume or mapping is built on it.
    #[error(
        "{device} is part of {holder} (RAID, LVM, encryption or another mapping{}); stop that first (`mdadm --stop`, `vgchange --activate n`, `cryptsetup close`, `dmsetup remove`)",
        mounted_at(mount_points)
    )]
    Held {
        /// What is held.
        device: String,
        /// What is built on it.
        holder: String,
        /// Where that is mounted.
        mount_points: Vec<PathBuf>,
    },
    /// The running system is on it.
    #[error("{device} carries the running system ({}); use another drive", mount_point.display())]
    SystemDrive {
        /// The device.
        device: String,
        /// The part of the system that is on it.
        mount_point: PathBuf,
    },
    /// A loop device stands on it.
    #[error(
        "{device} is the backing of {loop_device}; if that is not in use, run `losetup --detach {loop_device}` first"
    )]
    BacksLoop {
        /// The device or file below.
        device: String,
        /// The loop device.
        loop_device: String,
    },
    /// The kernel knows partitions on it.
    #[error("it has partitions: {}; if they may go, erase them from {device}, otherwise use another drive", partitions.join(", "))]
    Partitioned {
        /// The disk.
        device: String,
        /// Their names.
        partitions: Vec<String>,
    },
    /// It bears the mark of a filesystem, partition table, array or the like.
    #[error(
        "{device} has {what} (at byte {offset}{}); if it may go, erase it, otherwise use another drive",
        and_more(*more)
    )]
    Signature {
        /// Where the mark is.
        device: String,
        /// What is marked.
        what: &'static str,
        /// Where exactly, first.
        offset: u64,
        /// In how many places besides.
        more: usize,
        /// What to zero; nothing where that is not for the user of a partition to do.
        extents: Vec<Extent>,
    },
    /// Another program recognises something that the guard's own marks do not.
    #[error(
        "{device} has what {tool} calls {what}{}; if it may go, erase it, otherwise use another drive",
        at_byte(*offset)
    )]
    OtherTool {
        /// The device or file.
        device: String,
        /// The program.
        tool: &'static str,
        /// The program's word.
        what: String,
        /// Where, if it tells.
        offset: Option<u64>,
        /// What to zero.
        extents: Vec<Extent>,
    },
    /// Another program that recognises filesystems gave no answer, so that it may be any.
    #[error("{tool} could not say what {device} holds ({problem}); run `{tool}` on it to see why")]
    ToolFailed {
        /// The device or file.
        device: String,
        /// The program.
        tool: &'static str,
        /// What went wrong.
        problem: String,
    },
    /// A part of it that would tell what it holds cannot be read.
    #[error(
        "bytes {offset} to {} of {device} cannot be read ({error}), so nobody can tell what they hold; if all its data may go, zero them, which makes most drives replace a bad block, otherwise use another drive",
        offset + length.saturating_sub(1)
    )]
    BadBlock {
        /// The device or file.
        device: String,
        /// The first byte that cannot be read.
        offset: u64,
        /// How many.
        length: u64,
        /// What the system said.
        error: String,
        /// What to zero; nothing where that is not for the user of a partition to do.
        extents: Vec<Extent>,
    },
    /// It is too small for a test to mean anything.
    #[error("it has {}, a test needs at least {}; use a larger drive or file (`truncate --size 1G FILE`)", capacity.exact(), at_least.exact())]
    TooSmall {
        /// Its size.
        capacity: Bytes,
        /// What is needed.
        at_least: Bytes,
    },
    /// Something that the judgment needs could not be read, so it may be anything.
    #[error(
        "{} could not be read ({error}), and with it {stake}: this drive cannot be shown to be unused; \
         make it readable (run as root, mount /proc and /sys)", path.display()
    )]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// What the system said.
        error: String,
        /// What it would have told.
        stake: &'static str,
    },
}

/// A lock that a drive has by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DriveLock {
    /// The password of ATA security.
    AtaSecurity,
    /// TCG locking: Opal, Pyrite and their kin.
    Tcg,
}

impl DriveLock {
    /// The lock that a drive says of itself that it has closed.
    pub(crate) fn of(facts: &Facts) -> Option<Self> {
        let Facts { security, encryption, .. } = facts;
        let ata = security.is_some_and(|security| security.locked);
        let tcg = encryption.as_ref().and_then(|own| own.locking).is_some_and(|own| own.locked);
        match (ata, tcg) {
            (true, _) => Some(Self::AtaSecurity),
            (_, true) => Some(Self::Tcg),
            _ => None,
        }
    }

    fn way_out(self, device: &Path) -> String {
        match self {
            Self::AtaSecurity => format!(
                "erase it with its password (`hdparm --security-erase PASSWORD {}`)",
                device.display()
            ),
            Self::Tcg => format!(
                "revert it by the PSID on its label: `writecliff psid-revert {}`",
                device.display()
            ),
        }
    }
}

impl fmt::Display for DriveLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtaSecurity => "ATA security",
            Self::Tcg => "TCG locking",
        })
    }
}

impl From<Unreadable> for Refusal {
    fn from(doubt: Unreadable) -> Self {
        let Unreadable { path, source, stake } = doubt;
        Self::Unreadable { path, error: source.to_string(), stake }
    }
}

impl Refusal {
    /// Whether there is nothing that could lose data: the path was mistyped.
    pub(crate) fn is_no_drive(&self) -> bool {
        matches!(self, Self::Missing | Self::Directory | Self::CharacterDevice | Self::NotADrive)
    }

    /// Whether it is about what the drive shows, or does not: that of a locked drive, or of one that
    /// erases itself, says nothing of what it holds.
    pub(crate) fn is_of_what_it_shows(&self) -> bool {
        match self {
            Self::BadBlock { .. }
            | Self::ToolFailed { .. }
            | Self::OtherTool { .. }
            | Self::Signature { .. }
            | Self::Partitioned { .. } => true,
            Self::Unreadable { path, .. } => path.starts_with("/dev"),
            _ => false,
        }
    }

    /// What would have to be erased, and on which device; `None` for what erasing does not mend.
    pub(crate) fn erasable(&self) -> Option<(&str, &[Extent])> {
        match self {
            Self::Partitioned { device, .. } => Some((device, &[])),
            Self::Signature { device, extents, .. }
            | Self::OtherTool { device, extents, .. }
            | Self::BadBlock { device, extents, .. }
                if !extents.is_empty() =>
            {
                Some((device, extents))
            }
            _ => None,
        }
    }
}

fn in_words(purge: UnfinishedPurge) -> String {
    match purge {
        UnfinishedPurge::Sanitizing { percent } => {
            format!("it erases itself (sanitize), at {percent} %, and nothing stops that")
        }
        UnfinishedPurge::SanitizeFailed => {
            "its last sanitize failed, and it refuses I/O since".to_owned()
        }
        UnfinishedPurge::OwnPassword => format!(
            "a secure erase was broken off, and it still has the password '{PASSWORD}' that was set \
             for it"
        ),
        _ => "a purge of it is not over".to_owned(),
    }
}

fn and_more(places: usize) -> String {
    match places {
        0 => String::new(),
        1 => " and in another place".to_owned(),
        more => format!(" and in {more} more places"),
    }
}

fn at_byte(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" (at byte {offset})"))
}

/// How long to wait for objections that may be over in a moment; zero where one is not of that kind.
/// udev looks at a drive after every change of it, locks it meanwhile, and takes its time on a busy
/// machine.
pub(crate) fn patience(refusals: &[Refusal]) -> Duration {
    let each = refusals.iter().map(|refusal| match refusal {
        Refusal::InUse(user) if user.is_a_passing_look() => UDEV,
        Refusal::Locked | Refusal::Busy | Refusal::HeldUnseen { .. } if udev_works() => UDEV,
        Refusal::InUse(_) | Refusal::Busy | Refusal::Locked | Refusal::HeldUnseen { .. } => MOMENT,
        _ => Duration::ZERO,
    });
    each.min().unwrap_or_default()
}

/// Eight emulated drives at once on two emulated processors kept it busy for longer than 20 s.
const UDEV: Duration = Duration::from_secs(60);
const MOMENT: Duration = Duration::from_millis(1500);

/// Whether udev has anything to do: it keeps this file for as long.
fn udev_works() -> bool {
    Path::new("/run/udev/queue").exists()
}

fn mounted_at(mount_points: &[PathBuf]) -> String {
    let places: Vec<String> =
        mount_points.iter().map(|place| place.display().to_string()).collect();
    match places.is_empty() {
        true => String::new(),
        false => format!(", mounted at {}", places.join(", ")),
    }
}
