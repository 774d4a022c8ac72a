//! Ctrl-C and SIGTERM: asked to stop once, everything ends in order; asked again, at once.

use std::ops::ControlFlow;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{CliError, INTERRUPTED};
use crate::output;

/// `timeout` signals its child and then the child's group, and some terminals do alike: one signal
/// that comes so soon after the first, of whatever kind, is the same wish.
const REPEATED: Duration = Duration::from_secs(2);
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
        ctrlc::set_handler(move || theirs.signal())?;
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

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self) {
        let mut state = self.state();
        match state.meaning(Instant::now()) {
            Meaning::First => {
                self.raised.store(true, Ordering::Relaxed);
                state.say(state.awaited.announcement());
            }
            Meaning::Repeated => {}
            Meaning::Second => {
                state.say(state.awaited.farewell());
                process::exit(i32::from(INTERRUPTED));
            }
        }
    }
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
    fn what_follows_at_once_is_the_same_wish_and_what_comes_later_or_again_is_another() {
        use Meaning::{First, Repeated, Second};
        assert_eq!(meanings(&[0, 1999]), [First, Repeated]);
        assert_eq!(meanings(&[0, 2000]), [First, Second]);
        assert_eq!(meanings(&[0, 1, 2]), [First, Repeated, Second]);
        assert_eq!(meanings(&[0, 1, 60_000]), [First, Repeated, Second]);
    }
}
