//! The parts of the specification, and how each is done.

use serde::{Deserialize, Serialize};

/// What write saturation is called in phases and reports.
pub(super) const SATURATION: &str = "write-saturation";

/// A part of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Random IOPS over mixes and sizes; tracked: 4 KiB writes.
    Iops,
    /// 128 KiB sequential throughput; tracked: writes.
    Throughput,
    /// The same in 1 MiB; not among the parts unless the plan asks for it.
    #[serde(rename = "throughput-1MiB")]
    ThroughputMib,
    /// Response times one I/O at a time; tracked: 4 KiB writes.
    Latency,
    /// 4 KiB random writes without pause.
    WriteSaturation,
    /// 4 KiB random writes between rests; like all that follow only if the plan asks for it.
    HostIdleRecovery,
    /// Sequential writes before and after random ones.
    CrossStimulusRecovery,
    /// An enterprise composite of sizes and places with many to few in flight.
    Composite,
    /// 8 KiB reads and writes with many to few in flight.
    DemandIntensity,
}

/// How a part is done.
pub(super) enum Kind {
    Rounds(Metric),
    Saturation,
    HostIdle,
    CrossStimulus,
    Demand(Mixture),
}

impl Part {
    /// Its name in phases and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => Metric::Iops.name(),
            Self::Throughput => Metric::Throughput.name(),
            Self::ThroughputMib => Metric::ThroughputMib.name(),
            Self::Latency => Metric::Latency.name(),
            Self::WriteSaturation => SATURATION,
            Self::HostIdleRecovery => "host-idle-recovery",
            Self::CrossStimulusRecovery => "cross-stimulus-recovery",
            Self::Composite => "composite",
            Self::DemandIntensity => "demand-intensity",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Iops => Kind::Rounds(Metric::Iops),
            Self::Throughput => Kind::Rounds(Metric::Throughput),
            Self::ThroughputMib => Kind::Rounds(Metric::ThroughputMib),
            Self::Latency => Kind::Rounds(Metric::Latency),
            Self::WriteSaturation => Kind::Saturation,
            Self::HostIdleRecovery => Kind::HostIdle,
            Self::CrossStimulusRecovery => Kind::CrossStimulus,
            Self::Composite => Kind::Demand(Mixture::Composite),
            Self::DemandIntensity => Kind::Demand(Mixture::Transactions),
        }
    }

    /// Whether sequential writes of the whole span come before it.
    pub fn is_filled_before(self) -> bool {
        matches!(self.kind(), Kind::Rounds(_) | Kind::Demand(_))
    }

    pub(super) fn varies_demand(self) -> bool {
        matches!(self.kind(), Kind::Demand(_))
    }
}

/// What the rounds of a part are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Random IOPS over mixes and sizes; tracked: 4 KiB writes.
    Iops,
    /// 128 KiB sequential throughput; tracked: writes.
    Throughput,
    /// The same in 1 MiB.
    #[serde(rename = "throughput-1MiB")]
    ThroughputMib,
    /// Response times one I/O at a time; tracked: 4 KiB writes.
    Latency,
}

impl Metric {
    /// The part's name in phases and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::ThroughputMib => "throughput-1MiB",
            Self::Latency => "latency",
        }
    }
}

/// A mixture of reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mixture {
    /// 8 KiB anywhere, 65 % of them reads.
    Transactions,
    /// Sizes and places of the enterprise composite, 40 % of them reads.
    Composite,
}

impl Mixture {
    /// The part that measures it.
    pub fn part(self) -> Part {
        match self {
            Self::Transactions => Part::DemandIntensity,
            Self::Composite => Part::Composite,
        }
    }

    pub(super) fn read_percent(self) -> u8 {
        match self {
            Self::Transactions => 65,
            Self::Composite => 40,
        }
    }
}
