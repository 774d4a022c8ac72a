//! `writecliff gate`: a run against limits and against an earlier run, for somebody's CI.

use std::path::{Path, PathBuf};

use clap::Args;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use writecliff::{ErrorKind, Gated, gate};
use writecliff_device::{Nanos, printable};
use writecliff_output::send_text;
use writecliff_suite::gate::{Check, Limits, Of};
use writecliff_suite::{Good, beside_bound};

use crate::error::CliError;
use crate::keys;
use crate::options::{Percent, number, time};
use crate::output::{print, print_json, say};

#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// Least IOPS in the worst second of the steady window (consistency)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub(crate) min_floor_iops: Option<f64>,
    /// Least IOPS in the worst second of the whole time after the fill (consistency)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub(crate) min_worst_iops: Option<f64>,
    /// Least mean IOPS of the steady window (consistency)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub(crate) min_mean_iops: Option<f64>,
    /// Least share of the mean in the worst second of the steady window, like 80% (consistency)
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) min_floor_to_mean: Option<Percent>,
    /// Longest 99th percentile of the latency in the steady window, like 20ms (consistency)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    pub(crate) max_p99: Option<Nanos>,
    /// Longest 99.9th percentile (consistency)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    pub(crate) max_p999: Option<Nanos>,
    /// Longest 99.99th percentile (consistency)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    pub(crate) max_p9999: Option<Nanos>,
    /// Longest latency of the whole torture (consistency)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    pub(crate) max_latency: Option<Nanos>,
    /// An earlier run or review of the same tests: no figure that can be
    /// better or worse may be worse than there
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<PathBuf>,
    /// By how much a figure may be worse than the baseline's all the same
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        requires = "baseline",
        allow_hyphen_values = true
    )]
    pub(crate) tolerance: Percent,
    /// Write the checks as JUnit XML for a CI server, too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the checks as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints every check, and fails if one does. Whatever keeps it from being decided is not that.
pub(crate) fn run(path: &Path, options: &GateArguments) -> Result<(), CliError> {
    decide(path, options).map_err(|error| match error {
        CliError::GateClosed { .. } | CliError::Output { .. } => error,
        // Refused is refused, whatever was to be decided.
        refused if refused.kind() == ErrorKind::Refused => refused,
        undecided => CliError::GateUndecided(Box::new(undecided)),
    })
}

fn decide(path: &Path, options: &GateArguments) -> Result<(), CliError> {
    let limits = Limits {
        min_floor_iops: options.min_floor_iops,
        min_worst_iops: options.min_worst_iops,
        min_mean_iops: options.min_mean_iops,
        min_floor_to_mean: options.min_floor_to_mean.map(|percent| percent.0),
        max_p99: options.max_p99,
        max_p999: options.max_p999,
        max_p9999: options.max_p9999,
        max_latency: options.max_latency,
    };
    let mut gated = gate(path, &limits, options.baseline.as_deref(), options.tolerance.0)?;
    gated.checks = gated.checks.into_iter().map(keys::of_check).collect();
    // What the figures may be worth less for.
    gated.doubts.iter().for_each(|doubt| say(&format!("note: {}", printable(doubt))));
    if let Some(file) = &options.junit {
        write_junit(&gated, file)?;
    }
    match options.json {
        true => print_json(&report(&gated))?,
        false => print(&table(&gated.checks))?,
    }
    match gated.failed() {
        0 => Ok(()),
        failed => Err(CliError::GateClosed { failed, all: gated.checks.len() }),
    }
}

/// What a script gets.
#[derive(Serialize)]
struct Decision<'a> {
    pass: bool,
    checks: Vec<Decided<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Decided<'a> {
    pass: bool,
    #[serde(flatten)]
    check: &'a Check,
}

fn report(gated: &Gated) -> Decision<'_> {
    let decided = |check| Decided { pass: Check::passes(check), check };
    Decision {
        pass: gated.failed() == 0,
        checks: gated.checks.iter().map(decided).collect(),
        notes: &gated.doubts,
    }
}

fn table(checks: &[Check]) -> String {
    let line = |check: &Check| {
        let verdict = if check.passes() { "pass" } else { "FAIL" };
        format!("{verdict}  {}\n", describe(check))
    };
    checks.iter().map(line).collect()
}

/// `consistency: steady floor 4,492 IOPS, at least 5,000 IOPS (--min-floor-iops)`.
fn describe(check: &Check) -> String {
    let side = match check.good {
        Good::AtLeast => "at least",
        Good::AtMost => "at most",
    };
    let Check { test, figure, unit, because, runs, of, .. } = check;
    let [got, bound] = beside_bound(check.got, check.bound, *unit);
    let of = match of {
        _ if *runs == 1 => String::new(),
        Of::Mean => format!(" (mean of {runs} runs)"),
        Of::Worst => format!(" (worst of {runs} runs)"),
    };
    format!("{test}: {figure} {got}{of}, {side} {bound} ({because})")
}

fn write_junit(Gated { runs, checks, doubts }: &Gated, file: &Path) -> Result<(), CliError> {
    let mut suite = TestSuite::new(runs.first().map_or("", |run| run.drive.model.as_str()));
    if !doubts.is_empty() {
        suite.set_system_out(
            doubts.iter().map(|doubt| format!("note: {doubt}\n")).collect::<String>(),
        );
    }
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
        // Also of one that passes: what was asked, and who asks it.
        case.set_system_out(describe(check));
        suite.add_test_case(case);
    }
    let mut report = Report::new("writecliff gate");
    report.add_test_suite(suite);
    let text = report.to_string().map_err(|source| CliError::Junit { source })?;
    Ok(send_text(file, &text).map_err(writecliff::Error::from)?)
}
