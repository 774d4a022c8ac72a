//! A file of this program's own in a directory of a mounted file system: what durable writes cost there.
//!
//! Nothing that is there is touched. The file has one name, [`NAME`], is locked while it is used, and goes
//! when the device is dropped; what a killed run leaves behind, the next one names. Writes go through the
//! page cache, as most databases' do, each with its flush or forced, in a thread of its own.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{
    Advice, FallocateFlags, FlockOperation, StatVfsMountFlags, fadvise, fallocate, flock,
};
use writecliff_content::ContentStream;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, ErrorKind,
    InFlight, Io, Layout, LogWrites, Nanos, Operation, PrepareWatch, Purge, PurgeOutcome, Status,
    Telemetry, error_advice,
};

use crate::drive::gauges::Gauges;
use crate::drive::identity::write_cache;
use crate::engine::calls::{Answered, Calls, First, in_flight};
use crate::engine::options::Options;
use crate::host::clock;
use crate::host::sysfs::{DeviceNumber, Host};

/// What the file is called.
const NAME: &str = "writecliff-commit.tmp";
/// What is left free beside it.
const MARGIN: Bytes = Bytes::from_mib(64);
/// Writes at once, a thread each, and flushes.
const COMMITTERS_MAX: usize = 128;
/// Who waits for nothing looks at the clock so often.
const LOOK: Duration = Duration::from_millis(100);
/// A file is written in such parts before anything is measured in it.
const PART: usize = 16 << 20;

/// Why a directory cannot be written to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// It is none.
    #[error("{} is no directory; --in takes one of a mounted file system", path.display())]
    NoDirectory {
        /// What was named.
        path: PathBuf,
    },
    /// A step with the directory or its file failed.
    #[error(
        "{}: {doing} failed: {source}; {}", path.display(),
        error_advice(source.raw_os_error().unwrap_or(0))
    )]
    System {
        /// The directory.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// There is no room for the file.
    #[error(
        "{} has {free} free, and {needed} are needed; make room there, or name another directory",
        path.display()
    )]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// What it has.
        free: Bytes,
        /// What the file takes, and what is left free beside it.
        needed: Bytes,
    },
    /// Another run is using it.
    #[error("another run commits in {} now; wait for its end, or name another directory", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A run that was killed left its file.
    #[error(
        "{} is left of a run that was killed; remove it (`rm {}`) and begin again",
        path.display(), path.display()
    )]
    LeftBehind {
        /// The file.
        path: PathBuf,
    },
}

impl DirectoryError {
    /// What it asks of whoever made the call.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoDirectory { .. } => ErrorKind::Usage,
            Self::System { source, .. } => ErrorKind::of_path(source),
            Self::NoRoom { .. } | Self::InUse { .. } | Self::LeftBehind { .. } => ErrorKind::Failed,
        }
    }
}

/// A file in a directory, as a device.
#[derive(Debug)]
pub struct DirectoryDevice {
    info: DeviceInfo,
    path: PathBuf,
    file: File,
    /// None before the first log.
    log: Option<LogWrites>,
    content: ContentStream,
    calls: Calls,
    gauges: Gauges,
    answered: Vec<Completion>,
}

/// What the directory is with a file of this size in it, without touching it.
///
/// # Errors
/// [`DirectoryError::NoDirectory`] and [`DirectoryError::System`].
pub fn look_at_directory(path: &Path, size: Bytes) -> Result<DeviceInfo, DirectoryError> {
    let (path, below) = resolved(path)?;
    Ok(info(&path, below, size, COMMITTERS_MAX))
}

impl DirectoryDevice {
    /// Makes the file, which never takes more than `size`.
    ///
    /// # Errors
    /// [`DirectoryError`]; nothing is left there then.
    pub fn create(path: &Path, size: Bytes, options: &Options) -> Result<Self, DirectoryError> {
        let (directory, below) = resolved(path)?;
        let failed = |doing| {
            let path = directory.clone();
            move |source: io::Error| DirectoryError::System { path, doing, source }
        };
        let space = rustix::fs::statvfs(&directory)
            .map_err(|error| failed("asking for room")(error.into()))?;
        if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
            let source = io::Error::from_raw_os_error(libc::EROFS);
            return Err(failed("making a file")(source));
        }
        let free = Bytes(space.f_bavail.saturating_mul(space.f_frsize));
        let path = directory.join(NAME);
        if let Some(error) = of_others(&path, &directory) {
            return Err(error);
        }
        let needed = Bytes(size.0.saturating_add(MARGIN.0));
        if free < needed {
            return Err(DirectoryError::NoRoom { path: directory, free, needed });
        }
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(failed("making a file"))?;
        let info = info(&directory, below, size, options.queue_depth.max(COMMITTERS_MAX));
        let content = ContentStream::new(options.seed);
        let (calls, gauges, answered) = (Calls::default(), Gauges::default(), Vec::new());
        let log = None;
        let device = Self { info, path, file, log, content, calls, gauges, answered };
        // From here on it goes with the device.
        flock(&device.file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| failed("locking its file")(error.into()))?;
        Ok(device)
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> DeviceError {
        DeviceError::System { path: self.path.clone(), doing, source }
    }

    /// What has to be done to the file before this, where its beginning is come to again: one that is written over
    /// is what it was.
    fn before(&self, io: &Io) -> Option<First> {
        let is_first = io.operation == Operation::Write && io.offset == Bytes::ZERO;
        let log = self.log.filter(|log| log.begins_anew && is_first)?;
        let size = self.info.capacity;
        (log.layout != Layout::Overwritten).then(|| {
            Box::new(move |file: &File| {
                begin_anew(file, log.layout, size, &mut |_| ControlFlow::Continue(()))
            }) as First
        })
    }

    fn collect(&mut self, mut patience: Duration) {
        while let Some(Answered { io, submitted, completed, result }) = self.calls.next(patience) {
            patience = Duration::ZERO;
            let status = match result {
                Ok(()) => Status::Done,
                Err(error) => Status::Failed(error.raw_os_error().unwrap_or(libc::EIO)),
            };
            self.answered.push(Completion { io, submitted, completed, status });
        }
    }
}

/// Makes the file what it is to be before its first byte is written.
fn begin_anew(file: &File, layout: Layout, size: Bytes, watch: PrepareWatch<'_>) -> io::Result<()> {
    file.set_len(0)?;
    match layout {
        Layout::Appended => {}
        Layout::Preallocated => fallocate(file, FallocateFlags::empty(), 0, size.0)?,
        Layout::Overwritten => {
            let zeros = vec![0; PART];
            for from in (0..size.0).step_by(PART) {
                if watch(from as f64 / size.0 as f64).is_break() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                file.write_all_at(&zeros[..PART.min((size.0 - from) as usize)], from)?;
                // How far it is, is how much the drive has, and not the page cache.
                file.sync_data()?;
            }
        }
    }
    file.sync_all()
}

/// Has the page cache forget a file whose pages are all written: those that large writes laid out lie there in
/// pieces of their size, and every small write into such a piece looks at all of it. A log that a database
/// writes has none.
fn forget_cached(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// What a directory is on.
#[derive(Debug, PartialEq)]
struct FileSystem {
    /// Its type first.
    stands_on: Vec<String>,
    /// The device below it; of a file system that has several, or none, a number of no device.
    device: Option<DeviceNumber>,
}

/// The directory itself, and what it is on.
fn resolved(path: &Path) -> Result<(PathBuf, FileSystem), DirectoryError> {
    let failed = |source| {
        let (path, doing) = (path.to_owned(), "looking at the directory");
        DirectoryError::System { path, doing, source }
    };
    let resolved = fs::canonicalize(path).map_err(failed)?;
    if !resolved.is_dir() {
        return Err(DirectoryError::NoDirectory { path: path.to_owned() });
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let below = filesystem(&resolved, &mounts);
    Ok((resolved, below))
}

/// The file system that a directory is on, of these lines of `/proc/self/mountinfo`: that of the longest
/// mount point above it, and of several at one place the last.
fn filesystem(directory: &Path, mounts: &str) -> FileSystem {
    let of_line = |line: &str| {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split_ascii_whitespace();
        let device = mount.nth(2)?.parse().ok();
        let at = PathBuf::from(unescaped(mount.nth(1)?));
        let mut system = system.split_ascii_whitespace();
        let (kind, options) = (system.next()?.to_owned(), system.nth(1).unwrap_or_default());
        let sends_none =
            options.split(',').any(|option| ["nobarrier", "barrier=0"].contains(&option));
        let stands_on: Vec<String> = std::iter::once(kind)
            .chain(sends_none.then(|| DeviceInfo::WITHOUT_BARRIERS.to_owned()))
            .collect();
        let found = FileSystem { stands_on, device };
        directory.starts_with(&at).then(|| (at.components().count(), found))
    };
    let found = mounts.lines().filter_map(of_line).max_by_key(|(depth, _)| *depth);
    let unknown =
        || FileSystem { stands_on: vec!["an unknown file system".to_owned()], device: None };
    found.map_or_else(unknown, |(_, found)| found)
}

/// A path as `mountinfo` writes it: blanks are `\\040`.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, sign)| text.replace(code, sign))
}

/// A file of the name that is there already: another run's, or what is left of one.
fn of_others(path: &Path, directory: &Path) -> Option<DirectoryError> {
    let file = File::open(path).ok()?;
    Some(match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => DirectoryError::LeftBehind { path: path.to_owned() },
        Err(_) => DirectoryError::InUse { path: directory.to_owned() },
    })
}

fn info(
    directory: &Path,
    below: FileSystem,
    capacity: Bytes,
    queue_depth_max: usize,
) -> DeviceInfo {
    let FileSystem { stands_on, device } = below;
    let disk = device.and_then(|number| Host::this_machine().node(number).ok()?.disk().ok());
    let write_cache = disk.and_then(|disk| write_cache(&disk).ok()?);
    let filesystem = stands_on.first().map_or("", String::as_str);
    let model = format!("{} ({filesystem})", directory.display());
    DeviceInfo {
        model,
        stands_on,
        // Whatever is written through the page cache.
        lba_size: Bytes(1),
        physical_block_size: Bytes(4096),
        io_size_max: Bytes::from_mib(1),
        queue_depth_max,
        write_cache,
        ..DeviceInfo::of(directory.display().to_string(), DeviceKind::Directory, capacity)
    }
}

impl Drop for DirectoryDevice {
    fn drop(&mut self) {
        // Whoever takes the place of the file in the meantime keeps his.
        let _ = fs::remove_file(&self.path);
    }
}

impl Device for DirectoryDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        clock::now()
    }

    fn prepare_log(
        &mut self,
        log: LogWrites,
        watch: PrepareWatch<'_>,
    ) -> Result<Option<usize>, DeviceError> {
        self.calls.write_by(log.committers);
        let was = self.log.replace(log).map(|log| log.layout);
        let is_there = was == Some(Layout::Overwritten) && log.layout == Layout::Overwritten;
        let laid_out = match is_there {
            true => self.file.sync_all(),
            false => begin_anew(&self.file, log.layout, self.info.capacity, watch),
        };
        let laid_out = laid_out.and_then(|()| forget_cached(&self.file));
        match laid_out {
            Ok(()) => Ok(Some(in_flight(log.committers))),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
            Err(source) => Err(self.failed("laying out the file", source)),
        }
    }

    /// # Panics
    /// Of anything but writes and flushes.
    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|io| self.info.check(io))?;
        for io in batch {
            let first = self.before(io);
            let Self { calls, file, info, content, .. } = self;
            let begun = match io.operation {
                Operation::Flush => calls.submit(file, info.kind, *io),
                Operation::Write => calls
                    .submit_write(file, info.kind, *io, first, |buffer| content.fill(io, buffer)),
                other => panic!("{other:?} of a file that is only written"),
            };
            begun.map_err(|source| self.failed("beginning a write", source))?;
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.calls.waiting() == 0 {
            clock::sleep_until(until);
        }
        self.collect(Duration::ZERO);
        while self.answered.is_empty() && self.calls.waiting() > 0 && self.now() < until {
            let patience = Duration::from_nanos(until.since(self.now()).0).min(LOOK);
            self.collect(patience);
        }
        self.answered.sort_by_key(|completion| completion.completed);
        done.append(&mut self.answered);
        Ok(())
    }

    fn purge(&mut self, how: Purge, _: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        let (address, supported) = (self.info.address.clone(), Vec::new());
        Err(DeviceError::PurgeUnsupported { address, how, supported })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry {
            host: Some(self.gauges.counters(None, Nanos::ZERO, Nanos::ZERO)),
            ..Telemetry::default()
        }
    }

    fn in_flight_since(&self, before: DeviceTime) -> Vec<InFlight> {
        self.calls.under_way().filter(|waits| waits.submitted < before).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes(5 << 19);

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /run rw,nosuid - tmpfs tmpfs rw,size=100k
31 22 8:2 / /var/lib/my\\040data rw - xfs /dev/sdb rw,nobarrier
32 22 0:40 / /merged rw - overlay overlay rw,lowerdir=/a
";

    #[test]
    fn a_directory_is_on_the_file_system_of_the_longest_mount_above_it() {
        for (directory, expected, device) in [
            ("/home/me", vec!["ext4"], "8:1"),
            ("/runtime", vec!["ext4"], "8:1"),
            ("/run/user/0", vec!["tmpfs"], "0:26"),
            ("/var/lib/my data/pg", vec!["xfs", DeviceInfo::WITHOUT_BARRIERS], "8:2"),
            ("/merged", vec!["overlay"], "0:40"),
        ] {
            let found = filesystem(Path::new(directory), MOUNTS);
            assert_eq!(found.stands_on, expected, "{directory}");
            assert_eq!(found.device, device.parse().ok(), "{directory}");
        }
        assert_eq!(filesystem(Path::new("/a"), "").stands_on, ["an unknown file system"]);
    }

    fn options() -> Options {
        let (queue_depth, io_size_max) = (16, Bytes::from_kib(64));
        Options { queue_depth, io_size_max, seed: 1, purge: None, poll: false }
    }

    #[test]
    fn writing_the_file_first_is_seen_and_may_be_broken_off() {
        let directory = tempfile::TempDir::new().unwrap();
        let size = Bytes(3 * PART as u64);
        let mut device = DirectoryDevice::create(directory.path(), size, &options()).unwrap();
        let durability = writecliff_device::Durability::Flushed;
        let layout = Layout::Overwritten;
        let log = LogWrites { layout, durability, committers: 1, begins_anew: false };
        let mut seen = Vec::new();
        let broken_off = device.prepare_log(log, &mut |share| {
            seen.push((share * 3.0).round() as u32);
            if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(broken_off.is_err());
        assert_eq!(seen, [0, 1]);
        let path = directory.path().join(NAME);
        assert_eq!(fs::metadata(&path).unwrap().len(), PART as u64);
        drop(device);
        assert!(!path.exists());
    }

    #[test]
    fn a_log_that_was_laid_out_lies_in_no_cache() {
        let directory = tempfile::TempDir::new().unwrap();
        let mut device =
            DirectoryDevice::create(directory.path(), Bytes(3 * PART as u64), &options()).unwrap();
        if device.info.stands_on.iter().any(|system| system == "tmpfs") {
            println!("SKIPPED: all of a tmpfs is cache");
            return;
        }
        let durability = writecliff_device::Durability::Flushed;
        let layout = Layout::Overwritten;
        let log = LogWrites { layout, durability, committers: 1, begins_anew: false };
        device.prepare_log(log, &mut |_| ControlFlow::Continue(())).unwrap();
        let pages = cached_pages(&device.file);
        let cached = pages.iter().filter(|&&is_cached| is_cached).count();
        // What the kernel itself holds at that moment, stays.
        assert!(cached <= pages.len() / 100, "{cached} of {}", pages.len());
    }

    /// Whether each page of a file lies in the page cache, without touching any: a read that may not wait begins
    /// to read ahead, and finds what came meanwhile.
    #[allow(unsafe_code)]
    fn cached_pages(file: &File) -> Vec<bool> {
        // SAFETY: nothing of the mapping is ever read.
        let map = unsafe { memmap2::Mmap::map(file) }.unwrap();
        let mut pages = vec![0_u8; map.len().div_ceil(rustix::param::page_size())];
        // SAFETY: the mapping lives until the call ends, and there is a byte for each of its pages.
        let told =
            unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr()) };
        assert_eq!(told, 0, "{}", io::Error::last_os_error());
        pages.iter().map(|page| page & 1 == 1).collect()
    }

    #[test]
    fn the_file_goes_with_the_device_and_nobody_elses_is_touched() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join(NAME);
        let mut device = DirectoryDevice::create(directory.path(), SIZE, &options()).unwrap();
        let again = DirectoryDevice::create(directory.path(), SIZE, &options()).unwrap_err();
        assert!(matches!(again, DirectoryError::InUse { .. }), "{again}");
        let go_on = &mut |_| ControlFlow::Continue(());
        for layout in [Layout::Overwritten, Layout::Preallocated, Layout::Appended] {
            let durability = writecliff_device::Durability::Flushed;
            let log = LogWrites { layout, durability, committers: 1, begins_anew: true };
            assert_eq!(device.prepare_log(log, go_on).unwrap(), Some(in_flight(1)));
            let length = fs::metadata(&path).unwrap().len();
            assert_eq!(length, if layout == Layout::Appended { 0 } else { SIZE.0 });
            let durabilities = [
                writecliff_device::Durability::Later,
                writecliff_device::Durability::Forced,
                writecliff_device::Durability::Flushed,
            ];
            let page = Bytes(4096);
            for (number, durability) in (0..).zip(durabilities) {
                let write = Io::write(page * number, page).with_durability(durability);
                device.submit(&[write]).unwrap();
                let mut done = Vec::new();
                let until = device.now() + Nanos::from_secs(60);
                device.reap(until, &mut done).unwrap();
                assert_eq!((done.len(), done[0].status), (1, Status::Done));
            }
            let held = fs::read(&path).unwrap();
            let zeros = held[..3 * 4096].iter().filter(|byte| **byte == 0).count();
            assert!(zeros < 3 * 4096 / 16, "random data are hardly ever zero");
        }
        drop(device);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        fs::write(&path, "of a killed run").unwrap();
        let left = DirectoryDevice::create(directory.path(), SIZE, &options()).unwrap_err();
        assert!(matches!(left, DirectoryError::LeftBehind { .. }), "{left}");
        assert_eq!(fs::read(&path).unwrap(), b"of a killed run");
        let file = DirectoryDevice::create(&path, SIZE, &options()).unwrap_err();
        assert_eq!(file.kind(), ErrorKind::Usage);
    }
}
