//! What is asked: which parts, and what each of them varies.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::Sample;

use super::part::Part;
use super::settings::{CrossStimulusSettings, DemandSettings, HostIdleSettings};
use crate::method::limits::used;
use crate::method::seed::seed_of;
use crate::method::window::WINDOW;

/// What to do. The defaults are the specification's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The parts to run.
    pub parts: Vec<Part>,
    /// Shares of reads, in percent, of the IOPS part.
    pub iops_read_percents: Vec<u8>,
    /// Sizes of the IOPS part; those that are not whole LBAs of the drive are left out.
    pub iops_sizes: Vec<Bytes>,
    /// I/Os in flight, but of latency and demand intensity.
    pub queue_depth: usize,
    /// Length of a measurement of one mix and size.
    pub measurement: Nanos,
    /// The most rounds of a part.
    pub rounds_max: u32,
    /// Times the capacity that is written in order before the rounds.
    pub precondition_passes: u32,
    /// Times the capacity that write saturation writes...
    pub saturation_passes: u32,
    /// ... but for no longer than this.
    pub saturation_limit: Nanos,
    /// From one judged measurement to the next while random writes are to become steady.
    pub soak_round: Nanos,
    /// What host idle recovery varies.
    pub host_idle: HostIdleSettings,
    /// What cross stimulus recovery varies.
    pub cross_stimulus: CrossStimulusSettings,
    /// What demand intensity and the composite vary.
    pub demand: DemandSettings,
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            parts: vec![Part::Iops, Part::Throughput, Part::Latency, Part::WriteSaturation],
            iops_read_percents: vec![100, 95, 65, 50, 35, 5, 0],
            iops_sizes: [1024, 128, 64, 32, 16, 8, 4]
                .map(Bytes::from_kib)
                .into_iter()
                .chain([Bytes(512)])
                .collect(),
            queue_depth: 32,
            measurement: Nanos::from_secs(60),
            rounds_max: 25,
            precondition_passes: 2,
            saturation_passes: 4,
            saturation_limit: Nanos::from_secs(24 * 3600),
            soak_round: Nanos::from_secs(1800),
            host_idle: HostIdleSettings::default(),
            cross_stimulus: CrossStimulusSettings::default(),
            demand: DemandSettings::default(),
            span: None,
            seed: 1,
        }
    }
}

/// 4 KiB: what the specification tracks.
pub(super) const TRACKED: Bytes = Bytes::from_kib(4);
/// Size of a sequential I/O.
pub(super) const SEQUENTIAL: Bytes = Bytes::from_kib(128);
/// Size of a sequential I/O of the part that has larger ones.
pub(super) const SEQUENTIAL_LARGE: Bytes = Bytes::from_mib(1);

impl Plan {
    pub(super) fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, TRACKED)
    }

    pub(super) fn seed_of(&self, series: &str) -> u64 {
        seed_of(self.seed, series)
    }

    /// Random writes until they are steady, of as many rounds as a drive usually takes.
    pub(super) fn estimated_soak(&self) -> Nanos {
        self.soak_round * (WINDOW as u64 - 1)
    }

    /// The longest sequential I/O.
    pub(super) fn sequential_max(&self) -> Bytes {
        let large = [Part::ThroughputMib, Part::CrossStimulusRecovery];
        let is_large = large.iter().any(|part| self.parts.contains(part));
        if is_large { SEQUENTIAL_LARGE } else { SEQUENTIAL }
    }
}

/// The samples of each series.
pub(super) type BySeries<'a> = HashMap<&'a str, Vec<&'a Sample>>;
