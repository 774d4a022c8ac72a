//! Steady state by SNIA's test specification: rounds, verdict, and the tables that it asks for.

mod heading;
mod optional;

use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_suite::steady_state::{
    Cell, CellFigures, Metric, Outcome, Part, PartOutcome, Plan, Saturation, Window,
};

use super::scales::Along;
use super::{Answer, answers, per_drive, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{
    Axis, Look, Mark, NEUTRAL, ORANGE, Picture, Points, Trace, WRITES, nth_style, short,
};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

/// The parts that have rounds: what is tracked, and its unit.
const PARTS: [(Metric, &str, &str); 4] = [
    (Metric::Iops, "4 KiB random writes", "IOPS"),
    (Metric::Throughput, "128 KiB sequential writes", "MB/s"),
    (Metric::ThroughputMib, "1 MiB sequential writes", "MB/s"),
    (Metric::Latency, "4 KiB random writes, one at a time", "mean latency, µs"),
];

/// Of cells that the rule does not ask for.
const OTHER_CELLS: &str = "The rule judges one size of writes; where rounds of another figure were not steady by it, \
                           their range and their rise or fall stand beside the average.";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let rounds = PARTS.iter().filter_map(|part| rounds(subjects, &answers, part));
    let views = rounds
        .chain(saturation(subjects, &answers))
        .chain(optional::views(subjects, &answers))
        .collect();
    let mut tables = vec![heading::table(subjects, &answers)];
    tables.extend(verdicts(subjects, &answers));
    for answer in &answers {
        tables
            .extend(answer.outcome.parts.iter().flat_map(|part| matrices(subjects, answer, part)));
    }
    tables.extend(optional::tables(subjects, &answers));
    let method = "SNIA's Solid State Storage Performance Test Specification: rounds until five of \
                  them differ by at most 20 % and rise or fall by at most 10 %.";
    Some(Section::new(Plan::NAME, "Steady state", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let part = outcome.parts.iter().find(|part| part.part == Metric::Iops)?;
    let verdict = state(part);
    let iops = number::iops(part.window.average);
    Some(format!("By SNIA's rule: {iops} of 4 KiB random writes, {verdict}."))
}

/// What the rule says of a part.
fn state(part: &PartOutcome) -> &'static str {
    match (part.steady, part.is_judged()) {
        (true, _) => "steady",
        (false, true) => "not steady",
        (false, false) => "not judged",
    }
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
    let mut traces: Vec<Trace> = found.iter().map(trace).collect();
    if let [(_, only)] = &found[..] {
        traces.extend(bounds(only));
    }
    let mut picture = Picture::new(id, title.clone(), x, Axis::linear(unit, highest), traces);
    if let [(_, only)] = &found[..] {
        let from = f64::from(only.window.first_round) - 0.4;
        let to = only.tracked.len() as f64 + 0.4;
        let label = state(only).to_owned();
        picture.marks = vec![Mark::Window { from, to, label }];
    }
    picture.conditions = format!("{tracked}; rounds by the specification");
    let text = match &found[..] {
        [(_, only)] => format!("{}. Lines: best fit, and 10 % on either side.", verdict(only)),
        _ => "The figure by which the part is judged.".to_owned(),
    };
    Some(View::common(&title, &text, picture))
}

/// What the specification wants beside the rounds of the window: their best fit, their average, and
/// how far a round may be from it.
fn bounds(part: &PartOutcome) -> impl Iterator<Item = Trace> {
    let (first, last) = (f64::from(part.window.first_round), part.tracked.len() as f64);
    let Window { average, rise, .. } = part.window;
    let line = move |name: &str, style, from: f64, to: f64| {
        Points::line(name, style, vec![(first, from), (last, to)])
    };
    [
        line("best fit", ORANGE, average * (1.0 - rise / 2.0), average * (1.0 + rise / 2.0)),
        line("average", NEUTRAL, average, average),
        line("+10 %", NEUTRAL, average * 1.1, average * 1.1),
        line("-10 %", NEUTRAL, average * 0.9, average * 0.9),
    ]
    .into_iter()
}

/// IOPS over what was written.
fn saturation(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let along = Along::the_writes(answers);
    let points = |answer: &Answer<'_, Outcome>| -> Vec<(f64, f64)> {
        let mut written = 0.0;
        let samples = answer.run.recording.series(Part::WriteSaturation.name());
        let whole = samples.filter(|sample| sample.is_whole());
        let point = |sample: &writecliff_measure::Sample| {
            written += sample.written_bytes as f64;
            (along.place(written, &answer.run.record.drive), sample.iops().get())
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
    let x = match along {
        Along::DriveWrites => along.axis("so far", end),
        _ => along.axis("written", end),
    };
    let (id, title) = ("steady-state-saturation", "Write saturation");
    let text = "4 KiB random writes without pause, over what was written. Every dot is one second. \
                Logarithmic.";
    per_drive(subjects, answers, (id, title, text), |answer, id, heading| {
        let style = subjects.style(answer.subject, WRITES);
        let traces = vec![Points::dots("IOPS", style, points(answer))];
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        picture.conditions = "4 KiB random writes, QD32, from a purged drive on".to_owned();
        Some(picture)
    })
}

/// `None` if only optional parts were run, whose tables are their own.
fn verdicts(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<Table> {
    type Said = (&'static str, fn(&PartOutcome) -> String);
    const SAID: [Said; 4] = [
        ("average", |part| in_words(part.part, part.window.average)),
        ("steady", |part| match (part.steady, part.is_judged()) {
            (true, _) => "yes".to_owned(),
            (false, true) => "NO".to_owned(),
            (false, false) => number::NONE.to_owned(),
        }),
        ("range", |part| range(part.window.range)),
        ("rise or fall", |part| rise_or_fall(part.window.rise)),
    ];
    type SaidOfAll = (&'static str, fn(&Saturation) -> String);
    const SATURATED: [SaidOfAll; 3] = [
        ("at first", |saturation| number::iops(saturation.first_iops)),
        ("in the end", |saturation| number::iops(saturation.last_iops)),
        ("written", |saturation| saturation.written.to_string()),
    ];
    let mut rows = Vec::new();
    for (which, tracked, _) in PARTS {
        rows.extend(SAID.map(|(said, words)| {
            let of = |answer: &Answer<'_, Outcome>| {
                part(answer.outcome, which).map_or(NONE.to_owned(), words)
            };
            let name = format!("{}: {said}", tracked_name(which, tracked));
            Row::new(&name, answers.iter().map(of).collect(), "")
        }));
    }
    rows.extend(SATURATED.map(|(said, words)| {
        let of = |answer: &Answer<'_, Outcome>| {
            answer.outcome.saturation.as_ref().map_or(NONE.to_owned(), words)
        };
        Row::new(&format!("Write saturation: {said}"), answers.iter().map(of).collect(), "")
    }));
    rows.retain(|row| row.values.iter().any(|value| value.text != NONE));
    let text = "Over the last five rounds: the specification wants a range of 20 % of the average \
                at most, and a rise or fall of 10 % at most. Saturation at first is a minute's mean, or that of \
                the first tenth if that is less; in the end, that of the last tenth. It begins on a purged drive \
                that nobody fills: LBAs that random writes have not met yet are spare area.";
    let table =
        |rows| Table { first: true, ..table_of(subjects, answers, ("By the rule", text), rows) };
    (!rows.is_empty()).then(|| table(rows))
}

fn tracked_name(part: Metric, tracked: &str) -> String {
    let part = match part {
        Metric::Iops => "IOPS",
        Metric::Throughput | Metric::ThroughputMib => "Throughput",
        Metric::Latency => "Latency",
    };
    format!("{part}: {tracked}")
}

fn verdict(part: &PartOutcome) -> String {
    let window = &part.window;
    let rounds = format!("{}–{}", window.first_round, part.tracked.len());
    let steady = match (part.steady, part.is_judged()) {
        (true, _) => "steady in rounds",
        (false, true) => "NOT STEADY in rounds",
        (false, false) => "too few rounds to judge:",
    };
    let average = in_words(part.part, window.average);
    format!("{average}; {steady} {rounds} ({})", range_and_rise(window))
}

/// `range 12 %, rise 3 %`.
fn range_and_rise(window: &Window) -> String {
    format!("range {}, {}", range(window.range), rise_or_fall(window.rise))
}

/// `12 %`.
fn range(range: f64) -> String {
    number::percent_beside(range, Window::RANGE_MAX)
}

/// `rise 3 %`, `fall 0.4 %`.
fn rise_or_fall(rise: f64) -> String {
    let word = if rise < 0.0 { "fall" } else { "rise" };
    format!("{word} {}", number::percent_beside(rise.abs(), Window::RISE_MAX))
}

/// What a part tracks, with its unit.
fn in_words(part: Metric, value: f64) -> String {
    match part {
        Metric::Throughput | Metric::ThroughputMib => number::megabytes_per_second(value),
        Metric::Latency => Nanos((value * 1e3) as u64).to_string(),
        Metric::Iops => number::iops(value),
    }
}

/// A figure of a table of sizes and mixes: title, text and words; and whether it is what the part tracks.
type Shown = (&'static str, &'static str, fn(&CellFigures) -> String, bool);

fn matrices(
    subjects: &Subjects<'_>,
    answer: &Answer<'_, Outcome>,
    part: &PartOutcome,
) -> Vec<Table> {
    let shown: &[Shown] = match part.part {
        Metric::Iops => &[(
            "IOPS",
            "Random I/Os per second by size and share of reads and writes.",
            |figures| number::thousands(figures.rate.iops),
            true,
        )],
        Metric::Throughput | Metric::ThroughputMib => {
            let words: fn(&CellFigures) -> String =
                |figures| number::significant(figures.rate.megabytes_per_second);
            &[("Throughput", "Sequential, in MB/s.", words, true)]
        }
        Metric::Latency => &[
            ("Mean latency", "One I/O at a time.", |f| number::service_time(f.rate.mean_ns), true),
            (
                "Longest latency",
                "One I/O at a time.",
                |f| number::service_time(f.rate.max_ns),
                false,
            ),
        ],
    };
    shown.iter().map(|shown| matrix(subjects, answer, part, shown)).collect()
}

/// Sizes down, mixes across, of one drive.
fn matrix(
    subjects: &Subjects<'_>,
    answer: &Answer<'_, Outcome>,
    part: &PartOutcome,
    (title, text, words, is_tracked): &Shown,
) -> Table {
    let unsteady = |figures: &CellFigures| figures.unsteady.filter(|_| *is_tracked);
    let mut mixes: Vec<u8> = part.cells.iter().map(|figures| figures.cell.read_percent).collect();
    let mut sizes: Vec<Bytes> = part.cells.iter().map(|figures| figures.cell.size).collect();
    mixes.sort_unstable_by_key(|percent| std::cmp::Reverse(*percent));
    mixes.dedup();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |Cell { read_percent, size, .. }: Cell| (read_percent, size);
    let value = |mix: u8, size: Bytes| {
        let found = part.cells.iter().find(|figures| of(figures.cell) == (mix, size));
        found.map_or(NONE.to_owned(), |figures| match unsteady(figures) {
            Some(window) => format!("{} ({})", words(figures), range_and_rise(&window)),
            None => words(figures),
        })
    };
    let row = |size: &Bytes| {
        Row::new(&number::size(*size), mixes.iter().map(|mix| value(*mix, *size)).collect(), "")
    };
    let column = |mix: &u8| Column { of: Place::default(), name: format!("{mix}/{}", 100 - mix) };
    let columns = mixes.iter().map(column).collect();
    let title = match subjects.is_comparison() {
        true => format!("{title}: {}", subjects.full_name(answer.subject)),
        false => (*title).to_owned(),
    };
    let text = match part.cells.iter().any(|figures| unsteady(figures).is_some()) {
        true => format!("{text} {OTHER_CELLS}"),
        false => (*text).to_owned(),
    };
    let mut table = Table::new(&title, &text, columns, sizes.iter().map(row).collect());
    table.of = Place::of(answer.subject);
    table.corner = "reads/writes, %".to_owned();
    table
}
