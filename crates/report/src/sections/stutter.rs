//! Stutter: how long small writes are kept waiting while something writes in the background.

use writecliff_device::DeviceInfo;
use writecliff_measure::Sample;
use writecliff_suite::Good;
use writecliff_suite::Unit;
use writecliff_suite::stutter::{FIGURES, Outcome, Pause, Plan, SMALL_WRITES};

use super::{Answer, answers, figure_row, moments, per_drive, ranked_bars, table_of};
use crate::number;
use crate::picture::{Axis, ORANGE, Picture, Points, latency};
use crate::section::{Row, Section, Table, View};
use crate::subjects::Subjects;
use crate::writes::NOTICED_NS;

const CONDITIONS: &str = "4 KiB random writes one at a time beside a stream of writes";

/// A share small enough to need its own digits.
fn share(share: f64) -> String {
    if share == 0.0 { "none".to_owned() } else { number::percent(share) }
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
    views.extend(over_time(subjects, &answers));
    let method = "Small random writes one at a time, with time to think between them, beside a \
                  steady stream in the background.";
    let pauses = answers.iter().filter_map(|answer| pauses(subjects, answer));
    let tables = std::iter::once(figures(subjects, &answers)).chain(pauses).collect();
    Some(Section::new(Plan::NAME, "Stutter", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
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
    let bars = ranked_bars(subjects, answers, Good::AtMost, longest, words);
    let title = "Longest pause";
    let id = "stutter-longest".to_owned();
    let picture = Picture::bars(id, format!("{title} of a small write"), "milliseconds", bars, 0.0);
    View::common(title, "Shorter is better.", picture)
}

fn over_time(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let samples = |answer: &Answer<'_, Outcome>| -> Vec<(f64, f64)> {
        let done = answer.run.recording.series(SMALL_WRITES).filter(|sample| sample.writes > 0);
        let point = |s: &Sample| (f64::from(s.second), s.latency_max_ns as f64);
        done.map(point).collect()
    };
    let points = || answers.iter().flat_map(samples);
    let end = points().map(|point| point.0 + 1.0).fold(1.0, f64::max);
    let shortest = points().map(|point| point.1).fold(1e6, f64::min).max(1.0);
    let longest = points().map(|point| point.1).fold(1e6, f64::max);
    let mut y = Axis::decades("service time, ns", (shortest, longest), false, latency);
    y.title = "service time".to_owned();
    let x = Axis::span("seconds", 0.0, end);
    let text = "A person notices a pause from about 100 ms on. Logarithmic.";
    let names = ("stutter-pauses", "The longest small write of each second", text);
    per_drive(subjects, answers, names, |answer, id, heading| {
        let style = subjects.style(answer.subject, ORANGE);
        let trace = Points::dots("longest", style, samples(answer));
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), vec![trace]);
        picture.conditions = CONDITIONS.to_owned();
        Some(picture)
    })
}

fn figures(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let words = |value: f64, unit| match unit {
        Unit::Percent => share(value / 100.0),
        _ => number::in_unit(value, unit),
    };
    let outcomes = || answers.iter().map(|answer| Some(answer.outcome));
    let row = |figure| figure_row(figure, outcomes(), words);
    table_of(subjects, answers, ("Small writes", ""), FIGURES.iter().map(row).collect())
}

/// The longest ones, if anybody would notice them.
fn pauses(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>) -> Option<Table> {
    let pauses = &answer.outcome.pauses;
    pauses.iter().find(|pause| pause.length_ns >= NOTICED_NS)?;
    let row = |(rank, pause): (usize, &Pause)| {
        let at = number::seconds(f64::from(pause.second));
        Row::new(&(rank + 1).to_string(), vec![number::latency(pause.length_ns), at], "")
    };
    let rows = pauses.iter().enumerate().map(row).collect();
    Some(moments(subjects, answer.subject, "The longest pauses", rows))
}
