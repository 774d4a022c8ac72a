//! What the optional parts vary.

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;

use crate::method::limits::{IN_FLIGHT_MAX, PlanError, check_duration, check_list, listed};
use crate::method::quick::few;

/// What host idle recovery varies. The defaults are the specification's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostIdleSettings {
    /// Rests between accesses, one after the other.
    pub rests: Vec<Nanos>,
    /// How long an access is.
    pub access: Nanos,
    /// Accesses with each rest.
    pub accesses: u32,
    /// Writes without a pause after the accesses with a rest.
    pub baseline: Nanos,
}

impl Default for HostIdleSettings {
    fn default() -> Self {
        Self {
            rests: [5, 10, 15, 25, 50].map(Nanos::from_secs).to_vec(),
            access: Nanos::from_secs(5),
            accesses: 360,
            baseline: Nanos::from_secs(1800),
        }
    }
}

impl HostIdleSettings {
    pub(super) fn quick(self) -> Self {
        Self { accesses: self.accesses.min(3), baseline: self.baseline.min(self.access), ..self }
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        check_list("host_idle.rests", &self.rests)?;
        self.rests.iter().try_for_each(|rest| check_duration("host_idle.rests", *rest))?;
        check_duration("host_idle.access", self.access)?;
        check_duration("host_idle.baseline", self.baseline)?;
        if self.accesses == 0 {
            let reason = "without accesses nothing is measured".to_owned();
            return Err(PlanError { option: "host_idle.accesses", got: "0".to_owned(), reason });
        }
        Ok(())
    }
}

/// How long each kind of write lasts. The defaults are the specification's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrossStimulusSettings {
    /// Sequential writes, before the random ones and again after them.
    pub sequential: Nanos,
    /// Random writes between.
    pub random: Nanos,
}

impl Default for CrossStimulusSettings {
    fn default() -> Self {
        Self { sequential: Nanos::from_secs(8 * 3600), random: Nanos::from_secs(6 * 3600) }
    }
}

impl CrossStimulusSettings {
    pub(super) fn quick(self, longest: Nanos) -> Self {
        Self { sequential: self.sequential.min(longest), random: self.random.min(longest) }
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        check_duration("cross_stimulus.sequential", self.sequential)?;
        check_duration("cross_stimulus.random", self.random)
    }
}

/// What demand intensity and the composite vary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DemandSettings {
    /// I/Os in flight; measured from the most to the fewest. What the drive does not take at once
    /// waits in the host.
    pub queue_depths: Vec<usize>,
    /// Writes before each round, with the most in flight.
    pub pre_writes: Nanos,
}

impl Default for DemandSettings {
    fn default() -> Self {
        let queue_depths = (0..=8).map(|power| 1 << power).collect();
        Self { queue_depths, pre_writes: Nanos::from_secs(300) }
    }
}

impl DemandSettings {
    pub(super) fn quick(self, longest: Nanos) -> Self {
        let queue_depths = few(self.queue_depths, &[1, 8, 32]);
        Self { queue_depths, pre_writes: self.pre_writes.min(longest) }
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        check_list("demand.queue_depths", &self.queue_depths)?;
        check_duration("demand.pre_writes", self.pre_writes)?;
        if !self.queue_depths.iter().all(|depth| (1..=IN_FLIGHT_MAX).contains(depth)) {
            let (option, got) = ("demand.queue_depths", listed(&self.queue_depths));
            let reason = format!("1 to {IN_FLIGHT_MAX} are kept in flight");
            return Err(PlanError { option, got, reason });
        }
        Ok(())
    }

    /// The most I/Os in flight.
    pub(super) fn deepest(&self) -> usize {
        self.queue_depths.iter().copied().max().unwrap_or(1)
    }

    /// From the most to the fewest.
    pub(super) fn deepest_first(&self) -> Vec<usize> {
        let mut depths = self.queue_depths.clone();
        depths.sort_unstable_by_key(|depth| std::cmp::Reverse(*depth));
        depths
    }
}
