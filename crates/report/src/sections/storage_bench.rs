//! Storage bench: how fast, how busy and how late a drive was with each application trace.

use writecliff_device::{DeviceInfo, Operation};
use writecliff_measure::{ReplaySeries, Sample};
use writecliff_suite::Good;
use writecliff_suite::storage_bench::{FIGURES, Moment, Outcome, Plan, Served, series_name};

use super::{Answer, answers, figure_row, moments, per_drive, ranked_bars, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, Picture, Points, READS, Style, WRITES, latency};
use crate::section::{Row, Section, Table, View, slug};
use crate::subjects::Subjects;

type Fact = (&'static str, fn(&Served) -> Option<String>, &'static str);

/// What was done, below the figures.
const AMOUNTS: &[Fact] = &[
    ("Operations", |s| Some(operations(s)), "done"),
    (
        "Trims and flushes",
        |s| match s.all.operations - s.reads.operations - s.writes.operations {
            0 => None,
            others => Some(number::thousands(others as f64)),
        },
        "done; their service times are in those of all operations",
    ),
    ("Read", |s| Some(s.reads.bytes.to_string()), ""),
    ("Written", |s| Some(s.writes.bytes.to_string()), ""),
];

fn operations(served: &Served) -> String {
    let done = number::thousands(served.all.operations as f64);
    match served.in_part_of {
        Some(whole) => format!("{done} of {}", number::thousands(whole as f64)),
        None => done,
    }
}

/// What drives are ranked by.
struct Ranking {
    id: &'static str,
    title: &'static str,
    text: &'static str,
    quantity: &'static str,
    value: fn(&Served) -> f64,
    words: fn(f64) -> String,
    good: Good,
}

const RANKINGS: &[Ranking] = &[
    Ranking {
        id: "rate",
        title: "average data rate",
        text: "Longer is better.",
        quantity: "MB/s",
        value: |served| served.all.megabytes_per_second,
        words: number::megabytes_per_second,
        good: Good::AtLeast,
    },
    Ranking {
        id: "service",
        title: "average service time",
        text: "Shorter is better. Bursts weigh more here than in the data rate.",
        quantity: "milliseconds",
        value: |served| served.all.service.mean_ns as f64 / 1e6,
        words: |millis| number::latency((millis * 1e6) as u64),
        good: Good::AtMost,
    },
    Ranking {
        id: "deviation",
        title: "standard deviation of the service time",
        text: "Shorter is steadier.",
        quantity: "milliseconds",
        value: |served| served.all.service.deviation_ns as f64 / 1e6,
        words: |millis| number::latency((millis * 1e6) as u64),
        good: Good::AtMost,
    },
    Ranking {
        id: "busy",
        title: "disk busy time",
        text: "Shorter is better. Idle time is not in it.",
        quantity: "seconds",
        value: |served| served.all.busy_ns as f64 / 1e9,
        words: number::seconds,
        good: Good::AtMost,
    },
];

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let traces = traces(&answers);
    let (mut views, mut tables) = (Vec::new(), Vec::new());
    for trace in &traces {
        if answers.len() > 1 {
            views.extend(RANKINGS.iter().map(|by| ranking(subjects, &answers, trace, by)));
        }
        views.extend(over_time(subjects, &answers, trace));
        tables.push(figures(subjects, &answers, trace));
        tables.extend(answers.iter().filter_map(|answer| slowest(subjects, answer, trace)));
    }
    let method = "Application traces, done again as fast as they allow with idle time cut, or by \
                  their own clock. Synthetic ones were made by a generator; those that ship have \
                  the published statistics of the benches of their names, and are not the original \
                  recordings.";
    Some(Section::new(Plan::NAME, "Storage bench", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let in_words = |served: &Served| {
        let rate = number::megabytes_per_second(served.all.megabytes_per_second);
        let service = served.all.service;
        let (mean, deviation) =
            (number::latency(service.mean_ns), number::latency(service.deviation_ns));
        let synthetic = if served.synthetic { " (synthetic)" } else { "" };
        let (trace, how) = (&served.trace, how(served));
        let at = if how.is_empty() { " at " } else { ": " };
        format!(
            "{trace}{synthetic}{how}{at}{rate}, average service time {mean}, standard deviation {deviation}"
        )
    };
    let all: Vec<String> = outcome.traces.iter().map(in_words).collect();
    (!all.is_empty()).then(|| format!("Application traces: {}.", all.join("; ")))
}

/// What of a trace was done, and by which clock, where that is not all of it as fast as it allows.
fn how(served: &Served) -> String {
    let part = served.in_part_of.map(|whole| {
        let [done, whole] = [served.all.operations, whole].map(|n| number::thousands(n as f64));
        format!(", the first {done} of its {whole} operations")
    });
    let clock = served.speed.map(|speed| match speed {
        1.0 => ", by its own clock".to_owned(),
        times => format!(", at {times} times its own clock"),
    });
    [part, clock].into_iter().flatten().collect()
}

/// A trace that some of the drives did: only what has its identity can be compared.
struct Trace {
    name: String,
    identity: Option<String>,
    /// What it is called here.
    label: String,
}

impl Trace {
    fn is(&self, served: &Served) -> bool {
        served.trace == self.name && served.identity == self.identity
    }
}

/// The traces, in the order in which the drives did them.
fn traces(answers: &[Answer<'_, Outcome>]) -> Vec<Trace> {
    let mut traces: Vec<Trace> = Vec::new();
    for served in answers.iter().flat_map(|answer| &answer.outcome.traces) {
        if traces.iter().any(|trace| trace.is(served)) {
            continue;
        }
        let (name, identity) = (served.trace.clone(), served.identity.clone());
        let synthetic = if served.synthetic { " (synthetic)" } else { "" };
        let other = match traces.iter().any(|trace| trace.name == name) {
            true => format!(", another one: {}", identity.as_deref().unwrap_or("unknown")),
            false => String::new(),
        };
        let label = format!("{name}{synthetic}{other}");
        traces.push(Trace { name, identity, label });
    }
    traces
}

fn served<'a>(answer: &Answer<'a, Outcome>, trace: &Trace) -> Option<&'a Served> {
    answer.outcome.traces.iter().find(|served| trace.is(served))
}

fn ranking(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    trace: &Trace,
    by: &Ranking,
) -> View {
    let value = |outcome: &Outcome| {
        let served = outcome.traces.iter().find(|served| trace.is(served))?;
        Some((by.value)(served))
    };
    let bars = ranked_bars(subjects, answers, by.good, value, by.words);
    let title = format!("{}: {}", trace.label, by.title);
    let id = format!("storage-bench-{}-{}", slug(&trace.label), by.id);
    View::common(&title, by.text, Picture::bars(id, title.clone(), by.quantity, bars, 0.0))
}

/// Every second's mean service time, of reads and of writes.
fn over_time(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    trace: &Trace,
) -> Option<View> {
    let points = |answer: &Answer<'_, Outcome>, series: ReplaySeries| -> Vec<(f64, f64)> {
        let name = series_name(&trace.name, series);
        let is_of_it = served(answer, trace).is_some();
        let samples = answer.run.recording.series(&name).filter(|s| is_of_it && s.ios() > 0);
        let point = |s: &Sample| (f64::from(s.second), s.latency_mean_ns as f64);
        samples.map(point).collect()
    };
    let both = [(ReplaySeries::Reads, "reads", READS), (ReplaySeries::Writes, "writes", WRITES)];
    let all: Vec<(f64, f64)> = answers
        .iter()
        .flat_map(|answer| both.iter().flat_map(|(series, ..)| points(answer, *series)))
        .collect();
    all.first()?;
    let end = all.iter().map(|point| point.0 + 1.0).fold(1.0, f64::max);
    let shortest = all.iter().map(|point| point.1).fold(f64::INFINITY, f64::min).max(1.0);
    let longest = all.iter().map(|point| point.1).fold(shortest, f64::max);
    let x = Axis::span("seconds of the replay", 0.0, end);
    let y = Axis::decades("service time, ns", (shortest, longest), false, latency).untitled();
    let id = format!("storage-bench-{}", slug(&trace.label));
    let title = format!("{}: service time over the trace", trace.label);
    let text = "Mean of each second. Without the trace's clock a faster drive is done sooner. Logarithmic.";
    let answers: Vec<Answer<'_, Outcome>> =
        answers.iter().filter(|answer| served(answer, trace).is_some()).copied().collect();
    let names = (id.as_str(), title.as_str(), text);
    per_drive(subjects, &answers, names, |answer, id, heading| {
        let dots = |(series, name, style): (ReplaySeries, &str, Style)| {
            Points::dots(name, style, points(answer, series))
        };
        let traces = both.into_iter().map(dots).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        picture.conditions = "application trace on a full drive".to_owned();
        Some(picture)
    })
}

fn figures(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], trace: &Trace) -> Table {
    let served = || answers.iter().map(|answer| served(answer, trace));
    let words = |value: f64, unit| match value {
        0.0 => NONE.to_owned(),
        _ => number::in_unit(value, unit),
    };
    let figure = |figure| figure_row(figure, served(), words);
    let amount = |(name, value, meaning): &Fact| {
        let value = |served: Option<&Served>| served.and_then(value).unwrap_or(NONE.to_owned());
        Row::new(name, served().map(value).collect(), meaning)
    };
    let mut rows: Vec<Row> = FIGURES.iter().map(figure).collect();
    rows.extend(AMOUNTS.iter().map(amount));
    // What no drive has was not measured.
    rows.retain(|row| row.values.iter().any(|value| value.text != NONE));
    table_of(subjects, answers, (&trace.label, ""), rows)
}

/// The slowest operations of one drive.
fn slowest(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>, trace: &Trace) -> Option<Table> {
    let all = &served(answer, trace)?.slowest;
    let row = |(rank, moment): (usize, &Moment)| {
        let what = match moment.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::Flush => "flush",
        };
        let at = number::seconds(f64::from(moment.second));
        let name = format!("{}, a {what}", rank + 1);
        Row::new(&name, vec![number::latency(moment.length_ns), at], "")
    };
    let rows: Vec<Row> = all.iter().enumerate().map(row).collect();
    let title = format!("{}: slowest moments", trace.label);
    (!rows.is_empty()).then(|| moments(subjects, answer.subject, &title, rows))
}
