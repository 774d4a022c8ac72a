//! What the terminal shows while a test runs: progress, time left and the IOPS so far.
//!
//! On a terminal a picture that is redrawn in place; elsewhere a plain line now and then. Both go
//! to standard error, so that standard output holds only the result.

use std::io::{IsTerminal, Stderr, Write};
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use writecliff_device::{DeviceInfo, DeviceKind};
use writecliff_measure::Sample;
use writecliff_suite::{Plan, Progress};

const HEIGHT: u16 = 14;
/// A simulated drive passes thousands of seconds a second; the eye wants a dozen pictures.
const REDRAW: Duration = Duration::from_millis(80);
/// A plain line for every so much of a step.
const PLAIN_STEP: f64 = 0.1;

/// The display of one test.
pub(crate) struct Live {
    title: String,
    step: Step,
    display: Display,
}

enum Display {
    Picture { terminal: Box<Terminal<CrosstermBackend<Stderr>>>, drawn: Instant },
    Plain { next_line_at: f64 },
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
}

impl Live {
    pub(crate) fn begin(plan: &Plan, drive: &DeviceInfo) -> Self {
        let simulated = if drive.kind == DeviceKind::Simulated { "simulated " } else { "" };
        let title = format!("{} on {simulated}{}", plan.name(), drive.model);
        let display = match terminal() {
            Some(terminal) => {
                Display::Picture { terminal: Box::new(terminal), drawn: Instant::now() - REDRAW }
            }
            None => {
                let _ = writeln!(std::io::stderr(), "{title}");
                Display::Plain { next_line_at: 0.0 }
            }
        };
        Self { title, step: Step::begin(""), display }
    }

    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        if progress.step != self.step.name {
            self.step = Step::begin(progress.step);
            if let Display::Plain { next_line_at } = &mut self.display {
                *next_line_at = 0.0;
            }
        }
        self.step.advance(progress.sample, progress.fraction);
        match &mut self.display {
            Display::Picture { terminal, drawn } => {
                if drawn.elapsed() >= REDRAW {
                    *drawn = Instant::now();
                    // A picture that cannot be drawn must not end a measurement.
                    let _ = terminal.draw(|frame| draw(frame, &self.title, &self.step));
                }
            }
            Display::Plain { next_line_at } => {
                if self.step.fraction >= *next_line_at {
                    *next_line_at = self.step.fraction + PLAIN_STEP;
                    let _ = writeln!(std::io::stderr(), "{}", self.step.line());
                }
            }
        }
    }

    /// Takes the picture away, so that the result stands in its place.
    pub(crate) fn end(mut self) {
        if let Display::Picture { terminal, .. } = &mut self.display {
            let _ = terminal.clear();
            let _ = terminal.show_cursor();
            // Clearing leaves the cursor at the end of a line.
            let _ = write!(std::io::stderr(), "\r");
        }
    }
}

impl Step {
    fn begin(name: &str) -> Self {
        let points = Vec::new();
        Self { name: name.to_owned(), began: Instant::now(), fraction: 0.0, points, last: None }
    }

    fn advance(&mut self, sample: Option<&Sample>, fraction: f64) {
        self.fraction = fraction;
        if let Some(sample) = sample {
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
        if let Some(left) = self.time_left() {
            line += &format!("  {} left", human(left));
        }
        line
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

fn draw(frame: &mut Frame<'_>, title: &str, step: &Step) {
    let rows = [Constraint::Min(6), Constraint::Length(1)];
    let [picture, gauge] = Layout::vertical(rows).areas(frame.area());
    draw_iops(frame, picture, title, step);
    let bar = Gauge::default()
        .ratio(step.fraction.clamp(0.0, 1.0))
        .label(step.line())
        .gauge_style(Style::new().fg(Color::Blue).bg(Color::DarkGray))
        .use_unicode(true);
    frame.render_widget(bar, gauge);
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
