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
mod outcome;
mod part;
mod plan;
mod rounds;
mod saturation;
mod settings;
mod soak;

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_measure::Recording;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, check_percents, listed,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, quick_span};
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::warning::{MethodWarning, Warning};

pub use crate::method::window::{Settled, WINDOW, Window};
pub use cross_stimulus::CrossStimulus;
pub use demand::Demand;
pub use host_idle::HostIdle;
pub use outcome::Outcome;
pub use part::{Metric, Mixture, Part};
pub use plan::Plan;
pub use rounds::{Cell, CellFigures, PartOutcome, series};
pub use saturation::Saturation;
pub use settings::{CrossStimulusSettings, DemandSettings, HostIdleSettings};

use part::Kind;
use plan::{BySeries, TRACKED};

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "steady-state";
    const QUESTION: &'static str = "what is left in steady state, by SNIA's test specification?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    const NOT_ALWAYS: &'static [&'static str] =
        &["until as fast as before", "at most 5 ms on average"];

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
        check_percents("iops_read_percents", &self.iops_read_percents)?;
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

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
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
        Warning::Method(MethodWarning::Ended { phase, lasted: None })
    }));
    ((!outcome.is_empty()).then_some(outcome), warnings)
}
