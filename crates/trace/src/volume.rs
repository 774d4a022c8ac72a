//! A volume of a trace.

use std::fmt;

/// A volume, and how much of the trace is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// What [`SourceOptions::stream`](crate::SourceOptions::stream) calls it.
    pub name: String,
    /// How many operations were asked of it.
    pub operations: u64,
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, operations } = self;
        write!(f, "{name} ({operations} operation{})", if *operations == 1 { "" } else { "s" })
    }
}
