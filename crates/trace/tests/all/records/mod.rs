//! blktrace's records, byte by byte.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};

pub(crate) const READ: u32 = 1;
pub(crate) const WRITE: u32 = 1 << 1;
pub(crate) const FLUSH: u32 = 1 << 2;
pub(crate) const COMMAND: u32 = 1 << 9;
pub(crate) const NOTIFY: u32 = 1 << 10;
pub(crate) const DISCARD: u32 = 1 << 13;

pub(crate) const QUEUED: u32 = 1;
pub(crate) const INSERTED: u32 = 12;
pub(crate) const REQUEUED: u32 = 6;
pub(crate) const ISSUED: u32 = 7;
pub(crate) const COMPLETED: u32 = 8;
/// A mark of kernels that tell the control group.
pub(crate) const CGROUP: u32 = 1 << 8;

#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) time_ns: u64,
    pub(crate) sector: u64,
    pub(crate) bytes: u32,
    pub(crate) category: u32,
    pub(crate) event: u32,
    pub(crate) process: u32,
    pub(crate) error: u16,
    pub(crate) more: &'a [u8],
}

pub(crate) fn record(
    time_ns: u64,
    event: u32,
    category: u32,
    sector: u64,
    bytes: u32,
) -> Record<'static> {
    Record { time_ns, sector, bytes, category, event, process: 7, error: 0, more: &[] }
}

impl Record<'_> {
    /// 48 bytes in either order, and what follows.
    pub(crate) fn bytes(&self, is_big_endian: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |value: u64, size: usize| match is_big_endian {
            true => bytes.extend_from_slice(&value.to_be_bytes()[8 - size..]),
            false => bytes.extend_from_slice(&value.to_le_bytes()[..size]),
        };
        put(0x6561_7407, 4);
        put(1, 4);
        put(self.time_ns, 8);
        put(self.sector, 8);
        put(u64::from(self.bytes), 4);
        put(u64::from(self.category << 16 | self.event), 4);
        put(u64::from(self.process), 4);
        put(8 << 20, 4);
        put(0, 4);
        put(u64::from(self.error), 2);
        put(self.more.len() as u64, 2);
        bytes.extend_from_slice(self.more);
        bytes
    }
}

pub(crate) fn file(records: &[Record<'_>], is_big_endian: bool) -> Vec<u8> {
    records.iter().flat_map(|record| record.bytes(is_big_endian)).collect()
}

/// Two processors' files of the device `sda`: a write that processor 0 issues and 1 completes, a read
/// the other way round, a flush and a trim; with a command and an insertion, which do not count.
pub(crate) fn write_sda(directory: &Path, is_big_endian: bool) -> [PathBuf; 2] {
    let seconds = 1_700_000_000u32;
    let wall_clock = match is_big_endian {
        true => [seconds.to_be_bytes(), 5u32.to_be_bytes()].concat(),
        false => [seconds.to_le_bytes(), 5u32.to_le_bytes()].concat(),
    };
    let zero = [
        Record { more: b"postgres\0\0\0\0\0\0\0\0", ..record(900, 0, NOTIFY, 0, 0) },
        Record { more: &wall_clock, ..record(950, 1, NOTIFY, 0, 0) },
        record(990, QUEUED, WRITE, 2048, 4096),
        record(995, INSERTED, WRITE, 2048, 4096),
        record(1_000, ISSUED | CGROUP, WRITE, 2048, 4096),
        Record { more: &[0x12; 6], ..record(1_100, ISSUED, READ | COMMAND, 0, 36) },
        record(1_700, COMPLETED, READ, 1 << 33, 65_536),
        record(1_900, ISSUED, DISCARD | WRITE, 4096, 1 << 30),
    ];
    let one = [
        Record { process: 8, ..record(1_200, ISSUED, READ, 1 << 33, 65_536) },
        record(1_500, COMPLETED, WRITE, 2048, 4096),
        record(1_800, ISSUED, FLUSH | READ, 0, 0),
        record(2_000, COMPLETED, FLUSH, u64::MAX, 0),
    ];
    [(0, &zero[..]), (1, &one[..])].map(|(processor, records)| {
        let path = directory.join(format!("sda.blktrace.{processor}"));
        std::fs::write(&path, file(records, is_big_endian)).expect("room for a file");
        path
    })
}
