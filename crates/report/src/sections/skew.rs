//! Skew: even writes beside writes of which most go to few pages, until they have settled.

use writecliff_device::DeviceInfo;
use writecliff_suite::skew::{LoadFigures, Moment, Outcome, Plan, Round, UNIFORM};
use writecliff_suite::{Good, Plan as AnyPlan};

use super::curves::{self, Curve};
use super::{Answer, answers, number_row, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, nth_style};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let names = names(&answers);
    let tables = match &answers[..] {
        [answer] => vec![of_one(answer)],
        _ => vec![of_several(subjects, &answers, &names)],
    };
    let method = "Random writes all over the drive until it is steady, and from there, each time, \
                  writes of which most go to few pages.";
    let method = match answers.iter().any(|answer| answer.outcome.loads.len() > 1) {
        true => format!("{method} {WHICH_UNIFORM}"),
        false => method.to_owned(),
    };
    Some(Section::new(Plan::NAME, "Skew", &method, views(subjects, &answers, &names), tables))
}

/// Of several even loads the last.
const WHICH_UNIFORM: &str = "Even writes, called uniform, are those before the last of these: they follow other loads, \
                              and do not begin on a drive that was just filled.";

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let by_rate =
        |one: &&LoadFigures, other: &&LoadFigures| one.rate.iops.total_cmp(&other.rate.iops);
    let loads = &outcome.loads;
    let (slowest, fastest) = (loads.iter().min_by(by_rate)?, loads.iter().max_by(by_rate)?);
    let even = number::iops(outcome.uniform.rate.iops);
    let said = |load: &LoadFigures| {
        let (rate, times) = (number::iops(load.rate.iops), load.times(&outcome.uniform));
        format!("{rate} under {} ({times:.2} times)", load.name)
    };
    Some(match loads.len() {
        1 => format!("Even writes go at {even}; it does {}.", said(slowest)),
        _ => format!(
            "Even writes go at {even}; with skew it does between {} and {}.",
            said(slowest),
            said(fastest)
        ),
    })
}

/// Of all drives, in the order of the plan.
fn names<'a>(answers: &[Answer<'a, Outcome>]) -> Vec<&'a str> {
    let mut names = vec![UNIFORM];
    for load in answers.iter().flat_map(|answer| &answer.outcome.loads) {
        if !names.contains(&load.name.as_str()) {
            names.push(&load.name);
        }
    }
    names
}

fn find<'a>(answer: &Answer<'a, Outcome>, name: &str) -> Option<&'a LoadFigures> {
    let Outcome { uniform, loads } = answer.outcome;
    std::iter::once(uniform).chain(loads).find(|load| load.name == name)
}

fn views(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], names: &[&str]) -> Vec<View> {
    let curve = |(index, name): (usize, &&'_ str)| {
        let line = |answer: &Answer<'_, Outcome>| {
            let course = &find(answer, name)?.course;
            let point = |round: &Round| (round.drive_writes, round.iops);
            Some((answer.subject, course.iter().map(point).collect()))
        };
        let lines = answers.iter().filter_map(line).collect();
        let heading = format!("Writes under the load {name}");
        Curve { name: names[index], heading, style: nth_style(index), lines }
    };
    let curves: Vec<Curve<'_>> = names.iter().enumerate().map(curve).collect();
    let longest = curves::points(&curves).map(|point| point.0).fold(0.0, f64::max);
    let x = Axis::linear("drive writes since the load began", longest);
    let text =
        format!("Each point is a round: {}; the first is what is left of one.", round(answers));
    let names = ("skew-iops", "Writes under skew", &*text);
    curves::views(subjects, names, &x, "IOPS", &conditions(answers), &curves)
}

/// What a round of the first of them is.
fn round(answers: &[Answer<'_, Outcome>]) -> String {
    match &answers[0].run.record.plan {
        AnyPlan::Skew(plan) => plan.round_in_words(),
        _ => String::new(),
    }
}

/// What all drives were asked, as the first was: what is not the same is told above.
fn conditions(answers: &[Answer<'_, Outcome>]) -> String {
    let AnyPlan::Skew(plan) = &answers[0].run.record.plan else { return String::new() };
    let (block, depth) = (number::size(plan.block), plan.queue_depth);
    format!("{block} random writes, {depth} in flight, on a full drive")
}

/// After so many drive writes.
fn settled(at: Moment) -> String {
    match at.seconds {
        0 => "from the start".to_owned(),
        _ if at.drive_writes < 0.05 => "under 0.1".to_owned(),
        _ => format!("{:.1}", at.drive_writes),
    }
}

fn factor(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.2}"))
}

/// Loads down and figures across.
fn of_one(answer: &Answer<'_, Outcome>) -> Table {
    let Outcome { uniform, loads } = answer.outcome;
    let row = |load: &LoadFigures| {
        let times = Some(load.times(uniform)).filter(|_| load.name != UNIFORM);
        let values = vec![
            number::iops(load.rate.iops),
            factor(times),
            load.settled.map_or_else(|| NONE.to_owned(), settled),
            factor(load.write_amplification),
            factor(load.mixed_write_amplification),
            factor(load.best_write_amplification),
        ];
        Row::new(&load.name, values, "")
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let mut columns =
        vec!["IOPS", "times even", "settled after", "write amplification", "mixed", "apart"];
    let mut text = format!(
        "Of the last five rounds of each load, each {}; settled after so many drive writes, if it has.",
        round(&[*answer])
    );
    let mut rows: Vec<Row> = std::iter::once(uniform).chain(loads).map(row).collect();
    if loads.iter().any(|load| load.mixed_write_amplification.is_some()) {
        text += " The last two are write amplification by theory, with the spare area that the even writes tell: of a \
                 drive that collects its blocks in the order of writing, hot and cold pages mixed (Desnoyers 2012), \
                 and at best, with pages of each temperature apart (Stoica and Ailamaki 2013).";
    } else {
        columns.truncate(4);
        rows.iter_mut().for_each(|row| row.values.truncate(4));
    }
    let columns = columns.into_iter().map(column).collect();
    let mut table = Table::new("Skew", &text, columns, rows);
    "load".clone_into(&mut table.corner);
    table
}

fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], names: &[&str]) -> Table {
    let mut rows = Vec::new();
    for name in names {
        let of = |value: fn(&LoadFigures, &LoadFigures) -> Option<f64>| {
            answers.iter().map(move |answer| value(find(answer, name)?, &answer.outcome.uniform))
        };
        let row = |figure: &str,
                   good,
                   value: fn(&LoadFigures, &LoadFigures) -> Option<f64>,
                   words: fn(f64) -> String| {
            number_row(&format!("{name}: {figure}"), good, of(value), words)
        };
        rows.push(row("IOPS", Good::AtLeast, |load, _| Some(load.rate.iops), number::iops));
        let times: fn(&LoadFigures, &LoadFigures) -> Option<f64> = match *name {
            UNIFORM => |_, _| None,
            _ => |load, uniform| Some(load.times(uniform)),
        };
        rows.push(row("times the even rate", Good::AtLeast, times, |value| factor(Some(value))));
        let amplification = |load: &LoadFigures, _: &LoadFigures| load.write_amplification;
        rows.push(row("write amplification", Good::AtMost, amplification, |value| {
            factor(Some(value))
        }));
    }
    rows.retain(|row| row.values.iter().any(|cell| cell.text != NONE));
    let text = format!("Of the last five rounds of each load, each {}.", round(answers));
    table_of(subjects, answers, ("Skew", &text), rows)
}
