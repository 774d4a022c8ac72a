//! What came of the parts that were run.

use serde::{Deserialize, Serialize};

use super::cross_stimulus::CrossStimulus;
use super::demand::Demand;
use super::host_idle::HostIdle;
use super::rounds::PartOutcome;
use super::saturation::Saturation;

/// The parts that were run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// IOPS, throughput and latency, in the order of the plan.
    pub parts: Vec<PartOutcome>,
    /// Write saturation.
    pub saturation: Option<Saturation>,
    /// Host idle recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_idle: Option<HostIdle>,
    /// Cross stimulus recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_stimulus: Option<CrossStimulus>,
    /// Demand intensity and the composite, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
}
