//! Consistency: does the drive serve the same load equally well every second, once full?
//!
//! Purge; write every LBA once, in order; then 4KB random writes over all LBAs at a queue depth of
//! 32 for 2000 s, with incompressible data. Every second is recorded. A simulated drive, and a real one
//! that is asked for it, is written on until it is steady (`method/settling.rs`).
//! `docs/methodology/consistency.md` has the definitions of the figures.

mod conclude;
pub(crate) mod figures;
mod outcome;
mod plan;

use writecliff_device::{DeviceInfo, DeviceKind, Operation};
use writecliff_measure::{Queue, Recording};
use writecliff_workload::RandomUniform;

use crate::method::estimate::{Demands, Estimate, is_hard_disk};
use crate::method::fast_part::FastPart;
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, listed};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::{Figure, figures_of, names_of};
use crate::record::warning::Warning;

pub(crate) use conclude::{FRESH_SPAN, conclude_phases, steady_from};
pub use figures::{CLIFF, FIGURES, FRESH, MEAN};
pub use outcome::{FallCause, Outcome, WorstSecond};
pub use plan::{Plan, UntilSteady};

pub use crate::method::settling::{DRIVE_WRITES_MAX, TIME_MAX};

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// The phase of random writes that the test is about.
pub const TORTURE: &str = "torture";

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "consistency";
    const QUESTION: &'static str =
        "does the drive serve the same load equally well every second, once full?";
    const CHOICES: &'static [Choice] = &[Choice::Duration, Choice::UntilSteady, Choice::Spare];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let spare_percent = match overrides.spare[..] {
            [] => self.spare_percent,
            [percent] => percent,
            _ => {
                let got = listed(&overrides.spare);
                let reason = "one run has one setting; spare-area takes a list".to_owned();
                return Err(PlanError { option: "spare", got, reason });
            }
        };
        let duration = overrides.duration.unwrap_or(self.duration);
        let until_steady = self.until_steady.overridden(overrides);
        Ok(Self { spare_percent, duration, until_steady, ..self })
    }

    fn on(self, drive: &DeviceInfo) -> Self {
        Self { until_steady: self.until_steady.on(drive), ..self }
    }

    /// How long it took until the drive was steady is its answer, not the question.
    fn as_asked(&self) -> Self {
        Self { until_steady: UntilSteady::No, ..self.clone() }
    }

    fn quick(self) -> Self {
        let duration = QUICK_TORTURE.min(self.duration);
        let until_steady = UntilSteady::No;
        Self { duration, until_steady, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands {
            queue_depth: self.queue_depth.max(self.fill_queue_depth),
            io_size: self.block.max(self.fill_block),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let used = self.used(drive.capacity);
        let estimate = Estimate::on(drive).fill(used);
        match self.clone().on(drive).until_steady {
            UntilSteady::Yes => {
                let longest = TIME_MAX.max(self.duration);
                estimate.random_until(self.duration..longest, used, DRIVE_WRITES_MAX)
            }
            _ => estimate.random(self.duration),
        }
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("duration", self.duration)?;
        check_block(self.block, self.span, drive)?;
        check_block(self.fill_block, self.span, drive)?;
        let refuse = |reason| {
            Err(PlanError { option: "spare", got: self.spare_percent.to_string(), reason })
        };
        if !(0.0..100.0).contains(&self.spare_percent) {
            return refuse(
                "the untouched share is at least 0 and less than 100 percent".to_owned(),
            );
        }
        if self.used(drive.capacity) < self.block {
            return refuse(format!(
                "of {} of {} nothing is left for a write of {}",
                drive.capacity,
                drive.model,
                self.block.exact()
            ));
        }
        let never_settles = match drive.kind {
            DeviceKind::Null => Some("there is no drive"),
            _ => is_hard_disk(drive).then_some("a hard disk has no spare area to use up"),
        };
        if let (UntilSteady::Yes, Some(reason)) = (self.until_steady, never_settles) {
            let (got, reason) = (format!("on {}", drive.address), reason.to_owned());
            return Err(PlanError { option: "until_steady", got, reason });
        }
        check_depths([self.queue_depth, self.fill_queue_depth], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude_phases(self, recording, known.drive, FILL, TORTURE)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures_of(FIGURES, outcome)
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        Some(names_of(FIGURES))
    }

    fn fast_part(outcome: &Outcome) -> Option<FastPart> {
        outcome.fast_part
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    fill_and_torture(plan, session, FILL, TORTURE)
}

/// The two phases of the test, by the names given, on a drive that is fresh.
pub(crate) fn fill_and_torture(
    plan: &Plan,
    session: &mut Session<'_>,
    fill: &str,
    torture: &str,
) -> Result<(), RunError> {
    let span = plan.used(session.drive().capacity);
    session.fill(fill, span, plan.fill_block, plan.fill_queue_depth)?;

    let ios = RandomUniform::new(Operation::Write, span, plan.block, plan.seed);
    if plan.until_steady == UntilSteady::Yes {
        return plan.settling(span).record(session, torture, ios, plan.queue_depth);
    }
    let writes = Queue::new(ios, plan.queue_depth);
    session.record(torture, writes, Some(plan.duration), Extent::Time(plan.duration))
}
