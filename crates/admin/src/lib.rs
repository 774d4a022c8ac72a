//! What a drive says of itself: identity, formats, health, wear, power states, caches, security and
//! the ways it has to erase everything. [`ask`] sends commands that only read, through an
//! [`AdminPort`]: the kernel's for a real drive (crate `uring`), answers that were made in tests.
//!
//! The bytes are those of the NVM Express Base Specification 2.1 and NVM Command Set Specification
//! 1.1, of ATA Command Set 4 (ACS-4) by way of SCSI / ATA Translation 4 (SAT-4), and of SCSI Primary
//! and Block Commands (SPC-4, SBC-4); each field says where it stands. What a drive does not tell is `None`, never zero.

mod ata;
mod bytes;
mod facts;
mod nvme;
mod port;
mod purge;
mod scsi;
mod state;
mod trusted;
mod words;

pub use facts::{Facts, Health, LbaFormat, PowerState, PurgeOffer, Security, WriteCache};
pub use port::{
    AdminPort, AtaAbort, AtaCommand, AtaResult, Data, NvmeCommand, Protocol, ScsiCommand,
};
pub use purge::{
    PASSWORD, PurgeError, PurgeHost, UnfinishedPurge, finish, format_progress, purge, unfinished,
};
pub use state::{
    FirmwareSlot, FirmwareSlots, HostMemory, LoggedError, PowerMode, PowerTransition,
    PowerTransitions,
};
pub use trusted::{LockingState, Psid, RevertError, SelfEncryption, Subsystem, psid_revert};

use std::io;

/// Asks a drive for what it counts, and nothing else; `None` if it does not tell.
pub fn health(port: &mut dyn AdminPort) -> Option<Health> {
    match port.protocol() {
        Protocol::Nvme { .. } => nvme::health(port),
        Protocol::Ata => ata::health(port),
        Protocol::Scsi => scsi::health(port),
    }
}

/// Asks a drive for everything that it tells. What it has no answer for is left out.
///
/// # Errors
/// If it does not even identify itself: `PermissionDenied` without the right to ask, else what the
/// kernel or the drive said.
pub fn ask(port: &mut dyn AdminPort) -> io::Result<Facts> {
    match port.protocol() {
        Protocol::Nvme { namespace } => nvme::ask(port, namespace),
        Protocol::Ata => ata::ask(port),
        Protocol::Scsi => scsi::ask(port),
    }
}
