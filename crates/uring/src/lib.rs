//! Real drives: block devices and regular files, driven by io_uring with `O_DIRECT`.
//!
//! [`open`] is the only way in. It judges first and touches nothing before the judgment: a drive
//! that is mounted, held, swap, partitioned, formatted or the system's own is refused with
//! everything that was found and what to do about it; what remains needs a name that only this
//! drive has, as [`DestroyData`]. Who uses it is asked for again right before the first write, and
//! watched from there on. Reading tests open with [`Access::ReadOnly`],
//! which cannot write. [`look`] tells what a drive is, [`inspect`] and [`block_devices`] what the guard says of it, all without opening;
//! [`BlockDevice`] tells what a drive is to the kernel, for those who only watch it.
//!
//! Held true throughout: what is judged is what is opened (one descriptor, never a path looked up
//! twice), and any doubt refuses. Telemetry is what the system counts and the drive's temperature.
//! [`inspect`] also asks a drive about itself, by commands that only read; a purge may be the drive's
//! own, and [`finish_purge`] ends one that was broken off.
//!
//! Four rooms, each of which knows only those named before it: `host`, what the kernel says of block
//! devices; `drive`, what one drive is and can do; `guard`, whether its data may be destroyed; `engine`,
//! I/O at full speed. [`open`] and [`inspect`] lead through them.

mod block_device;
mod drive;
mod engine;
#[cfg(test)]
mod eventually;
mod guard;
mod host;
mod inspection;
mod open;

pub use block_device::{BlockDevice, Reach};
pub use drive::identity::Identity;
pub use drive::kernel_opal::KernelOpal;
pub use engine::cipher::cipher_throughput;
pub use engine::device::UringDevice;
pub use engine::directory::{DirectoryDevice, DirectoryError, look_at_directory};
pub use engine::null::NullDevice;
pub use engine::options::{Options, QUEUE_DEPTH_MAX};
pub use guard::consent::{Access, ConsentKind, ConsentName, DestroyData};
pub use guard::erasing::advice;
pub use guard::error::{FinishError, OpenError, PsidRevertError};
pub use guard::extent::Extent;
pub use guard::holders::{Holding, RingOwner, Unseen, User};
pub use guard::refusal::{DriveLock, Refusal};
pub use guard::survey::Survey;
pub use guard::twins::Sameness;
pub use inspection::{Inspection, block_devices, disks, inspect};
pub use open::{finish_purge, look, open, psid_revert};
pub use writecliff_admin::{
    Facts, PASSWORD, Psid, PurgeOffer, Security, SelfEncryption, UnfinishedPurge,
};
