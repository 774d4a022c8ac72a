//! Whole drive: speed over what is on the drive, and its levels.

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_suite::whole_drive::{ERASED, Fill, HALF_FULL, Outcome, Plan};
use writecliff_suite::{FastPart, Good, Level};

use super::scales::Along;
use super::{Answer, answers, cell_of, doubted_in, number_row, per_drive, table_of};
use crate::buffer;
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, BLUE, ORANGE, Picture, Points, Style, Trace};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

/// The fills in their order, as a person calls them.
const FILLS: [(&str, &str, Style); 2] =
    [(ERASED, "first fill", BLUE), (HALF_FULL, "half-full drive", ORANGE)];
const CONDITIONS: &str = "sequential writes, 1 MiB, 8 in flight";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let is_half_full = |answer: &&Answer<'_, Outcome>| fill_of(answer, HALF_FULL).is_some();
    let half = match answers.iter().filter(is_half_full).count() {
        0 => "",
        all if all == answers.len() => {
            ", and over the second half of one whose first half is full and has rested"
        }
        _ => {
            ", and, of those with figures of it, over the second half of one whose first half is full and has rested"
        }
    };
    let method = format!("Sequential writes over all of a drive, erased where that can be{half}.");
    let views = speed(subjects, &answers).into_iter().collect();
    Some(Section::new(Plan::NAME, "Whole drive", &method, views, tables(subjects, &answers)))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let fill = outcome.fills.first()?;
    let half_full = outcome.fills.iter().find(|fill| fill.phase == HALF_FULL);
    let rate = number::megabytes_per_second;
    let mean = rate(fill.megabytes_per_second);
    let Some(buffer) = fill.fast_buffer() else {
        let was_too_warm = fill.levels.first().is_some_and(|level| level.too_warm);
        let buffer = match fill.levels.get(1) {
            Some(_) if was_too_warm => {
                "it became too warm, so that nobody knows whether it has a fast buffer"
            }
            Some(next) if next.more_work => buffer::MORE_WORK,
            _ => buffer::NONE_TOLD,
        };
        let slope = slope(fill).unwrap_or_default();
        let half = half_full
            .and_then(Fill::fast_buffer)
            .map(|buffer| format!(" Half full and rested, {}.", next_part(buffer)));
        let half = half.unwrap_or_default();
        return Some(format!("The drive is written full at {mean}{slope}; {buffer}.{half}"));
    };
    let half = half_full.map(|fill| match fill.fast_buffer() {
        Some(buffer) => format!(" Half full and rested, {}.", next_part(buffer)),
        None => {
            let mean = rate(fill.megabytes_per_second);
            format!(
                " Half full and rested, it takes the rest at {mean}; no fast buffer is seen then."
            )
        }
    });
    Some(format!(
        "The first {} are written at {}, then it is {} on average; the whole drive takes {mean}.{}",
        number::bytes(buffer.bytes.0 as f64),
        rate(buffer.fast_megabytes_per_second),
        rate(buffer.slow_megabytes_per_second),
        half.unwrap_or_default(),
    ))
}

/// A fill whose end is slower than this share of its beginning, without a step, is said to become slower.
const SLOPE: f64 = 0.9;

/// `the next 12.0 GB are written at 520 MB/s, what is left at 273 MB/s on average`.
fn next_part(buffer: FastPart) -> String {
    format!(
        "the next {} are written at {}, what is left at {} on average",
        number::bytes(buffer.bytes.0 as f64),
        number::megabytes_per_second(buffer.fast_megabytes_per_second),
        number::megabytes_per_second(buffer.slow_megabytes_per_second),
    )
}

/// A picture for each drive: every second at the place that it came to.
fn speed(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let along = Along::the_drive(answers);
    let of_answer = |answer| FILLS.iter().flat_map(move |(phase, ..)| points(answer, phase, along));
    let all = || answers.iter().flat_map(of_answer);
    let (end, highest) = all().fold((0.0, 0.0), |(end, highest): (f64, f64), (place, speed)| {
        (end.max(place), highest.max(speed))
    });
    let x = match along {
        Along::Gigabytes => along.axis("on the drive", end),
        _ => along.axis("that is full", end),
    };
    let y = Axis::linear("MB/s", highest);
    let names = ("whole-drive-speed", "Speed until it is full", "Each dot is a second.");
    per_drive(subjects, answers, names, |answer, id, heading| {
        let trace = |(phase, name, style): &(&str, &str, Style)| {
            let points = points(answer, phase, along);
            (!points.is_empty()).then(|| Points::dots(name, *style, points))
        };
        let traces: Vec<Trace> = FILLS.iter().filter_map(trace).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        CONDITIONS.clone_into(&mut picture.conditions);
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// Whole seconds of a fill: what was on the drive at their end, and their speed.
fn points(answer: &Answer<'_, Outcome>, phase: &str, along: Along) -> Vec<(f64, f64)> {
    // Who was not purged was never half full, and is not drawn as if.
    let Some(fill) = fill_of(answer, phase) else { return Vec::new() };
    let mut on_drive = fill.from.0;
    let whole = answer.run.recording.series(phase).filter(|sample| sample.is_whole());
    let point = |sample: &writecliff_measure::Sample| {
        on_drive += sample.written_bytes;
        let place = along.place(on_drive as f64, &answer.run.record.drive);
        (place, sample.megabytes_per_second())
    };
    whole.map(point).collect()
}

fn fill_of<'a>(answer: &Answer<'a, Outcome>, phase: &str) -> Option<&'a Fill> {
    // Without a purge in between the drive was never half full.
    let is_purged = phase == ERASED || answer.run.record.purge.is_some();
    answer.outcome.fills.iter().find(|fill| is_purged && fill.phase == phase)
}

/// Of one drive every level; of several the figures of either fill.
fn tables(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<Table> {
    vec![match answers {
        [answer] => of_one(answer),
        _ => of_several(subjects, answers),
    }]
}

/// Each fill's levels down, and the whole below them; of one level that alone.
fn of_one(answer: &Answer<'_, Outcome>) -> Table {
    let rows = FILLS.iter().flat_map(|(phase, name, _)| {
        let Some(fill) = fill_of(answer, phase) else { return Vec::new() };
        let row = |name: &str, bytes: Bytes, rate: f64, slope: &str| {
            let words = format!("{}{slope}", number::megabytes_per_second(rate));
            let written = number::bytes(bytes.0 as f64);
            let cell = |text, number| cell_of(answer.run, phase, text, number);
            Row {
                values: vec![cell(written, bytes.0 as f64), cell(words, rate)],
                ..Row::new(name, Vec::new(), "")
            }
        };
        let level = |(index, level): (usize, &Level)| {
            row(
                &format!("{name}, level {}", index + 1),
                level.bytes,
                level.megabytes_per_second,
                "",
            )
        };
        let written = fill.levels.iter().fold(Bytes::ZERO, |sum, level| sum + level.bytes);
        let mean = fill.megabytes_per_second;
        let levels = match several(fill) {
            None => return vec![row(name, written, mean, &slope(fill).unwrap_or_default())],
            Some(levels) => levels.iter().enumerate().map(level),
        };
        let whole = row(&format!("{name}, all together"), written, mean, "");
        levels.chain([whole]).collect()
    });
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["written", "speed"].map(column).into();
    Table::new("Levels", "", columns, rows.collect())
}

/// `, from 109 MB/s in its first twentieth to 56.0 MB/s in its last`, of a fill that became slower without a step.
fn slope(fill: &Fill) -> Option<String> {
    let [first, last] = fill.ends.filter(|[first, last]| *last < SLOPE * first)?;
    let [first, last] = [first, last].map(number::megabytes_per_second);
    Some(format!(", from {first} in its first twentieth to {last} in its last"))
}

/// What is said of a fill, and how.
type Said = (&'static str, fn(&Fill) -> Option<f64>, fn(f64) -> String);

const SAID: [Said; 4] = [
    ("mean", |fill| Some(fill.megabytes_per_second), number::megabytes_per_second),
    ("fast buffer", |fill| Some(fill.fast_buffer()?.bytes.0 as f64), number::bytes),
    (
        "first level",
        |fill| Some(several(fill)?.first()?.megabytes_per_second),
        number::megabytes_per_second,
    ),
    ("slowest level", |fill| fill.slowest(), number::megabytes_per_second),
];

/// The levels of a fill that has any: one alone is its mean.
fn several(fill: &Fill) -> Option<&[Level]> {
    Some(&fill.levels[..]).filter(|levels| levels.len() > 1)
}

fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let rows: Vec<Row> = FILLS
        .iter()
        .flat_map(|(phase, name, _)| {
            SAID.iter().map(move |(said, value, words)| {
                let numbers = answers.iter().map(|answer| value(fill_of(answer, phase)?));
                let row = number_row(&format!("{name}: {said}"), Good::AtLeast, numbers, words);
                doubted_in(phase, answers, row)
            })
        })
        .collect();
    let has_none = rows.iter().any(|row| row.values.iter().any(|cell| cell.text == NONE));
    let text = match has_none {
        true => format!(
            "{NONE} stands for a drive of which no fast buffer is told, or one level alone."
        ),
        false => String::new(),
    };
    table_of(subjects, answers, ("Levels", &text), rows)
}
