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

mod admin_port;
mod arena;
mod beside;
mod block_device;
mod calls;
mod cipher;
mod clock;
mod consent;
mod content;
mod device;
mod device_mapper;
mod direct_read;
mod discard;
mod drive_marks;
mod encryption;
mod erasing;
mod error;
mod exports;
mod family;
mod firmware_purge;
mod found;
mod gauges;
mod guard;
mod held;
mod identify;
mod inspection;
mod ioctl;
mod kernel_opal;
mod lanes;
mod layers;
mod lock;
mod mapping;
mod mounts;
mod null;
mod open;
mod other_tools;
mod own;
mod own_counters;
mod pauses;
mod presence;
mod refusal;
mod ring;
mod sentry;
mod signatures;
mod stamper;
mod survey;
mod sysfs;
mod test_file;
mod users;

pub use block_device::{BlockDevice, Reach};
pub use cipher::cipher_throughput;
pub use consent::{Access, ConsentKind, ConsentName, DestroyData};
pub use content::ContentStream;
pub use device::{Options, QUEUE_DEPTH_MAX, UringDevice};
pub use erasing::{Extent, advice};
pub use error::{FinishError, OpenError, PsidRevertError};
pub use identify::Identity;
pub use inspection::{Inspection, block_devices, disks, inspect};
pub use kernel_opal::KernelOpal;
pub use null::NullDevice;
pub use open::{finish_purge, look, open, psid_revert};
pub use refusal::{DriveLock, Refusal};
pub use survey::Survey;
pub use users::{Holding, User};
pub use writecliff_admin::{
    Facts, PASSWORD, Psid, PurgeOffer, Security, SelfEncryption, UnfinishedPurge,
};
