//! An earlier run, whose blocks are to be read again.

use std::path::Path;

use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use writecliff_device::{DeviceInfo, DeviceKind};

use super::kept::Kept;
use super::plan::{Plan, block_of};
use crate::method::limits::PlanError;
use crate::method::test::Test;
use crate::record::file::recover_record;
use crate::record::run_record::{Record, Status};

/// An earlier run whose blocks are to be read again.
pub(super) struct Earlier {
    pub(super) plan: Plan,
    pub(super) kept: Kept,
    drive: DeviceInfo,
}

/// The plan of a run of whatever test.
struct AnyPlan {
    test: String,
    keys: Map<String, Value>,
}

impl<'de> Deserialize<'de> for AnyPlan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut keys = Map::deserialize(from)?;
        match keys.remove("test") {
            Some(Value::String(test)) => Ok(Self { test, keys }),
            _ => Err(de::Error::missing_field("test")),
        }
    }
}

impl Earlier {
    pub(super) fn open(path: &Path) -> Result<Self, PlanError> {
        let no = |reason: String| PlanError {
            option: "reopen",
            got: path.display().to_string(),
            reason,
        };
        let record: Record<AnyPlan, IgnoredAny> =
            recover_record(path).map_err(|error| no(error.to_string()))?;
        let AnyPlan { test, keys } = record.plan;
        if test != Plan::NAME {
            return Err(no(format!(
                "it is a run of {test}; only {} keeps what it wrote",
                Plan::NAME
            )));
        }
        let plan: Plan =
            Plan::deserialize(Value::Object(keys)).map_err(|error| no(error.to_string()))?;
        if plan.reopen.is_some() {
            return Err(no("it only read what another run wrote; name that one".to_owned()));
        }
        if record.drive.kind == DeviceKind::Simulated {
            return Err(no("of a simulated drive nothing is left after its run".to_owned()));
        }
        if record.status == Status::Running {
            return Err(no("it goes on still".to_owned()));
        }
        if record.method_version != <Plan as Test>::METHOD_VERSION {
            return Err(no("another version of writecliff wrote it, in another order".to_owned()));
        }
        let kept =
            Kept::read(path).map_err(|error| no(format!("what it wrote is not known: {error}")))?;
        Ok(Self { plan, kept, drive: record.drive })
    }

    /// The same drive, as far as it has a name; of one without any, another size tells.
    pub(super) fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let written = &self.drive;
        let names = |drive: &DeviceInfo| (drive.world_wide_name.clone(), drive.serial.clone());
        let (block, blocks) = (block_of(drive), self.plan.used(drive).0 / block_of(drive).0);
        let is_same = names(written) == names(drive)
            && written.capacity == drive.capacity
            && (self.kept.block, self.kept.blocks) == (block, blocks);
        if is_same {
            return Ok(());
        }
        let words = |drive: &DeviceInfo| {
            let serial = drive.serial.as_deref().or(drive.world_wide_name.as_deref());
            format!(
                "{} of {} ({})",
                drive.model,
                drive.capacity.exact(),
                serial.unwrap_or("no name")
            )
        };
        let reason = format!("that run wrote to {}, not to this drive", words(written));
        Err(PlanError { option: "a look back with", got: words(drive), reason })
    }
}
