//! Loads of reads and writes that several tests vary something of.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_measure::{OfJob, Stream};
use writecliff_workload::{Blocks, Job, Mix, Order, Pace, Sizes};

use crate::record::warning::{MethodWarning, Warning};

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
    /// Loads with these shares of reads, in percent; the most reads first.
    pub(crate) fn of_shares(random: bool, block: Bytes, read_percents: &[u8]) -> Vec<Self> {
        let load = |read_percent: &u8| Self { random, read_percent: *read_percent, block };
        let mut loads: Vec<Self> = read_percents.iter().map(load).collect();
        loads.sort_unstable_by_key(|load| 100 - load.read_percent);
        loads
    }

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

/// With fewer I/Os for each in flight, those still under way at the end matter.
const IOS_EACH: u64 = 4;
/// Fewer make no rate.
const IOS_LEAST: u64 = 30;

/// The doubt about the part with the fewest I/Os for what was in flight, if they are too few: of each its name,
/// I/Os completed, and how many were in flight.
pub(crate) fn few_ios(parts: impl Iterator<Item = (String, u64, usize)>) -> Option<Warning> {
    let needed = |queue_depth: usize| IOS_LEAST.max(IOS_EACH * queue_depth as u64);
    let share = |ios: u64, queue_depth| ios as f64 / needed(queue_depth) as f64;
    let few = parts.filter(|(_, ios, queue_depth)| *ios < needed(*queue_depth));
    let (part, ios, queue_depth) =
        few.min_by(|a, b| share(a.1, a.2).total_cmp(&share(b.1, b.2)))?;
    Some(Warning::Method(MethodWarning::FewIos { part, ios, queue_depth }))
}
