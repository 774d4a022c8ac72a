//! What a mapping is made of: the kernel's table of it, and how each line lies on the devices below.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::host::sysfs::DeviceNumber;

/// `DM_TABLE_STATUS` of linux/dm-ioctl.h: `_IOWR(0xfd, 12, struct dm_ioctl)`.
const TABLE_STATUS: u64 = 0xC138_FD0C;
/// `DM_DEV_STATUS`: `_IOWR(0xfd, 7, struct dm_ioctl)`.
const DEVICE_STATUS: u64 = 0xC138_FD07;
/// `struct dm_ioctl` and `struct dm_target_spec`.
const HEADER: usize = 312;
const SPECIFICATION: usize = 40;
/// `DM_STATUS_TABLE_FLAG`, `DM_BUFFER_FULL_FLAG`, and `DM_SECURE_DATA_FLAG`: the table of an
/// encryption holds its key, which the kernel is not to leave about.
const WANT_TABLE: u32 = 1 << 4;
const BUFFER_FULL: u32 = 1 << 8;
const SECURE: u32 = 1 << 15;
/// A longer table is of thousands of lines.
const TABLE_MAX: usize = 4 << 20;

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The bytes of the mapping that it is about.
    pub(crate) range: Range<u64>,
    pub(crate) kind: String,
    parameters: String,
}

/// How a line of a table lies on a device below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lower {
    pub(crate) device: DeviceNumber,
    pub(crate) place: Place,
    /// Whether writing to the mapping changes this device; else only reading depends on it.
    pub(crate) written: bool,
}

/// Where on the lower device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Byte for byte, the line's first byte at this offset.
    From(u64),
    /// Somewhere in this range.
    Within(Range<u64>),
    /// Anywhere on it.
    Anywhere,
    /// In blocks that the device below gives to this mapping alone.
    Own,
}

/// The table of a mapping, asked of the kernel's control device.
///
/// # Errors
/// The system's; ENXIO if there is no such mapping.
pub(crate) fn table(control: &Path, device: DeviceNumber) -> io::Result<Vec<Target>> {
    let control = File::open(control)?;
    let mut size = 16 << 10;
    loop {
        let mut buffer = request(device, size);
        // SAFETY: DM_TABLE_STATUS reads a dm_ioctl from the buffer and writes at most `data_size`
        // bytes to it, which is the buffer's length.
        let asked =
            unsafe { libc::ioctl(control.as_raw_fd(), TABLE_STATUS as _, buffer.as_mut_ptr()) };
        if asked != 0 {
            return Err(io::Error::last_os_error());
        }
        let targets = read_answer(&buffer);
        buffer.fill(0);
        match targets {
            Some(targets) => return Ok(targets),
            None if size < TABLE_MAX => size *= 4,
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// How often a mapping is open just now, by whomever.
///
/// # Errors
/// The system's; ENXIO if there is no such mapping.
pub(crate) fn open_count(control: &Path, device: DeviceNumber) -> io::Result<u32> {
    let control = File::open(control)?;
    let mut buffer = request(device, HEADER);
    // SAFETY: DM_DEV_STATUS reads a dm_ioctl from the buffer and writes one to it.
    let asked =
        unsafe { libc::ioctl(control.as_raw_fd(), DEVICE_STATUS as _, buffer.as_mut_ptr()) };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    let count = buffer.get(24..28).and_then(|bytes| bytes.try_into().ok());
    Ok(count.map_or(0, u32::from_ne_bytes))
}

/// A `dm_ioctl` that asks for the table of a device, with room for the answer.
fn request(device: DeviceNumber, size: usize) -> Vec<u8> {
    let mut buffer = vec![0; size];
    let mut put = |offset: usize, bytes: &[u8]| {
        buffer[offset..offset + bytes.len()].copy_from_slice(bytes);
    };
    put(0, &4u32.to_ne_bytes());
    put(12, &(size as u32).to_ne_bytes());
    put(16, &(HEADER as u32).to_ne_bytes());
    put(28, &(WANT_TABLE | SECURE).to_ne_bytes());
    put(40, &rustix::fs::makedev(device.major, device.minor).to_ne_bytes());
    buffer
}

/// The lines of an answer; `None` if it is not whole.
fn read_answer(buffer: &[u8]) -> Option<Vec<Target>> {
    let word = |offset: usize| Some(u32::from_ne_bytes(*buffer.get(offset..)?.first_chunk()?));
    if word(28)? & BUFFER_FULL != 0 {
        return None;
    }
    let data = buffer.get(word(16)? as usize..)?;
    let mut targets = Vec::new();
    let mut at = 0;
    for _ in 0..word(20)? {
        let specification = data.get(at..)?.first_chunk::<SPECIFICATION>()?;
        let sectors = |offset: usize| {
            let bytes = specification[offset..offset + 8].try_into().unwrap_or_default();
            u64::from_ne_bytes(bytes).checked_mul(512)
        };
        let (start, length) = (sectors(0)?, sectors(8)?);
        targets.push(Target {
            range: start..start.checked_add(length)?,
            kind: text(&specification[24..40]),
            parameters: text(data.get(at + SPECIFICATION..)?),
        });
        at = u32::from_ne_bytes(*specification[20..].first_chunk()?) as usize;
    }
    Some(targets)
}

/// A string of C.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl Target {
    /// The devices below, by the kinds whose parameters are known (the kernel's
    /// admin-guide/device-mapper); `None` for others, which may lie anywhere on all devices below.
    pub(crate) fn lower(&self) -> Option<Vec<Lower>> {
        let words: Vec<&str> = self.parameters.split_ascii_whitespace().collect();
        let device = |index: usize| words.get(index)?.parse::<DeviceNumber>().ok();
        let written = |device, place| Lower { device, place, written: true };
        // A device, and the sector of it where the line begins.
        let from = |index: usize| {
            let sector: u64 = words.get(index + 1)?.parse().ok()?;
            Some(written(device(index)?, Place::From(sector.checked_mul(512)?)))
        };
        // Another device that holds the line at the same place as the mapping does.
        let same = |index: usize| Some(written(device(index)?, Place::From(self.range.start)));
        let anywhere = |index: usize| Some(written(device(index)?, Place::Anywhere));
        match self.kind.as_str() {
            "linear" | "flakey" | "dust" => Some(vec![from(0)?]),
            "delay" => Some([from(0), from(3), from(6)].into_iter().flatten().collect()),
            "crypt" => Some(vec![from(3)?]),
            "striped" => self.stripes(&words),
            "error" | "zero" => Some(Vec::new()),
            "snapshot" => {
                let origin = Lower { written: false, ..same(0)? };
                Some(vec![origin, anywhere(1)?])
            }
            "snapshot-origin" => Some(vec![same(0)?]),
            "thin" => Some(vec![written(device(0)?, Place::Own)]),
            "thin-pool" => Some(vec![anywhere(0)?, anywhere(1)?]),
            "cache" => Some(vec![anywhere(0)?, anywhere(1)?, same(2)?]),
            "writecache" => Some(vec![same(1)?, anywhere(2)?]),
            "era" => Some(vec![anywhere(0)?, same(1)?]),
            "log-writes" => Some(vec![same(0)?, anywhere(1)?]),
            _ => None,
        }
    }

    /// `COUNT CHUNK [DEVICE SECTOR]...`: each device has its share of the line.
    fn stripes(&self, words: &[&str]) -> Option<Vec<Lower>> {
        let count: u64 = words.first()?.parse().ok()?;
        let length = (self.range.end - self.range.start).checked_div(count)?;
        let stripes = words.get(2..)?.chunks_exact(2).map(|stripe| {
            let start = stripe[1].parse::<u64>().ok()?.checked_mul(512)?;
            let place = Place::Within(start..start.checked_add(length)?);
            Some(Lower { device: stripe[0].parse().ok()?, place, written: true })
        });
        stripes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(start: u64, sectors: u64, kind: &str, parameters: &str) -> Target {
        let (kind, parameters) = (kind.to_owned(), parameters.to_owned());
        Target { range: start * 512..(start + sectors) * 512, kind, parameters }
    }

    fn lower(kind: &str, parameters: &str) -> Option<Vec<(String, Place, bool)>> {
        let lower = target(100, 64, kind, parameters).lower()?;
        Some(lower.into_iter().map(|l| (l.device.to_string(), l.place, l.written)).collect())
    }

    #[test]
    fn lines_lie_where_the_kernel_says() {
        let at = |device: &str, place| (device.to_owned(), place, true);
        let from = |device, sector: u64| at(device, Place::From(sector * 512));
        assert_eq!(lower("linear", "8:16 2048"), Some(vec![from("8:16", 2048)]));
        assert_eq!(
            lower("crypt", "aes-xts-plain64 :32:logon:key 0 253:3 4096 1 allow_discards"),
            Some(vec![from("253:3", 4096)])
        );
        assert_eq!(
            lower("delay", "8:16 7 500 8:32 9 100"),
            Some(vec![from("8:16", 7), from("8:32", 9)])
        );
        let stripe =
            |device, sector: u64| at(device, Place::Within(sector * 512..(sector + 32) * 512));
        assert_eq!(
            lower("striped", "2 128 8:16 10 8:32 20"),
            Some(vec![stripe("8:16", 10), stripe("8:32", 20)])
        );
        assert_eq!(lower("thin", "253:4 1"), Some(vec![at("253:4", Place::Own)]));
        assert_eq!(
            lower("cache", "253:1 253:2 253:3 128 1 writethrough smq 0"),
            Some(vec![
                at("253:1", Place::Anywhere),
                at("253:2", Place::Anywhere),
                from("253:3", 100)
            ])
        );
        assert_eq!(lower("zero", ""), Some(Vec::new()));
    }

    #[test]
    fn a_snapshot_is_written_to_its_own_space_and_depends_on_its_origin() {
        let origin = ("253:0".to_owned(), Place::From(100 * 512), false);
        let space = ("253:1".to_owned(), Place::Anywhere, true);
        assert_eq!(lower("snapshot", "253:0 253:1 P 8"), Some(vec![origin, space]));
        let origin = ("253:0".to_owned(), Place::From(100 * 512), true);
        assert_eq!(lower("snapshot-origin", "253:0"), Some(vec![origin]));
    }

    #[test]
    fn what_is_not_understood_is_not_guessed() {
        assert_eq!(lower("raid", "raid1 3 0 region_size 1024 2 253:0 253:1 253:2 253:3"), None);
        assert_eq!(lower("linear", "/dev/sda 0"), None);
        assert_eq!(lower("linear", "8:0 18446744073709551615"), None);
        assert_eq!(lower("striped", "0 128 8:16 10"), None);
    }

    /// An answer as the kernel lays it out: header, then lines that each tell where the next begins.
    fn answer(targets: &[Target]) -> Vec<u8> {
        let mut buffer = request("253:0".parse().unwrap(), HEADER);
        buffer[20..24].copy_from_slice(&(targets.len() as u32).to_ne_bytes());
        for target in targets {
            let mut line = Vec::new();
            line.extend((target.range.start / 512).to_ne_bytes());
            line.extend(((target.range.end - target.range.start) / 512).to_ne_bytes());
            line.extend(0i32.to_ne_bytes());
            let length = (SPECIFICATION + target.parameters.len() + 1).next_multiple_of(8);
            line.extend(((buffer.len() - HEADER + length) as u32).to_ne_bytes());
            line.extend(target.kind.as_bytes());
            line.resize(SPECIFICATION, 0);
            line.extend(target.parameters.as_bytes());
            line.resize(length, 0);
            buffer.extend(line);
        }
        buffer
    }

    #[test]
    fn answers_are_read_and_damaged_ones_are_none() {
        let targets =
            [target(0, 8, "linear", "8:16 2048"), target(8, 64, "striped", "2 8 8:16 0 8:32 0")];
        let buffer = answer(&targets);
        assert_eq!(read_answer(&buffer).unwrap(), targets);
        for length in 0..buffer.len() - 8 {
            if let Some(read) = read_answer(&buffer[..length]) {
                assert!(length >= HEADER + SPECIFICATION, "{read:?} of {length} bytes");
            }
        }
        let mut full = buffer.clone();
        full[28..32].copy_from_slice(&BUFFER_FULL.to_ne_bytes());
        assert_eq!(read_answer(&full), None);
        let mut huge = buffer;
        huge[HEADER..HEADER + 8].copy_from_slice(&u64::MAX.to_ne_bytes());
        assert_eq!(read_answer(&huge), None);
    }
}
