//! Heat: how fast and how warm, over time and over each other.

use writecliff_device::DeviceInfo;
use writecliff_measure::Sample;
use writecliff_suite::Good;
use writecliff_suite::heat::{Load, Outcome, Plan, READ, Sign, WRITE};

use super::{Answer, answers, number_row, per_drive, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, Mark, Picture, Points, READS, Style, Trace, WRITES};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

/// The loads in their order, as a person calls them.
const LOADS: [(&str, &str, Style); 2] = [(READ, "reads", READS), (WRITE, "writes", WRITES)];
const CONDITIONS: &str = "1 MiB in order, 8 in flight, on a full drive";

/// A place in a picture, of a second.
type Point = fn(&Sample) -> Option<(f64, f64)>;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let speed: Point = |sample| Some((second(sample), sample.megabytes_per_second()));
    let warmth: Point = |sample| Some((second(sample), degrees(sample)?));
    let both: Point = |sample| Some((degrees(sample)?, sample.megabytes_per_second()));
    let names = ("heat-temperature", "Temperature", "At the end of each second.");
    let views = [
        over_time(subjects, &answers, ("heat-speed", "Speed", ""), "MB/s", speed),
        over_time(subjects, &answers, names, "°C", warmth),
        over_temperature(subjects, &answers, both),
    ];
    let method = "Sequential reads, and after a rest sequential writes, without a pause.";
    let views = views.into_iter().flatten().collect();
    Some(Section::new(Plan::NAME, "Heat", method, views, tables(subjects, &answers)))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let words = |load: &Load| {
        let name = name_of(load);
        let held = number::percent(load.held());
        let beyond = if load.buffered_s > 0 { " beyond the fast buffer" } else { "" };
        let throttles = load.throttled.map(|throttled| {
            let after = number::seconds(f64::from(throttled.after_s));
            let ends = match throttled.megabytes_per_second {
                Some(_) => "have from then on",
                None => "end at",
            };
            format!("throttle after {after} at {:.0} °C and {ends}", throttled.celsius)
        });
        let ends = throttles.unwrap_or_else(|| "end at".to_owned());
        format!("{name} {ends} {held} of their speed{beyond}")
    };
    let loads: Vec<String> = outcome.loads.iter().map(words).collect();
    (!loads.is_empty()).then(|| format!("Long {}.", loads.join(", ")))
}

fn name_of(load: &Load) -> &'static str {
    LOADS.iter().find(|(phase, ..)| *phase == load.phase).map_or("", |(_, name, _)| name)
}

fn degrees(sample: &Sample) -> Option<f64> {
    Some(sample.temperature_millicelsius? as f64 / 1e3)
}

fn second(sample: &Sample) -> f64 {
    f64::from(sample.second)
}

/// Whole seconds of a load.
fn points(answer: &Answer<'_, Outcome>, phase: &str, point: Point) -> Vec<(f64, f64)> {
    let whole = answer.run.recording.series(phase).filter(|sample| sample.is_whole());
    whole.filter_map(point).collect()
}

/// A picture for each drive, with the moments at which it began to throttle.
fn over_time(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    names: (&str, &str, &str),
    quantity: &str,
    point: Point,
) -> Option<View> {
    let ((_, to), highest) = extent(answers, point)?;
    let (x, y) =
        (Axis::span("seconds of either load", 0.0, to + 1.0), Axis::linear(quantity, highest));
    per_drive(subjects, answers, names, |answer, id, heading| {
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces(answer, point));
        picture.marks = marks(&answer.outcome.loads, to);
        CONDITIONS.clone_into(&mut picture.conditions);
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// From where to where the points of all drives lie, and how high the highest.
fn extent(answers: &[Answer<'_, Outcome>], point: Point) -> Option<((f64, f64), f64)> {
    let of_answer = |answer| LOADS.iter().flat_map(move |(phase, ..)| points(answer, phase, point));
    let all = || answers.iter().flat_map(of_answer);
    all().next()?;
    let (from, to) = all().fold((f64::INFINITY, 0.0), |(from, to): (f64, f64), point| {
        (from.min(point.0), to.max(point.0))
    });
    Some(((from, to), all().map(|point| point.1).fold(0.0, f64::max)))
}

fn traces(answer: &Answer<'_, Outcome>, point: Point) -> Vec<Trace> {
    let trace = |(phase, name, style): &(&str, &str, Style)| {
        let points = points(answer, phase, point);
        (!points.is_empty()).then(|| Points::dots(name, *style, points))
    };
    LOADS.iter().filter_map(trace).collect()
}

/// Where the loads begin to throttle; moments too close to each other for two labels have one.
fn marks(loads: &[Load], end: f64) -> Vec<Mark> {
    let moments = loads.iter().filter_map(|load| Some((throttles_after(load)?, name_of(load))));
    match moments.collect::<Vec<_>>()[..] {
        [(one, _), (other, _)] if (one - other).abs() < 0.3 * end => {
            let label = |at: f64| if at <= one.min(other) { "both throttle" } else { "" };
            let mark = |at| Mark::Upright { at, label: label(at).to_owned() };
            if one == other { vec![mark(one)] } else { vec![mark(one), mark(other)] }
        }
        ref moments => {
            let mark = |(at, name): &(f64, &str)| Mark::Upright {
                at: *at,
                label: format!("{name} throttle"),
            };
            moments.iter().map(mark).collect()
        }
    }
}

fn over_temperature(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    point: Point,
) -> Option<View> {
    let ((from, to), highest) = extent(answers, point)?;
    let (x, y) = (Axis::span("°C", from.floor(), to.ceil()), Axis::linear("MB/s", highest));
    let text = "Each dot is a second.";
    let names = ("heat-speed-over-temperature", "Speed over temperature", text);
    per_drive(subjects, answers, names, |answer, id, heading| {
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces(answer, point));
        let limit = answer.outcome.limit_celsius.filter(|limit| (from..=to).contains(limit));
        let label = "its limit".to_owned();
        picture.marks = limit.map(|at| Mark::Upright { at, label }).into_iter().collect();
        CONDITIONS.clone_into(&mut picture.conditions);
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// What is said of a load, and which way it is better, if either.
type Said = (&'static str, Option<Good>, fn(&Load) -> Option<f64>, fn(f64) -> String);

const SAID: [Said; 6] = [
    ("at first", Some(Good::AtLeast), |load| Some(load.first), number::megabytes_per_second),
    ("in the end", Some(Good::AtLeast), |load| Some(load.last), number::megabytes_per_second),
    ("held", Some(Good::AtLeast), |load| Some(load.held()), number::percent),
    ("temperature at first", None, |load| load.begin_celsius, celsius),
    ("warmest", Some(Good::AtMost), |load| load.highest_celsius, celsius),
    ("throttles after", None, throttles_after, number::seconds),
];

fn throttles_after(load: &Load) -> Option<f64> {
    load.throttled.map(|throttled| f64::from(throttled.after_s))
}

fn celsius(degrees: f64) -> String {
    format!("{degrees:.0} °C")
}

/// Of one drive loads down and figures across; of several, a row for each figure of each load.
fn tables(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<Table> {
    let find = |answer: &Answer<'_, Outcome>, phase: &str| {
        answer.outcome.loads.iter().find(|load| load.phase == phase).cloned()
    };
    let title = "Warm and cold";
    if let [answer] = answers {
        let row = |(phase, name, _): &(&str, &str, Style)| {
            let load = find(answer, phase)?;
            let value = |(_, _, value, words): Said| value(&load).map_or(NONE.to_owned(), words);
            Some(Row::new(name, SAID.map(value).into(), ""))
        };
        let column = |(name, ..): Said| Column { of: Place::default(), name: name.to_owned() };
        let rows = LOADS.iter().filter_map(row).collect();
        return vec![Table::new(title, &signs(answers), SAID.map(column).into(), rows)];
    }
    let rows = LOADS.iter().flat_map(|(phase, name, _)| {
        SAID.iter().map(move |(said, good, value, words)| {
            let numbers = answers.iter().map(|answer| value(&find(answer, phase)?));
            let row = number_row(&format!("{name}: {said}"), Good::AtLeast, numbers, words);
            Row { good: *good, ..row }
        })
    });
    vec![table_of(subjects, answers, (title, &signs(answers)), rows.collect())]
}

/// What the rates are means of.
const OVER: &str = "At first (beyond the fast buffer, where writes left one) and in the end are means of a minute, of a tenth of \
     a load shorter than ten; held is the rate in the end, of a drive that throttles all from then on, as a share of \
     that at first.";

/// What the rates are means of, and how throttling was seen, where it was.
fn signs(answers: &[Answer<'_, Outcome>]) -> String {
    let loads = || answers.iter().flat_map(|answer| &answer.outcome.loads);
    let has = |sign| loads().any(|load| load.throttled.is_some_and(|seen| seen.by == sign));
    match (has(Sign::Limit), has(Sign::Speed)) {
        (_, true) => {
            format!(
                "{OVER} A warm drive throttles when it is at its own limit, or for as long slower than \
                 90 % of what it was before it was warm."
            )
        }
        (true, false) => format!("{OVER} A drive throttles when it is at its own limit."),
        (false, false) => OVER.to_owned(),
    }
}
