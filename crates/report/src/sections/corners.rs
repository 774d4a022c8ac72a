//! Corners: the figures of a data sheet, all compared drives in one picture for each.

use writecliff_device::Operation;
use writecliff_suite::corners::{Corner, CornerFigures, Data, Outcome, Plan};

use super::{Answer, answers, bars, highest_first};
use crate::number;
use crate::picture::{BLUE, Bar, GREEN, Picture};
use crate::run::NONE;
use crate::section::{Row, Section, Table, View, slug};
use crate::subject::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let mut corners: Vec<Corner> = Vec::new();
    for figures in answers.iter().flat_map(|answer| &answer.outcome.corners) {
        if !corners.contains(&figures.corner) {
            corners.push(figures.corner);
        }
    }
    let views = match subjects.is_comparison() {
        true => corners.iter().map(|corner| compared(subjects, &answers, corner)).collect(),
        false => vec![alone(subjects, &answers[0])],
    };
    let rate = |figures: &CornerFigures| {
        let (rate, iops) = (figures.rate.megabytes_per_second, figures.rate.iops);
        format!("{}, {}", number::megabytes_per_second(rate), number::iops(iops))
    };
    let latency = |figures: &CornerFigures| {
        let latency = figures.latency;
        [latency.p50_ns, latency.p999_ns, latency.max_ns].map(number::service_time).join(" / ")
    };
    let table = |title, text, value: fn(&CornerFigures) -> String| {
        let row = |corner: &Corner| {
            let value = |answer: &Answer<'_, Outcome>| {
                find(answer.outcome, corner).map_or(NONE.to_owned(), value)
            };
            Row::new(&name(corner), answers.iter().map(value).collect(), "")
        };
        let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
        Table::new(title, text, columns, corners.iter().map(row).collect())
    };
    let tables = vec![
        table("Rates", "", rate),
        table("Service times", "Median / 99.9th percentile / longest.", latency),
    ];
    let method = "Fresh drive, a few minutes each: what data sheets promise.";
    Some(Section::new(Plan::NAME, "Corners", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let in_words = |figures: &CornerFigures| {
        let corner = figures.corner;
        let operation = if corner.operation == Operation::Read { "reads" } else { "writes" };
        let (order, rate) = match corner.random {
            true => ("random", number::iops(figures.rate.iops)),
            false => {
                ("sequential", number::megabytes_per_second(figures.rate.megabytes_per_second))
            }
        };
        format!("{order} {operation} at QD{} {rate}", corner.queue_depth)
    };
    let all = outcome.corners.iter().filter(|figures| figures.corner.data == Data::Random);
    Some(format!("Corners: {}.", all.map(in_words).collect::<Vec<_>>().join(", ")))
}

fn find<'a>(outcome: &'a Outcome, corner: &Corner) -> Option<&'a CornerFigures> {
    outcome.corners.iter().find(|figures| figures.corner == *corner)
}

/// `4KiB random write, QD32`, and the data if they repeat.
fn name(corner: &Corner) -> String {
    let order = if corner.random { "random" } else { "sequential" };
    let operation = if corner.operation == Operation::Read { "read" } else { "write" };
    let data = if corner.data == Data::Repeating { ", repeating data" } else { "" };
    let (block, depth) = (corner.block.exact(), corner.queue_depth);
    format!("{block} {order} {operation}, QD{depth}{data}")
}

/// What a person counts it in: random in IOPS, sequential in MB/s.
fn value(corner: &Corner, figures: &CornerFigures) -> f64 {
    if corner.random { figures.rate.iops } else { figures.rate.megabytes_per_second }
}

fn compared(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], corner: &Corner) -> View {
    let (unit, words): (_, fn(f64) -> String) = match corner.random {
        true => ("IOPS", number::iops),
        false => ("MB/s", number::megabytes_per_second),
    };
    let of = |outcome: &Outcome| Some(value(corner, find(outcome, corner)?));
    let bars = highest_first(bars(subjects, answers, of, words));
    let title = name(corner);
    let id = format!("corners-{}", slug(&title));
    View::common(&title, "Best first.", Picture::bars(id, title.clone(), unit, bars, 0.0))
}

/// One drive's corners in MB/s, beside each other.
fn alone(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>) -> View {
    let bar = |figures: &CornerFigures| {
        let value = figures.rate.megabytes_per_second;
        let style = if figures.corner.operation == Operation::Read { GREEN } else { BLUE };
        let words = number::megabytes_per_second(value);
        Bar { name: name(&figures.corner), value, error: None, words, style }
    };
    let bars = answer.outcome.corners.iter().map(bar).collect();
    let title = format!("Corners: {}", subjects.full_name(answer.subject));
    let picture = Picture::bars("corners-all".to_owned(), title, "MB/s", bars, 0.0);
    View::common("All corners", "Writes are blue, reads green.", picture)
}
