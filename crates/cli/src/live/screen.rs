//! The terminal below the live view: a picture that is redrawn in place, or plain lines.

use std::io::{IsTerminal, Stderr, Write};

use ratatui_core::terminal::{Terminal, TerminalOptions, Viewport};
use ratatui_core::text::Line;
use ratatui_core::widgets::Widget;
use ratatui_crossterm::CrosstermBackend;
use writecliff_device::printable;
use writecliff_report::cut;

use super::{Running, Total, picture};
use crate::output::{Loudness, say};

/// The picture leaves so many rows to what was said before it...
const ROWS_LEFT: u16 = 6;
/// ... and needs no more than this.
const HEIGHT_MAX: u16 = 32;
/// A terminal that does not say how large it is.
const ROWS: u16 = 24;

/// Standard error, as far as it can show something. What cannot be shown must not end a
/// measurement.
pub(super) enum Screen {
    Picture(Box<Terminal<CrosstermBackend<Stderr>>>),
    Plain,
    /// Only what is said, no progress.
    Quiet,
}

impl Screen {
    pub(super) fn begin(title: &str, loudness: Loudness) -> Self {
        match (loudness, terminal()) {
            (Loudness::Quiet, _) => Self::Quiet,
            (_, Some(terminal)) => Self::Picture(Box::new(terminal)),
            (_, None) => {
                say(title);
                Self::Plain
            }
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Draws the picture anew, if there is one.
    pub(super) fn draw(&mut self, title: &str, running: &[Running], total: &Total) {
        if let Self::Picture(terminal) = self {
            let _ = terminal.draw(|frame| picture::draw(frame, title, running, total));
        }
    }

    /// Shows a text that stays, above the picture if there is one; it breaks between words.
    pub(super) fn line(&mut self, text: &str) {
        match self {
            Self::Picture(terminal) => {
                let width = terminal.size().map_or(80, |size| usize::from(size.width.max(1)));
                for line in cut(&printable(text), width) {
                    let line = Line::from(line);
                    let _ = terminal.insert_before(1, |buffer| line.render(buffer.area, buffer));
                }
            }
            Self::Plain | Self::Quiet => say(text),
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
    let rows = ratatui_crossterm::crossterm::terminal::size().map_or(ROWS, |(_, rows)| rows);
    let least = rows.min(3);
    let height = rows.saturating_sub(ROWS_LEFT).clamp(least, HEIGHT_MAX.max(least));
    let options = TerminalOptions { viewport: Viewport::Inline(height) };
    Terminal::with_options(CrosstermBackend::new(std::io::stderr()), options).ok()
}
