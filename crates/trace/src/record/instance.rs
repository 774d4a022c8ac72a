//! A trace buffer of our own in the kernel, apart from what others trace.
//!
//! An instance is a directory of tracefs: to make it is to have the buffer, to remove it is to end
//! it. Its name holds the number of our process, so that one left behind by a kill is known; the
//! kernel does not let one be removed that is still being read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use writecliff_device::Bytes;

use crate::RecordError;

/// Where tracefs belongs.
const TRACEFS: &str = "/sys/kernel/tracing";
const NAME: &str = "writecliff-";

/// How full a processor's buffer gets before a reader that waits is woken, in percent.
const WAKE_PERCENT: &str = "25";

/// More than any description of an event takes.
const TEXT_MAX: usize = 64 << 10;

/// A private instance, with one pipe a processor; removed when it is dropped.
#[derive(Debug)]
pub(super) struct Instance {
    path: PathBuf,
    pipes: Vec<File>,
}

/// What had to be done before an instance could be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Preparation {
    /// tracefs was not mounted, and is now, here.
    pub mounted: Option<PathBuf>,
    /// Instances that killed recordings had left, and that are gone now.
    pub removed: Vec<String>,
}

impl Instance {
    /// Makes an instance, not tracing yet, whose buffer has `buffer` bytes a processor.
    ///
    /// # Errors
    /// [`RecordError::NotPermitted`], [`RecordError::NoTracefs`], [`RecordError::Tracefs`].
    pub(super) fn make(buffer: Bytes) -> Result<(Self, Preparation), RecordError> {
        let tracefs = Path::new(TRACEFS);
        let mounted = mount_tracefs(tracefs)?.then(|| tracefs.to_owned());
        let instances = tracefs.join("instances");
        let removed = remove_left_behind(&instances)?;
        let path = free_name(&instances);
        fs::create_dir(&path).map_err(|source| failed(&path, source))?;
        let mut instance = Self { path, pipes: Vec::new() };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", &buffer.0.div_ceil(1024).to_string())?;
        if instance.path.join("buffer_percent").exists() {
            instance.set("buffer_percent", WAKE_PERCENT)?;
        }
        instance.pipes = instance.open_pipes()?;
        Ok((instance, Preparation { mounted, removed }))
    }

    /// Writes a file of the instance.
    pub(super) fn set(&self, file: &str, value: &str) -> Result<(), RecordError> {
        let path = self.path.join(file);
        // Without O_CREAT: nothing can be made in tracefs.
        let opened = OpenOptions::new().write(true).open(&path);
        let written = opened.and_then(|mut file| file.write_all(value.as_bytes()));
        written.map_err(|source| failed(&path, source))
    }

    /// Reads a file of the instance; `None` if there is none.
    pub(super) fn get(&self, file: &str) -> Result<Option<String>, RecordError> {
        let path = self.path.join(file);
        match read_at_once(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(failed(&path, source)),
        }
    }

    /// The number of processors that events come from.
    pub(super) fn processors(&self) -> usize {
        self.pipes.len()
    }

    /// Waits until a processor's buffer fills up, or for `timeout`.
    pub(super) fn wait(&self, timeout: Duration) -> Result<(), RecordError> {
        let mut pipes: Vec<_> =
            self.pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        let timeout = Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut pipes, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(failed(&self.path, error.into())),
        }
    }

    /// Takes one page of a processor's events out of its buffer; `false` if there is none.
    pub(super) fn read(&self, processor: usize, page: &mut [u8]) -> Result<bool, RecordError> {
        loop {
            match rustix::io::read(&self.pipes[processor], &mut *page) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(&self.path.join("per_cpu"), error.into())),
            }
        }
    }

    /// Events that the kernel recorded and nobody will read, on all processors so far.
    pub(super) fn lost(&self) -> Result<u64, RecordError> {
        let mut lost = 0;
        for directory in self.processor_directories()? {
            let path = directory.join("stats");
            let stats = fs::read_to_string(&path).map_err(|source| failed(&path, source))?;
            lost += lost_by(&stats);
        }
        Ok(lost)
    }

    fn open_pipes(&self) -> Result<Vec<File>, RecordError> {
        let open = |directory: PathBuf| {
            let path = directory.join("trace_pipe_raw");
            let flags = OFlags::NONBLOCK.bits() as i32;
            let opened = OpenOptions::new().read(true).custom_flags(flags).open(&path);
            opened.map_err(|source| failed(&path, source))
        };
        self.processor_directories()?.into_iter().map(open).collect()
    }

    fn processor_directories(&self) -> Result<Vec<PathBuf>, RecordError> {
        let path = self.path.join("per_cpu");
        let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|source| failed(&path, source))?;
        Ok(entries.iter().map(fs::DirEntry::path).collect())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The kernel keeps an instance that is open. One that stays all the same is removed by the
        // next recording.
        self.pipes.clear();
        let _ = self.set("tracing_on", "0");
        let _ = fs::remove_dir(&self.path);
    }
}

/// Mounts tracefs unless that is done; tells whether it was needed.
fn mount_tracefs(at: &Path) -> Result<bool, RecordError> {
    let instances = at.join("instances");
    match fs::metadata(&instances) {
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(source) => return Err(failed(&instances, source)),
    }
    match mount("tracefs", at, "tracefs", MountFlags::empty(), None) {
        Ok(()) => Ok(true),
        Err(Errno::NODEV | Errno::NOENT) => Err(RecordError::NoTracefs),
        Err(error) => Err(failed(at, error.into())),
    }
}

/// Removes our instances of processes that are no more.
fn remove_left_behind(instances: &Path) -> Result<Vec<String>, RecordError> {
    let entries = fs::read_dir(instances).map_err(|source| failed(instances, source))?;
    let mut removed = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_dead = owner(&name).is_some_and(|owner| !is_alive(owner));
        if is_dead && fs::remove_dir(entry.path()).is_ok() {
            removed.push(name);
        }
    }
    Ok(removed)
}

/// The process whose instance a name is of; `None` if it is not ours.
fn owner(name: &str) -> Option<u32> {
    let (process, count) = name.strip_prefix(NAME)?.split_once('-')?;
    count.parse::<u32>().ok()?;
    process.parse().ok()
}

fn is_alive(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// A process may record several devices.
fn free_name(instances: &Path) -> PathBuf {
    let name = |count: u32| instances.join(format!("{NAME}{}-{count}", process::id()));
    let mut count = 1;
    while name(count).exists() {
        count += 1;
    }
    name(count)
}

/// Some files of tracefs give their text to the first read only, and no more than it has room for.
fn read_at_once(path: &Path) -> io::Result<String> {
    let mut text = Vec::with_capacity(TEXT_MAX);
    BufReader::with_capacity(TEXT_MAX, File::open(path)?).read_until(0, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// `overrun: 12` and its like in a processor's `stats`: overwritten before they were read, too deep
/// in interrupts to be kept, refused because the buffer was full.
fn lost_by(stats: &str) -> u64 {
    let reasons = ["overrun", "commit overrun", "dropped events"];
    let lines = stats.lines().filter_map(|line| line.split_once(':'));
    let counts = lines.filter(|(key, _)| reasons.contains(&key.trim()));
    counts.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

fn failed(path: &Path, source: io::Error) -> RecordError {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::PermissionDenied => RecordError::NotPermitted { path, source },
        _ => RecordError::Tracefs { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_have_an_owner() {
        assert_eq!(owner("writecliff-17-1"), Some(17));
        for name in ["writecliff-17", "writecliff-x-1", "writecliff-17-x", "others-17-1", ""] {
            assert_eq!(owner(name), None, "{name}");
        }
        assert!(is_alive(process::id()) && !is_alive(u32::MAX));
    }

    #[test]
    fn all_three_kinds_of_loss_count() {
        let stats = "entries: 9\noverrun: 5\ncommit overrun: 2\nbytes: 77\n\
                     oldest event ts: 11987.022812\ndropped events: 30\nread events: 4\n";
        assert_eq!(lost_by(stats), 37);
        assert_eq!(lost_by(""), 0);
    }
}
