//! What was not done to the drive as it should be before it was measured.

use serde::{Deserialize, Serialize};
use writecliff_device::Purge;

/// The drive could not be brought into the state that the method asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PreparationWarning {
    /// The drive offers no purge.
    #[error(
        "The drive was not purged: it offers no way to erase or trim it. The beginning of the run \
         shows the state that it was left in, not a fresh drive."
    )]
    NotPurged,
    /// The drive failed the purge that it offers.
    #[error(
        "The drive was not purged: {error}. The beginning of the run shows the state that it was \
         left in, not a fresh drive."
    )]
    PurgeFailed {
        /// What the drive answered.
        error: String,
    },
    /// The drive failed the best purge that it offers, and was purged by the next.
    #[error("A better purge failed ({error}); the drive was purged by the next best that it has.")]
    BetterPurgeFailed {
        /// What the drive answered.
        error: String,
    },
    /// The purge was something less than the drive's own erase.
    #[error("The drive was purged by {}.", how.describe())]
    WeakPurge {
        /// What was done instead.
        how: Purge,
    },
    /// Data could still be read after the purge.
    #[error(
        "The purge did not erase everything: {still_readable} of {sampled} places read back \
         afterwards still held data. Figures called fresh may be too low."
    )]
    PurgeIneffective {
        /// Places that still held data.
        still_readable: u32,
        /// Places read.
        sampled: u32,
    },
    /// There is no software encryption to be had.
    #[error("The drive was only measured without software encryption: {why}.")]
    NoEncryption {
        /// What is missing.
        why: String,
    },
}
