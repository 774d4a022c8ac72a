//! Formats that are lines of text, each line by itself or nearly so.

pub(super) mod blkparse;
pub(super) mod csv;
pub(super) mod iolog;
pub(super) mod table;
mod tracepoint;

use writecliff_device::{Bytes, Nanos, Operation};

use super::fields::Expected;
use super::names::Names;
use crate::TraceIo;
use crate::kernel::{Event, OVERSIZED, SECTOR};

/// What a line, or a record, says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// An operation; its times are by the trace's clock.
    Io(TraceIo),
    /// Something happened to a request.
    Event(Event),
    /// No operation, but what the format has around them: names of columns, files opened, waits.
    Frame,
    /// No operation, and nothing is wrong with that.
    PassedOver,
    /// An operation of a stream that was not asked for.
    OtherStream,
    /// The recorder lost so many events.
    Lost(u64),
    /// Nothing that could be understood; it has been counted.
    Broken,
}

/// A format, and what it must remember from line to line.
pub(super) enum Text {
    Blkparse(blkparse::Blkparse),
    Tracepoint,
    Iolog(iolog::Iolog),
    Table(table::Table),
    Csv(csv::Csv),
}

impl Text {
    /// What the line says, or what it should have.
    #[inline]
    pub(super) fn line(&mut self, line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
        if line.is_empty() {
            return Ok(Parsed::Frame);
        }
        match self {
            Self::Blkparse(blkparse) => blkparse.line(line, names),
            Self::Tracepoint => tracepoint::line(line, names),
            Self::Iolog(iolog) => iolog.line(line, names),
            Self::Table(table) => table.line(line, names),
            Self::Csv(csv) => csv.line(line, names),
        }
    }
}

/// An operation of a format that tells each in one line.
#[derive(Debug, Clone, Copy)]
struct Whole {
    issued_ns: u64,
    service_ns: Option<u64>,
    operation: Operation,
    offset: u64,
    length: u64,
}

impl Whole {
    /// Checks what no format may say, and asks whether the stream is wanted.
    #[inline]
    fn parsed(self, stream: Option<u16>) -> Result<Parsed, Expected> {
        let Self { issued_ns, service_ns, operation, offset, length } = self;
        let Some(stream) = stream else { return Ok(Parsed::OtherStream) };
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ if length == 0 => return Ok(Parsed::PassedOver),
            _ => (offset, length),
        };
        offset.checked_add(length).ok_or("a range that ends below 2^64 bytes")?;
        let completed = match service_ns {
            Some(service_ns) => {
                Some(Nanos(issued_ns.checked_add(service_ns).ok_or("a response below 584 years")?))
            }
            None => None,
        };
        let (offset, length) = (Bytes(offset), Bytes(length));
        let io = TraceIo::new(Nanos(issued_ns), operation, offset, length);
        if io.is_oversized() {
            return Err(OVERSIZED);
        }
        Ok(Parsed::Io(TraceIo { completed, stream, ..io }))
    }
}

/// Bytes of so many sectors.
#[inline]
fn bytes(sectors: u64) -> Result<u64, Expected> {
    sectors.checked_mul(SECTOR).ok_or("a place below 2^64 bytes")
}
