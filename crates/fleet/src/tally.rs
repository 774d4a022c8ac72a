//! All that is counted of a group's requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff::measure::{LatencyCount, LatencyHistogram};
use writecliff_device::{Nanos, Operation};

use crate::group::Served;
use crate::plan::Fleet;

/// What came of a group. Sums of groups are the fleet's, whatever ran where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// The variant, by its place in the plan.
    pub variant: u32,
    /// Its number, from 0.
    pub group: u32,
    /// By minute of the service.
    pub minutes: Vec<Minute>,
    /// Its drives.
    pub drives: Vec<DriveRow>,
    /// Reads that asked further drives.
    pub hedged: u64,
}

/// A minute: response times of the requests that were due in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Minute {
    /// Of reads: the longest time of a bucket in nanoseconds, and how many are in it.
    pub reads: Vec<(u64, u64)>,
    /// Of all that is not a read.
    pub writes: Vec<(u64, u64)>,
    /// The longest of all, exact.
    pub longest_ns: u64,
    /// Those above the plan's limit.
    pub late: u64,
}

/// A drive of a group.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveRow {
    /// Its kind, by its place in the plan.
    pub kind: usize,
    /// How much of it held data.
    pub full_percent: f64,
    /// How often these had been overwritten before.
    pub overwrites: f64,
    /// I/Os that it was given, those of the warm-up included.
    pub ios: u64,
    /// I/Os that it could not do.
    pub failed: u64,
    /// Requests that waited for its answer last.
    pub waited_for: u64,
    /// Of these, those above the plan's limit.
    pub late: u64,
    /// Bytes written to it by the service, the warm-up included.
    pub written: u64,
    /// Bytes that it wrote to its NAND meanwhile, if it tells.
    pub nand_written: Option<u64>,
}

pub(crate) const MINUTE: u64 = 60_000_000_000;

/// Counts requests as they are served.
#[derive(Debug)]
pub(crate) struct Tally {
    limit: Nanos,
    /// What was due before is not counted.
    from: Nanos,
    minutes: BTreeMap<u64, Counted>,
    /// By drive, requests that waited for it last, and the late ones of them.
    waited_for: Vec<[u64; 2]>,
    hedged: u64,
}

#[derive(Debug, Default)]
struct Counted {
    reads: LatencyHistogram,
    writes: LatencyHistogram,
    longest: Nanos,
    late: u64,
}

impl Tally {
    pub(crate) fn new(fleet: &Fleet) -> Self {
        Self {
            limit: fleet.limit,
            from: fleet.warm_up,
            minutes: BTreeMap::new(),
            waited_for: vec![[0; 2]; fleet.width()],
            hedged: 0,
        }
    }

    pub(crate) fn count(&mut self, served: &Served) {
        if served.due < self.from {
            return;
        }
        let minute = self.minutes.entry((served.due.0 - self.from.0) / MINUTE).or_default();
        match served.operation {
            Operation::Read => minute.reads.record(served.response),
            _ => minute.writes.record(served.response),
        }
        let is_late = u64::from(served.response > self.limit);
        minute.longest = minute.longest.max(served.response);
        minute.late += is_late;
        self.hedged += u64::from(served.hedged);
        let [all, late] = &mut self.waited_for[served.last];
        *all += 1;
        *late += is_late;
    }

    /// The group's row; of its drives all but how often they were waited for is known.
    pub(crate) fn row(&self, (variant, group): (u32, u32), drives: Vec<DriveRow>) -> GroupRow {
        let length = self.minutes.keys().last().map_or(0, |last| last + 1);
        let minute =
            |number| self.minutes.get(&number).map_or_else(Minute::default, Counted::minute);
        let drives = drives.into_iter().zip(&self.waited_for);
        let drive = |(drive, [waited_for, late]): (DriveRow, &[u64; 2])| DriveRow {
            waited_for: *waited_for,
            late: *late,
            ..drive
        };
        GroupRow {
            variant,
            group,
            minutes: (0..length).map(minute).collect(),
            drives: drives.map(drive).collect(),
            hedged: self.hedged,
        }
    }
}

impl Counted {
    fn minute(&self) -> Minute {
        Minute {
            reads: counts(&self.reads),
            writes: counts(&self.writes),
            longest_ns: self.longest.0,
            late: self.late,
        }
    }
}

/// What a histogram holds.
pub(crate) fn counts(histogram: &LatencyHistogram) -> Vec<(u64, u64)> {
    histogram.counts().map(|LatencyCount { latency, count }| (latency, count)).collect()
}

/// The histogram that holds these.
pub(crate) fn histogram<'a>(counts: impl IntoIterator<Item = &'a (u64, u64)>) -> LatencyHistogram {
    let mut all = LatencyHistogram::default();
    counts.into_iter().for_each(|&(latency, count)| all.add(LatencyCount { latency, count }));
    all
}
