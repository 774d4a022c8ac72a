//! What is asked of a group: requests in the order of their due times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use writecliff_device::{Bytes, DeviceInfo, Io, Nanos, Operation};
use writecliff_trace::{
    Format, Header, Map, Mapping, ReadError, Source, SourceOptions, Summary, open,
};
use writecliff_workload::{Blocks, Job, Mix, Order, Pace, Sizes};

use crate::error::FleetError;
use crate::plan::{Fleet, Load, data_of, impossible};

/// A request and when it is due, from the beginning of the service.
pub(crate) type Due = (Nanos, Io);

/// Drives that a trace is laid onto have LBAs of this size.
const LBA: Bytes = Bytes(512);
/// A part of a group's data that keeps its drives in the order of their turns.
const STRIPE: Bytes = Bytes::from_kib(64);

/// Refuses requests that there cannot be.
pub(crate) fn check(fleet: &Fleet) -> Result<(), FleetError> {
    let spans = fleet.drives.iter().map(|kind| {
        let span = data_of(&kind.profile()?, kind.full_percent.at(0.0));
        Ok(span)
    });
    let span = spans.collect::<Result<Vec<_>, FleetError>>()?.into_iter().min().unwrap_or_default();
    match &fleet.load.trace {
        None => {
            let capacity = span * u64::from(fleet.data);
            fleet.job(0).check(LBA, capacity).map_err(|error| impossible("load", error.to_string()))
        }
        Some(trace) => {
            let found = source(trace, fleet.seed)?;
            let (header, summary) = facts(&found);
            if summary.reads + summary.writes == 0 {
                return Err(impossible(
                    "load.trace",
                    format!("'{trace}' reads and writes nothing"),
                ));
            }
            let most = (0..fleet.groups).map(|group| volumes_of(fleet, group).len()).max();
            let place = slice(span, most.unwrap_or(1).max(1));
            mapping(trace, (&header, &summary), place).map(drop)
        }
    }
}

/// The requests of this group, whose drives hold data in `span` each. Those of an open loop are one
/// more such loop, as requests that are dealt out at random are.
pub(crate) fn requests<'a>(
    fleet: &'a Fleet,
    group: u32,
    span: Bytes,
    drive: &DeviceInfo,
) -> Result<Box<dyn Iterator<Item = Result<Due, FleetError>> + 'a>, FleetError> {
    let end = fleet.warm_up + fleet.duration;
    let in_time = move |request: &Result<Due, FleetError>| match request {
        Ok((due, _)) => *due < end,
        Err(_) => true,
    };
    match &fleet.load.trace {
        None => Ok(Box::new(open_loop(fleet, group, span).map(Ok).take_while(in_time))),
        Some(trace) => {
            let takes_trim = drive.trim;
            let volumes = Volumes::of(fleet, trace, group, span)?;
            let takes = move |request: &Result<Due, FleetError>| match request {
                Ok((_, io)) => takes_trim || io.operation != Operation::Trim,
                Err(_) => true,
            };
            Ok(Box::new(volumes.take_while(in_time).filter(takes)))
        }
    }
}

/// What keeps the same order of drives: a stripe.
pub(crate) fn stripe(load: &Load) -> Bytes {
    if load.trace.is_some() { STRIPE } else { load.block }
}

impl Fleet {
    /// An open loop of the whole fleet's rate, with a group's places and gaps, as a job of `mixed`: of a
    /// fleet of one group it is that group's load.
    pub fn job(&self, group: u32) -> Job {
        let load = &self.load;
        Job {
            name: "service".to_owned(),
            mix: Mix { read: load.read_percent, write: 100 - load.read_percent, trim: 0 },
            order: Order::Random,
            block: Blocks::Same(Sizes::One(load.block)),
            distribution: load.distribution.clone(),
            once_each: false,
            pace: Pace::Arrivals { iops: load.iops.unwrap_or(1), gaps: load.gaps },
            runtime: Some(self.warm_up + self.duration),
            time_based: true,
            seed: Some(mixed(self.seed, u64::from(group))),
            ..Job::default()
        }
    }
}

fn open_loop(fleet: &Fleet, group: u32, span: Bytes) -> impl Iterator<Item = Due> + use<> {
    let job = fleet.job(group);
    let (all, own) = match fleet.load.volumes {
        None => (u64::from(fleet.groups), 1),
        Some(volumes) => (u64::from(volumes), volumes_of(fleet, group).len() as u64),
    };
    let mut due_times = job.pace.due_times(job.seed.unwrap_or_default());
    let mut due = Nanos::ZERO;
    let ios = job.ios(LBA, span * u64::from(fleet.data));
    let ios = ios.map(move |io| {
        let now = due;
        // The whole fleet's steps, as much longer as its part of the load is smaller.
        due += Nanos(due_times.step(io.length).0 * all / own);
        (now, io)
    });
    ios.take(if own == 0 { 0 } else { usize::MAX })
}

/// The volumes that a hash puts into this group.
fn volumes_of(fleet: &Fleet, group: u32) -> Vec<u64> {
    let groups = u64::from(fleet.groups);
    match fleet.load.volumes {
        None => vec![u64::from(group)],
        Some(volumes) => (0..u64::from(volumes))
            .filter(|volume| mixed(!fleet.seed, *volume) % groups == u64::from(group))
            .collect(),
    }
}

/// What a volume has for its own in a group.
fn slice(span: Bytes, volumes: usize) -> Bytes {
    Bytes(span.0 / volumes as u64 / STRIPE.0 * STRIPE.0)
}

/// All volumes of a group, one after the other as their requests are due.
struct Volumes {
    volumes: Vec<Volume>,
    next: BinaryHeap<Reverse<(Nanos, usize)>>,
}

/// A trace that is done again and again.
struct Volume {
    trace: String,
    seed: u64,
    source: Source,
    mapping: Mapping,
    /// Where its data begin.
    base: Bytes,
    /// The moment of the trace at which it begins, and the trace's length.
    start: Nanos,
    length: Nanos,
    speed: f64,
    /// How often the trace has come to its end.
    turns: u64,
    ahead: Io,
}

impl Volumes {
    fn of(fleet: &Fleet, trace: &str, group: u32, span: Bytes) -> Result<Self, FleetError> {
        let own = volumes_of(fleet, group);
        let place = slice(span, own.len().max(1));
        let mut all = Self { volumes: Vec::new(), next: BinaryHeap::new() };
        for (index, volume) in own.into_iter().enumerate() {
            let source = source(trace, fleet.seed)?;
            let (header, summary) = facts(&source);
            let length = summary.last_issued + Nanos(1);
            all.volumes.push(Volume {
                trace: trace.to_owned(),
                seed: fleet.seed,
                mapping: mapping(trace, (&header, &summary), place)?,
                source,
                base: place * index as u64,
                start: Nanos(mixed(mixed(fleet.seed, volume), 1) % length.0),
                length,
                speed: fleet.load.speed,
                turns: 0,
                ahead: Io::new(Operation::Flush, Bytes::ZERO, Bytes::ZERO),
            });
            all.look_ahead(index)?;
        }
        Ok(all)
    }

    fn look_ahead(&mut self, volume: usize) -> Result<(), FleetError> {
        let due = self.volumes[volume].look_ahead()?;
        self.next.push(Reverse((due, volume)));
        Ok(())
    }
}

impl Iterator for Volumes {
    type Item = Result<Due, FleetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((due, volume)) = self.next.pop()?;
        let io = self.volumes[volume].ahead;
        Some(self.look_ahead(volume).map(|()| (due, io)))
    }
}

impl Volume {
    /// Finds its next request, and gives its due time.
    fn look_ahead(&mut self) -> Result<Nanos, FleetError> {
        loop {
            let Some(io) = self.source.next().transpose()? else {
                self.turns += 1;
                self.source = source(&self.trace, self.seed)?;
                continue;
            };
            if self.turns == 0 && io.issued < self.start {
                continue;
            }
            let after = io.issued.0 + self.length.0 * self.turns - self.start.0;
            let io = self.mapping.place(io).io();
            let base = if io.operation == Operation::Flush { Bytes::ZERO } else { self.base };
            self.ahead = Io { offset: io.offset + base, ..io };
            return Ok(Nanos((after as f64 / self.speed) as u64));
        }
    }
}

fn source(trace: &str, seed: u64) -> Result<Source, ReadError> {
    open(trace, seed, &SourceOptions::of(Format::Trace))
}

fn facts(source: &Source) -> (Header, Summary) {
    let summary = source.summary().copied();
    (source.header().clone(), summary.expect("traces of our own tell what they amount to"))
}

fn mapping(trace: &str, facts: (&Header, &Summary), place: Bytes) -> Result<Mapping, FleetError> {
    Mapping::new(Map::Scale, true, facts, place, LBA)
        .map_err(|misfit| FleetError::Misfit { trace: trace.to_owned(), misfit })
}

/// A number that looks like neither of those it is made of (the finisher of SplitMix64).
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    let mut mixed = seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
