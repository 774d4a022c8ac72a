//! CSV whose first line names the columns.
//!
//! | column | meaning |
//! |---|---|
//! | `issued_ns`, `_us`, `_ms`, `_s` | time of issue, by any clock |
//! | `completed_ns`, `_us`, `_ms`, `_s` | time of completion, by the same clock |
//! | `service_ns`, ...; `response_ns`, ... | issue to completion, if that is told instead |
//! | `operation` | `read`, `write`, `trim`, `flush`, or their first letter, or 0 to 3 |
//! | `offset`, or `sector` | bytes, or sectors of 512 bytes |
//! | `length` or `size`, or `sectors` | bytes, or sectors of 512 bytes |
//! | `queue_depth` | in flight at issue, itself included |
//! | `compressible_percent`, `duplicate_percent` | what a write's data are like |
//! | `stream` | whose it is: a name or a number |
//!
//! In any order and any case of letters; others are passed over. Time of issue, operation, place and
//! length must be there. A cell may be empty where nothing is known.

use writecliff_device::{Content, Operation};

use super::{Parsed, Whole, bytes};
use crate::TraceIo;
use crate::error::CSV_HEADER;
use crate::source::fields::{Expected, Fields};
use crate::source::names::Names;

#[derive(Default)]
pub(crate) struct Csv {
    /// Those of the first line; empty before it.
    columns: Vec<Column>,
    /// A cell in quotes that has quotes in it.
    unquoted: Vec<u8>,
}

/// What a cell means; times with the decimal places from their unit to a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Issued(usize),
    Completed(usize),
    Service(usize),
    Operation,
    Offset,
    Sector,
    Length,
    Sectors,
    QueueDepth,
    Compressible,
    Duplicate,
    Stream,
    Unknown,
}

/// What the cells of a line said.
#[derive(Default)]
struct Row {
    issued_ns: Option<u64>,
    completed_ns: Option<u64>,
    service_ns: Option<u64>,
    operation: Option<Operation>,
    offset: Option<u64>,
    length: Option<u64>,
    queue_depth: Option<u32>,
    compressible: Option<u8>,
    duplicate: Option<u8>,
    /// The stream's number.
    stream: Option<u16>,
}

impl Csv {
    pub(super) fn line(&mut self, line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
        if self.columns.is_empty() {
            self.columns = header(line)?;
            return Ok(Parsed::Frame);
        }
        let mut row = Row::default();
        let mut rest = Some(line);
        for column in &self.columns {
            let cells = rest.ok_or("as many cells as the first line has")?;
            let (cell, after) = next_cell(cells, &mut self.unquoted)?;
            if !cell.is_empty() || *column == Column::Stream {
                row.put(*column, cell, names)?;
            }
            rest = after;
        }
        match rest {
            None => row.parsed(),
            Some(_) => Err("no more cells than the first line has"),
        }
    }
}

/// Whether a first line names all columns that there must be.
pub(crate) fn names_columns(line: &[u8]) -> bool {
    header(line).is_ok()
}

/// Whether a first line seems to name columns: all its cells begin with a letter.
pub(crate) fn seems_to_name_columns(line: &[u8]) -> bool {
    let is_name = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        cell.strip_prefix(b"\"").unwrap_or(cell).first().is_some_and(u8::is_ascii_alphabetic)
    };
    line.contains(&b',') && line.split(|byte| *byte == b',').all(is_name)
}

fn header(line: &[u8]) -> Result<Vec<Column>, Expected> {
    let columns: Vec<Column> = line.split(|byte| *byte == b',').map(Column::named).collect();
    let has = |wanted: fn(&Column) -> bool| columns.iter().filter(|column| wanted(column)).count();
    let is_complete = has(|column| matches!(column, Column::Issued(_))) == 1
        && has(|column| matches!(column, Column::Operation)) == 1
        && has(|column| matches!(column, Column::Offset | Column::Sector)) == 1
        && has(|column| matches!(column, Column::Length | Column::Sectors)) == 1;
    if is_complete { Ok(columns) } else { Err(CSV_HEADER) }
}

/// The first cell, without its quotes, and the cells behind it.
fn next_cell<'line: 'cell, 'cell>(
    cells: &'line [u8],
    unquoted: &'cell mut Vec<u8>,
) -> Result<(&'cell [u8], Option<&'line [u8]>), Expected> {
    if cells.first() != Some(&b'"') {
        let end = cells.iter().position(|byte| *byte == b',');
        return Ok(end.map_or((cells, None), |end| (&cells[..end], Some(&cells[end + 1..]))));
    }
    const EXPECTED: Expected = "quotes around the whole cell";
    unquoted.clear();
    let mut rest = &cells[1..];
    loop {
        let end = rest.iter().position(|byte| *byte == b'"').ok_or(EXPECTED)?;
        unquoted.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest {
            [] => return Ok((unquoted, None)),
            [b',', after @ ..] => return Ok((unquoted, Some(after))),
            // Two quotes stand for one.
            [b'"', after @ ..] => {
                unquoted.push(b'"');
                rest = after;
            }
            _ => return Err(EXPECTED),
        }
    }
}

impl Column {
    fn named(name: &[u8]) -> Self {
        let name = String::from_utf8_lossy(name).trim().trim_matches('"').to_ascii_lowercase();
        let timed = |unit: &str| match unit {
            "ns" => Some(0),
            "us" => Some(3),
            "ms" => Some(6),
            "s" => Some(9),
            _ => None,
        };
        if let Some((what, unit)) = name.rsplit_once('_')
            && let Some(places) = timed(unit)
        {
            return match what {
                "issued" => Self::Issued(places),
                "completed" => Self::Completed(places),
                "service" | "response" => Self::Service(places),
                _ => Self::Unknown,
            };
        }
        match &name[..] {
            "operation" => Self::Operation,
            "offset" => Self::Offset,
            "sector" => Self::Sector,
            "length" | "size" => Self::Length,
            "sectors" => Self::Sectors,
            "queue_depth" => Self::QueueDepth,
            "compressible_percent" => Self::Compressible,
            "duplicate_percent" => Self::Duplicate,
            "stream" => Self::Stream,
            _ => Self::Unknown,
        }
    }
}

impl Row {
    #[inline]
    fn put(&mut self, column: Column, cell: &[u8], names: &mut Names) -> Result<(), Expected> {
        match column {
            Column::Issued(places) => self.issued_ns = Some(time(cell, places)?),
            Column::Completed(places) => self.completed_ns = Some(time(cell, places)?),
            Column::Service(places) => self.service_ns = Some(time(cell, places)?),
            Column::Operation => self.operation = Some(operation(cell)?),
            Column::Offset => self.offset = Some(number(cell, "the offset in bytes")?),
            Column::Sector => self.offset = Some(bytes(number(cell, "the place in sectors")?)?),
            Column::Length => self.length = Some(number(cell, "the length in bytes")?),
            Column::Sectors => self.length = Some(bytes(number(cell, "the number of sectors")?)?),
            Column::QueueDepth => self.queue_depth = Some(queue_depth(cell)?),
            Column::Compressible => self.compressible = Some(share(cell)?),
            Column::Duplicate => self.duplicate = Some(share(cell)?),
            Column::Stream => self.stream = Some(names.number(cell)),
            Column::Unknown => {}
        }
        Ok(())
    }

    fn parsed(self) -> Result<Parsed, Expected> {
        let issued_ns = self.issued_ns.ok_or("a time of issue")?;
        let operation = self.operation.ok_or("an operation")?;
        let (offset, length) = match (operation, self.offset, self.length) {
            (Operation::Flush, _, _) => (0, 0),
            (_, Some(offset), Some(length)) => (offset, length),
            _ => return Err("a place and a length"),
        };
        let service_ns = match self.completed_ns {
            Some(end) => Some(end.checked_sub(issued_ns).ok_or("a completion after the issue")?),
            None => self.service_ns,
        };
        let whole = Whole { issued_ns, service_ns, operation, offset, length };
        let has_content = self.compressible.is_some() || self.duplicate.is_some();
        let content = (has_content && operation == Operation::Write).then(|| Content {
            compressible_percent: self.compressible.unwrap_or_default(),
            duplicate_percent: self.duplicate.unwrap_or_default(),
        });
        Ok(match whole.parsed(Some(self.stream.unwrap_or(0)))? {
            Parsed::Io(io) => Parsed::Io(TraceIo { queue_depth: self.queue_depth, content, ..io }),
            other => other,
        })
    }
}

#[inline]
fn number(cell: &[u8], expected: Expected) -> Result<u64, Expected> {
    let mut fields = Fields::new(cell);
    let number = fields.number(expected)?;
    fields.end(expected).map(|()| number)
}

#[inline]
fn time(cell: &[u8], places: usize) -> Result<u64, Expected> {
    const EXPECTED: Expected = "a decimal time, not below zero";
    let mut fields = Fields::new(cell);
    let time = fields.nanos(places, EXPECTED)?;
    fields.end(EXPECTED).map(|()| time)
}

fn operation(cell: &[u8]) -> Result<Operation, Expected> {
    match cell {
        b"read" | b"Read" | b"READ" | b"r" | b"R" | b"0" => Ok(Operation::Read),
        b"write" | b"Write" | b"WRITE" | b"w" | b"W" | b"1" => Ok(Operation::Write),
        b"trim" | b"Trim" | b"TRIM" | b"t" | b"T" | b"2" => Ok(Operation::Trim),
        b"flush" | b"Flush" | b"FLUSH" | b"f" | b"F" | b"3" => Ok(Operation::Flush),
        _ => Err("read, write, trim or flush, or R, W, T, F, or 0 to 3"),
    }
}

/// pandas writes whole numbers as decimals where a cell of the column is empty.
fn whole(cell: &[u8]) -> &[u8] {
    cell.strip_suffix(b".0").unwrap_or(cell)
}

fn queue_depth(cell: &[u8]) -> Result<u32, Expected> {
    const EXPECTED: Expected = "a queue depth of at least 1";
    let depth = number(whole(cell), EXPECTED)?;
    u32::try_from(depth).ok().filter(|depth| *depth > 0).ok_or(EXPECTED)
}

fn share(cell: &[u8]) -> Result<u8, Expected> {
    const EXPECTED: Expected = "a share of 0 to 100 percent";
    let share = number(whole(cell), EXPECTED)?;
    u8::try_from(share).ok().filter(|share| *share <= 100).ok_or(EXPECTED)
}
