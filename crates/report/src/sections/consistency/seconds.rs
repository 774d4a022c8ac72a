//! Every second's IOPS, in the three views of the published method.

use writecliff_suite::consistency::FallCause;

use super::series::{Ranges, Series, TIME, view, windows};
use crate::number;
use crate::picture::{Axis, Mark, Picture, Points, points_max, short};
use crate::section::View;

/// Seconds that a log axis would silently leave out are drawn, and this says how.
const DEAD: &str = " Orange strokes at the bottom are seconds in which nothing completed.";

/// The whole run, without more spare area as the first view, and with it on demand.
pub(super) fn whole(series: &[Series<'_>], ranges: &Ranges) -> Vec<View> {
    let least = series.iter().map(|one| one.setting).min().unwrap_or(0);
    let (first, others): (Vec<Series<'_>>, Vec<Series<'_>>) =
        series.iter().cloned().partition(|one| one.setting == least);
    let draw = |one: &Series<'_>, id, title| {
        let mut picture = picture(one, ranges, (id, title), 0.0, true);
        picture.alt = conclusion(one);
        Some(picture)
    };
    let text = whole_text(&first, ranges, false);
    let mut first = view(&first, ("whole", "The whole run", &text), draw);
    for panel in first.iter_mut().flat_map(|view| &mut view.panels) {
        // It stands above the buttons that choose settings.
        panel.of.setting = None;
    }
    let text = whole_text(&others, ranges, true);
    let more = ("whole-spare", "The whole run with more spare area", text.as_str());
    let others = view(&others, more, draw).map(View::on_demand);
    first.into_iter().chain(others).collect()
}

/// How to read whole runs: what a dot is depends on how many there are.
fn whole_text(series: &[Series<'_>], ranges: &Ranges, on_demand: bool) -> String {
    let most = points_max(series.len(), on_demand);
    let text = match series.iter().any(|one| one.seconds().count() > most) {
        true => "Logarithmic: each line is ten times the one below.",
        false => "Every dot is one second. Logarithmic: each line is ten times the one below.",
    };
    let pace = |one: &Series<'_>| {
        let documents = ranges.documents(one)?;
        Some((documents, (ranges.end(one) - documents) / documents))
    };
    let paces: Vec<(f64, f64)> = series.iter().filter_map(pace).collect();
    let closer = paces.first().map_or_else(String::new, |(documents, times)| {
        let documents = number::seconds(*documents);
        let pace = match paces.windows(2).all(|pair| pair[0] == pair[1]) {
            true if number::times(*times) == "1.0" => "where time runs on".to_owned(),
            true => format!("where time runs {} times as fast", number::times(*times)),
            false => "on a time scale of each drive's own where that is another".to_owned(),
        };
        let (half, writes) = match paces.len() == series.len() {
            true => ("The", "the writes"),
            false => ("Where there is a line, the", "the writes of a drive that needs more"),
        };
        format!(
            " {half} left half is the {documents} of the published method; right of it, {pace}, {writes} go \
             on until they are steady, or for as long as the test goes on at most."
        )
    });
    let text = match ranges.has_dead {
        true => text.replace("each line is", "each line but the lowest, 0, is"),
        false => text.to_owned(),
    };
    with_dead(&format!("{text}{closer}"), ranges.has_dead)
}

/// The steady window, closer.
pub(super) fn last(series: &[Series<'_>], ranges: &Ranges) -> Vec<View> {
    if series.iter().all(|one| one.outcome.is_none()) {
        return Vec::new();
    }
    let band = format!(
        "Shown: the {}. A steady drive is a thin band. Look at the lowest dots, not at the middle.",
        windows(series.iter())
    );
    let own_scale = match ranges.steady_top {
        Some(_) => "",
        None => " Each has a scale of its own: the highest would flatten the lowest to a line.",
    };
    let band = format!("{band}{own_scale}");
    let is_dead = |one: &Series<'_>| {
        let mut shown =
            one.seconds().filter(|second| f64::from(second.second) >= ranges.steady_from(one));
        shown.any(|second| second.ios() == 0)
    };
    let closer = with_dead("The same seconds, logarithmic.", series.iter().any(is_dead));
    let linear = view(series, ("steady-linear", "Once full", &band), |one, id, title| {
        Some(picture(one, ranges, (id, title), ranges.steady_from(one), false))
    });
    let log = view(series, ("steady-log", "Once full, logarithmic", &closer), |one, id, title| {
        Some(picture(one, ranges, (id, title), ranges.steady_from(one), true))
    });
    linear.into_iter().chain(log.map(View::on_demand)).collect()
}

fn with_dead(text: &str, has_dead: bool) -> String {
    format!("{text}{}", if has_dead { DEAD } else { "" })
}

/// What the whole run comes to, for whoever does not see it.
fn conclusion(one: &Series<'_>) -> String {
    let Some(outcome) = one.outcome else {
        return format!("{}: random writes over time, no figures.", one.name);
    };
    let [fresh, mean, floor] =
        [outcome.fresh_iops, outcome.steady_iops.mean, outcome.steady_iops.floor];
    let cliff = outcome.cliff_s.map_or_else(
        || match one.state {
            _ if let Some((_, cause)) = outcome.other_fall() => {
                let when = match cause {
                    FallCause::Heat => "while too warm",
                    FallCause::LostDie => "with a die lost",
                };
                format!("a fall {when}, so that no write cliff can be told")
            }
            _ if outcome.fell_from_iops.is_some() => {
                "a fall within these seconds, so that no write cliff can be told".to_owned()
            }
            writecliff_suite::WindowState::TooShort if !one.had_time_for_a_cliff() => {
                "too short to tell a write cliff".to_owned()
            }
            _ => "no write cliff".to_owned(),
        },
        |second| {
            let second = number::seconds(f64::from(second));
            match outcome.came_back() {
                true => format!("below half of that after {second} {}", outcome.how_long()),
                false => format!("write cliff after {second}"),
            }
        },
    );
    let worst = outcome.worst.map_or_else(String::new, |worst| {
        format!(", {} in the worst of all", number::count(worst.iops))
    });
    format!(
        "{}: {} fresh, {cliff}, {} on average in the {}, {} in the worst second there{worst}.",
        one.name,
        number::iops(fresh),
        number::count(mean),
        one.window(),
        number::count(floor)
    )
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
        false => {
            let own = || points.iter().map(|point| point.1).fold(0.0, f64::max);
            Axis::linear("IOPS", ranges.steady_top.unwrap_or_else(own))
        }
    };
    let time = match from > 0.0 {
        true => Axis::span(TIME, from, ranges.end_of_window(one)),
        false => ranges.time(one),
    };
    let dots = Points::dots("IOPS", one.style, points);
    let mut picture = Picture::new(id, title, time, iops, vec![dots]);
    picture.marks = match ended_before {
        true => vec![Mark::Nothing(format!("this run ended after {} s", one.seconds().count()))],
        false => marks(one, ranges, from),
    };
    picture
}

/// The cliff as a line with its time, and the steady window shaded. Both names stand above the
/// picture; that of the window is left out where it would run into the other.
pub(super) fn marks(one: &Series<'_>, ranges: &Ranges, from: f64) -> Vec<Mark> {
    let Some(outcome) = one.outcome else { return Vec::new() };
    let cliff = outcome.cliff_s.map(f64::from).filter(|cliff| *cliff >= from);
    let mut marks = Vec::new();
    if let Some(at) = cliff {
        // In the unit of the axis below.
        let what = if outcome.came_back() { "below half at" } else { "cliff at" };
        let label = format!("{what} {} s", number::thousands(at));
        marks.push(Mark::Upright { at, label });
    }
    let documents = ranges.documents(one).filter(|_| from == 0.0);
    if let Some(at) = documents {
        let label = format!("the method's {} s", number::thousands(at));
        marks.push(Mark::Upright { at, label });
    }
    for (at, what) in one.faults_s(from) {
        marks.push(Mark::Upright { at, label: what.to_owned() });
    }
    if from == 0.0 {
        let axis_end = ranges.end(one);
        let from = f64::from(outcome.steady_from_s);
        let to = from + one.seconds().filter(|s| f64::from(s.second) >= from).count() as f64;
        let is_early = cliff.is_none_or(|cliff| cliff < axis_end * 0.6);
        let is_apart = documents.is_some() || (is_early && to > axis_end * 0.8);
        let label = if is_apart { one.window() } else { "" };
        marks.push(Mark::Window { from, to, label: label.to_owned() });
    }
    marks
}
