//! The names of processes, counted in order of appearance.

use std::collections::HashMap;

use writecliff_device::printable;

/// More names than a stream's number can tell apart share the last one.
const STREAMS_MAX: usize = 1 << 16;
const ALL_OTHERS: &str = "(all others)";

/// Gives every name a number.
#[derive(Debug, Default)]
pub(super) struct Streams {
    numbers: HashMap<[u8; 16], u16>,
    names: Vec<String>,
    /// Of all names.
    bytes: u64,
}

impl Streams {
    /// The number of a process's name, which zeros fill up.
    pub(super) fn number(&mut self, process: &[u8; 16]) -> u16 {
        if let Some(number) = self.numbers.get(process) {
            return *number;
        }
        let next = self.names.len().min(STREAMS_MAX - 1);
        if next < STREAMS_MAX - 1 {
            self.numbers.insert(*process, next as u16);
            self.names.push(name(process));
            self.bytes += self.names.last().map_or(0, |name| name.len() as u64);
        } else if self.names.len() < STREAMS_MAX {
            self.names.push(ALL_OTHERS.to_owned());
        }
        next as u16
    }

    /// The most that the names take in JSON: quotes and a comma each, a backslash before any byte.
    pub(super) fn json_bytes(&self) -> u64 {
        3 * self.names.len() as u64 + 2 * (self.bytes + ALL_OTHERS.len() as u64)
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }
}

fn name(process: &[u8; 16]) -> String {
    let bytes = process.split(|&byte| byte == 0).next().unwrap_or_default();
    printable(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_number() {
        let mut streams = Streams::default();
        let names = [
            b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"kworker/u16:3+fl",
            b"\x1b\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ];
        assert_eq!(names.map(|name| streams.number(name)), [0, 1, 2]);
        assert_eq!(names.map(|name| streams.number(name)), [0, 1, 2]);
        assert_eq!(streams.names(), ["fio", "kworker/u16:3+fl", "\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn names_without_end_share_the_last_number() {
        let mut streams = Streams::default();
        for index in 0..100_000_u64 {
            let mut process = [0; 16];
            process[..8].copy_from_slice(&index.to_le_bytes());
            assert_eq!(u64::from(streams.number(&process)), index.min(65_535));
        }
        assert_eq!(streams.names().len(), 65_536);
        assert_eq!(streams.names()[65_535], "(all others)");
        let json = serde_json::to_string(streams.names()).unwrap();
        let bytes = streams.json_bytes();
        assert!(json.len() as u64 <= bytes && bytes < 3 * json.len() as u64, "{bytes}");
    }
}
