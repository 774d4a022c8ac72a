//! What keeps a drive from being treated.

use writecliff_device::{DeviceError, ErrorKind};

/// Why a drive could not be brought into a situation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The drive gave up.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// I/Os failed, so that the figure would mean nothing.
    #[error(
        "{address} failed {failed} I/Os; figures of a drive that fails I/Os are not comparable"
    )]
    FailedIos {
        /// The drive.
        address: String,
        /// How many.
        failed: u64,
    },
    /// The scenario needs TRIM.
    #[error("{address} has no TRIM; remove its figures after TRIM")]
    NoTrim {
        /// The drive.
        address: String,
    },
}

impl CheckError {
    /// Always a drive that could not be brought into a scenario.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Failed
    }
}
