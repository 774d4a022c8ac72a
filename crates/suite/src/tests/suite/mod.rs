//! Suite: does the drive keep what is asked of it under published loads?
//!
//! A list of steps, each a load of [`mixed`] with targets: least rates, longest service times.
//! Steps that prepare the drive come first. What a step's jobs do together is judged, as fio
//! reports a group: one series for its reads, one for its writes, one for its trims.

mod published;
mod step;
mod target;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Recording, Sample, Totals};
use writecliff_workload::Job;

pub use published::FioSynthError;
pub use step::{JobText, Step, Variable};
pub use target::{Limit, Measure, Target, terabytes};

pub use crate::record::judged::Judged;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::PlanError;
use crate::method::loads::{plural, series};
use crate::method::quick::QUICK_MEASUREMENT;
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Test};
use crate::record::figure::Figure;
use crate::record::figure::millis;
use crate::record::rate::LatencyFigures;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;
use crate::record::warning::job::JobWarning;
use crate::tests::mixed::{self, Prepare};

/// The suite that is run without a file.
const OCP: &str = include_str!("ocp.toml");

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the suite is, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How often the steps that are judged are gone through.
    #[serde(default = "once")]
    pub cycles: u32,
    /// Whether the drive is prepared before the first cycle only.
    #[serde(default)]
    pub prepare_once: bool,
    /// No step lasts longer; one that is cut short is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
    /// Decides everything that is random.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// The steps.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

fn once() -> u32 {
    1
}

fn first_seed() -> u64 {
    1
}

impl Default for Plan {
    /// The suite that ships.
    fn default() -> Self {
        toml::from_str(OCP).expect("the suite that ships is one")
    }
}

/// A step in its turn.
struct Turn<'a> {
    name: String,
    step: &'a Step,
    number: u64,
}

impl Plan {
    /// All that is done, one after the other, on a drive of this capacity.
    fn turns(&self, capacity: Bytes) -> Vec<Turn<'_>> {
        let fits = |step: &&Step| step.needs.is_none_or(|needs| needs <= capacity);
        let of = |prepares| self.steps.iter().filter(move |step| step.prepares == prepares);
        let mut turns = Vec::new();
        for cycle in 1..=self.cycles {
            let prepares = cycle == 1 || !self.prepare_once;
            let steps = of(true).filter(|_| prepares).chain(of(false));
            for step in steps.filter(fits) {
                let name = match cycle {
                    1 => step.name.clone(),
                    _ => format!("{}, cycle {cycle}", step.name),
                };
                turns.push(Turn { name, step, number: turns.len() as u64 });
            }
        }
        turns
    }

    /// The turn as a plan of jobs.
    fn mixed(&self, turn: &Turn<'_>, capacity: Bytes) -> Result<mixed::Plan, PlanError> {
        let mut jobs = turn.step.jobs(capacity)?;
        if self.duration.is_some() {
            // A ramp alone is longer than what is left.
            jobs.iter_mut()
                .for_each(|job| (job.ramp, job.start_delay) = (Nanos::ZERO, Nanos::ZERO));
        }
        Ok(mixed::Plan {
            title: None,
            prepare: Prepare::Nothing,
            duration: self.duration,
            span: None,
            seed: self.seed.wrapping_add(turn.number << 32),
            jobs,
        })
    }

    fn check_step(&self, turn: &Turn<'_>, drive: &DeviceInfo) -> Result<(), PlanError> {
        let step = turn.step;
        let plan = self.mixed(turn, drive.capacity)?;
        if plan.jobs.is_empty() {
            let file = step.file.as_deref();
            return Err(step.wrong(match file {
                Some(file) => format!("{file} was not read; run the suite from its own file"),
                None => "it has no jobs; give it file, fio or [[step.job]]".to_owned(),
            }));
        }
        if plan.jobs.iter().any(|job| job.group != plan.jobs[0].group) {
            let reason = "its jobs are in several groups (stonewall); make a step of each";
            return Err(step.wrong(reason.to_owned()));
        }
        let in_step = |error: PlanError| step.wrong(error.to_string());
        plan.check(drive).map_err(in_step)?;
        step.targets.iter().try_for_each(Target::check).map_err(in_step)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "suite";
    const QUESTION: &'static str =
        "does the drive keep what is asked of it under published loads of data centres?";
    const REVIEWS: InReviews = InReviews::ByName;

    fn purges(&self) -> bool {
        false
    }

    fn writes(&self) -> bool {
        // A job's operations do not depend on the drive's size.
        let writes = |step: &Step| {
            step.trim_before
                || step
                    .jobs(Bytes(1_000_000_000_000))
                    .is_ok_and(|jobs| jobs.iter().any(Job::writes))
        };
        self.steps.iter().any(writes)
    }

    /// Only shorter: loads in percent and gigabytes of a drive have no room in a part of it.
    fn quick(self) -> Self {
        let duration = self.duration.map_or(QUICK_MEASUREMENT, |own| own.min(QUICK_MEASUREMENT));
        Self { duration: Some(duration), cycles: 1, ..self }
    }

    fn fitted(mut self, drive: &DeviceInfo) -> Self {
        let steps = std::mem::take(&mut self.steps);
        let fits = |step: &Step| {
            let turn = Turn { name: step.name.clone(), step, number: 0 };
            self.check_step(&turn, drive).is_ok()
        };
        let steps = steps.into_iter().filter(fits).collect();
        Self { steps, ..self }
    }

    fn as_asked(&self) -> Self {
        Self { title: None, ..self.clone() }
    }

    /// What does not fit into the queue waits in the host.
    fn demands(&self) -> Demands {
        const DEPTH: usize = 256;
        let jobs = self.steps.iter().filter_map(|step| step.jobs(Bytes(1_000_000_000_000)).ok());
        let longest = jobs.flatten().map(|job| job.transfer_size_max()).max();
        let io_size = longest.unwrap_or(Bytes::ZERO).max(Bytes::from_kib(4));
        Demands { queue_depth: DEPTH, io_size }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let plans = self.turns(drive.capacity).into_iter();
        let plans = plans.filter_map(|turn| self.mixed(&turn, drive.capacity).ok());
        plans.fold(Estimate::on(drive), |sum, plan| sum.and(plan.estimate(drive)))
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let mut names: Vec<&str> = self.steps.iter().map(|step| step.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let reason = "two steps have this name, and the report could not tell them apart";
            let got = format!("'{}'", pair[0]);
            return Err(PlanError { option: "the step", got, reason: reason.to_owned() });
        }
        let turns = self.turns(drive.capacity);
        if turns.is_empty() {
            let reason = "a suite has at least one [[step]] that fits the drive, and one cycle";
            let got = format!("of {} cycles of {} steps", self.cycles, self.steps.len());
            return Err(PlanError { option: "a suite", got, reason: reason.to_owned() });
        }
        turns.iter().try_for_each(|turn| self.check_step(turn, drive))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, _: &Recording, _: &[TraceFacts]) -> (Option<Outcome>, Vec<Warning>) {
        (None, Vec::new())
    }

    /// How large the drive is, which rates and targets depend on, is no part of the recording.
    fn conclude_from(
        &self,
        recording: &Recording,
        _: &[TraceFacts],
        found: Option<&Outcome>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        match found {
            Some(found) => conclude(self, recording, found.capacity),
            None => (None, Vec::new()),
        }
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.steps.iter().filter(|step| !step.prepares).flat_map(StepFigures::figures).collect()
    }

    fn targets(outcome: &Outcome) -> Vec<Judged> {
        outcome.steps.iter().flat_map(|step| step.targets.clone()).collect()
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let drive = session.drive().clone();
    let nothing_yet = Outcome { capacity: drive.capacity, steps: Vec::new() };
    session.found(nothing_yet)?;
    for step in &plan.steps {
        if let Some(needs) = step.needs.filter(|needs| *needs > drive.capacity) {
            session.warn(JobWarning::StepLeftOut { step: step.name.clone(), needs });
        }
    }
    for turn in plan.turns(drive.capacity) {
        if turn.step.trim_before && drive.trim {
            session.trim(&format!("trim before {}", turn.name), drive.capacity)?;
        }
        plan.mixed(&turn, drive.capacity)?.run_together(&turn.name, session)?;
    }
    Ok(())
}

/// What every step came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The drive's capacity, which rates and targets grow with.
    pub capacity: Bytes,
    /// The steps, as they were run.
    pub steps: Vec<StepFigures>,
}

/// What a step came to: all its jobs together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepFigures {
    /// The step, with the cycle if it is not the first.
    pub name: String,
    /// Whether it only brought the drive into its state.
    pub prepares: bool,
    /// Seconds that the figures are about: from the end of the longest ramp.
    pub seconds: f64,
    /// Its reads, if it had any.
    pub reads: Option<Figures>,
    /// Its writes.
    pub writes: Option<Figures>,
    /// Its trims.
    pub trims: Option<Figures>,
    /// Its targets.
    pub targets: Vec<Judged>,
}

/// One operation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// I/Os completed.
    pub ios: u64,
    /// I/Os over time.
    pub iops: f64,
    /// Bytes read, written or trimmed over time, in MiB/s (2^20).
    pub mebibytes_per_second: f64,
    /// Mean service time in nanoseconds.
    pub mean_ns: u64,
    /// Percentiles of it.
    pub latency: LatencyFigures,
    /// 99.9999 %.
    pub p999999_ns: u64,
}

impl StepFigures {
    /// Its operations by name, as far as they occurred.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &Figures)> {
        let all = [
            (Operation::Read, &self.reads),
            (Operation::Write, &self.writes),
            (Operation::Trim, &self.trims),
        ];
        all.into_iter().filter_map(|(op, figures)| Some((plural(op), figures.as_ref()?)))
    }

    fn of(&self, operation: Operation) -> Option<&Figures> {
        self.operations().find(|(name, _)| *name == plural(operation)).map(|(_, figures)| figures)
    }

    fn figures(&self) -> Vec<Figure> {
        let of_operation = |(operation, figures): (&str, &Figures)| {
            let of = format!("{} {operation}", self.name);
            let name = |figure: &str| format!("{of}, {figure}");
            [
                Figure::iops(name("rate"), figures.iops),
                Figure::latency(name("mean"), figures.mean_ns).unjudged(),
                Figure::latency(name("p99"), figures.latency.p99_ns).unjudged(),
                Figure::latency(name("p99.99"), figures.latency.p9999_ns),
                Figure::latency(name("p99.9999"), figures.p999999_ns).unjudged(),
                Figure::latency(name("longest"), figures.latency.max_ns),
            ]
            .map(|figure| figure.of(&of))
        };
        self.operations().flat_map(of_operation).collect()
    }
}

fn conclude(
    plan: &Plan,
    recording: &Recording,
    capacity: Bytes,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut steps, mut warnings) = (Vec::new(), Vec::new());
    for turn in plan.turns(capacity) {
        let Ok(jobs) = plan.mixed(&turn, capacity) else { continue };
        let Some(figures) = figures(plan, &turn, &jobs, recording, capacity) else { continue };
        let names = jobs.series_together(&turn.name);
        if let Some(rule) = jobs.jobs.iter().find_map(|job| job.steady)
            && !mixed::was_steady(rule, &names, recording)
        {
            warnings.push(Warning::Job(JobWarning::JobNotSteady { job: turn.name.clone() }));
        }
        steps.push(figures);
    }
    ((!steps.is_empty()).then_some(Outcome { capacity, steps }), warnings)
}

/// None of a step that recorded nothing behind its ramp.
fn figures(
    plan: &Plan,
    turn: &Turn<'_>,
    jobs: &mixed::Plan,
    recording: &Recording,
    capacity: Bytes,
) -> Option<StepFigures> {
    let ramp = jobs.jobs.iter().map(|job| job.ramp).max()?;
    let from = ramp.0.div_ceil(1_000_000_000) as u32;
    let names = jobs.series_together(&turn.name);
    let of_step = |sample: &&Sample| sample.second >= from && names.contains(&sample.series);
    let samples = || recording.samples.iter().filter(of_step);
    let start = samples().map(|sample| sample.start_ns).min()?;
    let end = samples().filter(|s| s.ios() > 0).map(|s| s.start_ns + s.span_ns).max()?;
    let span = Nanos(end - start);
    let of = |operation| {
        let name = series(&turn.name, operation);
        Figures::of(recording, &name, from, span)
    };
    let mut step = StepFigures {
        name: turn.name.clone(),
        prepares: turn.step.prepares,
        seconds: span.as_secs_f64(),
        reads: of(Operation::Read),
        writes: of(Operation::Write),
        trims: of(Operation::Trim),
        targets: Vec::new(),
    };
    let is_whole = plan.duration.is_none() && jobs.is_whole(Nanos(span.0 + ramp.0));
    let judged = turn.step.targets.iter().map(|target| {
        let series = series(&turn.name, target.of);
        let name = format!("{series}, {}", target.figure);
        let figures = step.of(target.of);
        let got = figures.map(|figures| figures.value(target.figure, recording, &series, from));
        target.judged(&name, got, capacity, is_whole)
    });
    step.targets = judged.collect();
    Some(step)
}

impl Figures {
    fn of(recording: &Recording, series: &str, from: u32, span: Nanos) -> Option<Self> {
        let samples: Vec<&Sample> =
            recording.series(series).filter(|sample| sample.second >= from).collect();
        let totals = Totals::of(samples.iter().copied()).over(span);
        let trimmed: u64 = samples.iter().filter_map(|sample| sample.trimmed_bytes).sum();
        let bytes = (totals.bytes().0 + trimmed) as f64;
        let latencies = recording.latencies(series, from..u32::MAX);
        (totals.ios > 0 && span > Nanos::ZERO).then(|| Self {
            ios: totals.ios,
            iops: totals.iops().get(),
            mebibytes_per_second: bytes / f64::from(1 << 20) / span.as_secs_f64(),
            mean_ns: totals.mean().0,
            latency: LatencyFigures::of(recording, series, from..u32::MAX),
            p999999_ns: latencies.percentile(99.9999).min(totals.longest).0,
        })
    }

    /// In the unit of the figure.
    fn value(&self, measure: Measure, recording: &Recording, series: &str, from: u32) -> f64 {
        let nanos = match measure {
            Measure::Iops => return self.iops,
            Measure::MebibytesPerSecond => return self.mebibytes_per_second,
            Measure::Longest => self.latency.max_ns,
            Measure::Percentile(percent) => {
                let latencies = recording.latencies(series, from..u32::MAX);
                latencies.percentile(percent).0.min(self.latency.max_ns)
            }
        };
        millis(nanos)
    }
}
