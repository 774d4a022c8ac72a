//! ATA drives made of bytes: power modes, and what else device statistics and attributes say.

use writecliff_admin::{AtaCommand, PowerMode, ask};

use super::{Given, ata_drive, statistics, told};

/// A drive with a log of these pages.
fn with_statistics(pages: &[(u8, Vec<u8>)]) -> Given {
    let mut drive = ata_drive("Crucial_CT480M500SSD1");
    let mut list = statistics(0, &[]);
    list[8] = pages.len() as u8;
    for (index, (number, _)) in pages.iter().enumerate() {
        list[9 + index] = *number;
    }
    drive.ata.push((AtaCommand::log(4, 0), list));
    drive
        .ata
        .extend(pages.iter().map(|(number, page)| (AtaCommand::log(4, *number), page.clone())));
    drive
}

#[test]
fn device_statistics_tell_of_the_link_the_heat_and_lost_blocks() {
    let drive = with_statistics(&[
        (3, statistics(3, &[(32, 12)])),
        (5, statistics(5, &[(8, 40), (32, 71), (80, 15), (88, 70)])),
        (6, statistics(6, &[(24, 979)])),
    ]);
    let health = ask(&mut drive.clone()).unwrap().health.unwrap();
    assert_eq!((health.temperature_c, health.highest_c), (Some(40), Some(71)));
    assert_eq!((health.hot_minutes, health.reallocated), (Some(15), Some(12)));
    assert_eq!(health.link_errors, Some(979));
    let words = told(drive);
    for said in [
        "temperature: 40 °C, 71 °C at most ever, stops at 70 °C, 15 min too hot",
        "reallocated: 12 blocks that spare ones replace",
        "link errors: 979 transfers that came damaged: look at cable and port",
    ] {
        assert!(words.contains(said), "{said} in\n{words}");
    }
}

#[test]
fn a_statistic_of_zero_needs_no_line() {
    let words =
        told(with_statistics(&[(3, statistics(3, &[(32, 0)])), (6, statistics(6, &[(24, 0)]))]));
    assert!(!words.contains("reallocated") && !words.contains("link errors"), "{words}");
}

#[test]
fn the_power_mode_is_what_the_count_field_says() {
    let mode = |count| {
        let mut drive = ata_drive("Crucial_CT480M500SSD1");
        drive.ata_power_mode = Some(count);
        ask(&mut drive).unwrap().power_mode
    };
    assert_eq!([0x00, 0x01].map(mode), [Some(PowerMode::Standby); 2]);
    assert_eq!([0x80, 0x81, 0x82, 0x83].map(mode), [Some(PowerMode::Idle); 4]);
    assert_eq!([0xFF, 0x40].map(mode), [Some(PowerMode::ActiveOrIdle), None]);
    assert_eq!(ask(&mut ata_drive("x")).unwrap().power_mode, None, "it does not answer");
}

#[test]
fn a_disk_that_stood_still_says_so() {
    let mut disk = ata_drive("Crucial_CT480M500SSD1");
    disk.ata_power_mode = Some(0);
    assert!(told(disk.clone()).contains("power now: standby until it was asked"));
    let json = serde_json::to_value(ask(&mut disk).unwrap()).unwrap();
    assert_eq!(json["power_mode"], "standby");
}
