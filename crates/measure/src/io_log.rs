//! Every single I/O as a stream of bytes: about 13 bytes each, readable up to where it was cut.
//!
//! An entry is five LEB128 numbers: nanoseconds since the entry before was completed, service time
//! in nanoseconds, operation, offset in 512-byte sectors, length in 512-byte sectors.

use std::io::{self, Read};

use writecliff_columns::Storage;
use writecliff_device::{Completion, DeviceTime, Nanos, Operation};

use crate::columns::{Column, MILLIONS_OF_ROWS, Row};

const SECTOR: u64 = 512;
/// Numbers of an entry.
const NUMBERS: usize = 5;
/// Bytes of a stream that are read at once.
const READ_AT_ONCE: u64 = 1 << 20;

/// A row of `ios.parquet`: one I/O.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IoRow {
    /// Submission, in nanoseconds since the run's beginning.
    pub(crate) submitted_ns: u64,
    /// Submission to completion.
    pub(crate) service_ns: u64,
    /// 0 read, 1 write, 2 trim, 3 flush.
    pub(crate) operation: u8,
    /// First byte.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: u64,
}

impl Row for IoRow {
    const STORAGE: Storage = MILLIONS_OF_ROWS;
    const IS_IN_STEPS: bool = true;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::number("submitted_ns", |row| &mut row.submitted_ns),
        Column::number("service_ns", |row| &mut row.service_ns),
        Column::byte("operation", |row| &mut row.operation),
        Column::number("offset", |row| &mut row.offset),
        Column::number("length", |row| &mut row.length),
    ];
}

/// Appends entries to a buffer that the owner writes away each second.
#[derive(Debug)]
pub(crate) struct IoEncoder {
    last_completed: DeviceTime,
}

impl IoEncoder {
    pub(crate) fn new(origin: DeviceTime) -> Self {
        Self { last_completed: origin }
    }

    pub(crate) fn encode(&mut self, completion: &Completion, out: &mut Vec<u8>) {
        let io = &completion.io;
        put(out, completion.completed.since(self.last_completed).0);
        put(out, completion.service_time().0);
        put(out, io.operation as u64);
        put(out, io.offset.0 / SECTOR);
        put(out, io.length.0 / SECTOR);
        self.last_completed = completion.completed;
    }
}

/// Several streams of entries that go on together, each in order of completion, as one.
#[derive(Debug)]
pub(crate) struct IoMerge {
    /// Of the last entry of each stream.
    completed: Vec<DeviceTime>,
}

/// An entry without its first number.
struct Entry<'a> {
    completed: DeviceTime,
    rest: &'a [u8],
}

impl IoMerge {
    /// Of so many streams, which all began then.
    pub(crate) fn new(origin: DeviceTime, streams: usize) -> Self {
        Self { completed: vec![origin; streams] }
    }

    /// Appends to `out` what has come of each stream, as `encoder` would have encoded it.
    pub(crate) fn merge(
        &mut self,
        mut streams: Vec<&[u8]>,
        encoder: &mut IoEncoder,
        out: &mut Vec<u8>,
    ) {
        let (count, completed) = (streams.len(), &mut self.completed);
        let mut take = |stream: usize| take_entry(&mut streams[stream], &mut completed[stream]);
        let mut next: Vec<_> = (0..count).map(&mut take).collect();
        let first = |next: &[Option<Entry<'_>>]| {
            let entries = next.iter().enumerate();
            let times =
                entries.filter_map(|(stream, entry)| Some((entry.as_ref()?.completed, stream)));
            times.min().map(|(_, stream)| stream)
        };
        while let Some(stream) = first(&next) {
            if let Some(entry) = std::mem::replace(&mut next[stream], take(stream)) {
                put(out, entry.completed.since(encoder.last_completed).0);
                out.extend_from_slice(entry.rest);
                encoder.last_completed = entry.completed;
            }
        }
    }
}

/// The next entry of a stream, which only has whole ones.
fn take_entry<'a>(stream: &mut &'a [u8], completed: &mut DeviceTime) -> Option<Entry<'a>> {
    *completed = *completed + Nanos(get(stream)?);
    let ends = stream.iter().enumerate().filter(|(_, byte)| **byte < 0x80);
    let last = ends.map(|(place, _)| place).nth(NUMBERS - 2)?;
    let (rest, further) = stream.split_at(last + 1);
    *stream = further;
    Some(Entry { completed: *completed, rest })
}

/// The entries of a stream, in order of completion; a torn last one is left out.
pub(crate) struct IoDecoder<R> {
    bytes: R,
    /// What was read, up to a megabyte at a time, and how much of it was decoded.
    read: Vec<u8>,
    decoded: usize,
    completed_ns: u64,
}

impl<R: Read> IoDecoder<R> {
    pub(crate) fn new(bytes: R) -> Self {
        Self { bytes, read: Vec::new(), decoded: 0, completed_ns: 0 }
    }

    /// The next entry of what was read, if it is there as a whole.
    fn decode(&mut self) -> Option<IoRow> {
        let mut rest = &self.read[self.decoded..];
        let [since, service_ns, operation, offset, length] = [(); NUMBERS].map(|()| get(&mut rest));
        let row = IoRow {
            submitted_ns: (self.completed_ns + since?).saturating_sub(service_ns?),
            service_ns: service_ns?,
            operation: operation?.min(Operation::Flush as u64) as u8,
            offset: offset?.saturating_mul(SECTOR),
            length: length?.saturating_mul(SECTOR),
        };
        self.completed_ns += since?;
        self.decoded = self.read.len() - rest.len();
        Some(row)
    }

    /// Reads on; `false` at the stream's end.
    fn read_on(&mut self) -> io::Result<bool> {
        self.read.drain(..self.decoded);
        self.decoded = 0;
        let count = self.bytes.by_ref().take(READ_AT_ONCE).read_to_end(&mut self.read)?;
        Ok(count > 0)
    }
}

impl<R: Read> Iterator for IoDecoder<R> {
    type Item = io::Result<IoRow>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.decode() {
                return Some(Ok(row));
            }
            match self.read_on() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front; none if it is torn.
fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::{Bytes, Io, Status};

    fn completion(io: Io, submitted: u64, completed: u64) -> Completion {
        let (submitted, completed) = (DeviceTime(submitted), DeviceTime(completed));
        Completion { io, submitted, completed, status: Status::Done }
    }

    #[test]
    fn what_is_encoded_is_decoded_up_to_the_torn_end() {
        let origin = 1_000_000;
        let ios = [
            completion(
                Io::write(Bytes(u64::MAX / 512 * 512), Bytes(4096)),
                origin,
                origin + 70_000,
            ),
            completion(Io::read(Bytes(512), Bytes(512)), origin + 3, origin + 70_000),
            completion(Io::flush(), origin + 5, origin + 9_000_000_000),
        ];
        let mut encoder = IoEncoder::new(DeviceTime(origin));
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for io in &ios {
            encoder.encode(io, &mut bytes);
            ends.push(bytes.len());
        }
        for cut in 0..=bytes.len() {
            let rows: Vec<_> = IoDecoder::new(&bytes[..cut]).map(Result::unwrap).collect();
            assert_eq!(rows.len(), ends.iter().filter(|end| **end <= cut).count());
            for (row, io) in rows.iter().zip(&ios) {
                assert_eq!(row.submitted_ns, io.submitted.0 - origin);
                assert_eq!(row.service_ns, io.service_time().0);
                assert_eq!((row.offset, row.length), (io.io.offset.0, io.io.length.0));
                assert_eq!(row.operation, io.io.operation as u8);
            }
        }
    }

    #[test]
    fn a_typical_entry_takes_at_most_sixteen_bytes() {
        let mut encoder = IoEncoder::new(DeviceTime(0));
        let mut bytes = Vec::new();
        // 1 TB drive, 4 ms of service time, 1 ms since the last completion.
        let io = Io::write(Bytes::from_gib(900), Bytes(4096));
        encoder.encode(&completion(io, 0, 4_000_000), &mut bytes);
        assert!(bytes.len() <= 16, "{} bytes", bytes.len());
    }
}
