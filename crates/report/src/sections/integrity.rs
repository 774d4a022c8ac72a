//! Integrity: whether every block came back as it was written, and where those are that did not.

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_suite::Unit;
use writecliff_suite::integrity::{BadBlock, FIGURES, Kind, Outcome, Plan, SLICES, TORTURE};

use super::{Answer, answers, figure_row, per_drive, table_of};
use crate::number;
use crate::picture::{
    Axis, BLUE, GREEN, NEUTRAL, ORANGE, PURPLE, Picture, Points, Style, Trace, nth_style, short,
};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

const CONDITIONS: &str = "stamped blocks over all that is tested; random writes, looks and trims";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let views = [map(subjects, &answers), over_time(subjects, &answers)];
    let bad = answers.iter().filter_map(|answer| bad_blocks(subjects, answer));
    let tables = bad.chain(std::iter::once(figures(subjects, &answers))).collect();
    let method = "Every block says which place and which pass over the drive it was written for.";
    let views = views.into_iter().flatten().collect();
    Some(Section::new(Plan::NAME, "Integrity", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let compared = match outcome.reopened {
        true => "blocks of an earlier run were compared, each time counted",
        false => "blocks were compared, each time counted",
    };
    if let Some(real) = outcome.real_capacity {
        return Some(format!(
            "It has {}, not the {} that it claims: what is written behind that is not kept.",
            number::bytes(real.0 as f64),
            number::bytes(outcome.capacity.0 as f64),
        ));
    }
    let earlier = match outcome.not_flushed {
        0 => "",
        _ => ", or in the earlier version where that may be",
    };
    Some(match (outcome.bad(), outcome.finished) {
        (0, true) => {
            let anything = match outcome.anything {
                0 => String::new(),
                others => format!(
                    " {} more that were trimmed or never written may hold anything.",
                    count(others)
                ),
            };
            format!(
                "Every block came back as written{earlier}: {} {compared}.{anything}",
                count(outcome.checks)
            )
        }
        (0, false) => format!(
            "Every block that was compared came back as written{earlier}, but the run ended before all were: \
             {} {compared}.",
            count(outcome.checks)
        ),
        (bad, true) => format!(
            "{} of {} blocks did not come back as written: {}.",
            count(bad),
            count(outcome.blocks),
            kinds(outcome)
        ),
        (bad, false) => format!(
            "{} blocks did not come back as written, and the run ended before all were compared: {}.",
            count(bad),
            kinds(outcome)
        ),
    })
}

/// `3 lost, 1 torn`.
fn kinds(outcome: &Outcome) -> String {
    let kind = |kind: &Kind| {
        let blocks = outcome.of_kind(*kind);
        (blocks > 0).then(|| format!("{} {}", count(blocks), kind.word()))
    };
    Kind::ALL.iter().filter_map(kind).collect::<Vec<_>>().join(", ")
}

fn count(blocks: u64) -> String {
    number::in_unit(blocks as f64, Unit::Count)
}

fn style(kind: Kind) -> Style {
    match kind {
        Kind::Lost => ORANGE,
        Kind::Old => BLUE,
        Kind::Misplaced => PURPLE,
        Kind::Torn => GREEN,
        Kind::Damaged => nth_style(4),
        Kind::Unreadable => NEUTRAL,
    }
}

/// Where bad blocks lie, of the drives that have any.
fn map(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let with_bad = answers.iter().filter(|answer| !answer.outcome.slices.is_empty());
    let answers: Vec<Answer<'_, Outcome>> = with_bad.copied().collect();
    let gigabytes = |outcome: &Outcome| outcome.block.0 as f64 * outcome.blocks as f64 / 1e9;
    let points = |answer: &Answer<'_, Outcome>, kind: Kind| -> Vec<(f64, f64)> {
        let width = gigabytes(answer.outcome) / f64::from(SLICES);
        let of_kind = answer.outcome.slices.iter().filter(|slice| slice.kind == kind);
        of_kind.map(|slice| ((f64::from(slice.slice) + 0.5) * width, slice.blocks as f64)).collect()
    };
    let end = answers.iter().map(|answer| gigabytes(answer.outcome)).fold(0.0, f64::max);
    let all = || answers.iter().flat_map(|answer| &answer.outcome.slices);
    let most = all().map(|slice| slice.blocks as f64).fold(1.0, f64::max);
    let x = Axis::span("GB from the first LBA to the last", 0.0, end);
    let y = Axis::decades("bad blocks", (1.0, most), false, short);
    let text = "How many blocks were bad in each 256th of the drive, by what was wrong with them. \
                Logarithmic.";
    per_drive(
        subjects,
        &answers,
        ("integrity-map", "Where bad blocks lie", text),
        |answer, id, heading| {
            let trace = |kind: &Kind| {
                let points = points(answer, *kind);
                (!points.is_empty()).then(|| Points::dots(kind.word(), style(*kind), points))
            };
            let traces: Vec<Trace> = Kind::ALL.iter().filter_map(trace).collect();
            let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
            picture.conditions = CONDITIONS.to_owned();
            Some(picture)
        },
    )
}

/// The torture, second by second.
fn over_time(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let points = |answer: &Answer<'_, Outcome>| -> Vec<(f64, f64)> {
        let samples = answer.run.recording.series(TORTURE).filter(|sample| sample.is_whole());
        samples.map(|sample| (f64::from(sample.second), sample.iops().get())).collect()
    };
    let all = || answers.iter().flat_map(points);
    let end = all().map(|point| point.0 + 1.0).reduce(f64::max)?;
    let x = Axis::span("seconds of torture", 0.0, end);
    let y = Axis::linear("IOPS", all().map(|point| point.1).fold(0.0, f64::max));
    let text = "All operations, looks and flushes among them: no figure of the drive's speed.";
    per_drive(
        subjects,
        answers,
        ("integrity-torture", "The torture", text),
        |answer, id, heading| {
            let style = subjects.style(answer.subject, BLUE);
            let traces = vec![Points::dots("operations", style, points(answer))];
            let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
            picture.conditions = CONDITIONS.to_owned();
            Some(picture).filter(|_| !points(answer).is_empty())
        },
    )
}

fn figures(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let outcomes = || answers.iter().map(|answer| answer.outcome);
    let is_known = |figure: &&writecliff_suite::FigureOf<Outcome>| {
        outcomes().any(|outcome| (figure.value)(outcome).is_some())
    };
    let row = |figure| figure_row(figure, outcomes().map(Some), number::in_unit);
    let rows = FIGURES.iter().filter(is_known).map(row).collect();
    table_of(subjects, answers, ("Blocks", ""), rows)
}

/// The first blocks that were bad, if any were.
fn bad_blocks(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>) -> Option<Table> {
    let outcome = answer.outcome;
    let lba_size = answer.run.record.drive.lba_size.max(Bytes(1));
    let row = |bad: &BadBlock| {
        let found = bad.found_in_words(lba_size);
        let values = vec![bad.kind.word().to_owned(), bad.expected_in_words(), found];
        Row::new(&bad.lba.to_string(), values, "")
    };
    let title = match subjects.is_comparison() {
        true => format!("Bad blocks: {}", subjects.full_name(answer.subject)),
        false => "Bad blocks".to_owned(),
    };
    let named = outcome.first.len() as u64;
    let text = match outcome.bad() {
        0 => return None,
        all if all > named => format!("The first {named} of {} that were found.", count(all)),
        _ => "All that were found.".to_owned(),
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["what is wrong", "expected", "found"].map(column).into();
    let mut table = Table::new(&title, &text, columns, outcome.first.iter().map(row).collect());
    table.corner = "LBA".to_owned();
    (table.of, table.first) = (Place::of(answer.subject), true);
    Some(table)
}
