//! Further ways into an open drive, each with a ring of its own, for threads of their own.
//!
//! A lane is a device like the one that it was opened from, on the same open file and under the same
//! sentry. It asks the drive nothing: what its thread computes and waits for it tells its owner, who is
//! asked once a second.

use writecliff_device::{DeviceInfo, split_mix};

/// What a lane says of the drive: it cannot be purged through it.
pub(crate) fn info(of: &DeviceInfo, queue_depth_max: usize) -> DeviceInfo {
    DeviceInfo { queue_depth_max, purges: Vec::new(), ..of.clone() }
}

/// The seed of a lane's data, unlike those of all others.
pub(crate) fn seed(of: u64, number: u64) -> u64 {
    split_mix(of ^ split_mix(number))
}
