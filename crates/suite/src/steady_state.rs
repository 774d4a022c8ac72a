//! Steady state: the drive's performance by the SNIA Solid State Storage Performance Test
//! Specification (PTS) 2.0.2.
//!
//! Each part begins with a purge; all but write saturation then write twice the capacity in order
//! and run rounds until the tracked figure is steady (`rounds.rs`).

mod figures;
mod rounds;
mod saturation;
mod window;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Recording, Sample};

use crate::figure::Figure;
use crate::plan::{
    Choice, QUICK_MEASUREMENT, QUICK_TORTURE, check_block, check_depths, check_duration,
    check_list, listed, quick_span, used,
};
use crate::session::{RunError, Session};
use crate::test::{InReviews, Test};
use crate::traces::TraceFacts;
use crate::{Demands, Estimate, Overrides, PlanError, Warning};

pub use rounds::{Cell, CellFigures, Metric, PartOutcome, series};
pub use saturation::Saturation;
pub use window::{WINDOW, Window};

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
    /// I/Os in flight of the IOPS, throughput and write saturation parts.
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
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written, in which order, and with what data.
    pub seed: u64,
}

/// A part of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Random IOPS over mixes and sizes; tracked: 4 KiB writes.
    Iops,
    /// 128 KiB sequential throughput; tracked: writes.
    Throughput,
    /// The same in 1 MiB; not among the parts unless the plan asks for it.
    #[serde(rename = "throughput-1MiB")]
    ThroughputMib,
    /// Response times one I/O at a time; tracked: 4 KiB writes.
    Latency,
    /// 4 KiB random writes without pause.
    WriteSaturation,
}

impl Part {
    /// Its name in phases and reports.
    pub fn name(self) -> &'static str {
        self.metric().map_or(saturation::NAME, Metric::name)
    }

    /// What its rounds are about; `None` of write saturation, which is one long measurement.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Iops => Some(Metric::Iops),
            Self::Throughput => Some(Metric::Throughput),
            Self::ThroughputMib => Some(Metric::ThroughputMib),
            Self::Latency => Some(Metric::Latency),
            Self::WriteSaturation => None,
        }
    }
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
            span: None,
            seed: 1,
        }
    }
}

/// 4 KiB: what the specification tracks.
const TRACKED: Bytes = Bytes::from_kib(4);
/// Size of a sequential I/O.
const SEQUENTIAL: Bytes = Bytes::from_kib(128);
/// Size of a sequential I/O of the part that has larger ones.
const SEQUENTIAL_LARGE: Bytes = Bytes::from_mib(1);

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, TRACKED)
    }

    /// The longest sequential I/O.
    fn sequential_max(&self) -> Bytes {
        let is_large = self.parts.contains(&Part::ThroughputMib);
        if is_large { SEQUENTIAL_LARGE } else { SEQUENTIAL }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "steady-state";
    const QUESTION: &'static str = "what is left in steady state, by SNIA's test specification?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { measurement: overrides.duration.unwrap_or(self.measurement), ..self })
    }

    fn quick(self) -> Self {
        Self {
            iops_read_percents: vec![100, 65, 0],
            iops_sizes: vec![Bytes::from_kib(128), TRACKED],
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            rounds_max: WINDOW as u32,
            saturation_limit: QUICK_TORTURE.min(self.saturation_limit),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        let largest = self.iops_sizes.iter().copied().max().unwrap_or(TRACKED);
        Demands {
            queue_depth: self.queue_depth.max(rounds::PRECONDITION_QUEUE_DEPTH),
            io_size: largest.max(self.sequential_max()),
        }
    }

    /// Of as many rounds as a drive usually takes, which is not known beforehand.
    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        self.parts.iter().fold(Estimate::on(drive), |estimate, part| match part.metric() {
            Some(metric) => rounds::estimate(self, metric, drive, estimate),
            None => saturation::estimate(self, drive, estimate),
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let refuse = |option, got: String, reason: &str| {
            Err(PlanError { option, got, reason: reason.to_owned() })
        };
        check_duration("measurement", self.measurement)?;
        check_duration("saturation_limit", self.saturation_limit)?;
        check_block(TRACKED, self.span, drive)?;
        check_block(self.sequential_max(), self.span, drive)?;
        check_list("parts", &self.parts)?;
        check_list("iops_read_percents", &self.iops_read_percents)?;
        check_list("iops_sizes", &self.iops_sizes)?;
        let sizes = self.iops_sizes.iter().filter(|size| size.is_multiple_of(drive.lba_size));
        sizes.copied().try_for_each(|size| check_block(size, self.span, drive))?;
        if self.rounds_max < WINDOW as u32 {
            let got = self.rounds_max.to_string();
            return refuse("rounds_max", got, "steady state is a matter of at least 5 rounds");
        }
        if self.iops_read_percents.iter().any(|percent| *percent > 100) {
            let got = listed(&self.iops_read_percents);
            return refuse("iops_read_percents", got, "a share is at most 100 percent");
        }
        let tracks = self.iops_read_percents.contains(&0) && self.iops_sizes.contains(&TRACKED);
        if self.parts.contains(&Part::Iops) && !tracks {
            let got = format!(
                "of {} percent reads of {}",
                listed(&self.iops_read_percents),
                listed(&self.iops_sizes)
            );
            return refuse("the IOPS part", got, "it tracks 4KiB at 0 percent reads; add them");
        }
        check_depths([self.queue_depth, rounds::PRECONDITION_QUEUE_DEPTH], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &[TraceFacts]) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures::of(outcome)
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    for part in &plan.parts {
        session.purge()?;
        match part.metric() {
            Some(metric) => rounds::run(plan, session, metric)?,
            // Begins on the fresh drive: that is what it shows.
            None => saturation::run(plan, session)?,
        }
    }
    Ok(())
}

/// The samples of each series.
type BySeries<'a> = HashMap<&'a str, Vec<&'a Sample>>;

/// The parts that were run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// IOPS, throughput and latency, in the order of the plan.
    pub parts: Vec<PartOutcome>,
    /// Write saturation.
    pub saturation: Option<Saturation>,
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let mut by_series = BySeries::new();
    for sample in &recording.samples {
        by_series.entry(&sample.series).or_default().push(sample);
    }
    let (mut parts, mut saturation, mut warnings) = (Vec::new(), None, Vec::new());
    for part in &plan.parts {
        let is_there = match part.metric() {
            Some(metric) => {
                let outcome = rounds::conclude(plan, metric, &by_series);
                warnings.extend(outcome.as_ref().and_then(PartOutcome::doubt));
                let is_there = outcome.is_some();
                parts.extend(outcome);
                is_there
            }
            None => {
                saturation = saturation::conclude(&by_series);
                saturation.is_some()
            }
        };
        if !is_there {
            let phase = format!("the end of a round of {}", part.name());
            warnings.push(Warning::Ended { phase });
            break;
        }
    }
    let is_empty = parts.is_empty() && saturation.is_none();
    ((!is_empty).then_some(Outcome { parts, saturation }), warnings)
}
