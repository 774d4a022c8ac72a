//! What every step came to, and its figures.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_measure::{Recording, Sample, Totals};

use super::target::Measure;
use crate::method::loads::plural;
use crate::record::figure::{Figure, millis};
use crate::record::judged::Judged;
use crate::record::rate::{LatencyFigures, percentile};

/// What every step came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The drive's capacity, which rates and targets grow with.
    pub capacity: Bytes,
    /// The steps, as they were run.
    pub steps: Vec<StepFigures>,
    /// Targets of steps that the drive is too small for, once for each cycle.
    #[serde(default, skip_serializing_if = "is_none")]
    pub targets_left_out: u32,
}

/// What a step came to: all its jobs together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepFigures {
    /// The step, with the cycle if it is not the first.
    pub name: String,
    /// Whether it only brought the drive into its state.
    pub prepares: bool,
    /// Second of the step that the figures begin with: the end of the longest ramp.
    #[serde(default, skip_serializing_if = "is_none")]
    pub from_s: u32,
    /// Seconds that the figures are about.
    pub seconds: f64,
    /// Its reads, if it had any.
    pub reads: Option<Figures>,
    /// Its writes.
    pub writes: Option<Figures>,
    /// Its trims.
    pub trims: Option<Figures>,
    /// Its flushes, which follow writes or stand for themselves: their times are in none of the writes'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<Figures>,
    /// Its targets.
    pub targets: Vec<Judged>,
}

/// One operation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// I/Os completed.
    pub ios: u64,
    /// I/Os over time.
    pub iops: f64,
    /// Bytes read, written or trimmed over time, in MiB/s (2^20).
    pub mebibytes_per_second: f64,
    /// Mean service time in nanoseconds.
    pub mean_ns: u64,
    /// Percentiles of it.
    pub latency: LatencyFigures,
    /// 99.9999 %.
    pub p999999_ns: Option<u64>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl StepFigures {
    /// Its operations by name, as far as they occurred.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &Figures)> {
        let all = [
            (Operation::Read, &self.reads),
            (Operation::Write, &self.writes),
            (Operation::Trim, &self.trims),
            (Operation::Flush, &self.flushes),
        ];
        all.into_iter().filter_map(|(op, figures)| Some((plural(op), figures.as_ref()?)))
    }

    pub(super) fn of(&self, operation: Operation) -> Option<&Figures> {
        self.operations().find(|(name, _)| *name == plural(operation)).map(|(_, figures)| figures)
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let of_operation = |(operation, figures): (&str, &Figures)| {
            let of = format!("{} {operation}", self.name);
            let name = |figure: &str| format!("{of}, {figure}");
            let all = [
                Some(Figure::iops(name("rate"), figures.iops)),
                Some(Figure::latency(name("mean"), figures.mean_ns).unjudged()),
                Figure::percentile(name("p99"), figures.latency.p99_ns).map(Figure::unjudged),
                Figure::percentile(name("p99.99"), figures.latency.p9999_ns),
                Figure::percentile(name("p99.9999"), figures.p999999_ns).map(Figure::unjudged),
                Some(Figure::latency(name("longest"), figures.latency.max_ns)),
            ];
            all.into_iter().flatten().map(move |figure| figure.of(&of))
        };
        self.operations().flat_map(of_operation).collect()
    }
}

impl Figures {
    pub(super) fn of(recording: &Recording, series: &str, from: u32, span: Nanos) -> Option<Self> {
        let samples: Vec<&Sample> =
            recording.series(series).filter(|sample| sample.second >= from).collect();
        let totals = Totals::of(samples.iter().copied());
        // What was under way when the time was over took its time, and is no part of a rate.
        let is_in_time = |sample: &&&Sample| {
            Nanos::from_secs(u64::from(sample.second.saturating_sub(from))) < span
        };
        let in_time = || samples.iter().filter(is_in_time);
        let done = Totals::of(in_time().copied()).over(span);
        let trimmed: u64 = in_time().filter_map(|sample| sample.trimmed_bytes).sum();
        let bytes = (done.bytes().0 + trimmed) as f64;
        let latencies = recording.latencies(series, from..u32::MAX);
        (totals.ios > 0 && span > Nanos::ZERO).then(|| Self {
            ios: totals.ios,
            iops: done.iops().get(),
            mebibytes_per_second: bytes / f64::from(1 << 20) / span.as_secs_f64(),
            mean_ns: totals.mean().0,
            latency: LatencyFigures::of(recording, series, from..u32::MAX),
            p999999_ns: percentile(&latencies, totals.longest, 99.9999),
        })
    }

    /// In the unit of the figure.
    pub(super) fn value(
        &self,
        measure: Measure,
        recording: &Recording,
        series: &str,
        from: u32,
    ) -> f64 {
        let nanos = match measure {
            Measure::Iops => return self.iops,
            Measure::MebibytesPerSecond => return self.mebibytes_per_second,
            Measure::Longest => self.latency.max_ns,
            Measure::Percentile(percent) => {
                let latencies = recording.latencies(series, from..u32::MAX);
                latencies.percentile(percent).0.min(self.latency.max_ns)
            }
        };
        millis(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_after_the_time_is_no_part_of_a_rate() {
        let second = |second: u32, reads: u64, longest: u64| Sample {
            series: "a reads".to_owned(),
            second,
            start_ns: u64::from(second) * 1_000_000_000,
            span_ns: if reads > 1 { 1_000_000_000 } else { 45_060 },
            reads,
            read_bytes: reads * 4096,
            latency_max_ns: longest,
            ..Sample::default()
        };
        let mut recording = Recording::default();
        recording.samples = (0..7).map(|at| second(at, 3000, 1_000_000)).collect();
        recording.samples.push(second(7, 1, 9_000_000));
        let figures = Figures::of(&recording, "a reads", 2, Nanos::from_secs(5)).unwrap();
        assert_eq!((figures.iops, figures.ios), (3000.0, 15_001));
        assert_eq!(figures.latency.max_ns, 9_000_000, "its time counts");
    }
}
