//! Stutter: how long small writes are kept waiting while something writes in the background.

use writecliff_measure::Sample;
use writecliff_suite::Unit;
use writecliff_suite::stutter::{FIGURES, Outcome, Plan, SMALL_WRITES};

use super::{Answer, answers, bars, figure_row, highest_first};
use crate::number;
use crate::picture::{Axis, ORANGE, Picture, Points, latency};
use crate::run::NONE;
use crate::section::{Panel, Place, Row, Section, Table, View, picture_id};
use crate::subject::Subjects;

/// A share small enough to need its own digits.
fn share(share: f64) -> String {
    if share == 0.0 { "none".to_owned() } else { format!("{:.2} %", share * 100.0) }
}

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let mut views = Vec::new();
    if answers.len() > 1 {
        views.push(ranking(subjects, &answers));
    }
    views.push(over_time(subjects, &answers));
    let method = "Small random writes one at a time, with time to think between them, beside a \
                  steady stream in the background.";
    let tables = vec![figures(subjects, &answers), pauses(subjects, &answers)];
    Some(Section::new(Plan::NAME, "Stutter", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let (longest, mean) = (outcome.latency.max_ns, outcome.mean_ns);
    let noticed = match outcome.over_100ms {
        0.0 => String::new(),
        share => format!("; {} took over 100 ms, which a person notices", number::percent(share)),
    };
    Some(format!(
        "The longest pause of a small write was {}, the average {}{noticed}.",
        number::latency(longest),
        number::latency(mean)
    ))
}

fn ranking(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> View {
    let longest = |outcome: &Outcome| Some(outcome.latency.max_ns as f64 / 1e6);
    let words = |millis: f64| number::latency((millis * 1e6) as u64);
    let mut bars = highest_first(bars(subjects, answers, longest, words));
    bars.reverse();
    let title = "Longest pause";
    let id = "stutter-longest".to_owned();
    let picture = Picture::bars(id, format!("{title} of a small write"), "milliseconds", bars, 0.0);
    View::common(title, "Shorter is better; best first.", picture)
}

fn over_time(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> View {
    let samples = |answer: &Answer<'_, Outcome>| -> Vec<(f64, f64)> {
        let done = answer.run.recording.series(SMALL_WRITES).filter(|sample| sample.writes > 0);
        let point = |s: &Sample| (f64::from(s.second), s.latency_max_ns as f64);
        done.map(point).collect()
    };
    let points = || answers.iter().flat_map(samples);
    let end = points().map(|point| point.0 + 1.0).fold(1.0, f64::max);
    let shortest = points().map(|point| point.1).fold(1e6, f64::min).max(1.0);
    let longest = points().map(|point| point.1).fold(1e6, f64::max);
    let y = Axis::decades("service time, ns", (shortest, longest), false, latency).untitled();
    let x = Axis::span("seconds", 0.0, end);
    let (id, title) = ("stutter-pauses", "The longest small write of each second");
    let panel = |answer: &Answer<'_, Outcome>| {
        let trace = Points::dots("longest", ORANGE, samples(answer));
        let heading = format!("{title}: {}", subjects.full_name(answer.subject));
        let id = picture_id(id, subjects, answer.subject);
        let picture = Picture::new(id, heading, x.clone(), y.clone(), vec![trace]);
        let caption = subjects.is_comparison().then(|| subjects.name(answer.subject).to_owned());
        Panel { of: Place::of(answer.subject), caption, picture }
    };
    View {
        id: id.to_owned(),
        title: title.to_owned(),
        text: "A person notices a pause from about 100 ms on. Logarithmic.".to_owned(),
        more: false,
        panels: answers.iter().map(panel).collect(),
    }
}

fn figures(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let words = |value: f64, unit| match unit {
        Unit::Percent => share(value / 100.0),
        _ => number::in_unit(value, unit),
    };
    let outcomes = || answers.iter().map(|answer| Some(answer.outcome));
    let row = |figure| figure_row(figure, outcomes(), words);
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    Table::new("Small writes", "", columns, FIGURES.iter().map(row).collect())
}

fn pauses(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let most = answers.iter().map(|answer| answer.outcome.pauses.len()).max().unwrap_or(0);
    let row = |rank: usize| {
        let value = |answer: &Answer<'_, Outcome>| match answer.outcome.pauses.get(rank) {
            Some(pause) => format!("{} at {} s", number::latency(pause.length_ns), pause.second),
            None => NONE.to_owned(),
        };
        Row::new(&(rank + 1).to_string(), answers.iter().map(value).collect(), "")
    };
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    let text = "At most one of each second, and when it ended.";
    Table::new("The longest pauses", text, columns, (0..most).map(row).collect())
}
