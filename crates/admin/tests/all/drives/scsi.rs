//! SCSI drives made of bytes.

use writecliff_admin::{Protocol, ScsiCommand, ask};
use writecliff_device::{Bytes, Purge};

use super::{Given, offered, page, told};

/// A log page: parameters of a code and a value.
pub(super) fn log(number: u8, parameters: &[(u16, &[u8])]) -> Vec<u8> {
    let mut values = Vec::new();
    for (code, value) in parameters {
        values.extend(code.to_be_bytes());
        values.extend([0x03, value.len() as u8]);
        values.extend(*value);
    }
    let length = (values.len() as u16).to_be_bytes();
    [&[number, 0], length.as_slice(), &values].concat()
}

/// A page of vital product data.
fn vital(number: u8, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u16).to_be_bytes();
    [&[0, number], length.as_slice(), data].concat()
}

/// A SAS drive of 400 GB with LBAs of 4,096 bytes, protection information, and every page that is
/// read.
pub(super) fn scsi_drive() -> Given {
    let inquiry = page(
        96,
        &[(2, &[6]), (8, b"MAKER   "), (16, b"SAS DRIVE 400GB "), (32, b"A1B2"), (36, b"12345678")],
    );
    let capacity = page(
        32,
        &[(0, &97_677_845_u64.to_be_bytes()), (8, &4096_u32.to_be_bytes()), (12, &[0b11])],
    );
    let caching = page(28, &[(7, &[8]), (16, &[0x88, 0x12, 0b100])]);
    let counters = |number, bytes: u64, lost: u32| {
        let (bytes, lost) = (bytes.to_be_bytes(), lost.to_be_bytes());
        log(number, &[(0x0003, &[0, 0, 0, 9]), (0x0005, &bytes), (0x0006, &lost)])
    };
    let pages = [
        (0x00, vital_list(0x00, &[0x00, 0x02, 0x03, 0x0D, 0x0E, 0x11, 0x15, 0x2F])),
        (0x02, counters(0x02, 5_000_000_000_000, 2)),
        (0x03, counters(0x03, 7_000_000_000_000, 4)),
        (0x0D, log(0x0D, &[(0x0000, &[0, 38]), (0x0001, &[0, 65])])),
        (0x0E, log(0x0E, &[(0x0003, &[0, 0, 0xC3, 0x50]), (0x0004, &[0, 0, 0, 123])])),
        (0x11, log(0x11, &[(0x0001, &[0, 0, 0, 17])])),
        (0x15, log(0x15, &[(0x0000, &[0, 1, 0x51, 0x80, 0, 0])])),
        (0x2F, log(0x2F, &[(0x0000, &[0x5D, 0x10, 38])])),
    ];
    let mut scsi = vec![
        (ScsiCommand::inquiry(252), inquiry),
        (ScsiCommand::vital_page(0x00, 252), vital(0x00, &[0x00, 0x80, 0xB2])),
        (ScsiCommand::vital_page(0x80, 252), vital(0x80, b"  ABCD1234  ")),
        (ScsiCommand::vital_page(0xB2, 252), vital(0xB2, &[0, 0b1000_0000, 0, 0])),
        (ScsiCommand::read_capacity(), capacity),
        (ScsiCommand::mode(0x08, 512), caching),
    ];
    scsi.extend(pages.map(|(number, page)| (ScsiCommand::log(number, 512), page)));
    Given { scsi, ..Given::silent(Protocol::Scsi) }
}

/// A list of pages has the header of a log page.
fn vital_list(number: u8, pages: &[u8]) -> Vec<u8> {
    [&[number, 0, 0, pages.len() as u8], pages].concat()
}

/// The answer to a command of the drive above.
fn answer(drive: &mut Given, command: ScsiCommand) -> &mut Vec<u8> {
    &mut drive.scsi.iter_mut().find(|(known, _)| *known == command).unwrap().1
}

#[test]
fn a_scsi_drive_is_read_field_by_field() {
    let facts = ask(&mut scsi_drive()).unwrap();
    assert_eq!(facts.speaks, "SPC-4");
    assert_eq!(facts.model.as_deref(), Some("MAKER SAS DRIVE 400GB"));
    assert_eq!(facts.serial.as_deref(), Some("ABCD1234"));
    assert_eq!(facts.firmware.as_deref(), Some("A1B2"));
    assert_eq!(facts.capacity, Bytes(97_677_846 * 4096));
    let formats: Vec<_> = facts.formats.iter().map(|f| (f.data.0, f.metadata.0)).collect();
    assert_eq!(formats, [(4096, 8)]);
    assert_eq!(facts.write_cache.unwrap().enabled, Some(true));
    assert_eq!(facts.critical_c, Some(65));
    assert_eq!(offered(&facts), [Purge::Discard]);
    let health = facts.health.as_ref().unwrap();
    assert_eq!((health.temperature_c, health.used_percent), (Some(38), Some(17)));
    assert_eq!(health.host_written, Some(5_000_000_000_000));
    assert_eq!(health.host_read, Some(7_000_000_000_000));
    assert_eq!((health.media_errors, health.power_cycles), (Some(4), Some(123)));
    assert_eq!(health.power_on_hours, Some(1440), "86,400 minutes");
    assert_eq!(health.warnings, ["the drive expects to fail", "2 writes failed for good"]);
}

#[test]
fn a_scsi_drive_is_told_in_words() {
    let words = told(scsi_drive());
    for said in [
        "speaks: SPC-4",
        "LBA formats: 4096 + 8 bytes in use",
        "write cache: on",
        "WARNING: the drive expects to fail",
        "wear: 17 % of the endurance used",
        "temperature: 38 °C, stops at 65 °C",
        "power on: 1440 h, switched on 123 times",
        "can purge by: discard",
    ] {
        assert!(words.contains(said), "{said} in\n{words}");
    }
}

#[test]
fn what_a_scsi_drive_does_not_answer_is_left_out() {
    let mut drive = scsi_drive();
    drive.scsi.truncate(1);
    let facts = ask(&mut drive).unwrap();
    assert_eq!((facts.serial, facts.health, facts.write_cache), (None, None, None));
    assert_eq!((facts.capacity, facts.formats.len()), (Bytes::ZERO, 0));
    assert!(facts.purges.is_empty());
    drive.scsi.clear();
    assert_eq!(ask(&mut drive).unwrap_err().to_string(), "refused");
}

/// A page that is not listed is not asked for: not every drive takes that well.
#[test]
fn only_pages_that_are_listed_are_asked_for() {
    let mut drive = scsi_drive();
    *answer(&mut drive, ScsiCommand::log(0x00, 512)) = vital_list(0x00, &[0x0D]);
    *answer(&mut drive, ScsiCommand::vital_page(0x00, 252)) = vital(0x00, &[0x00]);
    let facts = ask(&mut drive).unwrap();
    let health = facts.health.unwrap();
    assert_eq!((health.temperature_c, health.used_percent), (Some(38), None));
    assert_eq!((facts.serial, facts.purges.len()), (None, 0));
}

#[test]
fn what_is_not_known_and_what_is_another_page_is_left_out() {
    let mut drive = scsi_drive();
    *answer(&mut drive, ScsiCommand::log(0x0D, 512)) =
        log(0x0D, &[(0x0000, &[0, 0xFF]), (0x0001, &[0, 0xFF])]);
    *answer(&mut drive, ScsiCommand::log(0x02, 512)) = log(0x03, &[(0x0005, &[1; 8])]);
    *answer(&mut drive, ScsiCommand::log(0x03, 512)) = log(0x03, &[(0x0005, &[0xFF; 8])]);
    *answer(&mut drive, ScsiCommand::log(0x2F, 512)) = log(0x2F, &[(0x0000, &[0, 0, 38])]);
    let facts = ask(&mut drive).unwrap();
    let health = facts.health.unwrap();
    assert_eq!((health.temperature_c, facts.critical_c), (None, None));
    assert_eq!((health.host_written, health.host_read), (None, None));
    assert!(health.warnings.is_empty(), "{:?}", health.warnings);
}

#[test]
fn descriptor_blocks_are_those_of_the_standards() {
    assert_eq!(ScsiCommand::inquiry(252).block(), [0x12, 0, 0, 0, 252, 0]);
    assert_eq!(ScsiCommand::vital_page(0x80, 252).block(), [0x12, 1, 0x80, 0, 252, 0]);
    assert_eq!(ScsiCommand::log(0x0D, 512).block(), [0x4D, 0, 0x4D, 0, 0, 0, 0, 2, 0, 0]);
    assert_eq!(ScsiCommand::mode(8, 512).block(), [0x5A, 8, 8, 0, 0, 0, 0, 2, 0, 0]);
    let capacity = [0x9E, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0];
    assert_eq!(ScsiCommand::read_capacity().block(), capacity);
}
