//! The catalogue beside what was published: compared, fitted, and tried without what it was fitted
//! to.

mod fit;
mod left_out;
mod value;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use writecliff_device::Device;
use writecliff_sim::{Build, Profile, changed};
use writecliff_suite::check::{Drives, Scenario};

use crate::drive::{profile, scale};
use crate::error::Error;

pub use fit::{Fit, fit};
pub use left_out::{LeftOut, compare_without};

/// Simulated drives by their names: each as its profile says, but for the changes asked for.
#[derive(Debug, Default)]
pub struct Catalogue {
    changes: BTreeMap<String, Map<String, Value>>,
}

impl Catalogue {
    fn with(drive: &str, changes: Map<String, Value>) -> Self {
        Self { changes: [(drive.to_owned(), changes)].into() }
    }

    fn profile(&self, name: &str) -> Result<Profile, Error> {
        // A treatment that is done to a scale model is done to that of the changed drive.
        let scaled = scale(name).and_then(|(whole, parts)| Some((whole, parts.parse().ok()?)));
        let whole = scaled.map_or(name, |(whole, _)| whole);
        let Some(changes) = self.changes.get(whole) else { return profile(name) };
        let made = changed(&profile(whole)?, changes)?;
        match scaled {
            Some((_, parts)) => Ok(writecliff_sim::scaled(&made, parts)?),
            None => Ok(made),
        }
    }
}

impl Drives for Catalogue {
    type Error = Error;

    fn open(&self, name: &str) -> Result<Box<dyn Device>, Error> {
        Ok(self.profile(name)?.open(&format!("sim:{name}")))
    }

    fn is_fitted_to(&self, name: &str, scenario: Scenario) -> bool {
        !self.changes.contains_key(name)
            && profile(name).is_ok_and(|profile| {
                profile.identity().fitted.values().any(|fitted| scenario.is_named_by(fitted))
            })
    }
}
