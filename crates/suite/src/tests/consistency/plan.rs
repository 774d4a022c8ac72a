//! What is asked: how long, with which I/Os, on how much of the drive.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Nanos};

use crate::method::estimate::is_hard_disk;
use crate::method::limits::used;
use crate::method::overrides::Overrides;
use crate::method::settling::Settling;

/// Whether the random writes go on beyond their duration until the drive is steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntilSteady {
    /// They end with their duration: what plans say that say nothing of it.
    #[default]
    No,
    /// On a simulated SSD; a real drive would be worn by it, and takes hours.
    IfSimulated,
    /// They do, within [`DRIVE_WRITES_MAX`](super::DRIVE_WRITES_MAX).
    Yes,
}

/// What to do. The defaults are the published method, beyond which simulated drives go on until they
/// are steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Length of the random writes, or of their first part.
    pub duration: Nanos,
    /// Whether they go on until the drive is steady.
    #[serde(default, skip_serializing_if = "UntilSteady::is_no")]
    pub until_steady: UntilSteady,
    /// Size of a random write.
    pub block: Bytes,
    /// Random writes in flight.
    pub queue_depth: usize,
    /// Size of a write of the fill.
    pub fill_block: Bytes,
    /// Writes of the fill in flight.
    pub fill_queue_depth: usize,
    /// Share of the LBAs, in percent, that is never touched after the purge.
    pub spare_percent: f64,
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            duration: Nanos::from_secs(2000),
            until_steady: UntilSteady::IfSimulated,
            block: Bytes::from_kib(4),
            queue_depth: 32,
            fill_block: Bytes::from_kib(128),
            fill_queue_depth: 32,
            spare_percent: 0.0,
            span: None,
            seed: 1,
        }
    }
}

impl UntilSteady {
    pub(crate) fn is_no(&self) -> bool {
        *self == Self::No
    }

    /// What a user asks for beside the plan: who sets a duration wants that.
    pub(crate) fn overridden(self, overrides: &Overrides) -> Self {
        match (overrides.until_steady, overrides.duration) {
            (true, _) => Self::Yes,
            (false, Some(_)) => Self::No,
            (false, None) => self,
        }
    }

    /// What it comes to on a drive.
    pub(crate) fn on(self, drive: &DeviceInfo) -> Self {
        let is_simulated_ssd = drive.kind == DeviceKind::Simulated && !is_hard_disk(drive);
        match self {
            Self::IfSimulated if is_simulated_ssd => Self::Yes,
            Self::IfSimulated => Self::No,
            decided => decided,
        }
    }
}

impl Plan {
    /// The published method for so long and no longer.
    pub fn lasting(duration: Nanos) -> Self {
        Self { duration, until_steady: UntilSteady::No, ..Self::default() }
    }

    /// The random writes, where so much is in use.
    pub(super) fn settling(&self, used: Bytes) -> Settling {
        Settling { block: self.block, least: self.duration, used }
    }

    /// The LBAs in use: the first part of the drive, in whole blocks.
    pub fn used(&self, capacity: Bytes) -> Bytes {
        let all = used(self.span, capacity, self.block);
        let used = all.0 as f64 * (1.0 - self.spare_percent / 100.0);
        self.block * ((used as u64).min(all.0) / self.block.0)
    }
}
