//! Efficiency: what the drives did with a watt in every test that tells power.

use writecliff_suite::{
    Efficiency, Good, Outcome, Stage, TESTS, consistency, corners, latency_at_load, queue_depth,
    read_write_mix, spare_area, stutter, suite, transfer_size, trim, whole_drive,
};

use super::{is_in_doubt, is_same_rate, number_row};
use crate::number;
use crate::run::Run;
use crate::section::{Column, Place, Row, Section, Table};
use crate::subjects::Subjects;

/// What is said of a phase, and which way it is better, if either.
type Said = (&'static str, Option<Good>, fn(&Efficiency) -> f64, fn(f64) -> String);

const IOPS: &str = "IOPS per watt";
const ENERGY: &str = "energy";

const SAID: [Said; 4] = [
    (
        "MB/s per watt",
        Some(Good::AtLeast),
        |one| one.megabytes_per_second_per_watt,
        number::significant,
    ),
    (IOPS, Some(Good::AtLeast), |one| one.iops_per_watt, number::significant),
    (ENERGY, Some(Good::AtMost), |one| one.watt_hours, watt_hours),
    ("power", None, |one| one.watts, number::watts),
];

/// The section's anchor; it is of no one test.
pub(crate) const EFFICIENCY: &str = "efficiency";

/// Tables for each test in which any drive told its power.
pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let tables: Vec<Table> = TESTS.iter().flat_map(|test| tables(subjects, test.name)).collect();
    (!tables.is_empty()).then(|| Section {
        id: EFFICIENCY,
        title: "Efficiency",
        question: "What does a watt buy? Every load of a minute or longer that came to its end and whose power is known, from its first second to its last (a ramp is in it); \
                   what is within 2 % of an earlier phase of the test, in both rates and in power, is not repeated. MB are what was read and written; among \
                   the I/Os are trims and flushes, but a commit, a write and the flush after it, is one I/O."
            .to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views: Vec::new(),
        tables,
        listings: Vec::new(),
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
        let row = number_row(
            called(test, phase),
            Good::AtLeast,
            runs.iter().map(|(_, run)| find(run)),
            words,
        );
        // Who does less needs less.
        let is_two = runs.iter().any(|(_, run)| was_two(run, phase));
        let is_told = *name != ENERGY && subjects.is_equal_load(test) && !is_two;
        let mut row = Row { good: good.filter(|_| is_told), ..row };
        for (cell, (_, run)) in row.values.iter_mut().zip(runs) {
            cell.in_doubt = is_doubtful_in(run, phase);
        }
        row
    };
    let rows = distinct(phases.iter().map(row), repeats);
    let columns = Table::columns_of(subjects, runs.iter().map(|(subject, _)| *subject));
    Table::new(&format!("{test}: {name}"), "", columns, rows)
}

/// Whether a row says of each drive what an earlier one said; of a drive that did not come to its phase it says nothing.
fn repeats(before: &Row, row: &Row) -> bool {
    let both = before.values.iter().zip(&row.values);
    both.filter_map(|(before, one)| Some((before.number, one.number?)))
        .all(|(before, one)| before.is_some_and(|before| is_same_rate(before, one)))
}

/// The first of all that are the same.
fn distinct<T>(all: impl Iterator<Item = T>, is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.iter().any(|before| is_same(before, &one)) {
            kept.push(one);
        }
    }
    kept
}

/// Whether a watt bought the same; how long it took is no part of that.
fn is_as_efficient(one: &Efficiency, other: &Efficiency) -> bool {
    let rates = |of: &Efficiency| [of.megabytes_per_second_per_watt, of.iops_per_watt, of.watts];
    rates(one).into_iter().zip(rates(other)).all(|(one, other)| is_same_rate(one, other))
}

/// Whether the rate of a phase was two, as its own section tells: its mean ranks nobody there, nor here.
fn was_two(run: &Run, phase: &str) -> bool {
    match &run.record.outcome {
        Some(Outcome::Corners(outcome)) => {
            outcome.corners.iter().any(|one| one.changed.is_some() && one.corner.phase() == phase)
        }
        Some(Outcome::Trim(outcome)) => {
            outcome.changed.iter().any(|rate| trim::phase_of(&rate.figure) == Some(phase))
        }
        _ => false,
    }
}

/// Whether what a phase drew and did is in doubt: in tests whose own sections mark phases, as these do.
fn is_doubtful_in(run: &Run, phase: &str) -> bool {
    let is_fill = phase.split('-').next().is_some_and(|name| name == consistency::FILL);
    let stage = if is_fill { Stage::Fill } else { Stage::Later };
    match run.record.plan.name() {
        corners::Plan::NAME => run.is_doubtful_at(Stage::Later, Some(phase)),
        latency_at_load::Plan::NAME
        | queue_depth::Plan::NAME
        | read_write_mix::Plan::NAME
        | transfer_size::Plan::NAME
        | trim::Plan::NAME
        | whole_drive::Plan::NAME => is_in_doubt(run, phase),
        suite::Plan::NAME => super::suite::is_in_doubt(run, phase, "", true),
        spare_area::Plan::NAME => {
            let setting = phase.rsplit_once('-').map(|(_, percent)| format!("{percent} % spare"));
            run.is_doubtful_at(stage, setting.as_deref())
        }
        _ => run.is_doubtful_at(stage, Some(phase)),
    }
}

/// A phase as a person calls it, where its own name says too little.
fn called<'a>(test: &str, phase: &'a str) -> &'a str {
    match (test, phase) {
        (stutter::Plan::NAME, "use") => "small writes and the stream",
        _ => phase,
    }
}

/// Phases down and figures across.
fn of_one(subjects: &Subjects<'_>, subject: usize, test: &str, run: &Run) -> Table {
    let row = |one: &&Efficiency| {
        let values = SAID.map(|(_, _, value, words)| words(value(one))).into();
        let mut row = Row::new(called(test, &one.phase), values, "");
        let in_doubt = is_doubtful_in(run, &one.phase);
        row.values.iter_mut().for_each(|cell| cell.in_doubt = in_doubt);
        row
    };
    let column = |(name, ..): Said| Column { of: Place::default(), name: name.to_owned() };
    let phases = distinct(run.record.efficiency.iter(), |one, other| is_as_efficient(one, other));
    let rows: Vec<Row> = phases.iter().map(row).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_did_not_come_to_a_phase_keeps_no_row_that_repeats() {
        let row = |numbers: [Option<f64>; 2]| {
            number_row("", Good::AtLeast, numbers.into_iter(), number::significant)
        };
        let before = row([Some(9.2), Some(5.0)]);
        assert!(repeats(&before, &row([Some(9.2), Some(5.0)])));
        assert!(repeats(&before, &row([Some(9.21), None])));
        assert!(!repeats(&before, &row([Some(9.9), None])));
        assert!(!repeats(&row([Some(9.2), None]), &before), "it is the first to tell of the other");
    }
}
