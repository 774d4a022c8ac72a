//! Incompressible: how much of the speed needs compressible data.

use writecliff_device::DeviceInfo;
use writecliff_suite::incompressible::{Outcome, Plan, Step};

use super::curves::{self, Curve, Stepped};
use super::{Answer, answers, is_same_rate};
use crate::number;
use crate::picture::{Axis, READS, WRITES};
use crate::section::{Section, View};
use crate::subjects::Subjects;

/// The curve of writes; the other is of reads.
const WRITES_NAME: &str = "writes";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let curve = |name, style, heading: &str, rate: fn(&Step) -> Option<f64>| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |step: &Step| Some((f64::from(step.compressible_percent), rate(step)?));
            (answer.subject, answer.outcome.steps.iter().filter_map(point).collect())
        };
        let lines = answers.iter().map(line).collect();
        Curve { name, heading: heading.to_owned(), style, lines }
    };
    let curves = [
        curve(WRITES_NAME, WRITES, "Sequential writes by compressibility", |step| Some(step.write)),
        curve("reads", READS, "Sequential reads by compressibility", |step| step.read),
    ];
    let x = Axis::span("share of the data that a compressor can remove, %", 0.0, 100.0);
    let names = ("incompressible-curve", "By compressibility", "");
    let conditions = "1 GiB in order on a fresh drive, 16 MiB at a time, 4 in flight";
    let mut views = curves::views(subjects, names, &x, "MB/s", conditions, &curves);
    let stepped = Stepped {
        // Doubts about this test are about all of it, but for what the buffer took.
        in_doubt: |subject, operation, _| {
            operation == WRITES_NAME
                && curves::within_buffer(subjects, Plan::NAME, subject).is_some()
        },
        title: "Rates by compressibility",
        name: |percent| format!("{percent} % compressible"),
        curves: &curves,
    };
    let tables = stepped.tables(subjects);
    let mut method = curves::in_the_buffer(subjects, Plan::NAME);
    if tables.is_empty() {
        // A level line says no more than a sentence.
        method += " What the data are makes no difference of more than 2 %: the lines are level.";
        views = views.into_iter().map(View::on_demand).collect();
    }
    Some(Section::new(Plan::NAME, "Incompressible data", method.trim_start(), views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let (first, last) = (outcome.steps.first()?, outcome.steps.last()?);
    let rate = number::megabytes_per_second;
    if is_same_rate(first.write, last.write) {
        let rate = rate(first.write);
        return Some(format!(
            "Compressible data are written no faster than others, within 2 %: {rate}."
        ));
    }
    Some(format!(
        "It writes {} of data that are {} % compressible, and {} at {} %.",
        rate(first.write),
        first.compressible_percent,
        rate(last.write),
        last.compressible_percent
    ))
}
