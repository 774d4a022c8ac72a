//! The terminal below the live view: a picture that is redrawn in place, or plain lines.

use std::io::{IsTerminal, Stderr, Write};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Widget};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use super::{Running, Step};
use crate::output::say;

const HEIGHT: u16 = 14;

/// Standard error, as far as it can show something. What cannot be shown must not end a
/// measurement.
pub(super) enum Screen {
    Picture(Box<Terminal<CrosstermBackend<Stderr>>>),
    Plain,
}

impl Screen {
    pub(super) fn begin(title: &str) -> Self {
        match terminal() {
            Some(terminal) => Self::Picture(Box::new(terminal)),
            None => {
                say(title);
                Self::Plain
            }
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Draws the picture anew, if there is one.
    pub(super) fn draw(&mut self, title: &str, running: &[Running]) {
        if let Self::Picture(terminal) = self {
            let _ = terminal.draw(|frame| draw(frame, title, running));
        }
    }

    /// Shows a line that stays, above the picture if there is one.
    pub(super) fn line(&mut self, text: &str) {
        match self {
            Self::Picture(terminal) => {
                let line = Line::from(text.to_owned());
                let _ = terminal.insert_before(1, |buffer| line.render(buffer.area, buffer));
            }
            Self::Plain => {
                say(text);
            }
        }
    }

    /// Takes the picture away; what comes then are plain lines.
    pub(super) fn end(&mut self) {
        if let Self::Picture(terminal) = self {
            let _ = terminal.clear();
            let _ = terminal.show_cursor();
            // Clearing leaves the cursor at the end of a line.
            let _ = write!(std::io::stderr(), "\r");
        }
        *self = Self::Plain;
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
