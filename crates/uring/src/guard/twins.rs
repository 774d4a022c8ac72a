//! Drives that may be one: two disks of one size that nothing in the world tells apart.
//!
//! Machines' virtual disks and USB bridges have serial numbers that others have as well, or none, and no
//! world-wide name. Two of them may be the same blocks by two names. Their contents tell: what differs
//! is not the same; what is the same may be. A drive that may be another one is judged by that one's use
//! as well.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::drive::identity::serial_of;
use crate::host::direct_read::{Chunk, read_at};
use crate::host::sysfs::{DeviceNumber, Host, Node, Unreadable};

/// Why two devices are taken for one drive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sameness {
    /// They have the same name in the world.
    WorldWideName,
    /// They hold the same where they were looked at, and nothing else tells them apart.
    Contents {
        /// Their serial number; `None` if they have none.
        serial: Option<String>,
        /// Whether they could be compared.
        is_compared: bool,
    },
}

impl fmt::Display for Sameness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorldWideName => f.write_str("they have the same world-wide name"),
            Self::Contents { serial, is_compared } => {
                match serial {
                    Some(serial) => write!(f, "they have the same serial {serial} and size"),
                    None => write!(f, "neither has a serial, they have the same size"),
                }?;
                match is_compared {
                    true => write!(f, ", no world-wide name, and hold the same in {PLACES} places"),
                    false => write!(f, ", no world-wide name, and cannot be compared"),
                }
            }
        }
    }
}

/// As many places are compared, evenly spread, from the first block to the last, and so much at each.
const PLACES: u64 = 32;
const LENGTH: usize = 4096;
/// Kinds of devices that are one thing by one name, whatever they hold.
const ALWAYS_THEMSELVES: &[&str] = &["loop", "dm-", "md", "zram", "ram", "bcache", "fd", "sr"];

/// Why another disk is the same drive as this one, or may be; `None` if it is not.
///
/// # Errors
/// If its names cannot be read.
pub(crate) fn sameness(
    host: &Host,
    one: &Node,
    other: &Node,
) -> Result<Option<Sameness>, Unreadable> {
    let size = one.size()?;
    if size == 0 || other.size().ok() != Some(size) {
        return Ok(None);
    }
    let names = (one.world_wide_name()?, other.world_wide_name()?);
    match names {
        (Some(one), Some(other)) => {
            return Ok((one == other).then_some(Sameness::WorldWideName));
        }
        (Some(_), None) | (None, Some(_)) => return Ok(None),
        (None, None) => {}
    }
    let is_itself = |node: &Node| ALWAYS_THEMSELVES.iter().any(|kind| node.name.starts_with(kind));
    let serial = serial_of(one)?;
    if is_itself(one) || is_itself(other) || serial != serial_of(other)? {
        return Ok(None);
    }
    Ok(match hold_the_same(host, one, other) {
        Ok(false) => None,
        Ok(true) => Some(Sameness::Contents { serial, is_compared: true }),
        Err(_) => Some(Sameness::Contents { serial, is_compared: false }),
    })
}

/// Whether two disks of one size hold the same wherever they are looked at. What differs is read once
/// more: it may have been written in between. What cannot be read tells nothing.
///
/// # Errors
/// If one of them cannot be opened.
pub(crate) fn hold_the_same(host: &Host, one: &Node, other: &Node) -> io::Result<bool> {
    let (first, second) = (open(host, one)?, open(host, other)?);
    let (Some(first), Some(second)) = (first, second) else { return Ok(false) };
    let last = one.size().unwrap_or(0).saturating_sub(LENGTH as u64);
    let (mut here, mut there) = (Chunk::zeroed(), Chunk::zeroed());
    let mut differ = |offset: u64| {
        let first = read_at(&first, &mut here.0[..LENGTH], offset);
        let second = read_at(&second, &mut there.0[..LENGTH], offset);
        let is_read = first.is_ok() && first == second;
        is_read && here.0[..LENGTH] != there.0[..LENGTH]
    };
    let place = |number: u64| last / (PLACES - 1) * number / LENGTH as u64 * LENGTH as u64;
    let mut places = (0..PLACES - 1).map(place).chain([last]);
    Ok(!places.any(|offset| differ(offset) && differ(offset) && differ(offset)))
}

/// Opens a disk to look at it; `None` if it holds nothing by now.
fn open(host: &Host, node: &Node) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file: File = match rustix::fs::open(host.path_of(node), flags, Mode::empty()) {
        Ok(file) => file.into(),
        Err(Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_it = DeviceNumber::from_raw(file.metadata()?.rdev()) == node.number;
    if is_it { Ok(Some(file)) } else { Err(io::ErrorKind::InvalidData.into()) }
}
