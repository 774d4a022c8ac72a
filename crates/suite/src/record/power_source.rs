//! Where a run's power comes from.

use serde::{Deserialize, Serialize};
use writecliff_measure::MeterOptions;

/// What told the power in a run's samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PowerSource {
    /// The drive itself; most real ones do not.
    #[default]
    Drive,
    /// The log of a meter, added afterwards.
    Meter(MeterOptions),
}
