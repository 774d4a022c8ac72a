//! TRIM: at once, later, in part, never; and what it costs.

use writecliff_sim::TrimKind;

use crate::mechanisms::*;

fn with(kind: TrimKind) -> SsdProfile {
    let mut profile = counting(tiny());
    profile.power.read = COUNT;
    profile.trim.kind = kind;
    profile.trim.after = Nanos::from_secs(2);
    profile.trim.share_percent = 60;
    profile
}

/// Pages of 2000 trimmed ones that still hold data for the host.
fn kept_of_2000(kind: TrimKind) -> u64 {
    let mut drive = Drive::new(with(kind));
    drive.fill(0..2000);
    drive.idle(Nanos::from_secs(1));
    drive.time(Io::trim(Bytes::ZERO, PAGE * 2000));
    let before = drive.counted();
    (0..2000).for_each(|page| assert!(drive.read(page).0 > 0));
    drive.counted() - before
}

#[test]
fn trimmed_pages_read_as_empty_unless_the_drive_ignores_trim() {
    assert_eq!(kept_of_2000(TrimKind::Immediate), 0);
    assert_eq!(kept_of_2000(TrimKind::Deferred), 0);
    assert_eq!(kept_of_2000(TrimKind::Ignored), 2000);
    assert_close(kept_of_2000(TrimKind::Partial) as f64, 2000.0 * 0.4, 0.05);
}

#[test]
fn only_whole_pages_are_trimmed() {
    let mut drive = Drive::new(with(TrimKind::Immediate));
    drive.fill(0..32);
    drive.time(Io::trim(Bytes(512), PAGE * 4));
    drive.idle(Nanos::from_secs(1));
    let held: Vec<u64> = (0..6).filter(|page| drive.read(*page) == mapped_read(&tiny())).collect();
    assert_eq!(held, [0, 4, 5]);
}

#[test]
fn the_firmware_works_on_every_unit_of_the_range_when_it_is_done() {
    let command = tiny().firmware.write_time + tiny().link.command_time;
    for (kind, units) in [
        (TrimKind::Immediate, 500),
        (TrimKind::Partial, 500),
        (TrimKind::Deferred, 0),
        (TrimKind::Ignored, 0),
    ] {
        let mut profile = with(kind);
        profile.trim.unit_time = Nanos(700);
        let mut drive = Drive::new(profile);
        let trim = Io::trim(Bytes::ZERO, PAGE * 500);
        assert_eq!(drive.time(trim), command + Nanos(700) * units, "{kind:?}");
        let mut free_of_charge = Drive::new(with(kind));
        assert_eq!(free_of_charge.time(trim), command);
    }
}

/// NAND programs of random writes to half of a full drive after a TRIM of the other half and a
/// rest.
fn programs_after_trim(kind: TrimKind, rest: Nanos) -> u64 {
    let mut drive = Drive::new(with(kind));
    let half = drive.pages() / 2;
    drive.fill(0..2 * half);
    let mut random = dice(2);
    drive.overwrite(2 * half, || random(2 * half));
    drive.time(Io::trim(PAGE * half, PAGE * half));
    drive.idle(rest);
    let before = drive.programs();
    drive.overwrite(half, || random(half));
    drive.programs() - before
}

#[test]
fn a_deferred_trim_wins_its_space_in_idle_time() {
    let (short, long) = (Nanos::from_secs(1), Nanos::from_secs(3));
    let ignored = programs_after_trim(TrimKind::Ignored, short);
    let immediate = programs_after_trim(TrimKind::Immediate, short);
    assert!(ignored > immediate * 3 / 2, "{ignored} against {immediate}");
    assert_eq!(programs_after_trim(TrimKind::Deferred, short), ignored);
    assert_eq!(programs_after_trim(TrimKind::Deferred, long), immediate);
    assert_eq!(programs_after_trim(TrimKind::Ignored, long), ignored);
    let partial = programs_after_trim(TrimKind::Partial, short);
    assert!(immediate < partial && partial < ignored, "{immediate}, {partial}, {ignored}");
}
