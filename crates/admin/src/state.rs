//! What a drive is doing now, how it is set up, and what went wrong with it.

use std::time::Duration;

use serde::Serialize;
use writecliff_device::Bytes;

/// A command that failed, as an NVMe drive remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoggedError {
    /// How many there had been, with this one, in the drive's life.
    pub count: u64,
    /// The status that it was answered with: its type in bits 8 to 10, its code below.
    pub status: u16,
    /// The status in words.
    pub words: &'static str,
    /// Whether the drive was wrong, and not the command: data lost, an internal error.
    pub is_real: bool,
    /// The first LBA that it is about, of a command that has any.
    pub lba: Option<u64>,
    /// The namespace that it is about.
    pub namespace: Option<u32>,
}

/// Places in an NVMe drive for firmware.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FirmwareSlots {
    /// Which one runs.
    pub active: u8,
    /// Which one runs after the next reset, if that is another.
    pub next: Option<u8>,
    /// Those that hold firmware.
    pub slots: Vec<FirmwareSlot>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FirmwareSlot {
    /// From 1.
    pub number: u8,
    /// The firmware's revision.
    pub revision: String,
}

/// How an NVMe drive goes to sleep without being told to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PowerTransitions {
    /// Whether it does.
    pub enabled: bool,
    /// The steps that it takes when it idles, from the first state on.
    pub steps: Vec<PowerTransition>,
}

/// From one power state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PowerTransition {
    /// In this state,
    pub from: u8,
    /// after having idled for so long,
    #[serde(rename = "after_ms", serialize_with = "millis")]
    pub after: Duration,
    /// it goes into this one.
    pub to: u8,
}

/// Whether an ATA drive works or rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PowerMode {
    /// It works, or could at once.
    ActiveOrIdle,
    /// It saves power and can be read after moments.
    Idle,
    /// A disk stands still, and takes seconds to come back.
    Standby,
}

/// Memory of the host that an NVMe drive without enough of its own works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostMemory {
    /// What it would like to have.
    #[serde(rename = "preferred_bytes", serialize_with = "number")]
    pub preferred: Bytes,
    /// What it can use at least.
    #[serde(rename = "least_bytes", serialize_with = "number")]
    pub least: Bytes,
    /// What the host lends it now: zero if nothing, `None` if it cannot be asked.
    #[serde(rename = "lent_bytes", serialize_with = "maybe_number")]
    pub lent: Option<Bytes>,
}

fn millis<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    (time.as_millis() as u64).serialize(to)
}

fn number<S: serde::Serializer>(bytes: &Bytes, to: S) -> Result<S::Ok, S::Error> {
    bytes.0.serialize(to)
}

fn maybe_number<S: serde::Serializer>(bytes: &Option<Bytes>, to: S) -> Result<S::Ok, S::Error> {
    bytes.map(|bytes| bytes.0).serialize(to)
}
