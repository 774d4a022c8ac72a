//! Efficiency: what the drives did with a watt in every test that tells power.

use writecliff_suite::{Efficiency, Good, TESTS};

use super::number_row;
use crate::Run;
use crate::number;
use crate::section::{Column, Place, Row, Section, Table};
use crate::subject::Subjects;

/// What is said of a phase, and which way it is better, if either.
type Said = (&'static str, Option<Good>, fn(&Efficiency) -> f64, fn(f64) -> String);

const SAID: [Said; 4] = [
    ("MB/s per watt", Some(Good::AtLeast), |one| one.megabytes_per_second_per_watt, significant),
    ("IOPS per watt", Some(Good::AtLeast), |one| one.iops_per_watt, significant),
    ("energy", Some(Good::AtMost), |one| one.watt_hours, watt_hours),
    ("power", None, |one| one.watts, |watts| format!("{watts:.2} W")),
];

/// A table for each test in which any drive told its power.
pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let tables: Vec<Table> = TESTS.iter().filter_map(|test| table(subjects, test.name)).collect();
    (!tables.is_empty()).then(|| Section {
        id: "efficiency",
        title: "Efficiency",
        question: "What does a watt buy? Every phase of a minute or longer whose power is known."
            .to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views: Vec::new(),
        tables,
    })
}

fn table(subjects: &Subjects<'_>, test: &str) -> Option<Table> {
    let mut runs: Vec<(usize, &Run)> = Vec::new();
    let of_test = |(_, run): &(usize, &Run)| run.record.plan.name() == test;
    for (subject, run) in subjects.runs().filter(of_test) {
        runs.retain(|(other, _)| *other != subject);
        runs.push((subject, run));
    }
    runs.retain(|(_, run)| !run.record.efficiency.is_empty());
    if let [(subject, run)] = runs[..] {
        return Some(of_one(subjects, subject, test, run));
    }
    let mut phases: Vec<&str> = Vec::new();
    for one in runs.iter().flat_map(|(_, run)| &run.record.efficiency) {
        if !phases.contains(&one.phase.as_str()) {
            phases.push(&one.phase);
        }
    }
    let rows: Vec<Row> =
        phases.iter().flat_map(|phase| SAID.iter().map(|said| row(&runs, phase, said))).collect();
    let columns = Table::columns_of(subjects, runs.iter().map(|(subject, _)| *subject));
    (!rows.is_empty()).then(|| Table::new(test, "", columns, rows))
}

/// Phases down and figures across.
fn of_one(subjects: &Subjects<'_>, subject: usize, test: &str, run: &Run) -> Table {
    let row = |one: &Efficiency| {
        Row::new(&one.phase, SAID.map(|(_, _, value, words)| words(value(one))).into(), "")
    };
    let column = |(name, ..): Said| Column { of: Place::default(), name: name.to_owned() };
    let rows = run.record.efficiency.iter().map(row).collect();
    let title = match subjects.is_comparison() {
        true => format!("{test}: {}", subjects.full_name(subject)),
        false => test.to_owned(),
    };
    let mut table = Table::new(&title, "", SAID.map(column).into(), rows);
    table.of = Place::of(subject);
    table
}

/// One figure of a phase, with a value for each drive.
fn row(runs: &[(usize, &Run)], phase: &str, (name, good, value, words): &Said) -> Row {
    let find = |run: &Run| run.record.efficiency.iter().find(|one| one.phase == phase).map(value);
    let numbers = runs.iter().map(|(_, run)| find(run));
    let row = number_row(&format!("{phase}: {name}"), Good::AtLeast, numbers, words);
    Row { good: *good, ..row }
}

fn significant(value: f64) -> String {
    number::significant(value)
}

fn watt_hours(value: f64) -> String {
    match value {
        ..0.1 => format!("{} mWh", number::significant(value * 1e3)),
        _ => format!("{} Wh", number::significant(value)),
    }
}
