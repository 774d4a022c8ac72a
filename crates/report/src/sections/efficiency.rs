//! Efficiency: what the drives did with a watt in every test that tells power.

use writecliff_suite::{Efficiency, Good, TESTS};

use super::number_row;
use crate::Run;
use crate::number;
use crate::section::{Column, Place, Row, Section, Table};
use crate::subject::Subjects;

/// What is said of a phase, and which way it is better, if either.
type Said = (&'static str, Option<Good>, fn(&Efficiency) -> f64, fn(f64) -> String);

const IOPS: &str = "IOPS per watt";

const SAID: [Said; 4] = [
    (
        "MB/s per watt",
        Some(Good::AtLeast),
        |one| one.megabytes_per_second_per_watt,
        number::significant,
    ),
    (IOPS, Some(Good::AtLeast), |one| one.iops_per_watt, number::significant),
    ("energy", Some(Good::AtMost), |one| one.watt_hours, watt_hours),
    ("power", None, |one| one.watts, |watts| format!("{watts:.2} W")),
];

/// The section's anchor; it is of no one test.
pub(crate) const EFFICIENCY: &str = "efficiency";

/// Tables for each test in which any drive told its power.
pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let tables: Vec<Table> = TESTS.iter().flat_map(|test| tables(subjects, test.name)).collect();
    (!tables.is_empty()).then(|| Section {
        id: EFFICIENCY,
        title: "Efficiency",
        question: "What does a watt buy? Every phase of a minute or longer whose power is known."
            .to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views: Vec::new(),
        tables,
    })
}

fn tables(subjects: &Subjects<'_>, test: &str) -> Vec<Table> {
    let mut runs: Vec<(usize, &Run)> = Vec::new();
    let of_test = |(_, run): &(usize, &Run)| run.record.plan.name() == test;
    for (subject, run) in subjects.runs().filter(of_test) {
        runs.retain(|(other, _)| *other != subject);
        runs.push((subject, run));
    }
    runs.retain(|(_, run)| !run.record.efficiency.is_empty());
    match runs[..] {
        [] => return Vec::new(),
        [(subject, run)] => return vec![of_one(subjects, subject, test, run)],
        _ => {}
    }
    let mut phases: Vec<&str> = Vec::new();
    for one in runs.iter().flat_map(|(_, run)| &run.record.efficiency) {
        if !phases.contains(&one.phase.as_str()) {
            phases.push(&one.phase);
        }
    }
    // Of one phase drives are in the same order by I/Os.
    let compared = SAID.iter().filter(|(name, good, ..)| *name != IOPS && good.is_some());
    compared.map(|said| of_several(subjects, test, &runs, &phases, said)).collect()
}

/// One figure of several drives.
fn of_several(
    subjects: &Subjects<'_>,
    test: &str,
    runs: &[(usize, &Run)],
    phases: &[&str],
    (name, good, value, words): &Said,
) -> Table {
    let row = |phase: &&str| {
        let find =
            |run: &Run| run.record.efficiency.iter().find(|one| one.phase == *phase).map(value);
        let row = number_row(phase, Good::AtLeast, runs.iter().map(|(_, run)| find(run)), words);
        Row { good: good.filter(|_| subjects.is_equal_load(test)), ..row }
    };
    let columns = Table::columns_of(subjects, runs.iter().map(|(subject, _)| *subject));
    Table::new(&format!("{test}: {name}"), "", columns, phases.iter().map(row).collect())
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

fn watt_hours(value: f64) -> String {
    match value {
        ..0.1 => format!("{} mWh", number::significant(value * 1e3)),
        _ => format!("{} Wh", number::significant(value)),
    }
}
