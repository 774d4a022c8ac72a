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

use writecliff_suite::{FigureOf, Outcome, Unit};

use crate::Run;
use crate::picture::{Bar, nth_style};
use crate::run::NONE;
use crate::section::{Cell, Row, Section};
use crate::subject::Subjects;

/// Makes from the list of parts all that depends on which there are. It does not compile without a
/// line for each test.
macro_rules! sections {
    ($($test:ident $module:ident)*) => {
        /// The parts that any of the drives has something for.
        pub(crate) fn sections(subjects: &Subjects<'_>) -> Vec<Section> {
            let all: [fn(&Subjects<'_>) -> Option<Section>; _] = [$($module::section),*];
            all.iter().filter_map(|section| section(subjects)).collect()
        }

        /// What a test found, in a sentence; `None` if the verdict in five sentences has it, or if
        /// it found nothing.
        pub(crate) fn headline(outcome: &Outcome) -> Option<String> {
            match outcome { $(Outcome::$test(outcome) => $module::headline(outcome),)* }
        }

        $(impl OfTest for writecliff_suite::$module::Outcome {
            fn of(outcome: &Outcome) -> Option<&Self> {
                match outcome {
                    Outcome::$test(outcome) => Some(outcome),
                    _ => None,
                }
            }
        })*
    };
}

sections! {
    Consistency consistency
    SpareArea spare_area
    Trim trim
    Corners corners
    Incompressible incompressible
    TransferSize transfer_size
    Stutter stutter
    StorageBench storage_bench
    Power power
    SteadyState steady_state
    Mixed mixed
}

/// The outcome of one test.
trait OfTest: Sized {
    /// `None` if it is of another test.
    fn of(outcome: &Outcome) -> Option<&Self>;
}

/// A drive's answer to a test.
struct Answer<'a, T> {
    subject: usize,
    run: &'a Run,
    outcome: &'a T,
}

/// The answers to a test, one for each drive that has one: the latest.
fn answers<'a, T: OfTest + 'a>(subjects: &Subjects<'a>) -> Vec<Answer<'a, T>> {
    let mut answers: Vec<Answer<'a, T>> = Vec::new();
    for (subject, run) in subjects.runs() {
        if let Some(outcome) = run.record.outcome.as_ref().and_then(T::of) {
            answers.retain(|answer| answer.subject != subject);
            answers.push(Answer { subject, run, outcome });
        }
    }
    answers
}

/// A row of a table of figures, with a value for each of the outcomes.
fn figure_row<'a, T: 'a>(
    figure: &FigureOf<T>,
    outcomes: impl Iterator<Item = Option<&'a T>>,
    words: impl Fn(f64, Unit) -> String,
) -> Row {
    let cell = |outcome: Option<&T>| {
        let number = outcome.and_then(figure.value);
        let text = number.map_or_else(|| NONE.to_owned(), |value| words(value, figure.unit));
        Cell { text, number }
    };
    let (name, meaning) = (figure.label.to_owned(), figure.meaning.to_owned());
    Row { name, values: outcomes.map(cell).collect(), meaning, good: Some(figure.good) }
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
        let (name, style) = (subjects.full_name(answer.subject), nth_style(answer.subject));
        Some(Bar { name, value, error: None, words: words(value), style })
    };
    answers.iter().filter_map(bar).collect()
}

/// The highest first.
fn highest_first(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    bars
}
