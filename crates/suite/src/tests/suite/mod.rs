//! Suite: does the drive keep what a suite of loads asks of it?
//!
//! A list of steps, each a load of [`mixed`](crate::mixed) with targets: least rates, longest service times.
//! Steps that prepare the drive come first. What a step's jobs do together is judged, as fio
//! reports a group: one series for its reads, one for its writes, one for its trims, one for its flushes.

mod conclude;
mod outcome;
mod plan;
mod published;
mod step;
mod target;

use writecliff_device::{Bytes, DeviceInfo, DeviceKind};
use writecliff_measure::Recording;
use writecliff_workload::Job;

pub use outcome::{Figures, Outcome, StepFigures};
pub use plan::Plan;
pub use published::FioSynthError;
pub use step::{JobText, Step, Variable};
pub use target::{Counted, Limit, Measure, Target, terabytes};

pub use crate::record::judged::{Judged, Unjudged};

use plan::Turn;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::PlanError;
use crate::method::quick::QUICK_MEASUREMENT;
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::warning::{JobWarning, Warning};
use crate::tests::mixed::{Written, reads_unwritten};

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "suite";
    const QUESTION: &'static str = "does the drive keep what a suite of loads asks of it?";
    const REVIEWS: InReviews = InReviews::ByName;
    /// 2: rates are of the time in which an operation's own jobs ran.
    const METHOD_VERSION: u32 = 2;

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
        Self { title: None, read_as: Vec::new(), ..self.clone() }
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
        let plans = plans.filter_map(|turn| self.mixed(&turn, drive).ok());
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
        let measures = |step: &Step| !step.prepares;
        // What is cut short judges nothing, whatever has room.
        if self.duration.is_none()
            && !turns.iter().any(|turn| measures(turn.step))
            && self.steps.iter().any(measures)
        {
            let least =
                self.steps.iter().filter(|step| measures(step)).filter_map(|step| step.needs).min();
            let reason = format!(
                "on {} of {} none of its steps has room but those that prepare; the smallest needs {}",
                drive.model,
                drive.capacity,
                least.unwrap_or_default()
            );
            let got = format!("of {} steps", self.steps.len());
            return Err(PlanError { option: "a suite", got, reason });
        }
        turns.iter().try_for_each(|turn| self.check_step(turn, drive))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude::conclude(self, recording, known.drive)
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
    for step in &plan.steps {
        if let Some(needs) = step.needs.filter(|needs| *needs > drive.capacity) {
            session.warn(JobWarning::StepLeftOut { step: step.name.clone(), needs });
        }
    }
    // A simulated drive is as it left the factory; what is on a real one nobody knows.
    let mut holds_nothing = drive.kind == DeviceKind::Simulated;
    let mut before: Vec<Written> = Vec::new();
    for turn in plan.turns(drive.capacity) {
        let trimmed = turn.step.trim_before && drive.trim;
        if trimmed {
            session.trim(&format!("trim before {}", turn.name), drive.capacity)?;
            holds_nothing = true;
            before.clear();
        }
        let jobs = plan.mixed(&turn, &drive)?;
        let together: Vec<Job> = jobs.groups(drive.capacity).into_iter().flatten().collect();
        let wrote = jobs.run_together(&turn.name, session)?;
        let doubt = reads_unwritten(&before, &together, wrote, drive.capacity);
        if let Some(doubt) = doubt.filter(|_| holds_nothing) {
            let some = !matches!(doubt, JobWarning::ReadsNothing)
                || together.iter().any(|job| job.mix.write > 0);
            session.warn(JobWarning::StepReadsNothing { step: turn.name.clone(), some, trimmed });
        }
        before.extend(Written::by(&together, wrote, drive.capacity));
    }
    Ok(())
}
