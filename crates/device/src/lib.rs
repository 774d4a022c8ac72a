//! The seam that everything in Writecliff meets at.
//!
//! A drive, real or simulated, is a [`Device`]: it takes batches of [`Io`], gives back
//! [`Completion`]s, and owns the clock that both are timed by. This crate is a leaf: it knows
//! units, shapes, and how to show names ([`printable`], [`did_you_mean`]), no drive and no
//! operating system.

#[cfg(feature = "conformance")]
pub mod conformance;
mod device;
mod encryption;
mod error;
mod io;
mod names;
mod purge;
mod random;
#[cfg(feature = "conformance")]
pub mod scripted;
mod stamp;
mod system_error;
mod text;
mod units;

pub use device::{
    Device, DeviceError, DeviceInfo, DeviceKind, HostCounters, InFlight, Lanes, Layout, Link,
    LogWrites, Mechanism, OwnCounters, ProfileRecord, Rebuilding, Specification, Telemetry,
};
pub use encryption::Encryption;
pub use error::ErrorKind;
pub use io::{Completion, Content, Durability, Io, Operation, Status};
pub use names::{did_you_mean, nearest, with_nearest};
pub use purge::{PrepareWatch, Purge, PurgeOutcome};
pub use random::{SPLIT_MIX_STEP, split_mix};
pub use stamp::{Held, Part, Pass, Stamping};
pub use system_error::{SystemError, error_advice, error_text, system_error};
pub use text::{printable, printable_lines};
pub use units::{
    Bytes, DeviceTime, Energy, Iops, Nanos, ParseUnitError, Power, Temperature, Throughput,
};
