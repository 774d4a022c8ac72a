//! Incompressible: how much of the speed needs compressible data.

use writecliff_suite::incompressible::{Outcome, Plan, Step};

use super::curves::{self, Curve};
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
    let curve = |name, heading: &str, rate: fn(&Step) -> Option<f64>| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |step: &Step| Some((f64::from(step.compressible_percent), rate(step)?));
            (answer.subject, answer.outcome.steps.iter().filter_map(point).collect())
        };
        Curve { name, heading: heading.to_owned(), lines: answers.iter().map(line).collect() }
    };
    let curves = [
        curve("writes", "Sequential writes by compressibility", |step| Some(step.write)),
        curve("reads", "Sequential reads by compressibility", |step| step.read),
    ];
    let x = Axis::span("share of the data that a compressor can remove, %", 0.0, 100.0);
    let text = "A level line is a drive that does not compress.";
    let names = ("incompressible-curve", "By compressibility", text);
    let views = curves::views(subjects, names, &x, "MB/s", &curves);
    let tables = vec![table(subjects, &answers)];
    Some(Section::new(Plan::NAME, "Incompressible data", "", views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let (first, last) = (outcome.steps.first()?, outcome.steps.last()?);
    let rate = number::megabytes_per_second;
    if (last.write / first.write - 1.0).abs() < 0.02 {
        let rate = rate(first.write);
        return Some(format!("Compressible data make no difference: it writes {rate} of any."));
    }
    Some(format!(
        "It writes {} of data that are {} % compressible, and {} at {} %.",
        rate(first.write),
        first.compressible_percent,
        rate(last.write),
        last.compressible_percent
    ))
}

fn table(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let mut shares: Vec<u8> = answers
        .iter()
        .flat_map(|answer| answer.outcome.steps.iter().map(|step| step.compressible_percent))
        .collect();
    shares.sort_unstable();
    shares.dedup();
    let value = |answer: &Answer<'_, Outcome>, share: u8| {
        let step = answer.outcome.steps.iter().find(|step| step.compressible_percent == share);
        step.map_or(NONE.to_owned(), |step| rates(step.write, step.read))
    };
    let row = |share: &u8| {
        let values = answers.iter().map(|answer| value(answer, *share)).collect();
        Row::new(&format!("{share} % compressible"), values, "")
    };
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    let rows = shares.iter().map(row).collect();
    Table::new("Rates by compressibility", "Writes / reads in MB/s.", columns, rows)
}

/// `261 / 500 MB/s`.
pub(super) fn rates(write: f64, read: Option<f64>) -> String {
    let read = read.map_or(NONE.to_owned(), number::megabytes_per_second);
    format!("{} / {read}", number::significant(write))
}
