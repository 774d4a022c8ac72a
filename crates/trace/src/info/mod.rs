//! What a trace is like: the figures by which the documents describe theirs, and what is drawn of
//! it. docs/methodology.md has the definitions.
//!
//! One pass, at bounded memory: up to 1 GiB for the footprint (half a byte for each 4 KiB block of
//! every stretch of 16 MiB touched; a trace that would need more has none), a few MiB for all else.

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

pub use classes::Class;
pub use figures::{
    Busy, Description, Info, QueueDepths, ServiceTimes, Share, Sizes, StreamShare, Transfers,
    WrittenContent,
};
pub use over_time::{OffsetCell, OffsetMap, Window};
pub use sequential::SequentialDetector;
pub use service::ServiceTime;

/// As many as the processor can wait for together.
const TAKEN_AT_ONCE: usize = 64;

/// The figures of a trace that lasts about `duration`: the windows of what is shown over time are
/// cut from that. An operation that was issued later counts in the last window, one that is out of
/// order as if issued together with the one before it.
///
/// # Errors
/// The first that `ios` gives; [`ReadError::Oversized`] if an operation is longer than any drive
/// takes at once.
pub fn describe(
    ios: impl Iterator<Item = Result<TraceIo, ReadError>>,
    duration: Nanos,
) -> Result<Info, ReadError> {
    let mut describer = Describer::new(duration);
    let mut next = Vec::with_capacity(TAKEN_AT_ONCE);
    for io in ios {
        next.push(io?);
        if next.len() == TAKEN_AT_ONCE {
            describer.add(&next)?;
            next.clear();
        }
    }
    describer.add(&next)?;
    Ok(describer.finish())
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
