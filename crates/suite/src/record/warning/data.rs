//! Doubts about the data on the drive: no figure matters where there are any.

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;

/// What was written was not kept, or not all was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DataWarning {
    /// Blocks did not come back as they were written.
    #[error(
        "{bad} of {blocks} blocks did not come back as they were written. Nothing should be trusted \
         to this drive before it is known why: LBAs and what was found there are in the report."
    )]
    BadBlocks {
        /// How many.
        bad: u64,
        /// Of how many.
        blocks: u64,
    },
    /// The rest of the drive was left alone.
    #[error(
        "Only the first {tested} of {capacity} were tested: nothing is known of the data behind \
         that, nor whether the drive has all of it."
    )]
    PartTested {
        /// From the first LBA on.
        tested: Bytes,
        /// What the drive claims to have.
        capacity: Bytes,
    },
    /// The drive claims more than it has.
    #[error(
        "The drive claims {claimed} and has {real}: what is written behind that is lost, or \
         destroys what was written before."
    )]
    ClaimsTooMuch {
        /// What it says.
        claimed: Bytes,
        /// What was found.
        real: Bytes,
    },
}

impl DataWarning {
    /// Whether it says that the drive does not keep what is written to it: no figure matters then.
    pub(crate) const fn is_of_lost_data(&self) -> bool {
        matches!(self, Self::BadBlocks { .. } | Self::ClaimsTooMuch { .. })
    }
}
