//! What a series amounts to: how fast, how late.

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;
use writecliff_measure::{LatencyHistogram, Recording, Sample, Totals};

/// How fast a series went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Bytes read and written over time, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// I/Os over time.
    pub iops: f64,
    /// Mean service time in nanoseconds.
    pub mean_ns: u64,
    /// Longest service time.
    pub max_ns: u64,
}

impl Rate {
    /// The rate of a whole series in MB/s (10^6); `None` if the run did not come to it.
    pub(crate) fn of_series(recording: &Recording, series: &str) -> Option<f64> {
        Self::of(&Totals::of(recording.series(series))).map(|rate| rate.megabytes_per_second)
    }

    /// The rate of some samples together; `None` if they took no time.
    pub(crate) fn of(totals: &Totals) -> Option<Self> {
        (totals.span > Nanos::ZERO).then(|| Self {
            megabytes_per_second: totals.megabytes_per_second(),
            iops: totals.iops().get(),
            mean_ns: totals.mean().0,
            max_ns: totals.longest.0,
        })
    }
}

/// Percentiles are at most so much too high, as a share ([`LatencyHistogram`]).
const STEP: f64 = 0.008;

/// Whether a percentile that is above its limit may keep it, since it is told in steps.
pub(crate) fn may_be_within(percentile: f64, limit: f64) -> bool {
    percentile > limit && percentile <= limit * (1.0 + STEP)
}

/// Percentiles of the service time, in nanoseconds, at most 0.8 % too high. Of fewer I/Os than make
/// one ([`ios_for`]) there is none: it would be the longest of them, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// Median.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p999_ns: Option<u64>,
    /// 99.99 %.
    pub p9999_ns: Option<u64>,
    /// The longest, exact.
    pub max_ns: u64,
}

impl LatencyFigures {
    /// The figures of a series between two of its seconds.
    pub(crate) fn of(recording: &Recording, series: &str, window: std::ops::Range<u32>) -> Self {
        let samples = recording.series(series);
        let in_window = samples.filter(|sample| window.contains(&sample.second));
        let longest = Totals::of(in_window).longest;
        Self::from(&recording.latencies(series, window), longest)
    }

    pub(crate) fn from(latencies: &LatencyHistogram, longest: Nanos) -> Self {
        let percentile = |percent| percentile(latencies, longest, percent);
        Self {
            p50_ns: latencies.percentile(50.0).min(longest).0,
            p99_ns: percentile(99.0),
            p999_ns: percentile(99.9),
            p9999_ns: percentile(99.99),
            max_ns: longest.0,
        }
    }
}

/// I/Os that a percentile takes: one in so many is slower than it.
pub fn ios_for(percent: f64) -> u64 {
    (100.0 / (100.0 - percent)).round() as u64
}

/// A percentile of counted service times, none of which is longer than `longest`, in nanoseconds; `None`
/// of fewer than make one.
pub(crate) fn percentile(
    latencies: &LatencyHistogram,
    longest: Nanos,
    percent: f64,
) -> Option<u64> {
    let is_enough = latencies.count() >= ios_for(percent);
    is_enough.then(|| latencies.percentile(percent).min(longest).0)
}

/// A phase's samples as IOPS, one a second; the last second of a phase is left out if it is a
/// fragment.
pub(crate) fn iops_of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<f64> {
    let whole = samples.filter(|sample| sample.is_whole());
    whole.map(|sample| sample.iops().get()).collect()
}
