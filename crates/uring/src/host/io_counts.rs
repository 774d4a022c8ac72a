//! What the kernel counts of a block device's I/O, of whomever it is.

use std::fs::File;

use writecliff_device::Bytes;

use crate::host::sysfs::Node;

/// The unit that block devices are counted in, whatever their LBA size.
const SECTOR: Bytes = Bytes(512);

/// Sums since the device is there; each I/O is in them when it is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IoCounts {
    pub(crate) read: Bytes,
    pub(crate) written: Bytes,
    pub(crate) discarded: Bytes,
}

/// The counters of a whole disk: those of a partition are in them.
#[derive(Debug)]
pub(crate) struct IoCounter {
    /// `stat` in sysfs, kept open: its text is made anew for every read from its beginning.
    stat: File,
}

impl IoCounter {
    /// `None` where the kernel does not count.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        let disk = node.disk().ok()?;
        let is_counting = disk.number_of("queue/iostats").is_ok_and(|on| on != 0);
        let stat = is_counting.then(|| File::open(disk.directory.join("stat")).ok())?;
        Some(Self { stat: stat? })
    }

    pub(crate) fn read(&self) -> Option<IoCounts> {
        let mut text = [0; 512];
        let length = rustix::io::pread(&self.stat, &mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// From a `stat` file: the third number counts sectors read, the seventh sectors written, the
/// fourteenth sectors discarded, which kernels before 4.18 do not count.
fn parse(stat: &str) -> Option<IoCounts> {
    let mut numbers = stat.split_ascii_whitespace().map(str::parse::<u64>);
    let read = numbers.nth(2)?.ok()?;
    let written = numbers.nth(3)?.ok()?;
    let discarded = numbers.nth(6).and_then(Result::ok).unwrap_or(0);
    Some(IoCounts { read: SECTOR * read, written: SECTOR * written, discarded: SECTOR * discarded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_of_512_bytes_and_each_kind_has_its_place() {
        let stat = "  175634 46017 24527520 102219 9549450 120029 139075044 2077988 0 153132 2185781 \
                    426 0 53482538 5513 194 60";
        let counts = parse(stat).unwrap();
        assert_eq!(counts.read, Bytes(24_527_520 * 512));
        assert_eq!(counts.written, Bytes(139_075_044 * 512));
        assert_eq!(counts.discarded, Bytes(53_482_538 * 512));
        assert_eq!(parse("1 2 3 4 5 6 7").unwrap().discarded, Bytes::ZERO);
        assert_eq!(parse("1 2 x"), None);
    }
}
