//! One point of a sweep: a drive, a plan, a seed; and its run.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff::device::{Bytes, ProfileRecord};
use writecliff::sim::{Profile, changed};
use writecliff::suite::{RunError, Status};
use writecliff::{DriveName, Error, Overrides, Plan, RunOptions, Watch, profile, run};

use crate::budget::memory_of;
use crate::plan::{DRIVE, Sweep};
use crate::row::{Row, RowFigure};

/// What is run at one point: all that makes its row again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its number, from 0.
    pub point: u32,
    /// The simulated drive.
    pub drive: String,
    /// Keys of its profile that are changed.
    pub profile: Map<String, Value>,
    /// The test.
    pub test: String,
    /// Keys of the plan that are changed.
    pub plan: Map<String, Value>,
    /// Whether the plan is cut down to seconds.
    pub quick: bool,
    /// Decides everything random.
    pub seed: u64,
}

impl Point {
    pub(crate) fn new<'a>(
        sweep: &Sweep,
        index: usize,
        setting: impl Iterator<Item = &'a (String, Value)>,
        seed: u64,
    ) -> Self {
        let mut point = Self {
            point: index as u32,
            drive: sweep.drive.clone(),
            profile: Map::new(),
            test: sweep.test.clone(),
            plan: sweep.plan.clone(),
            quick: sweep.quick,
            seed,
        };
        for (key, value) in setting {
            match (key.strip_prefix("drive."), key.strip_prefix("plan.")) {
                (Some(key), _) => drop(point.profile.insert(key.to_owned(), value.clone())),
                (_, Some(key)) => drop(point.plan.insert(key.to_owned(), value.clone())),
                _ => point.drive = value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            }
        }
        point
    }

    /// The value that one of the sweep's keys has here.
    pub fn value(&self, key: &str) -> Option<Value> {
        match (key.strip_prefix("drive."), key.strip_prefix("plan.")) {
            (Some(key), _) => self.profile.get(key).cloned(),
            (_, Some(key)) => self.plan.get(key).cloned(),
            _ => (key == DRIVE).then(|| Value::from(self.drive.as_str())),
        }
    }

    /// The drive that it is about.
    ///
    /// # Errors
    /// [`Error::Profile`] if there is none.
    pub fn profile(&self) -> Result<Profile, Error> {
        let name = self.drive.strip_prefix("sim:").unwrap_or(&self.drive);
        Ok(changed(&profile(name)?, &self.profile)?)
    }

    /// What is done to it.
    ///
    /// # Errors
    /// [`Error::UnknownTest`]; [`Error::Plan`] for keys that the plan does not have, or values that
    /// they cannot have.
    pub fn plan(&self) -> Result<Plan, Error> {
        let method = writecliff::plan(&self.test)?;
        let method = if self.quick { method.quick() } else { method };
        let plan = method.with_keys(&self.plan)?;
        Ok(plan.with(&Overrides { seed: Some(self.seed), ..Overrides::default() })?)
    }

    /// What its drive takes in memory while it runs; nothing if there is no such drive.
    pub fn memory(&self) -> Bytes {
        self.profile().map_or(Bytes(0), |profile| memory_of(&profile))
    }

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
        let prepared = self.profile().map(|profile| profile.record());
        let (profile, plan) = match (prepared, self.plan()) {
            (Ok(profile), Ok(plan)) => (profile, plan),
            (Err(error), _) | (_, Err(error)) => {
                return Ok(Some(Row::failed(self, None, &error)));
            }
        };
        let hash = profile.sha256.clone();
        match self.record(profile, &plan, path, watch) {
            Ok(Some(figures)) => Ok(Some(Row::of(self, hash, figures, wanted))),
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
    ) -> Result<Option<Vec<RowFigure>>, Error> {
        let drive = DriveName::Recorded { address: self.drive.clone(), profile: Box::new(profile) };
        let options = RunOptions { quick: self.quick, ..RunOptions::default() };
        let record = run(plan, &drive, None, path, options, watch)?;
        Ok(match record.status {
            Status::Complete => Some(record.figures().into_iter().map(RowFigure::from).collect()),
            _ => None,
        })
    }
}

/// Whether the error is about this drive or this plan.
fn is_its_own(error: &Error) -> bool {
    matches!(
        error,
        Error::Profile(_)
            | Error::Plan(_)
            | Error::Device(_)
            | Error::Run(RunError::Plan(_) | RunError::Device(_))
    )
}
