//! Where a trace comes from.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, printable};

/// Where a trace comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Header {
    /// What was recorded: a device, a file's name, or the plan of a made trace.
    pub source: String,
    /// How: the tool and the format, for a person.
    pub recorded_by: String,
    /// Whether it was made by a generator instead of recorded.
    #[serde(default)]
    pub synthetic: bool,
    /// The clock that the times were read from, as far as that is known.
    #[serde(default)]
    pub clock: Option<String>,
    /// When it began, in nanoseconds since 1970, if the source tells.
    #[serde(default)]
    pub began_unix_ns: Option<u64>,
    /// Size of the device that the offsets are of, if the source tells.
    #[serde(default)]
    pub device_size: Option<Bytes>,
    /// The names that [`TraceIo::stream`] counts.
    #[serde(default)]
    pub streams: Vec<String>,
    /// Operations, or lines of the source, that are known to be missing.
    #[serde(default)]
    pub lost: u64,
}

impl Header {
    /// The same without what could steer a terminal.
    pub(crate) fn printable(self) -> Self {
        Self {
            source: printable(&self.source),
            recorded_by: printable(&self.recorded_by),
            clock: self.clock.as_deref().map(printable),
            streams: self.streams.iter().map(|name| printable(name)).collect(),
            ..self
        }
    }
}
