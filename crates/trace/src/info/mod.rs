//! What a trace is like: the figures by which the documents describe theirs, and what is drawn of
//! it. docs/methodology/traces.md has the definitions.
//!
//! One pass, at bounded memory: up to 1 GiB for the footprint (half a byte for each 4 KiB block of
//! every stretch of 16 MiB touched; three times as much of a trace whose duration is not known; one
//! that is scattered farther has none), a few MiB for all else.

mod busy;
mod classes;
mod describer;
mod figures;
mod footprint;
mod over_time;
mod sequential;
mod service;
mod tallies;

use writecliff_device::Nanos;

use crate::{ReadError, TraceIo};

use describer::Describer;
use over_time::Windows;

pub use classes::Class;
pub use figures::{
    Busy, Description, Info, QueueDepths, ServiceTimes, Share, Sizes, StreamShare, Transfers,
    WrittenContent,
};
pub use over_time::{OffsetCell, OffsetMap, Window};
pub use sequential::SequentialDetector;
pub use service::ServiceTime;

/// The figures of a trace that lasts about `duration`: the windows of what is shown over time are
/// cut from that. An operation that was issued later counts in the last window, one that is out of
/// order as if issued together with the one before it. Of a trace whose duration nobody knows
/// (`None`) the windows become twice as wide whenever they are too many.
///
/// # Errors
/// The first that `ios` gives; [`ReadError::Oversized`] if an operation is longer than any drive
/// takes at once.
pub fn describe(
    ios: impl Iterator<Item = Result<TraceIo, ReadError>>,
    duration: impl Into<Option<Nanos>>,
) -> Result<Info, ReadError> {
    match duration.into() {
        Some(duration) => Describer::new(Windows::of(duration.0)).describe(ios),
        None => Describer::new(Windows::doubling()).describe(ios),
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
