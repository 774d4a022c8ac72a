//! How tests fill a drive before they look.

use writecliff_device::{Bytes, Nanos};

/// Size of a write of a fill.
pub(crate) const FILL_BLOCK: Bytes = Bytes::from_kib(128);
/// Writes of a fill in flight.
pub(crate) const FILL_QUEUE_DEPTH: usize = 32;
/// Between a fill and reads.
pub(crate) const SETTLE_TIME: Nanos = Nanos::from_secs(60);
