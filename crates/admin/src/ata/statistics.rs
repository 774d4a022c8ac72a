//! The device statistics log (ACS-4, 9.5): the same numbers at the same place for every drive. Of its
//! pages there are read general statistics (9.5.4), rotating media (9.5.6), general errors (9.5.7),
//! temperature (9.5.8), transport (9.5.9) and solid state device (9.5.10).

use crate::bytes::Fields;
use crate::facts::Health;
use crate::port::{AdminPort, AtaCommand, Data};

const LOG: u8 = 0x04;
const GENERAL: u8 = 0x01;
const ROTATING: u8 = 0x03;
const ERRORS: u8 = 0x04;
const TEMPERATURE: u8 = 0x05;
const TRANSPORT: u8 = 0x06;
const SOLID_STATE: u8 = 0x07;

pub(super) struct Statistics {
    pub(super) health: Health,
    /// The specified maximum of the operating temperature.
    pub(super) critical_c: Option<i32>,
}

/// `lba_size` is what the drive counts in.
pub(super) fn ask(port: &mut dyn AdminPort, lba_size: u64) -> Option<Statistics> {
    let there = Page::read(port, 0)?.numbers();
    let mut page = |number| there.contains(&number).then(|| Page::read(port, number)).flatten();
    let general = page(GENERAL);
    let of_general = |at, length| general.as_ref().and_then(|page| page.number(at, length));
    let errors = page(ERRORS);
    let temperature = page(TEMPERATURE);
    let rotating = page(ROTATING);
    let transport = page(TRANSPORT);
    let solid_state = page(SOLID_STATE);
    let degrees = |at| temperature.as_ref().and_then(|page| page.signed(at));
    let minutes = |at| temperature.as_ref().and_then(|page| page.number(at, 4));
    Some(Statistics {
        health: Health {
            temperature_c: degrees(8),
            highest_c: degrees(32),
            used_percent: solid_state
                .and_then(|page| page.number(8, 1))
                .and_then(|used| u8::try_from(used).ok()),
            host_written: of_general(24, 6).map(|sectors| sectors * u128::from(lba_size)),
            written_unit: Some(lba_size),
            host_read: of_general(40, 6).map(|sectors| sectors * u128::from(lba_size)),
            power_cycles: of_general(8, 4),
            power_on_hours: of_general(16, 4),
            media_errors: errors.and_then(|page| page.number(8, 4)),
            reallocated: rotating.and_then(|page| page.number(32, 4)),
            link_errors: transport.and_then(|page| page.number(24, 4)),
            hot_minutes: minutes(80),
            ..Health::default()
        },
        critical_c: degrees(88),
    })
}

/// A page of the log: a header, then statistics of eight bytes, each with flags in its last.
struct Page([u8; 512]);

impl Page {
    fn read(port: &mut dyn AdminPort, number: u8) -> Option<Self> {
        let mut page = [0; 512];
        port.ata(AtaCommand::log(LOG, number), Data::FromDrive(&mut page)).ok()?;
        // Drives answer what they do not have with zeros, or with another page.
        (page[2] == number).then_some(Self(page))
    }

    /// Of page 0: the pages that there are.
    fn numbers(&self) -> Vec<u8> {
        let count = usize::from(self.0[8]).min(503);
        self.0[9..9 + count].to_vec()
    }

    /// A statistic that is supported and valid.
    fn number(&self, at: usize, length: usize) -> Option<u128> {
        const SUPPORTED_AND_VALID: u8 = 0b1100_0000;
        let is_there = self.0[at + 7] & SUPPORTED_AND_VALID == SUPPORTED_AND_VALID;
        is_there.then(|| Fields(&self.0).number(at, length))
    }

    /// One of a signed byte; -128 means that it is not known.
    fn signed(&self, at: usize) -> Option<i32> {
        let value = self.number(at, 1)? as u8 as i8;
        (value != i8::MIN).then(|| value.into())
    }
}
