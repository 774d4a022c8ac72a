//! Doubts about the data on the drive: no figure matters where there are any.

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;

use crate::record::number::{counted, thousands};

/// What was written was not kept, or not all was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DataWarning {
    /// Blocks did not come back as they were written.
    #[error(
        "{} did not come back as written{}. Nothing should be trusted to this drive before it is known why: LBAs and \
         what was found there are in the report.",
        counted(*bad, "block"),
        match compared {
            None => format!(", of {}", thousands(*blocks as f64)),
            Some(compared) => format!(", in {}", counted(*compared, "comparison")),
        }
    )]
    BadBlocks {
        /// How many.
        bad: u64,
        /// Of how many that were to be tested.
        blocks: u64,
        /// How often one was compared; not there in results of before that was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compared: Option<u64>,
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
