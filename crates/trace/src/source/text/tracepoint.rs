//! The kernel's tracepoints as text: from `perf script`, ftrace's `trace` and `trace_pipe`, or
//! trace-cmd.
//!
//! ```text
//!  fio 14767 [001] 11987.340563:    block:block_rq_issue: 254,0 RA 4096 () 20603120 + 8 0x2,0,4 [fio]
//!  fio-14767 [001] d..1. 11987.340563: block_rq_issue: 254,0 RA 4096 () 20603120 + 8 [fio]
//!  swapper 0 [000] 11987.343364: block:block_rq_complete: 254,0 RA () 20594536 + 8 0x2,0,4 [0]
//!  fio 14767 [001] 11987.340563:   block:block_bio_queue: 253,0 R 20603120 + 8 [fio]
//! ```
//! What stands before the time differs, and what was left out with `perf script -F` is not missed.

use memchr::memmem;

use super::Parsed;
use super::blkparse::{bracketed, tells_error};
use crate::kernel::{Event, What, operation, range};
use crate::source::fields::{Expected, Fields};
use crate::source::names::Names;

/// Decimal places from a second to a nanosecond.
const SECOND: usize = 9;

pub(super) fn line(line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
    // The name of a process may hold a colon, too.
    for colon in memchr::memchr_iter(b':', line) {
        if let Some((what, rest)) = what(&line[colon + 1..]) {
            return event(time(&line[..colon])?, what, Fields::new(rest), names);
        }
    }
    other(line)
}

/// The event that is named behind a time and its colon, and what stands behind its own.
#[inline]
fn what(text: &[u8]) -> Option<(What, &[u8])> {
    let text = text.trim_ascii_start();
    let name = text.strip_prefix(b"block:").unwrap_or(text).strip_prefix(b"block_")?;
    let begins = |event: &[u8]| name.strip_prefix(event);
    None.or_else(|| begins(b"rq_issue:").map(|rest| (What::Issued, rest)))
        .or_else(|| begins(b"rq_complete:").map(|rest| (What::Completed, rest)))
        .or_else(|| begins(b"rq_requeue:").map(|rest| (What::Requeued, rest)))
        .or_else(|| begins(b"bio_queue:").map(|rest| (What::BioQueued, rest)))
        .or_else(|| begins(b"bio_complete:").map(|rest| (What::BioCompleted, rest)))
}

/// The last word before a colon, in seconds.
fn time(before: &[u8]) -> Result<u64, Expected> {
    const EXPECTED: Expected = "a time in seconds and a colon before the event";
    let start = before.iter().rposition(|byte| !matches!(byte, b'0'..=b'9' | b'.'));
    let mut fields = Fields::new(&before[start.map_or(0, |start| start + 1)..]);
    let time_ns = fields.nanos(SECOND, EXPECTED)?;
    fields.end(EXPECTED).map(|()| time_ns)
}

fn event(
    time_ns: u64,
    what: What,
    mut fields: Fields<'_>,
    names: &mut Names,
) -> Result<Parsed, Expected> {
    fields.skip_blanks();
    let device = fields.device()?;
    fields.skip_blanks();
    let letters = fields.word();
    fields.skip_blanks();
    if !matches!(what, What::BioQueued | What::BioCompleted) && skip_command(&mut fields)? {
        return Ok(Parsed::PassedOver);
    }
    let sector = fields.number("the first sector")?;
    fields.skip_blanks();
    fields.expect(b'+', "a + between first sector and sectors")?;
    fields.skip_blanks();
    let sectors = fields.number("the number of sectors")?;
    let Some(operation) = operation(letters, sectors) else { return Ok(Parsed::PassedOver) };
    fields.skip_blanks();
    // Newer kernels tell the priority: `be,0,4`, or its class as a number.
    if !fields.rest().starts_with(b"[") {
        fields.word();
    }
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

/// Goes over the length in bytes, if there is one, and the brackets; `true` if a command to the
/// drive stands in them.
fn skip_command(fields: &mut Fields<'_>) -> Result<bool, Expected> {
    if !fields.rest().starts_with(b"(") {
        fields.skip_number("the length in bytes, or brackets")?;
        fields.skip_blanks();
    }
    fields.expect(b'(', "brackets before the first sector")?;
    let is_empty = fields.take(b')');
    fields.skip_blanks();
    Ok(!is_empty)
}

/// Lines without an event of requests: comments, other events, stacks, losses.
fn other(line: &[u8]) -> Result<Parsed, Expected> {
    let text = line.trim_ascii();
    if let Some(at) = memmem::find(text, b"[LOST ") {
        let mut fields = Fields::new(&text[at + 6..]);
        return fields.number("the number of lost events").map(Parsed::Lost);
    }
    let is_stack = line.starts_with(b"\t") || text.starts_with(b"=>");
    if text.is_empty() || text.starts_with(b"#") || is_stack || is_event(text) {
        return Ok(Parsed::PassedOver);
    }
    Err("a time and an event, like 12.345678: block_rq_issue: 8,0 R 4096 () 2048 + 8 [name]")
}

/// Whether a time and a colon stand before something.
fn is_event(text: &[u8]) -> bool {
    memmem::find_iter(text, b": ").any(|colon| time(&text[..colon]).is_ok())
}
