//! The tests' parts of the page, a file each, in the order of the page.

pub(crate) mod consistency;
mod corners;
mod curves;
mod incompressible;
mod mixed;
mod power;
mod spare_area;
pub(crate) mod specification;
mod steady_state;
mod storage_bench;
mod stutter;
mod transfer_size;
mod trim;

use writecliff_suite::Outcome;

use crate::Run;
use crate::picture::{Bar, nth_colour};
use crate::section::Section;
use crate::subject::Subjects;

/// The parts that any of the drives has something for.
pub(crate) fn sections(subjects: &Subjects<'_>) -> Vec<Section> {
    let all: [fn(&Subjects<'_>) -> Option<Section>; 11] = [
        consistency::section,
        spare_area::section,
        trim::section,
        corners::section,
        incompressible::section,
        transfer_size::section,
        stutter::section,
        storage_bench::section,
        power::section,
        steady_state::section,
        mixed::section,
    ];
    all.iter().filter_map(|section| section(subjects)).collect()
}

/// A drive's answer to a test.
struct Answer<'a, T> {
    subject: usize,
    run: &'a Run,
    outcome: &'a T,
}

/// The answers that `pick` finds, one for each drive that has one: the latest.
fn answers<'a, T>(
    subjects: &Subjects<'a>,
    pick: impl Fn(&'a Outcome) -> Option<&'a T>,
) -> Vec<Answer<'a, T>> {
    let mut answers: Vec<Answer<'a, T>> = Vec::new();
    for (subject, run) in subjects.runs() {
        if let Some(outcome) = run.record.outcome.as_ref().and_then(&pick) {
            answers.retain(|answer| answer.subject != subject);
            answers.push(Answer { subject, run, outcome });
        }
    }
    answers
}

/// A bar for each drive that has a value.
fn bars<T>(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, T>],
    value: impl Fn(&T) -> Option<f64>,
    words: impl Fn(f64) -> String,
) -> Vec<Bar> {
    let bar = |answer: &Answer<'_, T>| {
        let value = value(answer.outcome)?;
        let (name, colour) = (subjects.full_name(answer.subject), nth_colour(answer.subject));
        Some(Bar { name, value, words: words(value), colour })
    };
    answers.iter().filter_map(bar).collect()
}

/// The highest first.
fn highest_first(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    bars
}
