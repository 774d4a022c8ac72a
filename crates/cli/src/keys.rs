//! What libraries call by the name of a field, as it is typed here.

use writecliff_suite::gate::{Check, GateError};
use writecliff_suite::{PlanError, ReviewError, RunError};

/// Fields that are options of a command.
const OPTIONS: [(&str, &str); 11] = [
    ("duration", "--duration"),
    ("spare", "--spare"),
    ("traces", "--traces"),
    ("speed", "--speed"),
    ("min_floor_iops", "--min-floor-iops"),
    ("min_mean_iops", "--min-mean-iops"),
    ("min_floor_to_mean", "--min-floor-to-mean"),
    ("max_p99", "--max-p99"),
    ("max_p999", "--max-p999"),
    ("max_p9999", "--max-p9999"),
    ("max_latency", "--max-latency"),
];

/// The option of this field, or the field if it is none.
fn as_typed(key: &str) -> &str {
    OPTIONS.iter().find(|(field, _)| *field == key).map_or(key, |(_, option)| option)
}

pub(crate) fn of_plan(error: &PlanError) -> String {
    let PlanError { option, got, reason } = error;
    format!("{} {got} is not possible: {reason}", as_typed(option))
}

pub(crate) fn of_run(error: &RunError) -> String {
    match error {
        RunError::Plan(error) => of_plan(error),
        error => error.to_string(),
    }
}

pub(crate) fn of_review(error: &ReviewError) -> String {
    match error {
        ReviewError::Plan(error) => of_plan(error),
        ReviewError::NotAmong { option, got, test } => format!(
            "{} {got} is not possible: {test} is not among the tests; add it by --with {test}",
            as_typed(option)
        ),
        ReviewError::NotEmpty { path } => format!(
            "{} is not empty; give --out a new directory, or go on with an interrupted review by \
             --resume",
            path.display()
        ),
        error => error.to_string(),
    }
}

pub(crate) fn of_gate(error: &GateError) -> String {
    match error {
        GateError::NoConsistency { limit } => format!(
            "{} is about the consistency test, which is not in this run; run it",
            as_typed(limit)
        ),
        GateError::NothingAsked => {
            "a gate needs a limit, like --min-floor-iops, or a --baseline".to_owned()
        }
        error => error.to_string(),
    }
}

/// The same with limits as they are typed.
pub(crate) fn of_check(check: Check) -> Check {
    Check { because: as_typed(&check.because).to_owned(), ..check }
}
