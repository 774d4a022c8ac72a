//! What the terminal shows while tests run: how far each is and all are, when it ends, and the rate
//! so far.
//!
//! On a terminal a picture that is redrawn in place; elsewhere a plain line now and then. Both go
//! to standard error, so that standard output holds only the result. A thread of its own draws: a
//! terminal that takes nothing (Ctrl-S, a pipe that nobody reads) holds up no measurement.

mod picture;
mod screen;
mod step;
mod total;

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, io::Write};

use writecliff_device::{Nanos, printable_lines};
use writecliff_suite::Progress;

use crate::interrupt::Interrupt;
use crate::output::Loudness;
use screen::Screen;
use step::{Step, fitted};

pub(crate) use total::Total;

/// A simulated drive passes thousands of seconds a second; the eye wants a dozen pictures.
const REDRAW: Duration = Duration::from_millis(80);
/// A plain line for every so much of a step...
const PLAIN_STEP: f64 = 0.1;
/// ... but no more than one a second: models are faster than anybody reads.
const PLAIN_EVERY: Duration = Duration::from_secs(1);
/// A plain line about the whole no more often, but for every tenth of it, and at least so often.
const TOTAL_AT_LEAST: Duration = Duration::from_secs(600);
const TOTAL_AT_MOST: Duration = Duration::from_secs(5);
/// A drive that completes nothing is worth a line of its own from then on, and whenever that has
/// doubled.
const STALL: Nanos = Nanos::from_secs(2);

/// The display of the tests under way; several threads show theirs in it.
pub(crate) struct Live {
    shared: Arc<Shared>,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What the tests tell, and where it is shown. Whoever holds the screen may wait for it; nobody
/// holds both.
struct Shared {
    title: String,
    state: Mutex<State>,
    screen: Mutex<Screen>,
}

struct State {
    total: Total,
    is_simulated: bool,
    running: Vec<Running>,
    /// Whether lines are all that can be shown.
    is_plain: bool,
    /// Not shown yet.
    lines: Vec<String>,
    /// When the whole was told last, as a plain line, and how far it was.
    total_told: (Instant, f64),
}

/// A test under way.
#[derive(Clone)]
struct Running {
    test: &'static str,
    step: Step,
    is_simulated: bool,
    next_line_at: f64,
    last_line: Option<Instant>,
    /// A stall of this length has a line of its own.
    next_stall: Nanos,
}

impl Live {
    /// Begins to show tests, which are all of `total`, and what `interrupt` has to say; nothing but
    /// that if it is to be quiet.
    pub(crate) fn begin(
        title: &str,
        total: Total,
        interrupt: &Interrupt,
        loudness: Loudness,
    ) -> Self {
        let screen = Screen::begin(title, loudness);
        let state = State {
            is_simulated: total.is_simulated(),
            total,
            running: Vec::new(),
            is_plain: screen.is_plain(),
            lines: Vec::new(),
            total_told: (Instant::now(), 0.0),
        };
        let (state, screen) = (Mutex::new(state), Mutex::new(screen));
        let shared = Arc::new(Shared { title: title.to_owned(), state, screen });
        let said = Arc::clone(&shared);
        interrupt.say_by(move |text| said.say(text));
        let drawing = draw_beside(Arc::clone(&shared));
        Self { shared, drawing }
    }

    /// Shows a line above the picture, at once.
    pub(crate) fn say(&self, text: &str) {
        self.shared.say(text);
    }

    /// Shows a second of a test.
    pub(crate) fn show(&self, test: &'static str, progress: &Progress<'_>) {
        let mut state = locked(&self.shared.state);
        state.total.advance(test, progress);
        let is_simulated = state.is_simulated;
        let known = state.running.iter().position(|running| running.test == test);
        let index = known.unwrap_or_else(|| {
            state.running.push(Running::begin(test, is_simulated));
            state.running.len() - 1
        });
        let running = &mut state.running[index];
        running.advance(progress);
        if state.is_plain {
            let line = state.running[index].due_line();
            state.lines.extend(line);
            let total = state.due_total();
            state.lines.extend(total);
        }
    }

    /// Shows a test no longer, which has ended.
    pub(crate) fn forget(&self, test: &str) {
        let mut state = locked(&self.shared.state);
        state.total.end(test);
        state.running.retain(|running| running.test != test);
    }

    /// Counts a test as done that was not shown.
    pub(crate) fn count(&self, test: &str) {
        locked(&self.shared.state).total.end_unseen(test);
    }

    /// Takes the picture away, so that the result stands in its place.
    pub(crate) fn end(mut self) {
        if let Some((stop, drawing)) = self.drawing.take() {
            drop(stop);
            // A thread that panicked has shown what it could.
            let _ = drawing.join();
        }
        locked(&self.shared.screen).end();
    }
}

/// Draws a dozen times a second until the sender is dropped, and then once more. Where there can
/// be no thread, nothing is shown.
fn draw_beside(shared: Arc<Shared>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = channel();
    let draw = move || {
        while stopped.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
            shared.draw();
        }
        shared.draw();
    };
    let drawing = thread::Builder::new().name("live view".to_owned()).spawn(draw).ok()?;
    Some((stop, drawing))
}

impl Shared {
    fn draw(&self) {
        let mut state = locked(&self.state);
        let lines = std::mem::take(&mut state.lines);
        let running = if state.is_plain { Vec::new() } else { state.running.clone() };
        let total = state.total.clone();
        drop(state);
        let mut screen = locked(&self.screen);
        lines.iter().for_each(|line| screen.line(line));
        if !running.is_empty() {
            screen.draw(&self.title, &running, &total);
        }
    }

    fn say(&self, text: &str) {
        match self.screen.try_lock() {
            Ok(mut screen) => screen.line(text),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().line(text),
            Err(TryLockError::WouldBlock) => {
                // Whoever draws may wait for the terminal; this must not wait for whoever draws.
                let _ = write!(io::stderr(), "\r\n{}\r\n", printable_lines(text));
            }
        }
    }
}

/// A thread that panicked while it showed something does not keep the others from it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// The line about the whole that is due now, where lines are all that can be shown.
    fn due_total(&mut self) -> Option<String> {
        let (told, fraction) = (self.total_told.0.elapsed(), self.total.fraction());
        let is_further = fraction >= self.total_told.1 + PLAIN_STEP;
        let is_due = told >= TOTAL_AT_LEAST || (is_further && told >= TOTAL_AT_MOST);
        is_due.then(|| {
            self.total_told = (Instant::now(), fraction);
            format!("in total: {:.0} % done, {}", fraction * 100.0, self.total.line(usize::MAX))
        })
    }
}

impl Running {
    fn begin(test: &'static str, is_simulated: bool) -> Self {
        let (step, last_line) = (Step::begin("", is_simulated), None);
        Self { test, step, is_simulated, next_line_at: 0.0, last_line, next_stall: STALL }
    }

    fn advance(&mut self, progress: &Progress<'_>) {
        if progress.step != self.step.name {
            self.step = Step::begin(progress.step, self.is_simulated);
            self.next_line_at = 0.0;
        }
        self.step.advance(progress);
    }

    /// The line that is due now, where lines are all that can be shown.
    fn due_line(&mut self) -> Option<String> {
        let is_time = self.last_line.is_none_or(|last| last.elapsed() >= PLAIN_EVERY);
        let stalls = self.stalls_longer();
        let is_due = stalls || is_time && self.step.fraction >= self.next_line_at;
        is_due.then(|| {
            self.last_line = Some(Instant::now());
            self.next_line_at = self.step.fraction + PLAIN_STEP;
            self.line(usize::MAX)
        })
    }

    /// The line about it in `width` columns at most.
    fn line(&self, width: usize) -> String {
        let name = format!("{}: ", self.test);
        let left = width.saturating_sub(name.len());
        name + &fitted(self.step.parts(), "  ", left)
    }

    /// Whether a stall has become so long that it is worth a line.
    fn stalls_longer(&mut self) -> bool {
        let longest = self.step.waiting.longest;
        if self.step.waiting.ios == 0 {
            self.next_stall = STALL;
        }
        let is_worth_it = longest >= self.next_stall;
        if is_worth_it {
            self.next_stall = longest * 2;
        }
        is_worth_it
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_measure::Waiting;

    fn stalling(seconds: u64) -> Progress<'static> {
        let waiting = Waiting { ios: 1, longest: Nanos::from_secs(seconds), late: 0 };
        Progress { sample: None, step: "torture", fraction: 0.0, length: None, waiting }
    }

    #[test]
    fn a_stall_has_a_line_whenever_it_has_doubled() {
        let mut running = Running::begin("consistency", false);
        let mut due = |progress: &Progress<'_>| {
            running.advance(progress);
            running.last_line = Some(Instant::now());
            running.due_line()
        };
        let lines: Vec<u64> = (1..20).filter(|&s| due(&stalling(s)).is_some()).collect();
        assert_eq!(lines, [2, 4, 8, 16]);
        let none = Progress { waiting: Waiting::default(), ..stalling(0) };
        assert_eq!(due(&none), None);
        let line = due(&stalling(3)).unwrap();
        assert!(line.contains("1 I/O unanswered for 3 s"), "{line}");
    }
}
