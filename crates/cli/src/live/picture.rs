//! The picture of tests under way: the rate so far, a bar for each test and one for all.

use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::symbols::Marker;
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;
use ratatui_widgets::block::Block;
use ratatui_widgets::chart::{Axis, Chart, Dataset, GraphType};
use ratatui_widgets::gauge::Gauge;
use writecliff_report::thousands;

use super::step::{Point, Rate};
use super::{Running, Total};

/// A picture of fewer rows shows nothing.
const PICTURE_MIN: u16 = 6;
/// Values further apart than this factor are drawn on a log axis.
const LINEAR_MAX: f64 = 8.0;

/// The bars always; the picture of the test that was begun first where there is room for it.
pub(super) fn draw(frame: &mut Frame<'_>, title: &str, running: &[Running], total: &Total) {
    let area = frame.area();
    let bars = (running.len() as u16 + 1).min(area.height);
    let picture = area.height - bars;
    let [picture, bars] =
        Layout::vertical([Constraint::Length(picture), Constraint::Length(bars)]).areas(area);
    if let (Some(first), PICTURE_MIN..) = (running.first(), picture.height) {
        let title = format!("{title}: {}{}", first.test, of_several(running));
        draw_rate(frame, picture, &title, first);
    }
    // With too few rows for all, the whole is what stays.
    let shown = running.len().min(usize::from(bars.height.saturating_sub(1)));
    let rows = Layout::vertical(vec![Constraint::Length(1); shown + 1]).split(bars);
    for (running, row) in running.iter().zip(rows.iter()).take(shown) {
        let label = running.line(usize::from(row.width));
        draw_bar(frame, *row, running.step.fraction, label, Color::Blue);
    }
    let label = total.line(usize::from(rows[shown].width));
    draw_bar(frame, rows[shown], total.fraction(), label, Color::Cyan);
}

/// Which of several is shown.
fn of_several(running: &[Running]) -> String {
    match running.len() {
        0 | 1 => String::new(),
        count => format!(" (the first of {count} that run)"),
    }
}

fn draw_bar(frame: &mut Frame<'_>, area: Rect, fraction: f64, label: String, colour: Color) {
    let bar = Gauge::default()
        .ratio(fraction.clamp(0.0, 1.0))
        .label(label)
        .gauge_style(Style::new().fg(colour).bg(Color::DarkGray))
        .use_unicode(true);
    frame.render_widget(bar, area);
}

/// The rate of the step, a point a second, on axes that fit it.
fn draw_rate(frame: &mut Frame<'_>, area: Rect, title: &str, running: &Running) {
    let step = &running.step;
    let rate = step.rate();
    let scale = Scale::of(&step.points, rate);
    let points: Vec<(f64, f64)> = step
        .points
        .iter()
        .map(|point| (f64::from(point.second), scale.place(rate.of(point))))
        .collect();
    let last = points.last().map_or(1.0, |point| point.0).max(1.0);
    let dots = Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Scatter)
        .style(Style::new().fg(Color::Cyan))
        .data(&points);
    // A model's time is another than that of who watches.
    let whose = if running.is_simulated && area.width >= 60 { " of the drive's time" } else { "" };
    let end = format!("{} s{whose}", thousands(last.floor()));
    let time = Axis::default().bounds([0.0, last]).labels([Line::from("0"), Line::from(end)]);
    let values = Axis::default().bounds(scale.bounds()).labels(scale.labels());
    let chart = Chart::new(vec![dots])
        .block(Block::bordered().title(format!(" {title}: {}, {} ", step.name, rate.name())))
        .x_axis(time)
        .y_axis(values);
    frame.render_widget(chart, area);
}

/// The value axis: linear from zero, or by powers of ten where values are far apart.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Linear { most: f64 },
    Log { from: i32, to: i32 },
}

impl Scale {
    fn of(points: &[Point], rate: Rate) -> Self {
        let values = || points.iter().map(|point| rate.of(point));
        let most = values().fold(1.0, f64::max);
        let least = values().filter(|value| *value > 0.0).fold(most, f64::min).max(0.1);
        match most / least <= LINEAR_MAX {
            true => Self::Linear { most: round_up(most) },
            false => {
                let from = least.log10().floor() as i32;
                Self::Log { from, to: (most.log10().ceil() as i32).max(from + 1) }
            }
        }
    }

    /// Where a value lies; nothing at all lies at the bottom.
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear { .. } => value,
            Self::Log { from, .. } => value.max(10_f64.powi(from)).log10(),
        }
    }

    fn bounds(self) -> [f64; 2] {
        match self {
            Self::Linear { most } => [0.0, most],
            Self::Log { from, to } => [f64::from(from), f64::from(to)],
        }
    }

    fn labels(self) -> Vec<String> {
        match self {
            Self::Linear { most } => [0.0, most / 2.0, most].map(short).to_vec(),
            Self::Log { from, to } => (from..=to).map(|power| short(10_f64.powi(power))).collect(),
        }
    }
}

/// The next of 1, 2, 3, 4, 5, 6, 8 and 10 times a power of ten.
fn round_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.map(|step| step * unit).into_iter().find(|round| *round >= value).unwrap_or(value)
}

/// `500`, `1.5K`, `100K`, `1M`.
fn short(value: f64) -> String {
    let (value, suffix) = match value {
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "K"),
        _ => (value, ""),
    };
    format!("{}{suffix}", (value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(iops: &[f64]) -> Scale {
        let point = |iops: &f64| Point { second: 0, iops: *iops, megabytes_per_second: 0.0 };
        Scale::of(&iops.iter().map(point).collect::<Vec<_>>(), Rate::Iops)
    }

    #[test]
    fn the_axis_fits_what_is_there() {
        assert_eq!(scale(&[66_000.0, 70_100.0]).labels(), ["0", "40K", "80K"]);
        assert_eq!(scale(&[250.0, 273.0]).labels(), ["0", "150", "300"]);
        assert_eq!(scale(&[66_000.0, 4_500.0]).labels(), ["1K", "10K", "100K"]);
        assert_eq!(scale(&[0.0, 4_500.0]).labels(), ["0", "2.5K", "5K"]);
        assert_eq!(scale(&[]).labels(), ["0", "0.5", "1"]);
        assert_eq!(scale(&[4.0, 1_000_000.0]).bounds(), [0.0, 6.0]);
    }
}
