//! Storage bench: how does the drive serve real applications?
//!
//! Each trace is done again on a purged drive that was then filled with incompressible data, as
//! fast as the trace allows and with its idle time cut, or by its own clock. What counts is the
//! time in which the drive had something to do.

mod conclude;
mod figures;
mod outcome;
mod plan;
mod replay;
mod series;

use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Recording, Timing};
use writecliff_trace::name::{from_anywhere, title};
use writecliff_trace::{Map, ReadError};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_depths, check_list};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::quick_span;
use crate::method::session::{RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::Figure;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;

pub(crate) use conclude::served_as;
pub use figures::FIGURES;
pub use outcome::{Moment, Outcome, Served, Share, Times};
pub use plan::Plan;
pub(crate) use replay::{replay, verify};
pub use series::{fill_phase, series_name};

/// A quick run's share of each trace.
const QUICK_OPERATIONS: u64 = 20_000;
/// The most I/Os in flight of a replay by the clock, on drives that take more.
const TIMED_DEPTH: usize = 256;
/// A replay's buffers take no more memory than this.
const BUFFERS_MAX: Bytes = Bytes::from_mib(256);

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "storage-bench";
    const QUESTION: &'static str = "how does it serve real applications?";
    const CHOICES: &'static [Choice] = &[Choice::Traces];
    const NOT_ALWAYS: &'static [&'static str] =
        &[", data rate of ", ", busy time", ", disk busy time", ", service time of ", ", p"];

    /// Whether anything of the drive's data is lost.
    fn writes(&self) -> bool {
        self.prepare || self.summaries().any(|summary| summary.writes + summary.trims > 0)
    }

    fn purges(&self) -> bool {
        self.prepare
    }

    /// Whether both do the same with traces of the same names.
    fn asks_as(&self, other: &Self) -> bool {
        self.as_asked() == other.as_asked()
    }

    fn as_asked(&self) -> Self {
        let names = self.traces.iter().map(|trace| title(trace).to_owned());
        Self { traces: names.collect(), ..self.clone() }
    }

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let traces = match overrides.traces[..] {
            [] => self.traces,
            // Wherever the run is gone on with.
            _ => overrides.traces.iter().map(|trace| from_anywhere(trace)).collect(),
        };
        Ok(Self { traces, ..self })
    }

    /// The plan for a review, which has every trace on every drive: one that is too small for a
    /// trace gets it pressed together.
    fn fitted(self, drive: &DeviceInfo) -> Self {
        let used = self.used(drive);
        let is_too_large = self.summaries().any(|summary| summary.end > used);
        let map = if is_too_large && self.map == Map::Exact { Map::Scale } else { self.map };
        Self { map, ..self }
    }

    fn quick(self) -> Self {
        let operations = self.operations.map_or(QUICK_OPERATIONS, |own| own.min(QUICK_OPERATIONS));
        // What lies within the small part of the drive stays where it is.
        let map = if self.map == Map::Exact { Map::Wrap } else { self.map };
        Self { operations: Some(operations), span: quick_span(self.span), map, ..self }
    }

    fn demands(&self) -> Demands {
        let (mut recorded, mut longest) = (1, self.fill_block);
        for summary in self.summaries() {
            recorded = recorded.max(summary.queue_depth_max.unwrap_or(1) as usize);
            // Alignment may add a block at either end.
            longest = longest.max(Bytes(summary.length_max.0.next_multiple_of(4096) + 8192));
        }
        let wanted = match self.timing() {
            Timing::Recorded { .. } => TIMED_DEPTH,
            Timing::IdleCut => recorded.min(TIMED_DEPTH),
        };
        let room = (BUFFERS_MAX.0 / longest.0).max(1) as usize;
        let fill = if self.prepare { self.fill_queue_depth } else { 1 };
        Demands { queue_depth: wanted.min(room).max(fill), io_size: longest }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let mut all = Estimate::on(drive);
        for summary in self.summaries() {
            if self.prepare {
                all = all.fill(self.used(drive));
            }
            let share = self.share_of(&summary);
            let part = |bytes: Bytes| Bytes((bytes.0 as f64 * share) as u64);
            all = match self.speed {
                None => all.fill(part(summary.written_bytes)).read(part(summary.read_bytes)),
                Some(speed) => {
                    let seconds = summary.duration().as_secs_f64() * share / speed;
                    let time = Nanos((seconds * 1e9) as u64);
                    let written = part(summary.written_bytes);
                    all.and(Estimate { time, written, ..Estimate::on(drive) })
                }
            };
        }
        all
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("traces", &self.traces)?;
        let names: Vec<&str> = self.traces.iter().map(|trace| title(trace)).collect();
        check_list("traces", &names)?;
        if let Some(speed) = self.speed
            && !(1e-3..=1e6).contains(&speed)
        {
            let reason = "it lies between 0.001 and 1000000".to_owned();
            return Err(PlanError { option: "speed", got: speed.to_string(), reason });
        }
        if self.prepare {
            check_block(self.fill_block, self.span, drive)?;
            check_depths([self.fill_queue_depth], drive)?;
        }
        for name in &self.traces {
            let refuse = |reason| PlanError { option: "the trace", got: name.clone(), reason };
            let trace = self.known(name).map_err(|error| refuse(error.to_string()))?;
            self.mapping(&trace, drive).map_err(|misfit| refuse(misfit.to_string()))?;
            self.check_length(&trace.summary).map_err(refuse)?;
            if trace.summary.ios() == 0 || self.operations == Some(0) {
                return Err(refuse("there is no operation to do".to_owned()));
            }
        }
        Ok(())
    }

    fn keeps_time(&self) -> bool {
        self.speed.is_some()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        replay::run(self, session)
    }

    fn traces(&self) -> Result<Vec<TraceFacts>, ReadError> {
        self.traces.iter().map(|name| Ok(self.known(name)?.facts(name))).collect()
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude::conclude(self, known.traces, recording)
    }

    fn other_input(outcome: &Outcome, other: &Outcome) -> Option<String> {
        let mut pairs = outcome.traces.iter().zip(&other.traces);
        let different = pairs.find(|(one, other)| one.identity != other.identity);
        different.map(|(one, _)| one.trace.clone())
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.traces.iter().flat_map(Served::figures).collect()
    }
}
