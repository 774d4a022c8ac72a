//! Ctrl-C and SIGTERM: asked to stop once, everything ends in order; asked again, at once.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};

use crate::error::{CliError, INTERRUPTED};
use crate::output;

/// `timeout` signals its child and then the child's group, and some terminals do alike: one signal
/// that comes so soon after the first, of whatever kind, is the same wish.
const REPEATED: Duration = Duration::from_secs(2);
/// Whoever still waits so long after a Ctrl-C is told for what.
const PATIENCE: Duration = Duration::from_secs(8);

/// A flag that the first Ctrl-C raises; a second wish ends the program on the spot, which a run
/// directory survives.
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

/// What the signal's thread knows.
#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the user asked first.
    asked: Option<Instant>,
    /// Whether that was repeated at once.
    repeated: bool,
    /// What is waited for if the user asks now.
    awaited: Awaited,
    /// Shows a line at once, whatever else is on the terminal.
    say: Option<Box<Say>>,
}

type Say = dyn Fn(&str) + Send;

/// What a run has to wait for before it can end in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Awaited {
    /// Nothing that takes long.
    #[default]
    Nothing,
    /// What a real drive has in flight.
    InFlight,
    /// A real drive's purge or trim.
    Discard,
}

/// What a signal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    First,
    Repeated,
    Second,
}

impl Interrupt {
    pub(crate) fn catch() -> Result<Self, CliError> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        ctrlc::set_handler(move || Shared::signal(&theirs))?;
        leave_signals_to_their_thread();
        Ok(Self { shared })
    }

    /// Has `say` show what a Ctrl-C leads to.
    pub(crate) fn say_by(&self, say: impl Fn(&str) + Send + 'static) {
        self.shared.state().say = Some(Box::new(say));
    }

    /// Notes what a Ctrl-C would have to wait for now.
    pub(crate) fn awaits(&self, awaited: Awaited) {
        self.shared.state().awaited = awaited;
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.shared.raised.load(Ordering::Relaxed)
    }

    /// What a watcher of a run says to go on or not.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Has signals of the user go to the thread that waits for them, not to this one or those that it begins:
/// the kernel gives them to any that takes them, and one that waits in a call for a drive that hangs
/// takes them when it is back from there.
fn leave_signals_to_their_thread() {
    let of_user = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    // Where that cannot be done, a Ctrl-C may be late.
    let _ = of_user.into_iter().collect::<SigSet>().thread_block();
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(this: &Arc<Self>) {
        let mut state = this.state();
        match state.meaning(Instant::now()) {
            Meaning::First => {
                this.raised.store(true, Ordering::Relaxed);
                state.say(state.awaited.announcement());
                let waiting = Arc::clone(this);
                thread::spawn(move || waiting.tell_what_holds());
            }
            Meaning::Repeated => {}
            Meaning::Second => {
                state.say(state.awaited.farewell());
                process::exit(i32::from(INTERRUPTED));
            }
        }
    }
}

impl Shared {
    /// Says after a while what has not answered.
    fn tell_what_holds(&self) {
        loop {
            thread::sleep(PATIENCE);
            let held = held_file();
            let state = self.state();
            let what = match (state.awaited, held) {
                (_, Some(Some(file))) => format!("a call on {}", file.display()),
                (Awaited::InFlight, _) | (_, Some(None)) => "a call to the kernel".to_owned(),
                (Awaited::Nothing | Awaited::Discard, None) => continue,
            };
            state.say(&format!(
                "still waiting: {what} has not come back, as when the drive, or the file system that it or the \
                 recording lies on, does not answer; nothing but the kernel can end that"
            ));
            return;
        }
    }
}

/// The file that a thread of this process is in a call on that nothing can break off, if one is in any.
fn held_file() -> Option<Option<PathBuf>> {
    let tasks = fs::read_dir("/proc/self/task").ok()?.filter_map(Result::ok);
    tasks.map(|task| task.path()).filter(|task| is_held(task)).find_map(|task| {
        let call = fs::read_to_string(task.join("syscall")).ok()?;
        Some(file_of(&call))
    })
}

/// Whether a thread sleeps so that no signal wakes it, now and a moment later.
fn is_held(task: &Path) -> bool {
    let sleeps = || {
        let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
        // After the name, which may hold anything.
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('D'))
    };
    sleeps() && {
        thread::sleep(Duration::from_millis(500));
        sleeps()
    }
}

/// The file that a call is about, if its first argument is a descriptor of one: `1 0x5 0x7f...`.
fn file_of(call: &str) -> Option<PathBuf> {
    let descriptor = call.split_whitespace().nth(1)?.strip_prefix("0x")?;
    let descriptor = u32::from_str_radix(descriptor, 16).ok()?;
    let file = fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    file.is_absolute().then_some(file)
}

impl State {
    fn meaning(&mut self, now: Instant) -> Meaning {
        match self.asked {
            None => {
                self.asked = Some(now);
                Meaning::First
            }
            Some(first) if !self.repeated && now.duration_since(first) < REPEATED => {
                self.repeated = true;
                Meaning::Repeated
            }
            Some(_) => Meaning::Second,
        }
    }

    fn say(&self, text: &str) {
        match &self.say {
            Some(say) => say(text),
            None => output::say(text),
        }
    }
}

impl Awaited {
    const fn announcement(self) -> &'static str {
        match self {
            Self::Nothing => "Ctrl-C: ending in order; Ctrl-C again ends at once",
            Self::InFlight => {
                "Ctrl-C: ending when the I/Os in flight are back (5 s at most); Ctrl-C again ends \
                 at once"
            }
            Self::Discard => "Ctrl-C: waiting for the drive's discard; Ctrl-C again ends at once",
        }
    }

    const fn farewell(self) -> &'static str {
        match self {
            Self::Nothing => "Ctrl-C again: ended at once; what was written up to now is kept",
            Self::InFlight | Self::Discard => {
                "Ctrl-C again: ended at once; what was recorded is kept. A drive that does not \
                 answer can hold the process until the kernel gives it up."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meanings(millis: &[u64]) -> Vec<Meaning> {
        let (mut state, begin) = (State::default(), Instant::now());
        millis.iter().map(|&after| state.meaning(begin + Duration::from_millis(after))).collect()
    }

    #[test]
    fn a_call_is_told_by_the_file_that_it_is_about() {
        use std::os::fd::AsRawFd;
        let file = tempfile::NamedTempFile::new().unwrap();
        let descriptor = file.as_file().as_raw_fd();
        let path = file.path().canonicalize().unwrap();
        assert_eq!(file_of(&format!("74 {descriptor:#x} 0x0 0x0")), Some(path));
        assert_eq!([file_of("running"), file_of("-1 0x7ffc01234567 0x0")], [None, None]);
    }

    #[test]
    fn what_follows_at_once_is_the_same_wish_and_what_comes_later_or_again_is_another() {
        use Meaning::{First, Repeated, Second};
        assert_eq!(meanings(&[0, 1999]), [First, Repeated]);
        assert_eq!(meanings(&[0, 2000]), [First, Second]);
        assert_eq!(meanings(&[0, 1, 2]), [First, Repeated, Second]);
        assert_eq!(meanings(&[0, 1, 60_000]), [First, Repeated, Second]);
    }
}
