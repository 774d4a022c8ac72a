//! Traces with damage, in every format and packing: the reader never panics, never reads more
//! operations than the damage can have made, and gives only such as can be.
use crate::outcome;
use crate::records;

use std::fs;
use std::path::Path;

use outcome::formats;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Content, Nanos, Operation};
use writecliff_trace::{
    Existing, Format, Header, ReadError, Source, SourceOptions, Summary, TraceIo, TraceWriter,
};

/// Pieces that lines are made of, and some that are not.
const PIECES: [&[u8]; 20] = [
    b"0",
    b"9",
    b"-1",
    b",",
    b" ",
    b"\n",
    b"\r\n",
    b"\"",
    b"[x]",
    b"+",
    b":",
    b".",
    b"18446744073709551615",
    b"4294967296",
    b"1e9",
    b"block_rq_issue: ",
    b"wait 99999999999999999",
    b"\xff\xfe",
    b"\0\0\0\0",
    b"fio version 2 iolog\n",
];

struct Damage {
    random: Xoshiro256PlusPlus,
}

impl Damage {
    fn below(&mut self, limit: usize) -> usize {
        (self.random.next_u64() % limit.max(1) as u64) as usize
    }

    /// One to four of: a bit turned, bytes gone, a piece put in, a stretch doubled, the end cut off.
    fn done_to(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let end = (at + self.below(64)).min(bytes.len());
            match self.below(9) {
                0..4 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                4 => drop(bytes.drain(at..end)),
                5 | 6 => {
                    let piece = PIECES[self.below(PIECES.len())];
                    bytes.splice(at..at, piece.iter().copied());
                }
                7 => {
                    let twice = bytes[at..end].to_vec();
                    bytes.splice(at..at, twice);
                }
                _ if self.below(4) == 0 => bytes.truncate(at),
                _ => {}
            }
        }
        bytes
    }
}

/// Every hand-made file, one of blktrace, two of our own, and some of them packed.
fn seeds() -> Vec<(String, Format, Vec<u8>)> {
    let mut seeds: Vec<(String, Format, Vec<u8>)> = outcome::FILES
        .iter()
        .map(|(name, format)| (name.to_string(), *format, fs::read(formats().join(name)).unwrap()))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let [sda, _] = records::write_sda(directory.path(), false);
    seeds.push(("blktrace".to_owned(), Format::Blktrace, fs::read(sda).unwrap()));
    for count in [20, 3000] {
        let own = own(&directory.path().join("t.trace"), count);
        seeds.push((format!("{count} of our own"), Format::Trace, own));
    }
    for index in [0, 5] {
        let (name, format, bytes) = &seeds[index];
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        let packed = (format!("{name}, packed"), *format, packed);
        seeds.push(packed);
    }
    seeds
}

fn own(path: &Path, count: u64) -> Vec<u8> {
    let mut writer = TraceWriter::create(path, Existing::Replaced).unwrap();
    for index in 0..count {
        let operation = if index % 3 == 0 { Operation::Write } else { Operation::Read };
        let io = TraceIo {
            completed: (index % 5 > 0).then_some(Nanos(index * 1000 + 700)),
            queue_depth: (index % 7 > 0).then_some(3),
            content: (index % 6 == 0).then_some(Content::INCOMPRESSIBLE),
            stream: (index % 2) as u16,
            ..TraceIo::new(Nanos(index * 1000), operation, Bytes(index * 4096), Bytes(4096))
        };
        writer.write(&io).unwrap();
    }
    let streams = vec!["a".to_owned(), "b".to_owned()];
    writer.finish(&Header { streams, ..Header::default() }).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn no_damage_leads_to_a_panic_or_to_an_operation_that_cannot_be() {
    let rounds = if std::env::var_os("WRITECLIFF_NIGHTLY").is_some() { 5_000 } else { 200 };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged");
    let mut damage = Damage { random: Xoshiro256PlusPlus::seed_from_u64(5) };
    for (name, format, whole) in seeds() {
        let (mut read, mut refused) = (0, 0);
        for round in 0..rounds {
            let bytes = damage.done_to(&whole);
            fs::write(&path, &bytes).unwrap();
            let told = (round % 2 == 0).then_some(format);
            let bad_lines_percent = if round % 3 == 0 { 1.0 } else { 100.0 };
            let options =
                SourceOptions { format: told, bad_lines_percent, ..SourceOptions::default() };
            match all(&path, &options, whole.len() + bytes.len()) {
                Ok(()) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().contains("damaged"), "{name}: {error}");
                }
            }
        }
        assert!(read > 0 && refused > 0, "{name}: {read} read, {refused} refused");
    }
}

/// Reads everything, which must be in order and of ranges that can be; and counts it.
fn all(path: &Path, options: &SourceOptions, ios_max: usize) -> Result<(), ReadError> {
    let mut source = Source::open(path, options)?;
    let mut summary = Summary::new();
    while let Some(io) = source.next() {
        let io = io?;
        assert!(io.issued >= summary.last_issued, "{io:?}");
        assert!(io.offset.0.checked_add(io.length.0).is_some(), "{io:?}");
        assert!(io.queue_depth != Some(0), "{io:?}");
        summary.add(&io);
        assert!(summary.ios() <= ios_max as u64, "an endless trace");
        let _ = source.stream(io.stream);
    }
    let lost = source.problems().lost();
    assert!(source.header().lost >= lost || options.format == Some(Format::Trace));
    Ok(())
}
