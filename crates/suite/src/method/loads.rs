//! Loads of reads and writes that several tests vary something of, and the states of a drive that
//! these are measured in.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{OfJob, Queue, Stream};
use writecliff_workload::{Blocks, Job, Mix, Order, Pace, RandomUniform, Sizes};

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block};
use crate::method::session::{Extent, RunError, Session};

/// The phase that writes every LBA in order, so that reads find data.
pub const FILL: &str = "fill";
/// The phase that gives the drive time after that.
pub const SETTLE: &str = "settle";
/// The phase that writes every LBA in order once more, before writes in order are measured.
pub const FILL_AGAIN: &str = "fill-again";
/// The phase of random writes, before random writes are measured.
pub const SOAK: &str = "soak";

/// Size of a write of a fill, and how many are in flight.
const FILL_BLOCK: Bytes = Bytes::from_kib(128);
const FILL_QUEUE_DEPTH: usize = 32;
/// Between a fill and the reads.
const SETTLE_TIME: Nanos = Nanos::from_secs(60);

/// Reads and writes of one size, anywhere or in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Load {
    /// Anywhere, or each where the last one of its operation ended.
    pub random: bool,
    /// Share of the I/Os, in percent, that read; the rest write.
    pub read_percent: u8,
    /// Size of an I/O.
    pub block: Bytes,
}

impl Load {
    /// What phases and figures call it: `random-read`, `sequential-70-30`.
    pub fn name(&self) -> String {
        let order = if self.random { "random" } else { "sequential" };
        match self.read_percent {
            100 => format!("{order}-read"),
            0 => format!("{order}-write"),
            read => format!("{order}-{read}-{}", 100 - read),
        }
    }

    /// Whether any of its I/Os write.
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// The operations that occur.
    pub(crate) fn operations(self) -> impl Iterator<Item = Operation> {
        let reads = (self.read_percent > 0).then_some(Operation::Read);
        [reads, self.writes().then_some(Operation::Write)].into_iter().flatten()
    }

    /// Its I/Os in the first `span` of a drive, without an end and all in one series, with so many in
    /// flight. What the drive does not take at once waits in the host.
    pub(crate) fn stream(
        self,
        span: Bytes,
        lba_size: Bytes,
        queue_depth: usize,
        seed: u64,
    ) -> Stream<'static> {
        let job = Job {
            name: self.name(),
            mix: Mix { read: self.read_percent, write: 100 - self.read_percent, trim: 0 },
            order: if self.random { Order::Random } else { Order::Sequential },
            block: Blocks::Same(Sizes::One(self.block)),
            once_each: false,
            time_based: true,
            runtime: Some(Nanos(u64::MAX)),
            seed: Some(seed),
            ..Job::default()
        };
        Stream {
            ios: Box::new(OfJob(job.ios(lba_size, span))),
            queue_depth,
            pace: Pace::Closed,
            seed,
            duration: None,
            operations: Vec::new(),
        }
    }
}

/// What a series is called: a job's reads, for one.
pub fn series(job: &str, operation: Operation) -> String {
    format!("{job} {}", plural(operation))
}

pub(crate) fn plural(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Trim => "trims",
        Operation::Flush => "flushes",
    }
}

/// What a drive is brought into before loads are measured: full, and for those that write as used as
/// they leave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct States {
    /// The part of the drive that is used.
    pub(crate) span: Bytes,
    /// The longest that random writes last before such are measured.
    pub(crate) soak: Nanos,
    /// Decides which LBAs they go to.
    pub(crate) seed: u64,
}

impl States {
    /// What these need.
    pub(crate) const DEMANDS: Demands =
        Demands { queue_depth: FILL_QUEUE_DEPTH, io_size: FILL_BLOCK };

    pub(crate) fn check(span: Option<Bytes>, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_block(FILL_BLOCK, span, drive)
    }

    fn fill(self, name: &str, session: &mut Session<'_>) -> Result<(), RunError> {
        let span = FILL_BLOCK * (self.span.0 / FILL_BLOCK.0);
        let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
        session.fill(name, span, FILL_BLOCK, depth)
    }

    /// Full and at rest: purged, every LBA written in order, left alone for a minute.
    pub(crate) fn full(self, session: &mut Session<'_>) -> Result<(), RunError> {
        session.purge()?;
        self.fill(FILL, session)?;
        session.idle(SETTLE, SETTLE_TIME.min(self.soak))
    }

    /// Every LBA written in order once more, without a rest: what a fast buffer gave is used up.
    pub(crate) fn full_again(self, session: &mut Session<'_>) -> Result<(), RunError> {
        self.fill(FILL_AGAIN, session)
    }

    /// As much written at random as the drive holds, as far as there is time.
    pub(crate) fn soaked(self, block: Bytes, session: &mut Session<'_>) -> Result<(), RunError> {
        let writes = RandomUniform::new(Operation::Write, self.span, block, self.seed);
        let count = self.span.0 / block.0;
        let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
        let queue = Queue::new(writes.take(count as usize), depth);
        session.record(SOAK, queue, Some(self.soak), Extent::Time(self.soak))
    }

    /// Full and at rest.
    pub(crate) fn estimate_full(self, drive: &DeviceInfo) -> Estimate {
        Estimate::on(drive).fill(self.span).rest(SETTLE_TIME.min(self.soak))
    }
}
