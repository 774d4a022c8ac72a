//! Read-write mix: what reads and writes cost each other.

use writecliff_device::DeviceInfo;
use writecliff_suite::Good;
use writecliff_suite::loads::Load;
use writecliff_suite::read_write_mix::{self, BesideFigures, MixFigures, Outcome, Plan, Side};

use super::curves::{self, Curve};
use super::loads::unit;
use super::{Answer, answers, cell_of, doubted_in, latency_row, merged, number_row, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, BLUE, GREEN, NEUTRAL, ORANGE, PURPLE, READS, Style, WRITES};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let mut views = Vec::new();
    for random in [true, false] {
        views.extend(rates(subjects, &answers, random));
    }
    views.extend(beside(subjects, &answers));
    for random in [true, false] {
        views.extend(latencies(subjects, &answers, random));
    }
    let tables = match &answers[..] {
        [answer] => of_one(answer),
        _ => of_several(subjects, &answers),
    };
    let method = "32 in flight of which 100 to 0 % read; and reads one at a time beside writes that \
                  come at random moments, so many times the drive's capacity a day (of a scale model, \
                  its whole drive's).";
    Some(Section::new(Plan::NAME, "Read-write mix", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    of_beside(outcome).or_else(|| {
        let of = |percent: u8| of_order(outcome, true).find(|mix| mix.load.read_percent == percent);
        let rate = |percent: u8| Some(number::iops(of(percent)?.iops()));
        let (reads, writes, both) = (rate(100)?, rate(0)?, rate(50)?);
        Some(format!(
            "Random reads alone go at {reads}, writes alone at {writes}, half of each at {both}."
        ))
    })
}

/// The phases that the headline is about.
pub(super) fn phases_of_headline(outcome: &Outcome) -> Vec<String> {
    match ends_of_beside(outcome) {
        Some((alone, most)) => [alone, most]
            .map(|beside| read_write_mix::beside_phase(beside.drive_writes_per_day))
            .into(),
        None => of_order(outcome, true).map(|mix| mix.load.name()).collect(),
    }
}

/// Reads beside the fewest writes, and beside the most that the drive kept up with.
fn ends_of_beside(outcome: &Outcome) -> Option<(&BesideFigures, &BesideFigures)> {
    let most = outcome.beside.iter().rfind(|beside| !beside.fell_behind)?;
    Some((outcome.beside.first()?, most))
}

/// The highest percentile of reads for which there were enough of them.
fn of_beside(outcome: &Outcome) -> Option<String> {
    let (alone, most) = ends_of_beside(outcome)?;
    let (nanos, of) = TAILS.iter().find(|(nanos, _)| nanos(alone).and(nanos(most)).is_some())?;
    let tail = |beside| number::service_time_if(nanos(beside));
    if most.writes.is_none() {
        return Some(format!(
            "Of {of} random reads all but one take at most {} beside no writes; the drive kept up with none \
             of the rates of writing that were asked for.",
            tail(alone)
        ));
    }
    Some(format!(
        "Of {of} random reads all but one take at most {} beside {}, and {} beside {}.",
        tail(alone),
        writes_a_day(alone.drive_writes_per_day),
        tail(most),
        writes_a_day(most.drive_writes_per_day)
    ))
}

type Tail = (fn(&BesideFigures) -> Option<u64>, &'static str);

const TAILS: [Tail; 3] = [
    (|beside| beside.reads.latency.p9999_ns, "10,000"),
    (|beside| beside.reads.latency.p999_ns, "1,000"),
    (|beside| beside.reads.latency.p99_ns, "100"),
];

/// `no writes`, `0.3 drive writes a day`.
fn writes_a_day(times: f64) -> String {
    match times {
        0.0 => "no writes".to_owned(),
        1.0 => "1 drive write a day".to_owned(),
        _ => format!("{times} drive writes a day"),
    }
}

fn of_order(outcome: &Outcome, random: bool) -> impl Iterator<Item = &MixFigures> {
    outcome.mixes.iter().filter(move |mix| mix.load.random == random)
}

fn total(mix: &MixFigures) -> f64 {
    if mix.load.random { mix.iops() } else { mix.megabytes_per_second() }
}

fn of_side(load: Load, side: Side) -> f64 {
    if load.random { side.rate.iops } else { side.rate.megabytes_per_second }
}

/// A quantity over the share of reads: its name, its style, and whether drives are compared by it.
type Quantity = (&'static str, Style, bool, fn(&MixFigures) -> Option<f64>);

const RATES: [Quantity; 3] = [
    ("all", NEUTRAL, true, |mix| Some(total(mix))),
    ("reads", READS, false, |mix| Some(of_side(mix.load, mix.reads?))),
    ("writes", WRITES, false, |mix| Some(of_side(mix.load, mix.writes?))),
];

const LATENCIES: [Quantity; 4] = [
    ("reads, mean", READS, false, |mix| Some(mix.reads?.rate.mean_ns as f64)),
    ("reads, p99", ORANGE, true, |mix| Some(mix.reads?.latency.p99_ns? as f64)),
    ("writes, mean", WRITES, false, |mix| Some(mix.writes?.rate.mean_ns as f64)),
    ("writes, p99", PURPLE, true, |mix| Some(mix.writes?.latency.p99_ns? as f64)),
];

fn curves_of(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    random: bool,
    quantities: &'static [Quantity],
) -> Vec<Curve<'static>> {
    let shown =
        quantities.iter().filter(|(_, _, compared, _)| *compared || !subjects.is_comparison());
    let curve = |(name, style, _, value): &Quantity| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |mix: &MixFigures| Some((f64::from(mix.load.read_percent), value(mix)?));
            (answer.subject, of_order(answer.outcome, random).filter_map(point).collect())
        };
        let lines = answers.iter().map(line).filter(|(_, line): &(_, Vec<_>)| !line.is_empty());
        let heading = format!("{} I/O: {name}", order(random));
        Curve { name, heading, style: *style, lines: lines.collect() }
    };
    shown.map(curve).filter(|curve| !curve.lines.is_empty()).collect()
}

fn order(random: bool) -> &'static str {
    if random { "Random" } else { "Sequential" }
}

fn share_of_reads() -> Axis {
    Axis::linear("reads, %", 100.0)
}

fn conditions(random: bool) -> String {
    format!(
        "{} reads and writes together on a full drive, 32 in flight",
        order(random).to_lowercase()
    )
}

fn any_load(answers: &[Answer<'_, Outcome>], random: bool) -> Option<Load> {
    answers.iter().find_map(|answer| Some(of_order(answer.outcome, random).next()?.load))
}

fn rates(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], random: bool) -> Vec<View> {
    let Some(load) = any_load(answers, random) else { return Vec::new() };
    let curves = curves_of(subjects, answers, random, &RATES);
    let (id, title) = (format!("mix-rate-{}", order(random).to_lowercase()), order(random));
    let title = format!("{title} I/O by the share of reads");
    let names = (id.as_str(), title.as_str(), "");
    curves::views(subjects, names, &share_of_reads(), unit(load).0, &conditions(random), &curves)
}

fn latencies(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], random: bool) -> Vec<View> {
    let curves = curves_of(subjects, answers, random, &LATENCIES);
    if curves.is_empty() {
        return Vec::new();
    }
    let id = format!("mix-latency-{}", order(random).to_lowercase());
    let title = format!("{} I/O: service times by the share of reads", order(random));
    let names = (id.as_str(), title.as_str(), "");
    let axes = (&share_of_reads(), &curves::times("service time", &curves));
    let views = curves::views_on(subjects, names, axes, &conditions(random), &curves);
    views.into_iter().map(View::on_demand).collect()
}

/// A percentile of reads beside writes: its name, its style, and whether drives are compared by it.
type Percentile = (&'static str, Style, bool, fn(&BesideFigures) -> Option<u64>);

const PERCENTILES: [Percentile; 4] = [
    ("p50", BLUE, true, |beside| Some(beside.reads.latency.p50_ns)),
    ("p99", GREEN, false, |beside| beside.reads.latency.p99_ns),
    ("p99.9", ORANGE, false, |beside| beside.reads.latency.p999_ns),
    ("p99.99", PURPLE, true, |beside| beside.reads.latency.p9999_ns),
];

/// Of all drives, the fewest first.
fn drive_writes(answers: &[Answer<'_, Outcome>]) -> Vec<f64> {
    let all = answers.iter().flat_map(|answer| &answer.outcome.beside);
    let mut times: Vec<f64> = all.map(|beside| beside.drive_writes_per_day).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

fn beside(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<View> {
    let all = drive_writes(answers);
    if all.is_empty() {
        return Vec::new();
    }
    let place = |times: f64| all.iter().position(|one| *one == times).unwrap_or(0) as f64;
    let shown =
        PERCENTILES.iter().filter(|(_, _, compared, _)| *compared || !subjects.is_comparison());
    let curve = |(name, style, _, value): &Percentile| {
        let point =
            |one: &BesideFigures| Some((place(one.drive_writes_per_day), value(one)? as f64));
        let line = |answer: &Answer<'_, Outcome>| {
            (answer.subject, answer.outcome.beside.iter().filter_map(point).collect())
        };
        let heading = format!("Reads beside writes: {name}");
        let lines = answers.iter().map(line).collect();
        Curve { name, heading, style: *style, lines }
    };
    let curves: Vec<Curve<'_>> = shown.map(curve).collect();
    let x =
        Axis::names("drive writes a day, as asked for", all.iter().map(f64::to_string).collect());
    let text = "Random reads, one at a time, beside random writes that come at random moments.";
    let names = ("mix-beside", "Reads beside writes", text);
    let conditions = "4 KiB random reads, one in flight, beside 4 KiB random writes";
    curves::views_on(
        subjects,
        names,
        (&x, &curves::times("service time", &curves)),
        conditions,
        &curves,
    )
}

fn column(name: &str) -> Column {
    Column { of: Place::default(), name: name.to_owned() }
}

fn of_one(answer: &Answer<'_, Outcome>) -> Vec<Table> {
    let mixes = [true, false].map(|random| mixes_of_one(answer, random));
    mixes.into_iter().flatten().chain(beside_of_one(answer)).collect()
}

/// Shares of reads down and figures across.
fn mixes_of_one(answer: &Answer<'_, Outcome>, random: bool) -> Option<Table> {
    let load = of_order(answer.outcome, random).next()?.load;
    let row = |mix: &MixFigures| {
        let cell = |text, number| cell_of(answer.run, &mix.load.name(), text, number);
        let late = |side: Option<Side>, value: fn(Side) -> Option<u64>| {
            let nanos = side.and_then(value);
            nanos.map_or_else(
                || NONE.to_owned().into(),
                |nanos| cell(number::service_time(nanos), nanos as f64),
            )
        };
        let of_side = |side| {
            [late(side, |side| Some(side.rate.mean_ns)), late(side, |side| side.latency.p99_ns)]
        };
        let rate = cell(unit(load).1(total(mix)), total(mix));
        let values = [vec![rate], of_side(mix.reads).into(), of_side(mix.writes).into()].concat();
        Row { values, ..Row::new(&format!("{} %", mix.load.read_percent), Vec::new(), "") }
    };
    let names = ["speed", "reads, mean", "reads, p99", "writes, mean", "writes, p99"];
    let title = format!("{} I/O", order(random));
    let rows = of_order(answer.outcome, random).map(row).collect();
    let mut table = Table::new(&title, "", names.map(column).into(), rows);
    "reads".clone_into(&mut table.corner);
    Some(table)
}

/// Rates of writing down and percentiles across.
fn beside_of_one(answer: &Answer<'_, Outcome>) -> Option<Table> {
    let row = |beside: &BesideFigures| {
        let phase = read_write_mix::beside_phase(beside.drive_writes_per_day);
        let cell = |value: Option<f64>, words: &dyn Fn(f64) -> String| match value {
            Some(value) => cell_of(answer.run, &phase, words(value), value),
            None => NONE.to_owned().into(),
        };
        let late = PERCENTILES.iter().map(|(_, _, _, nanos)| {
            cell(nanos(beside).map(|nanos| nanos as f64), &|nanos| {
                number::service_time(nanos as u64)
            })
        });
        let written = beside.writes.map(|side| side.rate.megabytes_per_second);
        let speeds = [
            cell(Some(beside.reads.rate.iops), &number::iops),
            cell(written, &number::megabytes_per_second),
        ];
        let values = late.chain(speeds).collect();
        let behind = if beside.fell_behind { ", fell behind" } else { "" };
        let name = format!("{}{behind}", writes_a_day(beside.drive_writes_per_day));
        Row { values, ..Row::new(&name, Vec::new(), "") }
    };
    let rows: Vec<Row> = answer.outcome.beside.iter().map(row).collect();
    let names = PERCENTILES.iter().map(|(name, ..)| *name).chain(["reads", "written"]);
    let title = "Reads beside writes";
    (!rows.is_empty()).then(|| Table::new(title, "", names.map(column).collect(), rows))
}

/// Drives across.
fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<Table> {
    let mut rows = Vec::new();
    for times in drive_writes(answers) {
        let find = |answer: &Answer<'_, Outcome>| {
            let all = answer.outcome.beside.iter();
            all.copied().find(|one| one.drive_writes_per_day == times)
        };
        for (name, _, _, nanos) in &PERCENTILES {
            let values = answers.iter().map(|answer| nanos(&find(answer)?));
            let row = latency_row(&format!("{}: {name}", writes_a_day(times)), values);
            rows.push(doubted_in(&read_write_mix::beside_phase(times), answers, row));
        }
        if times > 0.0 {
            let written = |answer| Some(find(answer)?.writes?.rate.megabytes_per_second);
            let (name, values) =
                (format!("{}: written", writes_a_day(times)), answers.iter().map(written));
            let row = number_row(&name, Good::AtLeast, values, number::megabytes_per_second);
            let row = Row { good: None, ..row };
            rows.push(doubted_in(&read_write_mix::beside_phase(times), answers, row));
        }
    }
    let beside = table_of(subjects, answers, ("Reads beside writes", ""), rows);
    let mixes = [true, false].map(|random| mixes_of_several(subjects, answers, random));
    mixes.into_iter().flatten().chain([beside]).collect()
}

fn of_share<'a>(
    answers: &[Answer<'a, Outcome>],
    random: bool,
    share: u8,
) -> Option<&'a MixFigures> {
    let mut all = answers.iter().flat_map(|answer| of_order(answer.outcome, random));
    all.find(|mix| mix.load.read_percent == share)
}

fn mixes_of_several(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    random: bool,
) -> Option<Table> {
    let unit = unit(any_load(answers, random)?).1;
    let mut shares: Vec<u8> = answers
        .iter()
        .flat_map(|answer| of_order(answer.outcome, random).map(|mix| mix.load.read_percent))
        .collect();
    shares.sort_unstable_by_key(|share| 100 - share);
    shares.dedup();
    let row = |share: &u8| {
        let find = |answer: &Answer<'_, Outcome>| {
            let mut all = of_order(answer.outcome, random);
            all.find(|mix| mix.load.read_percent == *share).map(total)
        };
        let row =
            number_row(&format!("{share} % reads"), Good::AtLeast, answers.iter().map(find), unit);
        let phase = of_share(answers, random, *share).map(|mix| mix.load.name());
        doubted_in(&phase.unwrap_or_default(), answers, row)
    };
    let rows = merged(shares.iter().map(row).collect());
    let title = format!("{} I/O", order(random));
    Some(table_of(subjects, answers, (title.as_str(), ""), rows))
}
