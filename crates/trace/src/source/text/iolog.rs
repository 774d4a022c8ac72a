//! fio's I/O log, versions 2 and 3.
//!
//! ```text
//! fio version 2 iolog        fio version 3 iolog
//! /dev/sda add               21 /dev/sda add
//! /dev/sda open              119 /dev/sda open
//! /dev/sda read 61440 4096   123 /dev/sda read 61440 4096
//! /dev/sda wait 250          530 /dev/sda close
//! ```
//! Version 3 begins each line with the microseconds since the job began; version 2 has waits
//! instead, in microseconds as well: the time of an operation is the sum of those before it.

use writecliff_device::Operation;

use super::{Parsed, Whole};
use crate::source::fields::{Expected, Fields};
use crate::source::names::Names;

/// Decimal places from a microsecond to a nanosecond.
const MICROSECOND: usize = 3;

#[derive(Default)]
pub(crate) struct Iolog {
    version: Option<Version>,
}

enum Version {
    Two {
        /// The sum of the waits.
        now_ns: u64,
    },
    Three,
}

impl Iolog {
    pub(super) fn line(&mut self, line: &[u8], names: &mut Names) -> Result<Parsed, Expected> {
        let mut fields = Fields::new(line);
        let now_ns = match &self.version {
            None => return self.header(line),
            Some(Version::Two { now_ns }) => *now_ns,
            Some(Version::Three) => {
                let now_ns = fields.nanos(MICROSECOND, "a time in microseconds")?;
                fields.expect(b' ', "a blank behind the time")?;
                now_ns
            }
        };
        fields.skip_blanks();
        let file = fields.word();
        fields.skip_blanks();
        let operation = match fields.word() {
            b"read" => Operation::Read,
            b"write" => Operation::Write,
            b"trim" => Operation::Trim,
            b"sync" | b"datasync" => Operation::Flush,
            b"add" | b"open" | b"close" => return Ok(Parsed::Frame),
            b"wait" => return self.wait(fields),
            _ => return Err("add, open, close, read, write, trim, sync, datasync or wait"),
        };
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => {
                fields.skip_blanks();
                let offset = fields.number("the offset in bytes")?;
                fields.skip_blanks();
                (offset, fields.number("the length in bytes")?)
            }
        };
        if operation != Operation::Flush {
            fields.end("nothing behind the length")?;
        }
        let stream = names.volume(file);
        Whole { issued_ns: now_ns, service_ns: None, operation, offset, length }.parsed(stream)
    }

    fn header(&mut self, line: &[u8]) -> Result<Parsed, Expected> {
        self.version = match line.trim_ascii_end() {
            b"fio version 2 iolog" => Some(Version::Two { now_ns: 0 }),
            b"fio version 3 iolog" => Some(Version::Three),
            _ => return Err("'fio version 2 iolog' or 'fio version 3 iolog' in the first line"),
        };
        Ok(Parsed::Frame)
    }

    fn wait(&mut self, mut fields: Fields<'_>) -> Result<Parsed, Expected> {
        const EXPECTED: Expected = "microseconds behind wait";
        let Some(Version::Two { now_ns }) = &mut self.version else {
            return Err("an operation; only version 2 has waits");
        };
        fields.skip_blanks();
        let wait_ns = fields.nanos(MICROSECOND, EXPECTED)?;
        *now_ns = now_ns.checked_add(wait_ns).ok_or(EXPECTED)?;
        Ok(Parsed::Frame)
    }
}
