//! Corners: the figures of a data sheet.

use writecliff_device::{Bytes, DeviceInfo, Operation};
use writecliff_suite::corners::{Corner, CornerFigures, Data, Outcome, Plan};
use writecliff_suite::{DriveWarning, Good, Stage, Warning};

use super::{Answer, Latency, answers, is_same_rate, latency_row, number_row, table_of};
use crate::picture::{Axis, Bar, Picture, Points, READS, WRITES, nth_style};
use crate::section::{Cell, Column, DOUBT_MEANS, Place, Row, Section, Table, View};
use crate::subjects::Subjects;
use crate::{buffer, number};

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let (corners, repeats) = corners(&answers);
    let views = match subjects.is_comparison() {
        true => [(true, "Random corners"), (false, "Sequential corners")]
            .into_iter()
            .filter_map(|(random, title)| compared(subjects, &answers, &corners, random, title))
            .collect(),
        false => vec![alone(subjects, &answers[0], &corners)],
    };
    let tables = match &answers[..] {
        [answer] => vec![of_one(subjects, answer, &corners)],
        several => {
            vec![rates(subjects, several, &corners), latencies(subjects, several, &corners)]
        }
    };
    let places = places(&answers);
    let method = format!(
        "Short loads: each write on a purged drive if it has a purge, reads on one that is filled.{places}{repeats}"
    );
    Some(Section::new(Plan::NAME, "Corners", &method, views, tables))
}

/// Where random writes go, if that is a part of the drive: to less of it they are faster than to all.
fn places(answers: &[Answer<'_, Outcome>]) -> String {
    let part = |answer: &Answer<'_, Outcome>| match &answer.run.record.plan {
        writecliff_suite::Plan::Corners(plan) => {
            let span = plan.span.unwrap_or(answer.run.record.drive.capacity);
            Some(plan.random_write_span).filter(|part| *part < span)
        }
        _ => None,
    };
    let mut parts: Vec<Bytes> = answers.iter().filter_map(part).collect();
    let holding_more = parts.len();
    parts.sort_unstable();
    parts.dedup();
    match &parts[..] {
        [] => String::new(),
        [part] => format!(
            " Random writes go to the first {part} only{}, random reads anywhere: the rate of a fresh \
             drive over all LBAs may be another.",
            if holding_more < answers.len() { " of a drive that holds more" } else { "" }
        ),
        [least, .., most] => format!(" Random writes go to the first {least} to {most} only."),
    }
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let sentence = |figures: &CornerFigures| {
        let corner = figures.corner;
        let operation = if corner.operation == Operation::Read { "reads" } else { "writes" };
        let order = if corner.random { "random" } else { "sequential" };
        let state = match may_be_all_within(figures) {
            true => format!(" ({})", within(&corner)),
            false => course(figures).map_or_else(String::new, |course| format!(" ({course})")),
        };
        format!("{order} {operation} at QD{} {}{state}", corner.queue_depth, in_words(figures))
    };
    let all = outcome.corners.iter().filter(|figures| figures.corner.data == Data::Random);
    Some(format!("Corners: {}.", all.map(sentence).collect::<Vec<_>>().join(", ")))
}

/// Those that any drive has. What was measured with repeating data is left out where no drive
/// makes a difference, and that is said instead.
fn corners(answers: &[Answer<'_, Outcome>]) -> (Vec<Corner>, &'static str) {
    let mut corners: Vec<Corner> = Vec::new();
    for figures in answers.iter().flat_map(|answer| &answer.outcome.corners) {
        if !corners.contains(&figures.corner) {
            corners.push(figures.corner);
        }
    }
    let repeats = |corner: &Corner| corner.data == Data::Repeating;
    let is_equal = |answer: &Answer<'_, Outcome>, corner: &Corner| {
        let random = Corner { data: Data::Random, ..*corner };
        let both = find(answer.outcome, corner).zip(find(answer.outcome, &random));
        // What went wrong at some moment is no matter of the data.
        let went_wrong =
            answer.run.record.warnings.iter().any(|doubt| doubt.from_phase().is_some());
        !went_wrong && both.is_none_or(|(one, other)| is_same_rate(one.rate.iops, other.rate.iops))
    };
    let of_repeating = || corners.iter().filter(|corner| repeats(corner));
    let makes_none =
        of_repeating().all(|corner| answers.iter().all(|answer| is_equal(answer, corner)));
    if !makes_none || of_repeating().next().is_none() {
        return (corners, "");
    }
    corners.retain(|corner| !repeats(corner));
    (corners, " Rates with data that repeat are the same within 2 %, and not shown.")
}

fn find<'a>(outcome: &'a Outcome, corner: &Corner) -> Option<&'a CornerFigures> {
    outcome.corners.iter().find(|figures| figures.corner == *corner)
}

fn order(corner: &Corner) -> &'static str {
    if corner.random { "random" } else { "sequential" }
}

/// `4 KiB random write, QD32`, and the data if they repeat.
fn name(corner: &Corner) -> String {
    let order = order(corner);
    let operation = if corner.operation == Operation::Read { "read" } else { "write" };
    let data = if corner.data == Data::Repeating { ", repeating data" } else { "" };
    let (block, depth) = (number::size(corner.block), corner.queue_depth);
    format!("{block} {order} {operation}, QD{depth}{data}")
}

/// What a person counts it in: random in IOPS, sequential in MB/s.
fn value(figures: &CornerFigures) -> f64 {
    let rate = figures.rate;
    if figures.corner.random { rate.iops } else { rate.megabytes_per_second }
}

fn unit(random: bool) -> (&'static str, fn(f64) -> String) {
    match random {
        true => ("IOPS", number::iops),
        false => ("MB/s", number::megabytes_per_second),
    }
}

fn in_words(figures: &CornerFigures) -> String {
    unit(figures.corner.random).1(value(figures))
}

/// What the writes of a corner come to.
fn written(answer: &Answer<'_, Outcome>, corner: &Corner) -> u64 {
    let series = corner.phase();
    let samples = answer.run.recording.series(&series);
    samples.map(|sample| sample.written_bytes).sum()
}

/// Drives beside each other, for each corner of a kind.
fn compared(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    corners: &[Corner],
    random: bool,
    title: &str,
) -> Option<View> {
    let corners: Vec<&Corner> = corners.iter().filter(|corner| corner.random == random).collect();
    let columns = |answer: &Answer<'_, Outcome>| -> Vec<(f64, f64)> {
        let found = corners.iter().enumerate();
        let found = found.filter_map(|(at, corner)| Some((at, find(answer.outcome, corner)?)));
        found.map(|(at, figures)| (at as f64, value(figures))).collect()
    };
    let highest = answers.iter().flat_map(columns).map(|point| point.1).fold(0.0, f64::max);
    if corners.is_empty() || highest == 0.0 {
        return None;
    }
    // What all have in common stands above, where there is room.
    let same = corners.windows(2).all(|two| two[0].block == two[1].block);
    let short = |corner: &&Corner| {
        let name = name(corner);
        let common = format!("{} {} ", number::size(corner.block), order(corner));
        let name = if same { name.replacen(&common, "", 1) } else { name };
        name.replace(" data", "")
    };
    let x = Axis::names("corner", corners.iter().map(short).collect()).untitled();
    let y = Axis::linear(unit(random).0, highest);
    let trace = |answer: &Answer<'_, Outcome>| {
        let name = subjects.full_name(answer.subject);
        Points::columns(&name, nth_style(answer.subject), columns(answer))
    };
    let traces = answers.iter().map(trace).collect();
    let id = if random { "corners-random" } else { "corners-sequential" };
    let mut picture = Picture::new(id.to_owned(), title.to_owned(), x, y, traces);
    picture.conditions = conditions(corners.iter().copied());
    let text = match corners.first().filter(|_| same) {
        Some(corner) => {
            format!("{} {}. Higher is better.", number::size(corner.block), order(corner))
        }
        None => "Higher is better.".to_owned(),
    };
    Some(View::common(title, &text, picture))
}

fn conditions<'a>(mut corners: impl Iterator<Item = &'a Corner>) -> String {
    let repeats = corners.any(|corner| corner.data == Data::Repeating);
    if repeats { "incompressible data, and data that repeat" } else { "incompressible data" }
        .to_owned()
}

/// One drive's corners in MB/s, beside each other.
fn alone(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>, corners: &[Corner]) -> View {
    let is_doubtful = |figures: &CornerFigures| {
        let (subject, phase) = (&subjects.all[answer.subject], figures.corner.phase());
        subject.is_part_doubtful_at(Stage::Later, Plan::NAME, Some(&phase))
    };
    let shown = || corners.iter().filter_map(|corner| find(answer.outcome, corner));
    let bar = |figures: &CornerFigures| {
        let value = figures.rate.megabytes_per_second;
        let style = if figures.corner.operation == Operation::Read { READS } else { WRITES };
        let rate = number::megabytes_per_second(value);
        let words = if figures.corner.random { in_words(figures) + ", " + &rate } else { rate };
        let words = if is_doubtful(figures) { words + " ?" } else { words };
        Bar { name: named(subjects, answer, &figures.corner), value, error: None, words, style }
    };
    let bars = shown().map(bar).collect();
    let title = format!("Corners: {}", subjects.full_name(answer.subject));
    let mut picture = Picture::bars("corners-all".to_owned(), title, "MB/s", bars, 0.0);
    picture.conditions = conditions(corners.iter());
    let colours = "Writes are blue, reads green.";
    let text = if shown().any(is_doubtful) {
        format!("{colours} {DOUBT_MEANS}")
    } else {
        colours.to_owned()
    };
    View::common("All corners", &text, picture)
}

/// Whether heat may have decided instead of the buffer.
fn is_too_warm(answer: &Answer<'_, Outcome>) -> bool {
    let is_it = |doubt: &Warning| {
        matches!(
            doubt,
            Warning::Drive(DriveWarning::TooWarm { .. } | DriveWarning::SlowedDown { .. })
        )
    };
    answer.run.record.warnings.iter().any(is_it)
}

/// What a rate was in the first third and in the last, where that differs.
fn course(figures: &CornerFigures) -> Option<String> {
    let Corner { random, block, .. } = figures.corner;
    let told = |iops: f64| unit(random).1(if random { iops } else { iops * block.0 as f64 / 1e6 });
    Some(number::thirds(figures.rate.iops, figures.changed?, told))
}

/// Whether the fast buffer may have taken all of its writes; where their rate changed it did not, and the two rates
/// say more.
fn may_be_all_within(figures: &CornerFigures) -> bool {
    figures.within_buffer && figures.changed.is_none()
}

/// What writes are that the fast buffer could take whole: in order at once into the empty one, else again and again.
const fn within(corner: &Corner) -> &'static str {
    if corner.random { "perhaps in the buffer" } else { "in the buffer" }
}

/// With what of its writes the fast buffer took, or else how its rate changed.
fn named(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>, corner: &Corner) -> String {
    name(corner) + &note(subjects, answer, corner)
}

/// ` (in the buffer)`, ` (493 MB/s in its first third, 149 MB/s in its last)`, or nothing.
fn note(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>, corner: &Corner) -> String {
    let part = buffer::fast_part(&subjects.all[answer.subject]);
    let is_within = find(answer.outcome, corner).is_some_and(may_be_all_within);
    let tag = match corner.operation {
        // They go to the same places again.
        Operation::Write if corner.random && is_within => within(corner).to_owned(),
        Operation::Write if !corner.random && !is_too_warm(answer) => {
            buffer::tag(part, written(answer, corner), answer.run.record.drive.capacity)
        }
        _ => String::new(),
    };
    let course = find(answer.outcome, corner).and_then(course);
    let tags: Vec<String> =
        Some(tag).filter(|tag| !tag.is_empty()).into_iter().chain(course).collect();
    if tags.is_empty() { String::new() } else { format!(" ({})", tags.join("; ")) }
}

/// The row of a corner, with what is in doubt of it: a doubt about another corner is none about this one. Where a rate
/// was two it ranks nobody.
fn doubted(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    corner: &Corner,
    mut row: Row,
) -> Row {
    let phase = corner.phase();
    for (cell, answer) in row.values.iter_mut().zip(answers) {
        let subject = &subjects.all[answer.subject];
        cell.in_doubt = subject.is_part_doubtful_at(Stage::Later, Plan::NAME, Some(&phase));
    }
    let mut figures = answers.iter().filter_map(|answer| find(answer.outcome, corner));
    let is_two = figures.any(|figures| figures.changed.is_some());
    Row { good: row.good.filter(|_| !is_two), ..row }
}

fn rates(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], corners: &[Corner]) -> Table {
    let row = |corner: &Corner| {
        let of = |answer: &Answer<'_, Outcome>| Some(value(find(answer.outcome, corner)?));
        let mut row =
            number_row(&name(corner), Good::AtLeast, answers.iter().map(of), unit(corner.random).1);
        for (cell, answer) in row.values.iter_mut().zip(answers) {
            cell.text += &note(subjects, answer, corner);
        }
        doubted(subjects, answers, corner, row)
    };
    let rows = corners.iter().map(row).collect();
    table_of(subjects, answers, ("Rates", ""), rows)
}

const LATENCIES: [Latency<CornerFigures>; 3] = [
    ("median", |figures| Some(figures.latency.p50_ns)),
    ("99.9 %", |figures| figures.latency.p999_ns),
    ("longest", |figures| Some(figures.latency.max_ns)),
];

/// Rates and service times beside each other, and corners down.
fn of_one(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>, corners: &[Corner]) -> Table {
    let row = |corner: &Corner| {
        let rate = unit(corner.random).1;
        let one = number_row(
            "",
            Good::AtLeast,
            [find(answer.outcome, corner).map(value)].into_iter(),
            rate,
        );
        let mut row = doubted(subjects, std::slice::from_ref(answer), corner, one);
        let in_doubt = row.values[0].in_doubt;
        row.values.extend(LATENCIES.map(|(_, nanos)| {
            let nanos = find(answer.outcome, corner).and_then(nanos);
            let number = nanos.map(|nanos| nanos as f64);
            Cell { in_doubt, ..Cell::new(number::service_time_if(nanos), number) }
        }));
        Row { name: named(subjects, answer, corner), good: None, ..row }
    };
    let names = ["rate"].into_iter().chain(LATENCIES.map(|(name, _)| name));
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let rows = corners.iter().map(row).collect();
    Table::new("Rates and service times", "", names.map(column).collect(), rows)
}

fn latencies(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    corners: &[Corner],
) -> Table {
    let each = corners.iter().flat_map(|corner| LATENCIES.map(|figure| (corner, figure)));
    let rows = each.map(|(corner, (figure, nanos))| {
        let of = |answer: &Answer<'_, Outcome>| find(answer.outcome, corner).and_then(nanos);
        let row = latency_row(&format!("{}: {figure}", name(corner)), answers.iter().map(of));
        doubted(subjects, answers, corner, row)
    });
    table_of(subjects, answers, ("Service times", ""), rows.collect())
}
