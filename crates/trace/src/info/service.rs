//! How long operations took.

use hdrhistogram::Histogram;
use serde::Serialize;
use writecliff_device::Nanos;

/// Longest service time whose place among the percentiles is told; longer ones count as this.
const LONGEST: Nanos = Nanos::from_secs(3600);

/// Issue to completion, of all operations of a kind whose completion is known. Percentiles are at
/// most 0.8 % above the true value; the others are exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ServiceTime {
    /// Operations whose completion is known.
    pub known: u64,
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// Half of them took at most this.
    pub p50_ns: u64,
    /// 99 of 100 took at most this.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Collects service times, at constant memory.
#[derive(Debug, Clone)]
pub(super) struct ServiceClock {
    buckets: Histogram<u64>,
    sum: u128,
    max: u64,
}

impl Default for ServiceClock {
    fn default() -> Self {
        let buckets = Histogram::new_with_bounds(1, LONGEST.0, 2).expect("the bounds are valid");
        Self { buckets, sum: 0, max: 0 }
    }
}

impl ServiceClock {
    pub(super) fn record(&mut self, service_time: Nanos) {
        self.buckets.saturating_record(service_time.0);
        self.sum += u128::from(service_time.0);
        self.max = self.max.max(service_time.0);
    }

    /// Both together.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.buckets.add(&other.buckets).expect("the bounds are the same");
        both.sum += other.sum;
        both.max = both.max.max(other.max);
        both
    }

    pub(super) fn close(&self) -> Option<ServiceTime> {
        let known = self.buckets.len();
        // A bucket's upper edge may lie above all that is in it.
        let percentile = |percent| self.buckets.value_at_percentile(percent).min(self.max);
        (known > 0).then(|| ServiceTime {
            known,
            mean_ns: self.sum as f64 / known as f64,
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            max_ns: self.max,
        })
    }
}
