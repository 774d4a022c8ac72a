//! The pictures of a consistency run as Plotly figures, equal axes for all runs of a page.
//!
//! Every dot is a second. Colours of text and grid come from the page's style sheet, at display.

use plotly::common::{Anchor, DashType, Font, Marker, MarkerSymbol, Mode, Orientation, Title};
use plotly::layout::{
    Annotation, Axis, AxisType, ItemSizing, Layout, Legend, Margin, Shape, ShapeLayer, ShapeLine,
    ShapeType,
};
use plotly::{Scatter, Trace};
use serde::Serialize;
use writecliff_measure::Sample;
use writecliff_suite::Status;
use writecliff_suite::consistency::TORTURE;

use crate::Run;

/// More seconds than this are drawn as the lowest and highest of equal stretches.
const POINTS_MAX: usize = 10_000;

/// The colours of Okabe and Ito that stand out on light and dark: told apart by colour-blind eyes.
const BLUE: &str = "#2b7bba";
const ORANGE: &str = "#d55e00";
const GREEN: &str = "#009e73";
const PURPLE: &str = "#aa6fc9";
const GREY: &str = "#808080";

/// A view of the test, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// All of it, log axis.
    Whole,
    /// The steady window, log axis.
    SteadyLog,
    /// The steady window, linear axis.
    SteadyLinear,
    /// Latency percentiles, all of it.
    Latency,
    /// What the drive does inside, if it tells.
    Inside,
}

impl View {
    pub(crate) const ALL: [Self; 5] =
        [Self::Whole, Self::SteadyLog, Self::SteadyLinear, Self::Latency, Self::Inside];

    /// What it is called in the page's code.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::SteadyLog => "steady-log",
            Self::SteadyLinear => "steady-linear",
            Self::Latency => "latency",
            Self::Inside => "inside",
        }
    }
}

/// Traces and layout, as Plotly takes them.
#[derive(Serialize)]
pub(crate) struct Picture {
    pub(crate) view: &'static str,
    data: Vec<Box<dyn Trace>>,
    layout: Layout,
}

/// The ranges that all runs of a page share, so that they can be compared by eye.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranges {
    /// End of the longest run, in seconds.
    end: f64,
    /// Beginning of the earliest steady window; of complete runs, if there are any, because the
    /// window of a run that was cut off may lie anywhere.
    pub(crate) steady_from: f64,
    /// Log10 of the lowest and highest IOPS shown.
    log: (f64, f64),
    /// Top of the linear axis.
    top: f64,
    /// Whether any second had no I/O at all.
    pub(crate) has_dead: bool,
    /// Log10 of the shortest and longest latency shown, in microseconds.
    latency: (f64, f64),
    /// Log10 of the top of the write amplification axis.
    amplification: f64,
}

impl Ranges {
    pub(crate) fn of(runs: &[Run]) -> Self {
        let all = || runs.iter().flat_map(whole_seconds);
        let iops = || all().map(|sample| sample.iops().get());
        let lowest = iops().filter(|iops| *iops > 0.0).fold(f64::INFINITY, f64::min);
        let highest = iops().fold(0.0, f64::max);
        let has_dead = iops().any(|iops| iops == 0.0);
        let decade = if lowest.is_finite() { lowest.log10().floor().min(2.0) } else { 0.0 };
        let steady_from = steady_from(runs);
        let steady = all().filter(|sample| f64::from(sample.second) >= steady_from);
        let longest = all().map(|sample| sample.latency_max_ns).max().unwrap_or(1).max(1);
        let shortest = all().map(|s| s.latency_p50_ns).filter(|ns| *ns > 0).min().unwrap_or(1);
        Self {
            end: all().map(|sample| f64::from(sample.second) + 1.0).fold(1.0, f64::max),
            steady_from,
            log: (decade - if has_dead { 1.0 } else { 0.0 }, highest.max(1e5).log10().ceil()),
            top: nice_top(steady.map(|sample| sample.iops().get()).fold(0.0, f64::max)),
            has_dead,
            latency: (micros(shortest).log10().floor(), micros(longest).log10().ceil()),
            amplification: all()
                .filter_map(Sample::write_amplification)
                .fold(10.0, f64::max)
                .log10(),
        }
    }
}

fn steady_from(runs: &[Run]) -> f64 {
    let is_complete = |run: &&Run| run.record.status == Status::Complete;
    let from = |run: &Run| run.outcome().map(|outcome| outcome.steady_from_s);
    let complete = runs.iter().filter(is_complete).filter_map(from).min();
    let earliest = complete.or_else(|| runs.iter().filter_map(from).min());
    f64::from(earliest.unwrap_or(0))
}

/// All pictures that the run has something to show in.
pub(crate) fn pictures(run: &Run, ranges: &Ranges) -> Vec<Picture> {
    let views = View::ALL.into_iter();
    views
        .filter(|view| *view != View::Inside || tells(run))
        .map(|v| picture(run, v, ranges))
        .collect()
}

/// Whether the drive says what it does inside.
pub(crate) fn tells(run: &Run) -> bool {
    whole_seconds(run).any(|sample| sample.nand_written_bytes.is_some())
}

/// Whether the page shows fewer dots than seconds.
pub(crate) fn is_thinned(run: &Run) -> bool {
    whole_seconds(run).count() > POINTS_MAX
}

fn picture(run: &Run, view: View, ranges: &Ranges) -> Picture {
    let (data, layout) = match view {
        View::Whole => iops_picture(run, ranges, 0.0, true),
        View::SteadyLog => iops_picture(run, ranges, ranges.steady_from, true),
        View::SteadyLinear => iops_picture(run, ranges, ranges.steady_from, false),
        View::Latency => latency_picture(run, ranges),
        View::Inside => inside_picture(run, ranges),
    };
    Picture { view: view.id(), data, layout }
}

fn whole_seconds(run: &Run) -> impl Iterator<Item = &Sample> {
    run.recording.phase(TORTURE).filter(|sample| sample.span_ns == 1_000_000_000)
}

fn iops_picture(run: &Run, ranges: &Ranges, from: f64, log: bool) -> (Vec<Box<dyn Trace>>, Layout) {
    let points: Vec<(f64, f64)> = whole_seconds(run)
        .map(|sample| (f64::from(sample.second), sample.iops().get()))
        .filter(|(second, _)| *second >= from)
        .collect();
    let ended_before = points.is_empty();
    let (dead, alive): (Vec<_>, Vec<_>) = points.into_iter().partition(|(_, iops)| *iops == 0.0);
    let mut data = vec![dots("IOPS", &thinned(&alive), BLUE)];
    if !dead.is_empty() {
        let bottom = if log { 10f64.powf(ranges.log.0 + 0.15) } else { 0.0 };
        let at_bottom: Vec<_> = dead.iter().map(|(second, _)| (*second, bottom)).collect();
        data.push(dead_seconds(&thinned(&at_bottom)));
    }
    let iops = if log { log_axis(ranges.log, ranges.has_dead) } else { linear_axis(ranges.top) };
    let layout = layout(from, ranges.end, iops.title(title("IOPS"))).show_legend(false);
    let layout = match ended_before {
        true => with_end(layout, run),
        false => with_marks(layout, run, from, ranges.end),
    };
    (data, layout)
}

fn latency_picture(run: &Run, ranges: &Ranges) -> (Vec<Box<dyn Trace>>, Layout) {
    let trace = |name: &str, colour, value: fn(&Sample) -> u64| {
        let alive = whole_seconds(run).filter(|sample| sample.ios() > 0);
        let points: Vec<_> = alive.map(|s| (f64::from(s.second), micros(value(s)))).collect();
        dots(name, &thinned(&points), colour)
    };
    let data = vec![
        trace("p50", GREEN, |sample| sample.latency_p50_ns),
        trace("p99", BLUE, |sample| sample.latency_p99_ns),
        trace("p99.9", PURPLE, |sample| sample.latency_p999_ns),
        trace("longest", ORANGE, |sample| sample.latency_max_ns),
    ];
    let decades: Vec<f64> =
        (ranges.latency.0 as i32..=ranges.latency.1 as i32).map(pow10).collect();
    let names = decades.iter().map(|us| latency_tick(*us)).collect();
    let axis = Axis::new()
        .type_(AxisType::Log)
        .range(vec![ranges.latency.0, ranges.latency.1])
        .tick_values(decades)
        .tick_text(names);
    (data, with_legend(layout(0.0, ranges.end, axis)))
}

fn inside_picture(run: &Run, ranges: &Ranges) -> (Vec<Box<dyn Trace>>, Layout) {
    let points: Vec<_> = whole_seconds(run)
        .filter_map(|sample| Some((f64::from(sample.second), sample.write_amplification()?)))
        .collect();
    let ticks = vec![1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
    let names = ticks.iter().map(|value| short(*value)).collect();
    let axis = Axis::new()
        .type_(AxisType::Log)
        .range(vec![-0.05, ranges.amplification + 0.05])
        .tick_values(ticks)
        .tick_text(names)
        .title(title("write amplification"));
    let data = vec![dots("write amplification", &thinned(&points), PURPLE)];
    (data, layout(0.0, ranges.end, axis).show_legend(false))
}

fn dots(name: &str, points: &[(f64, f64)], colour: &'static str) -> Box<dyn Trace> {
    let (x, y) = points.iter().copied().unzip::<_, _, Vec<_>, Vec<_>>();
    Scatter::new(x, y)
        .name(name)
        .mode(Mode::Markers)
        .marker(Marker::new().size(4).opacity(0.65).color(colour))
        .hover_template("t = %{x} s: %{y:,.4~r}<extra></extra>")
        .web_gl_mode(false)
}

/// Seconds that a log axis cannot show, at its bottom edge.
fn dead_seconds(points: &[(f64, f64)]) -> Box<dyn Trace> {
    let (x, y) = points.iter().copied().unzip::<_, _, Vec<_>, Vec<_>>();
    let marker = Marker::new().size(8).symbol(MarkerSymbol::TriangleDownOpen).color(ORANGE);
    Scatter::new(x, y)
        .name("0 IOPS")
        .mode(Mode::Markers)
        .marker(marker)
        .hover_template("t = %{x} s: nothing completed<extra></extra>")
        .web_gl_mode(false)
}

/// All points, or the lowest and highest of each of equal stretches: a floor is never lost.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(POINTS_MAX / 2);
    let extremes = points.chunks(stretch).flat_map(|chunk| {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (lowest, highest) = (chunk.iter().min_by(by_value), chunk.iter().max_by(by_value));
        lowest.into_iter().chain(highest).copied().collect::<Vec<_>>()
    });
    extremes.collect()
}

fn layout(from: f64, end: f64, y: Axis) -> Layout {
    let margin = (end - from) * 0.01;
    let time = Axis::new()
        .range(vec![from - margin, end + margin])
        .title(title("seconds of random writes"))
        .zero_line(false);
    Layout::new()
        .x_axis(time)
        .y_axis(y.zero_line(false))
        .margin(Margin::new().left(64).right(16).top(28).bottom(48))
        .height(360)
}

fn with_legend(layout: Layout) -> Layout {
    let legend = Legend::new().x(0.0).y(1.02).y_anchor(Anchor::Bottom);
    let legend = legend.item_sizing(ItemSizing::Constant);
    layout.show_legend(true).legend(legend.orientation(Orientation::Horizontal))
}

/// The cliff as a line with its time, and the steady window shaded. Both names stand above the
/// picture; that of the window is left out where it would run into the other.
fn with_marks(layout: Layout, run: &Run, from: f64, axis_end: f64) -> Layout {
    let Some(outcome) = run.outcome() else { return layout };
    let mut shapes = Vec::new();
    let mut notes = Vec::new();
    let cliff = outcome.cliff_s.map(f64::from).filter(|cliff| *cliff >= from);
    if let Some(cliff) = cliff {
        shapes.push(upright(cliff, cliff).line(line(ORANGE)));
        let side =
            if cliff - from < (axis_end - from) * 0.3 { Anchor::Left } else { Anchor::Right };
        notes.push(note(cliff, &format!("cliff at {cliff} s"), ORANGE).x_anchor(side));
    }
    if from == 0.0 {
        let start = f64::from(outcome.steady_from_s);
        let end =
            start + whole_seconds(run).filter(|s| f64::from(s.second) >= start).count() as f64;
        shapes.push(
            upright(start, end).fill_color(GREY).opacity(0.12).line(ShapeLine::new().width(0.0)),
        );
        let is_apart = cliff.is_none_or(|cliff| cliff < axis_end * 0.6);
        if is_apart && end > axis_end * 0.8 {
            notes.push(note(end, "steady window", GREY).x_anchor(Anchor::Right));
        }
    }
    layout.shapes(shapes).annotations(notes)
}

/// Why there is nothing to see: the run ended before the window of the others.
fn with_end(layout: Layout, run: &Run) -> Layout {
    let ended = format!("this run ended after {} s", whole_seconds(run).count());
    let middle = note(0.5, &ended, GREY).x_ref("paper").y(0.5);
    layout.annotations(vec![middle.x_anchor(Anchor::Center)])
}

fn upright(start: f64, end: f64) -> Shape {
    Shape::new()
        .shape_type(ShapeType::Rect)
        .layer(ShapeLayer::Below)
        .x_ref("x")
        .y_ref("paper")
        .x0(start)
        .x1(end)
        .y0(0.0)
        .y1(1.0)
}

fn line(colour: &'static str) -> ShapeLine {
    ShapeLine::new().color(colour).width(1.5).dash(DashType::Dot)
}

fn note(at: f64, text: &str, colour: &'static str) -> Annotation {
    Annotation::new()
        .text(text)
        .x(at)
        .x_ref("x")
        .y(1.0)
        .y_ref("paper")
        .y_anchor(Anchor::Bottom)
        .show_arrow(false)
        .font(Font::new().color(colour).size(12))
}

fn title(text: &str) -> Title {
    Title::with_text(text)
}

/// A log axis of IOPS; its lowest decade is called 0 if it holds the dead seconds.
fn log_axis((low, high): (f64, f64), has_dead: bool) -> Axis {
    let decades: Vec<f64> = (low as i32..=high as i32).map(pow10).collect();
    let mut names: Vec<String> = decades.iter().map(|iops| short(*iops)).collect();
    if has_dead {
        "0".clone_into(&mut names[0]);
    }
    Axis::new().type_(AxisType::Log).range(vec![low, high]).tick_values(decades).tick_text(names)
}

fn linear_axis(top: f64) -> Axis {
    let ticks: Vec<f64> = (0..=4).map(|quarter| top * f64::from(quarter) / 4.0).collect();
    let names = ticks.iter().map(|value| short(*value)).collect();
    Axis::new().range(vec![0.0, top]).tick_values(ticks).tick_text(names)
}

/// The next of 1, 2, 4, 6 or 8 times a power of ten: quarters of it are round.
fn nice_top(highest: f64) -> f64 {
    let decade = 10f64.powf(highest.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0];
    steps.iter().map(|step| step * decade).find(|top| *top >= highest).unwrap_or(10.0 * decade)
}

/// `500`, `1K`, `1.5K`, `100K`, `1M`.
fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "K"),
        _ => (value, ""),
    };
    let text = format!("{scaled:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn latency_tick(micros: f64) -> String {
    match micros {
        1e6.. => format!("{} s", micros / 1e6),
        1e3.. => format!("{} ms", micros / 1e3),
        _ => format!("{micros} µs"),
    }
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

fn pow10(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        let tops = [0.0, 1.0, 1.1, 39_999.0, 40_000.0, 41_000.0, 99_000.0];
        let expected = [1.0, 1.0, 2.0, 40_000.0, 40_000.0, 60_000.0, 100_000.0];
        assert_eq!(tops.map(nice_top), expected);
        assert_eq!([0.5, 500.0, 1500.0, 1e5, 1e6].map(short), ["0.5", "500", "1.5K", "100K", "1M"]);
        assert_eq!([0.1, 10.0, 1e4, 1e6].map(latency_tick), ["0.1 µs", "10 µs", "10 ms", "1 s"]);
    }

    #[test]
    fn thinning_keeps_the_lowest_and_the_highest() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1000.0)).collect();
        points[54_321].1 = 3.0;
        points[12_345].1 = 9_999.0;
        let thinned = thinned(&points);
        assert!(thinned.len() <= POINTS_MAX);
        assert!(thinned.contains(&(54_321.0, 3.0)) && thinned.contains(&(12_345.0, 9_999.0)));
        assert!(super::thinned(&points[..10_000]).len() == 10_000);
    }
}
