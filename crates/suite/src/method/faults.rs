//! What a simulated drive's profile has go wrong, and when (docs/model.md).

use writecliff_device::{DeviceInfo, Nanos};

/// Moments on the drive's clock.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// At which the power goes and comes back.
    pub(crate) power_cuts: Vec<Nanos>,
    /// How long it is away then, besides what it looks through.
    pub(crate) recovery_time: Nanos,
    /// At which a die stops working.
    pub(crate) lost_die: Option<Nanos>,
}

impl Faults {
    /// None of a real drive.
    pub(crate) fn of(drive: &DeviceInfo) -> Self {
        let profile = drive.profile.as_ref().and_then(|profile| profile.values.get("faults"));
        let Some(faults) = profile else { return Self::default() };
        let time = |value: &serde_json::Value| -> Option<Nanos> { value.as_str()?.parse().ok() };
        let cuts = faults.get("power_cuts").and_then(|cuts| cuts.as_array());
        Self {
            power_cuts: cuts.into_iter().flatten().filter_map(time).collect(),
            recovery_time: faults.get("recovery_time").and_then(time).unwrap_or(Nanos::ZERO),
            lost_die: faults
                .get("lost_die")
                .filter(|die| die.is_number())
                .and_then(|_| time(faults.get("lost_die_at")?)),
        }
    }
}
