//! What a plan may ask of a drive: limits that several tests check, and the words of a refusal.

use serde::Serialize;
use serde_json::Value;
use writecliff_device::{Bytes, DeviceInfo, ErrorKind, Nanos};

/// A plan that cannot be carried out on this drive.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{option} {got} is not possible: {reason}")]
pub struct PlanError {
    /// What to change: a key of the plan, or of [`Overrides`](crate::Overrides), where it is one.
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

/// As many as Linux lets all programs together submit without waiting (`fs.aio-max-nr`).
pub(crate) const IN_FLIGHT_MAX: usize = 65_536;

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

/// Shares are in percent of a whole.
pub(crate) fn check_percents(option: &'static str, percents: &[u8]) -> Result<(), PlanError> {
    if percents.iter().all(|percent| *percent <= 100) {
        return Ok(());
    }
    let reason = "a share is at most 100 percent".to_owned();
    Err(PlanError { option, got: listed(percents), reason })
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
pub(crate) fn typed(time: Nanos) -> String {
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
