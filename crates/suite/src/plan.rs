//! What all plans have in common: limits that are checked, demands on the engine, and how long it
//! will take.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, ErrorKind, Nanos, Throughput};

/// What a plan needs of a device's engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demands {
    /// I/Os in flight at once.
    pub queue_depth: usize,
    /// The longest read or write.
    pub io_size: Bytes,
}

/// A plan that cannot be carried out on this drive.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{option} {got} is not possible: {reason}")]
pub struct PlanError {
    /// What to change: a key of the plan, or of [`Overrides`], where it is one.
    pub option: &'static str,
    /// What it was.
    pub got: String,
    /// Why it cannot be, and what can.
    pub reason: String,
}

impl PlanError {
    /// A plan is always a matter of asking differently.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// What a user may change in any test's plan; `None` leaves the method's own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// Length of the part that the test is about.
    pub duration: Option<Nanos>,
    /// Shares of the LBAs to leave untouched, in percent.
    pub spare: Vec<f64>,
    /// Decides everything that is random.
    pub seed: Option<u64>,
    /// The traces of a storage bench.
    #[serde(default)]
    pub traces: Vec<String>,
    /// The run whose data are to be read again.
    #[serde(default)]
    pub reopen: Option<PathBuf>,
}

/// What a user may change in the plans of some tests and not of others: a field of [`Overrides`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// [`Overrides::duration`].
    Duration,
    /// [`Overrides::spare`] with one share: the setting of the whole run.
    Spare,
    /// [`Overrides::spare`] with any number of shares.
    SpareList,
    /// [`Overrides::traces`].
    Traces,
    /// [`Overrides::reopen`].
    Reopen,
}

impl Choice {
    /// The field's name.
    pub fn key(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::Spare | Self::SpareList => "spare",
            Self::Traces => "traces",
            Self::Reopen => "reopen",
        }
    }

    /// Whether it is a list of settings, which are one test's own: a review of many tests takes it
    /// for that one.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::SpareList | Self::Traces)
    }
}

impl Overrides {
    /// What was changed beside the seed: the keys, and what to.
    pub(crate) fn given(&self) -> Vec<(&'static str, String)> {
        let duration = self.duration.map(|duration| ("duration", typed(duration)));
        let spare = (!self.spare.is_empty()).then(|| ("spare", listed(&self.spare)));
        let traces = (!self.traces.is_empty()).then(|| ("traces", self.traces.join(",")));
        let reopen = self.reopen.as_ref().map(|run| ("reopen", run.display().to_string()));
        [duration, spare, traces, reopen].into_iter().flatten().collect()
    }

    /// What a review changes in a test with these choices: lists of settings only where they are
    /// its own.
    pub(crate) fn for_review(&self, choices: &[Choice]) -> Self {
        let mut own = self.clone();
        if !choices.contains(&Choice::SpareList) {
            own.spare.clear();
        }
        if !choices.contains(&Choice::Traces) {
            own.traces.clear();
        }
        own
    }
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
    /// What the drive is assumed to do.
    pub(crate) rates: Rates,
}

/// What a drive of a class is assumed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rates {
    /// Writes in order, and reads.
    pub(crate) sequential: Throughput,
    /// Writes of small blocks, over long times.
    pub(crate) random: Throughput,
}

const SSD: Rates = Rates { sequential: Throughput(400_000_000), random: Throughput(60_000_000) };
const DISK: Rates = Rates { sequential: Throughput(100_000_000), random: Throughput(1_200_000) };

impl Default for Rates {
    fn default() -> Self {
        SSD
    }
}

impl Estimate {
    /// Nothing yet, on this drive. A loop device says that it turns, but has no serial number.
    pub(crate) fn on(drive: &DeviceInfo) -> Self {
        let has_name = drive.kind == DeviceKind::Simulated || drive.serial.is_some();
        let rates = if drive.rotational && has_name { DISK } else { SSD };
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

    /// Also does nothing, or only reads, for so long.
    #[must_use]
    pub(crate) fn rest(self, duration: Nanos) -> Self {
        Self { time: self.time + duration, ..self }
    }

    /// This and another plan.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (time, written) = (self.time + other.time, self.written + other.written);
        Self { time, written, memory: self.memory.max(other.memory), ..self }
    }

    fn at(self, rate: Throughput, duration: Nanos) -> Self {
        let bytes = rate.0 as f64 * duration.as_secs_f64();
        Self { time: self.time + duration, written: self.written + Bytes(bytes as u64), ..self }
    }
}

/// A quick review's tortures last so long.
pub(crate) const QUICK_TORTURE: Nanos = Nanos::from_secs(15);
/// A quick review's short measurements last so long.
pub(crate) const QUICK_MEASUREMENT: Nanos = Nanos::from_secs(3);
/// A quick review touches no more of a drive than this.
pub(crate) const QUICK_SPAN: Bytes = Bytes::from_gib(2);

/// The seed of a measurement: each goes to places of its own, or drives would see the same writes
/// again, which leave most of what they had to move already gone.
pub(crate) fn seed_of(seed: u64, measurement: &str) -> u64 {
    seed.wrapping_mul(1_000_003).wrapping_add(hash(measurement))
}

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// A quick run uses no more than the plan does.
pub(crate) fn quick_span(span: Option<Bytes>) -> Option<Bytes> {
    Some(span.map_or(QUICK_SPAN, |own| own.min(QUICK_SPAN)))
}

/// The part of the drive that a test uses, from its start, in whole blocks.
pub(crate) fn used(span: Option<Bytes>, capacity: Bytes, block: Bytes) -> Bytes {
    block * (span.unwrap_or(capacity).min(capacity).0 / block.0.max(1))
}

pub(crate) fn check_duration(option: &'static str, duration: Nanos) -> Result<(), PlanError> {
    if (Nanos::from_secs(1)..=Nanos::from_secs(30 * 86_400)).contains(&duration) {
        return Ok(());
    }
    let reason = "it lasts between 1s and 720h".to_owned();
    Err(PlanError { option, got: typed(duration), reason })
}

/// A block must be whole LBAs, and fit into the part of the drive that is used.
pub(crate) fn check_block(
    block: Bytes,
    span: Option<Bytes>,
    drive: &DeviceInfo,
) -> Result<(), PlanError> {
    let refuse = |reason| Err(PlanError { option: "a block of", got: block.exact(), reason });
    if block == Bytes::ZERO || !block.is_multiple_of(drive.lba_size) {
        return refuse(format!("the drive's LBAs have {}", drive.lba_size.exact()));
    }
    if used(span, drive.capacity, block) < block {
        let span = span.unwrap_or(drive.capacity).min(drive.capacity);
        return refuse(format!("{span} of {} are used, which holds none", drive.model));
    }
    Ok(())
}

/// Every queue depth of a plan must be one that the drive takes.
pub(crate) fn check_depths(
    depths: impl IntoIterator<Item = usize>,
    drive: &DeviceInfo,
) -> Result<(), PlanError> {
    let is_possible = |depth: &usize| (1..=drive.queue_depth_max).contains(depth);
    let Some(depth) = depths.into_iter().find(|depth| !is_possible(depth)) else {
        return Ok(());
    };
    let reason = format!("the drive takes 1 to {} I/Os at once", drive.queue_depth_max);
    Err(PlanError { option: "a queue depth of", got: depth.to_string(), reason })
}

/// A list that a test goes through must have something in it, and nothing twice.
pub(crate) fn check_list<T: PartialEq + Serialize>(
    option: &'static str,
    list: &[T],
) -> Result<(), PlanError> {
    let is_repeated = |index: usize| list[..index].contains(&list[index]);
    let reason = match list {
        [] => "it needs at least one entry",
        _ if (0..list.len()).any(is_repeated) => "an entry is there twice",
        _ => return Ok(()),
    };
    Err(PlanError { option, got: listed(list), reason: reason.to_owned() })
}

/// A time as a person types it: nobody types no time in nanoseconds.
fn typed(time: Nanos) -> String {
    if time == Nanos::ZERO { "0s".to_owned() } else { time.exact() }
}

/// A list as a person types it: `10,25`, `4KiB,128KiB`.
pub(crate) fn listed<T: Serialize>(list: &[T]) -> String {
    if list.is_empty() {
        return "[]".to_owned();
    }
    let in_words = |entry: &T| match serde_json::to_value(entry) {
        Ok(Value::String(text)) => text,
        Ok(Value::Number(number)) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        Ok(other) => other.to_string(),
        // What is no JSON is no entry of a plan either.
        Err(error) => error.to_string(),
    };
    list.iter().map(in_words).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_repeated_as_it_is_typed() {
        assert_eq!(listed(&[10.0, 2.5]), "10,2.5");
        assert_eq!(listed(&[Bytes::from_kib(4), Bytes::from_kib(128)]), "4KiB,128KiB");
        assert_eq!(listed(&["light-2011"]), "light-2011");
        assert_eq!(listed::<u8>(&[]), "[]");
        let refused = check_duration("duration", Nanos::ZERO).unwrap_err().to_string();
        assert!(refused.starts_with("duration 0s is not possible"), "{refused}");
    }
}
