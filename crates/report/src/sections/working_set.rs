//! Working set: random reads over the size of what is read from.

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_suite::Good;
use writecliff_suite::working_set::{MapEnd, Outcome, Plan, SpanFigures};

use super::curves::{self, Curve};
use super::{Answer, answers, latency_row, number_row, table_of};
use crate::number;
use crate::picture::{Axis, BLUE, GREEN, ORANGE, Style};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

const CONDITIONS: &str = "4 KiB random reads, one in flight, on a full drive";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let parts = parts(&answers);
    let tables = match &answers[..] {
        [answer] => vec![of_one(answer)],
        _ => vec![of_several(subjects, &answers, &parts)],
    };
    let method = "Random reads, one at a time, from ever larger parts of a full drive.";
    let views = views(subjects, &answers, &parts);
    Some(Section::new(Plan::NAME, "Working set", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let (first, last) = (outcome.spans.first()?, outcome.spans.last()?);
    let [first, all] = [first, last].map(|span| number::latency(span.rate.mean_ns));
    let times = format!("a random read takes {first} from a small part and {all} from all of it");
    Some(match outcome.map_end {
        Some(end) => {
            format!("Its memory holds the map of about {}: {times}.", number::gibibytes(end.holds))
        }
        None => format!("Working set: {times}."),
    })
}

/// What is read from: a part of so many bytes, or after all of these the whole drive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Of(Bytes),
    Whole,
}

impl Part {
    fn of(figures: &SpanFigures) -> Self {
        if figures.whole { Self::Whole } else { Self::Of(figures.span) }
    }

    fn words(self) -> String {
        match self {
            Self::Of(bytes) => number::size(bytes),
            Self::Whole => "all".to_owned(),
        }
    }
}

/// Of all drives, the smallest first.
fn parts(answers: &[Answer<'_, Outcome>]) -> Vec<Part> {
    let all = answers.iter().flat_map(|answer| &answer.outcome.spans);
    let mut parts: Vec<Part> = all.map(Part::of).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn views(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], parts: &[Part]) -> Vec<View> {
    let x = Axis::names("read from", parts.iter().map(|part| part.words()).collect());
    let place = |figures: &SpanFigures| {
        parts.iter().position(|one| *one == Part::of(figures)).unwrap_or(0) as f64
    };
    let curve = |name, heading: &str, style: Style, value: fn(&SpanFigures) -> Option<f64>| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |figures: &SpanFigures| Some((place(figures), value(figures)?));
            (answer.subject, answer.outcome.spans.iter().filter_map(point).collect())
        };
        let lines = answers.iter().map(line).collect();
        Curve { name, heading: heading.to_owned(), style, lines }
    };
    let (rate, time) = ("Reads over the size of what is read from", "Service times over that size");
    let iops = [curve("IOPS", rate, BLUE, |span| Some(span.rate.iops))];
    let times = [
        curve("mean", "Mean service time", ORANGE, |span| Some(micros(span.rate.mean_ns))),
        curve("p99", "99 % of the service times", GREEN, |span| span.latency.p99_ns.map(micros)),
    ];
    let text = "A level line is a drive with all of its map at hand.";
    let names = ("working-set-iops", rate, text);
    let mut views = curves::views(subjects, names, &x, "IOPS", CONDITIONS, &iops);
    let names = ("working-set-latency", time, "");
    views.extend(curves::views(subjects, names, &x, "µs", CONDITIONS, &times));
    views
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

/// Sizes down and figures across.
fn of_one(answer: &Answer<'_, Outcome>) -> Table {
    let row = |figures: &SpanFigures| {
        let (mean, latency) = (figures.rate.mean_ns, figures.latency);
        let times = [Some(mean), Some(latency.p50_ns), latency.p99_ns];
        let words = |nanos: Option<u64>| nanos.map_or(number::NONE.to_owned(), number::latency);
        let values = [vec![number::iops(figures.rate.iops)], times.map(words).to_vec()];
        Row::new(&Part::of(figures).words(), values.concat(), "")
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["IOPS", "mean", "p50", "p99"].map(column).into();
    let text = answer.outcome.map_end.map_or_else(String::new, |end| in_words(&end));
    let rows = answer.outcome.spans.iter().map(row).collect();
    let mut table = Table::new("Reads", &text, columns, rows);
    "read from".clone_into(&mut table.corner);
    table
}

fn in_words(end: &MapEnd) -> String {
    format!(
        "Up to {} the map is at hand. From the larger parts: the drive's memory holds the map of \
         about {}, and a read whose entry is not there takes {} longer.",
        number::size(end.fits),
        number::gibibytes(end.holds),
        number::latency(end.fetch_ns)
    )
}

fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], parts: &[Part]) -> Table {
    let find = |answer: &Answer<'_, Outcome>, part: Part| {
        answer.outcome.spans.iter().find(|one| Part::of(one) == part).copied()
    };
    let holds = answers.iter().map(|a| Some(a.outcome.map_end?.holds.0 as f64));
    let mut rows = vec![number_row("map in memory", Good::AtLeast, holds, |bytes| {
        number::gibibytes(Bytes(bytes as u64))
    })];
    rows.extend(parts.iter().map(|part| {
        let mean = answers.iter().map(|answer| Some(find(answer, *part)?.rate.mean_ns));
        latency_row(&format!("{}: mean", part.words()), mean)
    }));
    rows.extend(parts.iter().map(|part| {
        let p99 = answers.iter().map(|answer| find(answer, *part)?.latency.p99_ns);
        latency_row(&format!("{}: p99", part.words()), p99)
    }));
    let text = "Map in memory: what it stands for, of drives that fetch the rest from NAND.";
    table_of(subjects, answers, ("Reads", text), rows)
}
