//! The tests' parts of the page, a file each, in the order of the page.

mod commit;
pub(crate) mod consistency;
mod corners;
mod cost_model;
mod counted;
mod curves;
pub(crate) mod efficiency;
mod encryption;
mod fullness;
mod heat;
mod idle;
mod incompressible;
mod integrity;
mod latency_at_load;
mod loads;
mod mixed;
mod power;
mod queue_depth;
mod read_write_mix;
mod recovery;
mod repeats;
mod scales;
mod skew;
mod spare_area;
pub(crate) mod specification;
mod steady_state;
mod storage_bench;
mod stutter;
mod suite;
mod transfer_size;
pub(crate) mod trim;
mod whole_drive;
mod working_set;

use std::cmp::Ordering;

use writecliff_device::{DeviceInfo, Nanos};
use writecliff_suite::{FigureOf, Good, Outcome, Unit, Warning, mean_and_deviation};

use crate::number;
use crate::number::NONE;
use crate::picture::{Bar, Picture, nth_style};
use crate::run::Run;
use crate::section::{Cell, Column, Panel, Place, Row, Section, Table, View, picture_id};
use crate::subjects::Subjects;

/// Makes from the list of parts all that depends on which there are. It does not compile without a
/// line for each test.
macro_rules! sections {
    ($($test:ident $module:ident)*) => {
        /// The parts that any of the drives has something for.
        pub(crate) fn sections(subjects: &Subjects<'_>) -> Vec<Section> {
            let all: [fn(&Subjects<'_>) -> Option<Section>; _] =
                [repeats::section, $($module::section,)* efficiency::section, counted::section];
            let mut sections: Vec<Section> =
                all.iter().filter_map(|section| section(subjects)).collect();
            for view in sections.iter_mut().flat_map(|section| &mut section.views) {
                scales::flatten_none(view, subjects.is_comparison());
            }
            if subjects.is_comparison() {
                sections.iter_mut().for_each(|section| name_only_answer(subjects, section));
            }
            sections
        }

        /// What a test found of a drive, in a sentence; `None` if the verdict in five sentences has it, or if
        /// it found nothing.
        pub(crate) fn headline(outcome: &Outcome, drive: &DeviceInfo) -> Option<String> {
            match outcome { $(Outcome::$test(outcome) => $module::headline(outcome, drive),)* }
        }

        $(impl OfTest for writecliff_suite::$module::Outcome {
            fn of(outcome: &Outcome) -> Option<&Self> {
                match outcome {
                    Outcome::$test(outcome) => Some(outcome),
                    _ => None,
                }
            }
        })*
    };
}

writecliff_suite::for_each_test!(sections);

/// The outcome of one test.
trait OfTest: Sized {
    /// `None` if it is of another test.
    fn of(outcome: &Outcome) -> Option<&Self>;
}

/// A drive's answer to a test.
struct Answer<'a, T> {
    subject: usize,
    run: &'a Run,
    outcome: &'a T,
}

// Derived, it would ask the same of `T`, which is only referred to.
impl<T> Clone for Answer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Answer<'_, T> {}

/// The answers to a test, one for each drive that has one: the latest.
fn answers<'a, T: OfTest + 'a>(subjects: &Subjects<'a>) -> Vec<Answer<'a, T>> {
    let mut answers: Vec<Answer<'a, T>> = Vec::new();
    for (subject, run) in subjects.runs() {
        if let Some(outcome) = run.record.outcome.as_ref().and_then(T::of) {
            answers.retain(|answer| answer.subject != subject);
            answers.push(Answer { subject, run, outcome });
        }
    }
    answers
}

/// Where one of several drives answered a test, its tables are no comparison: they have its name, and its doubts.
fn name_only_answer(subjects: &Subjects<'_>, section: &mut Section) {
    let is_answer =
        |run: &Run| run.record.plan.name() == section.id && run.record.outcome.is_some();
    let answered = subjects.runs().filter(|(_, run)| is_answer(run)).map(|(subject, _)| subject);
    let mut answered: Vec<usize> = answered.collect();
    answered.dedup();
    let [subject] = answered[..] else { return };
    let is_nobodys = |table: &&mut Table| {
        let mut places = std::iter::once(table.of).chain(table.columns.iter().map(|one| one.of));
        places.all(|place| place.subject.is_none())
    };
    for table in section.tables.iter_mut().filter(is_nobodys) {
        table.of = Place::of(subject);
        table.title = format!("{}: {}", table.title, subjects.full_name(subject));
    }
}

/// A row of a table of figures, with a value for each of the outcomes.
fn figure_row<'a, T: 'a>(
    figure: &FigureOf<T>,
    outcomes: impl Iterator<Item = Option<&'a T>>,
    words: impl Fn(f64, Unit) -> String,
) -> Row {
    let cell = |outcome: Option<&T>| {
        let number = outcome.and_then(figure.value);
        let text = number.map_or_else(|| NONE.to_owned(), |value| words(value, figure.unit));
        Cell::new(text, number)
    };
    let (name, meaning) = (figure.label.to_owned(), figure.meaning.to_owned());
    // What no gate judges by, no star goes by.
    let good = figure.judged.then_some(figure.good);
    Row { name, values: outcomes.map(cell).collect(), meaning, good }
}

/// A view with a picture for each drive, which `draw` makes, given its id and its title; none where
/// it makes none.
fn per_drive<T>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    (id, title, text): (&str, &str, &str),
    draw: impl Fn(&Answer<'_, T>, String, String) -> Option<Picture>,
) -> Option<View> {
    let panel = |answer: &Answer<'_, T>| {
        let heading = format!("{title}: {}", subjects.full_name(answer.subject));
        let picture = draw(answer, picture_id(id, subjects, answer.subject), heading)?;
        let caption = subjects.is_comparison().then(|| subjects.name(answer.subject).to_owned());
        Some(Panel { of: Place::of(answer.subject), caption, picture })
    };
    let panels: Vec<Panel> = answers.iter().filter_map(panel).collect();
    let missing: Vec<String> = answers
        .iter()
        .map(|answer| answer.subject)
        .filter(|subject| panels.iter().all(|panel| panel.of.subject != Some(*subject)))
        .map(|subject| subjects.full_name(subject))
        .collect();
    let unknown = match &missing[..] {
        [] => String::new(),
        missing => format!(" {} told nothing of it.", missing.join(", ")),
    };
    let (id, title) = (id.to_owned(), title.to_owned());
    let text = format!("{text}{unknown}").trim_start().to_owned();
    (!panels.is_empty()).then_some(View { id, title, text, more: false, panels })
}

/// A table with a column for each of the drives that answered.
fn table_of<T>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    (title, text): (&str, &str),
    rows: Vec<Row>,
) -> Table {
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    // What none of them has, a row of dashes does not explain.
    let rows = rows.into_iter().filter(|row| row.values.iter().any(|cell| cell.text != NONE));
    Table::new(title, text, columns, rows.collect())
}

/// The longest of something on one drive, and when they were over.
fn moments(subjects: &Subjects<'_>, subject: usize, title: &str, rows: Vec<Row>) -> Table {
    let title = match subjects.is_comparison() {
        true => format!("{title}: {}", subjects.full_name(subject)),
        false => title.to_owned(),
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let text = "At most one of each second, and when it ended.";
    let mut table = Table::new(&title, text, ["took", "at"].map(column).into(), rows);
    table.of = Place::of(subject);
    table
}

/// Whether what was measured in this phase is in doubt: by a doubt that names it, its reads or its writes, or that
/// names none.
fn is_in_doubt(run: &Run, phase: &str) -> bool {
    let may_be =
        |run: &Run, doubt: &Warning| doubt.may_be_of(phase) && !run.record.is_before(phase, doubt);
    run.of_repeats().is_some()
        || run.and_repeats().any(|run| run.record.warnings.iter().any(|doubt| may_be(run, doubt)))
}

/// How much of what the headline of a doubtful run says is in doubt: where it is of phases that are known, by the
/// doubts about these.
pub(crate) fn headline_in_doubt(run: &Run) -> InDoubt {
    let of = |phases: Vec<String>| phases.iter().map(|phase| is_in_doubt(run, phase)).collect();
    let each: Vec<bool> = match &run.record.outcome {
        _ if run.of_repeats().is_some() => return InDoubt::All,
        Some(Outcome::Corners(outcome)) => {
            of(outcome.corners.iter().map(|figures| figures.corner.phase()).collect())
        }
        Some(Outcome::WholeDrive(outcome)) => {
            of(outcome.fills.iter().map(|fill| fill.phase.clone()).collect())
        }
        Some(Outcome::Trim(outcome)) => of(trim::phases_of_verdict(outcome)),
        Some(Outcome::TransferSize(outcome)) => of(transfer_size::phases_of_headline(outcome)),
        Some(Outcome::QueueDepth(outcome)) => of(queue_depth::phases_of_headline(outcome)),
        Some(Outcome::ReadWriteMix(outcome)) => of(read_write_mix::phases_of_headline(outcome)),
        Some(Outcome::Suite(outcome)) => suite::doubts_of_headline(run, outcome),
        _ => return InDoubt::All,
    };
    match each.iter().filter(|in_doubt| **in_doubt).count() {
        0 => InDoubt::Nothing,
        count if count == each.len() => InDoubt::All,
        _ => InDoubt::Some,
    }
}

/// How much of what a sentence says is in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InDoubt {
    Nothing,
    Some,
    All,
}

/// A figure of this phase.
fn cell_of(run: &Run, phase: &str, text: String, number: f64) -> Cell {
    Cell { in_doubt: is_in_doubt(run, phase), ..Cell::new(text, Some(number)) }
}

/// The row with what is in doubt of this phase of each drive.
fn doubted_in<T>(phase: &str, answers: &[Answer<'_, T>], mut row: Row) -> Row {
    for (cell, answer) in row.values.iter_mut().zip(answers) {
        cell.in_doubt = is_in_doubt(answer.run, phase);
    }
    row
}

/// A row of numbers, in the words of their unit.
fn number_row(
    name: &str,
    good: Good,
    numbers: impl Iterator<Item = Option<f64>>,
    words: impl Fn(f64) -> String,
) -> Row {
    let cell =
        |number: Option<f64>| Cell::new(number.map_or_else(|| NONE.to_owned(), &words), number);
    let (name, meaning) = (name.to_owned(), String::new());
    Row { name, values: numbers.map(cell).collect(), meaning, good: Some(good) }
}

/// Service times of a series as rows: `NAME, median` and so on; of no I/O there is none.
fn latency_row(name: &str, nanos: impl Iterator<Item = Option<u64>>) -> Row {
    let known = nanos.map(|nanos| nanos.filter(|nanos| *nanos > 0).map(|nanos| nanos as f64));
    number_row(name, Good::AtMost, known, |nanos| number::latency(nanos as u64))
}

/// A figure of service times, and where it is, if it is known.
type Latency<F> = (&'static str, fn(&F) -> Option<u64>);

/// What a part of a test is called, and where its figures are in an outcome.
type Found<T, P, F> = (fn(&P) -> String, for<'a> fn(&'a T, &P) -> Option<&'a F>);

/// A time at rest: `30 s`, `5 min`.
fn rest_words(rest: Nanos) -> String {
    match rest.0 as f64 / 1e9 {
        ..1.0 => number::latency(rest.0),
        seconds if seconds >= 60.0 && seconds % 60.0 == 0.0 => format!("{} min", seconds / 60.0),
        seconds => number::seconds(seconds),
    }
}

/// A row for each of these figures of each part of a test.
fn service_times<T, P, F>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    parts: &[P],
    (name, find): Found<T, P, F>,
    figures: &[Latency<F>],
) -> Table {
    let each = parts.iter().flat_map(|part| figures.iter().map(move |figure| (part, figure)));
    let rows = each.map(|(part, (figure, nanos))| {
        let of = |answer: &Answer<'_, T>| find(answer.outcome, part).and_then(nanos);
        latency_row(&format!("{}: {figure}", name(part)), answers.iter().map(of))
    });
    table_of(subjects, answers, ("Service times", ""), rows.collect())
}

/// Rates in MB/s that differ by less are the same.
const SAME_RATE: f64 = 0.02;

fn is_same_rate(one: f64, other: f64) -> bool {
    (one - other).abs() <= SAME_RATE * one.abs().max(other.abs())
}

/// Rows after each other whose values are the same become one: `16 KiB to 8 MiB`. Of values that differ a
/// little it has both ends: `398 to 402 MB/s`.
fn merged(rows: Vec<Row>) -> Vec<Row> {
    let is_same = |one: &Row, other: &Row| {
        one.values.iter().zip(&other.values).all(|(one, other)| match (one.number, other.number) {
            (Some(one), Some(other)) => is_same_rate(one, other),
            (one, other) => one == other,
        })
    };
    let of_all = |(mut row, others): (Row, Vec<Row>)| {
        for (column, told) in row.values.iter_mut().enumerate() {
            let mut cells = vec![&*told];
            cells.extend(others.iter().map(|row| &row.values[column]));
            cells.sort_by(|a, b| a.number.partial_cmp(&b.number).unwrap_or(Ordering::Equal));
            let in_doubt = cells.iter().any(|cell| cell.in_doubt);
            told.text = from_to(&cells[0].text, &cells[cells.len() - 1].text);
            told.in_doubt = in_doubt;
        }
        if let Some(last) = others.last() {
            row.name = format!("{} to {}", row.name, last.name);
        }
        // One who is best in some of them alone is not so in all.
        let best = row.best();
        Row { good: row.good.filter(|_| others.iter().all(|other| other.best() == best)), ..row }
    };
    let mut groups: Vec<(Row, Vec<Row>)> = Vec::new();
    for row in rows {
        match groups.last_mut() {
            Some((first, others)) if is_same(first, &row) => others.push(row),
            _ => groups.push((row, Vec::new())),
        }
    }
    groups.into_iter().map(of_all).collect()
}

/// `398 MB/s` and `402 MB/s` are `398 to 402 MB/s`.
fn from_to(low: &str, high: &str) -> String {
    let without_unit = match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => number,
        _ => low,
    };
    if low == high { low.to_owned() } else { format!("{without_unit} to {high}") }
}

/// A bar for each drive that has a value; of repeats the mean.
fn bars<T: OfTest>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    value: impl Fn(&T) -> Option<f64>,
    words: impl Fn(f64) -> String,
) -> Vec<Bar> {
    let bar = |answer: &Answer<'_, T>| {
        let of_run = |run: &Run| value(T::of(run.record.outcome.as_ref()?)?);
        let values: Vec<f64> = answer.run.and_repeats().filter_map(of_run).collect();
        let (value, error) = (!values.is_empty()).then(|| mean_and_deviation(&values))?;
        let (name, style) = (subjects.full_name(answer.subject), nth_style(answer.subject));
        Some(Bar { name, value, error, words: words(value), style })
    };
    answers.iter().filter_map(bar).collect()
}

/// The same, the best first. What is in doubt has no place: it comes last, as it came.
fn ranked_bars<T: OfTest>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    good: Good,
    value: impl Fn(&T) -> Option<f64>,
    words: impl Fn(f64) -> String,
) -> Vec<Bar> {
    let is_doubtful = |answer: &Answer<'_, T>| {
        subjects.all[answer.subject].is_doubtful(answer.run.record.plan.name())
    };
    ranked_bars_but(subjects, answers, is_doubtful, good, value, words)
}

/// The same where the figure itself tells which are in doubt.
fn ranked_bars_but<T: OfTest>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    is_doubtful: impl Fn(&Answer<'_, T>) -> bool,
    good: Good,
    value: impl Fn(&T) -> Option<f64>,
    words: impl Fn(f64) -> String,
) -> Vec<Bar> {
    let (doubtful, sure): (Vec<_>, Vec<_>) = answers.iter().copied().partition(is_doubtful);
    let mut ranked = bars(subjects, &sure, &value, &words);
    ranked.sort_by(|a, b| match good {
        Good::AtLeast => b.value.total_cmp(&a.value),
        Good::AtMost => a.value.total_cmp(&b.value),
    });
    ranked.extend(bars(subjects, &doubtful, value, |value| format!("{}, in doubt", words(value))));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_the_same_but_for_two_percent_become_one_with_both_ends() {
        let row = |name: &str, rate: f64| {
            let words = number::megabytes_per_second;
            number_row(name, Good::AtLeast, [Some(rate), None].into_iter(), words)
        };
        let rows = [("4 KiB", 100.0), ("8 KiB", 402.0), ("16 KiB", 398.0), ("32 KiB", 402.0)];
        let merged = merged(rows.map(|(name, rate)| row(name, rate)).into());
        let told: Vec<_> =
            merged.iter().map(|row| (row.name.as_str(), row.values[0].text.as_str())).collect();
        assert_eq!(told, [("4 KiB", "100 MB/s"), ("8 KiB to 32 KiB", "398 to 402 MB/s")]);
        assert!(merged.iter().all(|row| row.values[1].text == NONE));
    }

    #[test]
    fn the_best_of_rows_that_become_one_is_so_in_all_of_them() {
        let best = |rates: [[f64; 2]; 2]| {
            let row = |rates: [f64; 2]| {
                let words = number::megabytes_per_second;
                number_row("", Good::AtLeast, rates.map(Some).into_iter(), words)
            };
            let merged = merged(rates.map(row).into());
            assert_eq!(merged.len(), 1);
            merged[0].best()
        };
        assert_eq!(best([[100.0, 90.0], [100.5, 90.0]]), [0]);
        assert_eq!(best([[100.0, 94.5], [100.0, 95.5]]), [0; 0], "the second row tells none apart");
        assert_eq!(best([[100.0, 95.5], [100.0, 94.5]]), [0; 0]);
    }
}
