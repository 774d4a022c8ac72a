//! The pictures: all variants in each.

use super::{FleetPage, FleetPart};
use crate::finish::{WITH_DOUBTS, values};
use crate::number;
use crate::picture::{Axis, Look, Mark, Picture, Points, Trace, latency, nth_style, significant};
use crate::section::View;

/// Smaller shares are of single requests.
const SHARE_MIN: f64 = 1e-5;

fn share(value: f64) -> String {
    significant(value, 1)
}

/// The tail of all, and every minute's.
pub(super) fn responses(fleet: &FleetPage) -> Vec<View> {
    let times = |of: fn(&FleetPart) -> &Vec<(f64, f64)>, time: fn(&(f64, f64)) -> f64| {
        let all = || fleet.variants.iter().flat_map(&of).map(time);
        let lowest = all().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
        let highest = all().fold(1.0, f64::max);
        (lowest.min(highest), highest)
    };
    let tail = times(|part| &part.longer, |point| point.0);
    let highest = tail.1.max(fleet.limit_ns.unwrap_or_default() as f64);
    let x = Axis::decades("response time", (tail.0, highest), false, latency).of_nanos();
    let shares = fleet.variants.iter().flat_map(|part| &part.longer).map(|point| point.1);
    let least = shares.filter(|share| *share > 0.0).fold(100.0, f64::min).max(SHARE_MIN);
    let y = Axis::decades("requests that take longer, %", (least, 100.0), false, share);
    let limit = |at: u64| Mark::Upright { at: at as f64, label: "limit".to_owned() };
    let shown = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().copied().filter(|point| point.0 > 0.0 && point.1 >= SHARE_MIN).collect()
    };
    let mut tail =
        picture(fleet, "tail", "Requests that take longer", (x, y), |part| shown(&part.longer));
    // Between two response times that occurred the share is that above the lower one.
    for trace in &mut tail.traces {
        if let Trace::Points(points) = trace {
            points.look = Look::Steps;
        }
    }
    tail.marks.extend(fleet.limit_ns.map(limit));
    let text = "The lower and the farther left, the better: at 0.1 % a line shows the time that one in \
                a thousand requests exceeds.";
    let mut views = vec![View::common("Requests that take longer", text, tail)];
    let minutes = || fleet.variants.iter().flat_map(|part| &part.minutes);
    let longest = minutes().map(|minute| minute.0).fold(0.0, f64::max);
    if longest > 1.0 {
        let x = Axis::linear("minutes of service", longest);
        let y = Axis::decades(
            "99.9th percentile",
            times(|part| &part.minutes, |point| point.1),
            false,
            latency,
        )
        .of_nanos();
        let title = "Every minute's 99.9th percentile";
        let minutes = picture(fleet, "minutes", title, (x, y), |part| part.minutes.clone());
        let last = match longest.fract() {
            0.0 => "",
            _ => ", the last of what was left of one",
        };
        let text = format!("Of reads and writes together, at the end of each{last}. Logarithmic.");
        views.push(View::common(title, &text, minutes));
    }
    views
}

/// How many drives make the late requests.
pub(super) fn blame(fleet: &FleetPage) -> Vec<View> {
    if fleet.variants.iter().all(|part| part.blame.is_empty()) {
        return Vec::new();
    }
    let x = Axis::linear("drives, %", 100.0);
    let y = Axis::linear("late requests, %", 100.0);
    let title = "Late requests and the drives they waited for";
    let picture = picture(fleet, "blame", title, (x, y), |part| part.blame.clone());
    let without = fleet.variants.iter().filter(|part| part.blame.is_empty());
    let without: Vec<&str> = without.map(|part| part.name.as_str()).collect();
    let none = match &without[..] {
        [] => String::new(),
        without => format!(" No late request, and no line: {}.", without.join("; ")),
    };
    let text = format!(
        "Drives that most late requests waited for come first. A steep line: a few drives make the tail. A straight \
         one: all have their part in it.{none}"
    );
    vec![View::common(title, &text, picture)]
}

/// Late requests over cost, if that is known of several.
pub(super) fn cost(fleet: &FleetPage) -> Vec<View> {
    let point = |part: &FleetPart| Some((part.figure(COST)?.value, part.figure(LATE)?.value));
    let points: Vec<(usize, (f64, f64))> = fleet
        .variants
        .iter()
        .enumerate()
        .filter_map(|(index, part)| Some((index, point(part)?)))
        .collect();
    let highest =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(|(_, point)| of(point)).fold(0.0, f64::max);
    if points.len() < 2 {
        return Vec::new();
    }
    let x = Axis::linear("$ a year for a TB of data", highest(|point| point.0));
    let y = Axis::linear("late requests, %", highest(|point| point.1));
    let traces = points.iter().map(|(index, point)| {
        let name = &fleet.variants[*index].name;
        Points::dots(name, nth_style(*index), vec![*point])
    });
    let title = "Late requests over cost";
    let mut picture = Picture::new("cost".to_owned(), title.to_owned(), x, y, traces.collect());
    finish(&mut picture, fleet);
    let drawn = |place: usize| points.iter().any(|(index, _)| *index == place);
    let parts = fleet.variants.iter().enumerate();
    let unpriced: Vec<&str> =
        parts.filter(|(place, _)| !drawn(*place)).map(|(_, part)| part.name.as_str()).collect();
    let unpriced = match &unpriced[..] {
        [] => String::new(),
        names => {
            format!(" Not drawn, for want of a price of all its drives: {}.", names.join("; "))
        }
    };
    let text = format!(
        "Prices as the drives' profiles have them, each of its date. A drive is kept for five years, or until its \
         rated writes are used up, if its profile has them and that is sooner.{unpriced}"
    );
    vec![View::common(title, &text, picture)]
}

/// The figures that it is drawn from.
const LATE: &str = "late requests";
const COST: &str = "cost of a TB a year";

fn picture(
    fleet: &FleetPage,
    id: &str,
    title: &str,
    (x, y): (Axis, Axis),
    points: impl Fn(&FleetPart) -> Vec<(f64, f64)>,
) -> Picture {
    let traces = fleet.variants.iter().enumerate().filter_map(|(index, part)| {
        let name = if part.name.is_empty() { "requests" } else { &part.name };
        let points = points(part);
        (!points.is_empty()).then(|| Points::line(name, nth_style(index), points))
    });
    let mut picture = Picture::new(id.to_owned(), title.to_owned(), x, y, traces.collect());
    finish(&mut picture, fleet);
    picture
}

fn finish(picture: &mut Picture, fleet: &FleetPage) {
    let late = fleet.limit_ns.map(|limit| format!(", late above {}", number::latency(limit)));
    let has_doubts = fleet.variants.iter().any(|part| !part.doubts.is_empty());
    let doubts = if has_doubts { format!(", {WITH_DOUBTS}") } else { String::new() };
    picture.conditions = format!("simulated fleet{}{doubts}", late.unwrap_or_default());
    picture.alt = format!("{}. {}", picture.title, values(picture));
}
