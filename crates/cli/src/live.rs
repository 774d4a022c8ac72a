//! What the terminal shows while a test runs: progress, time left and the IOPS so far.
//!
//! On a terminal a picture that is redrawn in place; elsewhere a plain line now and then. Both go
//! to standard error, so that standard output holds only the result.

use std::io::{IsTerminal, Stderr, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Widget};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use writecliff_device::Nanos;
use writecliff_measure::Waiting;
use writecliff_suite::Progress;

use crate::commands::say;
use crate::interrupt::Interrupt;

const HEIGHT: u16 = 14;
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
    title: String,
    running: Vec<Running>,
    display: Display,
}

/// A test under way.
struct Running {
    test: &'static str,
    step: Step,
    next_line_at: f64,
    last_line: Option<Instant>,
    /// A stall of this length has a line of its own.
    next_stall: Nanos,
}

enum Display {
    Picture { terminal: Box<Terminal<CrosstermBackend<Stderr>>>, drawn: Instant },
    Plain,
}

/// What is known of the step under way.
struct Step {
    name: String,
    /// Wall-clock time, for the time left only; nothing that is measured depends on it.
    began: Instant,
    fraction: f64,
    /// Seconds and log10 of their IOPS.
    points: Vec<(f64, f64)>,
    last: Option<(u32, f64)>,
    waiting: Waiting,
}

impl Live {
    /// Begins to show tests, and what `interrupt` has to say.
    pub(crate) fn begin(title: &str, interrupt: &Interrupt) -> Arc<Mutex<Self>> {
        let display = match terminal() {
            Some(terminal) => {
                Display::Picture { terminal: Box::new(terminal), drawn: Instant::now() - REDRAW }
            }
            None => {
                say(title);
                Display::Plain
            }
        };
        let live = Self { title: title.to_owned(), running: Vec::new(), display };
        let live = Arc::new(Mutex::new(live));
        let shown = Arc::clone(&live);
        interrupt.say_by(move |text| Self::say(&shown, text));
        live
    }

    /// Shows a line above the picture, at once.
    pub(crate) fn say(live: &Mutex<Self>, text: &str) {
        let mut live = match live.try_lock() {
            Ok(live) => live,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // Whoever draws may wait for the terminal; this must not wait for whoever draws.
                let _ = write!(std::io::stderr(), "\r\n{text}\r\n");
                return;
            }
        };
        match &mut live.display {
            Display::Picture { terminal, .. } => {
                let line = Line::from(text.to_owned());
                // Where it cannot be shown, the end of the run must do.
                let _ = terminal.insert_before(1, |buffer| line.render(buffer.area, buffer));
            }
            Display::Plain => {
                let _ = writeln!(std::io::stderr(), "{text}");
            }
        }
    }

    /// Shows a second of a test.
    pub(crate) fn show(live: &Mutex<Self>, test: &'static str, progress: &Progress<'_>) {
        locked(live).advance(test, progress);
    }

    /// Shows a test no longer.
    pub(crate) fn forget(live: &Mutex<Self>, test: &str) {
        locked(live).running.retain(|running| running.test != test);
    }

    /// Takes the picture away, so that the result stands in its place.
    pub(crate) fn end(live: &Mutex<Self>) {
        let mut live = locked(live);
        if let Display::Picture { mut terminal, .. } =
            std::mem::replace(&mut live.display, Display::Plain)
        {
            let _ = terminal.clear();
            let _ = terminal.show_cursor();
            // Clearing leaves the cursor at the end of a line.
            let _ = write!(std::io::stderr(), "\r");
        }
    }

    fn advance(&mut self, test: &'static str, progress: &Progress<'_>) {
        let index = self.running.iter().position(|running| running.test == test);
        let index = index.unwrap_or_else(|| {
            let step = Step::begin("");
            let (next_line_at, last_line, next_stall) = (0.0, None, STALL);
            self.running.push(Running { test, step, next_line_at, last_line, next_stall });
            self.running.len() - 1
        });
        let running = &mut self.running[index];
        if progress.step != running.step.name {
            (running.step, running.next_line_at) = (Step::begin(progress.step), 0.0);
        }
        running.step.advance(progress);
        match &mut self.display {
            Display::Picture { terminal, drawn } => {
                if drawn.elapsed() >= REDRAW {
                    *drawn = Instant::now();
                    // A picture that cannot be drawn must not end a measurement.
                    let _ = terminal.draw(|frame| draw(frame, &self.title, &self.running));
                }
            }
            Display::Plain => {
                let is_time = running.last_line.is_none_or(|last| last.elapsed() >= PLAIN_EVERY);
                let stalls = running.stalls_longer();
                if stalls || is_time && running.step.fraction >= running.next_line_at {
                    running.last_line = Some(Instant::now());
                    running.next_line_at = running.step.fraction + PLAIN_STEP;
                    say(&running.line());
                }
            }
        }
    }
}

/// A thread that panicked while it showed something does not keep the others from it.
fn locked(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
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
        Self { name, began, fraction: 0.0, points, last: None, waiting }
    }

    fn advance(&mut self, progress: &Progress<'_>) {
        (self.fraction, self.waiting) = (progress.fraction, progress.waiting);
        if let Some(sample) = progress.sample {
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
        match (ios, self.last) {
            (0, _) => None,
            (_, Some((_, 0.0))) => {
                Some(format!("no I/O completed for {seconds:.0} s, {ios} in flight"))
            }
            (1, _) => Some(format!("1 I/O unanswered for {seconds:.0} s")),
            _ => Some(format!("{ios} I/Os unanswered for {seconds:.0} s")),
        }
    }

    /// From what the step has taken so far; nothing while that says nothing.
    fn time_left(&self) -> Option<Duration> {
        let taken = self.began.elapsed();
        let known = self.fraction > 0.01 && taken > Duration::from_millis(300);
        known.then(|| taken.mul_f64((1.0 - self.fraction) / self.fraction))
    }
}

fn terminal() -> Option<Terminal<CrosstermBackend<Stderr>>> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if dumb || !std::io::stderr().is_terminal() || !std::io::stdin().is_terminal() {
        return None;
    }
    let options = TerminalOptions { viewport: Viewport::Inline(HEIGHT) };
    Terminal::with_options(CrosstermBackend::new(std::io::stderr()), options).ok()
}

/// The picture of the test that was begun first, and a bar for each.
fn draw(frame: &mut Frame<'_>, title: &str, running: &[Running]) {
    let bars = running.len() as u16;
    let rows = [Constraint::Min(6), Constraint::Length(bars)];
    let [picture, bars] = Layout::vertical(rows).areas(frame.area());
    if let Some(first) = running.first() {
        draw_iops(frame, picture, &format!("{title}: {}", first.test), &first.step);
    }
    let rows = running.iter().map(|_| Constraint::Length(1));
    for (running, row) in running.iter().zip(Layout::vertical(rows).split(bars).iter()) {
        let bar = Gauge::default()
            .ratio(running.step.fraction.clamp(0.0, 1.0))
            .label(running.line())
            .gauge_style(Style::new().fg(Color::Blue).bg(Color::DarkGray))
            .use_unicode(true);
        frame.render_widget(bar, *row);
    }
}

/// IOPS of the step, a point a second, on a log axis from 10 to 1M.
fn draw_iops(frame: &mut Frame<'_>, area: Rect, title: &str, step: &Step) {
    let points = &step.points;
    let last = points.last().map_or(1.0, |point| point.0).max(1.0);
    let dots = Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Scatter)
        .style(Style::new().fg(Color::Cyan))
        .data(points);
    let time = Axis::default()
        .bounds([0.0, last])
        .labels([Line::from("0 s"), Line::from(format!("{last:.0} s"))]);
    let iops = Axis::default().bounds([1.0, 6.0]).labels(["10", "100", "1K", "10K", "100K", "1M"]);
    let chart = Chart::new(vec![dots])
        .block(Block::bordered().title(format!(" {title}: IOPS ")))
        .x_axis(time)
        .y_axis(iops);
    frame.render_widget(chart, area);
}

fn human(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}
