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
use super::blkparse::bracketed;
use crate::source::event::{DeviceNumber, Event, What, operation, range};
use crate::source::fields::{Expected, Fields};
use crate::source::names::Names;

const SECOND: u64 = 1_000_000_000;

pub(super) fn line(line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
    let mut from = 0;
    while let Some(found) = memmem::find(&line[from..], b"block_") {
        let at = from + found;
        let length = line[at..].iter().position(|byte| *byte == b':').unwrap_or(0);
        if let Some(what) = What::of_tracepoint(&line[at..at + length]) {
            let before = &line[..at];
            let time_ns = time(before.strip_suffix(b"block:").unwrap_or(before))?;
            return event(time_ns, what, Fields::new(&line[at + length + 1..]), names);
        }
        from = at + 1;
    }
    other(line)
}

/// The last word before the event: seconds and a colon.
fn time(before: &[u8]) -> Result<u64, Expected> {
    const EXPECTED: Expected = "a time in seconds and a colon before the event";
    let before = before.trim_ascii_end().strip_suffix(b":").ok_or(EXPECTED)?;
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
    let device = DeviceNumber::read(&mut fields)?;
    fields.skip_blanks();
    let letters = fields.word();
    fields.skip_blanks();
    if !matches!(what, What::Queued | What::BioCompleted) && skip_command(&mut fields)? {
        return Ok(Parsed::PassedOver);
    }
    let sector = fields.number("the first sector")?;
    fields.skip_blanks();
    fields.expect(b'+', "a + between first sector and sectors")?;
    fields.skip_blanks();
    let sectors = fields.number("the number of sectors")?;
    let Some(operation) = operation(letters, sectors) else { return Ok(Parsed::PassedOver) };
    let stream = match what {
        What::Issued | What::Queued => {
            fields.skip_blanks();
            // Newer kernels tell the priority: `be,0,4`, or its class as a number.
            if !fields.rest().starts_with(b"[") {
                fields.word();
            }
            names.process(bracketed(fields)?, device)
        }
        _ => names.wants(device).then_some(0),
    };
    let Some(stream) = stream else { return Ok(Parsed::OtherStream) };
    let (sector, sectors) = range(operation, sector, sectors)?;
    Ok(Parsed::Event(Event { time_ns, what, operation, device, stream, sector, sectors }))
}

/// Goes over the length in bytes, if there is one, and the brackets; `true` if a command to the
/// drive stands in them.
fn skip_command(fields: &mut Fields<'_>) -> Result<bool, Expected> {
    if !fields.rest().starts_with(b"(") {
        fields.number("the length in bytes, or brackets")?;
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
    memmem::find_iter(text, b": ").any(|colon| time(&text[..=colon]).is_ok())
}
