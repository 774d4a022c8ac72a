//! One point, run: its row, wherever that is.

use std::path::Path;

use writecliff::device::ProfileRecord;
use writecliff::suite::{RunError, Status};
use writecliff::{DriveName, Error, Plan, RunOptions, Watch, run};

use crate::point::Point;
use crate::row::{Came, Row, RowFigure};

impl Point {
    /// Runs it, with what it records for the moment in the new directory `path`. `None` if `watch`
    /// broke it off. Of the figures those that are `wanted`, or all.
    ///
    /// # Errors
    /// What any other point would meet with as well, like a full disk; what is this point's own is in
    /// its row.
    pub fn perform(
        &self,
        wanted: &[String],
        path: &Path,
        watch: Watch<'_>,
    ) -> Result<Option<Row>, Error> {
        let prepared = self.simulated().map(|drive| drive.record());
        let (profile, plan) = match (prepared, self.plan()) {
            (Ok(profile), Ok(plan)) => (profile, plan),
            (Err(error), _) | (_, Err(error)) => {
                return Ok(Some(Row::failed(self, None, &error)));
            }
        };
        let hash = profile.sha256.clone();
        match self.record(profile, &plan, path, watch) {
            Ok(Some(came)) => Ok(Some(Row::of(self, hash, came, wanted))),
            Ok(None) => Ok(None),
            Err(error) if is_its_own(&error) => Ok(Some(Row::failed(self, Some(hash), &error))),
            Err(error) => Err(error),
        }
    }

    fn record(
        &self,
        profile: ProfileRecord,
        plan: &Plan,
        path: &Path,
        watch: Watch<'_>,
    ) -> Result<Option<Came>, Error> {
        let drive = DriveName::Recorded { address: self.drive.clone(), profile: Box::new(profile) };
        let options = RunOptions { quick: self.quick, ..RunOptions::default() };
        let record = run(plan, &drive, None, path, options, watch)?;
        Ok(match record.status {
            Status::Complete => Some(Came {
                figures: record.figures().iter().map(|one| RowFigure::of(one, &record)).collect(),
                doubts: record.warnings.iter().map(ToString::to_string).collect(),
            }),
            _ => None,
        })
    }
}

/// Whether the error is about this drive or this plan.
fn is_its_own(error: &Error) -> bool {
    matches!(
        error,
        Error::Profile(_)
            | Error::Array(_)
            | Error::Plan(_)
            | Error::Device(_)
            | Error::Run(RunError::Plan(_) | RunError::Device(_))
    )
}
