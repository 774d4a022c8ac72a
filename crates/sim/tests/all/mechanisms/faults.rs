//! Power cuts: what survives, what is lost, how long the drive is away.

use crate::mechanisms::*;

const CUT: Nanos = Nanos::from_secs(2);

/// A drive whose power goes at [`CUT`], and is back at once.
fn cut_once(mut profile: SsdProfile) -> Drive {
    profile.faults.power_cuts = vec![CUT];
    Drive::new(profile)
}

/// Idles until the power has gone and the drive has come back.
fn over_the_cut(drive: &mut Drive) {
    drive.idle_until(DeviceTime::default() + CUT * 2);
}

#[test]
fn a_power_cut_takes_what_was_not_in_nand_unless_capacitors_bring_it_there() {
    // Three pages, two to a program: the third waits in RAM for a fourth.
    let lost_of_three = |profile: SsdProfile, flushed: bool| {
        let mut drive = cut_once(profile);
        (0..3).for_each(|page| _ = drive.write(page));
        if flushed {
            drive.flush();
        }
        over_the_cut(&mut drive);
        let lost = drive.ssd.telemetry().lost_pages.unwrap();
        let mapped = mapped_read(&drive.profile);
        let held = (0..3).filter(|page| drive.read(*page) == mapped).count() as u64;
        assert_eq!(held, 3 - lost, "what was never in NAND reads as empty");
        lost
    };
    let mut protected = tiny();
    protected.write_buffer.protected = true;
    assert_eq!(lost_of_three(tiny(), false), 1);
    assert_eq!(lost_of_three(tiny(), true), 0);
    assert_eq!(lost_of_three(protected, false), 0);
    assert_eq!(lost_of_three(write_through(tiny()), false), 0);
}

#[test]
fn a_lost_overwrite_leaves_the_older_data() {
    let mut drive = cut_once(tiny());
    drive.write(0);
    drive.flush();
    drive.write(0);
    over_the_cut(&mut drive);
    assert_eq!(drive.ssd.telemetry().lost_pages, Some(1));
    assert_eq!(drive.read(0), mapped_read(&drive.profile));
}

#[test]
fn programs_under_way_are_lost_with_their_pages() {
    // All dies have programs queued when the power goes, some microseconds after the last write.
    let lost = |protected| {
        let mut profile = tiny();
        profile.write_buffer.protected = protected;
        let mut drive = cut_once(profile);
        drive.idle_until(DeviceTime(CUT.0 - 500_000));
        drive.time(write(0, 64));
        over_the_cut(&mut drive);
        drive.ssd.telemetry().lost_pages
    };
    // 64 pages arrive 484 us before the cut: no program of 600 us has ended.
    assert_eq!((lost(false), lost(true)), (Some(64), Some(0)));
}

#[test]
fn commands_in_flight_fail_when_the_power_goes() {
    let mut drive = cut_once(write_through(tiny()));
    drive.idle_until(DeviceTime(CUT.0 - 100_000));
    let done = drive.together(&[write(0, 1), write(1, 1), write(2, 1)]);
    assert!(done.iter().all(|c| c.status == Status::Failed(5)));
    assert!(done.iter().all(|c| c.completed == DeviceTime(CUT.0)));
    let mut without = Drive::new(write_through(tiny()));
    without.idle_until(DeviceTime(CUT.0 - 100_000));
    let done = without.together(&[write(0, 1), write(1, 1), write(2, 1)]);
    assert!(done.iter().all(|c| c.status == Status::Done));
}

#[test]
fn the_drive_looks_at_every_superblock_before_it_answers_again() {
    for recovery_time in [Nanos::ZERO, Nanos::from_millis(70)] {
        let mut profile = tiny();
        profile.faults.recovery_time = recovery_time;
        let mut drive = cut_once(profile.clone());
        drive.idle_until(DeviceTime::default() + CUT);
        // 256 superblocks, one page of each, on four dies at once.
        let away = recovery_time + profile.nand.read_time * 64;
        assert_eq!(drive.read(0), away + unmapped_read(&profile, PAGE));
        assert_eq!(drive.read(0), unmapped_read(&profile, PAGE));
    }
}
