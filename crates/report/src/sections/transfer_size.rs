//! Transfer size: which sizes are fast.

use writecliff_device::Bytes;
use writecliff_suite::transfer_size::{Outcome, Plan, SizeFigures};

use super::curves::{self, Curve};
use super::incompressible::rates;
use super::{Answer, answers};
use crate::number;
use crate::picture::Axis;
use crate::run::NONE;
use crate::section::{Row, Section, Table};
use crate::subject::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let mut sizes: Vec<Bytes> = answers
        .iter()
        .flat_map(|answer| answer.outcome.sizes.iter().map(|figures| figures.size))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let place = |size: Bytes| sizes.iter().position(|one| *one == size).unwrap_or(0) as f64;
    let curve = |name, heading: &str, rate: fn(&SizeFigures) -> Option<f64>| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |figures: &SizeFigures| Some((place(figures.size), rate(figures)?));
            (answer.subject, answer.outcome.sizes.iter().filter_map(point).collect())
        };
        Curve { name, heading: heading.to_owned(), lines: answers.iter().map(line).collect() }
    };
    let curves = [
        curve("writes", "Sequential writes by transfer size", |figures| Some(figures.write)),
        curve("reads", "Sequential reads by transfer size", |figures| figures.read),
    ];
    let names = sizes.iter().map(|size| size.exact()).collect();
    let x = Axis::names("transfer size", names);
    let names =
        ("transfer-size-curve", "By transfer size", "Four transfers in flight, data that repeat.");
    let views = curves::views(subjects, names, &x, "MB/s", &curves);
    let tables = vec![table(subjects, &answers, &sizes)];
    Some(Section::new(Plan::NAME, "Transfer size", "", views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let best = outcome.sizes.iter().map(|figures| figures.write).fold(0.0, f64::max);
    // Where the curve is level.
    let enough = outcome.sizes.iter().find(|figures| figures.write >= 0.9 * best)?;
    let (best, size) = (number::megabytes_per_second(best), enough.size.exact());
    Some(format!("Writes reach 90 % of their best rate, {best}, at {size}."))
}

fn table(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], sizes: &[Bytes]) -> Table {
    let value = |answer: &Answer<'_, Outcome>, size: Bytes| {
        let figures = answer.outcome.sizes.iter().find(|figures| figures.size == size);
        figures.map_or(NONE.to_owned(), |figures| rates(figures.write, figures.read))
    };
    let row = |size: &Bytes| {
        let values = answers.iter().map(|answer| value(answer, *size)).collect();
        Row::new(&size.exact(), values, "")
    };
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    let rows = sizes.iter().map(row).collect();
    Table::new("Rates by transfer size", "Writes / reads in MB/s.", columns, rows)
}
