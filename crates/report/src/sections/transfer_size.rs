//! Transfer size: which sizes are fast.

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_suite::transfer_size::{Outcome, Plan, SizeFigures, read_phase, write_phase};

use super::curves::{self, Curve, Stepped};
use super::{Answer, answers, is_in_doubt};
use crate::number;
use crate::picture::{Axis, READS, WRITES};
use crate::section::Section;
use crate::subjects::Subjects;

/// The curve of writes; the other is of reads.
const WRITES_NAME: &str = "writes";

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
    let curve = |name, style, heading: &str, rate: fn(&SizeFigures) -> Option<f64>| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |figures: &SizeFigures| Some((place(figures.size), rate(figures)?));
            (answer.subject, answer.outcome.sizes.iter().filter_map(point).collect())
        };
        let lines = answers.iter().map(line).collect();
        Curve { name, heading: heading.to_owned(), style, lines }
    };
    let curves = [
        curve(WRITES_NAME, WRITES, "Sequential writes by transfer size", |figures| {
            Some(figures.write)
        }),
        curve("reads", READS, "Sequential reads by transfer size", |figures| figures.read),
    ];
    let x = Axis::names("transfer size", sizes.iter().copied().map(number::size).collect());
    let text = "Transfers in order, four in flight, of data that repeat.";
    let names = ("transfer-size-curve", "By transfer size", text);
    let span = |answer: &Answer<'_, Outcome>| match &answer.run.record.plan {
        writecliff_suite::Plan::TransferSize(plan) => {
            plan.span.min(answer.run.record.drive.capacity)
        }
        _ => answer.run.record.drive.capacity,
    };
    let (least, most) = (answers.iter().map(span).min(), answers.iter().map(span).max());
    let written = match (least, most) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (least, _) => least.unwrap_or_default().to_string(),
    };
    let conditions = format!("{written} in order on an empty drive, 4 in flight, data that repeat");
    let views = curves::views(subjects, names, &x, "MB/s", &conditions, &curves);
    let stepped = Stepped {
        title: "Rates by transfer size",
        name: |place| number::size(sizes[place as usize]),
        in_doubt: |subject, operation, place| {
            let answer = answers.iter().find(|answer| answer.subject == subject);
            let is_write = operation == WRITES_NAME;
            let phase = if is_write { write_phase } else { read_phase };
            // What the buffer takes says nothing of the drive.
            (is_write && curves::within_buffer(subjects, Plan::NAME, subject).is_some())
                || answer.is_some_and(|one| is_in_doubt(one.run, &phase(sizes[place as usize])))
        },
        curves: &curves,
    };
    let method = curves::in_the_buffer(subjects, Plan::NAME);
    let tables = stepped.tables(subjects);
    Some(Section::new(Plan::NAME, "Transfer size", method.trim_start(), views, tables))
}

/// The size with the best rate of writes, and the first where the curve is level.
fn best_and_enough(outcome: &Outcome) -> Option<[&SizeFigures; 2]> {
    let best = outcome.sizes.iter().max_by(|a, b| a.write.total_cmp(&b.write))?;
    let enough = outcome.sizes.iter().find(|figures| figures.write >= 0.9 * best.write)?;
    Some([best, enough])
}

/// The phases of what the sentence tells.
pub(super) fn phases_of_headline(outcome: &Outcome) -> Vec<String> {
    let told = best_and_enough(outcome).into_iter().flatten();
    told.map(|figures| write_phase(figures.size)).collect()
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let [best, enough] = best_and_enough(outcome)?;
    let (best, size) = (number::megabytes_per_second(best.write), number::size(enough.size));
    Some(format!("Writes of data that repeat reach 90 % of their best rate, {best}, at {size}."))
}
