//! A purge as a background task, in a thread of its own: a drive may take minutes or hours for it, and the one who asked for
//! it must be able to say that it is enough.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use writecliff_device::{Bytes, DeviceError, Nanos, PrepareWatch, Purge};

use crate::host::clock;

/// So often the watcher is asked.
const PERIOD: Duration = Duration::from_millis(100);
/// So long a step may go on after the watcher has broken off.
const LAST_WAIT: Nanos = Nanos::from_secs(5);

/// How a purge ended, other than well.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// The watcher broke it off.
    Stopped {
        /// Whether the drive goes on with it by itself.
        goes_on: bool,
    },
    /// The drive failed the part that begins there.
    Failed(Bytes, io::Error),
    /// The flush after it failed.
    FlushFailed(io::Error),
    /// The drive, or what is in its way, refused a step.
    Refused(io::Error),
    /// The drive does not get on with it.
    Stalled { percent: u32, since: Duration },
    /// The drive keeps the password that was set for it.
    PasswordLeft(io::Error),
}

impl Unfinished {
    /// As an error of the device.
    pub(crate) fn told(self, address: String, how: Purge) -> DeviceError {
        match self {
            Self::Stopped { goes_on } => {
                let goes_on = goes_on && how.is_the_drives_own();
                DeviceError::PurgeStopped { address, goes_on }
            }
            Self::Failed(offset, source) => {
                DeviceError::PurgeFailed { address, how, offset: Some(offset), source }
            }
            Self::Refused(source) => {
                DeviceError::PurgeFailed { address, how, offset: None, source }
            }
            Self::FlushFailed(source) => DeviceError::System {
                path: address.into(),
                doing: "the flush after the purge",
                source,
            },
            Self::Stalled { percent, since } => {
                let since = Nanos::from_secs(since.as_secs());
                DeviceError::PurgeStalled { address, percent, since }
            }
            Self::PasswordLeft(source) => DeviceError::PasswordLeft { address, source },
        }
    }
}

/// What two threads know of one purge.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// In millionths.
    done: AtomicU64,
    stop: AtomicBool,
}

impl Shared {
    /// Shows the share that is done.
    pub(crate) fn show(&self, share: f64) {
        self.done.store((share * 1e6) as u64, Ordering::Relaxed);
    }

    /// Whether the watcher has broken off.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tells whether a purge that was broken off is still in the kernel.
#[derive(Debug, Default, Clone)]
pub(crate) struct StillRunning(Arc<AtomicBool>);

impl StillRunning {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does `work` in another thread, and asks the watcher meanwhile. What shows no progress by itself is
/// shown by the time that it is `expected` to take.
///
/// # Errors
/// [`Unfinished`].
pub(crate) fn in_background(
    work: impl FnOnce(&Shared) -> Result<(), Unfinished> + Send + 'static,
    expected: Option<Duration>,
    running: &StillRunning,
    watch: PrepareWatch<'_>,
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
    let thread = thread::Builder::new().name("purge".to_owned());
    thread.spawn(work).map_err(|error| Unfinished::Failed(Bytes::ZERO, error))?;
    let begun = clock::now();
    let mut stopped_at = None;
    loop {
        match ended.recv_timeout(PERIOD) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Unfinished::Stopped { goes_on: true });
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let shown = shared.done.load(Ordering::Relaxed) as f64 / 1e6;
        let share = shown.max(by_time(clock::now().since(begun), expected));
        match stopped_at {
            None if watch(share).is_break() => {
                shared.stop.store(true, Ordering::Relaxed);
                stopped_at = Some(clock::now());
            }
            Some(since) if clock::now().since(since) > LAST_WAIT => {
                return Err(Unfinished::Stopped { goes_on: true });
            }
            _ => {}
        }
    }
}

/// How far something is that takes `expected`, by the time that has passed; never all of it.
fn by_time(passed: Nanos, expected: Option<Duration>) -> f64 {
    let expected = expected.map_or(0.0, |time| time.as_secs_f64());
    if expected > 0.0 { (passed.as_secs_f64() / expected).min(0.99) } else { 0.0 }
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
        let ended = in_background(hang, None, &running, &mut |_| {
            asked += 1;
            if asked == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(ended, Err(Unfinished::Stopped { .. })), "{ended:?}");
        assert!(asked == 3 && running.get(), "asked {asked} times");
        drop(answer);
        while running.get() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_discard_that_is_broken_off_ends_with_its_part() {
        let parts = |shared: &Shared| {
            while !shared.is_stopped() {
                shared.show(0.5);
                thread::yield_now();
            }
            Err(Unfinished::Stopped { goes_on: false })
        };
        let (running, mut seen) = (StillRunning::default(), 0.0);
        let ended = in_background(parts, None, &running, &mut |share| {
            seen = share;
            ControlFlow::Break(())
        });
        assert!(matches!(ended, Err(Unfinished::Stopped { .. })), "{ended:?}");
        assert!((seen - 0.5).abs() < 1e-9 && !running.get(), "{seen}");
    }

    #[test]
    fn what_shows_nothing_is_shown_by_its_time() {
        let second = Nanos::from_secs(1);
        assert_eq!(by_time(second, Some(Duration::from_secs(4))), 0.25);
        assert_eq!(by_time(second, Some(Duration::from_millis(10))), 0.99);
        assert_eq!(by_time(second, None), 0.0);
    }
}
