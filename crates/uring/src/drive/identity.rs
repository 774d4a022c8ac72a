//! What a drive is: model, serial, firmware, sizes and abilities, from sysfs and statx.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, statx};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind};

use crate::host::layers::{Follow, Layer, Layers, backing_path};
use crate::host::sysfs::{Node, Unreadable, readable_text};

/// A drive or file that was found, whether or not it may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The resolved path.
    pub path: PathBuf,
    /// A block device or a file.
    pub kind: DeviceKind,
    /// The maker's model name, if it tells.
    pub model: Option<String>,
    /// The serial number, if it tells.
    pub serial: Option<String>,
    /// The firmware revision, if it tells.
    pub firmware: Option<String>,
    /// The name that it has whatever path leads to it and whatever the system calls it, if it tells:
    /// NVMe's EUI-64, NGUID or UUID, SCSI's page 83h, the UUID of a mapping.
    pub world_wide_name: Option<String>,
    /// The drives, or the file, below a partition, volume, array or loop device.
    pub stands_on: Vec<String>,
    /// Bytes that can be addressed.
    pub capacity: Bytes,
    /// The unit of addressing for direct I/O.
    pub lba_size: Bytes,
    /// The unit that the device prefers.
    pub physical_block_size: Bytes,
    /// Whether the system calls it a spinning disk.
    pub rotational: bool,
    /// The longest single discard; zero where there is none. A file can always be asked.
    pub discard_max: Bytes,
    /// The kernel's I/O scheduler.
    pub scheduler: Option<String>,
    /// How the kernel takes its write cache: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether it has queues whose completions can be polled.
    pub polls: bool,
}

/// Identifies a block device; a partition has its disk's name and abilities.
pub(crate) fn block_device(node: &Node, path: &Path) -> Result<Identity, Unreadable> {
    let disk = node.disk()?;
    let lba_size = disk.number_of("queue/logical_block_size")?.max(512);
    let physical = disk.number_of("queue/physical_block_size")?;
    let capacity = node.number_of("size")? * 512;
    let names = Names::of(&disk)?;
    Ok(Identity {
        path: path.to_owned(),
        kind: DeviceKind::BlockDevice,
        model: names.model,
        serial: names.serial,
        firmware: names.firmware,
        world_wide_name: node.world_wide_name()?,
        stands_on: Vec::new(),
        capacity: Bytes(capacity / lba_size * lba_size),
        lba_size: Bytes(lba_size),
        physical_block_size: Bytes(physical.max(lba_size)),
        rotational: disk.number_of("queue/rotational")? != 0,
        discard_max: Bytes(disk.number_of("queue/discard_max_bytes")?),
        scheduler: disk.attribute("queue/scheduler")?.map(|s| chosen(&s)),
        write_cache: write_cache(&disk)?,
        polls: disk.attribute("queue/io_poll")?.is_some_and(|polls| polls.trim() == "1"),
    })
}

/// Identifies a regular file.
pub(crate) fn regular_file(file: impl AsFd, path: &Path) -> Result<Identity, Unreadable> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN;
    let facts = statx(&file, c"", AtFlags::EMPTY_PATH, wanted);
    let facts = facts.map_err(|error| Unreadable::new(path, error))?;
    let block = u64::from(facts.stx_blksize).max(512);
    let told = facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    let aligned = u64::from(facts.stx_dio_offset_align).max(u64::from(facts.stx_dio_mem_align));
    // A filesystem that does not tell its alignment takes whole blocks of its own, but no block of
    // theirs that matters here is larger than a page.
    let lba_size = match told && aligned > 0 {
        true => aligned.max(512).next_power_of_two(),
        false => block.clamp(512, 4096).next_power_of_two(),
    };
    Ok(Identity {
        path: path.to_owned(),
        kind: DeviceKind::File,
        model: None,
        serial: None,
        firmware: None,
        world_wide_name: None,
        stands_on: Vec::new(),
        capacity: Bytes(facts.stx_size / lba_size * lba_size),
        lba_size: Bytes(lba_size),
        physical_block_size: Bytes(block.max(lba_size)),
        rotational: false,
        discard_max: Bytes(u64::MAX),
        scheduler: None,
        write_cache: None,
        polls: false,
    })
}

/// How the kernel takes the write cache of a disk.
pub(crate) fn write_cache(disk: &Node) -> Result<Option<String>, Unreadable> {
    Ok(disk.attribute("queue/write_cache")?.map(|said| said.trim().to_owned()))
}

/// The serial number of a disk.
pub(crate) fn serial_of(disk: &Node) -> Result<Option<String>, Unreadable> {
    Ok(Names::of(disk)?.serial)
}

/// What a device stands on, as far as the system tells: the disks at the bottom of its layers, each
/// with its model and serial, or the file of a loop device.
pub(crate) fn foundation(layers: &Layers<'_>, node: &Node) -> Vec<String> {
    let stack = layers.stack(node, Follow::Contents).unwrap_or_default();
    let mut found = Vec::new();
    for Layer { node: below, .. } in stack {
        let file = backing_path(&below).ok().flatten();
        let is_bottom = below != *node
            && !below.is_partition()
            && below.slaves().is_ok_and(|slaves| slaves.is_empty());
        let names = Names::of(&below).unwrap_or_default();
        let names: Vec<String> = [names.model, names.serial].into_iter().flatten().collect();
        let path = layers.host.path_of(&below).display().to_string();
        match file {
            Some(file) => found.push(format!("{}{}", DeviceInfo::FILE_BELOW, file.display())),
            None if is_bottom && names.is_empty() => found.push(path),
            None if is_bottom => found.push(format!("{path} ({})", names.join(", "))),
            None => {}
        }
    }
    found
}

/// `none [mq-deadline] kyber`: the one in brackets is in use.
fn chosen(scheduler: &str) -> String {
    let in_brackets = scheduler.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    in_brackets.map_or(scheduler, |(name, _)| name).to_owned()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Names {
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
}

impl Names {
    /// By the best source that the device has: ATA's own identify data (sysfs cuts its model
    /// short), then what NVMe, SCSI, MMC and virtual disks show, then the USB bridge in front.
    fn of(disk: &Node) -> Result<Self, Unreadable> {
        let ata = disk.attribute_bytes("device/vpd_pg89")?;
        if let Some(names) = ata.as_deref().and_then(Self::from_ata_page) {
            return Ok(names);
        }
        let first = |names: &[&str]| -> Result<Option<String>, Unreadable> {
            for name in names {
                if let Some(value) = disk.attribute(name)? {
                    return Ok(Some(value));
                }
            }
            Ok(None)
        };
        let page = disk.attribute_bytes("device/vpd_pg80")?;
        let serial = page.and_then(|page| readable_text(page.get(4..)?));
        let serial = match serial.or(first(&["device/serial", "serial"])?) {
            Some(serial) => Some(serial),
            None => usb_serial(disk),
        };
        Ok(Self {
            model: first(&["device/model", "device/name", "dm/name"])?,
            serial,
            firmware: first(&["device/firmware_rev", "device/rev", "device/fwrev"])?,
        })
    }

    /// Identify data in SCSI's ATA Information page: words of two swapped characters from byte 60.
    fn from_ata_page(page: &[u8]) -> Option<Self> {
        let identify: &[u8; 512] = page.get(60..)?.first_chunk()?;
        let words = |first: usize, last: usize| {
            let bytes = &identify[first * 2..=last * 2 + 1];
            let swapped: Vec<u8> = bytes.chunks(2).flat_map(|w| [w[1], w[0]]).collect();
            readable_text(&swapped)
        };
        Some(Self { model: Some(words(27, 46)?), serial: words(10, 19), firmware: words(23, 26) })
    }
}

/// The serial number of the USB device that a disk hangs on.
fn usb_serial(disk: &Node) -> Option<String> {
    let bridge = disk.ancestor_with("idVendor")?;
    let serial = fs::read(bridge.join("serial")).ok()?;
    readable_text(&serial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ata_identify_data_gives_whole_names() {
        let mut page = vec![0; 572];
        let mut put = |word: usize, text: &str| {
            for (index, pair) in text.as_bytes().chunks(2).enumerate() {
                page[60 + (word + index) * 2] = pair[1];
                page[60 + (word + index) * 2 + 1] = pair[0];
            }
        };
        put(10, "S1DBNSAF123456      ");
        put(23, "EXT0BB6Q");
        put(27, "Samsung SSD 840 EVO 250GB               ");
        let names = Names::from_ata_page(&page).unwrap();
        assert_eq!(names.model.as_deref(), Some("Samsung SSD 840 EVO 250GB"));
        assert_eq!(names.serial.as_deref(), Some("S1DBNSAF123456"));
        assert_eq!(names.firmware.as_deref(), Some("EXT0BB6Q"));
        assert_eq!(Names::from_ata_page(&page[..100]), None);
    }

    /// A disk in a directory of files.
    fn disk(attributes: &[(&str, &[u8])]) -> (tempfile::TempDir, Identity) {
        let directory = tempfile::TempDir::new().unwrap();
        let sys = directory.path().join("sys");
        let place = sys.join("dev/block/259:0");
        let common: &[(&str, &[u8])] = &[
            ("dev", b"259:0\n"),
            ("size", b"488397168\n"),
            ("queue/logical_block_size", b"512\n"),
            ("queue/physical_block_size", b"4096\n"),
            ("queue/rotational", b"0\n"),
            ("queue/discard_max_bytes", b"2147450880\n"),
            ("queue/scheduler", b"[none] mq-deadline\n"),
            ("queue/write_cache", b"write back\n"),
        ];
        for (name, value) in common.iter().chain(attributes) {
            let file = place.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, value).unwrap();
        }
        let (proc, dev) = (sys.join("proc"), sys.join("dev"));
        let host = crate::host::sysfs::Host { sys, proc, dev };
        let node = host.node("259:0".parse().unwrap()).unwrap();
        let identity = block_device(&node, Path::new("/dev/x")).unwrap();
        (directory, identity)
    }

    #[test]
    fn an_nvme_drive_tells_its_names() {
        let (_directory, identity) = disk(&[
            ("device/model", b"Samsung SSD 970 EVO Plus 250GB          \n"),
            ("device/serial", b"S4EUNX0N123456     \n"),
            ("device/firmware_rev", b"2B2QEXM7\n"),
        ]);
        assert_eq!(identity.model.as_deref(), Some("Samsung SSD 970 EVO Plus 250GB"));
        assert_eq!(identity.serial.as_deref(), Some("S4EUNX0N123456"));
        assert_eq!(identity.firmware.as_deref(), Some("2B2QEXM7"));
        assert_eq!(identity.capacity, Bytes(250_059_350_016));
        assert_eq!((identity.lba_size, identity.physical_block_size), (Bytes(512), Bytes(4096)));
        assert_eq!(identity.discard_max, Bytes(2_147_450_880));
        assert_eq!(identity.scheduler.as_deref(), Some("none"));
        assert_eq!(identity.write_cache.as_deref(), Some("write back"));
    }

    #[test]
    fn a_scsi_drive_has_its_serial_in_a_page() {
        let (_directory, identity) = disk(&[
            ("device/model", b"MTFDDAK240MAV   \n"),
            ("device/rev", b"MU02\n"),
            ("device/vpd_pg80", b"\x00\x80\x00\x0C  1301092A3B"),
        ]);
        assert_eq!(identity.model.as_deref(), Some("MTFDDAK240MAV"));
        assert_eq!(identity.serial.as_deref(), Some("1301092A3B"));
        assert_eq!(identity.firmware.as_deref(), Some("MU02"));
    }

    #[test]
    fn a_virtual_disk_without_names_is_named_by_its_path() {
        let (_directory, identity) = disk(&[("serial", b"\n")]);
        assert_eq!((&identity.model, &identity.serial), (&None, &None));
    }

    #[test]
    fn the_scheduler_in_use_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }
}
