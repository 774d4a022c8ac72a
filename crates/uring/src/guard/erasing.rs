//! The commands that remove what a refusal found, for a user who decides that it may go.
//!
//! They zero just the places that were found, in few ranges, with nothing but `dd`: tools that
//! erase by the kind of mark (`wipefs`) leave those that they do not know. Nothing here is run.

use std::fmt::Write;

use crate::guard::extent::{Extent, UNIT, joined};
use crate::guard::refusal::Refusal;

/// What to run so that a drive which was refused can be tested, if its data may go. `None` if
/// there is another objection, which must be met first, or if nothing could be erased.
pub fn advice(refusals: &[Refusal]) -> Option<String> {
    let mut drives: Vec<Erasing<'_>> = Vec::new();
    for refusal in refusals {
        let (device, extents) = refusal.erasable()?;
        let known = drives.iter().position(|drive| drive.device == device);
        let index = known.unwrap_or_else(|| {
            drives.push(Erasing { device, has_partitions: false, extents: Vec::new() });
            drives.len() - 1
        });
        drives[index].has_partitions |= matches!(refusal, Refusal::Partitioned { .. });
        drives[index].extents.extend(extents);
    }
    let [drive] = drives.as_slice() else {
        return None;
    };
    drive.text()
}

/// All that is to be erased on one drive.
struct Erasing<'a> {
    device: &'a str,
    has_partitions: bool,
    extents: Vec<Extent>,
}

impl Erasing<'_> {
    fn text(&self) -> Option<String> {
        let device = in_shell(self.device)?;
        let commands = self.commands(&device);
        let mut text = format!(
            "If the data on {device} may go, erase what was found by this as root, and try again:"
        );
        for command in commands {
            let _ = write!(text, "\n    {command}");
        }
        Some(text)
    }

    /// The kernel forgets the partitions while their table is there still: who reads it again later
    /// finds none.
    fn commands(&self, device: &str) -> Vec<String> {
        let forget = self.has_partitions.then(|| format!("partx --delete {device}"));
        let zero = joined(self.extents.clone());
        forget.into_iter().chain(zero.into_iter().map(|extent| zeroing(device, extent))).collect()
    }
}

/// Blocks as large as the range allows: a drive's end may be a multiple of one LBA only.
fn zeroing(device: &str, Extent { offset, length }: Extent) -> String {
    let block = 1 << (offset | length | UNIT).trailing_zeros();
    format!(
        "dd if=/dev/zero of={device} bs={block} seek={} count={} conv=notrunc,fsync",
        offset / block,
        length / block
    )
}

/// A path as a shell takes it; `None` if it cannot be shown as it is.
fn in_shell(path: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    if path.chars().any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
        None
    } else if path.chars().all(plain) {
        Some(path.to_owned())
    } else {
        Some(format!("'{}'", path.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(device: &str, extents: &[Extent]) -> Refusal {
        let extents = extents.to_vec();
        Refusal::Signature {
            device: device.to_owned(),
            what: "a mark",
            offset: 0,
            more: 0,
            extents,
        }
    }

    fn at(offset: u64, length: u64) -> Extent {
        Extent { offset, length }
    }

    #[test]
    fn every_command_zeroes_its_range_and_nothing_else() {
        let cases = [(0, 65536), (1 << 30, 512), (65536, 4096), (1 << 40, 65536 + 512), (0, 7)];
        for (offset, length) in cases {
            let command = zeroing("/dev/sdx", at(offset, length));
            let number = |key: &str| -> u64 {
                let mut words = command.split_whitespace();
                words.find_map(|word| word.strip_prefix(key)).unwrap().parse().unwrap()
            };
            assert_eq!(number("seek=") * number("bs="), offset, "{command}");
            assert_eq!(number("count=") * number("bs="), length, "{command}");
            assert!(number("bs=") <= UNIT);
        }
    }

    #[test]
    fn one_advice_for_all_marks_of_a_drive_after_its_partitions_are_forgotten() {
        let refusals = [
            Refusal::Partitioned {
                device: "/dev/sdx".to_owned(),
                partitions: vec!["/dev/sdx1".to_owned()],
            },
            signature("/dev/sdx", &[at(0, 65536)]),
            signature("/dev/sdx", &[at(65536, 65536)]),
        ];
        let advice = advice(&refusals).unwrap();
        let commands: Vec<&str> = advice.lines().skip(1).map(str::trim).collect();
        let zero = "dd if=/dev/zero of=/dev/sdx bs=65536 seek=0 count=2 conv=notrunc,fsync";
        assert_eq!(commands, ["partx --delete /dev/sdx", zero]);
    }

    #[test]
    fn no_advice_while_anything_else_speaks_against_it() {
        let mark = signature("/dev/sdx", &[at(0, 65536)]);
        assert!(advice(std::slice::from_ref(&mark)).is_some());
        let mounted =
            Refusal::Mounted { device: "/dev/sdx".to_owned(), mount_point: "/mnt".into() };
        assert_eq!(advice(&[mark.clone(), mounted]), None);
        assert_eq!(advice(&[mark, Refusal::Busy]), None);
        assert_eq!(advice(&[]), None);
    }

    #[test]
    fn a_partition_is_not_advised_to_erase_its_disk() {
        assert_eq!(advice(&[signature("/dev/sdx", &[])]), None);
    }

    #[test]
    fn names_are_quoted_for_the_shell_and_left_out_where_they_cannot_be_shown() {
        assert_eq!(in_shell("/dev/nvme0n1p1").unwrap(), "/dev/nvme0n1p1");
        assert_eq!(in_shell("/a b'c$d").unwrap(), r"'/a b'\''c$d'");
        assert_eq!(in_shell("/a\x1b[2J"), None);
        assert_eq!(in_shell("/a\u{FFFD}"), None);
    }
}
