//! What this machine did meanwhile that makes figures doubtful, whatever the test.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos};

use crate::record::phase::one;

/// The machine is in doubt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HostWarning {
    /// Somebody else used the drive.
    #[error(
        "Other load on the drive: {bytes} ({percent:.0} % of all) were read or written by other \
         programs during {}. The drive served both; alone it would have been faster.",
        phases.join(", ")
    )]
    OtherLoad {
        /// Read and written by others.
        bytes: Bytes,
        /// Their share of everything that the system counted in these phases.
        percent: f64,
        /// The phases in which it was too much.
        phases: Vec<String>,
    },
    /// The measuring threads hardly ever waited for the drive.
    #[error(
        "This machine may have been the limit: in {phase} {} computed for {percent:.0} % of the \
         time. The drive may be faster than its figures; more threads (--threads) may show it.",
        measuring(*threads)
    )]
    GeneratorBusy {
        /// Processor time of the threads over the phase's length, of each on average.
        percent: f64,
        /// The phase in which it was most.
        phase: String,
        /// How many they were.
        #[serde(default = "one")]
        threads: usize,
    },
    /// The machine slept during the run.
    #[error(
        "The machine slept for {span} during the run: the drive rested or lost power meanwhile, \
         and the recording's clock stood still. What follows the sleep is another run."
    )]
    Suspended {
        /// Time asleep.
        span: Nanos,
    },
    /// The process was stopped, starved, or in a virtual machine that stood still.
    #[error(
        "This machine paused the measuring thread for {span} during {}: it was stopped, starved of \
         the processor, or its virtual machine stood still. Rates and latencies of that time \
         are the machine's own, not the drive's.",
        phases.join(", ")
    )]
    HeldUp {
        /// All pauses together.
        span: Nanos,
        /// The phases in which it was held up for long.
        phases: Vec<String>,
    },
}

fn measuring(threads: usize) -> String {
    match threads {
        1 => "the measuring thread".to_owned(),
        count => format!("each of the {count} measuring threads"),
    }
}
