//! Every second's IOPS, in the three views of the published method.

use super::series::{Ranges, Series, view};
use crate::number;
use crate::picture::{Axis, BLUE, Mark, Picture, Points, is_thinned, short};
use crate::section::View;

/// Seconds that a log axis would silently leave out are drawn, and this says how.
const DEAD: &str = " Orange strokes at the bottom are seconds in which nothing completed.";

pub(super) const TIME: &str = "seconds of random writes";

pub(super) fn views(series: &[Series<'_>], ranges: &Ranges) -> Vec<View> {
    let is_long = series.iter().any(|one| is_thinned(one.seconds().count()));
    let whole = match is_long {
        true => "Logarithmic. So many seconds that each stretch shows its lowest and highest.",
        false => "Every dot is one second. Logarithmic: each line is ten times the one below.",
    };
    let from = number::seconds(ranges.steady_from);
    let (log, linear) =
        (format!("Steady state, from {from}"), format!("Steady state, from {from}, linear"));
    let closer = "The same seconds, closer. Logarithmic.";
    let band = "A steady drive is a thin band. Look at the lowest dots, not at the middle.";
    let dead = |text: &str| format!("{text}{}", if ranges.has_dead { DEAD } else { "" });
    let steady = ranges.steady_from;
    [
        view(series, ("whole", "The whole run", &dead(whole)), |one, id, title| {
            Some(picture(one, ranges, (id, title), 0.0, true))
        }),
        view(series, ("steady-log", &log, &dead(closer)), |one, id, title| {
            Some(picture(one, ranges, (id, title), steady, true))
        }),
        view(series, ("steady-linear", &linear, band), |one, id, title| {
            Some(picture(one, ranges, (id, title), steady, false))
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn picture(
    one: &Series<'_>,
    ranges: &Ranges,
    (id, title): (String, String),
    from: f64,
    log: bool,
) -> Picture {
    let mut points = one.points(|sample| Some(sample.iops().get()));
    points.retain(|(second, _)| *second >= from);
    let ended_before = points.is_empty();
    let iops = match log {
        true => Axis::decades("IOPS", ranges.iops, ranges.has_dead, short),
        false => Axis::linear("IOPS", ranges.steady_top),
    };
    let time = Axis::span(TIME, from, ranges.end);
    let mut picture = Picture::new(id, title, time, iops, vec![Points::dots("IOPS", BLUE, points)]);
    picture.marks = match ended_before {
        true => vec![Mark::Nothing(format!("this run ended after {} s", one.seconds().count()))],
        false => marks(one, from, ranges.end),
    };
    picture
}

/// The cliff as a line with its time, and the steady window shaded. Both names stand above the
/// picture; that of the window is left out where it would run into the other.
pub(super) fn marks(one: &Series<'_>, from: f64, axis_end: f64) -> Vec<Mark> {
    let Some(outcome) = one.outcome else { return Vec::new() };
    let cliff = outcome.cliff_s.map(f64::from).filter(|cliff| *cliff >= from);
    let mut marks = Vec::new();
    if let Some(at) = cliff {
        let label = format!("cliff at {}", number::seconds(at));
        marks.push(Mark::Upright { at, label });
    }
    if from == 0.0 {
        let from = f64::from(outcome.steady_from_s);
        let to = from + one.seconds().filter(|s| f64::from(s.second) >= from).count() as f64;
        let is_apart = cliff.is_none_or(|cliff| cliff < axis_end * 0.6) && to > axis_end * 0.8;
        let label = if is_apart { "steady window" } else { "" };
        marks.push(Mark::Window { from, to, label: label.to_owned() });
    }
    marks
}
