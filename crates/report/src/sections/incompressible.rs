//! Incompressible: how much of the speed needs compressible data.

use writecliff_suite::Outcome as AnyOutcome;
use writecliff_suite::incompressible::{NAME, Outcome, Step};

use super::curves::{self, Curve};
use super::{Answer, answers};
use crate::number;
use crate::picture::Axis;
use crate::run::NONE;
use crate::section::{Row, Section, Table};
use crate::subject::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers(subjects, |outcome| match outcome {
        AnyOutcome::Incompressible(outcome) => Some(outcome),
        _ => None,
    });
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
    Some(Section::new(NAME, "Incompressible data", "", views, tables))
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
