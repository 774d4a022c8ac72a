//! A discard of a whole device, in a thread of its own: a drive may take minutes for it, and the
//! one who asked for it must be able to say that it is enough.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
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

/// Discards `[0, capacity)` and flushes. `running` tells, also afterwards, whether that is still
/// going on.
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
    let file = file.try_clone().map_err(|error| Unfinished::Failed(Bytes::ZERO, error))?;
    let work = move |shared: &Shared| parts(&file, kind, capacity, shared);
    beside(work, capacity, running, watch)
}

/// Does `work` in another thread, and asks the watcher meanwhile.
fn beside(
    work: impl FnOnce(&Shared) -> Result<(), Unfinished> + Send + 'static,
    capacity: Bytes,
    running: &StillRunning,
    watch: PurgeWatch<'_>,
) -> Result<(), Unfinished> {
    let (shared, running) = (Arc::new(Shared::default()), running.clone());
    let (sender, ended) = channel();
    running.0.store(true, Ordering::Relaxed);
    let theirs = Arc::clone(&shared);
    let work = move || {
        let result = work(&theirs);
        running.0.store(false, Ordering::Relaxed);
        // Whoever waits may have given up.
        let _ = sender.send(result);
    };
    let thread = thread::Builder::new().name("discard".to_owned());
    thread.spawn(work).map_err(|error| Unfinished::Failed(Bytes::ZERO, error))?;
    let mut stopped_at = None;
    loop {
        match ended.recv_timeout(PERIOD) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(Unfinished::Stopped),
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

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn a_discard_that_hangs_is_left_to_itself_a_while_after_it_was_broken_off() {
        let (answer, drive) = channel::<()>();
        let hang = move |_: &Shared| {
            let _ = drive.recv();
            Ok(())
        };
        let (running, mut asked) = (StillRunning::default(), 0);
        let ended = beside(hang, Bytes(1), &running, &mut |_| {
            asked += 1;
            if asked == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(ended, Err(Unfinished::Stopped)), "{ended:?}");
        assert!(asked == 3 && running.get(), "asked {asked} times");
        drop(answer);
        while running.get() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_discard_that_is_broken_off_ends_with_its_part() {
        let parts = |shared: &Shared| {
            while !shared.stop.load(Ordering::Relaxed) {
                shared.done.store(50, Ordering::Relaxed);
                thread::yield_now();
            }
            Err(Unfinished::Stopped)
        };
        let (running, mut seen) = (StillRunning::default(), 0.0);
        let ended = beside(parts, Bytes(100), &running, &mut |share| {
            seen = share;
            ControlFlow::Break(())
        });
        assert!(matches!(ended, Err(Unfinished::Stopped)), "{ended:?}");
        assert!((seen - 0.5).abs() < 1e-9 && !running.get(), "{seen}");
    }

    #[test]
    fn what_fails_is_told_with_its_place() {
        let file = tempfile::tempfile().unwrap();
        // A file takes no discard.
        let (running, kind) = (StillRunning::default(), DeviceKind::BlockDevice);
        let go_on = &mut |_| ControlFlow::Continue(());
        let ended = all(&file, kind, Bytes(4096), &running, go_on);
        assert!(matches!(ended, Err(Unfinished::Failed(Bytes(0), _))), "{ended:?}");
    }
}
