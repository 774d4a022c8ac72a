//! Jobs: any mix of reads, writes and trims, of any sizes, at any pace.
//!
//! A [`Job`] says what fio's job files can say about the I/O itself, in words and units of our
//! own; [`crate::fio`] makes them of fio's files. What a job does without being told is what fio
//! does. [`Job::check`] judges it against a drive, [`Job::ios`] carries it out.

mod check;
mod due_times;
mod groups;
mod ios;
mod list;
mod places;
mod sizes;
mod steady;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Content, Durability, Layout, Nanos, Operation, Throughput};

pub use check::JobError;
pub use due_times::DueTimes;
pub use ios::JobIos;
pub use list::JobList;
pub use sizes::{Amount, Blocks, Share, Sizes, SizesByOperation};
pub use steady::{By, Of, Steady};

pub(crate) use sizes::DEFAULT_BLOCK;

/// One load. The defaults are fio's: 4 KiB sequential reads of the whole drive, one at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Job {
    /// What it is called in the report; no two of a list alike.
    pub name: String,
    /// Which operations, in percent of the I/Os.
    pub mix: Mix,
    /// Whether every write is preceded by a trim of its range; only for jobs that just write.
    pub trim_first: bool,
    /// In order or anywhere.
    pub order: Order,
    /// Sizes of the I/Os.
    pub block: Blocks,
    /// Random places are multiples of this; by default of the operation's smallest block.
    pub align: Option<Bytes>,
    /// Where the span begins.
    pub offset: Amount,
    /// A beginning or a distance in percent is rounded up to a multiple of this; by default of
    /// `align`, or of the smallest block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_align: Option<Bytes>,
    /// Each further copy's span begins so much later.
    pub offset_increment: Amount,
    /// How long the span is; to the end of the drive by default.
    pub size: Option<Amount>,
    /// Where the drive ends for this job, if not at its own end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Bytes>,
    /// Bytes to do in all, as the sum of all operations (percent of the span): by default once the
    /// span.
    pub io_size: Option<Amount>,
    /// Ends after so many I/Os, flushes not counted, if not before.
    pub number_ios: Option<u64>,
    /// How often all of this is done.
    pub loops: u32,
    /// I/Os in flight.
    pub queue_depth: usize,
    /// Share of every 4 KiB block written that compresses away.
    pub compressible_percent: u8,
    /// Share of the 4 KiB blocks written that repeat an earlier one.
    pub duplicate_percent: u8,
    /// Where random I/Os fall.
    pub distribution: Distribution,
    /// Which share of the I/Os in random order goes anywhere; the others go on where the last one of
    /// their operation ended.
    #[serde(skip_serializing_if = "RandomShare::is_all")]
    pub random_percent: RandomShare,
    /// Whether random I/Os visit every block of the span once before any twice. Only possible, and
    /// otherwise of no effect, for uniform places and blocks of one size; see
    /// [`Job::visits_once`].
    pub once_each: bool,
    /// When I/Os begin.
    pub pace: Pace,
    /// The first I/O begins so long after the first of its group; all other times count from it.
    #[serde(skip_serializing_if = "is_zero")]
    pub start_delay: Nanos,
    /// Ends after this time, if not before.
    pub runtime: Option<Nanos>,
    /// Begins anew at the end of the span until the runtime is over.
    pub time_based: bool,
    /// Time before the runtime that is run and recorded, but not part of the figures.
    pub ramp: Nanos,
    /// Ends when it has been as fast for long enough, if not before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// When a write is complete: `"later"`, `"forced"` or `"flushed"`.
    #[serde(skip_serializing_if = "Durability::is_later")]
    pub durability: Durability,
    /// What a file in a directory is before it is written, the same for all jobs of a plan: `"preallocated"`, as
    /// it is by default, `"overwritten"` or `"appended"`. A drive is as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// A flush after every so many writes, before the I/O that follows.
    pub flush_every: Option<u32>,
    /// A flush when the job's I/Os end.
    pub flush_at_end: bool,
    /// Decides everything that is random; by default taken from the list's.
    pub seed: Option<u64>,
    /// Jobs of one group run at once; groups run one after the other, by number.
    pub group: u32,
    /// So many of the same at once, over the same span with different random numbers.
    pub copies: u32,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            mix: Mix::only(Operation::Read),
            trim_first: false,
            order: Order::Sequential,
            block: Blocks::Same(Sizes::One(DEFAULT_BLOCK)),
            align: None,
            offset: Amount::ZERO,
            offset_align: None,
            offset_increment: Amount::ZERO,
            size: None,
            end: None,
            io_size: None,
            number_ios: None,
            loops: 1,
            queue_depth: 1,
            compressible_percent: 0,
            duplicate_percent: 0,
            distribution: Distribution::Uniform,
            random_percent: RandomShare::default(),
            once_each: true,
            pace: Pace::Closed,
            start_delay: Nanos::ZERO,
            runtime: None,
            time_based: false,
            ramp: Nanos::ZERO,
            steady: None,
            durability: Durability::Later,
            layout: None,
            flush_every: None,
            flush_at_end: false,
            seed: None,
            group: 0,
            copies: 1,
        }
    }
}

/// The share of each operation among the I/Os, in percent; drawn anew for every I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mix {
    /// Reads.
    pub read: u8,
    /// Writes.
    pub write: u8,
    /// Trims.
    pub trim: u8,
}

/// Where the I/Os of a job go, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Each where the last one of its operation ended.
    Sequential,
    /// Anywhere in the span.
    Random,
}

/// The share of each operation's I/Os in random order that goes anywhere, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RandomShare {
    /// Of reads.
    pub read: u8,
    /// Of writes.
    pub write: u8,
    /// Of trims.
    pub trim: u8,
}

impl Default for RandomShare {
    fn default() -> Self {
        Self { read: 100, write: 100, trim: 100 }
    }
}

impl RandomShare {
    fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// That of an operation; a flush goes nowhere.
    pub(crate) fn of(self, operation: Operation) -> u8 {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Trim => self.trim,
            Operation::Flush => 100,
        }
    }
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

/// How random places fall. All but the uniform one and zones have favourites, which lie scattered over
/// the span, as fio's do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// The k-th favourite is hit in proportion to k to the power of minus this.
    Zipf(f64),
    /// A share of 1 - h of the I/Os goes to a share of h of the span, and so on within it;
    /// between 0 and 1.
    Pareto(f64),
    /// A bell curve with a standard deviation of so many percent of the span.
    Normal(f64),
    /// Parts of the span, one after the other from its beginning, each with a share of the I/Os that
    /// fall evenly in it, as the endurance workloads of JEDEC's JESD219 have them.
    Zoned(Vec<Zone>),
    /// The same, with the places of each part scattered over the whole span: pages that are hot and pages
    /// that are cold lie side by side, as those of a file system or a database do.
    Shuffled(Vec<Zone>),
}

/// A part of the span, and how often it is hit beside the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Its weight; percent of the I/Os, if all add up to 100.
    pub ios: u32,
    /// How long it is; percent are of the span.
    pub span: Amount,
}

/// When the I/Os of a load begin, given room in its queue. Flushes have no time of their own: each
/// belongs to the write before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Pace {
    /// At once.
    Closed,
    /// After every so many I/Os the load waits for all in flight, and then rests.
    Think {
        /// How long.
        rest: Nanos,
        /// I/Os between rests, at least one.
        every: u32,
    },
    /// After every I/O a rest of random length, anything up to twice this with equal chance: a probe
    /// that meets what goes on beside it by a clock of its own at every phase.
    Muse {
        /// The rest on average.
        mean: Nanos,
    },
    /// At due times that add up to this rate; what is late begins at once and moves no due time.
    Rate(Throughput),
    /// The same with exponential gaps, which add up to this rate on average: it meets what goes on
    /// beside it by a clock of its own at every phase.
    Scatter(Throughput),
    /// At due times that add up to this rate, with a rest after every so many I/Os, which moves no due
    /// time: what is late by then begins at once.
    Bursts {
        /// The rate.
        rate: Throughput,
        /// How long a rest is; it begins when all in flight have completed.
        rest: Nanos,
        /// I/Os between rests, at least one.
        every: u32,
    },
    /// At due times at equal steps, so many a second; what is late begins at once and moves none.
    Iops(u64),
    /// Reads and writes at rates of their own, whatever their shares in the mix, each with the queue
    /// depth for itself.
    Rates {
        /// Of reads.
        read: Throughput,
        /// Of writes.
        write: Throughput,
    },
    /// As users come, who know nothing of the drive: an open loop. Latency counts from when an I/O
    /// is due, so that what it waits before it can begin is part of it.
    Arrivals {
        /// The mean, in I/Os per second.
        iops: u64,
        /// How the times between them fall.
        gaps: Gaps,
    },
}

/// How the times between arrivals fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gaps {
    /// All alike.
    Steady,
    /// Exponential, as those of many users are who know nothing of each other.
    Poisson,
}

impl Pace {
    /// Whether latency counts from when an I/O is due.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Arrivals { .. })
    }

    /// The rest, and after how many I/Os it comes, if there is one.
    pub fn rests(self) -> Option<(Nanos, u32)> {
        match self {
            Self::Think { rest, every } | Self::Bursts { rest, every, .. } => Some((rest, every)),
            Self::Muse { mean } => Some((mean, 1)),
            _ => None,
        }
    }

    /// Bytes a second that are asked for, with I/Os of this length; `None` where there is no rate.
    pub fn asked(self, length: Bytes) -> Option<Throughput> {
        match self {
            Self::Closed | Self::Think { .. } | Self::Muse { .. } => None,
            Self::Rate(rate) | Self::Scatter(rate) | Self::Bursts { rate, .. } => Some(rate),
            Self::Iops(iops) | Self::Arrivals { iops, .. } => {
                Some(Throughput(iops.saturating_mul(length.0)))
            }
            Self::Rates { read, write } => Some(Throughput(read.0.saturating_add(write.0))),
        }
    }
}

impl Mix {
    /// Nothing but this operation.
    ///
    /// # Panics
    /// For a flush, which belongs to no mix.
    pub fn only(operation: Operation) -> Self {
        let mut mix = Self::default();
        match operation {
            Operation::Read => mix.read = 100,
            Operation::Write => mix.write = 100,
            Operation::Trim => mix.trim = 100,
            Operation::Flush => panic!("flushes come every so many writes"),
        }
        mix
    }

    /// The operations that occur.
    pub fn operations(self) -> impl Iterator<Item = Operation> {
        let shares = [
            (Operation::Read, self.read),
            (Operation::Write, self.write),
            (Operation::Trim, self.trim),
        ];
        shares.into_iter().filter(|(_, share)| *share > 0).map(|(operation, _)| operation)
    }
}

impl Job {
    /// Whether the job changes the drive's contents.
    pub fn writes(&self) -> bool {
        self.mix.read < 100
    }

    /// The operations that occur, with trims before writes and flushes.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        let flushes = self.flushes();
        let trims = self.trim_first.then_some(Operation::Trim);
        self.mix.operations().chain(trims).chain(flushes.then_some(Operation::Flush))
    }

    /// Whether it flushes at all: where nothing is written, there is nothing to make durable.
    pub(crate) fn flushes(&self) -> bool {
        self.mix.write > 0 && (self.flush_every.is_some() || self.flush_at_end)
    }

    /// How long after its group's beginning it ends at the latest.
    pub fn duration(&self) -> Option<Nanos> {
        self.runtime.map(|runtime| self.before_figures() + runtime)
    }

    /// How long after its group's beginning its figures begin.
    pub fn before_figures(&self) -> Nanos {
        self.start_delay + self.ramp
    }

    /// The loads that run at once to be this job: its reads and its writes, if each have a rate.
    pub fn by_rate(&self) -> Vec<Self> {
        let Pace::Rates { read, write } = self.pace else {
            return vec![self.clone()];
        };
        [(Operation::Read, read), (Operation::Write, write)]
            .map(|(operation, rate)| Self {
                mix: Mix::only(operation),
                pace: Pace::Rate(rate),
                ..self.clone()
            })
            .into()
    }

    /// The longest I/O.
    pub(crate) fn io_size_max(&self) -> Bytes {
        self.all_sizes().max().unwrap_or(Bytes::ZERO)
    }

    /// The longest read or write: what a buffer must hold.
    pub fn transfer_size_max(&self) -> Bytes {
        let with_data = self.mix.operations().filter(|operation| *operation != Operation::Trim);
        let shares = with_data.flat_map(|operation| self.block.of(operation).shares());
        shares.map(|share| share.size).max().unwrap_or(Bytes::ZERO)
    }

    /// Bytes that it will have done if nothing but their amount ends it; `None` if it is ended by
    /// its runtime.
    pub fn amount(&self, capacity: Bytes) -> Option<Bytes> {
        let span = self.span(capacity).map_or(Bytes::ZERO, |span| Bytes(span.length));
        let once = self.io_size.map_or(span, |amount| amount.of(span));
        let bytes = once.0.saturating_mul(u64::from(self.loops));
        (!self.time_based).then_some(Bytes(bytes))
    }

    /// Where its I/Os fall: first byte and end; of several copies, the first one's. Empty if that lies beyond the
    /// drive's end.
    pub fn place(&self, capacity: Bytes) -> Range<u64> {
        self.span(capacity).map_or(0..0, |span| span.start..span.start.saturating_add(span.length))
    }

    /// Whether random I/Os visit every block of the span once before any twice.
    pub fn visits_once(&self) -> bool {
        self.once_each
            && self.order == Order::Random
            && self.distribution == Distribution::Uniform
            && !self.is_partly_random()
            && self.align.is_none()
            && self.all_sizes().min() == self.all_sizes().max()
    }

    /// Whether some of its I/Os go anywhere, and others on from there.
    fn is_partly_random(&self) -> bool {
        let is_partly = |operation| self.random_percent.of(operation) < 100;
        self.order == Order::Random && self.mix.operations().any(is_partly)
    }

    /// The sizes of all operations that draw a place of their own.
    fn all_sizes(&self) -> impl Iterator<Item = Bytes> {
        let sizes = self.mix.operations().flat_map(|operation| self.block.of(operation).shares());
        sizes.map(|share| share.size)
    }

    fn content(&self) -> Content {
        let Self { compressible_percent, duplicate_percent, .. } = *self;
        Content { compressible_percent, duplicate_percent }
    }
}
