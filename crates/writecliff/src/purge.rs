//! A drive brought to its fresh state, without a test; and the way out of a purge that was broken off.

use std::path::Path;

use writecliff_device::{Bytes, Device, PrepareWatch, Purge, PurgeOutcome};
use writecliff_uring::{Access, DestroyData, FinishError, Options, Psid, UnfinishedPurge};

use crate::drive::DriveName;
use crate::error::Error;

/// What a purge came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purged {
    /// What had been broken off before, or was under way, and was brought to its end first.
    pub finished: Option<UnfinishedPurge>,
    /// What was done after that.
    pub outcome: PurgeOutcome,
}

/// Brings whatever purge is not over to its end, and then purges a real drive by `how`; by the best
/// way that it has, but for those that are only done by name, if it is `None`.
///
/// # Errors
/// [`Error::NoRealDrive`] of a simulated drive; [`Error::Open`], of kind `Refused` if the guard or
/// the consent forbids it; [`Error::Device`] with what the drive did not do.
pub fn purge(
    drive: &DriveName,
    how: Option<Purge>,
    consent: Option<&DestroyData>,
    watch: PrepareWatch<'_>,
) -> Result<Purged, Error> {
    let path = real(drive)?;
    let finished = writecliff_uring::finish_purge(path, consent, watch)?;
    let io_size_max = drive.look()?.lba_size.max(Bytes::from_kib(4));
    let options = Options { queue_depth: 1, io_size_max, seed: 1, purge: how, poll: false };
    let access = Access::Destroy(consent.cloned());
    let mut device = writecliff_uring::open(path, &access, &options)?;
    let best = device.info().purges.first().copied();
    let Some(how) = how.or(best) else {
        return Err(Error::NoPurge { name: drive.to_string() });
    };
    let outcome = device.purge(how, watch)?;
    Ok(Purged { finished, outcome })
}

/// Reverts a self-encrypting drive to its factory state by the PSID on its label: the way back from a
/// lost password. All data are lost.
///
/// # Errors
/// [`Error::NoRealDrive`] of a simulated drive; [`Error::PsidRevert`].
pub fn psid_revert(
    drive: &DriveName,
    psid: &Psid,
    consent: Option<&DestroyData>,
) -> Result<(), Error> {
    let path = real(drive)?;
    Ok(writecliff_uring::psid_revert(path, psid, consent)?)
}

fn real(drive: &DriveName) -> Result<&Path, Error> {
    match drive {
        DriveName::Real(path) => crate::drive::existing(path),
        _ => Err(Error::NoRealDrive { name: drive.to_string() }),
    }
}

impl From<FinishError> for Error {
    fn from(error: FinishError) -> Self {
        match error {
            FinishError::Open(error) => Self::Open(error),
            FinishError::Device(error) => Self::Device(error),
            error => unreachable!("{error}"),
        }
    }
}
