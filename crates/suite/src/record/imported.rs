//! Results of another program.

use serde::{Deserialize, Serialize};

/// Where figures come from that were not measured here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFrom {
    /// The program with its version, `fio-3.33`.
    pub program: String,
    /// Whether its latencies begin when the I/O has been submitted: they are shorter than ours by the
    /// time that submitting took.
    pub without_submission: bool,
    /// What it was asked beside what the plan says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Percent of the bytes that it counted which its logs tell, where they tell the seconds of a job and that
    /// is further from all than [`Self::NEAR`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged_percent: Option<u32>,
}

impl ImportedFrom {
    /// So many percent more or less are those of a log's first and last interval.
    pub const NEAR: u32 = 2;
}
