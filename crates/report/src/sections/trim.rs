//! TRIM: whether performance comes back, and the speed over the LBAs of a whole pass.

use std::collections::BTreeSet;

use writecliff_device::DeviceInfo;
use writecliff_measure::{Sample, Totals};
use writecliff_suite::Good;
use writecliff_suite::trim::{
    AFTER_IDLE, AFTER_TRIM, CLEAN, ChangedRate, DIRTY, DIRTY_PASS, FAST_PART, FIGURES, Outcome,
    Plan, TORTURE, TORTURE_AGAIN, TORTURE_LAST, phase_of,
};
use writecliff_suite::{FigureOf, Phase, Unit};

use super::scales::Along;
use super::{
    Answer, answers, doubted_in, figure_row, is_in_doubt, number_row, per_drive, ranked_bars_but,
    table_of,
};
use crate::number;
use crate::picture::{Axis, BLUE, GREEN, Look, ORANGE, Picture, Points, Style, Trace};
use crate::section::{Cell, Row, Section, Table, View};
use crate::subjects::Subjects;

/// The whole passes, shown over the LBAs. The clean one is a line, drawn last: the others may lie
/// on it.
const PASSES: [(&str, &str, Style, Look); 3] = [
    (TORTURED, DIRTY_PASS, ORANGE, Look::Dots),
    ("after TRIM", AFTER_TRIM, GREEN, Look::Dots),
    ("clean", CLEAN, BLUE, Look::Line),
];

/// How shares of the clean rate are ranked: where there is more than all of it, the clean pass was the slow one.
pub(crate) const MORE_THAN_CLEAN: &str =
    "More than 100 % of the clean rate is no merit of TRIM's, and counts as 100 %.";

const TORTURED: &str = "after torture and first seconds";
/// The same where a TRIM and another torture came before it.
const LATER: &str = "after the later torture";

const CONDITIONS: &str = "sequential writes, 128 KiB, QD1";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let mut views = Vec::new();
    if answers.len() > 1 {
        views.push(ranking(subjects, &answers));
    }
    views.extend(speed_over_lba(subjects, &answers));
    // A figure of a drive that wrote more in that time is of a dirtier one.
    let method = match subjects.is_comparison() {
        true => {
            "Sequential writes in 128 KiB, one at a time, before and after random writes. Those last for a time: a \
             faster drive takes more of them, and more of its data lie scattered then."
        }
        false => "Sequential writes in 128 KiB, one at a time, before and after random writes.",
    };
    let tables = tables(subjects, &answers);
    Some(Section::new(Plan::NAME, "TRIM", method, views, tables))
}

/// What the verdict tells of TRIM is of these.
pub(super) fn phases_of_verdict(outcome: &Outcome) -> Vec<String> {
    let after_idle = outcome.slower_after_idle().map(|_| AFTER_IDLE);
    let phases = [CLEAN, DIRTY, AFTER_TRIM, DIRTY_PASS].into_iter().chain(after_idle);
    phases.map(str::to_owned).collect()
}

/// The verdict has it.
pub(super) fn headline(_: &Outcome, _: &DeviceInfo) -> Option<String> {
    None
}

fn ranking(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> View {
    let share = |outcome: &Outcome| outcome.restored().map(|share| share * 100.0);
    let words = |share: f64| number::percent(share / 100.0);
    let is_doubtful = |answer: &Answer<'_, Outcome>| {
        [CLEAN, AFTER_TRIM].iter().any(|phase| is_in_doubt(answer.run, phase))
    };
    let bars = ranked_bars_but(subjects, answers, is_doubtful, Good::AtLeast, share, words);
    let title = "The rate after TRIM";
    let picture = Picture::bars(
        "trim-restored".to_owned(),
        format!("{title}: sequential writes, % of clean"),
        "% of the clean rate",
        bars,
        100.0,
    );
    View::common(
        title,
        "The rate of a pass over the whole drive after TRIM, as a share of the clean one.",
        picture,
    )
}

fn speed_over_lba(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let along = Along::the_drive(answers);
    let lines = |answer: &Answer<'_, Outcome>| {
        PASSES.map(|(name, phase, style, look)| Points {
            name: called(answer, name, phase).to_owned(),
            style,
            look,
            points: rates(answer, phase, along),
        })
    };
    let points = || answers.iter().flat_map(lines).flat_map(|line| line.points);
    let end = points().map(|point| point.0).fold(0.0, f64::max);
    let end = if end > 0.0 { end } else { 1.0 };
    let x = along.axis("written, from the first LBA to the last", end);
    let y = Axis::linear("MB/s", points().map(|point| point.1).fold(0.0, f64::max));
    let is_shorter = |answer: &Answer<'_, Outcome>| match &answer.run.record.plan {
        writecliff_suite::Plan::Trim(plan) => {
            let is_drawn = answer.run.recording.series(DIRTY_PASS).next().is_some();
            is_drawn && answer.outcome.after_trim.is_some() && plan.torture_again < plan.torture
        }
        _ => false,
    };
    let shorter = match answers.iter().any(is_shorter) {
        true => " The later torture, after a TRIM, is shorter than the one before it.",
        false => "",
    };
    let too_short = |answer: &Answer<'_, Outcome>| {
        let is_too_short = |(name, phase, ..): &(&'static str, &str, Style, Look)| {
            let mut samples = answer.run.recording.series(phase).peekable();
            let is_short = samples.peek().is_some() && samples.all(|sample| !sample.is_whole());
            is_short.then(|| called(answer, name, phase))
        };
        PASSES.iter().filter_map(is_too_short).collect::<Vec<_>>()
    };
    let too_short: BTreeSet<&str> = answers.iter().flat_map(too_short).collect();
    let not_drawn = match Vec::from_iter(too_short)[..] {
        [] => String::new(),
        ref passes => format!(" Over within a second, and not drawn: {}.", passes.join(", ")),
    };
    let is_line = |line: &Points| line.look == Look::Line && line.points.len() > 1;
    let clean = match answers.iter().flat_map(lines).any(|line| is_line(&line)) {
        true => "; the clean one is a line",
        false => "",
    };
    let text = format!("Whole sequential passes, second by second{clean}.{shorter}{not_drawn}");
    let names = ("trim-speed-over-lba", "Speed over the LBAs", text.as_str());
    per_drive(subjects, answers, names, |answer, id, heading| {
        let traces = lines(answer).into_iter().filter(|line| !line.points.is_empty());
        let traces = traces.map(Trace::Points).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        picture.conditions = CONDITIONS.to_owned();
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// What a pass is called on this drive.
fn called(answer: &Answer<'_, Outcome>, name: &'static str, phase: &str) -> &'static str {
    match phase {
        DIRTY_PASS if answer.outcome.after_trim.is_some() => LATER,
        _ => name,
    }
}

/// Each second's rate in a pass, where it was by its end.
fn rates(answer: &Answer<'_, Outcome>, phase: &str, along: Along) -> Vec<(f64, f64)> {
    let mut written = 0.0;
    let whole = answer.run.recording.series(phase).filter(|sample| sample.is_whole());
    let rate = |sample: &Sample| {
        written += sample.written_bytes as f64;
        (along.place(written, &answer.run.record.drive), sample.megabytes_per_second())
    };
    whole.map(rate).collect()
}

/// The figures, and rates again as shares of the clean one.
fn tables(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<Table> {
    let outcomes = || answers.iter().map(|answer| answer.outcome);
    let is_there = |figure: &&FigureOf<Outcome>| {
        figure.name != FAST_PART || outcomes().any(|outcome| outcome.fast_part.is_some())
    };
    // Beside a rate that was two nobody's is known to be the best.
    let unranked_with_two =
        |row: Row, is_two: &dyn Fn(&Outcome) -> bool| match outcomes().any(is_two) {
            true => Row { good: None, ..row },
            false => row,
        };
    let figure =
        |figure: &FigureOf<Outcome>| figure_row(figure, outcomes().map(Some), number::in_unit);
    let is_rate = |figure: &&FigureOf<Outcome>| figure.unit == Unit::MegabytesPerSecond;
    let is_whole = |figure: &FigureOf<Outcome>| figure.name.starts_with("whole pass");
    let share = |figure: &FigureOf<Outcome>| {
        let of = |outcome: &Outcome| {
            let clean = match is_whole(figure) {
                true => outcome.whole_clean?,
                // The first seconds of a clean drive are its fast buffer's, if it has one: TRIM may bring it back.
                false => Some(outcome.clean)
                    .filter(|_| outcome.fast_part.is_none() || figure.name == "after TRIM")?,
            };
            Some((figure.value)(outcome)? / clean.max(f64::MIN_POSITIVE))
        };
        let mut row = number_row(figure.label, figure.good, outcomes().map(of), number::percent);
        for (cell, outcome) in row.values.iter_mut().zip(outcomes()) {
            // See [`MORE_THAN_CLEAN`].
            cell.number = cell.number.map(|share| share.min(1.0));
            // A rate that was two, or is held against two, is two shares, and ranked by neither.
            let thirds = |name: &str, mean: f64| match outcome.changed(name) {
                Some(changed) => [changed.first, changed.last],
                None => [mean, mean],
            };
            let clean = if is_whole(figure) { "whole pass, clean" } else { "clean" };
            let is_two = [figure.name, clean].iter().any(|name| outcome.changed(name).is_some());
            let share = of(outcome).filter(|share| is_two && *share > 0.0);
            if let (Some(share), Some(rate)) = (share, (figure.value)(outcome)) {
                let [first, last] = thirds(figure.name, rate);
                let [clean_first, clean_last] = thirds(clean, rate / share);
                let [first, last] = [first / clean_first, last / clean_last].map(number::percent);
                // Only where the rate itself was two is it third over third.
                *cell = Cell::from(match outcome.changed(figure.name) {
                    Some(_) => format!("{first} in the first third, {last} in the last"),
                    None => format!("{first} of its first third, {last} of its last"),
                });
            }
        }
        let row = match phase_of(figure.name) {
            Some(phase) => doubted_in_either([phase, CLEAN], answers, row),
            None => row,
        };
        unranked_with_two(row, &|outcome: &Outcome| {
            let clean = if is_whole(figure) { "whole pass, clean" } else { "clean" };
            [figure.name, clean].iter().any(|name| outcome.changed(name).is_some())
        })
    };
    let figures = FIGURES.iter().filter(is_there).map(|of| {
        let mut row = figure(of);
        for (cell, outcome) in row.values.iter_mut().zip(outcomes()) {
            // A figure that is not there has no course, whatever an older record says of it.
            if let (Some(changed), Some(mean)) = (outcome.changed(of.name), (of.value)(outcome)) {
                cell.text += &course(changed, mean);
                // What was two rates is ranked by neither.
                cell.number = None;
            }
        }
        let row = match phase_of(of.name) {
            Some(phase) => doubted_in(phase, answers, row),
            None => row,
        };
        unranked_with_two(row, &|outcome: &Outcome| outcome.changed(of.name).is_some())
    });
    // The clean ones are all of themselves.
    let is_clean =
        |figure: &&FigureOf<Outcome>| ["clean", "whole pass, clean"].contains(&figure.name);
    let shares = FIGURES.iter().filter(is_rate).filter(|figure| !is_clean(figure));
    let shares = shares.map(share);
    let of_clean = match outcomes().any(|outcome| outcome.fast_part.is_some()) {
        true => {
            "First seconds of first seconds, whole passes of the whole clean pass. A clean drive with a fast buffer \
             writes its first seconds into that: only those after TRIM are held against them."
        }
        false => "First seconds of first seconds, whole passes of the whole clean pass.",
    };
    let shares: Vec<Row> = shares.collect();
    let is_capped = |cell: &Cell| cell.number == Some(1.0) && !cell.text.starts_with("100 %");
    let is_more = |row: &Row| row.good.is_some() && row.values.iter().any(is_capped);
    let of_clean = match subjects.is_comparison() && shares.iter().any(is_more) {
        true => format!("{of_clean} {MORE_THAN_CLEAN}"),
        false => of_clean.to_owned(),
    };
    vec![
        table_of(subjects, answers, ("Clean, dirty, after TRIM", ""), figures.collect()),
        tortures(subjects, answers),
        table_of(subjects, answers, ("As a share of the clean rate", &of_clean), shares),
    ]
}

/// The row with what is in doubt of one of these phases of each drive.
fn doubted_in_either(phases: [&str; 2], answers: &[Answer<'_, Outcome>], mut row: Row) -> Row {
    for (cell, answer) in row.values.iter_mut().zip(answers) {
        cell.in_doubt = phases.iter().any(|phase| is_in_doubt(answer.run, phase));
    }
    row
}

/// ` (160 MB/s in its first third, 16.6 MB/s in its last)`.
pub(crate) fn course(rate: &ChangedRate, mean: f64) -> String {
    format!(" ({})", number::thirds(mean, [rate.first, rate.last], number::megabytes_per_second))
}

/// What the random writes before these rates came to, which leave a drive the dirtier the more there are.
fn tortures(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    const PHASES: [(&str, &str, &str); 3] = [
        ("First", TORTURE, "before the dirty drive's first seconds"),
        ("Later", TORTURE_AGAIN, "after TRIM, before the whole pass over the dirty drive"),
        ("Last", TORTURE_LAST, "before the idle time"),
    ];
    let row = |(name, phase, meaning): &(&str, &str, &str)| {
        let of = |answer: &Answer<'_, Outcome>| {
            // Of one that was broken off it would be of a drive that is less dirty.
            let is_whole = |one: &Phase| one.name == *phase && !one.unfinished;
            let totals = Totals::of(answer.run.recording.series(phase));
            (totals.ios > 0 && answer.run.record.phases.iter().any(is_whole))
                .then(|| totals.iops().get())
        };
        let row = number_row(name, Good::AtLeast, answers.iter().map(of), number::iops);
        let row = Row { good: None, meaning: (*meaning).to_owned(), ..row };
        doubted_in(phase, answers, row)
    };
    let text = "On average over all of each.";
    table_of(subjects, answers, ("Random writes between", text), PHASES.iter().map(row).collect())
}
