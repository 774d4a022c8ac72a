//! The fleets that a plan makes, itself and its variants, each of which can be.

use serde_json::Value;
use writecliff_device::{Nanos, with_nearest};

use crate::error::FleetError;
use crate::plan::{Change, DRIVES_MAX, Fleet, REQUESTS_MAX, SERVICE_MAX, WIDTH_MAX, impossible};
use crate::requests;

/// One of the fleets that a plan compares.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// What it is called; empty of a plan that compares nothing.
    pub name: String,
    /// The whole of it, without variants.
    pub fleet: Fleet,
}

impl Fleet {
    /// The fleets that are run: the variants, or the one that has none. All of them can be.
    ///
    /// # Errors
    /// [`FleetError::Impossible`] with the key to mend; [`FleetError::Drive`] and
    /// [`FleetError::Trace`] of a drive or a trace that cannot be.
    pub fn variants(&self) -> Result<Vec<Variant>, FleetError> {
        let Self { variants, .. } = self;
        let alone = Self { variants: Vec::new(), ..self.clone() };
        if variants.is_empty() {
            alone.check()?;
            return Ok(vec![Variant { name: String::new(), fleet: alone }]);
        }
        let names: Vec<&String> = variants.iter().map(|change| &change.name).collect();
        if let Some(twice) = { &names }.iter().find(|a| names.iter().filter(|b| a == b).count() > 1)
        {
            return Err(impossible("variants", format!("two are called '{twice}'")));
        }
        let all: Vec<Variant> =
            variants.iter().map(|change| change.of(&alone)).collect::<Result<_, _>>()?;
        let drives: u64 = all.iter().map(|variant| variant.fleet.drive_count()).sum();
        if drives > DRIVES_MAX {
            let reason = format!("they have {drives} drives together; at most {DRIVES_MAX}");
            return Err(impossible("variants", reason));
        }
        Ok(all)
    }

    /// Refuses what makes no fleet.
    fn check(&self) -> Result<(), FleetError> {
        if self.groups == 0 || self.data == 0 {
            let reason = "there is at least one, of at least one fragment of data";
            return Err(impossible("groups", reason.to_owned()));
        }
        let (width, drives) = (self.width(), self.drive_count());
        if width > WIDTH_MAX as usize || drives > DRIVES_MAX {
            let reason = format!(
                "{drives} drives in groups of {width}; at most {DRIVES_MAX} in groups of {WIDTH_MAX}"
            );
            return Err(impossible("groups", reason));
        }
        if self.drives.iter().all(|kind| kind.share == 0) {
            return Err(impossible("drives", "there is no [[drives]] with a share".to_owned()));
        }
        if self.hedge.is_some() && self.parity == 0 {
            let reason = "without parity there is nobody else to ask";
            return Err(impossible("hedge", reason.to_owned()));
        }
        if self.duration == Nanos::ZERO {
            return Err(impossible("duration", "it is zero".to_owned()));
        }
        if self.warm_up.max(self.duration) > SERVICE_MAX {
            let key = if self.warm_up > SERVICE_MAX { "warm_up" } else { "duration" };
            return Err(impossible(
                key,
                "a service of more than a year never ends here".to_owned(),
            ));
        }
        let seconds = (self.warm_up + self.duration).as_secs_f64();
        let requests = self.load.iops.unwrap_or(0) as f64 * seconds;
        if requests > REQUESTS_MAX {
            let reason = format!(
                "{} a second for {seconds} s are {requests:.1e} requests, and {REQUESTS_MAX:.0e} \
                 are the most; ask less of a smaller fleet, or for a shorter time",
                self.load.iops.unwrap_or(0)
            );
            return Err(impossible("load.iops", reason));
        }
        for kind in &self.drives {
            kind.check(self.load.block)?;
        }
        self.load.check(self.data)?;
        requests::check(self)
    }
}

impl Change {
    /// The fleet with this change.
    fn of(&self, fleet: &Fleet) -> Result<Variant, FleetError> {
        let named = format!("variants '{}'", self.name);
        let about = |reason: String| impossible(&named, reason);
        if self.keys.contains_key("variants") {
            return Err(about("a variant has none of its own".to_owned()));
        }
        let mut whole = serde_json::to_value(fleet).map_err(|error| about(error.to_string()))?;
        merge(&mut whole, &Value::Object(self.keys.clone()));
        let fleet: Fleet = serde_json::from_value(whole)
            .map_err(|error| about(with_nearest(&error.to_string())))?;
        fleet.check().map_err(|error| match error {
            FleetError::Impossible { key, reason } => {
                impossible(&format!("{named}, {key}"), reason)
            }
            other => other,
        })?;
        Ok(Variant { name: self.name.clone(), fleet })
    }
}

/// Puts `own` over `whole`, table by table.
fn merge(whole: &mut Value, own: &Value) {
    match (whole, own) {
        (Value::Object(whole), Value::Object(own)) => {
            for (key, value) in own {
                merge(whole.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (whole, own) => *whole = own.clone(),
    }
}
