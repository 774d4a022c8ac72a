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
use crate::record::phase::beside_phase;

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

    /// The doubt itself, of whichever setting of the spare area it is.
    pub fn of_any_setting(&self) -> &Self {
        match self {
            Self::Method(MethodWarning::AtSpare { doubt, .. }) => doubt,
            other => other,
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
            Self::Drive(
                DriveWarning::FailedIos { simulated: true, only_later: true, .. }
                | DriveWarning::DieLost { of_all_stages: false, .. }
                | DriveWarning::PowerLost { only_later: true, .. }
                | DriveWarning::DataLost { only_later: true, .. },
            ) => stage == Stage::Later,
            _ => true,
        }
    }

    /// Whether what the drive gave at this stage in this part of the test is in doubt by it; `None` is a figure of
    /// all parts.
    pub(crate) fn is_about(&self, stage: Stage, part: Option<&str>) -> bool {
        let is_of_another = match (self, part) {
            (Self::Method(doubt), Some(part)) => doubt.part().is_some_and(|own| own != part),
            _ => false,
        };
        !is_of_another && self.is_of(stage)
    }

    /// The phases that it is about.
    fn phases(&self) -> Phases {
        let of_parts = |parts: usize, most: &str, others: &[String]| match parts == 1 + others.len()
        {
            true => Phases::These(others.iter().cloned().chain([most.to_owned()]).collect()),
            false => Phases::Unnamed,
        };
        match self {
            Self::Method(MethodWarning::Changed { parts, most, others, .. })
            | Self::Drive(DriveWarning::SlowedDown { parts, most, others, .. }) => {
                of_parts(*parts, most, others)
            }
            Self::Host(
                HostWarning::HeldUp { phases, .. } | HostWarning::OtherLoad { phases, .. },
            ) => Phases::These(phases.clone()),
            Self::Drive(DriveWarning::FailedIos { simulated: true, phases, .. })
                if !phases.is_empty() =>
            {
                Phases::These(phases.clone())
            }
            Self::Host(HostWarning::GeneratorBusy { phase, .. }) => {
                Phases::These(vec![phase.clone()])
            }
            Self::Method(MethodWarning::Odd { what, others, than, .. }) => {
                let parts: Option<Vec<String>> =
                    [what, than].into_iter().chain(others).map(|part| as_phase(part)).collect();
                parts.map_or(Phases::NotTold, Phases::These)
            }
            Self::Method(MethodWarning::OfOrder { what, others, .. }) => {
                let Some(what) = as_phase(what) else { return Phases::NotTold };
                let (load, _) = what.rsplit_once('-').unwrap_or((&what, ""));
                let others = others.iter().map(|one| format!("{load}-{}", one.to_lowercase()));
                Phases::These(others.chain([what.clone()]).collect())
            }
            Self::Method(MethodWarning::WithinBuffer { part: Some(phase), .. }) => {
                Phases::These(vec![phase.clone()])
            }
            Self::Method(MethodWarning::WritesFellBehind { drive_writes_per_day, .. }) => {
                Phases::These(vec![beside_phase(*drive_writes_per_day)])
            }
            _ => Phases::NotTold,
        }
    }

    /// Whether it says that something was wrong while this phase was measured, as far as doubts name phases. Those that
    /// it does not name may be any.
    pub fn names(&self, phase: &str) -> bool {
        match self.phases() {
            Phases::These(phases) => phases.iter().any(|own| is_in(own, phase)),
            Phases::Unnamed => true,
            Phases::NotTold => false,
        }
    }

    /// Whether it says that it is about other phases than this alone.
    pub(crate) fn names_others(&self, phase: &str) -> bool {
        match self.phases() {
            Phases::These(phases) => !phases.iter().any(|own| is_in(own, phase)),
            Phases::Unnamed | Phases::NotTold => false,
        }
    }

    /// The phase before which nothing was otherwise, if it tells.
    pub fn from_phase(&self) -> Option<&str> {
        match self {
            Self::Drive(
                DriveWarning::DieLost { phase, .. } | DriveWarning::PowerLost { phase, .. },
            ) => Some(phase),
            Self::Drive(DriveWarning::DataLost { phases, .. }) => {
                phases.first().map(String::as_str)
            }
            _ => None,
        }
    }

    /// Whether it may be about what was measured in this phase: it is if it says so, or names no phase.
    pub fn may_be_of(&self, phase: &str) -> bool {
        self.is_of(Stage::Later) && !self.names_others(phase)
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
                JobWarning::JobNotSteady { job: own }
                | JobWarning::Uneven { job: own, .. }
                | JobWarning::StepReadsNothing { step: own, .. },
            ) => own == step,
            Self::Job(JobWarning::StepLeftOut { .. }) => false,
            Self::Drive(DriveWarning::FailedIos { simulated: true, phases, .. })
                if !phases.is_empty() =>
            {
                self.names(step)
            }
            _ => self.is_of(Stage::Later),
        }
    }

    /// Whether it says that the drive does not keep what is written to it: no figure matters then.
    pub(crate) const fn is_of_lost_data(&self) -> bool {
        matches!(self, Self::Data(doubt) if doubt.is_of_lost_data())
    }
}

/// Whether a phase, or a series, is of this phase: its reads or its writes, for one.
fn is_in(own: &str, phase: &str) -> bool {
    own.strip_prefix(phase).is_some_and(|rest| ["", " reads", " writes"].contains(&rest))
}

/// Which phases a doubt is about.
#[derive(Debug, PartialEq)]
enum Phases {
    /// These alone.
    These(Vec<String>),
    /// Some, of which it does not name all.
    Unnamed,
    /// It does not tell.
    NotTold,
}

/// `sequential-read-qd16`, of a part that a sentence calls `sequential read at QD16`; `write-2KiB`, of `writes of
/// 2KiB`. Other parts have names that do not tell their phase.
fn as_phase(part: &str) -> Option<String> {
    let of_size = ["write", "read"].into_iter().find_map(|operation| {
        let size = part.strip_prefix(operation)?.strip_prefix("s of ")?;
        Some(format!("{operation}-{size}"))
    });
    of_size.or_else(|| {
        let phase = part.replace(" at ", " ").replace(' ', "-").to_lowercase();
        phase.contains("-qd").then_some(phase)
    })
}
