//! A run done again from its own directory.

use std::path::Path;

use writecliff_suite::{Plan, RerunError, Results, RunOptions};

use crate::drive::DriveName;
use crate::error::Error;

/// A run of a simulated drive that can be done again: the plan, the options and the drive that its
/// record carries. No other file is needed, unless the run did traces that do not ship.
#[derive(Debug, Clone, PartialEq)]
pub struct Again {
    /// What was asked.
    pub plan: Plan,
    /// Of which drive, to be given to [`run`](crate::run).
    pub drive: DriveName,
    /// How it was kept and called.
    pub options: RunOptions,
    /// The version that made the run, if it is not this one: then the second run may differ from it.
    pub other_version: Option<String>,
}

impl Again {
    /// Of the complete run in the directory `path`. The same version of the tool gives the same
    /// seconds, the same latencies and the same outcome again, byte for byte.
    ///
    /// # Errors
    /// [`Error::Results`] if there is no run; [`Error::Again`] if it cannot be done again;
    /// [`Error::Profile`] if its drive is not what was recorded.
    pub fn of(path: &Path) -> Result<Self, Error> {
        match Results::at(path)? {
            Results::Run => {}
            Results::Review(_) => return Err(RerunError::IsReview { path: path.to_owned() }.into()),
            Results::Repeats(repeats) => {
                let first = repeats.plans()?.swap_remove(0).0;
                return Err(RerunError::IsRepeats { path: path.to_owned(), first }.into());
            }
        }
        let (record, _) = writecliff_suite::open(path)?;
        let profile = Box::new(record.repeatable()?.clone());
        let drive = DriveName::Recorded { address: record.drive.address, profile };
        drive.look()?;
        let is_ours = record.tool_version == env!("CARGO_PKG_VERSION");
        let other_version = (!is_ours).then_some(record.tool_version);
        Ok(Self { plan: record.plan, drive, options: record.options, other_version })
    }
}
