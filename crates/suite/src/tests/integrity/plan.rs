//! What is asked: which blocks, and what is done to them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};

use super::ledger::Ledger;
use crate::method::limits::{PlanError, used};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// How long random operations are begun.
    pub duration: Nanos,
    /// Stretches of the drive with a probe in each; the first stretch is written whole.
    pub probes: u32,
    /// Share of the random operations that are looks, in percent.
    pub read_percent: u8,
    /// I/Os in flight.
    pub queue_depth: usize,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// The directory of an earlier run, whose blocks are read and compared and nothing is written;
    /// what else is in the plan is that run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopen: Option<PathBuf>,
    /// Decides what goes where, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            duration: Nanos::from_secs(2000),
            probes: 1024,
            read_percent: 30,
            queue_depth: 32,
            span: None,
            reopen: None,
            seed: 1,
        }
    }
}

impl Plan {
    pub(super) fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, block_of(drive))
    }

    pub(super) fn check_memory(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let used = self.used(drive);
        let needed = self.memory(drive);
        match available_memory() {
            Some(free) if needed > free => {
                let reason = format!(
                    "to keep what each block must hold takes {needed} of memory, and {free} are \
                     free; take a smaller part of the drive"
                );
                Err(PlanError { option: "span", got: used.exact(), reason })
            }
            _ => Ok(()),
        }
    }

    /// What is kept of each block takes so much.
    pub(super) fn memory(&self, drive: &DeviceInfo) -> Bytes {
        Ledger::memory(self.used(drive).0 / block_of(drive).0)
    }
}

/// The block that is stamped: as large as most drives' pages, and whole LBAs.
pub(super) fn block_of(drive: &DeviceInfo) -> Bytes {
    Bytes::from_kib(4).max(drive.lba_size)
}

/// Memory that this machine can give (proc(5)); `None` if it does not tell.
fn available_memory() -> Option<Bytes> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::from_kib(kib))
}
