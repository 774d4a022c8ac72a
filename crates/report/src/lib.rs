//! Runs as people read them: one HTML page over any number of runs, and a summary for the
//! terminal.
//!
//! The page is one file that needs no network. Same runs in, same bytes out. What is simulated is
//! called simulated wherever its name stands.

mod figures;
mod number;
mod page;
mod pictures;
mod summary;

use std::path::{Path, PathBuf};

use writecliff_device::DeviceKind;
use writecliff_measure::{Recording, RunDirectoryError};
use writecliff_suite::{Outcome, Plan, RunRecord, Status, consistency};

pub use page::{ReportError, write_page};
pub use summary::summary;

/// A run, read back.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its directory.
    pub path: PathBuf,
    /// What was asked of which drive, and the answer.
    pub record: RunRecord,
    /// Every second of it.
    pub recording: Recording,
}

impl Run {
    /// Reads a run's directory, whether the run has ended or was cut off.
    ///
    /// # Errors
    /// [`RunDirectoryError`] with the file that is missing or damaged.
    pub fn open(path: &Path) -> Result<Self, RunDirectoryError> {
        let (record, recording) = writecliff_suite::open(path)?;
        Ok(Self { path: path.to_owned(), record, recording })
    }

    fn plan(&self) -> &consistency::Plan {
        static METHOD: std::sync::LazyLock<consistency::Plan> =
            std::sync::LazyLock::new(consistency::Plan::default);
        match &self.record.plan {
            Plan::Consistency(plan) => plan,
            _ => &METHOD,
        }
    }

    fn outcome(&self) -> Option<&consistency::Outcome> {
        match &self.record.outcome {
            Some(Outcome::Consistency(outcome)) => Some(outcome),
            _ => None,
        }
    }

    fn is_simulated(&self) -> bool {
        self.record.drive.kind == DeviceKind::Simulated
    }

    /// The drive, and the spare area if it is not the drive's own.
    fn label(&self) -> String {
        let model = &self.record.drive.model;
        match self.plan().spare_percent {
            0.0 => model.clone(),
            percent => format!("{model}, {percent} % spare"),
        }
    }

    /// How far it came, in words that follow a colon.
    fn status(&self) -> String {
        match &self.record.status {
            Status::Running => "still running".to_owned(),
            Status::Complete => "complete".to_owned(),
            Status::Interrupted => "interrupted by the user".to_owned(),
            Status::Failed { error } => format!("failed ({error})"),
            Status::CutOff => "cut off before its end".to_owned(),
        }
    }

    /// What was asked, in one line.
    fn method(&self) -> String {
        let plan = self.plan();
        format!(
            "purge, sequential fill, then {} of {} random writes at QD{}",
            number::seconds(plan.duration.as_secs_f64()),
            plan.block.exact(),
            plan.queue_depth,
        )
    }
}

/// What each run is called among the others: its directory is named where the drive and the spare
/// area do not tell it apart.
fn labels(runs: &[Run]) -> Vec<String> {
    let plain: Vec<String> = runs.iter().map(Run::label).collect();
    let is_shared = |label| plain.iter().filter(|other| *other == label).count() > 1;
    let distinct = runs.iter().zip(&plain).map(|(run, label)| {
        if is_shared(label) { format!("{label} ({})", run.path.display()) } else { label.clone() }
    });
    distinct.collect()
}
