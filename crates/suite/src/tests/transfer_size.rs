//! Transfer size: which sizes are fast?
//!
//! Sequential writes, and reads of what was written, in sizes from 512 bytes to 8 MiB, 4 in
//! flight, over a span of 2 GB of a purged drive; the data repeat, as ATTO's do. A size ends with
//! the span or after 15 s.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Content, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording};
use writecliff_workload::Sequential;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::FILL_BLOCK;
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, check_percents, listed, used,
};
use crate::method::quick::QUICK_SPAN;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::Figure;
use crate::record::rate::Rate;
use crate::record::warning::{MethodWarning, Warning};

/// What to do. The defaults are the published method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Sizes of a transfer; those that are not whole LBAs of the drive, or do not fit into the
    /// span, are left out.
    pub sizes: Vec<Bytes>,
    /// The part of the drive, from its start, that is written and read.
    pub span: Bytes,
    /// Transfers in flight.
    pub queue_depth: usize,
    /// The longest that one size may take, in either direction.
    pub limit: Nanos,
    /// Share of the data, in percent, that a compressor can remove.
    pub compressible_percent: u8,
    /// Decides the data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sizes: (9..=23).map(|power| Bytes(1 << power)).collect(),
            span: Bytes(2_000_000_000),
            queue_depth: 4,
            limit: Nanos::from_secs(15),
            compressible_percent: 100,
            seed: 1,
        }
    }
}

impl Plan {
    /// The sizes that the drive can be asked for.
    fn possible<'a>(&'a self, drive: &'a DeviceInfo) -> impl Iterator<Item = Bytes> + 'a {
        let fits = move |size: &Bytes| check_block(*size, Some(self.span), drive).is_ok();
        self.sizes.iter().copied().filter(fits)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "transfer-size";
    const QUESTION: &'static str = "which transfer sizes are fast?";

    fn quick(self) -> Self {
        Self {
            limit: Nanos::from_millis(500).min(self.limit),
            span: QUICK_SPAN.min(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        let longest = self.sizes.iter().copied().max().unwrap_or(FILL_BLOCK);
        Demands { queue_depth: self.queue_depth, io_size: longest.max(FILL_BLOCK) }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        self.possible(drive).fold(Estimate::on(drive), |estimate, _| {
            let write = Estimate::on(drive).fill(self.span.min(drive.capacity));
            let time = write.time.min(self.limit);
            estimate.and(Estimate { time, ..write }).rest(time)
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("sizes", &self.sizes)?;
        if self.possible(drive).next().is_none() {
            let lba = drive.lba_size.exact();
            let reason = format!("none is whole LBAs of {lba} and within {}", self.span);
            let got = listed(&self.sizes);
            return Err(PlanError { option: "sizes", got, reason });
        }
        check_percents("compressible_percent", &[self.compressible_percent])?;
        check_duration("limit", self.limit.max(Nanos::from_secs(1)))?;
        check_depths([self.queue_depth], drive)
    }

    /// The seed decides the bytes, not where they go.
    fn asks_as(&self, other: &Self) -> bool {
        *self == Self { seed: self.seed, ..other.clone() }
    }

    fn written_at_a_time(&self, _: Bytes) -> Option<Bytes> {
        Some(self.span)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.sizes.iter().flat_map(SizeFigures::figures).collect()
    }
}

/// The phase that writes in transfers of one size.
pub fn write_phase(size: Bytes) -> String {
    format!("write-{}", size.exact())
}

/// The phase that reads in transfers of one size.
pub fn read_phase(size: Bytes) -> String {
    format!("read-{}", size.exact())
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let sizes: Vec<Bytes> = plan.possible(session.drive()).collect();
    session.purge()?;
    // Whatever a size's writes leave out within the limit, reads find data in the whole span.
    let span = used(Some(plan.span), session.drive().capacity, Bytes::from_kib(4));
    session.fill("fill", span, FILL_BLOCK, plan.queue_depth)?;
    for size in sizes {
        transfer(plan, session, Operation::Write, size, &write_phase(size))?;
        transfer(plan, session, Operation::Read, size, &read_phase(size))?;
    }
    Ok(())
}

fn transfer(
    plan: &Plan,
    session: &mut Session<'_>,
    operation: Operation,
    size: Bytes,
    phase: &str,
) -> Result<(), RunError> {
    let span = used(Some(plan.span), session.drive().capacity, size);
    let compressible_percent = plan.compressible_percent;
    let content = Content { compressible_percent, duplicate_percent: 0 };
    let ios = Sequential::new(operation, span, size).with_content(content);
    let queue = Queue::new(ios, plan.queue_depth);
    session.record(phase, queue, Some(plan.limit), Extent::Bytes(span))
}

/// The rates for each size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Smallest first, as in the plan; sizes that the drive cannot be asked for are left out.
    pub sizes: Vec<SizeFigures>,
}

/// The rates for one size, in MB/s (10^6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizeFigures {
    /// Size of a transfer.
    pub size: Bytes,
    /// Sequential writes.
    pub write: f64,
    /// Sequential reads of what was written; `None` if the run ended before.
    pub read: Option<f64>,
}

impl SizeFigures {
    fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = self.size.exact();
        let rates = [("write", Some(self.write)), ("read", self.read)];
        rates.into_iter().filter_map(move |(operation, rate)| {
            Some(Figure::rate(format!("{operation} {of}"), rate?).of(&of))
        })
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let rate = |phase: String| Rate::of_series(recording, &phase);
    let figures = |size: &Bytes| {
        let write = rate(write_phase(*size))?;
        Some(SizeFigures { size: *size, write, read: rate(read_phase(*size)) })
    };
    let sizes: Vec<SizeFigures> = plan.sizes.iter().filter_map(figures).collect();
    let last = sizes.last().filter(|figures| figures.read.is_some()).map(|figures| figures.size);
    let mut warnings = Vec::new();
    if last != plan.sizes.last().copied() {
        warnings.push(Warning::Method(MethodWarning::Ended {
            phase: "the largest transfers".to_owned(),
            lasted: None,
        }));
    }
    ((!sizes.is_empty()).then_some(Outcome { sizes }), warnings)
}
