//! What is known of a drive from its own words, whatever it speaks.

use std::time::Duration;

use serde::Serialize;
use writecliff_device::{Bytes, Link, Purge};

use crate::trusted::SelfEncryption;

use crate::state::{FirmwareSlots, HostMemory, LoggedError, PowerMode, PowerTransitions};

/// A drive in its own words. `None` is what it does not tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Facts {
    /// The command set and its version: `NVMe 1.4`, `ACS-4`.
    pub speaks: String,
    /// The maker's model name.
    pub model: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// The firmware revision.
    pub firmware: Option<String>,
    /// Bytes that the host can address.
    #[serde(rename = "capacity_bytes", serialize_with = "number")]
    pub capacity: Bytes,
    /// How many namespaces the drive has, of which this is one; NVMe only, and `None` too if it does
    /// not tell.
    pub namespaces: Option<usize>,
    /// How the host's blocks may be laid out; the one in use is marked.
    pub formats: Vec<LbaFormat>,
    /// The link as it came up.
    pub link: Option<Link>,
    /// Cache of writes.
    pub write_cache: Option<WriteCache>,
    /// Power states, the first draws most.
    pub power_states: Vec<PowerState>,
    /// The power state that it is in; NVMe only.
    pub power_state_now: Option<u8>,
    /// When it changes its power state by itself; NVMe only.
    pub power_transitions: Option<PowerTransitions>,
    /// Whether it rests; ATA only.
    pub power_mode: Option<PowerMode>,
    /// Memory of the host that it works with; NVMe only.
    pub host_memory: Option<HostMemory>,
    /// Where its firmware may lie; NVMe only.
    pub firmware_slots: Option<FirmwareSlots>,
    /// Where it begins to slow down, and where it stops, in degrees Celsius.
    pub warning_c: Option<i32>,
    /// See [`Self::warning_c`].
    pub critical_c: Option<i32>,
    /// Wear, errors, temperature, and what it counted.
    pub health: Option<Health>,
    /// The errors that it remembers, the newest first; NVMe only.
    pub errors: Vec<LoggedError>,
    /// Its lock.
    pub security: Option<Security>,
    /// Its own encryption.
    pub encryption: Option<SelfEncryption>,
    /// The ways it has to erase everything, by its own word, and why one is not possible now.
    pub purges: Vec<PurgeOffer>,
}

/// A size of LBAs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LbaFormat {
    /// Data of an LBA.
    #[serde(rename = "data_bytes", serialize_with = "number")]
    pub data: Bytes,
    /// Metadata beside it.
    #[serde(rename = "metadata_bytes", serialize_with = "number")]
    pub metadata: Bytes,
    /// How it performs among the drive's formats, 0 is best; NVMe only.
    pub rank: Option<u8>,
    /// Whether the drive has it now.
    pub in_use: bool,
}

/// A volatile cache of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WriteCache {
    /// Whether it is on; `None` if it cannot be asked.
    pub enabled: Option<bool>,
}

/// A power state of an NVMe drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PowerState {
    /// Its number.
    pub number: u8,
    /// The most that it draws, in watts.
    pub max_w: Option<f64>,
    /// Whether it works in it.
    pub works: bool,
    /// The longest to enter it.
    #[serde(rename = "entry_us", serialize_with = "micros")]
    pub entry: Option<Duration>,
    /// The longest to leave it.
    #[serde(rename = "exit_us", serialize_with = "micros")]
    pub exit: Option<Duration>,
}

/// What a drive counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// What it warns of, in words.
    pub warnings: Vec<String>,
    /// Degrees Celsius now.
    pub temperature_c: Option<i32>,
    /// The highest that it has ever had.
    pub highest_c: Option<i32>,
    /// Endurance used, in per cent of what its maker expects; may exceed 100.
    pub used_percent: Option<u8>,
    /// Spare blocks left, in per cent.
    pub spare_percent: Option<u8>,
    /// Below so much it warns.
    pub spare_threshold_percent: Option<u8>,
    /// Written by hosts.
    #[serde(rename = "host_written_bytes")]
    pub host_written: Option<u128>,
    /// Read by hosts.
    #[serde(rename = "host_read_bytes")]
    pub host_read: Option<u128>,
    /// Written into NAND, if it tells.
    #[serde(rename = "nand_written_bytes")]
    pub nand_written: Option<u128>,
    /// The coarsest unit of what it counts as written.
    #[serde(rename = "written_unit_bytes")]
    pub written_unit: Option<u64>,
    /// Hours with power.
    pub power_on_hours: Option<u128>,
    /// How often power was switched on.
    pub power_cycles: Option<u128>,
    /// How often power went without a word.
    pub unsafe_shutdowns: Option<u128>,
    /// Data that it could not give back.
    pub media_errors: Option<u128>,
    /// Blocks that it has replaced by spare ones since it was made.
    pub reallocated: Option<u128>,
    /// Transfers over the link that came damaged and were done again.
    pub link_errors: Option<u128>,
    /// Commands that it has failed, of all kinds.
    pub logged_errors: Option<u128>,
    /// Minutes above the warning temperature.
    pub warm_minutes: Option<u128>,
    /// Minutes above the critical temperature.
    pub hot_minutes: Option<u128>,
}

/// The lock of a drive: ATA security.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Security {
    /// A user's password is set.
    pub enabled: bool,
    /// It gives no data without the password.
    pub locked: bool,
    /// It takes no security command until power is switched off, as most BIOSes arrange it.
    pub frozen: bool,
    /// Too many wrong passwords: power has to be switched off before the next.
    pub count_expired: bool,
}

/// A way that a drive has, and how it stands with it now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PurgeOffer {
    /// Which.
    pub kind: Purge,
    /// How long it takes by the drive's own word.
    #[serde(rename = "time_s", serialize_with = "seconds")]
    pub time: Option<Duration>,
    /// What it does besides, and what is in its way now: empty if nothing is.
    pub hindrances: Vec<String>,
}

fn number<S: serde::Serializer>(bytes: &Bytes, to: S) -> Result<S::Ok, S::Error> {
    bytes.0.serialize(to)
}

fn micros<S: serde::Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_micros() as u64).serialize(to)
}

fn seconds<S: serde::Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs()).serialize(to)
}
