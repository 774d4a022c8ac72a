//! What a SCSI drive counts: the log pages of SPC-4, 7.3, and those of disks, SBC-4, 6.4. A page is a
//! header and parameters: a code, flags, a length, a value. Only pages that the drive lists are asked
//! for.

use super::{LENGTH, answer, number};
use crate::facts::Health;
use crate::port::{AdminPort, ScsiCommand};

const SUPPORTED: u8 = 0x00;
const WRITE_ERRORS: u8 = 0x02;
const READ_ERRORS: u8 = 0x03;
const TEMPERATURE: u8 = 0x0D;
const STARTS_AND_STOPS: u8 = 0x0E;
const SOLID_STATE: u8 = 0x11;
const BACKGROUND_SCAN: u8 = 0x15;
const EXCEPTIONS: u8 = 0x2F;

/// Parameters of the error counters: bytes that came and went, errors beyond correction.
const BYTES: u16 = 0x0005;
const UNCORRECTED: u16 = 0x0006;
/// A temperature that is not known.
const UNKNOWN: u8 = 0xFF;

#[derive(Default)]
pub(super) struct Logs {
    pub(super) health: Option<Health>,
    /// The highest temperature at which the drive may work for long.
    pub(super) critical_c: Option<i32>,
}

pub(super) fn ask(port: &mut dyn AdminPort) -> Logs {
    let pages = Page::read(port, SUPPORTED).map_or_else(Vec::new, |list| list.0);
    let mut page = |wanted| pages.contains(&wanted).then(|| Page::read(port, wanted)).flatten();
    let temperature = page(TEMPERATURE);
    let degrees = |code| temperature.as_ref()?.byte(code, 1).filter(|now| *now != UNKNOWN);
    let writes = page(WRITE_ERRORS);
    let reads = page(READ_ERRORS);
    let of = |page: &Option<Page>, code| page.as_ref().and_then(|page| page.number(code, 0, 8));
    let minutes = page(BACKGROUND_SCAN).and_then(|page| page.number(0, 0, 4));
    let health = Health {
        warnings: warnings(page(EXCEPTIONS), of(&writes, UNCORRECTED)),
        temperature_c: degrees(0x0000).map(i32::from),
        used_percent: page(SOLID_STATE).and_then(|page| page.byte(0x0001, 3)),
        host_written: of(&writes, BYTES),
        host_read: of(&reads, BYTES),
        media_errors: of(&reads, UNCORRECTED),
        power_cycles: page(STARTS_AND_STOPS).and_then(|page| page.number(0x0004, 0, 4)),
        power_on_hours: minutes.map(|minutes| minutes / 60),
        ..Health::default()
    };
    Logs {
        critical_c: degrees(0x0001).map(i32::from),
        health: (health != Health::default()).then_some(health),
    }
}

/// The informational exceptions page: additional sense code and qualifier of what the drive would
/// report. And writes that failed for good.
fn warnings(exceptions: Option<Page>, lost_writes: Option<u128>) -> Vec<String> {
    let code = exceptions.and_then(|page| page.number(0x0000, 0, 2)).unwrap_or(0) as u16;
    let exception = match code.to_be_bytes() {
        [0, _] => None,
        [0x5D, _] => Some("the drive expects to fail".to_owned()),
        [0x0B, 0x01] => Some("a temperature is beyond its limit".to_owned()),
        [code, qualifier] => Some(format!("it warns with code {code:02X}h, {qualifier:02X}h")),
    };
    let writes = lost_writes.filter(|count| *count > 0);
    let writes = writes.map(|count| format!("{count} writes failed for good"));
    exception.into_iter().chain(writes).collect()
}

/// A log page's parameters.
struct Page(Vec<u8>);

impl Page {
    fn read(port: &mut dyn AdminPort, page: u8) -> Option<Self> {
        let bytes = answer(port, |length| ScsiCommand::log(page, length), LENGTH).ok()?;
        let end = 4 + number(&bytes[2..4]) as usize;
        (bytes[0] & 0x3F == page).then(|| Self(bytes[4..end.min(LENGTH.into())].to_vec()))
    }

    /// The value of the parameter with this code.
    fn value(&self, wanted: u16) -> Option<&[u8]> {
        let mut rest = self.0.as_slice();
        while let [code_high, code_low, _, length, values @ ..] = rest {
            let value = values.get(..usize::from(*length))?;
            if u16::from_be_bytes([*code_high, *code_low]) == wanted {
                return Some(value);
            }
            rest = &values[value.len()..];
        }
        None
    }

    fn byte(&self, code: u16, at: usize) -> Option<u8> {
        self.value(code)?.get(at).copied()
    }

    /// A number of a parameter's bytes from `at` on, `most` of them or as many as there are; all ones
    /// say that it is not known.
    fn number(&self, code: u16, at: usize, most: usize) -> Option<u128> {
        let bytes = self.value(code)?.get(at..)?;
        let bytes = &bytes[..most.min(bytes.len())];
        let is_known = bytes.iter().any(|byte| *byte != u8::MAX);
        is_known.then(|| number(bytes))
    }
}
