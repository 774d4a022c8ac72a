//! A map of whole superblocks with log blocks: what each kind of merge costs.

use writecliff_sim::MappingKind;

use crate::mechanisms::*;

/// Programs and mapping units of a superblock of `tiny`.
const PROGRAMS: u64 = 128;
const UNITS: u64 = 256;

/// A drive with a block map and three superblocks written in order.
fn with_log_blocks(count: u32) -> Drive {
    let mut profile = tiny();
    profile.mapping.kind = MappingKind::Block;
    profile.mapping.log_blocks = count;
    let mut drive = Drive::new(profile);
    drive.fill(0..3 * UNITS);
    drive
}

/// Programs and superblock erases of what `work` does.
fn cost(drive: &mut Drive, work: impl FnOnce(&mut Drive)) -> (u64, u64) {
    let (programs, erases) = (drive.programs(), drive.erases());
    work(drive);
    (drive.programs() - programs, drive.erases() - erases)
}

#[test]
fn data_in_order_are_written_in_place() {
    let mut drive = with_log_blocks(1);
    assert_eq!((drive.programs(), drive.erases()), (3 * PROGRAMS, 0));
    assert_eq!(cost(&mut drive, |drive| drive.fill(3 * UNITS..5 * UNITS)), (2 * PROGRAMS, 0));
}

#[test]
fn a_log_that_holds_all_of_a_superblock_takes_its_place() {
    let mut drive = with_log_blocks(1);
    assert_eq!(cost(&mut drive, |drive| drive.fill(0..UNITS)), (PROGRAMS, 0));
    // The next change of any superblock finds the log full and makes the switch.
    assert_eq!(cost(&mut drive, |drive| drive.fill(0..UNITS)), (PROGRAMS, 1));
    assert_eq!(cost(&mut drive, |drive| drive.fill(UNITS..2 * UNITS)), (PROGRAMS, 1));
}

#[test]
fn a_log_that_holds_the_beginning_is_completed_from_the_old_superblock() {
    let mut drive = with_log_blocks(1);
    drive.fill(0..UNITS / 4);
    let merge = PROGRAMS * 3 / 4;
    assert_eq!(cost(&mut drive, |drive| _ = drive.time(write(UNITS, 2))), (merge + 1, 1));
}

#[test]
fn a_log_out_of_order_is_merged_into_a_new_superblock() {
    let mut drive = with_log_blocks(1);
    drive.write(9);
    assert_eq!(cost(&mut drive, |drive| _ = drive.write(UNITS + 9)), (PROGRAMS + 1, 2));
}

#[test]
fn a_random_write_costs_a_superblock_unless_its_log_block_is_at_hand() {
    let alternating = |log_blocks: u32| {
        let mut drive = with_log_blocks(log_blocks);
        (0..3).for_each(|superblock| _ = drive.write(superblock * UNITS + 9));
        cost(&mut drive, |drive| {
            (0..30).for_each(|index| _ = drive.write(index % 3 * UNITS + 20 + index));
        })
    };
    assert_eq!(alternating(1), (30 * (PROGRAMS + 1), 60));
    assert_eq!(alternating(2), (30 * (PROGRAMS + 1), 60));
    assert_eq!(alternating(3), (30, 0));
    let mut page_mapped = Drive::new(tiny());
    page_mapped.fill(0..3 * UNITS);
    let same = |drive: &mut Drive| {
        (0..30).for_each(|index| _ = drive.write(index % 3 * UNITS + 20 + index));
    };
    assert_eq!(cost(&mut page_mapped, same), (15, 0));
}

#[test]
fn the_host_waits_for_a_merge() {
    let mut drive = with_log_blocks(1);
    drive.write(9);
    let nand = &drive.profile.nand;
    let pages = u64::from(nand.pages_per_block);
    // Every die copies its share and erases twice; then the page itself is programmed.
    let copies = (nand.read_time + nand.program_time.mean()) * pages + nand.erase_time * 2;
    let merge = copies + nand.program_time.mean();
    let waited = drive.write(UNITS + 9);
    assert!(waited > merge, "{waited} for {merge}");
    assert_close(waited.as_secs_f64(), merge.as_secs_f64(), 0.02);
}

#[test]
fn what_was_trimmed_is_erased_one_by_one_as_it_is_used_again() {
    let first_writes = |trims: bool| {
        let mut profile = tiny();
        profile.mapping.kind = MappingKind::Block;
        let mut drive = Drive::new(profile);
        let superblocks = drive.pages() / UNITS;
        if trims {
            drive.fill(0..superblocks * UNITS);
            drive.perform(Io::trim(Bytes::ZERO, PAGE * superblocks * UNITS));
        }
        [0, 2, UNITS, UNITS + 2].map(|unit| drive.write(unit))
    };
    let erase = tiny().nand.erase_time;
    let (fresh, trimmed) = (first_writes(false), first_writes(true));
    assert_eq!(trimmed, [fresh[0] + erase, fresh[1], fresh[2] + erase, fresh[3]]);
}
