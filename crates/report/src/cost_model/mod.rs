//! Cost models in the forms in which other systems want them: a file for each, and a line in [`FORMATS`].

mod fio;
mod hwdb;
mod in_words;
mod iocost;
mod json;
mod seastar;

use writecliff_device::{DeviceKind, ErrorKind};
use writecliff_suite::cost_model::{Coefficients, Limits, Outcome};
use writecliff_suite::{Outcome as AnyOutcome, RunRecord, Status, is_hard_disk};

pub(crate) use in_words::{lie, words};

/// A form that a cost model is written in.
#[derive(Debug)]
pub struct ModelFormat {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    write: fn(&Model<'_>) -> Result<String, ModelError>,
}

/// All forms.
pub const MODEL_FORMATS: &[ModelFormat] =
    &[iocost::FORMAT, hwdb::FORMAT, seastar::FORMAT, fio::FORMAT, json::FORMAT];

/// What a file says beside what was measured.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Rates that the drive keeps where reads and writes come together, instead of those of each by itself.
    pub mixed: bool,
    /// Where the drive is mounted, for forms that name that.
    pub mount_point: Option<String>,
    /// The kernel's numbers of the drive, for forms that name them.
    pub device_number: Option<(u32, u32)>,
}

/// A run that no cost model can be made of.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Another test's.
    #[error("that is a run of {test}, and a cost model comes of `writecliff run cost-model`")]
    OtherTest {
        /// The test.
        test: &'static str,
    },
    /// It did not come to its end.
    #[error("the run did not come to its end, and what it did not measure is in no model")]
    Unfinished,
    /// The drive kept no share of the model.
    #[error(
        "the drive did not keep up with even the smallest share of reads and writes together, so that \
         there are no response times to promise{}", what.map_or_else(String::new, |what| format!(" ({what})"))
    )]
    NothingKept {
        /// What needs them.
        what: Option<&'static str>,
    },
}

impl ModelError {
    /// A wrong run is a matter of asking differently; one that has no figures failed.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::OtherTest { .. } => ErrorKind::Usage,
            Self::Unfinished | Self::NothingKept { .. } => ErrorKind::Failed,
        }
    }
}

/// What there is to write.
struct Model<'a> {
    record: &'a RunRecord,
    outcome: &'a Outcome,
    steady: Coefficients,
    /// A disk has none.
    fresh: Option<Coefficients>,
    options: &'a ModelOptions,
}

impl ModelFormat {
    /// The form of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        MODEL_FORMATS.iter().find(|format| format.name == name)
    }

    /// The cost model that a run of `cost-model` measured.
    ///
    /// # Errors
    /// [`ModelError`] if the run is of another test, or did not measure all that is to be written.
    pub fn write(&self, record: &RunRecord, options: &ModelOptions) -> Result<String, ModelError> {
        let outcome = match &record.outcome {
            Some(AnyOutcome::CostModel(outcome)) => outcome,
            None if record.plan.name() == writecliff_suite::cost_model::Plan::NAME => {
                return Err(ModelError::Unfinished);
            }
            _ => return Err(ModelError::OtherTest { test: record.plan.name() }),
        };
        let fresh = outcome.fresh;
        let has_all =
            record.status == Status::Complete && (fresh.is_some() || record.drive.rotational);
        let steady = outcome.steady.filter(|_| has_all).ok_or(ModelError::Unfinished)?;
        (self.write)(&Model { record, outcome, steady, fresh, options })
    }
}

impl Model<'_> {
    fn is_simulated(&self) -> bool {
        self.record.drive.kind == DeviceKind::Simulated
    }

    fn limits(&self) -> Result<&Limits, ModelError> {
        self.outcome.limits.as_ref().ok_or(ModelError::NothingKept { what: None })
    }

    /// The steady rates; of them what is kept where reads and writes come together, if that is asked for.
    fn rates(&self) -> Result<Coefficients, ModelError> {
        if !self.options.mixed {
            return Ok(self.steady);
        }
        let limits = self.outcome.limits.as_ref();
        let limits = limits.ok_or(ModelError::NothingKept { what: Some("`--mixed` needs it") })?;
        Ok(self.steady.scaled(f64::from(limits.percent) / 100.0))
    }

    /// What stands above every file, in lines that its form takes for comments: whose it is, in which state,
    /// what a fresh drive's file would have said, and what is to be doubted.
    fn preamble(&self, format: &str) -> String {
        let RunRecord { drive, started, tool_version, warnings, .. } = self.record;
        let what = match drive.kind {
            DeviceKind::Simulated => "a SIMULATED drive, not to be used for a real one",
            _ if is_hard_disk(drive) => "measured when it was full",
            _ => "measured in steady state",
        };
        let firmware =
            drive.firmware.as_ref().map_or_else(String::new, |it| format!(", firmware {it}"));
        let mut lines = vec![
            format!("{format} of {}{firmware}: {what}.", drive.model),
            format!("By writecliff {tool_version}, run of {started}."),
        ];
        if self.options.mixed
            && let Some(limits) = &self.outcome.limits
        {
            lines.push(format!(
                "Scaled to the {} % that the drive keeps where reads and writes come together.",
                limits.percent
            ));
        }
        lines.extend(lie(self.outcome));
        lines.extend(warnings.iter().map(|doubt| format!("Doubt: {doubt}")));
        lines.iter().map(|line| format!("# {}\n", line.replace('\n', " "))).collect()
    }
}
