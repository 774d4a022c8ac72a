//! Erase cycles: retries of worn and of old data, levelling, replacements, the end of life.

use writecliff_sim::Levelling;

use crate::mechanisms::*;

/// What a read of one page that is sensed `1 + retries` times takes.
fn read_with(profile: &SsdProfile, retries: u64) -> Nanos {
    mapped_read(profile) + profile.nand.read_time * retries
}

#[test]
fn reads_are_repeated_as_the_block_wears() {
    for retries_worn in [0, 20] {
        let mut profile = tiny();
        // The same superblock is written after every erase of the drive.
        profile.wear.levelling = Levelling::None;
        profile.wear.endurance = 10;
        profile.wear.retries_worn = retries_worn;
        let mut drive = Drive::new(profile.clone());
        for erases in 0..5 {
            drive.write(0);
            drive.flush();
            let retries = u64::from(retries_worn) * erases / 10;
            assert_eq!(drive.read(0), read_with(&profile, retries), "{erases} erases");
            drive.purge();
        }
    }
}

#[test]
fn a_fraction_of_a_retry_happens_to_that_fraction_of_the_pages() {
    let mut profile = tiny();
    profile.wear.levelling = Levelling::None;
    profile.wear.endurance = 40;
    profile.wear.retries_worn = 10;
    let mut drive = Drive::new(profile.clone());
    drive.write(0);
    drive.purge();
    drive.fill(0..256);
    drive.flush();
    let retried = (0..256).filter(|page| drive.read(*page) > mapped_read(&profile)).count();
    assert_close(retried as f64, 256.0 / 4.0, 0.2);
}

#[test]
fn reads_are_repeated_as_the_data_ages_and_not_after_it_was_written_anew() {
    for retries_aged in [0, 3] {
        let mut profile = tiny();
        profile.wear.retries_aged = retries_aged;
        profile.wear.retry_age = Nanos::from_secs(10);
        let mut drive = Drive::new(profile.clone());
        let superblock = profile.superblock_size().0 / PAGE.0;
        drive.fill(0..superblock);
        let filled = drive.ssd.now();
        for periods in 0..4 {
            drive.idle_until(filled + Nanos::from_secs(10 * periods) + Nanos::from_millis(20));
            // 20 ms of ten seconds are less than one retry of 170 for any page but a few.
            let (least, retries) = (drive.read(7), u64::from(retries_aged) * periods);
            let parts = [read_with(&profile, retries), read_with(&profile, retries + 1)];
            assert!(parts.contains(&least), "{least} after {periods} periods");
        }
        drive.fill(0..superblock);
        drive.idle(Nanos::from_millis(20));
        assert_eq!(drive.read(7), mapped_read(&profile));
    }
}

#[test]
fn data_in_a_superblock_that_is_not_full_is_not_as_old_as_the_drive() {
    let mut profile = tiny();
    profile.wear.retries_aged = 5;
    profile.wear.retry_age = Nanos::from_secs(1);
    let mut drive = Drive::new(profile.clone());
    drive.idle(Nanos::from_secs(3600));
    drive.write(0);
    drive.flush();
    assert_eq!(drive.read(0), mapped_read(&profile));
}

/// A drive of 40 superblocks of 32 pages whose blocks last for `endurance` erases.
fn short_lived(endurance: u32, replacements: u32) -> SsdProfile {
    let mut profile = one_die(3);
    profile.nand.page_size = PAGE;
    profile.nand.blocks_per_plane = 40;
    profile.gc.free_low = 4;
    profile.gc.free_high = 4;
    profile.wear.endurance = endurance;
    profile.wear.replacements = replacements;
    profile
}

/// Overwrites the drive in order until a write fails or every page was written `rounds` times.
fn wear_out(drive: &mut Drive, rounds: u64) -> Option<Status> {
    let pages = drive.pages();
    let statuses = (0..rounds * pages).map(|index| drive.perform(write(index % pages, 1)).status);
    statuses.into_iter().find(|status| *status != Status::Done)
}

#[test]
fn worn_out_superblocks_are_replaced_then_retired_then_the_drive_is_read_only() {
    // Blocks that last for one erase: every erase takes a replacement or a superblock.
    for replacements in [0, 10] {
        let mut drive = Drive::new(short_lived(1, replacements));
        drive.fill(0..drive.pages());
        let mut last = 0;
        let failed = loop {
            let status = drive.perform(write(last % drive.pages(), 1)).status;
            let telemetry = drive.ssd.telemetry();
            let (erases, retired) = (telemetry.erases.unwrap(), telemetry.retired_blocks.unwrap());
            if status != Status::Done {
                break status;
            }
            assert_eq!(retired, erases.saturating_sub(u64::from(replacements)).min(13));
            last += 1;
        };
        assert_eq!(failed, Status::Failed(30));
        // 24 superblocks of data, and three to work with, are left of 40.
        assert_eq!(drive.ssd.telemetry().retired_blocks, Some(40 - 24 - 3));
        for page in 0..drive.pages() {
            assert!(drive.read(page) >= mapped_read(&drive.profile), "{page} is gone");
        }
        assert_eq!(drive.perform(write(0, 1)).status, Status::Failed(30));
    }
}

#[test]
fn a_drive_without_a_limit_never_wears_out() {
    let mut drive = Drive::new(short_lived(0, 0));
    assert_eq!(wear_out(&mut drive, 100), None);
    assert_eq!(drive.ssd.telemetry().retired_blocks, Some(0));
    assert_eq!(drive.ssd.telemetry().wear_permille, None);
}

#[test]
fn wear_is_the_share_of_all_rated_erases() {
    let mut drive = Drive::new(short_lived(1000, 0));
    assert_eq!(wear_out(&mut drive, 100), None);
    let erases = drive.erases();
    assert!(erases > 2000);
    assert_eq!(drive.ssd.telemetry().wear_permille, Some(erases * 1000 / (40 * 1000)));
}

/// Erases of the whole drive by which its first superblock is worn out, if a quarter of the pages
/// is written over and over and the others never again: the better they are spread, the later.
fn erases_to_first_loss(levelling: Levelling) -> u64 {
    let mut profile = short_lived(50, 0);
    profile.wear.levelling = levelling;
    profile.wear.static_gap = 5;
    let mut drive = Drive::new(profile);
    drive.fill(0..drive.pages());
    let hot = drive.pages() / 4;
    let mut random = dice(3);
    while drive.ssd.telemetry().retired_blocks == Some(0) {
        drive.write(random(hot));
        assert!(drive.erases() < 3000, "nothing wears out");
    }
    drive.erases()
}

#[test]
fn levelling_spreads_erases_over_free_superblocks_and_static_levelling_over_all() {
    let none = erases_to_first_loss(Levelling::None);
    let dynamic = erases_to_first_loss(Levelling::Dynamic);
    let fixed = erases_to_first_loss(Levelling::Static);
    println!("erases to the first loss: none {none}, dynamic {dynamic}, static {fixed}");
    // 18 superblocks hold data that is never written again: dynamic levelling has 22 to wear out.
    assert!(none * 11 / 10 < dynamic, "none {none}, dynamic {dynamic}");
    assert!((50 * 20..=50 * 22).contains(&dynamic), "dynamic {dynamic}");
    // None is more than six erases behind the mean of all 40, so no other is far ahead of it for long.
    assert!((40 * 40..=40 * 50).contains(&fixed), "static {fixed}");
}
