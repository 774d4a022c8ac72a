//! The parts of a run.

use serde::{Deserialize, Serialize};
use writecliff_device::{Nanos, Telemetry};

/// A part of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name in the series.
    pub name: String,
    /// From the run's beginning to the phase's, on the device's clock.
    pub start: Nanos,
    /// Its length; zero while it goes on.
    pub length: Nanos,
    /// What the drive said of itself before.
    pub before: Telemetry,
    /// What it said after; as before, while the phase goes on.
    pub after: Telemetry,
    /// The most threads that a load of it was spread over.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: usize,
    /// It goes on, or was broken off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

/// What phases of reads beside writes begin with.
pub(crate) const BESIDE: &str = "reads-beside";

/// What reads beside so many drive writes a day are called.
pub fn beside_phase(drive_writes_per_day: f64) -> String {
    format!("{BESIDE}-{drive_writes_per_day}-dwpd")
}

/// Of records from before a count was kept.
pub(crate) fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
pub(crate) fn is_one(count: &usize) -> bool {
    *count == 1
}
