//! TRIM: whether performance comes back, and the speed over the LBAs of a whole pass.

use writecliff_measure::Sample;
use writecliff_suite::trim::{AFTER_TRIM, CLEAN, DIRTY_PASS, FAST_PART, FIGURES, Outcome, Plan};
use writecliff_suite::{FigureOf, Unit};

use super::{Answer, answers, bars, figure_row, highest_first};
use crate::number;
use crate::picture::{Axis, BLUE, GREEN, ORANGE, Picture, Points, Style};
use crate::section::{Panel, Place, Section, Table, View, picture_id};
use crate::subject::Subjects;

/// The whole passes, shown over the LBAs.
const PASSES: [(&str, &str, Style); 3] = [
    ("clean", CLEAN, BLUE),
    ("after torture", DIRTY_PASS, ORANGE),
    ("after TRIM", AFTER_TRIM, GREEN),
];

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let mut views = Vec::new();
    if answers.len() > 1 {
        views.push(ranking(subjects, &answers));
    }
    views.push(speed_over_lba(subjects, &answers));
    let method = "Sequential writes in 128 KiB, one at a time, before and after random writes.";
    let tables = vec![table(subjects, &answers)];
    Some(Section::new(Plan::NAME, "TRIM", method, views, tables))
}

/// The verdict has it.
pub(super) fn headline(_: &Outcome) -> Option<String> {
    None
}

fn ranking(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> View {
    let share = |outcome: &Outcome| outcome.restored().map(|share| share * 100.0);
    let bars = bars(subjects, answers, share, |share| number::percent(share / 100.0));
    let title = "What TRIM brings back";
    let picture = Picture::bars(
        "trim-restored".to_owned(),
        format!("{title}: sequential writes after TRIM, % of clean"),
        "% of the clean rate",
        highest_first(bars),
        100.0,
    );
    View::common(title, "The rate after TRIM as a share of the clean one, best first.", picture)
}

fn speed_over_lba(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> View {
    let lines = |answer: &Answer<'_, Outcome>| {
        PASSES.map(|(name, phase, style)| (name, rates(answer.run.recording.series(phase)), style))
    };
    let points = || answers.iter().flat_map(lines).flat_map(|(_, points, _)| points);
    let end = points().map(|point| point.0).fold(1.0, f64::max);
    let x = Axis::span("GB written, from the first LBA to the last", 0.0, end);
    let y = Axis::linear("MB/s", points().map(|point| point.1).fold(0.0, f64::max));
    let (id, title) = ("trim-speed-over-lba", "Speed over the LBAs");
    let panel = |answer: &Answer<'_, Outcome>| {
        let traces = lines(answer).into_iter().filter(|(_, points, _)| !points.is_empty());
        let traces = traces.map(|(name, points, style)| Points::dots(name, style, points));
        let heading = format!("{title}: {}", subjects.full_name(answer.subject));
        let id = picture_id(id, subjects, answer.subject);
        let picture = Picture::new(id, heading, x.clone(), y.clone(), traces.collect());
        let name = subjects.name(answer.subject).to_owned();
        let caption = subjects.is_comparison().then_some(name);
        Panel { of: Place::of(answer.subject), caption, picture }
    };
    View {
        id: id.to_owned(),
        title: title.to_owned(),
        text: "Whole sequential passes; every dot is one second.".to_owned(),
        more: false,
        panels: answers.iter().map(panel).collect(),
    }
}

/// Each second's rate, where it was by its end.
fn rates<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<(f64, f64)> {
    let mut written = 0.0;
    let whole = samples.filter(|sample| sample.is_whole());
    whole
        .map(|sample| {
            written += sample.written_bytes as f64 / 1e9;
            (written, sample.megabytes_per_second())
        })
        .collect()
}

fn table(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let outcomes = || answers.iter().map(|answer| answer.outcome);
    let is_there = |figure: &&FigureOf<Outcome>| {
        figure.name != FAST_PART || outcomes().any(|outcome| outcome.fast_part.is_some())
    };
    let row = |figure: &FigureOf<Outcome>| {
        let mut row = figure_row(figure, outcomes().map(Some), number::in_unit);
        if figure.unit == Unit::MegabytesPerSecond {
            for (words, outcome) in row.values.iter_mut().zip(outcomes()) {
                let share = |rate: f64| rate / outcome.clean.max(f64::MIN_POSITIVE);
                let share = (figure.value)(outcome).map(share);
                words.text += &share
                    .map_or_else(String::new, |share| format!(", {}", number::percent(share)));
            }
        }
        row
    };
    let rows = FIGURES.iter().filter(is_there).map(row).collect();
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    let text = "Sequential write rate, and its share of the clean one.";
    Table::new("Clean, dirty, after TRIM", text, columns, rows)
}
