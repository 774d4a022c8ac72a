//! Doubts about traces that were done again.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos};
use writecliff_trace::Map;

use crate::record::number::counted;

/// A trace was not done as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TraceWarning {
    /// A trace does not tell what waited for what.
    #[error(
        "The trace {trace} tells neither queue depths nor completions: its operations were done \
         one after the other, whatever had been in flight together. By its own clock (speed = 1.0 in \
         its plan) it would be as recorded."
    )]
    OrderUnknown {
        /// Its name.
        trace: String,
    },
    /// A trace did not lie where it was recorded.
    #[error(
        "The trace {trace} reaches up to {end} and was laid onto {span} of the drive, {}: places \
         that were apart may have met.",
        laid(*map)
    )]
    Mapped {
        /// Its name.
        trace: String,
        /// The first byte that no operation of it reaches.
        end: Bytes,
        /// The part of the drive in use.
        span: Bytes,
        /// How.
        map: Map,
    },
    /// A drive without TRIM was asked for some.
    #[error("The trace {trace}: {} left out, because the drive takes none.", counted(*count, "trim"))]
    TrimsLeftOut {
        /// Its name.
        trace: String,
        /// How many.
        count: u64,
    },
    /// A trace reads a drive that holds nothing.
    #[error(
        "The trace {trace} was done on a simulated drive as it comes, which holds nothing: what it reads and has not \
         written itself is faster on many drives to read than data. Without --as-is (`prepare` in its plan) \
         the drive is filled first."
    )]
    OnEmptyDrive {
        /// Its name.
        trace: String,
    },
    /// A trace was not done to its end.
    #[error(
        "The trace {trace} was not done to its end: its figures are of {done} of its {planned} operations."
    )]
    TraceCutShort {
        /// Its name.
        trace: String,
        /// Operations that completed well.
        done: u64,
        /// Operations that were to be done.
        planned: u64,
    },
    /// A replay by the clock did not keep to it.
    #[error(
        "The trace {trace}: one of a hundred operations began {late} late or later, because the \
         queue was full or, of a real drive, this machine was busy. Response times hold that wait."
    )]
    Late {
        /// Its name.
        trace: String,
        /// The 99th percentile of the delay.
        late: Nanos,
    },
}

/// How a trace was laid onto a smaller drive.
const fn laid(map: Map) -> &'static str {
    match map {
        Map::Exact => "where they were",
        Map::Wrap => "beginning again at its start",
        Map::Scale => "pressed together",
    }
}
