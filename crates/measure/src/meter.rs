//! The log of a power meter, laid over the samples of a run.
//!
//! A log is CSV with a header: a column of times and columns of power, or of voltage and current
//! ([`COLUMNS`] has their names, docs/formats.md their meaning). Every reading stands for the time
//! around it, halfway to its neighbours but no further than [`REACH`]; a sample's power is the mean
//! over the part of its span that is covered so. What lies between the meter and the drive (a
//! cable, a power supply's losses) is left out, but for [`Adapter`].

use std::io::Read;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::{Deserialize, Serialize};

use crate::sample::Sample;

/// A reading tells nothing about the time further away than this, in seconds.
const REACH: f64 = 1.0;
/// The share of a sample's span that readings must cover, or it has no power.
const COVERED_MIN: f64 = 0.5;
/// A meter's zero is not exact; what is further below zero is a mistake.
const NEGATIVE_MAX: f64 = -0.1;
/// What the mSATA adapter's own parts draw, in amperes.
const MSATA_OWN_AMPERES: f64 = 0.008;
/// What the mSATA adapter makes of the 5 V that it is fed with.
const MSATA_VOLTS: f64 = 3.3;

/// How to read a meter's log.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MeterOptions {
    /// Seconds to add to the meter's clock to have the run's.
    pub clock_offset_s: f64,
    /// What stood between the meter and the drive.
    pub adapter: Option<Adapter>,
}

/// A board between the meter and the drive whose own consumption is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// From 5 V of SATA power to 3.3 V of mSATA by a linear regulator: what flows into it flows
    /// out again but for 8 mA of its own, so the drive draws (I − 8 mA) × 3.3 V.
    Msata,
}

/// Why a meter's log cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeterError {
    /// The log is no CSV.
    #[error("the meter's log cannot be read: {0}; it must be CSV with commas and a header line")]
    Csv(#[from] csv::Error),
    /// The header lacks something.
    #[error(
        "the meter's log has no {what}: its columns are {}; name a column {expected} \
         (docs/formats.md has all names)",
        found.join(", ")
    )]
    NoColumn {
        /// What is missing.
        what: &'static str,
        /// The header.
        found: Vec<String>,
        /// What would do.
        expected: &'static str,
    },
    /// A column's name lacks the unit.
    #[error(
        "the meter's log has a column {found}, and does not say in what unit; name it {expected}"
    )]
    NoUnit {
        /// The column.
        found: String,
        /// What would do.
        expected: String,
    },
    /// Two columns say the same thing.
    #[error("the meter's log has {first} and {second} for the same thing; leave one out")]
    TwoColumns {
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// A field does not hold what its column promises.
    #[error(
        "line {line} of the meter's log: {column} is '{got}', which is not {expected}; correct or remove the line"
    )]
    Value {
        /// Line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What it holds.
        got: String,
        /// What it should.
        expected: &'static str,
    },
    /// Times do not grow.
    #[error(
        "line {line} of the meter's log is {seconds:.3} s earlier than the line before; sort the \
         log by time, or cut it where the meter's clock was set"
    )]
    Backwards {
        /// Line of the file, from 1.
        line: u64,
        /// How much earlier.
        seconds: f64,
    },
    /// A power that cannot be.
    #[error(
        "line {line} of the meter's log makes {watts:.3} W; check the polarity of the meter's \
         leads and the units in the header"
    )]
    Power {
        /// Line of the file, from 1.
        line: u64,
        /// The power.
        watts: f64,
    },
    /// The run's record does not say when it began.
    #[error(
        "the run was recorded without its exact start, so that a clock's times cannot be placed \
         in it; give the log a column elapsed, in seconds from the run's beginning"
    )]
    NoStart,
    /// A header and nothing below.
    #[error("the meter's log has no readings; was the right file given?")]
    Empty,
    /// Log and run are not of the same time.
    #[error(
        "the meter's log covers {:.1} s to {:.1} s of the run's clock, the run 0.0 s to {run:.1} s: \
         they hardly overlap; check the meter's clock and time zone, and correct its clock by an offset",
        log.0, log.1
    )]
    NoOverlap {
        /// First and last reading, in seconds since the run's beginning.
        log: (f64, f64),
        /// The run's end, in the same seconds.
        run: f64,
    },
}

/// What a meter told, on the run's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerSeries {
    /// In order of time, no two at the same.
    readings: Vec<Reading>,
}

/// One reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Seconds since the run's beginning; negative before it.
    pub second: f64,
    /// Power that the drive drew.
    pub watts: f64,
}

impl PowerSeries {
    /// Reads a log; `started` is the run's beginning in nanoseconds since 1970, which only times
    /// of day need.
    ///
    /// # Errors
    /// [`MeterError`] with the line, where it is one line's fault.
    pub fn read(
        log: impl Read,
        started: Option<u64>,
        options: &MeterOptions,
    ) -> Result<Self, MeterError> {
        let mut rows = ReaderBuilder::new().trim(Trim::All).from_reader(log);
        let header = rows.headers()?.clone();
        let columns = Columns::of(&header)?;
        let clock = columns.clock(started)?;
        let power = columns.power(options.adapter)?;
        let mut series = Self { readings: Vec::new() };
        for row in rows.records() {
            let row = Row { fields: &row?, header: &header };
            let second = clock.second(&row)? + options.clock_offset_s;
            series.push(Reading { second, watts: power.watts(&row)? }, row.line())?;
        }
        match series.readings.is_empty() {
            true => Err(MeterError::Empty),
            false => Ok(series.with_one_reading_a_time()),
        }
    }

    /// The readings, in order of time, no two at the same.
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// Gives every sample the mean power over its span; those that the log does not cover get
    /// none, also if they had one. Returns how many got one.
    ///
    /// # Errors
    /// [`MeterError::NoOverlap`] if none did; the samples are as they were then.
    pub fn attach(&self, samples: &mut [Sample]) -> Result<usize, MeterError> {
        let cells = self.cells();
        let mean = |sample: &Sample| {
            let start = sample.start_ns as f64 / 1e9;
            mean_over(&cells, start, start + sample.span_ns as f64 / 1e9)
        };
        let powers: Vec<Option<f64>> = samples.iter().map(mean).collect();
        let count = powers.iter().flatten().count();
        if count == 0 {
            return Err(self.no_overlap(samples));
        }
        for (sample, watts) in samples.iter_mut().zip(powers) {
            // Below zero is the meter's inexact zero.
            sample.power_microwatts = watts.map(|watts| (watts.max(0.0) * 1e6).round() as u64);
        }
        Ok(count)
    }

    fn push(&mut self, reading: Reading, line: u64) -> Result<(), MeterError> {
        if !reading.watts.is_finite() || reading.watts < NEGATIVE_MAX {
            return Err(MeterError::Power { line, watts: reading.watts });
        }
        if let Some(last) = self.readings.last()
            && reading.second < last.second
        {
            return Err(MeterError::Backwards { line, seconds: last.second - reading.second });
        }
        self.readings.push(reading);
        Ok(())
    }

    /// Readings with the same time (a clock of whole seconds and a faster meter) become their mean.
    fn with_one_reading_a_time(self) -> Self {
        let same_time = self.readings.chunk_by(|one, next| one.second == next.second);
        let mean = |same: &[Reading]| {
            let watts = same.iter().map(|reading| reading.watts).sum::<f64>() / same.len() as f64;
            Reading { second: same[0].second, watts }
        };
        Self { readings: same_time.map(mean).collect() }
    }

    /// The span that each reading stands for: halfway to its neighbours, [`REACH`] at most. At
    /// both ends of the log it reaches as far outwards as inwards.
    fn cells(&self) -> Vec<Cell> {
        let seconds: Vec<f64> = self.readings.iter().map(|reading| reading.second).collect();
        let half = |index: usize| match seconds.get(index + 1) {
            Some(next) => ((next - seconds[index]) / 2.0).min(REACH),
            None => REACH,
        };
        let last = seconds.len().saturating_sub(1);
        let cell = |(index, reading): (usize, &Reading)| Cell {
            from: reading.second - half(index.saturating_sub(1)),
            to: reading.second + half(if index == last { last.saturating_sub(1) } else { index }),
            watts: reading.watts,
        };
        self.readings.iter().enumerate().map(cell).collect()
    }

    fn no_overlap(&self, samples: &[Sample]) -> MeterError {
        let at = |reading: Option<&Reading>| reading.map_or(0.0, |reading| reading.second);
        let end = samples.iter().map(|sample| sample.start_ns + sample.span_ns).max();
        MeterError::NoOverlap {
            log: (at(self.readings.first()), at(self.readings.last())),
            run: end.unwrap_or(0) as f64 / 1e9,
        }
    }
}

/// A span of constant power, in seconds since the run's beginning.
#[derive(Debug, Clone, Copy)]
struct Cell {
    from: f64,
    to: f64,
    watts: f64,
}

/// Mean power from `start` to `end`, if the cells cover enough of it.
fn mean_over(cells: &[Cell], start: f64, end: f64) -> Option<f64> {
    let first = cells.partition_point(|cell| cell.to <= start);
    let (mut covered, mut joules) = (0.0, 0.0);
    for cell in cells[first..].iter().take_while(|cell| cell.from < end) {
        let overlap = cell.to.min(end) - cell.from.max(start);
        covered += overlap;
        joules += overlap * cell.watts;
    }
    (covered > 0.0 && covered >= COVERED_MIN * (end - start)).then(|| joules / covered)
}

/// What a column tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Seconds since 1970, or RFC 3339.
    TimeOfDay,
    /// Seconds since the run's beginning.
    Elapsed,
    Volts,
    Amperes,
    Watts,
}

/// Every column name that means something, in any case of letters, and what a number in it is
/// multiplied by. Others are passed over.
const COLUMNS: &[(&str, Quantity, f64)] = &[
    ("time", Quantity::TimeOfDay, 1.0),
    ("timestamp", Quantity::TimeOfDay, 1.0),
    ("time_s", Quantity::TimeOfDay, 1.0),
    ("timestamp_s", Quantity::TimeOfDay, 1.0),
    ("time_ms", Quantity::TimeOfDay, 1e-3),
    ("timestamp_ms", Quantity::TimeOfDay, 1e-3),
    ("elapsed", Quantity::Elapsed, 1.0),
    ("elapsed_s", Quantity::Elapsed, 1.0),
    ("elapsed_ms", Quantity::Elapsed, 1e-3),
    ("volts", Quantity::Volts, 1.0),
    ("voltage_V", Quantity::Volts, 1.0),
    ("voltage_mV", Quantity::Volts, 1e-3),
    ("amperes", Quantity::Amperes, 1.0),
    ("current_A", Quantity::Amperes, 1.0),
    ("current_mA", Quantity::Amperes, 1e-3),
    ("current_uA", Quantity::Amperes, 1e-6),
    ("watts", Quantity::Watts, 1.0),
    ("power_W", Quantity::Watts, 1.0),
    ("power_mW", Quantity::Watts, 1e-3),
    ("power_uW", Quantity::Watts, 1e-6),
];

/// A column that was found.
#[derive(Debug, Clone, Copy)]
struct Column {
    index: usize,
    quantity: Quantity,
    scale: f64,
}

#[derive(Debug)]
struct Columns {
    found: Vec<Column>,
    header: Vec<String>,
}

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, MeterError> {
        let header: Vec<String> = header.iter().map(str::to_owned).collect();
        let mut found: Vec<Column> = Vec::new();
        for (index, name) in header.iter().enumerate() {
            // A byte order mark is what spreadsheets begin a file with.
            let name = name.trim_start_matches('\u{feff}');
            let known = COLUMNS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
            let Some(&(_, quantity, scale)) = known else { continue };
            if let Some(first) = found.iter().find(|column| column.quantity == quantity) {
                let (first, second) = (header[first.index].clone(), name.to_owned());
                return Err(MeterError::TwoColumns { first, second });
            }
            found.push(Column { index, quantity, scale });
        }
        Ok(Self { found, header })
    }

    fn get(&self, quantity: Quantity) -> Option<Column> {
        self.found.iter().find(|column| column.quantity == quantity).copied()
    }

    fn missing(&self, what: &'static str, expected: &'static str) -> MeterError {
        MeterError::NoColumn { what, found: self.header.clone(), expected }
    }

    /// What is missing although a column is called by it: its unit.
    fn without_unit(&self) -> Option<MeterError> {
        self.header.iter().find_map(|name| {
            let (found, names) = (name.clone(), with_unit(name));
            let expected = names.join(" or ");
            (!names.is_empty()).then_some(MeterError::NoUnit { found, expected })
        })
    }

    /// Elapsed time is the surer one if both are there.
    fn clock(&self, started: Option<u64>) -> Result<Clock, MeterError> {
        match (self.get(Quantity::Elapsed), self.get(Quantity::TimeOfDay)) {
            (Some(elapsed), _) => Ok(Clock::Elapsed(elapsed)),
            (None, Some(column)) => {
                let started = started.ok_or(MeterError::NoStart)?;
                Ok(Clock::TimeOfDay { column, started })
            }
            (None, None) => Err(self.missing("times", "time, timestamp or elapsed")),
        }
    }

    fn power(&self, adapter: Option<Adapter>) -> Result<PowerFrom, MeterError> {
        let quantities = [Quantity::Watts, Quantity::Volts, Quantity::Amperes];
        match (adapter, quantities.map(|quantity| self.get(quantity))) {
            (None, [Some(watts), ..]) => Ok(PowerFrom::Watts(watts)),
            (None, [None, Some(volts), Some(amperes)]) => Ok(PowerFrom::Product(volts, amperes)),
            (None, _) => Err(self.without_unit().unwrap_or_else(|| {
                self.missing("power", "watts, or two columns volts and amperes")
            })),
            (Some(adapter), [.., Some(amperes)]) => Ok(PowerFrom::Amperes(adapter, amperes)),
            (Some(adapter), [Some(watts), Some(volts), None]) => {
                Ok(PowerFrom::Quotient(adapter, watts, volts))
            }
            (Some(_), _) => Err(self.missing(
                "current, which the adapter's correction needs",
                "amperes, or two columns watts and volts",
            )),
        }
    }
}

/// What a column of this name would be called if it said its unit.
fn with_unit(name: &str) -> Vec<&'static str> {
    let names = COLUMNS.iter().map(|(known, ..)| *known);
    let is_it = |known: &&str| match known.rsplit_once('_') {
        Some((quantity, _)) => quantity.eq_ignore_ascii_case(name),
        None => false,
    };
    let is_known = COLUMNS.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name));
    if is_known { Vec::new() } else { names.filter(is_it).collect() }
}

/// Where a reading's time comes from.
#[derive(Debug, Clone, Copy)]
enum Clock {
    Elapsed(Column),
    /// `started` is the run's beginning in nanoseconds since 1970.
    TimeOfDay {
        column: Column,
        started: u64,
    },
}

impl Clock {
    fn second(&self, row: &Row<'_>) -> Result<f64, MeterError> {
        match *self {
            Self::Elapsed(column) => row.number(column, "a number"),
            Self::TimeOfDay { column, started } => {
                let text = &row.fields[column.index];
                if let Ok(time) = text.parse::<jiff::Timestamp>() {
                    return Ok((time.as_nanosecond() - i128::from(started)) as f64 / 1e9);
                }
                let expected = "seconds since 1970 or RFC 3339 with its zone";
                Ok(row.number(column, expected)? - started as f64 / 1e9)
            }
        }
    }
}

/// Where a reading's power comes from.
#[derive(Debug, Clone, Copy)]
enum PowerFrom {
    Watts(Column),
    /// Volts and amperes.
    Product(Column, Column),
    /// What the adapter draws.
    Amperes(Adapter, Column),
    /// Watts over volts is what the adapter draws.
    Quotient(Adapter, Column, Column),
}

impl PowerFrom {
    fn watts(&self, row: &Row<'_>) -> Result<f64, MeterError> {
        let number = |column| row.number(column, "a number");
        Ok(match *self {
            Self::Watts(watts) => number(watts)?,
            Self::Product(volts, amperes) => number(volts)? * number(amperes)?,
            Self::Amperes(adapter, amperes) => adapter.drive_watts(number(amperes)?),
            Self::Quotient(adapter, watts, volts) => {
                adapter.drive_watts(number(watts)? / number(volts)?)
            }
        })
    }
}

impl Adapter {
    /// What the drive behind the adapter draws.
    fn drive_watts(self, amperes: f64) -> f64 {
        match self {
            Self::Msata => (amperes - MSATA_OWN_AMPERES) * MSATA_VOLTS,
        }
    }
}

/// One line of the log.
struct Row<'a> {
    fields: &'a StringRecord,
    header: &'a StringRecord,
}

impl Row<'_> {
    fn line(&self) -> u64 {
        self.fields.position().map_or(0, csv::Position::line)
    }

    fn number(&self, column: Column, expected: &'static str) -> Result<f64, MeterError> {
        let got = &self.fields[column.index];
        let number = got.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(|number| number * column.scale).ok_or_else(|| MeterError::Value {
            line: self.line(),
            column: self.header[column.index].to_owned(),
            got: got.to_owned(),
            expected,
        })
    }
}
