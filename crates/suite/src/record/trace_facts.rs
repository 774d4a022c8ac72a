//! What is kept of a trace that a run did.

use serde::{Deserialize, Serialize};

/// What a run's record keeps of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFacts {
    /// What it is called in phases and reports.
    pub name: String,
    /// What tells it from other traces of this name: its seed, or a hash of its operations; `None`
    /// if nothing does.
    pub identity: Option<String>,
    /// Whether a generator made it.
    pub synthetic: bool,
    /// Its operations, all of them.
    pub operations: u64,
    /// Trims among them.
    pub trims: u64,
}
