//! Why a result may be worth less than it looks; stored with the run, shown on top of the report.
//!
//! A file for each of those who raise them, with the sentence of each. In JSON one does not see whose
//! it is: every one has a `kind` of its own. `method.rs` and this file know each other, because a doubt
//! of a test may be any doubt about one of its settings.

mod data;
mod drive;
mod host;
mod job;
mod method;
mod preparation;
#[cfg(test)]
mod tests;
mod trace;

use serde::{Deserialize, Serialize};

pub use data::DataWarning;
pub use drive::DriveWarning;
pub use host::HostWarning;
pub use job::JobWarning;
pub use method::{Filled, MethodWarning, WindowState};
pub(crate) use method::{at_spare, others};
pub use preparation::PreparationWarning;
pub use trace::TraceWarning;

use crate::record::figure::Stage;

/// One doubt about a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(
    untagged,
    expecting = "a warning that this version of writecliff does not know, or that is damaged"
)]
pub enum Warning {
    /// Of the state that the drive was brought into.
    #[error(transparent)]
    Preparation(#[from] PreparationWarning),
    /// Of the drive itself.
    #[error(transparent)]
    Drive(#[from] DriveWarning),
    /// Of the machine.
    #[error(transparent)]
    Host(#[from] HostWarning),
    /// Of how the test's method was followed.
    #[error(transparent)]
    Method(#[from] MethodWarning),
    /// Of the user's own jobs.
    #[error(transparent)]
    Job(#[from] JobWarning),
    /// Of traces.
    #[error(transparent)]
    Trace(#[from] TraceWarning),
    /// Of the data on the drive.
    #[error(transparent)]
    Data(#[from] DataWarning),
}

impl Warning {
    /// The same, of one setting of the spare area, if it is of one.
    pub(crate) fn at_spare(self, percent: Option<f64>) -> Self {
        match percent {
            Some(percent) => {
                Self::Method(MethodWarning::AtSpare { percent, doubt: Box::new(self) })
            }
            None => self,
        }
    }

    /// What it leaves of the window that is called steady.
    pub const fn window_state(&self) -> WindowState {
        match self {
            Self::Method(doubt) => doubt.window_state(),
            _ => WindowState::Settled,
        }
    }

    /// Whether what the drive gave at this stage is in doubt by it.
    pub fn is_of(&self, stage: Stage) -> bool {
        match self {
            Self::Method(doubt) => doubt.is_of(stage),
            Self::Drive(DriveWarning::Rebuilt { in_fill: true, .. }) => stage == Stage::Fill,
            Self::Drive(DriveWarning::DieLost { of_all_stages: false, .. }) => {
                stage == Stage::Later
            }
            _ => true,
        }
    }

    /// Whether what the drive gave at this stage in this part of the test is in doubt by it; `None` is a figure of
    /// all parts.
    pub fn is_about(&self, stage: Stage, part: Option<&str>) -> bool {
        let is_of_another = match (self, part) {
            (Self::Method(doubt), Some(part)) => doubt.part().is_some_and(|own| own != part),
            _ => false,
        };
        !is_of_another && self.is_of(stage)
    }

    /// Whether it says that something was wrong while this phase was measured, as far as doubts name phases.
    pub fn names(&self, phase: &str) -> bool {
        let is_one_of = |parts: usize, most: &str, others: &[String]| {
            // Those that it does not name may be any.
            let are_named = parts == 1 + others.len();
            !are_named || most == phase || others.iter().any(|other| other == phase)
        };
        match self {
            Self::Method(MethodWarning::Changed { parts, most, others, .. })
            | Self::Drive(DriveWarning::SlowedDown { parts, most, others, .. }) => {
                is_one_of(*parts, most, others)
            }
            Self::Host(
                HostWarning::HeldUp { phases, .. } | HostWarning::OtherLoad { phases, .. },
            ) => phases.iter().any(|other| other == phase),
            Self::Host(HostWarning::GeneratorBusy { phase: busy, .. }) => busy == phase,
            Self::Method(MethodWarning::Odd { what, than, .. }) => {
                [what, than].iter().any(|part| as_phase(part) == phase)
            }
            Self::Method(MethodWarning::OfOrder { what, others, .. }) => {
                let (what, depth) = (as_phase(what), |one: &String| one.to_lowercase());
                let (load, _) = what.rsplit_once('-').unwrap_or((&what, ""));
                let others = others.iter().map(|one| format!("{load}-{}", depth(one)));
                what == phase || others.into_iter().any(|other| other == phase)
            }
            _ => false,
        }
    }

    /// Whether it may be about what was measured in this phase: it is if it says so, or names no phase.
    pub fn may_be_of(&self, phase: &str) -> bool {
        let names_phases = matches!(
            self,
            Self::Method(
                MethodWarning::Changed { .. }
                    | MethodWarning::Odd { .. }
                    | MethodWarning::OfOrder { .. }
            ) | Self::Drive(DriveWarning::SlowedDown { .. })
                | Self::Host(
                    HostWarning::HeldUp { .. }
                        | HostWarning::OtherLoad { .. }
                        | HostWarning::GeneratorBusy { .. }
                )
        );
        self.is_of(Stage::Later) && (!names_phases || self.names(phase))
    }

    /// Whether it may be about the service times of this step of a suite, or with `rates` about what was done as well: it
    /// is if it names the step, or none.
    pub fn may_be_of_step(&self, step: &str, operation: &str, rates: bool) -> bool {
        match self {
            // The step's other I/Os wait for its trims' commands alone; no other step's do.
            Self::Job(JobWarning::TrimsTakeNoTime) => operation == "trims",
            // That fewer were done is so.
            Self::Job(JobWarning::Behind { whose, .. }) => {
                let all = format!("the step '{step}'");
                !rates && (*whose == all || *whose == format!("the {operation} of {all}"))
            }
            Self::Job(
                JobWarning::JobNotSteady { job: own } | JobWarning::StepReadsNothing { step: own },
            ) => own == step,
            Self::Job(JobWarning::StepLeftOut { .. }) => false,
            _ => self.is_of(Stage::Later),
        }
    }

    /// Whether it says that the drive does not keep what is written to it: no figure matters then.
    pub(crate) const fn is_of_lost_data(&self) -> bool {
        matches!(self, Self::Data(doubt) if doubt.is_of_lost_data())
    }
}

/// `sequential-read-qd16`, of a part that a sentence calls `sequential read at QD16`.
fn as_phase(part: &str) -> String {
    part.replace(" at ", " ").replace(' ', "-").to_lowercase()
}
