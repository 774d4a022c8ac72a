//! How a device is to be driven, and what of that a drive can do.

use writecliff_device::{Bytes, Purge};

use crate::drive::identity::Identity;
use crate::guard::error::OpenError;

/// More than any drive's queue, and few enough to register a buffer for each.
pub const QUEUE_DEPTH_MAX: usize = 4096;

/// As long as one registered buffer sensibly gets.
pub(super) const IO_SIZE_MAX: Bytes = Bytes::from_mib(64);

/// How to drive a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The most I/Os in flight.
    pub queue_depth: usize,
    /// The longest I/O; a multiple of the device's LBA size.
    pub io_size_max: Bytes,
    /// What the written data is made from.
    pub seed: u64,
    /// The only purge to be offered; `None` for what the drive has, but for those that are only done
    /// if they are asked for by name.
    pub purge: Option<Purge>,
    /// Ask the drive for completions instead of waiting for its interrupts, which takes a drive with
    /// queues for that.
    pub poll: bool,
}

impl Options {
    /// Whether a drive can be driven so.
    pub(super) fn check(&self, identity: &Identity) -> Result<(), OpenError> {
        let unsuitable = |what, got, expected| OpenError::Options {
            path: identity.path.clone(),
            what,
            got,
            expected,
        };
        if !(1..=QUEUE_DEPTH_MAX).contains(&self.queue_depth) {
            let expected = format!("1 to {QUEUE_DEPTH_MAX}");
            return Err(unsuitable("queue depth", self.queue_depth as u64, expected));
        }
        let (longest, lba_size) = (self.io_size_max, identity.lba_size);
        if longest < lba_size || longest > IO_SIZE_MAX || !longest.is_multiple_of(lba_size) {
            let expected =
                format!("a multiple of {} up to {}", lba_size.exact(), IO_SIZE_MAX.exact());
            return Err(unsuitable("longest I/O", longest.0, expected));
        }
        if self.poll && !identity.polls {
            return Err(OpenError::NoPolling { path: identity.path.clone(), kind: identity.kind });
        }
        Ok(())
    }
}
