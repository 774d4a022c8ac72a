//! What a simulated drive is built of: plain data, read from TOML by [`file`], judged by
//! [`possible`].
//!
//! Every mechanism has its section. A section that a profile leaves out, or whose `kind` is
//! `"none"`, is a mechanism that the drive does not have.

mod catalogue;
mod disk;
mod file;
mod possible;
mod program_time;
mod record;
mod scale;
mod security;
mod ssd;
mod what_if;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff_device::{Bytes, Nanos, Power, ProfileRecord, Specification, Throughput};

pub use catalogue::{catalogue, load, load_file, load_text, shipped_text};
pub use disk::{DiskCache, DiskProfile, DiskQueue, Mechanics, QueueOrdering, Zones};
pub use file::ProfileError;
pub(crate) use file::{OF_VICTIM, ProfileFile};
pub use program_time::ProgramTime;
pub(crate) use record::of_values;
pub use record::{Origin, recorded, sha256};
pub use scale::scaled;
pub use security::{Engine, Opal, Security};
pub use ssd::{
    Faults, Firmware, Gc, HostCache, Levelling, Mapping, MappingKind, Nand, Pacing, Parity,
    PowerModel, Reduction, SlcBuffer, SlcKind, SsdProfile, Trim, TrimKind, Victim, Wear,
    WriteBuffer,
};
pub use what_if::changed;

/// The unit of addressing of every simulated drive.
pub const LBA_SIZE: Bytes = Bytes(512);

/// A simulated drive of either kind. A profile with `[mechanics]` is a disk.
#[derive(Debug, Clone, PartialEq)]
pub enum Profile {
    /// A solid-state drive.
    Ssd(Box<SsdProfile>),
    /// A magnetic disk.
    Disk(Box<DiskProfile>),
}

impl Profile {
    /// What the box says.
    pub fn identity(&self) -> &Identity {
        match self {
            Self::Ssd(ssd) => &ssd.identity,
            Self::Disk(disk) => &disk.identity,
        }
    }

    pub(crate) fn identity_mut(&mut self) -> &mut Identity {
        match self {
            Self::Ssd(ssd) => &mut ssd.identity,
            Self::Disk(disk) => &mut disk.identity,
        }
    }

    pub(crate) fn origin_mut(&mut self) -> &mut Origin {
        match self {
            Self::Ssd(ssd) => &mut ssd.origin,
            Self::Disk(disk) => &mut disk.origin,
        }
    }

    /// Every key of the profile with its value, section by section.
    pub(crate) fn values(&self) -> Map<String, Value> {
        match self {
            Self::Ssd(ssd) => record::values_of(ssd),
            Self::Disk(disk) => record::values_of(disk),
        }
    }

    /// What a run keeps of it; [`recorded`] is the way back.
    pub fn record(&self) -> ProfileRecord {
        match self {
            Self::Ssd(ssd) => ssd.record(),
            Self::Disk(disk) => disk.record(),
        }
    }

    /// The profile, if it is that of a solid-state drive.
    pub fn into_ssd(self) -> Option<SsdProfile> {
        match self {
            Self::Ssd(ssd) => Some(*ssd),
            Self::Disk(_) => None,
        }
    }

    pub(crate) fn impossibility(&self) -> Option<Impossibility> {
        match self {
            Self::Ssd(ssd) => ssd.impossibility(),
            Self::Disk(disk) => disk.impossibility(),
        }
    }
}

/// The keys that a profile could be mended at, and what is wrong.
pub type Impossibility = (Vec<&'static str>, String);

/// What the box says. Nothing of it but the capacity has an effect.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The maker's name for the drive.
    pub model: String,
    /// Bytes that a host can address.
    pub capacity: Bytes,
    /// 2.5", mSATA, M.2, ...
    pub form_factor: String,
    /// When it was first sold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
    /// The controller chip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// RAM on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<Bytes>,
    /// The NAND as a review lists it: packages × dies, raw capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// A price in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_usd: Option<f64>,
    /// When and where the price was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_of: Option<String>,
    /// Host writes that the maker promises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_writes: Option<Bytes>,
    /// Keys that were fitted to what was measured of the drive, each with the scenario of
    /// `drives/published/treatments.toml` that it was fitted to. Not inherited by another model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fitted: BTreeMap<String, String>,
    /// Where the published numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// What the profile rests on, and what it does not claim.
    pub note: String,
}

impl Identity {
    /// What a data sheet says of the drive, but for its NAND.
    pub fn specification(&self) -> Specification {
        Specification {
            form_factor: Some(self.form_factor.clone()),
            released: self.released.clone(),
            controller: self.controller.clone(),
            dram: self.dram,
            nand_configuration: self.configuration.clone(),
            rated_writes: self.rated_writes,
            price_usd: self.price_usd,
            price_of: self.price_of.clone(),
            ..Specification::default()
        }
    }

    /// The price of a gigabyte (10^9 bytes) in US dollars.
    pub fn price_per_gb(&self) -> Option<f64> {
        Some(self.price_usd? / (self.capacity.0 as f64 / 1e9))
    }
}

/// The connection to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What the interface is called.
    pub interface: String,
    /// Commands that may be outstanding (SATA NCQ: 32).
    pub queue_depth: u32,
    /// Best rate of data to the host.
    pub read_throughput: Throughput,
    /// Best rate of data from the host.
    pub write_throughput: Throughput,
    /// What a command costs on the link besides its data.
    pub command_time: Nanos,
    /// Power states that the link falls into when idle, the shallowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sleep: Vec<SleepState>,
}

/// A power state of an idle link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SleepState {
    /// What the state is called: partial, slumber, DevSleep.
    pub name: String,
    /// Entered when nothing was in flight for so long.
    pub after: Nanos,
    /// What the next command waits until the link is back.
    pub exit_time: Nanos,
    /// What the whole drive draws meanwhile, unless it has work of its own to do.
    pub power: Power,
}
