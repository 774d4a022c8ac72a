//! What a plan will take: of the engine, of time, of the drive's endurance, and of memory.

use std::ops::Range;

use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Mechanism, Nanos, Throughput};

/// What a plan needs of a device's engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demands {
    /// I/Os in flight at once.
    pub queue_depth: usize,
    /// The longest read or write.
    pub io_size: Bytes,
}

/// How long a plan takes and how much it writes, roughly, before anything of the drive is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Device time.
    pub time: Nanos,
    /// Bytes written by the host.
    pub written: Bytes,
    /// This machine's memory, if it takes much.
    pub memory: Bytes,
    /// Whether it may well take less: it ends when the drive is steady.
    pub is_most: bool,
    /// Whether the bytes are of times, in which a faster drive is written more.
    pub is_timed: bool,
    /// What the drive is assumed to do.
    pub rates: Rates,
}

/// What a drive of a class is assumed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Writes in order, and reads.
    pub sequential: Throughput,
    /// Writes of small blocks, over long times.
    pub random: Throughput,
}

/// Of which part of a drive it, or every member of it, is a model: `sim:NAME@1/16`.
pub fn scale(drive: &DeviceInfo) -> Option<u32> {
    let (_, parts) = drive.address.rsplit_once("@1/")?;
    let parts = parts.split_once(',').map_or(parts, |(parts, _)| parts);
    (drive.kind == DeviceKind::Simulated).then(|| parts.parse().ok()).flatten()
}

const SSD: Rates = Rates { sequential: Throughput(400_000_000), random: Throughput(60_000_000) };
const DISK: Rates = Rates { sequential: Throughput(100_000_000), random: Throughput(1_200_000) };

impl Default for Rates {
    fn default() -> Self {
        SSD
    }
}

/// Whether it turns. A loop device says that it does, but has no serial number.
pub fn is_hard_disk(drive: &DeviceInfo) -> bool {
    let has_name = drive.kind == DeviceKind::Simulated || drive.serial.is_some();
    drive.rotational && has_name
}

/// Whether a drive, or its model, does not do this.
pub(crate) fn lacks(drive: &DeviceInfo, mechanism: Mechanism) -> bool {
    let is_of_no_disk = mechanism == Mechanism::Collection && is_hard_disk(drive);
    is_of_no_disk || drive.not_modelled.contains(&mechanism)
}

impl Estimate {
    /// Nothing yet, on this drive.
    pub(crate) fn on(drive: &DeviceInfo) -> Self {
        let rates = if is_hard_disk(drive) { DISK } else { SSD };
        Self { rates, ..Self::default() }
    }

    /// Also writes `bytes` in order.
    #[must_use]
    pub(crate) fn fill(self, bytes: Bytes) -> Self {
        let time = self.time + self.rates.sequential.time_for(bytes);
        Self { time, written: self.written + bytes, ..self }
    }

    /// Also reads `bytes`, most of them in order.
    #[must_use]
    pub(crate) fn read(self, bytes: Bytes) -> Self {
        Self { time: self.time + self.rates.sequential.time_for(bytes), ..self }
    }

    /// Also writes in order for so long.
    #[must_use]
    pub(crate) fn sequential(self, duration: Nanos) -> Self {
        self.at(self.rates.sequential, duration)
    }

    /// Also writes small blocks for so long.
    #[must_use]
    pub(crate) fn random(self, duration: Nanos) -> Self {
        self.at(self.rates.random, duration)
    }

    /// Also writes small blocks for the shorter time at least, and on until the longer one is over or
    /// `drive` was written so many times.
    #[must_use]
    pub(crate) fn random_until(self, time: Range<Nanos>, drive: Bytes, times: f64) -> Self {
        let bytes = Bytes((drive.0 as f64 * times) as u64);
        let longest = self.rates.random.time_for(bytes).clamp(time.start, time.end);
        Self { is_most: true, ..self.random(longest) }
    }

    /// Also does nothing, or only reads, for so long.
    #[must_use]
    pub(crate) fn rest(self, duration: Nanos) -> Self {
        Self { time: self.time + duration, ..self }
    }

    /// This and another plan.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (time, written) = (self.time + other.time, self.written + other.written);
        let is_most = self.is_most || other.is_most;
        let is_timed = self.is_timed || other.is_timed;
        Self { time, written, memory: self.memory.max(other.memory), is_most, is_timed, ..self }
    }

    fn at(self, rate: Throughput, duration: Nanos) -> Self {
        let bytes = rate.0 as f64 * duration.as_secs_f64();
        let (time, written) = (self.time + duration, self.written + Bytes(bytes as u64));
        Self { time, written, is_timed: true, ..self }
    }
}
