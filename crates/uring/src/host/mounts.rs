//! What `/proc` says is mounted and swapped on.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::host::sysfs::{DeviceNumber, Host, Unreadable};

/// One line of mountinfo: a filesystem at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The filesystem's number: a block device's, or an anonymous one with major 0.
    pub(crate) number: DeviceNumber,
    pub(crate) mount_point: PathBuf,
    pub(crate) filesystem: String,
    pub(crate) source: PathBuf,
}

impl Host {
    /// Everything mounted, as this process sees it.
    pub(crate) fn mounts(&self) -> Result<Vec<Mount>, Unreadable> {
        let path = self.proc.join("self/mountinfo");
        let unreadable = |error| Unreadable::new(&path, error).at_stake("what is mounted");
        let text = fs::read(&path).map_err(unreadable)?;
        parse_mountinfo(&text).ok_or_else(|| unreadable(ErrorKind::InvalidData.into()))
    }

    /// The devices and files that are swapped on; none on a kernel without swap.
    pub(crate) fn swaps(&self) -> Result<Vec<PathBuf>, Unreadable> {
        let path = self.proc.join("swaps");
        match fs::read(&path) {
            Ok(text) => Ok(parse_swaps(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Unreadable::new(path, error).at_stake("what is swapped on")),
        }
    }
}

/// Reads mountinfo (proc_pid_mountinfo(5)); `None` if a line is not as the kernel writes it.
pub(crate) fn parse_mountinfo(text: &[u8]) -> Option<Vec<Mount>> {
    let lines = text.split(|&byte| byte == b'\n');
    lines.filter(|line| !line.is_empty()).map(parse_mount).collect()
}

/// `ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAG...] - FILESYSTEM SOURCE OPTIONS`
fn parse_mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let number = std::str::from_utf8(fields[2]).ok()?.parse().ok()?;
    Some(Mount {
        number,
        mount_point: unescape(fields[4]),
        filesystem: String::from_utf8_lossy(fields.get(dash + 1)?).into_owned(),
        source: unescape(fields.get(dash + 2)?),
    })
}

/// The paths of `/proc/swaps`, whose first line is a heading.
pub(crate) fn parse_swaps(text: &[u8]) -> Vec<PathBuf> {
    let lines = text.split(|&byte| byte == b'\n').skip(1);
    lines
        .filter_map(|line| line.split(|&byte| matches!(byte, b' ' | b'\t')).next())
        .filter(|path| !path.is_empty())
        .map(unescape)
        .collect()
}

/// Undoes the kernel's `\040` for bytes that would break a line into wrong fields.
pub(crate) fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).and_then(octal_byte);
        match octal.filter(|_| first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

fn octal_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &[u8] = b"\
26 1 253:0 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw,errors=remount-ro
31 26 8:17 / /mnt/with\\040blank\\011and\\134slash rw - vfat /dev/sdb1 rw,fmask=0022
40 26 0:44 /@home /home rw,relatime shared:5 master:2 - btrfs /dev/sdc2 rw,subvolid=257,subvol=/@home
41 26 0:45 / /srv rw - bcachefs /dev/sdd:/dev/sde rw
42 26 0:4 / /proc rw - proc proc rw
43 26 0:77 / /mnt/- rw - fuse.sshfs user@host:/a\\040b rw
";

    #[test]
    fn mountinfo_gives_number_place_and_source() {
        let mounts = parse_mountinfo(MOUNTINFO).unwrap();
        assert_eq!(mounts.len(), 6);
        assert_eq!(mounts[0].number.to_string(), "253:0");
        assert_eq!(mounts[0].source, PathBuf::from("/dev/mapper/vg-root"));
        assert_eq!(mounts[1].mount_point, PathBuf::from("/mnt/with blank\tand\\slash"));
        assert_eq!((mounts[2].number.major, &*mounts[2].filesystem), (0, "btrfs"));
        assert_eq!(mounts[2].source, PathBuf::from("/dev/sdc2"));
        assert_eq!(mounts[3].source, PathBuf::from("/dev/sdd:/dev/sde"));
        assert_eq!(mounts[5].mount_point, PathBuf::from("/mnt/-"));
        assert_eq!(mounts[5].source, PathBuf::from("user@host:/a b"));
    }

    #[test]
    fn a_line_that_cannot_be_understood_is_not_passed_over() {
        for line in ["nonsense", "1 2 8:x / / rw - ext4 /dev/sda rw", "1 2 8:1 / / rw ext4"] {
            assert_eq!(parse_mountinfo(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn swaps_gives_devices_and_files() {
        let text = b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
/dev/sda5                               partition\t8388604\t\t0\t\t-2\n\
/swap\\040file                           file\t\t1048572\t\t0\t\t-3\n";
        let swaps = parse_swaps(text);
        assert_eq!(swaps, [PathBuf::from("/dev/sda5"), "/swap file".into()]);
        assert!(parse_swaps(b"Filename\tType\n").is_empty());
    }
}
