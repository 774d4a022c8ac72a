//! The same I/Os give the same completions, always and everywhere.

use std::path::Path;

use writecliff_device::{Content, Durability};
use writecliff_sim::load_file;

use crate::mechanisms::*;

/// A drive with every mechanism that goes together with the others.
pub(crate) fn everything() -> SsdProfile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/mechanisms/everything.toml");
    load_file(&path).unwrap().into_ssd().unwrap()
}

/// The same as a drive of today: planes that read by themselves, a map in the host's memory.
pub(crate) fn modern() -> SsdProfile {
    let mut profile = everything();
    profile.nand.independent_reads = true;
    profile.mapping.cache_time = Nanos::from_micros(1);
    profile.firmware.in_order = true;
    profile.gc.reads_by_plane = true;
    profile.nand.program_pulse_time = Some(Nanos::from_micros(70));
    profile.nand.erase_pulse_time = Some(Nanos::from_micros(900));
    profile.wear.static_every = Some(3);
    profile.wear.static_apart = true;
    profile
}

/// A hash (FNV-1a) of every completion of a mixed load, and of the telemetry after it.
fn fingerprint(profile: SsdProfile, seed: u64) -> u64 {
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(seed));
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut feed = |number: u64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    };
    for round in 0..3000 {
        let ios: Vec<Io> = (0..8).map(|_| any_io(&mut random, pages)).collect();
        for completion in drive.together(&ios) {
            feed(completion.io.offset.0);
            feed(completion.completed.0);
            feed(u64::from(completion.status == Status::Done));
        }
        if round % 100 == 0 {
            drive.idle(Nanos::from_millis(random(3000)));
        }
    }
    let told = drive.ssd.telemetry();
    for number in [told.nand_written.unwrap().0, told.erases.unwrap(), told.lost_pages.unwrap()] {
        feed(number);
    }
    feed(told.energy.map_or(0, |energy| energy.0));
    hash
}

fn any_io(random: &mut impl FnMut(u64) -> u64, pages: u64) -> Io {
    let (page, count) = (random(pages - 16), 1 + random(16));
    match random(20) {
        0 => Io::flush(),
        1 => Io::trim(PAGE * page, PAGE * count),
        2..=7 => read(page, count),
        8 => write(page, count).with_durability(Durability::Forced),
        _ => {
            let content = Content {
                compressible_percent: random(60) as u8,
                duplicate_percent: random(20) as u8,
            };
            write(page, count).with_content(content)
        }
    }
}

#[test]
fn the_same_load_gives_the_same_completions() {
    for profile in [tiny(), everything()] {
        let first = fingerprint(profile.clone(), 1);
        assert_eq!(fingerprint(profile.clone(), 1), first);
        assert_ne!(fingerprint(profile, 2), first);
    }
}

/// Debug and release builds of any machine agree on this number. Who changes what the model does
/// changes it as well, on purpose; who does not, must not.
pub(crate) const EVERYTHING: u64 = 3_404_425_621_036_168_624;

#[test]
fn the_fingerprint_of_a_drive_with_everything_is_this() {
    assert_eq!(fingerprint(everything(), 1), EVERYTHING);
}

/// The same with hot pages of the host apart.
#[test]
fn the_fingerprint_with_hot_pages_apart_is_this() {
    let mut profile = everything();
    profile.gc.separate_hot = true;
    assert_eq!(fingerprint(profile, 1), 7_702_712_606_030_895_366);
}

/// The same as a drive of today.
#[test]
fn the_fingerprint_of_a_drive_of_today_is_this() {
    assert_eq!(fingerprint(modern(), 1), 13_892_755_624_622_078_913);
}
