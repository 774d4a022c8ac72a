//! ATA drives.

mod identify;
mod purges;
mod smart;
mod statistics;

use std::io;

use crate::bytes::Fields;
use crate::facts::{Facts, Health};
use crate::port::{AdminPort, AtaCommand, Data};
use crate::state::PowerMode;
use crate::trusted;
pub(crate) use identify::Identity;

const SECTOR: usize = 512;

pub(crate) fn ask(port: &mut dyn AdminPort) -> io::Result<Facts> {
    let power_mode = power_mode(port);
    let drive = identify(port)?;
    let (health, critical_c) = counted(port, &drive);
    Ok(Facts {
        speaks: drive.version(),
        capacity: drive.capacity(),
        namespaces: None,
        formats: vec![drive.format()],
        link: drive.link,
        write_cache: drive.write_cache,
        power_states: Vec::new(),
        power_state_now: None,
        power_transitions: None,
        power_mode,
        host_memory: None,
        firmware_slots: None,
        errors: Vec::new(),
        warning_c: None,
        critical_c,
        health,
        security: drive.security,
        encryption: drive.has_trusted.then(|| trusted::ask(port)).flatten(),
        purges: purges::offers(&drive),
        model: drive.model,
        serial: drive.serial,
        firmware: drive.firmware,
    })
}

/// The count field that CHECK POWER MODE leaves (ACS-4, 7.3). It is asked before anything else, since
/// other questions may wake the drive.
fn power_mode(port: &mut dyn AdminPort) -> Option<PowerMode> {
    match port.ata(AtaCommand::check_power_mode(), Data::None).ok()?.count & 0xFF {
        0x00 | 0x01 => Some(PowerMode::Standby),
        0x80..=0x83 => Some(PowerMode::Idle),
        0xFF => Some(PowerMode::ActiveOrIdle),
        _ => None,
    }
}

pub(crate) fn identify(port: &mut dyn AdminPort) -> io::Result<Identity> {
    let mut page = [0; SECTOR];
    port.ata(AtaCommand::identify(), Data::FromDrive(&mut page))?;
    Ok(Identity::parse(Fields(&page)))
}

pub(crate) fn health(port: &mut dyn AdminPort) -> Option<Health> {
    let drive = identify(port).ok()?;
    counted(port, &drive).0
}

/// What it counts, and where it stops in degrees Celsius.
fn counted(port: &mut dyn AdminPort, drive: &Identity) -> (Option<Health>, Option<i32>) {
    let statistics = drive.has_logs.then(|| statistics::ask(port, drive.lba_size)).flatten();
    let attributes = drive.has_smart.then(|| smart::ask(port, drive.model.as_deref())).flatten();
    let critical_c = statistics.as_ref().and_then(|statistics| statistics.critical_c);
    (joined(statistics.map(|statistics| statistics.health), attributes), critical_c)
}

/// The standard's statistics, and what only attributes say.
fn joined(statistics: Option<Health>, attributes: Option<Health>) -> Option<Health> {
    let (first, second) = match (statistics, attributes) {
        (Some(first), Some(second)) => (first, second),
        (one, other) => return one.or(other),
    };
    Some(Health {
        warnings: [first.warnings, second.warnings].concat(),
        temperature_c: first.temperature_c.or(second.temperature_c),
        highest_c: first.highest_c.or(second.highest_c),
        used_percent: first.used_percent.or(second.used_percent),
        spare_percent: first.spare_percent.or(second.spare_percent),
        spare_threshold_percent: first.spare_threshold_percent.or(second.spare_threshold_percent),
        host_written: first.host_written.or(second.host_written),
        host_read: first.host_read.or(second.host_read),
        nand_written: first.nand_written.or(second.nand_written),
        written_unit: first.written_unit.max(second.written_unit),
        power_on_hours: first.power_on_hours.or(second.power_on_hours),
        power_cycles: first.power_cycles.or(second.power_cycles),
        unsafe_shutdowns: first.unsafe_shutdowns.or(second.unsafe_shutdowns),
        media_errors: first.media_errors.or(second.media_errors),
        reallocated: first.reallocated.or(second.reallocated),
        link_errors: first.link_errors.or(second.link_errors),
        logged_errors: first.logged_errors.or(second.logged_errors),
        warm_minutes: first.warm_minutes.or(second.warm_minutes),
        hot_minutes: first.hot_minutes.or(second.hot_minutes),
    })
}
