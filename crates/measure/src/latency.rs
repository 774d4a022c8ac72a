//! Latencies as counts in log-linear buckets: constant size, known error.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;

/// Longest latency that is told apart; longer ones count as this.
const LONGEST: Nanos = Nanos::from_secs(3600);

/// Two significant digits: buckets are at most this much wide, relative to their value.
pub const LATENCY_ERROR_PERCENT: f64 = 0.8;

/// How many I/Os fell into one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyCount {
    /// The longest latency of the bucket.
    pub latency: u64,
    /// The I/Os in it.
    pub count: u64,
}

/// A histogram of service times between 1 ns and 1 h; percentiles are the upper edge of their
/// bucket, at most 0.8 % above the true value.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    buckets: Histogram<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        let buckets = Histogram::new_with_bounds(1, LONGEST.0, 2).expect("the bounds are valid");
        Self { buckets }
    }
}

impl LatencyHistogram {
    /// What one takes in memory, roughly.
    pub(crate) const SIZE: usize = 40 << 10;

    /// Counts one latency.
    pub fn record(&mut self, latency: Nanos) {
        self.buckets.saturating_record(latency.0);
    }

    /// Counts what another histogram gave as [`counts`](Self::counts).
    pub fn add(&mut self, counted: LatencyCount) {
        self.buckets.saturating_record_n(counted.latency, counted.count);
    }

    /// Counts all that another one has.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same bounds.
        let _ = self.buckets.add(&other.buckets);
    }

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// The latency that `percent` of all counted ones do not exceed; zero if none was counted.
    pub fn percentile(&self, percent: f64) -> Nanos {
        Nanos(self.buckets.value_at_percentile(percent))
    }

    /// Every bucket that is not empty, shortest first.
    pub fn counts(&self) -> impl Iterator<Item = LatencyCount> {
        self.buckets.iter_recorded().map(|bucket| LatencyCount {
            latency: bucket.value_iterated_to(),
            count: bucket.count_since_last_iteration(),
        })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.buckets.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_stated_error_above_the_truth() {
        let mut histogram = LatencyHistogram::default();
        let latencies: Vec<u64> = (1..=100_000).map(|i| i * 137).collect();
        latencies.iter().for_each(|ns| histogram.record(Nanos(*ns)));
        for percent in [1.0, 50.0, 99.0, 99.9, 99.99, 100.0] {
            let truth = latencies[(percent / 100.0 * 100_000.0) as usize - 1] as f64;
            let got = histogram.percentile(percent).0 as f64;
            let error = (got / truth - 1.0) * 100.0;
            assert!((0.0..=LATENCY_ERROR_PERCENT).contains(&error), "p{percent}: {error} %");
        }
    }

    #[test]
    fn counts_carry_everything_to_another_histogram() {
        let mut histogram = LatencyHistogram::default();
        (0..10_000u64).for_each(|i| histogram.record(Nanos(i * i)));
        let mut copy = LatencyHistogram::default();
        histogram.counts().for_each(|counted| copy.add(counted));
        assert!(histogram.counts().eq(copy.counts()));
        assert_eq!(copy.count(), 10_000);
        copy.clear();
        assert_eq!((copy.count(), copy.percentile(99.0)), (0, Nanos::ZERO));
    }

    #[test]
    fn absurd_latencies_count_as_the_longest() {
        let mut histogram = LatencyHistogram::default();
        histogram.record(Nanos(u64::MAX));
        assert!(histogram.percentile(50.0) >= LONGEST);
    }
}
