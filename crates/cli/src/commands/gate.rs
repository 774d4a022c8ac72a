//! `writecliff gate`: a run against limits and against an earlier run, for somebody's CI.

use std::path::{Path, PathBuf};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use writecliff_device::printable;
use writecliff_output::send_text;
use writecliff_suite::gate::{Check, GateError, Limits, gate, in_words};
use writecliff_suite::{Good, Review, RunRecord};

use super::{print, say};
use crate::args::GateOptions;
use crate::error::CliError;
use crate::keys;

/// Prints every check, and fails if one does. Whatever keeps it from being decided is not that.
pub(crate) fn run(path: &Path, options: &GateOptions) -> Result<(), CliError> {
    decide(path, options).map_err(|error| match error {
        CliError::GateClosed { .. } | CliError::Output { .. } => error,
        // Refused is refused, whatever was to be decided.
        CliError::Destination(ref refused) if refused.is_refusal() => error,
        undecided => CliError::GateUndecided(Box::new(undecided)),
    })
}

fn decide(path: &Path, options: &GateOptions) -> Result<(), CliError> {
    let runs = records(path)?;
    let baseline = options.baseline.as_deref().map(records).transpose()?;
    let limits = Limits {
        min_floor_iops: options.min_floor_iops,
        min_mean_iops: options.min_mean_iops,
        min_floor_to_mean: options.min_floor_to_mean.map(|percent| percent.0),
        max_p99: options.max_p99,
        max_p999: options.max_p999,
        max_p9999: options.max_p9999,
        max_latency: options.max_latency,
    };
    let checks = gate(&runs, &limits, baseline.as_deref(), options.tolerance.0)?;
    let checks: Vec<Check> = checks.into_iter().map(keys::of_check).collect();
    note_doubts(&runs, baseline.as_deref());
    if let Some(file) = &options.junit {
        write_junit(&checks, &runs, file)?;
    }
    let text = match options.json {
        true => format!("{}\n", serde_json::to_string_pretty(&checks).unwrap_or_default()),
        false => table(&checks),
    };
    print(&text)?;
    match checks.iter().filter(|check| !check.passes()).count() {
        0 => Ok(()),
        failed => Err(CliError::GateClosed { failed, all: checks.len() }),
    }
}

/// The records of a run, or of all runs of a review.
fn records(path: &Path) -> Result<Vec<RunRecord>, CliError> {
    let paths: Vec<PathBuf> = match Review::is_at(path) {
        true => {
            let tests = Review::open(path)?.tests;
            if let Some(missing) = tests.iter().find(|test| !path.join(&test.directory).exists()) {
                return Err(GateError::Incomplete { test: missing.plan.name() }.into());
            }
            tests.iter().map(|test| path.join(&test.directory)).collect()
        }
        false => vec![path.to_owned()],
    };
    let open = |path: &PathBuf| Ok(writecliff_suite::open(path)?.0);
    paths.iter().map(open).collect()
}

/// Says on standard error what the figures may be worth less for.
fn note_doubts(runs: &[RunRecord], baseline: Option<&[RunRecord]>) {
    let mut notes = Vec::new();
    for run in runs {
        let test = run.plan.name();
        notes.extend(run.warnings.iter().map(|warning| format!("{test}: {warning}")));
        let earlier = baseline.into_iter().flatten().find(|run| run.plan.name() == test);
        if let Some(earlier) = earlier.filter(|earlier| earlier.drive.model != run.drive.model) {
            let (this, other) = (&run.drive.model, &earlier.drive.model);
            notes.push(format!("{test}: this is {this}, and the baseline is {other}"));
        }
    }
    for note in notes {
        say(&format!("note: {}", printable(&note)));
    }
}

fn table(checks: &[Check]) -> String {
    let line = |check: &Check| {
        let verdict = if check.passes() { "pass" } else { "FAIL" };
        format!("{verdict}  {}\n", describe(check))
    };
    checks.iter().map(line).collect()
}

/// `consistency: steady floor 4492 IOPS, at least 5000 (--min-floor-iops)`.
fn describe(check: &Check) -> String {
    let side = match check.good {
        Good::AtLeast => "at least",
        Good::AtMost => "at most",
    };
    let Check { test, figure, unit, because, .. } = check;
    let (got, bound) = (in_words(check.got, *unit), in_words(check.bound, *unit));
    format!("{test}: {figure} {got}, {side} {bound} ({because})")
}

fn write_junit(checks: &[Check], runs: &[RunRecord], file: &Path) -> Result<(), CliError> {
    let mut suite = TestSuite::new(runs.first().map_or("", |run| run.drive.model.as_str()));
    for check in checks {
        let status = if check.passes() {
            TestCaseStatus::success()
        } else {
            let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failed.set_message(describe(check));
            failed
        };
        let mut case = TestCase::new(check.figure.clone(), status);
        case.set_classname(format!("writecliff.{}", check.test));
        suite.add_test_case(case);
    }
    let mut report = Report::new("writecliff gate");
    report.add_test_suite(suite);
    let text = report.to_string().map_err(|source| CliError::Junit { source })?;
    Ok(send_text(file, &text)?)
}
