//! A gate for regressions: does a run keep its limits, and is it no worse than an earlier one?

use serde::Serialize;
use writecliff_device::{ErrorKind, Nanos};

use crate::list::{Outcome, RunRecord};
use crate::record::figure::{Figure, Good};
use crate::record::figure_statistics::FigureStatistics;
use crate::record::judged::{Judged, Unjudged};
use crate::record::number::{beside_bound, in_words};
use crate::record::rate::may_be_within;
use crate::record::run_record::Status;
use crate::record::unit::Unit;
use crate::record::warning::WindowState;
use crate::tests::consistency::Plan as Consistency;
use crate::tests::consistency::figures::{
    FLOOR, FLOOR_TO_MEAN, LONGEST, MEAN, P99, P999, P9999, WORST,
};

/// Limits for the consistency test; `None` asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Least IOPS of the worst second of the steady window.
    pub min_floor_iops: Option<f64>,
    /// Least IOPS of the worst second of the whole time after the fill.
    pub min_worst_iops: Option<f64>,
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

impl Limits {
    /// Whether there is anything to hold a run against.
    ///
    /// # Errors
    /// [`GateError::NothingAsked`].
    pub fn ask_something(&self, has_baseline: bool) -> Result<(), GateError> {
        match *self == Self::default() && !has_baseline {
            true => Err(GateError::NothingAsked),
            false => Ok(()),
        }
    }
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
    /// What it counts.
    pub unit: Unit,
    /// The bound's origin: the limit's field in [`Limits`], or the baseline's figure.
    pub because: String,
    /// How many runs the figure is of.
    pub runs: usize,
    /// What `got` is of them, if there are several.
    pub of: Of,
}

/// What is held against a bound where a test ran several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// The worst run: what must be is so in each.
    Worst,
    /// Their mean: what single runs do by chance is no regression.
    Mean,
}

/// The runs of one test: one, or repeats of it. At least one.
type Group<'a> = Vec<&'a RunRecord>;

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
    /// Repeats of a run are missing.
    #[error(
        "only {there} of {asked} repeats of the {test} run came to their end; a gate wants all"
    )]
    RepeatsMissing {
        /// The test.
        test: &'static str,
        /// Repeats that are complete.
        there: usize,
        /// Those that were asked for.
        asked: u32,
    },
    /// The run failed.
    #[error("the {test} run failed, and no gate passes that: {error}")]
    Failed {
        /// The test.
        test: &'static str,
        /// What its user was told.
        error: String,
    },
    /// A limit for a figure that the run was too short to have.
    #[error(
        "{limit} is about the {test} test's '{figure}', which {} not have; it takes a longer run",
        match (missing, runs) {
            (_, 1) => "this run does".to_owned(),
            _ => format!("{missing} of {runs} runs do"),
        }
    )]
    NoFigure {
        /// The limit's field in [`Limits`].
        limit: &'static str,
        /// The test.
        test: &'static str,
        /// The figure.
        figure: &'static str,
        /// How many runs lack it.
        missing: usize,
        /// How many there are.
        runs: usize,
    },
    /// A limit for the steady state, which the run does not show.
    #[error(
        "{limit} is about the steady state of the {test} test ('{figure}'), which {} not come to: {doubt}",
        match (unsteady, runs) {
            (_, 1) => "this run does".to_owned(),
            _ => format!("{unsteady} of {runs} runs do"),
        }
    )]
    NotSteady {
        /// The limit's field in [`Limits`].
        limit: &'static str,
        /// The test.
        test: &'static str,
        /// The figure.
        figure: &'static str,
        /// What the first run that shows none says of it.
        doubt: String,
        /// How many runs show none.
        unsteady: usize,
        /// How many there are.
        runs: usize,
    },
    /// A limit so close below a percentile that it may be kept.
    #[error(
        "{limit} asks for {bound} at most, and the {test} test's '{figure}', {got}, may be that: percentiles are at \
         most 0.8 % lower than told; ask for a limit that is farther from it"
    )]
    WithinStep {
        /// The limit's field in [`Limits`].
        limit: &'static str,
        /// The test.
        test: &'static str,
        /// The figure.
        figure: &'static str,
        /// What it is told as, with its unit.
        got: String,
        /// The limit, with its unit.
        bound: String,
    },
    /// A limit for something that was not run.
    #[error("{limit} is about the consistency test, which is not in this run; run it")]
    NoConsistency {
        /// The limit's field in [`Limits`].
        limit: &'static str,
    },
    /// The baseline has what the run has not.
    #[error(
        "the baseline has {}the {test} test, and the run has not; {}",
        figure.as_ref().map_or_else(String::new, |figure| format!("'{figure}' of ")),
        match figure {
            Some(_) => "hold drives against each other that both have it",
            None => "run both with the same tests",
        }
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
    #[error(
        "the {test} run and its baseline had different plans; run both with the same options and the same seed"
    )]
    OtherPlan {
        /// The test.
        test: &'static str,
    },
    /// A target that the run itself did not judge.
    #[error(
        "the target for '{figure}' was not judged{}",
        why.as_ref().map_or_else(String::new, |why| format!(": {why}"))
    )]
    NotJudged {
        /// The target's figure.
        figure: String,
        /// Why it was not, if the run tells.
        why: Option<Unjudged>,
    },
    /// Neither limits nor a baseline.
    #[error("a gate needs a limit, like min_floor_iops, or a baseline")]
    NothingAsked,
}

impl GateError {
    /// A run that failed closes the gate; all else is a question that cannot be decided.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Failed { .. } => ErrorKind::Failed,
            _ => ErrorKind::Usage,
        }
    }
}

impl Check {
    fn new(group: &Group<'_>, found: Figure, bound: f64, of: Of, because: String) -> Self {
        let Figure { name, value, unit, good, .. } = found;
        let (test, runs) = (group[0].plan.name(), group.len());
        Self { test, figure: name, got: value, bound, good, unit, because, runs, of }
    }

    /// Whether the answer is good.
    pub fn passes(&self) -> bool {
        match self.good {
            Good::AtLeast => self.got >= self.bound,
            Good::AtMost => self.got <= self.bound,
        }
    }
}

/// Holds the runs of one drive against limits, and against an earlier state of the same tests by
/// at most `tolerance_percent`. Where a test is there several times, each of its runs keeps the limits,
/// and the means are held against the baseline's.
///
/// # Errors
/// [`GateError`] if that cannot be said.
pub fn gate(
    runs: &[RunRecord],
    limits: &Limits,
    baseline: Option<&[RunRecord]>,
    tolerance_percent: f64,
) -> Result<Vec<Check>, GateError> {
    let asks_itself = runs.iter().any(|run| !targets(run).is_empty());
    limits.ask_something(baseline.is_some() || asks_itself)?;
    runs.iter().try_for_each(has_not_failed)?;
    let groups = by_test(runs);
    let mut checks = limit_checks(&groups, limits)?;
    for group in &groups {
        checks.extend(target_checks(group)?);
    }
    if let Some(baseline) = baseline {
        checks.extend(baseline_checks(&groups, &by_test(baseline), tolerance_percent)?);
    }
    Ok(checks)
}

fn by_test(runs: &[RunRecord]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| group[0].plan.name() == run.plan.name()) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

/// A test that failed closes the gate of the whole review, whatever is asked of the others, and so does
/// a drive that does not keep what is written to it.
fn has_not_failed(run: &RunRecord) -> Result<(), GateError> {
    match &run.status {
        Status::Failed { error } => {
            Err(GateError::Failed { test: run.plan.name(), error: error.clone() })
        }
        _ => run.lost_data().map_or(Ok(()), |lost| {
            Err(GateError::Failed { test: run.plan.name(), error: lost.to_string() })
        }),
    }
}

fn limit_checks(groups: &[Group<'_>], limits: &Limits) -> Result<Vec<Check>, GateError> {
    let ms = |limit: Option<Nanos>| limit.map(|limit| limit.0 as f64 / 1e6);
    let asked = [
        ("min_floor_iops", FLOOR, limits.min_floor_iops),
        ("min_worst_iops", WORST, limits.min_worst_iops),
        ("min_mean_iops", MEAN, limits.min_mean_iops),
        ("min_floor_to_mean", FLOOR_TO_MEAN, limits.min_floor_to_mean),
        ("max_p99", P99, ms(limits.max_p99)),
        ("max_p999", P999, ms(limits.max_p999)),
        ("max_p9999", P9999, ms(limits.max_p9999)),
        ("max_latency", LONGEST, ms(limits.max_latency)),
    ];
    let of_the_whole_time = [WORST, LONGEST];
    let test = Consistency::NAME;
    let consistency = groups.iter().find(|group| group[0].plan.name() == test);
    let mut checks = Vec::new();
    for (limit, figure, bound) in asked {
        let Some(bound) = bound else { continue };
        let group = consistency.ok_or(GateError::NoConsistency { limit })?;
        let all = judged(group)?.into_iter().find(|all| all.figure.name == figure);
        let missing = group.len() - all.as_ref().map_or(0, |all| all.count);
        let Some(all) = all.filter(|_| missing == 0) else {
            return Err(GateError::NoFigure { limit, test, figure, missing, runs: group.len() });
        };
        if !of_the_whole_time.contains(&figure) {
            is_steady(group, limit, figure)?;
        }
        let worst = match all.figure.good {
            Good::AtLeast => all.lowest,
            Good::AtMost => all.highest,
        };
        if [P99, P999, P9999].contains(&figure) && may_be_within(worst, bound) {
            let [got, bound] = beside_bound(worst, bound, all.figure.unit);
            return Err(GateError::WithinStep { limit, test, figure, got, bound });
        }
        let found = Figure { value: worst, ..all.figure };
        checks.push(Check::new(group, found, bound, Of::Worst, limit.to_owned()));
    }
    Ok(checks)
}

/// Whether a limit for a figure of the steady state can be asked of these runs.
fn is_steady(
    group: &Group<'_>,
    limit: &'static str,
    figure: &'static str,
) -> Result<(), GateError> {
    let doubt = |run: &&RunRecord| {
        let worst = run.warnings.iter().max_by_key(|doubt| doubt.window_state());
        worst.filter(|doubt| doubt.window_state() != WindowState::Settled).map(ToString::to_string)
    };
    let doubts: Vec<String> = group.iter().filter_map(doubt).collect();
    let (test, unsteady, runs) = (group[0].plan.name(), doubts.len(), group.len());
    match doubts.into_iter().next() {
        Some(doubt) => Err(GateError::NotSteady { limit, test, figure, doubt, unsteady, runs }),
        None => Ok(()),
    }
}

fn targets(run: &RunRecord) -> Vec<Judged> {
    run.outcome.as_ref().map(Outcome::targets).unwrap_or_default()
}

/// What the runs themselves ask, each of its own figures.
fn target_checks(group: &Group<'_>) -> Result<Vec<Check>, GateError> {
    let mut checks = Vec::new();
    for run in group {
        let test = run.plan.name();
        let targets = targets(run);
        if !targets.is_empty() && run.status != Status::Complete {
            return Err(GateError::Incomplete { test });
        }
        // A target that was missed decides, whatever else was not judged.
        let is_missed = targets.iter().any(|target| target.passes == Some(false));
        for target in targets {
            let (unit, good) = (target.unit(), target.good());
            let Judged { figure, got, bound, passes, unjudged: why, source, .. } = target;
            let (Some(got), Some(_)) = (got, passes) else {
                if is_missed {
                    continue;
                }
                return Err(GateError::NotJudged { figure, why });
            };
            checks.push(Check {
                test,
                figure,
                got,
                bound,
                good,
                unit,
                because: source,
                runs: 1,
                of: Of::Worst,
            });
        }
    }
    Ok(checks)
}

fn baseline_checks(
    groups: &[Group<'_>],
    baseline: &[Group<'_>],
    tolerance_percent: f64,
) -> Result<Vec<Check>, GateError> {
    let mut checks = Vec::new();
    for before in baseline {
        let earlier = before[0];
        let test = earlier.plan.name();
        let Some(group) = groups.iter().find(|group| group[0].plan.name() == test) else {
            // One test may be held against a whole review, but a review must not lack a test.
            match groups {
                [_] => continue,
                _ => return Err(GateError::Missing { test, figure: None }),
            }
        };
        let run = group[0];
        if !earlier.plan.asks_as(&run.plan) {
            return Err(GateError::OtherPlan { test });
        }
        let outcomes = run.outcome.as_ref().zip(earlier.outcome.as_ref());
        if let Some(trace) = outcomes.and_then(|(now, before)| now.other_input(before)) {
            return Err(GateError::OtherTrace { trace });
        }
        let mut now = judged(group)?;
        for FigureStatistics { figure: before, .. } in judged(before)? {
            let place = now.iter().position(|all| all.figure.name == before.name);
            let Some(place) = place else {
                return Err(GateError::Missing { test, figure: Some(before.name) });
            };
            let slack = before.value.abs() * tolerance_percent / 100.0;
            let bound = match before.good {
                Good::AtLeast => before.value - slack,
                Good::AtMost => before.value + slack,
            };
            let value = in_words(before.value, before.unit);
            let because = format!("baseline {value}, tolerance {tolerance_percent} %");
            let found = now.swap_remove(place).figure;
            checks.push(Check::new(group, found, bound, Of::Mean, because));
        }
    }
    if checks.is_empty() { Err(GateError::NothingInCommon) } else { Ok(checks) }
}

/// The figures of complete runs that a gate holds them to; none of one without an outcome, such as a
/// power test without a meter.
fn judged(group: &Group<'_>) -> Result<Vec<FigureStatistics>, GateError> {
    if let Some(run) = group.iter().find(|run| run.status != Status::Complete) {
        return Err(GateError::Incomplete { test: run.plan.name() });
    }
    let figures: Vec<_> = group.iter().map(|run| run.figures()).collect();
    let all = FigureStatistics::of(&figures).into_iter();
    Ok(all.filter(|all| all.figure.judged).collect())
}
