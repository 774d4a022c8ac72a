//! A discard of a whole device, in a thread of its own: a drive may take minutes for it, and the
//! one who asked for it must be able to say that it is enough.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use rustix::io::Errno;
use writecliff_device::{Bytes, DeviceKind, Nanos, PurgeWatch};

use crate::clock;
use crate::ioctl;

/// A discard goes out in parts of this size, so that breaking it off does not wait for all of it.
/// The kernel cuts them further, into what the drive takes at a time.
const PART: u64 = 4 << 30;
/// So often the watcher is asked.
const PERIOD: Duration = Duration::from_millis(100);
/// So long a part may go on after the watcher has broken off.
const LAST_WAIT: Nanos = Nanos::from_secs(5);

/// How a discard ended, other than well.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// The watcher broke it off.
    Stopped,
    /// The drive failed the part that begins there.
    Failed(Bytes, io::Error),
    /// The flush after it failed.
    FlushFailed(io::Error),
}

/// What two threads know of one discard.
#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    stop: AtomicBool,
}

/// Tells whether a discard that was broken off is still in the kernel.
#[derive(Debug, Default, Clone)]
pub(crate) struct StillRunning(Arc<AtomicBool>);

impl StillRunning {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Discards `[0, capacity)` and flushes. `running` tells, also afterwards, whether the thread is
/// still at it.
///
/// # Errors
/// [`Unfinished`].
pub(crate) fn all(
    file: &File,
    kind: DeviceKind,
    capacity: Bytes,
    running: &StillRunning,
    watch: PurgeWatch<'_>,
) -> Result<(), Unfinished> {
    let failed = |error| Unfinished::Failed(Bytes::ZERO, error);
    let file = file.try_clone().map_err(failed)?;
    let shared = Arc::new(Shared::default());
    let (theirs, flag) = (Arc::clone(&shared), running.clone());
    let (sender, ended) = channel::<Result<(), Unfinished>>();
    flag.0.store(true, Ordering::Relaxed);
    let work = move || {
        let result = parts(&file, kind, capacity, &theirs);
        flag.0.store(false, Ordering::Relaxed);
        tell(&sender, result);
    };
    thread::Builder::new().name("discard".to_owned()).spawn(work).map_err(failed)?;
    let mut stopped_at = None;
    loop {
        match ended.recv_timeout(PERIOD) {
            Ok(Ok(())) if stopped_at.is_none() => return Ok(()),
            Ok(Ok(())) | Err(RecvTimeoutError::Disconnected) => return Err(Unfinished::Stopped),
            Ok(Err(unfinished)) => return Err(unfinished),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let share = shared.done.load(Ordering::Relaxed) as f64 / capacity.0.max(1) as f64;
        match stopped_at {
            None if watch(share).is_break() => {
                shared.stop.store(true, Ordering::Relaxed);
                stopped_at = Some(clock::now());
            }
            Some(since) if clock::now().since(since) > LAST_WAIT => {
                return Err(Unfinished::Stopped);
            }
            _ => {}
        }
    }
}

/// Whoever waits may have given up.
fn tell(sender: &Sender<Result<(), Unfinished>>, result: Result<(), Unfinished>) {
    let _ = sender.send(result);
}

fn parts(
    file: &File,
    kind: DeviceKind,
    capacity: Bytes,
    shared: &Shared,
) -> Result<(), Unfinished> {
    let mut start = 0;
    while start < capacity.0 {
        if shared.stop.load(Ordering::Relaxed) {
            return Err(Unfinished::Stopped);
        }
        let length = (capacity.0 - start).min(PART);
        range(file, kind, start, length).map_err(|e| Unfinished::Failed(Bytes(start), e))?;
        start += length;
        shared.done.store(start, Ordering::Relaxed);
    }
    fdatasync(file).map_err(|errno| Unfinished::FlushFailed(errno.into()))
}

/// Tells the drive, or the filesystem below a file, that a range is no longer needed.
pub(crate) fn range(file: &File, kind: DeviceKind, offset: u64, length: u64) -> io::Result<()> {
    if kind == DeviceKind::File {
        return Ok(punch_hole(file, offset, length)?);
    }
    let end = offset + length;
    let mut start = offset;
    while start < end {
        let part = (end - start).min(PART);
        ioctl::discard(file, start, part)?;
        start += part;
    }
    Ok(())
}

pub(crate) fn punch_hole(file: &File, offset: u64, length: u64) -> Result<(), Errno> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, how, offset, length)
}
