//! What the terminal shows while a test runs: progress, time left and the IOPS so far.
//!
//! On a terminal a picture that is redrawn in place; elsewhere a plain line now and then. Both go
//! to standard error, so that standard output holds only the result. A thread of its own draws: a
//! terminal that takes nothing (Ctrl-S, a pipe that nobody reads) holds up no measurement.

mod screen;

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, io::Write};

use writecliff_device::{Nanos, printable_lines};
use writecliff_measure::Waiting;
use writecliff_suite::Progress;

use crate::interrupt::Interrupt;
use screen::Screen;

/// A simulated drive passes thousands of seconds a second; the eye wants a dozen pictures.
const REDRAW: Duration = Duration::from_millis(80);
/// A plain line for every so much of a step...
const PLAIN_STEP: f64 = 0.1;
/// ... but no more than one a second: models are faster than anybody reads.
const PLAIN_EVERY: Duration = Duration::from_secs(1);
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

#[derive(Default)]
struct State {
    running: Vec<Running>,
    /// Whether lines are all that can be shown.
    is_plain: bool,
    /// Not shown yet.
    lines: Vec<String>,
}

/// A test under way.
#[derive(Clone)]
struct Running {
    test: &'static str,
    step: Step,
    next_line_at: f64,
    last_line: Option<Instant>,
    /// A stall of this length has a line of its own.
    next_stall: Nanos,
}

/// What is known of the step under way.
#[derive(Clone)]
struct Step {
    name: String,
    /// Wall-clock time, for the time left only; nothing that is measured depends on it.
    began: Instant,
    fraction: f64,
    /// Seconds and log10 of their IOPS.
    points: Vec<(f64, f64)>,
    last: Option<(u32, f64)>,
    /// Whether nothing completed in the last second, in any series.
    silent: bool,
    waiting: Waiting,
}

impl Live {
    /// Begins to show tests, and what `interrupt` has to say.
    pub(crate) fn begin(title: &str, interrupt: &Interrupt) -> Self {
        let screen = Screen::begin(title);
        let state = State { is_plain: screen.is_plain(), ..State::default() };
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
        let known = state.running.iter().position(|running| running.test == test);
        let index = known.unwrap_or_else(|| {
            state.running.push(Running::begin(test));
            state.running.len() - 1
        });
        let running = &mut state.running[index];
        running.advance(progress);
        if state.is_plain {
            let line = state.running[index].due_line();
            state.lines.extend(line);
        }
    }

    /// Shows a test no longer.
    pub(crate) fn forget(&self, test: &str) {
        locked(&self.shared.state).running.retain(|running| running.test != test);
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
        drop(state);
        let mut screen = locked(&self.screen);
        lines.iter().for_each(|line| screen.line(line));
        if !running.is_empty() {
            screen.draw(&self.title, &running);
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

impl Running {
    fn begin(test: &'static str) -> Self {
        let (step, last_line) = (Step::begin(""), None);
        Self { test, step, next_line_at: 0.0, last_line, next_stall: STALL }
    }

    fn advance(&mut self, progress: &Progress<'_>) {
        if progress.step != self.step.name {
            (self.step, self.next_line_at) = (Step::begin(progress.step), 0.0);
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
            self.line()
        })
    }

    fn line(&self) -> String {
        format!("{}: {}", self.test, self.step.line())
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

impl Step {
    fn begin(name: &str) -> Self {
        let (points, waiting) = (Vec::new(), Waiting::default());
        let (name, began) = (name.to_owned(), Instant::now());
        Self { name, began, fraction: 0.0, points, last: None, silent: false, waiting }
    }

    fn advance(&mut self, progress: &Progress<'_>) {
        (self.fraction, self.waiting) = (progress.fraction, progress.waiting);
        if let Some(sample) = progress.sample {
            let same_second = self.last.is_some_and(|(second, _)| second == sample.second);
            self.silent = sample.ios() == 0 && (self.silent || !same_second);
            let iops = sample.iops().get();
            self.points.push((f64::from(sample.second), iops.max(1.0).log10()));
            self.last = Some((sample.second, iops));
        }
    }

    /// `torture  43 %  t = 860 s  6,543 IOPS  12 s left`.
    fn line(&self) -> String {
        let mut line = format!("{}  {:.0} %", self.name, self.fraction * 100.0);
        if let Some((second, iops)) = self.last {
            line += &format!("  t = {second} s  {iops:.0} IOPS");
        }
        if let Some(stall) = self.stall() {
            return line + "  " + &stall;
        }
        if let Some(left) = self.time_left() {
            line += &format!("  {} left", human(left));
        }
        line
    }

    /// `no I/O completed for 12 s`, or what else a real drive has not answered for long.
    fn stall(&self) -> Option<String> {
        let Waiting { ios, longest } = self.waiting;
        let seconds = longest.as_secs_f64();
        match (ios, self.silent) {
            (0, _) => None,
            (_, true) => Some(format!("no I/O completed for {seconds:.0} s, {ios} in flight")),
            (1, false) => Some(format!("1 I/O unanswered for {seconds:.0} s")),
            (_, false) => Some(format!("{ios} I/Os unanswered for {seconds:.0} s")),
        }
    }

    /// From what the step has taken so far; nothing while that says nothing.
    fn time_left(&self) -> Option<Duration> {
        let taken = self.began.elapsed();
        let known = self.fraction > 0.01 && taken > Duration::from_millis(300);
        known.then(|| taken.mul_f64((1.0 - self.fraction) / self.fraction))
    }
}

fn human(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalling(seconds: u64) -> Progress<'static> {
        let waiting = Waiting { ios: 1, longest: Nanos::from_secs(seconds) };
        Progress { sample: None, step: "torture", fraction: 0.0, waiting }
    }

    #[test]
    fn a_stall_has_a_line_whenever_it_has_doubled() {
        let mut running = Running::begin("consistency");
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
