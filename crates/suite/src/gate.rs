//! A gate for regressions: does a run keep its limits, and is it no worse than an earlier one?

use serde::Serialize;
use writecliff_device::Nanos;

use crate::{Outcome, RunRecord, Status, consistency};

/// Limits for the consistency test; `None` asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Least IOPS of the worst second of the steady window.
    pub min_floor_iops: Option<f64>,
    /// Least mean IOPS of the steady window.
    pub min_mean_iops: Option<f64>,
    /// Least share of the mean, in percent, in the worst second.
    pub min_floor_to_mean: Option<f64>,
    /// Longest 99th percentile of the service time in the steady window.
    pub max_p99: Option<Nanos>,
    /// Longest 99.9th percentile.
    pub max_p999: Option<Nanos>,
    /// Longest 99.99th percentile.
    pub max_p9999: Option<Nanos>,
    /// Longest service time of the whole torture.
    pub max_latency: Option<Nanos>,
}

/// One question to a run, and its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The test that it is about.
    pub test: &'static str,
    /// What was looked at.
    pub figure: String,
    /// What it is, in `unit`.
    pub got: f64,
    /// What it must be, in `unit`.
    pub bound: f64,
    /// Which side of the bound is good.
    pub good: Good,
    /// `IOPS`, `MB/s`, `ms`, `%`, `W`, or nothing.
    pub unit: &'static str,
    /// The bound's origin: an option, or the baseline's figure.
    pub because: String,
}

/// Which way a figure gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Good {
    /// More is better.
    AtLeast,
    /// Less is better.
    AtMost,
}

/// Why a gate cannot be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The run did not come to its end.
    #[error("the {test} run is not complete; a gate wants a whole run")]
    Incomplete {
        /// The test.
        test: &'static str,
    },
    /// The run failed.
    #[error("the {test} run failed, and no gate passes that: {error}")]
    Failed {
        /// The test.
        test: &'static str,
        /// What its user was told.
        error: String,
    },
    /// A limit for something that was not run.
    #[error("{option} is about the consistency test, which is not in this run; run it")]
    NoConsistency {
        /// The limit.
        option: &'static str,
    },
    /// The baseline has what the run has not.
    #[error(
        "the baseline has {}the {test} test, and the run has not; run both with the same tests",
        figure.as_ref().map_or_else(String::new, |figure| format!("'{figure}' of "))
    )]
    Missing {
        /// The test.
        test: &'static str,
        /// The figure, if the test itself is there.
        figure: Option<String>,
    },
    /// Nothing to compare.
    #[error("the run and the baseline have no test in common; compare runs of the same tests")]
    NothingInCommon,
    /// The same name, but other operations.
    #[error(
        "the trace {trace} of the run and that of its baseline are not the same; run both with one"
    )]
    OtherTrace {
        /// Its name.
        trace: String,
    },
    /// The two did not do the same.
    #[error("the {test} run and its baseline had different plans; run both with the same options")]
    OtherPlan {
        /// The test.
        test: &'static str,
    },
    /// Neither limits nor a baseline.
    #[error("a gate needs a limit, like --min-floor-iops, or a --baseline")]
    NothingAsked,
}

impl Check {
    /// Whether the answer is good.
    pub fn passes(&self) -> bool {
        match self.good {
            Good::AtLeast => self.got >= self.bound,
            Good::AtMost => self.got <= self.bound,
        }
    }
}

/// Holds the runs of one drive against limits, and against an earlier state of the same tests by
/// at most `tolerance_percent`.
///
/// # Errors
/// [`GateError`] if that cannot be said.
pub fn gate(
    runs: &[RunRecord],
    limits: &Limits,
    baseline: Option<&[RunRecord]>,
    tolerance_percent: f64,
) -> Result<Vec<Check>, GateError> {
    runs.iter().try_for_each(has_not_failed)?;
    let mut checks = limit_checks(runs, limits)?;
    if let Some(baseline) = baseline {
        checks.extend(baseline_checks(runs, baseline, tolerance_percent)?);
    }
    if checks.is_empty() { Err(GateError::NothingAsked) } else { Ok(checks) }
}

/// A test that failed closes the gate of the whole review, whatever is asked of the others.
fn has_not_failed(run: &RunRecord) -> Result<(), GateError> {
    match &run.status {
        Status::Failed { error } => {
            Err(GateError::Failed { test: run.plan.name(), error: error.clone() })
        }
        _ => Ok(()),
    }
}

fn limit_checks(runs: &[RunRecord], limits: &Limits) -> Result<Vec<Check>, GateError> {
    use Good::{AtLeast, AtMost};
    let ms = |limit: Option<Nanos>| limit.map(|limit| limit.0 as f64 / 1e6);
    let asked = [
        ("--min-floor-iops", FLOOR, limits.min_floor_iops, AtLeast),
        ("--min-mean-iops", MEAN, limits.min_mean_iops, AtLeast),
        ("--min-floor-to-mean", FLOOR_TO_MEAN, limits.min_floor_to_mean, AtLeast),
        ("--max-p99", P99, ms(limits.max_p99), AtMost),
        ("--max-p999", P999, ms(limits.max_p999), AtMost),
        ("--max-p9999", P9999, ms(limits.max_p9999), AtMost),
        ("--max-latency", LONGEST, ms(limits.max_latency), AtMost),
    ];
    let consistency = runs.iter().find(|run| run.plan.name() == consistency::NAME);
    let mut checks = Vec::new();
    for (option, figure, bound, good) in asked {
        let Some(bound) = bound else { continue };
        let run = consistency.ok_or(GateError::NoConsistency { option })?;
        let found = figures(run)?.into_iter().find(|found| found.name == figure);
        let found = found.ok_or(GateError::Incomplete { test: consistency::NAME })?;
        let because = option.to_owned();
        checks.push(found.check(run, bound, good, because));
    }
    Ok(checks)
}

fn baseline_checks(
    runs: &[RunRecord],
    baseline: &[RunRecord],
    tolerance_percent: f64,
) -> Result<Vec<Check>, GateError> {
    let mut checks = Vec::new();
    for earlier in baseline {
        let test = earlier.plan.name();
        let Some(run) = runs.iter().find(|run| run.plan.name() == test) else {
            // One test may be held against a whole review, but a review must not lack a test.
            match runs {
                [_] => continue,
                _ => return Err(GateError::Missing { test, figure: None }),
            }
        };
        if !earlier.plan.asks_as(&run.plan) {
            return Err(GateError::OtherPlan { test });
        }
        if let Some(trace) = other_trace(earlier, run) {
            return Err(GateError::OtherTrace { trace });
        }
        let mut now = figures(run)?;
        for before in figures(earlier)? {
            let place = now.iter().position(|figure| figure.name == before.name);
            let Some(place) = place else {
                return Err(GateError::Missing { test, figure: Some(before.name) });
            };
            let slack = before.value.abs() * tolerance_percent / 100.0;
            let bound = match before.good {
                Good::AtLeast => before.value - slack,
                Good::AtMost => before.value + slack,
            };
            let (unit, good) = (before.unit, before.good);
            let value = in_words(before.value, unit);
            let because = format!("baseline {value}, tolerance {tolerance_percent} %");
            checks.push(now.swap_remove(place).check(run, bound, good, because));
        }
    }
    if checks.is_empty() { Err(GateError::NothingInCommon) } else { Ok(checks) }
}

/// A trace that both runs did, and that was not the same one.
fn other_trace(earlier: &RunRecord, run: &RunRecord) -> Option<String> {
    let (Some(Outcome::StorageBench(before)), Some(Outcome::StorageBench(now))) =
        (&earlier.outcome, &run.outcome)
    else {
        return None;
    };
    let pairs = before.traces.iter().zip(&now.traces);
    let other = pairs.into_iter().find(|(before, now)| before.identity != now.identity);
    other.map(|(_, now)| now.trace.clone())
}

/// `4492 IOPS`, `7.968`: whole numbers where they say enough, else four significant digits.
pub fn in_words(value: f64, unit: &str) -> String {
    let number = match value.abs() {
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        10.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    format!("{number} {unit}").trim_end().to_owned()
}

const FLOOR: &str = "steady floor";
const MEAN: &str = "steady mean";
const FLOOR_TO_MEAN: &str = "steady floor / mean";
const P99: &str = "steady latency p99";
const P999: &str = "steady latency p99.9";
const P9999: &str = "steady latency p99.99";
const LONGEST: &str = "longest write";

/// A figure that a gate can look at.
struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    good: Good,
}

impl Figure {
    fn check(self, run: &RunRecord, bound: f64, good: Good, because: String) -> Check {
        let Self { name, value, unit, .. } = self;
        Check { test: run.plan.name(), figure: name, got: value, bound, good, unit, because }
    }
}

/// All figures of a complete run that get better one way; none of one without an outcome, such as a
/// power test without a meter.
fn figures(run: &RunRecord) -> Result<Vec<Figure>, GateError> {
    if run.status != Status::Complete {
        return Err(GateError::Incomplete { test: run.plan.name() });
    }
    let mut list = List::default();
    let Some(outcome) = &run.outcome else {
        return Ok(list.figures);
    };
    match outcome {
        Outcome::Consistency(outcome) => list.consistency("", outcome),
        Outcome::SpareArea(outcome) => outcome.settings.iter().for_each(|setting| {
            list.consistency(&format!(" at {} % spare", setting.spare_percent), &setting.outcome);
        }),
        Outcome::Trim(outcome) => {
            list.rate("clean", Some(outcome.clean));
            list.rate("dirty", outcome.dirty);
            list.rate("after TRIM", outcome.after_trim);
            list.rate("after a sequential pass", outcome.after_pass);
            list.rate("after idle time", outcome.after_idle);
        }
        Outcome::Corners(outcome) => outcome.corners.iter().for_each(|corner| {
            list.rate(&corner.corner.phase(), Some(corner.rate.megabytes_per_second));
        }),
        Outcome::Incompressible(outcome) => outcome.steps.iter().for_each(|step| {
            let percent = step.compressible_percent;
            list.rate(&format!("write, {percent} % compressible"), Some(step.write));
            list.rate(&format!("read, {percent} % compressible"), step.read);
        }),
        Outcome::TransferSize(outcome) => outcome.sizes.iter().for_each(|size| {
            list.rate(&format!("write {}", size.size.exact()), Some(size.write));
            list.rate(&format!("read {}", size.size.exact()), size.read);
        }),
        Outcome::Stutter(outcome) => {
            list.latency("small write p99.9", outcome.latency.p999_ns);
            list.latency("longest small write", outcome.latency.max_ns);
            list.push("small writes over 100 ms", outcome.over_100ms * 100.0, "%", Good::AtMost);
        }
        Outcome::StorageBench(outcome) => outcome.traces.iter().for_each(|served| {
            let name = |figure: &str| format!("{}, {figure}", served.trace);
            list.rate(&name("average data rate"), Some(served.all.megabytes_per_second));
            list.latency(&name("average service time"), served.all.service.mean_ns);
            list.latency(&name("standard deviation"), served.all.service.deviation_ns);
            list.latency(&name("p99.9"), served.all.service.percentiles.p999_ns);
        }),
        Outcome::Power(outcome) => outcome.phases.iter().for_each(|phase| {
            list.push(&format!("mean power, {}", phase.phase), phase.mean, "W", Good::AtMost);
        }),
        Outcome::SteadyState(outcome) => outcome.parts.iter().for_each(|part| {
            for cell in &part.cells {
                let (percent, size) = (cell.cell.read_percent, cell.cell.size.exact());
                let name = format!("{}, {percent} % reads of {size}", part.part.name());
                list.push(&name, cell.rate.iops, "IOPS", Good::AtLeast);
            }
        }),
        Outcome::Mixed(outcome) => outcome.jobs.iter().for_each(|job| {
            for (operation, figures) in job.operations() {
                let name = |figure: &str| format!("{} {operation}, {figure}", job.name);
                list.push(&name("rate"), figures.iops, "IOPS", Good::AtLeast);
                list.latency(&name("p99.9"), figures.latency.p999_ns);
                list.latency(&name("longest"), figures.latency.max_ns);
            }
        }),
    }
    Ok(list.figures)
}

#[derive(Default)]
struct List {
    figures: Vec<Figure>,
}

impl List {
    fn push(&mut self, name: &str, value: f64, unit: &'static str, good: Good) {
        self.figures.push(Figure { name: name.to_owned(), value, unit, good });
    }

    fn rate(&mut self, name: &str, megabytes_per_second: Option<f64>) {
        if let Some(rate) = megabytes_per_second {
            self.push(name, rate, "MB/s", Good::AtLeast);
        }
    }

    fn latency(&mut self, name: &str, nanos: u64) {
        self.push(name, nanos as f64 / 1e6, "ms", Good::AtMost);
    }

    fn consistency(&mut self, at: &str, outcome: &consistency::Outcome) {
        let steady = &outcome.steady_iops;
        let named = |name: &str| format!("{name}{at}");
        self.push(&named("fresh"), outcome.fresh_iops, "IOPS", Good::AtLeast);
        self.push(&named(MEAN), steady.mean, "IOPS", Good::AtLeast);
        self.push(&named(FLOOR), steady.floor, "IOPS", Good::AtLeast);
        let floor_to_mean = outcome.floor_to_mean * 100.0;
        self.push(&named(FLOOR_TO_MEAN), floor_to_mean, "%", Good::AtLeast);
        self.latency(&named(P99), outcome.steady_latency.p99_ns);
        self.latency(&named(P999), outcome.steady_latency.p999_ns);
        self.latency(&named(P9999), outcome.steady_latency.p9999_ns);
        self.latency(&named(LONGEST), outcome.longest_ns);
        if let Some(amplification) = outcome.steady_write_amplification {
            self.push(&named("write amplification"), amplification, "", Good::AtMost);
        }
        self.rate(&named("sequential fill"), outcome.fill_megabytes_per_second);
    }
}
