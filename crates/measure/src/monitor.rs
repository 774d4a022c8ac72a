//! Counts what completes on a device that others keep busy: the seconds of a run that has no load of its
//! own.

use writecliff_device::{Bytes, Completion, DeviceTime, Nanos, Telemetry};

use crate::failures::{FAILURES_NAMED, FailedIo, Waiting};
use crate::finished::Finished;
use crate::latency::LatencyHistogram;
use crate::recorder::{Counter, Second};
use crate::sample::Sample;

const SECOND: Nanos = Nanos::from_secs(1);

/// Cuts a device's time into seconds, from a moment on, and counts what completes in each. Memory does not
/// grow with time.
#[derive(Debug)]
pub struct Monitor {
    counter: Counter,
    second: Second,
    finished: Finished,
    failures: Vec<FailedIo>,
}

impl Monitor {
    /// Begins at `origin`. An I/O counts in the series of its number
    /// ([`Io::series`](writecliff_device::Io::series)); in the first one it is told what the drive wrote to
    /// its NAND. `telemetry` is the drive's of now.
    pub fn begin(
        series: &[&str],
        lba_size: Bytes,
        origin: DeviceTime,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            counter: Counter::alone(series, lba_size, origin, telemetry),
            second: Second { index: 0, start: origin, end: origin + SECOND },
            finished: Finished::default(),
            failures: Vec::new(),
        }
    }

    /// When the open second ends.
    pub fn second_ends(&self) -> DeviceTime {
        self.second.end
    }

    /// Counts a completion in the open second.
    ///
    /// # Panics
    /// If its series was not begun.
    pub fn observe(&mut self, completion: &Completion) {
        self.counter.observe(completion);
    }

    /// Ends the open second at `now`, which is its end or, of the last one, some moment before, and opens the
    /// next; gives a sample of each series, with the service times that it counted.
    pub fn end_second(
        &mut self,
        now: DeviceTime,
        telemetry: Telemetry,
    ) -> Vec<(Sample, LatencyHistogram)> {
        let second = Second { end: now, ..self.second };
        self.counter.end_second(&second, telemetry, Waiting::default(), &mut self.finished);
        self.second = Second { index: second.index + 1, start: now, end: now + SECOND };
        let room = FAILURES_NAMED - self.failures.len();
        self.failures.extend(self.finished.failures.iter().take(room).cloned());
        let of_series = |series| (self.finished.sample(series), series.latencies.clone());
        let samples = self.finished.series.iter().map(of_series).collect();
        self.finished.clear();
        samples
    }

    /// The first I/Os that failed, [`FAILURES_NAMED`] at most, up to the last second that has ended.
    pub fn failures(&self) -> &[FailedIo] {
        &self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::{Io, Status};

    #[test]
    fn every_completion_is_in_the_second_in_which_it_was_counted() {
        let page = Bytes::from_kib(4);
        let origin = DeviceTime(5_000_000_000);
        let nand = |bytes| Telemetry { nand_written: Some(Bytes(bytes)), ..Telemetry::default() };
        let mut monitor = Monitor::begin(&["writes", "reads"], Bytes(512), origin, nand(1000));
        let completion = |io: Io, series, status| Completion {
            io: Io { series, ..io },
            submitted: origin,
            completed: origin + Nanos::from_millis(1),
            status,
        };
        monitor.observe(&completion(Io::write(page, page), 0, Status::Done));
        monitor.observe(&completion(Io::read(page, page), 1, Status::Failed(5)));
        let ended = monitor.end_second(monitor.second_ends(), nand(9000));
        let (writes, reads) = (&ended[0].0, &ended[1].0);
        assert_eq!(
            (writes.writes, writes.written_bytes, writes.nand_written_bytes),
            (1, 4096, Some(8000))
        );
        assert_eq!((reads.reads, reads.failed, reads.nand_written_bytes), (0, 1, None));
        assert_eq!((ended[0].1.count(), ended[1].1.count()), (1, 0));
        assert_eq!(monitor.failures().len(), 1);
        let last = monitor.end_second(origin + Nanos::from_millis(1500), nand(9000));
        let sample = &last[0].0;
        assert_eq!(
            (sample.second, sample.start_ns, sample.span_ns),
            (1, 1_000_000_000, 500_000_000)
        );
        assert_eq!((sample.ios(), last[0].1.count()), (0, 0));
    }
}
