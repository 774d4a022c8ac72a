//! One point of a sweep: a drive, a plan, a seed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff::array::Simulated;
use writecliff::device::Bytes;
use writecliff::{DriveName, Error, Overrides, Plan, memory_of};

use crate::plan::{DRIVE, Sweep};

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
    /// [`Error::Profile`] or [`Error::Array`] if there is none.
    pub fn simulated(&self) -> Result<Simulated, Error> {
        let name = match DriveName::from(self.drive.as_str()) {
            DriveName::Real(_) => DriveName::Simulated(self.drive.clone()),
            named => named,
        };
        Ok(name.simulated()?.changed(&self.profile)?)
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
        self.simulated().map_or(Bytes(0), |drive| memory_of(&drive))
    }
}
