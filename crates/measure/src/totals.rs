//! What samples amount to together: the one place where they are added up.

use writecliff_device::{Bytes, Iops, Nanos};

use crate::sample::Sample;

/// The sum of some samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Reads, writes, trims and flushes completed.
    pub ios: u64,
    /// I/Os that the device failed; they are in no other figure.
    pub failed: u64,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Time that the samples took, one after the other: what rates are over.
    pub span: Nanos,
    /// Longest service time.
    pub longest: Nanos,
    /// Bytes programmed into NAND, if every sample tells.
    nand_written: Option<u64>,
    /// Of all service times, as the samples' means give them.
    latency_sum: u128,
    /// Of their squares, by means and deviations.
    latency_squares: u128,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            ios: 0,
            failed: 0,
            read: Bytes::ZERO,
            written: Bytes::ZERO,
            span: Nanos::ZERO,
            longest: Nanos::ZERO,
            nand_written: Some(0),
            latency_sum: 0,
            latency_squares: 0,
        }
    }
}

impl Totals {
    /// All of `samples` together.
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let mut totals = Self::default();
        samples.into_iter().for_each(|sample| totals.add(sample));
        totals
    }

    /// Also adds `sample`.
    pub fn add(&mut self, sample: &Sample) {
        let (ios, mean) = (sample.ios(), u128::from(sample.latency_mean_ns));
        // Recordings of before deviations were kept have none.
        let deviation = u128::from(sample.latency_deviation_ns.unwrap_or(0));
        let square = (mean * mean).saturating_add(deviation * deviation);
        self.ios += ios;
        self.failed += sample.failed;
        self.read += Bytes(sample.read_bytes);
        self.written += Bytes(sample.written_bytes);
        self.span += Nanos(sample.span_ns);
        self.longest = self.longest.max(Nanos(sample.latency_max_ns));
        self.nand_written = self.nand_written.zip(sample.nand_written_bytes).map(|(a, b)| a + b);
        // A file from elsewhere may say anything; a sum that is too large is no figure anyway.
        self.latency_sum = self.latency_sum.saturating_add(mean * u128::from(ios));
        let squares = square.saturating_mul(u128::from(ios));
        self.latency_squares = self.latency_squares.saturating_add(squares);
    }

    /// The same, with rates over another time than the samples took.
    #[must_use]
    pub fn over(self, span: Nanos) -> Self {
        Self { span, ..self }
    }

    /// I/Os per second.
    pub fn iops(&self) -> Iops {
        Iops::over(self.ios, self.span)
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> Bytes {
        self.read + self.written
    }

    /// Bytes read and written per second; zero over an empty span.
    pub fn bytes_per_second(&self) -> f64 {
        self.rate_of(self.bytes().0 as f64)
    }

    /// Bytes read and written per second, in MB/s (10^6); zero over an empty span.
    pub fn megabytes_per_second(&self) -> f64 {
        self.rate_of(self.bytes().0 as f64 / 1e6)
    }

    /// Mean service time, rounded down; zero if nothing completed.
    pub fn mean(&self) -> Nanos {
        Nanos((self.latency_sum / u128::from(self.ios.max(1))) as u64)
    }

    /// Standard deviation of the service times, rounded down: within the samples and between them.
    pub fn deviation(&self) -> Nanos {
        let count = u128::from(self.ios.max(1));
        let squares = count.saturating_mul(self.latency_squares);
        let square = self.latency_sum.saturating_mul(self.latency_sum);
        Nanos((squares.saturating_sub(square) / (count * count)).isqrt() as u64)
    }

    /// NAND writes per host write; `None` if the drive does not tell or the host wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        let (nand, host) = (self.nand_written?, self.written.0);
        (host > 0).then(|| nand as f64 / host as f64)
    }

    fn rate_of(&self, amount: f64) -> f64 {
        match self.span {
            Nanos::ZERO => 0.0,
            span => amount / span.as_secs_f64(),
        }
    }
}

/// What a sample comes to by itself.
impl Sample {
    /// NAND writes per host write; `None` if the drive does not tell or the host wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        Totals::of([self]).write_amplification()
    }

    /// Bytes read and written per second, in MB/s (10^6).
    pub fn megabytes_per_second(&self) -> f64 {
        Totals::of([self]).megabytes_per_second()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn sample(writes: u64, mean: u64, deviation: u64) -> Sample {
        Sample {
            span_ns: SECOND,
            writes,
            written_bytes: writes * 4096,
            latency_mean_ns: mean,
            latency_deviation_ns: Some(deviation),
            latency_max_ns: mean + deviation,
            nand_written_bytes: Some(writes * 8192),
            ..Sample::default()
        }
    }

    #[test]
    fn samples_together_are_what_one_long_sample_would_be() {
        // Service times of 10 and 30, and three of 100.
        let totals = Totals::of(&[sample(2, 20, 10), sample(3, 100, 0)]);
        assert_eq!((totals.ios, totals.written), (5, Bytes(5 * 4096)));
        assert_eq!((totals.mean(), totals.longest), (Nanos(68), Nanos(100)));
        // The mean of the squares is 6200, less 68 squared: 1576.
        assert_eq!(totals.deviation(), Nanos(39));
        assert_eq!(totals.iops().get(), 2.5);
        assert_eq!(totals.bytes_per_second(), 5.0 * 4096.0 / 2.0);
        assert_eq!(totals.write_amplification(), Some(2.0));
    }

    #[test]
    fn what_one_sample_does_not_tell_is_not_known_of_all() {
        let silent = Sample { nand_written_bytes: None, ..sample(1, 1, 0) };
        assert_eq!(Totals::of(&[sample(1, 1, 0), silent]).write_amplification(), None);
        let idle = Sample { span_ns: SECOND, nand_written_bytes: Some(1), ..Sample::default() };
        assert_eq!(Totals::of(&[idle]).write_amplification(), None, "the host wrote nothing");
    }

    #[test]
    fn nothing_has_no_rate_and_no_latency() {
        let none = Totals::of(&[]);
        assert_eq!((none.megabytes_per_second(), none.iops().get()), (0.0, 0.0));
        assert_eq!((none.mean(), none.deviation()), (Nanos::ZERO, Nanos::ZERO));
    }
}
