//! Published traces: tables whose columns stand in a fixed order.
//!
//! | format | columns |
//! |---|---|
//! | MSR Cambridge | time (100 ns since 1601), host, disk, `Read` or `Write`, offset, size, response (100 ns) |
//! | SYSTOR'17 | time (Unix, s), response (s), `R` or `W` or nothing, LUN, offset, size |
//! | Alibaba | device, `R` or `W`, offset, length, time (Unix, µs) |
//! | Tencent CBS | time (Unix, s), offset (sectors), size (sectors), 0 read or 1 write, volume |
//! | UMass, SPC | ASU, place (sectors), size, `r` or `w`, time (s since the beginning) |
//!
//! Bytes where nothing else is said; a sector has 512.

use writecliff_device::Operation;

use super::{Parsed, Whole, bytes};
use crate::source::fields::{Expected, Fields};
use crate::source::names::Names;

/// Decimal places from a second to a nanosecond.
const SECOND: usize = 9;
/// Decimal places from a microsecond to a nanosecond.
const MICROSECOND: usize = 3;
/// What Windows counts time in.
const TICK: u64 = 100;
/// Ticks from 1601 to 1970: 134,774 days.
const TICKS_TO_1970: u64 = 116_444_736_000_000_000;

/// A table: what its first line may be, and what reads the others.
pub(crate) struct Columns {
    /// Some copies have their columns' names in the first line: the first of them.
    first: &'static str,
    /// How many.
    count: usize,
    /// Reads a line; the buffer is for a stream's name that must be put together.
    line: fn(Fields<'_>, &mut Vec<u8>, &mut Names) -> Result<Parsed, Expected>,
}

pub(crate) static MSR: Columns = Columns { first: "Timestamp", count: 7, line: msr };
pub(crate) static SYSTOR: Columns = Columns { first: "Timestamp", count: 6, line: systor };
pub(crate) static ALIBABA: Columns = Columns { first: "device_id", count: 5, line: alibaba };
pub(crate) static TENCENT: Columns = Columns { first: "Timestamp", count: 5, line: tencent };
pub(crate) static SPC: Columns = Columns { first: "ASU", count: 5, line: spc };

pub(crate) struct Table {
    columns: &'static Columns,
    is_first: bool,
    name: Vec<u8>,
}

impl Table {
    pub(crate) fn new(columns: &'static Columns) -> Self {
        Self { columns, is_first: true, name: Vec::new() }
    }

    #[inline]
    pub(super) fn line(&mut self, line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        if is_first && self.columns.are_named_by(line) {
            return Ok(Parsed::Frame);
        }
        (self.columns.line)(Fields::new(line), &mut self.name, names)
    }
}

impl Columns {
    fn are_named_by(&self, line: &[u8]) -> bool {
        let cells: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
        let first = self.first.as_bytes();
        cells.len() == self.count && cells[0].trim_ascii().eq_ignore_ascii_case(first)
    }
}

fn msr(mut fields: Fields<'_>, name: &mut Vec<u8>, names: &mut Names) -> Result<Parsed, Expected> {
    const TIME: Expected = "a time in 100 ns since 1601, later than 1970";
    let ticks = fields.number(TIME)?.checked_sub(TICKS_TO_1970).ok_or(TIME)?;
    fields.expect(b',', "a comma behind the time")?;
    let (host, disk) = (fields.cell(), fields.cell());
    if disk.is_empty() || !disk.iter().all(u8::is_ascii_digit) {
        return Err("the host's name and the number of its disk");
    }
    let operation = match fields.cell() {
        b"Read" => Operation::Read,
        b"Write" => Operation::Write,
        _ => return Err("Read or Write"),
    };
    let offset = fields.number("the offset in bytes")?;
    fields.expect(b',', "a comma behind the offset")?;
    let length = fields.number("the size in bytes")?;
    fields.expect(b',', "a comma behind the size")?;
    let response = fields.number("the response time in 100 ns")?;
    fields.end("nothing behind the response time")?;
    let service_ns = response.checked_mul(TICK).ok_or("a response time below 584 years")?;
    let issued_ns = ticks.checked_mul(TICK).ok_or(TIME)?;
    name.clear();
    name.extend_from_slice(host);
    name.push(b'_');
    name.extend_from_slice(disk);
    let stream = names.volume(name);
    Whole { issued_ns, service_ns: Some(service_ns), operation, offset, length }.parsed(stream)
}

fn systor(mut fields: Fields<'_>, _: &mut Vec<u8>, names: &mut Names) -> Result<Parsed, Expected> {
    let issued_ns = fields.nanos(SECOND, "a Unix time in seconds")?;
    fields.expect(b',', "a comma behind the time")?;
    let service_ns = match fields.rest().first() {
        Some(b',') => None,
        _ => Some(fields.nanos(SECOND, "the response time in seconds")?),
    };
    fields.expect(b',', "a comma behind the response time")?;
    let operation = match fields.cell() {
        b"R" => Some(Operation::Read),
        b"W" => Some(Operation::Write),
        // Commands that are neither are in the traces without a name.
        b"" => None,
        _ => return Err("R, W or nothing"),
    };
    let name = fields.cell();
    if name.is_empty() {
        return Err("the number of the LUN");
    }
    let Some(operation) = operation else { return Ok(Parsed::PassedOver) };
    let offset = fields.number("the offset in bytes")?;
    fields.expect(b',', "a comma behind the offset")?;
    let length = fields.number("the size in bytes")?;
    fields.end("nothing behind the size")?;
    Whole { issued_ns, service_ns, operation, offset, length }.parsed(names.volume(name))
}

fn alibaba(mut fields: Fields<'_>, _: &mut Vec<u8>, names: &mut Names) -> Result<Parsed, Expected> {
    let name = digits(fields.cell(), "the number of the device")?;
    let operation = match fields.cell() {
        b"R" => Operation::Read,
        b"W" => Operation::Write,
        _ => return Err("R or W"),
    };
    let offset = fields.number("the offset in bytes")?;
    fields.expect(b',', "a comma behind the offset")?;
    let length = fields.number("the length in bytes")?;
    fields.expect(b',', "a comma behind the length")?;
    let issued_ns = fields.nanos(MICROSECOND, "a Unix time in microseconds")?;
    fields.end("nothing behind the time")?;
    let service_ns = None;
    Whole { issued_ns, service_ns, operation, offset, length }.parsed(names.volume(name))
}

fn tencent(mut fields: Fields<'_>, _: &mut Vec<u8>, names: &mut Names) -> Result<Parsed, Expected> {
    let issued_ns = fields.nanos(SECOND, "a Unix time in seconds")?;
    fields.expect(b',', "a comma behind the time")?;
    let offset = bytes(fields.number("the offset in sectors")?)?;
    fields.expect(b',', "a comma behind the offset")?;
    let length = bytes(fields.number("the size in sectors")?)?;
    fields.expect(b',', "a comma behind the size")?;
    let operation = match fields.cell() {
        b"0" => Operation::Read,
        b"1" => Operation::Write,
        _ => return Err("0 for a read or 1 for a write"),
    };
    let name = digits(fields.cell().trim_ascii_end(), "the number of the volume")?;
    fields.end("nothing behind the volume")?;
    let service_ns = None;
    Whole { issued_ns, service_ns, operation, offset, length }.parsed(names.volume(name))
}

/// Further columns may follow; their meaning is not laid down.
fn spc(mut fields: Fields<'_>, _: &mut Vec<u8>, names: &mut Names) -> Result<Parsed, Expected> {
    let name = digits(fields.cell().trim_ascii(), "the number of the ASU")?;
    fields.skip_blanks();
    let offset = bytes(fields.number("the place in sectors")?)?;
    fields.expect(b',', "a comma behind the place")?;
    fields.skip_blanks();
    let length = fields.number("the size in bytes")?;
    fields.expect(b',', "a comma behind the size")?;
    let operation = match fields.cell().trim_ascii() {
        b"r" | b"R" => Operation::Read,
        b"w" | b"W" => Operation::Write,
        _ => return Err("r or w"),
    };
    fields.skip_blanks();
    let issued_ns = fields.nanos(SECOND, "a time in seconds")?;
    if !fields.take(b',') {
        fields.end("a comma or nothing behind the time")?;
    }
    let service_ns = None;
    Whole { issued_ns, service_ns, operation, offset, length }.parsed(names.volume(name))
}

#[inline]
fn digits(cell: &[u8], expected: Expected) -> Result<&[u8], Expected> {
    let is_number = !cell.is_empty() && cell.iter().all(u8::is_ascii_digit);
    is_number.then_some(cell).ok_or(expected)
}
