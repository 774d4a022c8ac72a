//! The SMART / health log page (Base Specification 2.1, figure 206) and, of drives for data centres,
//! the OCP log C0 (Datacenter NVMe SSD Specification 2.5, 4.8.6).

use super::identify::ZERO_C;
use crate::bytes::Fields;
use crate::facts::Health;
use crate::port::{AdminPort, Data, NvmeCommand};

const HEALTH: u8 = 0x02;
const OCP: u8 = 0xC0;
/// What says that C0 is OCP's log and not something of the maker's, at byte 496, from the least
/// significant byte on.
const OCP_GUID: [u8; 16] = [
    0xC5, 0xAF, 0x10, 0x28, 0xEA, 0xBF, 0xF2, 0xA4, 0x9C, 0x4F, 0x6F, 0x7C, 0xC9, 0x14, 0xD5, 0xAF,
];
/// A unit of data read and written: a thousand LBAs of 512 bytes.
const DATA_UNIT: u64 = 512_000;

/// The bits of byte 0, from the lowest.
const WARNINGS: [&str; 6] = [
    "spare blocks are below the threshold",
    "a temperature is beyond its limit",
    "the drive is no longer reliable",
    "it takes no more writes",
    "its protection against power loss has failed",
    "its persistent memory is no longer reliable",
];

pub(crate) fn ask(port: &mut dyn AdminPort) -> Option<Health> {
    let mut page = [0; 512];
    let command = NvmeCommand::log_page(HEALTH, NvmeCommand::ALL_NAMESPACES, page.len());
    port.nvme(command, Data::FromDrive(&mut page)).ok()?;
    Some(Health { nand_written: nand_written(port), ..parse(Fields(&page)) })
}

fn parse(page: Fields<'_>) -> Health {
    let warnings = WARNINGS.iter().enumerate().filter(|(bit, _)| page.bit(0, *bit as u32));
    let kelvins = i32::from(page.u16(1));
    Health {
        warnings: warnings.map(|(_, words)| (*words).to_owned()).collect(),
        temperature_c: (kelvins > 0).then_some(kelvins - ZERO_C),
        spare_percent: Some(page.byte(3)),
        spare_threshold_percent: Some(page.byte(4)),
        used_percent: Some(page.byte(5)),
        host_read: page.u128(32).checked_mul(DATA_UNIT.into()),
        host_written: page.u128(48).checked_mul(DATA_UNIT.into()),
        written_unit: Some(DATA_UNIT),
        power_cycles: Some(page.u128(112)),
        power_on_hours: Some(page.u128(128)),
        unsafe_shutdowns: Some(page.u128(144)),
        media_errors: Some(page.u128(160)),
        logged_errors: Some(page.u128(176)),
        warm_minutes: Some(page.u32(192).into()),
        hot_minutes: Some(page.u32(196).into()),
        ..Health::default()
    }
}

/// "Physical media units written", in bytes.
fn nand_written(port: &mut dyn AdminPort) -> Option<u128> {
    let mut page = [0; 512];
    port.nvme(
        NvmeCommand::log_page(OCP, NvmeCommand::ALL_NAMESPACES, page.len()),
        Data::FromDrive(&mut page),
    )
    .ok()?;
    (page[496..] == OCP_GUID).then(|| Fields(&page).u128(0))
}
