//! How a run is kept and called.

use serde::{Deserialize, Serialize};
use writecliff_device::{Nanos, Purge};
use writecliff_measure::Recorder;

use crate::record::label::Label;
use crate::record::thread_count::ThreadCount;

/// How a run is kept and called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// What its user calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Keep every single I/O, not only every second.
    pub every_io: bool,
    /// The plan was cut down by [`Plan::quick`](crate::Plan::quick): the report says so.
    pub quick: bool,
    /// How long an I/O may be in flight before it has failed; after as long again the run ends.
    pub io_timeout: Nanos,
    /// How the drive is to be purged; the best that it has, but for those that are only done by name,
    /// if it is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,
    /// How many threads keep a real drive busy.
    #[serde(skip_serializing_if = "ThreadCount::is_auto")]
    pub threads: ThreadCount,
    /// Ask a real drive for completions instead of waiting for its interrupts.
    #[serde(skip_serializing_if = "is_false")]
    pub poll: bool,
}

/// For serde, which names functions.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            label: None,
            every_io: false,
            quick: false,
            io_timeout: Recorder::IO_TIMEOUT,
            purge: None,
            threads: ThreadCount::Auto,
            poll: false,
        }
    }
}
