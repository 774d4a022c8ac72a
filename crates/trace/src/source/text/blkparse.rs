//! What blkparse prints by default: a line an event, and a summary at the end.
//!
//! ```text
//!   8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]
//!   8,0    1        2     0.000351020     0  C   W 223490 + 8 [0]
//!   8,0    0       10     0.000401020    44  D  FN [kworker/0:1H]
//!   8,0    0       11     0.000501020     0  C  FN 0 [0]
//! ```
//! Device, processor, sequence number, seconds, process, action, kind, first sector + sectors, and
//! the process's name; after a completion the error number. A flush has no sectors.

use super::Parsed;
use crate::kernel::{DeviceNumber, Event, What, operation, range};
use crate::source::fields::{Expected, Fields};
use crate::source::names::Names;

/// Decimal places from a second to a nanosecond.
const SECOND: usize = 9;

#[derive(Default)]
pub(crate) struct Blkparse {
    /// Behind the first line of a summary.
    is_summary: bool,
}

impl Blkparse {
    pub(super) fn line(&mut self, line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        if !fields.rest().first().is_some_and(u8::is_ascii_digit) {
            return self.other(fields.rest());
        }
        let device = fields.device()?;
        for expected in ["the processor", "the sequence number"] {
            fields.skip_blanks();
            fields.skip_number(expected)?;
        }
        fields.skip_blanks();
        let time_ns = fields.nanos(SECOND, "a time in seconds")?;
        fields.skip_blanks();
        fields.skip_number("the process's number")?;
        fields.skip_blanks();
        match action(fields.word()) {
            Some(what) => event(time_ns, what, device, fields, names),
            None => Ok(Parsed::PassedOver),
        }
    }

    /// Lines that are no events.
    fn other(&mut self, line: &[u8]) -> Result<Parsed, Expected> {
        let begins = |word: &str| line.starts_with(word.as_bytes());
        self.is_summary |= begins("CPU") || begins("Total (");
        if self.is_summary || line.is_empty() || begins("Input file") {
            return Ok(Parsed::PassedOver);
        }
        Err("an event that begins with MAJOR,MINOR, or blkparse's summary")
    }
}

/// What an action's letter says happened.
fn action(letter: &[u8]) -> Option<What> {
    match letter {
        b"Q" => Some(What::BioQueued),
        b"D" => Some(What::Issued),
        b"R" => Some(What::Requeued),
        b"C" => Some(What::AnyCompleted),
        _ => None,
    }
}

fn event(
    time_ns: u64,
    what: What,
    device: DeviceNumber,
    mut fields: Fields<'_>,
    names: &mut Names,
) -> Result<Parsed, Expected> {
    fields.skip_blanks();
    let letters = fields.word();
    fields.skip_blanks();
    let Some((sector, sectors)) = place(&mut fields)? else { return Ok(Parsed::PassedOver) };
    let Some(operation) = operation(letters, sectors) else { return Ok(Parsed::PassedOver) };
    let stream = match what {
        What::Issued | What::BioQueued => names.process(bracketed(fields)?, device),
        _ => names.wants(device).then_some(0),
    };
    let Some(stream) = stream else { return Ok(Parsed::OtherStream) };
    let (sector, sectors) = range(operation, sector, sectors)?;
    let is_failed = what.is_completion() && tells_error(fields);
    let event = Event { time_ns, what, operation, device, stream, sector, sectors, is_failed };
    Ok(Parsed::Event(event))
}

/// First sector and sectors, which a flush need not have; `None` for a command to the drive, whose
/// bytes stand in brackets.
#[inline]
fn place(fields: &mut Fields<'_>) -> Result<Option<(u64, u64)>, Expected> {
    let sector = match fields.rest() {
        [b'(', ..] => return Ok(None),
        [b'[', ..] => return Ok(Some((0, 0))),
        _ => fields.number("the first sector")?,
    };
    fields.skip_blanks();
    if fields.take(b'+') {
        fields.skip_blanks();
        return Ok(Some((sector, fields.number("the number of sectors")?)));
    }
    match fields.rest() {
        [b'(', ..] => Ok(None),
        [b'[', ..] => Ok(Some((sector, 0))),
        _ => Err("a + between first sector and sectors"),
    }
}

/// What stands in brackets at the end of the line: a process's name, with whatever it holds.
pub(super) fn bracketed(mut fields: Fields<'_>) -> Result<&[u8], Expected> {
    fields.skip_blanks();
    match fields.rest().trim_ascii_end() {
        [b'[', name @ .., b']'] => Ok(name),
        _ => Err("the process's name in brackets at the end"),
    }
}

/// Whether a number other than 0 stands in brackets at the end of a completion.
pub(super) fn tells_error(fields: Fields<'_>) -> bool {
    bracketed(fields).is_ok_and(|error| error != b"0")
}
