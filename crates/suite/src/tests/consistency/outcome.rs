//! The answer.

use serde::{Deserialize, Serialize};
use writecliff_measure::Statistics;

use crate::method::fast_part::FastPart;
use crate::record::figure::are_apart;
use crate::record::rate::LatencyFigures;

/// Performance has fallen off the cliff when it is below this share of fresh.
pub(super) const CLIFF_SHARE: f64 = 0.5;

/// A second in which a drive did the least.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorstSecond {
    /// Counted from the first random write.
    pub second: u32,
    /// What it did in it.
    pub iops: f64,
}

impl WorstSecond {
    /// The first of the worst of these seconds.
    pub(crate) fn of(iops: &[f64]) -> Option<Self> {
        let (second, iops) = iops.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
        Some(Self { second: second as u32, iops: *iops })
    }
}

/// The answer, in figures. IOPS are means over a second; "steady" are the last five rounds of a run that
/// goes on until it is steady, and the last 30 % of the planned duration of any other, from t = 1400 s of
/// 2000 s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Mean rate of the sequential fill, in MB/s (10^6); `None` if it took no time.
    pub fill_megabytes_per_second: Option<f64>,
    /// What the fill wrote before its rate fell: an SLC buffer, if the drive has one.
    pub fast_part: Option<FastPart>,
    /// Median of the first ten seconds of random writes, or of those before the cliff.
    pub fresh_iops: f64,
    /// The second in which performance fell below half of fresh and stayed there.
    pub cliff_s: Option<u32>,
    /// Whether it falls below half again for ten seconds on average within the steady window, after ten that were above
    /// it, both by more than [single runs tell apart](are_apart), whatever that window is on average.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub falls_again: bool,
    /// Where there is no other fall: the second of one while the drive slowed down because it was too warm.
    /// Whether it met a write cliff is not known then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_fall_s: Option<u32>,
    /// Where there is no other fall: the second of one after a die of a simulated drive stopped working, or as it did.
    /// Whether the drive met a write cliff is not known then either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_die_fall_s: Option<u32>,
    /// Where there is no fall but within the seconds that are called fresh: the rate of the first of them. What
    /// is called fresh is then not the erased drive's alone, and whether it met a write cliff is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fell_from_iops: Option<f64>,
    /// The first second of the steady window.
    pub steady_from_s: u32,
    /// Figures over the seconds of the steady window.
    pub steady_iops: Statistics,
    /// Worst second over mean, in the steady window: 1 is perfectly consistent.
    pub floor_to_mean: f64,
    /// Service times of all I/Os in the steady window.
    pub steady_latency: LatencyFigures,
    /// NAND writes per host write in the steady window, if the drive tells.
    pub steady_write_amplification: Option<f64>,
    /// The worst second of the whole run of random writes; `None` in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<WorstSecond>,
    /// The longest service time of the whole run of random writes.
    pub longest_ns: u64,
    /// Seconds of the random writes in which nothing at all completed.
    pub dead_seconds: u32,
}

/// What a fall came with that is no write cliff, or hides one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallCause {
    /// The drive was too warm and slowed down.
    Heat,
    /// A die had stopped working.
    LostDie,
}

impl Outcome {
    /// Whether it fell as at a write cliff and did not stay there: by more than single runs tell apart.
    pub fn came_back(&self) -> bool {
        let half = CLIFF_SHARE * self.fresh_iops;
        let mean = self.steady_iops.mean;
        // What hovers about the half has not come back from it.
        self.cliff_s.is_some() && mean > half && are_apart(mean, half)
    }

    /// For how long it fell, where it [came back](Self::came_back).
    pub fn how_long(&self) -> &'static str {
        if self.falls_again { "more than once" } else { "for a while" }
    }

    /// Where it met no write cliff that can be told: the second of another fall, and what that came with.
    pub fn other_fall(&self) -> Option<(u32, FallCause)> {
        let warm = self.warm_fall_s.map(|second| (second, FallCause::Heat));
        warm.or(self.lost_die_fall_s.map(|second| (second, FallCause::LostDie)))
    }

    /// Whether it fell in a way of which nobody knows whether it was the write cliff.
    pub fn may_have_fallen(&self) -> bool {
        self.other_fall().is_some() || self.fell_from_iops.is_some()
    }
}
