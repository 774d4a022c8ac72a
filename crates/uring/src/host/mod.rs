//! What this machine's kernel says of its block devices, and its clock: files of sysfs and proc, device
//! controls, locks. Judges nothing, and knows nothing of the rooms beside it, which all stand on it.

pub(crate) mod clock;
pub(crate) mod descriptor;
pub(crate) mod device_mapper;
pub(crate) mod direct_read;
#[cfg(test)]
pub(crate) mod fake_machine;
pub(crate) mod horizon;
pub(crate) mod io_counts;
pub(crate) mod ioctl;
pub(crate) mod layers;
pub(crate) mod lease;
pub(crate) mod lock;
pub(crate) mod mounts;
pub(crate) mod sysfs;
