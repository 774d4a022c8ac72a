//! What all groups of a variant come to.

use serde::Serialize;
use writecliff::measure::LatencyHistogram;
use writecliff::suite::{Good, ios_for};
use writecliff_device::{Bytes, Nanos};
use writecliff_sweep::RowFigure;

use crate::error::FleetError;
use crate::plan::Fleet;
use crate::tally::{DriveRow, GroupRow, Minute, histogram};
use crate::variants::Variant;

/// The service of a whole fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Service {
    /// The variant; empty of a plan that compares nothing.
    pub name: String,
    /// By minute, all groups together.
    #[serde(skip)]
    pub minutes: Vec<Minute>,
    /// By kind of drive, in the plan's order.
    pub kinds: Vec<KindTotal>,
    /// Reads that asked further drives; `None` where no read does.
    pub hedged: Option<u64>,
    /// Requests above the limit by drive, the most first; drives without any are left out.
    pub slowest: Vec<SlowDrive>,
    /// Bytes that its users wrote, the warm-up included: without copies and parity.
    pub data_written: u64,
    /// Bytes of data that it keeps; of scale models, what the whole drives would.
    pub stored: u64,
}

/// A drive that late requests waited for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowDrive {
    /// Its group.
    pub group: u32,
    /// Its place in that, from 0.
    pub place: usize,
    /// What came of it.
    #[serde(flatten)]
    pub drive: DriveRow,
}

/// All drives of a kind.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct KindTotal {
    /// As the plan has it.
    pub drive: String,
    /// How many.
    pub drives: u64,
    /// I/Os that they were given.
    pub ios: u64,
    /// I/Os that they could not do.
    pub failed: u64,
    /// Requests that waited for one of them last.
    pub waited_for: u64,
    /// Of these, those above the limit.
    pub late: u64,
    /// Bytes that the service wrote to them.
    pub written: u64,
    /// Bytes that they wrote to their NAND meanwhile, if they tell.
    pub nand_written: Option<u64>,
    /// Years until their rated writes are used up at this load; `None` if they were not published, or
    /// nothing is written.
    pub years: Option<f64>,
    /// What all of them cost in a year, in US dollars: their price at launch over these years, five at
    /// most. `None` if it was not published.
    pub dollars_a_year: Option<f64>,
}

/// No drive is kept in service for longer.
const YEARS_MAX: f64 = 5.0;
const YEAR_SECONDS: f64 = 365.25 * 86_400.0;

impl Service {
    /// The sum of a variant's rows, in whatever order they came.
    ///
    /// # Errors
    /// [`FleetError::Drive`] if the plan has a drive that there is not.
    pub fn of(variant: &Variant, rows: &[&GroupRow]) -> Result<Self, FleetError> {
        let Variant { name, fleet } = variant;
        let length = rows.iter().map(|row| row.minutes.len()).max().unwrap_or(0);
        let minutes =
            (0..length).map(|at| Minute::sum(rows.iter().filter_map(|r| r.minutes.get(at))));
        let drive = |row: &GroupRow, place: usize| SlowDrive {
            group: row.group,
            place,
            drive: row.drives[place].clone(),
        };
        let all = rows.iter().flat_map(|row| (0..row.drives.len()).map(move |at| drive(row, at)));
        let mut slowest: Vec<SlowDrive> = all.filter(|slow| slow.drive.late > 0).collect();
        slowest.sort_by_key(|slow| (std::cmp::Reverse(slow.drive.late), slow.group, slow.place));
        let kinds = (0..fleet.drives.len()).map(|kind| KindTotal::of(fleet, rows, kind));
        let kinds: Vec<KindTotal> = kinds.collect::<Result<_, _>>()?;
        // A write of the users' is one of its part on every drive of its group.
        let written = kinds.iter().map(|kind| u128::from(kind.written)).sum::<u128>();
        let data_written = written * u128::from(fleet.data) / fleet.width().max(1) as u128;
        Ok(Self {
            name: name.clone(),
            minutes: minutes.collect(),
            kinds,
            data_written: data_written as u64,
            hedged: fleet.hedge.map(|_| rows.iter().map(|row| row.hedged).sum()),
            slowest,
            stored: stored(fleet, rows)?,
        })
    }

    /// All response times of reads, and of all that is not a read.
    pub fn responses(&self) -> [LatencyHistogram; 2] {
        let reads = self.minutes.iter().flat_map(|minute| &minute.reads);
        let writes = self.minutes.iter().flat_map(|minute| &minute.writes);
        [histogram(reads), histogram(writes)]
    }

    /// Requests served, and those above the limit.
    pub fn requests(&self) -> (u64, u64) {
        let count = |counts: &[(u64, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
        let of = |minute: &Minute| count(&minute.reads) + count(&minute.writes);
        let all = self.minutes.iter().map(of).sum();
        (all, self.minutes.iter().map(|minute| minute.late).sum())
    }

    /// NAND bytes for each byte that the drives were given, copies and parity among them; `None` if a
    /// drive does not tell, or nothing was written.
    pub fn write_amplification(&self) -> Option<f64> {
        self.nand_for_each(self.kinds.iter().map(|kind| kind.written).sum())
    }

    /// NAND bytes for each byte of the users': what copies, parity and the drives make of it.
    pub fn write_amplification_of_data(&self) -> Option<f64> {
        self.nand_for_each(self.data_written)
    }

    fn nand_for_each(&self, written: u64) -> Option<f64> {
        let nand = self.kinds.iter().map(|kind| kind.nand_written).sum::<Option<u64>>()?;
        (written > 0).then(|| nand as f64 / written as f64)
    }

    /// What all drives cost in a year, in US dollars; `None` if a price is not known.
    pub fn dollars_a_year(&self) -> Option<f64> {
        let used = self.kinds.iter().filter(|kind| kind.drives > 0);
        used.map(|kind| kind.dollars_a_year).sum()
    }

    /// The same for each TB (10^12 bytes) of data.
    pub fn dollars_a_terabyte(&self) -> Option<f64> {
        Some(self.dollars_a_year()? / (self.stored as f64 / 1e12))
    }

    /// Its results; those that nobody can know are left out.
    pub fn figures(&self) -> Vec<RowFigure> {
        let (requests, late) = self.requests();
        let [reads, writes] = self.responses();
        let longest = self.minutes.iter().map(|minute| minute.longest_ns).max();
        let at = |responses: &LatencyHistogram, percent: f64| {
            let is_enough = responses.count() >= ios_for(percent);
            is_enough.then(|| millis(percentile(responses, percent, longest.unwrap_or(0)).0))
        };
        // One minute, or a part of one, is all there is.
        let is_long = self.minutes.len() > 1;
        let is_enough = |minute: &&Minute| is_long && minute.requests() >= ios_for(99.9);
        let each = self.minutes.iter().filter(is_enough);
        let worst = each.map(|minute| minute.percentile(99.9).0).max();
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64 * 100.0);
        let figures = [
            ("late requests", share(late, requests), "%"),
            ("read p99", at(&reads, 99.0), "ms"),
            ("read p99.9", at(&reads, 99.9), "ms"),
            ("write p99", at(&writes, 99.0), "ms"),
            ("write p99.9", at(&writes, 99.9), "ms"),
            ("cost of a TB a year", self.dollars_a_terabyte(), "$"),
            ("read p50", at(&reads, 50.0), "ms"),
            ("read p99.99", at(&reads, 99.99), "ms"),
            ("write p50", at(&writes, 50.0), "ms"),
            ("write p99.99", at(&writes, 99.99), "ms"),
            ("p99.9 of the worst minute", worst.map(millis), "ms"),
            ("longest", longest.map(millis), "ms"),
            ("hedged reads", self.hedged.and_then(|hedged| share(hedged, reads.count())), "%"),
            ("write amplification", self.write_amplification(), ""),
            ("NAND writes for a byte of data", self.write_amplification_of_data(), ""),
            ("cost a year", self.dollars_a_year(), "$"),
        ];
        let figure = |(name, value, unit): (&str, Option<f64>, &str)| {
            let (name, unit) = (name.to_owned(), unit.to_owned());
            let (good, unjudged, undoubted) = (Good::AtMost, false, false);
            Some(RowFigure { name, value: value?, unit, good, unjudged, undoubted })
        };
        figures.into_iter().filter_map(figure).collect()
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

/// A percentile of these: a bucket tells its upper end, and none took longer than the longest.
pub(crate) fn percentile(responses: &LatencyHistogram, percent: f64, longest_ns: u64) -> Nanos {
    responses.percentile(percent).min(Nanos(longest_ns))
}

impl Minute {
    fn sum<'a>(minutes: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let reads = histogram(minutes.clone().flat_map(|minute| &minute.reads));
        let writes = histogram(minutes.clone().flat_map(|minute| &minute.writes));
        Self {
            reads: crate::tally::counts(&reads),
            writes: crate::tally::counts(&writes),
            longest_ns: minutes.clone().map(|minute| minute.longest_ns).max().unwrap_or(0),
            late: minutes.map(|minute| minute.late).sum(),
        }
    }

    /// A percentile of all its requests.
    pub fn percentile(&self, percent: f64) -> Nanos {
        let all = histogram(self.reads.iter().chain(&self.writes));
        percentile(&all, percent, self.longest_ns)
    }

    /// How many requests were due in it.
    pub fn requests(&self) -> u64 {
        self.reads.iter().chain(&self.writes).map(|(_, count)| count).sum()
    }
}

impl KindTotal {
    fn of(fleet: &Fleet, rows: &[&GroupRow], kind: usize) -> Result<Self, FleetError> {
        // A scale model stands for a drive with a price.
        let sheet = fleet.drives[kind].whole()?.identity().clone();
        let drives = rows.iter().flat_map(|row| &row.drives).filter(|drive| drive.kind == kind);
        let drive = fleet.drives[kind].drive.clone();
        let mut total = Self { drive, nand_written: Some(0), ..Self::default() };
        for drive in drives {
            total.drives += 1;
            total.ios += drive.ios;
            total.failed += drive.failed;
            total.waited_for += drive.waited_for;
            total.late += drive.late;
            total.written += drive.written;
            total.nand_written = total.nand_written.zip(drive.nand_written).map(|(a, b)| a + b);
        }
        let served = (fleet.warm_up + fleet.duration).as_secs_f64();
        let a_year = total.written as f64 / served * YEAR_SECONDS;
        let rated = sheet.rated_writes.filter(|_| total.written > 0);
        total.years = rated.map(|Bytes(rated)| rated as f64 * total.drives as f64 / a_year);
        let kept = total.years.unwrap_or(YEARS_MAX).min(YEARS_MAX);
        total.dollars_a_year = sheet.price_usd.map(|price| price * total.drives as f64 / kept);
        Ok(total)
    }
}

/// Every drive of a group keeps as much as its smallest one can.
fn stored(fleet: &Fleet, rows: &[&GroupRow]) -> Result<u64, FleetError> {
    let whole = fleet.drives.iter().map(|kind| Ok(kind.whole()?.identity().capacity.0));
    let whole = whole.collect::<Result<Vec<u64>, FleetError>>()?;
    let of_drive = |drive: &DriveRow| whole[drive.kind] as f64 * drive.full_percent / 100.0;
    let of_group = |row: &&GroupRow| {
        let least = row.drives.iter().map(of_drive).fold(f64::INFINITY, f64::min);
        if least.is_finite() { (least * f64::from(fleet.data)) as u64 } else { 0 }
    };
    Ok(rows.iter().map(of_group).sum())
}
