//! What comes of a recording of jobs, and what is to be doubted of it.

use std::collections::BTreeMap;

use writecliff_device::{Bytes, Nanos, Operation, Throughput};
use writecliff_measure::{Recording, Sample, Totals};
use writecliff_workload::{Job, Of, Pace, Steady};

use super::behind::{Done, behind};
use super::outcome::{JobFigures, OperationFigures, Outcome};
use super::plan::Plan;
use super::series::{series, series_of_job};
use crate::method::change::by_chance;
use crate::method::loads::plural;
use crate::record::number::in_words;
use crate::record::rate::LatencyFigures;
use crate::record::warning::{JobWarning, MethodWarning, Warning};

impl Plan {
    /// [`JobFigures::held`] of the job of this name, whoever did it.
    pub fn held(&self, job: &str) -> Option<String> {
        held(self.jobs.iter().find(|planned| planned.name == job)?.pace)
    }

    /// Whether so much was recorded that no job that has a time was cut short.
    pub(crate) fn is_whole(&self, recorded: Nanos) -> bool {
        let timed = self.jobs.iter().filter(|job| job.time_based && job.steady.is_none());
        let ends = timed.filter_map(|job| Some(self.limit(job)?.0.saturating_sub(slack(job).0)));
        ends.max().is_none_or(|ends| recorded.0 >= ends)
    }

    /// The time of a job that was not as fast as it could be, but for what comes before its figures: to its end,
    /// be it at rest then. `None` if it has no time, or was cut short.
    fn paced_time(&self, job: &Job, recorded: Nanos) -> Option<Nanos> {
        let planned = self.limit(job).filter(|_| job.time_based && job.steady.is_none())?;
        let is_whole = job.pace != Pace::Closed && recorded + slack(job) >= planned;
        let before = Nanos::from_secs(job.before_figures().0.div_ceil(1_000_000_000));
        is_whole.then(|| Nanos(planned.0.saturating_sub(before.0)))
    }
}

pub(super) fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut jobs = Vec::new();
    // Names and operations do not depend on the drive's capacity.
    for job in plan.groups(Bytes(u64::MAX)).iter().flatten() {
        let recorded = time_of(&series_of_job(job), recording, 0).unwrap_or(Nanos::ZERO);
        let from = job.before_figures().0.div_ceil(1_000_000_000) as u32;
        let last = time_of(&series_of_job(job), recording, from);
        match last.map(|last| last.max(plan.paced_time(job, recorded).unwrap_or_default())) {
            Some(span) => {
                let mut figures =
                    figures_over((span, &|_| span), (&job.name, job.group), recording, from);
                figures.held = held(job.pace);
                warnings.extend(unevenness(job, recording));
                let done = |operation| {
                    let all = figures.operations().find(|(name, _)| *name == plural(operation));
                    all.map(|(_, figures)| Done {
                        ios: figures.ios,
                        iops: figures.iops,
                        megabytes_per_second: figures.megabytes_per_second,
                    })
                };
                let whose = format!("the job '{}'", job.name);
                let one = std::slice::from_ref(job);
                let behind = behind(&whose, one, figures.seconds, done);
                warnings.extend(behind.into_iter().map(|(_, doubt)| Warning::Job(doubt)));
                warnings.extend(brief(&figures));
                jobs.push(figures);
            }
            None => warnings.push(Warning::Job(JobWarning::NoFigures { job: job.name.clone() })),
        }
        if let Some(planned) = plan.limit(job).filter(|_| job.time_based)
            && job.steady.is_none()
            && recorded + slack(job) < planned
        {
            warnings.push(Warning::Job(JobWarning::JobCutShort {
                job: job.name.clone(),
                recorded,
                planned,
            }));
        }
    }
    for group in plan.groups(Bytes(u64::MAX)) {
        warnings.extend(never_steady(&group, recording));
    }
    ((!jobs.is_empty()).then_some(Outcome { jobs, ..Outcome::default() }), warnings)
}

/// The jobs of a group that were to end when they are steady, and were not.
fn never_steady(group: &[Job], recording: &Recording) -> Vec<Warning> {
    let is_unsteady = |job: &&Job| {
        job.steady.is_some_and(|rule| {
            let together = group.iter().filter(|other| rule.together || other.name == job.name);
            let names: Vec<String> = together.flat_map(series_of_job).collect();
            !was_steady(rule, &names, recording)
        })
    };
    let unsteady = group.iter().filter(is_unsteady);
    unsteady.map(|job| Warning::Job(JobWarning::JobNotSteady { job: job.name.clone() })).collect()
}

/// Whether these series together were steady at any time.
pub(crate) fn was_steady(rule: Steady, names: &[String], recording: &Recording) -> bool {
    let rates = rates(rule, names, recording);
    rates.windows(rule.seconds().max(1)).any(|rates| rule.is_reached(rates))
}

/// The rate of these series together, second by second from where they are judged.
fn rates(rule: Steady, names: &[String], recording: &Recording) -> Vec<f64> {
    let mut seconds = BTreeMap::<u32, f64>::new();
    let of_series = recording.samples.iter().filter(|sample| names.contains(&sample.series));
    for sample in of_series.filter(|sample| sample.is_whole()) {
        let done = match rule.of {
            Of::Iops => sample.ios(),
            Of::Bandwidth => Totals::of([sample]).bytes().0 + sample.trimmed_bytes.unwrap_or(0),
        };
        *seconds.entry(sample.second).or_default() += done as f64;
    }
    let counted = rule.after.0.div_ceil(1_000_000_000) as u32;
    seconds.into_iter().filter(|(at, _)| *at >= counted).map(|(_, rate)| rate).collect()
}

/// The first and the last third of a time may be this far apart, as a share of the larger.
const UNEVEN: f64 = 0.25;
/// The fastest tenth and the slowest: more, since a drive that goes up and down has a mean all the same.
const UNEVEN_TENTHS: f64 = 0.5;
/// A shorter part is not told from another.
const PART_SECONDS: usize = 10;

/// What all these operations of jobs did in a part of their time and in another, in IOPS, if it is so different that
/// their average hides how it changed.
pub(crate) struct Uneven {
    pub(crate) first: f64,
    pub(crate) last: f64,
    /// Whether these are the first third and the last, or else the fastest tenth and the slowest.
    pub(crate) thirds: bool,
}

/// Of what they did from this second on. Bursts and their rests fall as they fall.
pub(crate) fn uneven(
    jobs: &[Job],
    names: &[String],
    recording: &Recording,
    from: u32,
) -> Option<Uneven> {
    if jobs.iter().any(|job| matches!(job.pace, Pace::Bursts { .. })) {
        return None;
    }
    let mut seconds = BTreeMap::<u32, f64>::new();
    let samples = recording.samples.iter().filter(|sample| names.contains(&sample.series));
    for sample in samples.filter(|sample| sample.is_whole() && sample.second >= from) {
        *seconds.entry(sample.second).or_default() += sample.ios() as f64;
    }
    let ios: Vec<f64> = seconds.into_values().collect();
    // Of `count` parts of as many seconds.
    let parts = |count: usize| {
        let length = ios.len() / count;
        let sums: Vec<f64> = match length < PART_SECONDS {
            true => Vec::new(),
            false => ios.chunks_exact(length).map(|part| part.iter().sum()).collect(),
        };
        (sums, length as f64)
    };
    let uneven = |one: f64, two: f64, length: f64, thirds: bool| {
        let most = one.max(two);
        let share = if thirds { UNEVEN } else { UNEVEN_TENTHS };
        let is_apart = (one - two).abs() > share * most + by_chance(most);
        is_apart.then(|| Uneven { first: one / length, last: two / length, thirds })
    };
    let (thirds, length) = parts(3);
    uneven(*thirds.first()?, *thirds.last()?, length, true).or_else(|| {
        let (tenths, length) = parts(10);
        let slowest = tenths.iter().copied().min_by(f64::total_cmp)?;
        let fastest = tenths.iter().copied().max_by(f64::total_cmp)?;
        uneven(fastest, slowest, length, false)
    })
}

/// Whether the average of a job hides how it changed.
fn unevenness(job: &Job, recording: &Recording) -> Option<Warning> {
    // A flush comes of a write.
    let operations = job.operations().filter(|operation| *operation != Operation::Flush);
    let names: Vec<String> = operations.map(|operation| series(&job.name, operation)).collect();
    let Uneven { first, last, thirds } = uneven(std::slice::from_ref(job), &names, recording, 0)?;
    let (job, of_tenths) = (job.name.clone(), !thirds);
    Some(Warning::Job(JobWarning::Uneven { job, is_step: false, of_tenths, first, last }))
}

/// A job that was over sooner...
const BRIEF: f64 = 0.1;
/// ... and did fewer I/Os says how long those took, and no rate.
const FEW: u64 = 100;

fn brief(figures: &JobFigures) -> Option<Warning> {
    let (part, lasted) =
        (format!("The job '{}'", figures.name), Nanos((figures.seconds * 1e9) as u64));
    let ios: u64 = figures.operations().map(|(_, figures)| figures.ios).sum();
    (figures.seconds < BRIEF && ios < FEW)
        .then_some(Warning::Method(MethodWarning::Brief { part, lasted }))
}

/// What keeps a job of this pace from being as fast as the drive is.
fn held(pace: Pace) -> Option<String> {
    let rate = |rate: Throughput| in_words(rate.0 as f64 / 1e6, "MB/s");
    let asked = |what: String| Some(format!("{what} asked for"));
    match pace {
        Pace::Closed => None,
        Pace::Think { rest, every: 1 } => Some(format!("with {rest} of rest after each")),
        Pace::Think { rest, every } => Some(format!("with {rest} of rest after every {every}")),
        Pace::Muse { mean } => Some(format!("with {mean} of rest after each, on average")),
        Pace::Rate(asked_for) | Pace::Scatter(asked_for) => asked(rate(asked_for)),
        Pace::Bursts { rate: asked_for, rest, every } => {
            let rests = format!("with {rest} of rest after every {every}");
            Some(format!("{} asked for, {rests}", rate(asked_for)))
        }
        Pace::Iops(iops) | Pace::Arrivals { iops, .. } => asked(in_words(iops as f64, "IOPS")),
        Pace::Rates { read, write } => {
            asked(format!("{} of reads and {} of writes", rate(read), rate(write)))
        }
    }
}

/// How much before its time a job may have begun its last I/O.
fn slack(job: &Job) -> Nanos {
    let second = Nanos::from_secs(1);
    let mean_step = |job: &Job| job.pace.mean_step(job.transfer_size_max());
    match job.pace {
        Pace::Think { rest, .. } | Pace::Bursts { rest, .. } => second + rest + mean_step(job),
        Pace::Muse { mean } => second + Nanos(mean.0.saturating_mul(2)),
        Pace::Rates { .. } => second,
        // Of a thousand million exponential gaps one is longer than 20 mean ones.
        Pace::Arrivals { .. } => second + mean_step(job) * 20,
        _ => second + mean_step(job),
    }
}

/// From a second on to the end of the last I/O of these series, whatever its operation; `None` if there was
/// none.
fn time_of(names: &[String], recording: &Recording, from: u32) -> Option<Nanos> {
    let of_job = |sample: &&Sample| sample.second >= from && names.contains(&sample.series);
    let start = recording.samples.iter().filter(of_job).map(|sample| sample.start_ns).min()?;
    let active = recording.samples.iter().filter(of_job).filter(|sample| sample.ios() > 0);
    let end = active.map(|sample| sample.start_ns + sample.span_ns).max()?;
    Some(Nanos(end - start))
}

/// The figures of a job of this name and group, from a second on: how long it took, and how long each of its series,
/// over which its rates are.
pub(super) fn figures_over(
    (span, of_series): (Nanos, &dyn Fn(&str) -> Nanos),
    (job, group): (&str, u32),
    recording: &Recording,
    from: u32,
) -> JobFigures {
    let samples = |name: &str| -> Vec<&Sample> {
        let all = recording.samples.iter();
        all.filter(|sample| sample.series == name && sample.second >= from).collect()
    };
    let of = |operation| {
        let name = series(job, operation);
        let samples = samples(&name);
        let latency = LatencyFigures::of(recording, &name, from..u32::MAX);
        OperationFigures::of(&samples, of_series(&name), latency)
    };
    JobFigures {
        name: job.to_owned(),
        group,
        seconds: span.as_secs_f64(),
        held: None,
        reads: of(Operation::Read),
        writes: of(Operation::Write),
        trims: of(Operation::Trim),
        flushes: of(Operation::Flush),
    }
}
