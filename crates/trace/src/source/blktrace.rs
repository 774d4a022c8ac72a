//! What blktrace writes: a file of binary records for each processor.
//!
//! A record has 48 bytes in the byte order of the machine that wrote it: magic and version, sequence
//! number, time (ns), first sector, bytes, action, process, device, processor (u32 each, time and
//! sector u64), error and length of what follows (u16 each).

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use writecliff_device::Operation;

use super::fields::Expected;
use super::input::{Input, Progress};
use super::names::Names;
use super::problems::{Place, Problems};
use super::text::Parsed;
use crate::ReadError;
use crate::kernel::{DeviceNumber, Event, SECTOR, What, range};

/// The first word of a record, without its version.
pub(super) const BLKTRACE_MAGIC: u32 = 0x6561_7400;
const RECORD: usize = 48;
const VERSION: u32 = 7;
/// How many processes' names are kept.
const PROCESSES_MAX: usize = 1 << 16;
/// What stands between the name of a device and the number of a processor.
const INFIX: &str = ".blktrace.";

/// Categories in the high half of an action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
/// A mark in the low half: the record carries a control group.
const CGROUP: u16 = 1 << 8;

/// The files of all processors, merged by time.
pub(super) struct Blktrace {
    processors: Vec<Processor>,
    /// The name of each process, and its number as a stream.
    processes: HashMap<u32, Vec<u8>>,
    /// Wall-clock time less the trace's time, if a record tells.
    unix_offset_ns: Option<i128>,
}

/// One processor's file, with its next record.
struct Processor {
    path: PathBuf,
    input: Input,
    /// Of the next byte to be read.
    offset: u64,
    next: Option<Record>,
}

#[derive(Debug, Clone)]
struct Record {
    is_big_endian: bool,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    process: u32,
    device: u32,
    error: u16,
    /// What follows a notice; empty for all other records.
    notice: Vec<u8>,
}

impl Blktrace {
    /// # Errors
    /// [`ReadError::Read`].
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, ReadError> {
        let mut processors = Vec::with_capacity(paths.len());
        for path in paths {
            let input = Input::open(path).map_err(|source| read_error(path, source))?;
            let path = path.clone();
            processors.push(Processor { path, input, offset: 0, next: None });
        }
        Ok(Self { processors, processes: HashMap::new(), unix_offset_ns: None })
    }

    pub(super) fn progress(&self) -> Vec<Progress> {
        self.processors.iter().map(|processor| processor.input.progress().clone()).collect()
    }

    pub(super) fn path(&self) -> &Path {
        self.processors.first().map_or(Path::new(""), |processor| &processor.path)
    }

    pub(super) fn unix_offset_ns(&self) -> Option<i128> {
        self.unix_offset_ns
    }

    /// What the earliest of all next records says; `None` at the end.
    pub(super) fn next(
        &mut self,
        names: &mut Names,
        problems: &mut Problems,
    ) -> Result<Option<Parsed>, ReadError> {
        let mut first: Option<(u64, usize)> = None;
        for (index, processor) in self.processors.iter_mut().enumerate() {
            if processor.next.is_none() {
                processor.next = processor.read(problems)?;
            }
            if let Some(record) = &processor.next {
                let key = (record.time_ns, index);
                first = Some(first.map_or(key, |first| first.min(key)));
            }
        }
        let Some((_, index)) = first else { return Ok(None) };
        let processor = &mut self.processors[index];
        let Some(record) = processor.next.take() else { return Ok(None) };
        let place = Place::Byte(processor.offset);
        match self.parse(&record, names) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(expected) => {
                let found = format!("sector {}, {} bytes", record.sector, record.bytes);
                let path = &self.processors[index].path;
                problems.add_broken(path, place, expected, found.as_bytes());
                Ok(Some(Parsed::Broken))
            }
        }
    }

    fn parse(&mut self, record: &Record, names: &mut Names) -> Result<Parsed, Expected> {
        let category = record.action >> 16;
        if category & NOTIFY != 0 {
            self.note(record);
            return Ok(Parsed::PassedOver);
        }
        let what = action(record.action as u16 & !CGROUP);
        let (Some(what), Some(operation)) = (what, operation(category, record.bytes)) else {
            return Ok(Parsed::PassedOver);
        };
        let device = DeviceNumber(record.device);
        let stream = match what {
            What::Issued | What::BioQueued => match self.processes.get(&record.process) {
                Some(name) => names.process(name, device),
                None => names.process(record.process.to_string().as_bytes(), device),
            },
            _ => names.wants(device).then_some(0),
        };
        let Some(stream) = stream else { return Ok(Parsed::OtherStream) };
        let sectors = u64::from(record.bytes) / SECTOR;
        let (sector, sectors) = range(operation, record.sector, sectors)?;
        let (time_ns, is_failed) = (record.time_ns, what.is_completion() && record.error != 0);
        let event = Event { time_ns, what, operation, device, stream, sector, sectors, is_failed };
        Ok(Parsed::Event(event))
    }

    /// Processes tell their names, and the trace what time it is.
    fn note(&mut self, record: &Record) {
        match record.action as u16 & !CGROUP {
            0 if self.processes.len() < PROCESSES_MAX => {
                let name = record.notice.split(|byte| *byte == 0).next().unwrap_or_default();
                self.processes.insert(record.process, name.to_vec());
            }
            1 => {
                if let [a, b, c, d, e, f, g, h, ..] = record.notice[..] {
                    let seconds = word(record.is_big_endian, [a, b, c, d]);
                    let nanos = word(record.is_big_endian, [e, f, g, h]);
                    let unix_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
                    self.unix_offset_ns = Some(unix_ns - i128::from(record.time_ns));
                }
            }
            _ => {}
        }
    }
}

/// What the number in the low half of an action says happened.
fn action(number: u16) -> Option<What> {
    match number {
        1 => Some(What::BioQueued),
        6 => Some(What::Requeued),
        7 => Some(What::Issued),
        8 => Some(What::AnyCompleted),
        _ => None,
    }
}

/// The operation of a record of these categories, of so many bytes.
fn operation(category: u32, bytes: u32) -> Option<Operation> {
    let is = |flag: u32| category & flag != 0;
    match bytes {
        _ if is(COMMAND) => None,
        0 => is(FLUSH).then_some(Operation::Flush),
        _ if is(DISCARD) => Some(Operation::Trim),
        _ if is(WRITE) => Some(Operation::Write),
        _ => Some(Operation::Read),
    }
}

impl Processor {
    /// The next whole record; from a broken one on, the next that begins with the magic number.
    fn read(&mut self, problems: &mut Problems) -> Result<Option<Record>, ReadError> {
        loop {
            let ahead =
                self.input.ahead(RECORD).map_err(|source| read_error(&self.path, source))?;
            if ahead.is_empty() {
                return Ok(None);
            }
            problems.lines += 1;
            let read = match Record::parse(ahead) {
                Ok((record, more)) => self.with_notice(record, more)?,
                Err(expected) => Err(expected),
            };
            match read {
                Ok(record) => return Ok(Some(record)),
                Err(expected) => {
                    let found = format!("{:02x?}", self.peek(RECORD)?);
                    let place = Place::Byte(self.offset);
                    problems.add_broken(&self.path, place, expected, found.as_bytes());
                    self.find_magic()?;
                }
            }
        }
    }

    /// Goes behind a record and the `more` bytes that follow it, which only notices need.
    fn with_notice(
        &mut self,
        mut record: Record,
        more: usize,
    ) -> Result<Result<Record, Expected>, ReadError> {
        let all = self.peek(RECORD + more)?;
        if all.len() < RECORD + more {
            return Ok(Err("as many bytes behind the record as it says"));
        }
        if record.action >> 16 & NOTIFY != 0 {
            record.notice = all[RECORD..].to_vec();
        }
        self.skip(RECORD + more);
        Ok(Ok(record))
    }

    /// Goes on to the next magic number, or to the end.
    fn find_magic(&mut self) -> Result<(), ReadError> {
        self.skip(1);
        loop {
            let ahead = self.ahead(RECORD)?;
            let magic = BLKTRACE_MAGIC | VERSION;
            let little = memchr::memmem::find(ahead, &magic.to_le_bytes());
            let big = memchr::memmem::find(ahead, &magic.to_be_bytes());
            let first = little.into_iter().chain(big).min();
            let count = ahead.len();
            // The last three bytes may be the beginning of one.
            self.skip(first.unwrap_or(if count < 4 { count } else { count - 3 }));
            if first.is_some() || count < 4 {
                return Ok(());
            }
        }
    }

    fn ahead(&mut self, count: usize) -> Result<&[u8], ReadError> {
        self.input.ahead(count).map_err(|source| read_error(&self.path, source))
    }

    fn peek(&mut self, count: usize) -> Result<&[u8], ReadError> {
        self.ahead(count).map(|ahead| &ahead[..ahead.len().min(count)])
    }

    fn skip(&mut self, count: usize) {
        self.input.skip(count);
        self.offset += count as u64;
    }
}

impl Record {
    /// A record without what follows it, and how many bytes do.
    fn parse(ahead: &[u8]) -> Result<(Self, usize), Expected> {
        let fields = ahead.first_chunk::<RECORD>().ok_or("the 48 bytes of a record")?;
        let four = |at: usize| [fields[at], fields[at + 1], fields[at + 2], fields[at + 3]];
        let is_big_endian = u32::from_be_bytes(four(0)) & !0xff == BLKTRACE_MAGIC;
        let u32_at = |at: usize| word(is_big_endian, four(at));
        let u64_at = |at: usize| {
            let (first, second) = (u64::from(u32_at(at)), u64::from(u32_at(at + 4)));
            if is_big_endian { first << 32 | second } else { second << 32 | first }
        };
        match u32_at(0) ^ BLKTRACE_MAGIC {
            VERSION => {}
            0..=0xff => return Err("records of version 7"),
            _ => return Err("the magic number of a record"),
        }
        let last = u32_at(44);
        let (error, more) = match is_big_endian {
            true => (last >> 16, last & 0xffff),
            false => (last & 0xffff, last >> 16),
        };
        let record = Self {
            is_big_endian,
            time_ns: u64_at(8),
            sector: u64_at(16),
            bytes: u32_at(24),
            action: u32_at(28),
            process: u32_at(32),
            device: u32_at(36),
            error: error as u16,
            notice: Vec::new(),
        };
        Ok((record, more as usize))
    }
}

fn word(is_big_endian: bool, bytes: [u8; 4]) -> u32 {
    if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

fn read_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::Read { path: path.to_owned(), source }
}

/// The files of all processors, for one of them, for several, or for what stands before their
/// `.blktrace.N`; `None` if the paths name no such files, or a processor twice.
pub(super) fn files(paths: &[PathBuf]) -> Option<Vec<PathBuf>> {
    match paths {
        [path] => match Name::of(path) {
            Some(name) => Some(siblings(path, name.device, name.packing)),
            None if path.exists() => None,
            None => {
                let name = path.file_name()?.to_str()?;
                let files = siblings(path, name.strip_suffix(".blktrace").unwrap_or(name), "");
                (!files.is_empty()).then_some(files)
            }
        },
        [first, others @ ..] => {
            let device = Name::of(first)?.device;
            let is_alike = |path: &PathBuf| {
                let is_same = Name::of(path).is_some_and(|name| name.device == device);
                is_same && path.parent() == first.parent()
            };
            let processors: HashSet<_> =
                paths.iter().filter_map(|path| Some(Name::of(path)?.processor)).collect();
            let are_one = others.iter().all(is_alike) && processors.len() == paths.len();
            are_one.then(|| paths.to_vec())
        }
        [] => None,
    }
}

/// The parts of the name of a processor's file.
struct Name<'a> {
    device: &'a str,
    processor: u32,
    /// How it is packed: `.gz`, `.zst`, or nothing.
    packing: &'a str,
}

impl<'a> Name<'a> {
    fn of(path: &'a Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (device, rest) = name.rsplit_once(INFIX)?;
        let end = rest.find('.').unwrap_or(rest.len());
        let (number, packing) = rest.split_at(end);
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || !matches!(packing, "" | ".gz" | ".zst") {
            return None;
        }
        Some(Self { device, processor: number.parse().ok()?, packing })
    }
}

/// All files of a device in the directory of `path`, in order of their processors. Of several with
/// the events of one processor, that one which is packed as `packing` says, else the least packed:
/// the others are copies.
fn siblings(path: &Path, device: &str, packing: &str) -> Vec<PathBuf> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).into_iter().flatten();
    let mut files = BTreeMap::new();
    for entry in entries.flatten() {
        let path = match directory {
            Some(directory) => directory.join(entry.file_name()),
            None => PathBuf::from(entry.file_name()),
        };
        let Some(name) = Name::of(&path).filter(|name| name.device == device) else { continue };
        let rank = (name.packing != packing, name.packing.to_owned());
        let (processor, found) = (name.processor, (rank, path.clone()));
        match files.entry(processor) {
            Entry::Vacant(place) => drop(place.insert(found)),
            Entry::Occupied(mut other) if found < *other.get() => drop(other.insert(found)),
            Entry::Occupied(_) => {}
        }
    }
    files.into_values().map(|(_, path)| path).collect()
}
