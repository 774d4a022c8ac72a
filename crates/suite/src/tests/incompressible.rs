//! Incompressible: how much of the speed needs compressible data?
//!
//! Sequential writes, and reads of what was written, of data that compress by 0 to 100 %. The
//! drive is purged before each share.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Content, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording};
use writecliff_workload::Sequential;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, check_percents, used,
};
use crate::method::quick::QUICK_SPAN;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::Figure;
use crate::record::rate::Rate;
use crate::record::warning::{MethodWarning, Warning};

/// What to do. The amount and the size of a transfer are those of AS-SSD's sequential test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Shares of the data, in percent, that a compressor can remove: one measurement each.
    pub compressible_percents: Vec<u8>,
    /// What is written, and then read, of each.
    pub amount: Bytes,
    /// Size of a read or write.
    pub block: Bytes,
    /// Reads or writes in flight.
    pub queue_depth: usize,
    /// Between a write and the read of what it wrote: what the write cache holds is to be read
    /// from the drive's memory, not from its RAM.
    pub settle: Nanos,
    /// Decides the data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            compressible_percents: vec![0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
            amount: Bytes::from_gib(1),
            block: Bytes::from_mib(16),
            queue_depth: 4,
            settle: Nanos::from_secs(10),
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(Some(self.amount), drive.capacity, self.block)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "incompressible";
    const QUESTION: &'static str = "how much of the speed needs compressible data?";

    fn quick(self) -> Self {
        Self {
            compressible_percents: vec![0, 50, 100],
            amount: QUICK_SPAN.min(self.amount),
            settle: Nanos::from_secs(1).min(self.settle),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: self.queue_depth, io_size: self.block }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let shares = self.compressible_percents.iter();
        shares.fold(Estimate::on(drive), |estimate, _| {
            let write = estimate.fill(self.used(drive));
            write.rest(self.settle + Estimate::on(drive).fill(self.used(drive)).time)
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let first_wrong = self.compressible_percents.iter().copied().find(|percent| *percent > 100);
        check_percents("compressible_percents", first_wrong.as_slice())?;
        check_list("compressible_percents", &self.compressible_percents)?;
        check_duration("settle", self.settle)?;
        check_block(self.block, Some(self.amount), drive)?;
        check_depths([self.queue_depth], drive)
    }

    /// The seed decides the bytes, not where they go.
    fn asks_as(&self, other: &Self) -> bool {
        *self == Self { seed: self.seed, ..other.clone() }
    }

    fn written_at_a_time(&self, _: Bytes) -> Option<Bytes> {
        Some(self.amount)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.steps.iter().flat_map(Step::figures).collect()
    }
}

/// The phase that writes data of one share.
pub fn write_phase(percent: u8) -> String {
    format!("write-{percent}")
}

/// The phase that reads them back.
pub fn read_phase(percent: u8) -> String {
    format!("read-{percent}")
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    for percent in &plan.compressible_percents {
        session.purge()?;
        transfer(plan, session, Operation::Write, *percent, &write_phase(*percent))?;
        session.idle(&format!("settle-{percent}"), plan.settle)?;
        transfer(plan, session, Operation::Read, *percent, &read_phase(*percent))?;
    }
    Ok(())
}

fn transfer(
    plan: &Plan,
    session: &mut Session<'_>,
    operation: Operation,
    compressible_percent: u8,
    phase: &str,
) -> Result<(), RunError> {
    let content = Content { compressible_percent, duplicate_percent: 0 };
    let span = plan.used(session.drive());
    let ios = Sequential::new(operation, span, plan.block).with_content(content);
    session.record(phase, Queue::new(ios, plan.queue_depth), None, Extent::Bytes(span))
}

/// The rates for each share of compressible data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the plan.
    pub steps: Vec<Step>,
}

/// The rates for one share, in MB/s (10^6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Share of the data, in percent, that a compressor can remove.
    pub compressible_percent: u8,
    /// Sequential writes.
    pub write: f64,
    /// Sequential reads of what was written; `None` if the run ended before.
    pub read: Option<f64>,
}

impl Step {
    fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = format!("{} % compressible", self.compressible_percent);
        let rates = [("write", Some(self.write)), ("read", self.read)];
        rates.into_iter().filter_map(move |(operation, rate)| {
            Some(Figure::rate(format!("{operation}, {of}"), rate?).of(&of))
        })
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let rate = |phase: String| Rate::of_series(recording, &phase);
    let (mut steps, mut warnings) = (Vec::new(), Vec::new());
    for percent in &plan.compressible_percents {
        let Some(write) = rate(write_phase(*percent)) else {
            warnings.push(Warning::Method(MethodWarning::Ended {
                phase: write_phase(*percent),
                lasted: None,
            }));
            break;
        };
        let read = rate(read_phase(*percent));
        steps.push(Step { compressible_percent: *percent, write, read });
    }
    ((!steps.is_empty()).then_some(Outcome { steps }), warnings)
}
