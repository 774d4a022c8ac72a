//! Steady state: the drive's performance by the SNIA Solid State Storage Performance Test
//! Specification (PTS) 2.0.2.
//!
//! Each part begins with a purge. IOPS, throughput and latency then write twice the capacity in order
//! and run rounds until the tracked figure is steady (`rounds.rs`). Write saturation is one long
//! measurement (`saturation.rs`). The optional parts vary rests (`host_idle.rs`), kinds of writes
//! (`cross_stimulus.rs`) and I/Os in flight (`demand.rs`); the first and the last of these begin with
//! writes until they are steady (`soak.rs`).

pub mod cross_stimulus;
pub mod demand;
mod figures;
pub mod host_idle;
mod rounds;
mod saturation;
mod soak;
mod window;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Recording, Sample};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, listed, used,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, quick_span};
use crate::method::seed::seed_of;
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Test};
use crate::record::figure::Figure;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;
use crate::record::warning::method::MethodWarning;

pub use cross_stimulus::CrossStimulus;
pub use demand::{Demand, Mixture};
pub use host_idle::HostIdle;
pub use rounds::{Cell, CellFigures, Metric, PartOutcome, series};
pub use saturation::Saturation;
pub use window::{Settled, WINDOW, Window};

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
    /// I/Os in flight, but of latency and demand intensity.
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
    /// From one judged measurement to the next while random writes are to become steady.
    pub soak_round: Nanos,
    /// What host idle recovery varies.
    pub host_idle: host_idle::Settings,
    /// What cross stimulus recovery varies.
    pub cross_stimulus: cross_stimulus::Settings,
    /// What demand intensity and the composite vary.
    pub demand: demand::Settings,
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
    /// 4 KiB random writes between rests; like all that follow only if the plan asks for it.
    HostIdleRecovery,
    /// Sequential writes before and after random ones.
    CrossStimulusRecovery,
    /// An enterprise composite of sizes and places with many to few in flight.
    Composite,
    /// 8 KiB reads and writes with many to few in flight.
    DemandIntensity,
}

/// How a part is done.
enum Kind {
    Rounds(Metric),
    Saturation,
    HostIdle,
    CrossStimulus,
    Demand(Mixture),
}

impl Part {
    /// Its name in phases and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => Metric::Iops.name(),
            Self::Throughput => Metric::Throughput.name(),
            Self::ThroughputMib => Metric::ThroughputMib.name(),
            Self::Latency => Metric::Latency.name(),
            Self::WriteSaturation => saturation::NAME,
            Self::HostIdleRecovery => "host-idle-recovery",
            Self::CrossStimulusRecovery => "cross-stimulus-recovery",
            Self::Composite => "composite",
            Self::DemandIntensity => "demand-intensity",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Iops => Kind::Rounds(Metric::Iops),
            Self::Throughput => Kind::Rounds(Metric::Throughput),
            Self::ThroughputMib => Kind::Rounds(Metric::ThroughputMib),
            Self::Latency => Kind::Rounds(Metric::Latency),
            Self::WriteSaturation => Kind::Saturation,
            Self::HostIdleRecovery => Kind::HostIdle,
            Self::CrossStimulusRecovery => Kind::CrossStimulus,
            Self::Composite => Kind::Demand(Mixture::Composite),
            Self::DemandIntensity => Kind::Demand(Mixture::Transactions),
        }
    }

    /// Whether sequential writes of the whole span come before it.
    pub fn is_filled_before(self) -> bool {
        matches!(self.kind(), Kind::Rounds(_) | Kind::Demand(_))
    }

    fn varies_demand(self) -> bool {
        matches!(self.kind(), Kind::Demand(_))
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
            soak_round: Nanos::from_secs(1800),
            host_idle: host_idle::Settings::default(),
            cross_stimulus: cross_stimulus::Settings::default(),
            demand: demand::Settings::default(),
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

    fn seed_of(&self, series: &str) -> u64 {
        seed_of(self.seed, series)
    }

    /// Random writes until they are steady, of as many rounds as a drive usually takes.
    fn estimated_soak(&self) -> Nanos {
        self.soak_round * (WINDOW as u64 - 1)
    }

    /// The longest sequential I/O.
    fn sequential_max(&self) -> Bytes {
        let large = [Part::ThroughputMib, Part::CrossStimulusRecovery];
        let is_large = large.iter().any(|part| self.parts.contains(part));
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
            soak_round: QUICK_MEASUREMENT.min(self.soak_round),
            host_idle: self.host_idle.quick(),
            cross_stimulus: self.cross_stimulus.quick(QUICK_TORTURE),
            demand: self.demand.quick(QUICK_MEASUREMENT),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        let largest = self.iops_sizes.iter().copied().max().unwrap_or(TRACKED);
        let varies = self.parts.iter().any(|part| part.varies_demand());
        let deepest = if varies { self.demand.deepest() } else { 0 };
        Demands {
            queue_depth: self.queue_depth.max(rounds::PRECONDITION_QUEUE_DEPTH).max(deepest),
            io_size: largest.max(self.sequential_max()),
        }
    }

    /// Of as many rounds as a drive usually takes, which is not known beforehand.
    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        self.parts.iter().fold(Estimate::on(drive), |estimate, part| match part.kind() {
            Kind::Rounds(metric) => rounds::estimate(self, metric, drive, estimate),
            Kind::Saturation => saturation::estimate(self, drive, estimate),
            Kind::HostIdle => host_idle::estimate(self, estimate),
            Kind::CrossStimulus => cross_stimulus::estimate(self, estimate),
            Kind::Demand(_) => demand::estimate(self, drive, estimate),
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let refuse = |option, got: String, reason: &str| {
            Err(PlanError { option, got, reason: reason.to_owned() })
        };
        check_duration("measurement", self.measurement)?;
        check_duration("saturation_limit", self.saturation_limit)?;
        check_duration("soak_round", self.soak_round)?;
        self.host_idle.check()?;
        self.cross_stimulus.check()?;
        self.demand.check()?;
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
        if self.parts.contains(&Part::Composite) && self.used(drive) < demand::COMPOSITE_SPAN_MIN {
            let (got, least) = (self.used(drive).to_string(), demand::COMPOSITE_SPAN_MIN);
            return refuse("the span", got, &format!("the composite needs at least {least}"));
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
        match part.kind() {
            Kind::Rounds(metric) => rounds::run(plan, session, metric)?,
            // Begins on the fresh drive: that is what it shows.
            Kind::Saturation => saturation::run(plan, session)?,
            Kind::HostIdle => host_idle::run(plan, session)?,
            Kind::CrossStimulus => cross_stimulus::run(plan, session)?,
            Kind::Demand(mixture) => demand::run(plan, session, mixture)?,
        }
    }
    Ok(())
}

/// The samples of each series.
type BySeries<'a> = HashMap<&'a str, Vec<&'a Sample>>;

/// The parts that were run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// IOPS, throughput and latency, in the order of the plan.
    pub parts: Vec<PartOutcome>,
    /// Write saturation.
    pub saturation: Option<Saturation>,
    /// Host idle recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_idle: Option<HostIdle>,
    /// Cross stimulus recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_stimulus: Option<CrossStimulus>,
    /// Demand intensity and the composite, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
}

impl Outcome {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what came of a part; `false` if that is not all that it should be.
    fn add(&mut self, part: Part, plan: &Plan, recording: &Recording, by: &BySeries<'_>) -> bool {
        match part.kind() {
            Kind::Rounds(metric) => {
                let found = rounds::conclude(plan, metric, by);
                let is_there = found.is_some();
                self.parts.extend(found);
                is_there
            }
            Kind::Saturation => {
                self.saturation = saturation::conclude(by);
                self.saturation.is_some()
            }
            Kind::HostIdle => {
                self.host_idle = host_idle::conclude(plan, by);
                let found = self.host_idle.as_ref();
                found.is_some_and(|found| found.rests.len() == plan.host_idle.rests.len())
            }
            Kind::CrossStimulus => {
                self.cross_stimulus = cross_stimulus::conclude(plan, by);
                let found = self.cross_stimulus.as_ref();
                found.is_some_and(|found| found.stages.len() == cross_stimulus::Stage::ALL.len())
            }
            Kind::Demand(mixture) => {
                let found = demand::conclude(plan, mixture, recording, by);
                let is_there = found.is_some();
                self.demands.extend(found);
                is_there
            }
        }
    }

    /// What was to become steady and did not.
    fn doubts(&self) -> Vec<Warning> {
        let rounds = self.parts.iter().filter_map(PartOutcome::doubt);
        let idle = self.host_idle.iter().map(|idle| (Part::HostIdleRecovery, &idle.before));
        let demands = self.demands.iter().flat_map(|demand| {
            [&demand.before, &demand.rounds].map(|settled| (demand.mixture.part(), settled))
        });
        let settled = idle.chain(demands);
        rounds.chain(settled.filter_map(|(part, settled)| settled.doubt(part.name()))).collect()
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let mut by_series = BySeries::new();
    for sample in &recording.samples {
        by_series.entry(&sample.series).or_default().push(sample);
    }
    let mut outcome = Outcome::default();
    let whole = |part: &&Part| outcome.add(**part, plan, recording, &by_series);
    let ended = plan.parts.iter().take_while(whole).count();
    let mut warnings = outcome.doubts();
    warnings.extend(plan.parts.get(ended).map(|part| {
        let phase = format!("the end of a round of {}", part.name());
        Warning::Method(MethodWarning::Ended { phase })
    }));
    ((!outcome.is_empty()).then_some(outcome), warnings)
}
