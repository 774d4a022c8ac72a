//! Steady state by SNIA's test specification: rounds, verdict, and the tables that it asks for.

use writecliff_device::{Bytes, Nanos};
use writecliff_suite::steady_state::{
    Cell, CellFigures, Metric, Outcome, Part, PartOutcome, Plan, Saturation,
};

use super::{Answer, answers};
use crate::number;
use crate::picture::{Axis, BLUE, Look, Mark, Picture, Points, Trace, nth_style, short};
use crate::run::NONE;
use crate::section::{Column, Panel, Place, Row, Section, Table, View, picture_id};
use crate::subject::Subjects;

/// The parts that have rounds: what is tracked, and its unit.
const PARTS: [(Metric, &str, &str); 3] = [
    (Metric::Iops, "4KiB random writes", "IOPS"),
    (Metric::Throughput, "128KiB sequential writes", "MB/s"),
    (Metric::Latency, "4KiB random writes, one at a time", "mean latency, µs"),
];

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let rounds = PARTS.iter().filter_map(|part| rounds(subjects, &answers, part));
    let views = rounds.chain(saturation(subjects, &answers)).collect();
    let mut tables = vec![verdicts(subjects, &answers)];
    for answer in &answers {
        tables.extend(answer.outcome.parts.iter().map(|part| matrix(subjects, answer, part)));
    }
    let method = "SNIA's Solid State Storage Performance Test Specification: rounds until five of \
                  them differ by at most 20 % and rise or fall by at most 10 %.";
    Some(Section::new(Plan::NAME, "Steady state", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let part = outcome.parts.iter().find(|part| part.part == Metric::Iops)?;
    let verdict = if part.steady { "steady" } else { "not steady" };
    let iops = number::iops(part.window.average);
    Some(format!("By SNIA's rule: {iops} of 4KiB random writes, {verdict}."))
}

fn part(outcome: &Outcome, part: Metric) -> Option<&PartOutcome> {
    outcome.parts.iter().find(|one| one.part == part)
}

/// What is tracked, round by round.
fn rounds(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    (which, tracked, unit): &(Metric, &str, &str),
) -> Option<View> {
    let found: Vec<(usize, &PartOutcome)> =
        answers.iter().filter_map(|a| Some((a.subject, part(a.outcome, *which)?))).collect();
    let last = found.iter().map(|(_, part)| part.tracked.len()).max()?;
    let highest = found.iter().flat_map(|(_, part)| &part.tracked).copied().fold(0.0, f64::max);
    let trace = |(subject, part): &(usize, &PartOutcome)| {
        let points = (1..=last).zip(&part.tracked).map(|(round, value)| (round as f64, *value));
        Trace::Points(Points {
            name: subjects.full_name(*subject),
            style: nth_style(*subject),
            look: Look::Line,
            points: points.collect(),
        })
    };
    let title = format!("Rounds: {tracked}");
    let names = (1..=last).map(|round| round.to_string()).collect();
    let mut x = Axis::names("round", names);
    // Rounds count from one.
    x.ticks.iter_mut().for_each(|tick| tick.0 += 1.0);
    (x.from, x.to) = (x.from + 1.0, x.to + 1.0);
    let id = format!("steady-state-{}", which.name());
    let traces = found.iter().map(trace).collect();
    let mut picture = Picture::new(id, title.clone(), x, Axis::linear(unit, highest), traces);
    if let [(_, only)] = &found[..] {
        let from = f64::from(only.window.first_round) - 0.4;
        let to = only.tracked.len() as f64 + 0.4;
        let label = if only.steady { "steady" } else { "not steady" }.to_owned();
        picture.marks = vec![Mark::Window { from, to, label }];
    }
    Some(View::common(&title, "The figure by which the part is judged.", picture))
}

/// IOPS over what was written.
fn saturation(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let points = |answer: &Answer<'_, Outcome>| -> Vec<(f64, f64)> {
        let mut written = 0.0;
        let samples = answer.run.recording.series(Part::WriteSaturation.name());
        let whole = samples.filter(|sample| sample.is_whole());
        let point = |sample: &writecliff_measure::Sample| {
            written += sample.written_bytes as f64 / 1e9;
            (written, sample.iops().get())
        };
        whole.map(point).collect()
    };
    let all = || answers.iter().flat_map(points);
    let end = all().map(|point| point.0).fold(0.0, f64::max);
    if end == 0.0 {
        return None;
    }
    let alive = || all().map(|point| point.1).filter(|iops| *iops > 0.0);
    let range = (alive().fold(1000.0, f64::min), alive().fold(1e4, f64::max));
    let y = Axis::decades("IOPS", range, all().any(|point| point.1 == 0.0), short);
    let x = Axis::span("GB written", 0.0, end);
    let (id, title) = ("steady-state-saturation", "Write saturation");
    let panel = |answer: &Answer<'_, Outcome>| {
        let points = points(answer);
        let heading = format!("{title}: {}", subjects.full_name(answer.subject));
        let id = picture_id(id, subjects, answer.subject);
        let traces = vec![Points::dots("IOPS", BLUE, points)];
        let caption = subjects.is_comparison().then(|| subjects.name(answer.subject).to_owned());
        let picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        Panel { of: Place::of(answer.subject), caption, picture }
    };
    Some(View {
        id: id.to_owned(),
        title: title.to_owned(),
        text: "4KiB random writes without pause, over what was written. Every dot is one second. \
               Logarithmic."
            .to_owned(),
        more: false,
        panels: answers.iter().map(panel).collect(),
    })
}

fn verdicts(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let mut rows = Vec::new();
    for (which, tracked, _) in PARTS {
        let value = |answer: &Answer<'_, Outcome>| {
            part(answer.outcome, which).map_or(NONE.to_owned(), verdict)
        };
        rows.push(Row::new(&tracked_name(which, tracked), answers.iter().map(value).collect(), ""));
    }
    let value = |answer: &Answer<'_, Outcome>| {
        answer.outcome.saturation.as_ref().map_or(NONE.to_owned(), saturated)
    };
    rows.push(Row::new("Write saturation", answers.iter().map(value).collect(), ""));
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    let text = "Average over the last five rounds, and whether they meet the specification's rule.";
    Table::new("Verdict", text, columns, rows)
}

fn tracked_name(part: Metric, tracked: &str) -> String {
    let part = match part {
        Metric::Iops => "IOPS",
        Metric::Throughput => "Throughput",
        Metric::Latency => "Latency",
    };
    format!("{part}: {tracked}")
}

fn verdict(part: &PartOutcome) -> String {
    let window = &part.window;
    let rounds = format!("{}–{}", window.first_round, part.tracked.len());
    let steady = if part.steady { "steady in rounds" } else { "NOT STEADY in rounds" };
    let (range, rise) = (number::percent(window.range), number::percent(window.rise));
    let average = in_words(part.part, window.average);
    format!("{average}; {steady} {rounds} (range {range}, rise {rise})")
}

/// What a part tracks, with its unit.
fn in_words(part: Metric, value: f64) -> String {
    match part {
        Metric::Throughput => number::megabytes_per_second(value),
        Metric::Latency => Nanos((value * 1e3) as u64).to_string(),
        Metric::Iops => number::iops(value),
    }
}

fn saturated(saturation: &Saturation) -> String {
    let (first, last) = (number::iops(saturation.first_iops), number::iops(saturation.last_iops));
    let amplification = saturation.write_amplification;
    let amplification = amplification
        .map_or_else(String::new, |wa| format!(", write amplification {}", number::ratio(wa)));
    format!("{first} at first, {last} after {}{amplification}", saturation.written)
}

/// Sizes down, mixes across, of one drive.
fn matrix(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>, part: &PartOutcome) -> Table {
    let (title, text) = match part.part {
        Metric::Iops => ("IOPS", "Random I/Os per second by size and share of reads and writes."),
        Metric::Throughput => ("Throughput", "Sequential, in MB/s."),
        Metric::Latency => ("Latency", "Mean and longest service time, one I/O at a time."),
    };
    let mut mixes: Vec<u8> = part.cells.iter().map(|figures| figures.cell.read_percent).collect();
    let mut sizes: Vec<Bytes> = part.cells.iter().map(|figures| figures.cell.size).collect();
    mixes.sort_unstable_by_key(|percent| std::cmp::Reverse(*percent));
    mixes.dedup();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |Cell { read_percent, size, .. }: Cell| (read_percent, size);
    let value = |mix: u8, size: Bytes| {
        let found = part.cells.iter().find(|figures| of(figures.cell) == (mix, size));
        found.map_or(NONE.to_owned(), |figures| cell(part.part, figures))
    };
    let row = |size: &Bytes| {
        Row::new(&size.exact(), mixes.iter().map(|mix| value(*mix, *size)).collect(), "")
    };
    let column = |mix: &u8| Column { of: Place::default(), name: format!("{mix}/{}", 100 - mix) };
    let columns = mixes.iter().map(column).collect();
    let title = match subjects.is_comparison() {
        true => format!("{title}: {}", subjects.full_name(answer.subject)),
        false => title.to_owned(),
    };
    let mut table = Table::new(&title, text, columns, sizes.iter().map(row).collect());
    table.of = Place::of(answer.subject);
    table.corner = "reads/writes, %".to_owned();
    table
}

fn cell(part: Metric, figures: &CellFigures) -> String {
    let rate = &figures.rate;
    match part {
        Metric::Iops => number::thousands(rate.iops),
        Metric::Throughput => number::significant(rate.megabytes_per_second),
        Metric::Latency => [rate.mean_ns, rate.max_ns].map(number::service_time).join(" / "),
    }
}
