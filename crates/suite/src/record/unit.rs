//! What a figure's number counts.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a figure's number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 10^6 bytes per second.
    MegabytesPerSecond,
    /// 2^20 bytes per second, which some reviews print as "MB/s".
    MebibytesPerSecond,
    /// I/Os per second.
    Iops,
    /// Seconds.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Hundredths of something.
    Percent,
    /// Watts.
    Watts,
    /// 10^6 bytes per second for each watt.
    MegabytesPerSecondPerWatt,
    /// I/Os per second for each watt.
    IopsPerWatt,
    /// Watt-hours.
    WattHours,
    /// Degrees Celsius.
    Celsius,
    /// Bytes.
    Bytes,
    /// One thing over another of its kind.
    Ratio,
    /// How many.
    Count,
}

impl Unit {
    /// As it stands behind a number; nothing for what has no unit.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::MegabytesPerSecond => "MB/s",
            Self::MebibytesPerSecond => "MiB/s",
            Self::Iops => "IOPS",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Percent => "%",
            Self::Watts => "W",
            Self::MegabytesPerSecondPerWatt => "MB/s/W",
            Self::IopsPerWatt => "IOPS/W",
            Self::WattHours => "Wh",
            Self::Celsius => "°C",
            Self::Bytes => "B",
            Self::Ratio | Self::Count => "",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}
