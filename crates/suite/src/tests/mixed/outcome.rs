//! What each job met with, and its figures.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_measure::{Sample, Totals};

use crate::method::loads::plural;
use crate::record::figure::Figure;
use crate::record::imported::ImportedFrom;
use crate::record::rate::LatencyFigures;
use crate::record::served::Served;

/// What each job met with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// By job, in the order in which they ran.
    pub jobs: Vec<JobFigures>,
    /// Whose figures these are, if another program measured them.
    #[serde(rename = "told", default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<ImportedFrom>,
    /// How the drive was served, if other programs used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
}

/// What a job met with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobFigures {
    /// The job; copies have a number behind the name.
    pub name: String,
    /// Jobs with the same number ran at once.
    pub group: u32,
    /// Seconds that the figures are about: from the end of the ramp to the last second in which an
    /// I/O completed.
    pub seconds: f64,
    /// What kept it from being as fast as the drive is, in words: the rate that was asked for, or its own
    /// rests. `None` if nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Its reads, if it had any.
    pub reads: Option<OperationFigures>,
    /// Its writes.
    pub writes: Option<OperationFigures>,
    /// Its trims.
    pub trims: Option<OperationFigures>,
    /// Its flushes.
    pub flushes: Option<OperationFigures>,
}

impl JobFigures {
    /// Its operations by name, as far as they occurred.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &OperationFigures)> {
        let all = [
            (Operation::Read, &self.reads),
            (Operation::Write, &self.writes),
            (Operation::Trim, &self.trims),
            (Operation::Flush, &self.flushes),
        ];
        all.into_iter().filter_map(|(op, figures)| Some((plural(op), figures.as_ref()?)))
    }
}

impl JobFigures {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let of_operation = |(operation, figures): (&str, &OperationFigures)| {
            figures.figures(&format!("{} {operation}", self.name)).collect::<Vec<_>>()
        };
        self.operations().flat_map(of_operation).collect()
    }
}

/// One operation of a job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OperationFigures {
    /// I/Os completed.
    pub ios: u64,
    /// Bytes read or written.
    pub bytes: Bytes,
    /// I/Os over time.
    pub iops: f64,
    /// Bytes over time, in MB/s (10^6).
    pub megabytes_per_second: f64,
    /// Mean service time in nanoseconds, if it is known.
    pub mean_ns: Option<u64>,
    /// Percentiles of it.
    pub latency: KnownLatencies,
}

/// Percentiles of the service time in nanoseconds, as far as they are known: others' results tell some
/// of them, and few I/Os make none (`record/rate.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KnownLatencies {
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p999_ns: Option<u64>,
    /// 99.99 %.
    pub p9999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

impl From<LatencyFigures> for KnownLatencies {
    fn from(latency: LatencyFigures) -> Self {
        Self {
            p50_ns: Some(latency.p50_ns),
            p99_ns: latency.p99_ns,
            p999_ns: latency.p999_ns,
            p9999_ns: latency.p9999_ns,
            max_ns: Some(latency.max_ns),
        }
    }
}

impl OperationFigures {
    fn figures(&self, of: &str) -> impl Iterator<Item = Figure> {
        let name = |figure: &str| format!("{of}, {figure}");
        let latency =
            |figure: &str, nanos: Option<u64>| Some(Figure::latency(name(figure), nanos?));
        let KnownLatencies { p99_ns, p999_ns, max_ns, .. } = self.latency;
        let figures = [
            Some(Figure::iops(name("rate"), self.iops)),
            Some(Figure::rate(name("data rate"), self.megabytes_per_second).unjudged()),
            latency("mean", self.mean_ns).map(Figure::unjudged),
            latency("p99", p99_ns).map(Figure::unjudged),
            latency("p99.9", p999_ns),
            latency("longest", max_ns),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(of))
    }

    pub(super) fn of(samples: &[&Sample], span: Nanos, latency: LatencyFigures) -> Option<Self> {
        let totals = Totals::of(samples.iter().copied()).over(span);
        (totals.ios > 0 && span > Nanos::ZERO).then(|| Self {
            ios: totals.ios,
            bytes: totals.bytes(),
            iops: totals.iops().get(),
            megabytes_per_second: totals.megabytes_per_second(),
            mean_ns: Some(totals.mean().0),
            latency: latency.into(),
        })
    }
}
