//! SCSI drives, as those with SAS are. Numbers are big-endian.

mod identity;
mod logs;

use std::io;

use crate::facts::{Facts, Health, PurgeOffer};
use crate::port::{AdminPort, Data, ScsiCommand};
use identity::{Capacity, Identity};
use writecliff_device::Purge;

/// So much of a page is asked for: more than any of those read here has.
const LENGTH: u16 = 512;
/// The same for INQUIRY, whose length has one byte in drives older than SPC-3.
const INQUIRY_LENGTH: u16 = 252;
/// An answer, with zeros behind it.
type Answer = [u8; LENGTH as usize];

pub(crate) fn ask(port: &mut dyn AdminPort) -> io::Result<Facts> {
    let drive = Identity::parse(&answer(port, ScsiCommand::inquiry, INQUIRY_LENGTH)?);
    let pages = identity::vital_pages(port);
    let capacity = Capacity::ask(port);
    let logs = logs::ask(port);
    let discard = PurgeOffer { kind: Purge::Discard, time: None, hindrances: Vec::new() };
    let can_discard = identity::can_discard(port, &pages);
    Ok(Facts {
        speaks: drive.version,
        model: drive.model,
        serial: identity::serial(port, &pages),
        firmware: drive.firmware,
        capacity: capacity.total(),
        namespaces: None,
        formats: capacity.format.into_iter().collect(),
        link: None,
        write_cache: identity::write_cache(port),
        power_states: Vec::new(),
        power_state_now: None,
        power_transitions: None,
        power_mode: None,
        host_memory: None,
        firmware_slots: None,
        warning_c: None,
        critical_c: logs.critical_c,
        health: logs.health,
        errors: Vec::new(),
        security: None,
        encryption: None,
        purges: can_discard.then_some(discard).into_iter().collect(),
    })
}

pub(crate) fn health(port: &mut dyn AdminPort) -> Option<Health> {
    logs::ask(port).health
}

/// What a drive answers to a command that is made for `length` bytes.
fn answer(
    port: &mut dyn AdminPort,
    command: impl Fn(u16) -> ScsiCommand,
    length: u16,
) -> io::Result<Answer> {
    let mut page = [0; LENGTH as usize];
    port.scsi(command(length), Data::FromDrive(&mut page[..usize::from(length)]))?;
    Ok(page)
}

/// A big-endian number of sixteen bytes at most.
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}
