//! What every section and picture gets, whatever test it is of: doubts where they belong, what
//! differs, who is missing, and what a picture says to whoever sees it alone or not at all.

use writecliff_suite::{
    Stage, TestEntry, consistency, corners, queue_depth, read_write_mix, spare_area, suite,
    transfer_size, trim, whole_drive,
};

use crate::number;
use crate::picture::{Axis, Picture, Points, Range, Trace};
use crate::run::Run;
use crate::section::{Column, Panel, Row, Section};
use crate::sections::efficiency::EFFICIENCY;
use crate::subject::Subject;
use crate::subjects::Subjects;
use crate::torture::tortures;
use crate::writes::writes;

/// Puts doubts about single tests into their sections; returns what is left, by subject.
pub(crate) fn place_doubts(subjects: &Subjects<'_>, sections: &mut [Section]) -> Vec<Vec<String>> {
    let mut left: Vec<Vec<String>> = Vec::new();
    for (index, subject) in subjects.all.iter().enumerate() {
        let mut general = Vec::new();
        for doubt in subject.doubts() {
            let (text, runs) = &doubt;
            let tests = runs.iter().map(|run| subject.runs[*run].record.plan.name());
            let has_section = |test: &str| sections.iter().any(|section| section.id == test);
            if is_of_all(subject, runs) || !tests.clone().all(has_section) {
                general.push(subject.in_words(&doubt));
                continue;
            }
            for section in sections.iter_mut() {
                let of_it = runs.iter().map(|run| &subject.runs[*run]);
                let of_it: Vec<&Run> =
                    of_it.filter(|run| run.record.plan.name() == section.id).collect();
                section.doubts.extend(of_it.first().map(|run| {
                    let has_setting = run.name() != run.record.plan.name();
                    let setting = format!("{}: {text}", run.setting());
                    (index, if has_setting { setting } else { text.clone() })
                }));
            }
        }
        left.push(general);
    }
    left
}

/// Says in each section what was not the same for all, and which drives have no data for it.
pub(crate) fn explain(subjects: &Subjects<'_>, sections: &mut [Section]) {
    for section in sections {
        // That more spare area is better needs no star.
        let is_comparable =
            subjects.is_comparison() && subjects.is_equal_load(section.id) && subjects.is_result();
        if !is_comparable {
            let rows = section.tables.iter_mut().flat_map(|table| &mut table.rows);
            rows.for_each(|row| row.good = None);
        }
        if !subjects.is_equal_load(section.id) {
            for difference in subjects.differences() {
                let is_spare = section.id == spare_area::Plan::NAME;
                let test = if is_spare { consistency::Plan::NAME } else { section.id };
                if difference.test == test {
                    section.question += &format!(" NOT the same load: {}.", difference.text);
                }
            }
        }
        let missing: Vec<String> = (0..subjects.all.len())
            .filter(|index| !has_data(&subjects.all[*index], section.id))
            .map(|index| subjects.full_name(index))
            .collect();
        if !missing.is_empty() && subjects.is_comparison() {
            section.question += &format!(" Not known of {}.", missing.join(", "));
        }
    }
}

/// Whether a drive has anything in the section of a test.
fn has_data(subject: &Subject, test: &str) -> bool {
    match test {
        consistency::Plan::NAME => subject.runs.iter().any(|run| !tortures(run).is_empty()),
        spare_area::Plan::NAME => writes(subject).len() > 1,
        EFFICIENCY => subject.runs.iter().any(|run| !run.record.efficiency.is_empty()),
        // A section of no test has what there is.
        _ if TestEntry::find(test).is_none() => true,
        _ => {
            let mut of_test = subject.runs.iter().filter(|run| run.record.plan.name() == test);
            of_test.any(|run| run.record.outcome.is_some())
        }
    }
}

/// Whether a doubt about these runs is one about all that was done to a drive.
fn is_of_all(subject: &Subject, runs: &[usize]) -> bool {
    subject.runs.len() > 2 && runs.len() == subject.runs.len()
}

/// Whether a drive has a doubt about all of its tests.
fn is_all_doubtful(subject: &Subject) -> bool {
    doubts_of_figures(subject).any(|(_, runs)| is_of_all(subject, &runs))
}

/// What of its doubts is about any figure: that a drive has no TRIM is a gap.
fn doubts_of_figures(subject: &Subject) -> impl Iterator<Item = (String, Vec<usize>)> {
    const STAGES: [Stage; 3] = [Stage::Fill, Stage::Fresh, Stage::Later];
    let of_runs = subject.runs.iter().flat_map(|run| run.and_repeats());
    let warnings = of_runs.flat_map(|run| &run.record.warnings);
    let gaps = warnings.filter(|doubt| !STAGES.iter().any(|stage| doubt.is_of(*stage)));
    let gaps: Vec<String> = gaps.map(ToString::to_string).collect();
    subject.doubts().into_iter().filter(move |(text, _)| !gaps.contains(text))
}

/// Which drives' pictures of a section are doubtful: those that have a doubt about its test, wherever that is told, or
/// about all of theirs, and those of which its tables know one that is no doubt of its own, as that another test found
/// a buffer.
pub(crate) fn doubtful(subjects: &Subjects<'_>, section: &Section) -> Vec<bool> {
    let is_of_it = |subject: &Subject| {
        let is_run = |run: &usize| subject.runs[*run].record.plan.name() == section.id;
        doubts_of_figures(subject).any(|(_, runs)| runs.iter().any(is_run))
    };
    let only = (subjects.all.len() == 1).then_some(0);
    let is_in_a_table = |subject: usize| {
        let mut tables = section.tables.iter().filter(|table| !table.of_others);
        tables.any(|table| {
            let of = |column: &Column| column.of.subject.or(table.of.subject).or(only);
            let is_doubted = |row: &Row| {
                let mut cells = row.values.iter().zip(&table.columns);
                cells.any(|(cell, column)| cell.in_doubt && of(column) == Some(subject))
            };
            table.rows.iter().any(is_doubted)
        })
    };
    let all = subjects.all.iter().enumerate();
    all.map(|(index, subject)| {
        is_of_it(subject) || is_all_doubtful(subject) || is_in_a_table(index)
    })
    .collect()
}

/// Sections whose cells know themselves which of them are in doubt: a doubt about one spare area, corner, level or step
/// is none about another.
const CELLS_KNOW: [&str; 9] = [
    consistency::Plan::NAME,
    spare_area::Plan::NAME,
    corners::Plan::NAME,
    queue_depth::Plan::NAME,
    read_write_mix::Plan::NAME,
    suite::Plan::NAME,
    transfer_size::Plan::NAME,
    trim::Plan::NAME,
    whole_drive::Plan::NAME,
];

/// What is in doubt is never the best of its row, and is marked. A section of no test is about
/// all of them.
pub(crate) fn outrank(subjects: &Subjects<'_>, section: &mut Section) {
    let is_doubtful = |subject: usize| match TestEntry::find(section.id) {
        Some(_) if CELLS_KNOW.contains(&section.id) => false,
        Some(_) => subjects.all[subject].is_doubtful(section.id),
        None => is_all_doubtful(&subjects.all[subject]),
    };
    // Columns of one drive's page may be of anything.
    let only = (subjects.all.len() == 1).then_some(0);
    for table in &mut section.tables {
        let in_doubt: Vec<bool> = table
            .columns
            .iter()
            .map(|column| column.of.subject.or(table.of.subject).or(only).is_some_and(is_doubtful))
            .collect();
        for row in table.rows.iter_mut().filter(|_| !table.of_others) {
            row.values.iter_mut().zip(&in_doubt).for_each(|(cell, doubt)| cell.in_doubt |= doubt);
        }
        table.mark_doubts();
    }
}

/// What a picture says of doubts when it stands alone.
pub(crate) const WITH_DOUBTS: &str = "with doubts that its page tells";

/// Gives the pictures of a section what they have to say when they stand alone, and to whoever cannot see them.
pub(crate) fn complete(subjects: &Subjects<'_>, doubtful: &[bool], section: &mut Section) {
    let id = section.id;
    for view in &mut section.views {
        for Panel { of, picture, .. } in &mut view.panels {
            let about = || match of.subject {
                Some(index) => index..index + 1,
                None => 0..subjects.all.len(),
            };
            let of_all = || about().map(|index| &subjects.all[index]);
            picture.watermark = of_all().find_map(|subject| subject.no_result_in(id));
            let kind = match (
                of_all().any(|subject| subject.is_simulated()),
                of_all().all(|subject| subject.is_simulated()),
            ) {
                (_, true) => "simulated",
                (true, false) => "in part simulated",
                (false, false) => "measured",
            };
            let has_doubts = about().any(|index| doubtful[index]);
            let doubts = if has_doubts { WITH_DOUBTS } else { "" };
            let conditions = picture.conditions.as_str();
            let parts = [conditions, kind, picture.watermark.unwrap_or(""), doubts];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            picture.conditions = parts.join(", ");
            if picture.alt == picture.title {
                picture.alt = format!("{}. {}", picture.title, values(picture));
            }
        }
    }
}

/// What a picture shows, in numbers.
pub(crate) fn values(picture: &Picture) -> String {
    let of_trace = |trace: &Trace| match trace {
        Trace::Points(points) => points_in_words(points, &picture.x, &picture.y),
        Trace::Bars(bars) => {
            let bars = bars.iter().map(|bar| format!("{}: {}", bar.name, bar.words));
            bars.collect::<Vec<_>>().join("; ")
        }
        Trace::Ranges(ranges) => {
            let ranges = ranges.iter().map(|Range { name, words, .. }| format!("{name}: {words}"));
            ranges.collect::<Vec<_>>().join("; ")
        }
        Trace::Heat(heat) => {
            let row = |column: &Vec<f64>| column.iter().rposition(|value| *value > 0.0);
            let highest = heat.columns.iter().filter_map(row).max();
            let highest = highest.map_or(heat.y_edges[0], |row| heat.y_edges[row + 1]);
            format!("the highest at {}", quantity(highest, &picture.y))
        }
    };
    let all: Vec<String> = picture.traces.iter().map(of_trace).collect();
    let marks = picture.marks.iter().filter_map(|mark| match mark {
        // Of two that are close to each other one has the words.
        crate::picture::Mark::Upright { label, .. } => {
            Some(label.clone()).filter(|label| !label.is_empty())
        }
        crate::picture::Mark::Nothing(words) => Some(words.clone()),
        crate::picture::Mark::Window { .. } => None,
    });
    all.into_iter().chain(marks).collect::<Vec<_>>().join("; ") + "."
}

/// From the left to the right, as they are drawn.
fn points_in_words(points: &Points, x: &Axis, y: &Axis) -> String {
    let values = || points.points.iter().map(|point| point.1);
    let by_place = |one: &&(f64, f64), other: &&(f64, f64)| one.0.total_cmp(&other.0);
    let ends = points.points.iter().min_by(by_place).zip(points.points.iter().max_by(by_place));
    let is_time = x.title.starts_with("time") || x.quantity.starts_with("second");
    let Some(((from, first), (to, last))) = ends else {
        let none = if is_time { "no whole second with I/Os enough" } else { "nothing" };
        return format!("{}: {none}", points.name);
    };
    let [from, to] = match is_time {
        true => ["first".to_owned(), "last".to_owned()],
        false => [from, to].map(|at| place(*at, x)),
    };
    let lowest = values().fold(f64::INFINITY, f64::min);
    let highest = values().fold(f64::NEG_INFINITY, f64::max);
    let [first, last, lowest, highest] =
        [*first, *last, lowest, highest].map(|value| quantity(value, y));
    match lowest == highest {
        true if points.points.len() == 1 => format!("{}: {lowest}", points.name),
        true => format!("{}: {lowest} throughout", points.name),
        false => format!(
            "{}: {first} at {from}, {last} at {to}, lowest {lowest}, highest {highest}",
            points.name
        ),
    }
}

/// A place on an axis: what stands there, or the number.
fn place(at: f64, axis: &Axis) -> String {
    let tick = axis.ticks.iter().find(|tick| tick.0 == at).map(|tick| tick.1.clone());
    tick.unwrap_or_else(|| match (at, axis.quantity.rsplit_once(", ")) {
        (0.0, _) => "0".to_owned(),
        (_, Some((_, "ns"))) => number::latency(at as u64),
        _ => number::significant(at),
    })
}

/// A value with its unit.
fn quantity(value: f64, axis: &Axis) -> String {
    match axis.quantity.rsplit_once(", ") {
        Some((_, "ns")) => number::latency(value as u64),
        Some((_, unit)) => format!("{} {unit}", number::significant(value)),
        None => format!("{} {}", number::significant(value), axis.quantity),
    }
}
