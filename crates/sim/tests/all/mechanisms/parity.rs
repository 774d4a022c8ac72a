//! Parity across dies: what it takes, and what it saves when a die is lost.

use crate::mechanisms::*;

/// When the die is lost.
const LOSS: Nanos = Nanos::from_secs(10);
/// A drive that can go on with three dies.
const FILLED: u64 = 96 * PAGES_PER_MIB;

/// `data` programs of data to one of parity on four dies; die 0 fails at [`LOSS`].
fn with_parity(data: u32) -> Drive {
    let mut profile = tiny();
    profile.identity.capacity = Bytes::from_mib(100);
    profile.parity.data = data;
    profile.faults.lost_die = Some(0);
    profile.faults.lost_die_at = LOSS;
    Drive::new(profile)
}

#[test]
fn parity_takes_space_and_programs() {
    for data in [0, 1, 3, 7] {
        let mut drive = with_parity(data);
        let share = if data == 0 { 1.0 } else { f64::from(data) / f64::from(data + 1) };
        let usable = drive.profile.usable_capacity().0 as f64;
        assert_eq!(usable, tiny().usable_capacity().0 as f64 * share);
        // Twelve superblocks' worth of pages.
        let pages = (usable / 256.0 * 12.0 / PAGE.0 as f64) as u64;
        assert_eq!(drive.amplification(|drive| drive.fill(0..pages)), 1.0 / share);
    }
}

/// The drive filled, with its die lost.
fn damaged(data: u32) -> Drive {
    let mut drive = with_parity(data);
    drive.fill(0..FILLED);
    drive.flush();
    drive.idle_until(DeviceTime::default() + LOSS + Nanos::from_secs(1));
    drive
}

#[test]
fn with_parity_every_page_survives_a_lost_die_and_takes_longer_to_read() {
    let mut drive = damaged(3);
    let whole = mapped_read(&drive.profile);
    // The rest of the stripe is read side by side; of each program both pages cross the channel.
    let rebuilt = whole + channel(&drive.profile, PAGE);
    let times: Vec<Nanos> = (0..FILLED).map(|page| drive.read(page)).collect();
    let on_lost_die = times.iter().filter(|time| **time == rebuilt).count() as u64;
    assert_eq!(on_lost_die, FILLED / 4);
    assert!(times.iter().all(|time| [whole, rebuilt].contains(time)));
    assert_eq!(drive.ssd.telemetry().lost_pages, Some(0));
    let mut random = dice(1);
    drive.overwrite(2 * FILLED, || random(FILLED));
    assert!((0..FILLED).all(|page| drive.perform(read(page, 1)).status == Status::Done));
    assert_eq!(drive.ssd.telemetry().lost_pages, Some(0));
}

#[test]
fn without_parity_what_was_on_the_die_is_lost_until_it_is_written_anew() {
    let mut drive = damaged(0);
    let is_lost = |drive: &mut Drive, page| match drive.perform(read(page, 1)).status {
        Status::Done => false,
        failed => failed == Status::Failed(61),
    };
    let lost: Vec<u64> = (0..FILLED).filter(|page| is_lost(&mut drive, *page)).collect();
    assert_eq!(lost.len() as u64, FILLED / 4);
    assert_eq!(drive.ssd.telemetry().lost_pages, Some(FILLED / 4));
    drive.write(lost[0]);
    assert!(!is_lost(&mut drive, lost[0]) && is_lost(&mut drive, lost[1]));
}

#[test]
fn a_stripe_longer_than_there_are_dies_saves_nothing() {
    let mut drive = damaged(7);
    let failed = (0..FILLED).filter(|page| drive.perform(read(*page, 1)).status != Status::Done);
    assert!(failed.count() > 0);
}
