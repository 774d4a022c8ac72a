//! What a phase amounts to: how fast, how late.

use serde::{Deserialize, Serialize};
use writecliff_device::{Iops, Nanos};
use writecliff_measure::{LatencyHistogram, Recording, Sample};

/// How fast a phase went.
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
    /// The rate of a whole phase in MB/s (10^6); `None` if the run did not come to it.
    pub(crate) fn of_phase(recording: &Recording, phase: &str) -> Option<f64> {
        Self::of(recording.phase(phase)).map(|rate| rate.megabytes_per_second)
    }

    /// The rate over all `samples`; `None` if they took no time.
    pub(crate) fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Self> {
        let mut sum = RateSum::default();
        samples.into_iter().for_each(|sample| sum.add(sample));
        sum.rate()
    }
}

/// A [`Rate`] in the making, sample by sample.
#[derive(Debug, Default)]
pub(crate) struct RateSum {
    nanos: u64,
    bytes: u64,
    ios: u64,
    latency_ns: f64,
    max_ns: u64,
}

impl RateSum {
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.nanos += sample.span_ns;
        self.bytes += sample.read_bytes + sample.written_bytes;
        self.ios += sample.ios();
        self.latency_ns += sample.latency_mean_ns as f64 * sample.ios() as f64;
        self.max_ns = self.max_ns.max(sample.latency_max_ns);
    }

    /// The rate of what was added; `None` if it took no time.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let span = Nanos(self.nanos);
        (span > Nanos::ZERO).then(|| Rate {
            megabytes_per_second: self.bytes as f64 / 1e6 / span.as_secs_f64(),
            iops: Iops::over(self.ios, span).get(),
            mean_ns: (self.latency_ns / (self.ios as f64).max(1.0)) as u64,
            max_ns: self.max_ns,
        })
    }
}

/// Percentiles of the service time, in nanoseconds, at most 0.8 % too high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// Median.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// 99.99 %.
    pub p9999_ns: u64,
    /// The longest, exact.
    pub max_ns: u64,
}

impl LatencyFigures {
    /// The figures of a phase between two of its seconds.
    pub(crate) fn of(recording: &Recording, phase: &str, window: std::ops::Range<u32>) -> Self {
        let samples = recording.phase(phase);
        let in_window = samples.filter(|sample| window.contains(&sample.second));
        let max_ns = in_window.map(|sample| sample.latency_max_ns).max().unwrap_or(0);
        Self::from(&recording.latencies(phase, window), max_ns)
    }

    pub(crate) fn from(latencies: &LatencyHistogram, max_ns: u64) -> Self {
        let percentile = |percent| latencies.percentile(percent).0.min(max_ns);
        Self {
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            p999_ns: percentile(99.9),
            p9999_ns: percentile(99.99),
            max_ns,
        }
    }
}
