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
}
