//! Page maps that are coarse, or larger than the RAM for them.

use crate::mechanisms::*;

/// `tiny` with mapping units of 16 KiB.
fn coarse() -> SsdProfile {
    let mut profile = tiny();
    profile.mapping.unit = PAGE * 4;
    profile.nand.page_size = PAGE * 4;
    profile.nand.pages_per_block = 16;
    profile
}

/// The drive with data in its first 64 units, all of it in NAND.
fn with_data(profile: SsdProfile) -> Drive {
    let mut drive = Drive::new(profile);
    drive.fill(0..256);
    drive.flush();
    drive
}

#[test]
fn a_coarse_map_reads_and_writes_a_whole_unit_for_every_part_of_one() {
    let profile = coarse();
    let unit = profile.mapping.unit;
    let merged = arrival(&profile, PAGE) + profile.nand.read_time + channel(&profile, unit);
    let mut drive = with_data(profile.clone());
    for page in [0, 5, 11] {
        let alone = drive.amplification(|drive| {
            drive.idle(Nanos::from_secs(1));
            assert_eq!(drive.write(page), merged, "page {page}");
        });
        assert_eq!(alone, 4.0);
    }
    let whole = drive.amplification(|drive| {
        drive.idle(Nanos::from_secs(1));
        assert_eq!(drive.time(write(4, 4)), arrival(&profile, unit));
    });
    assert_eq!(whole, 1.0);
    let mut random = dice(1);
    let amplification = drive.amplification(|drive| drive.overwrite(2000, || random(256)));
    assert_eq!(amplification, 4.0);
}

#[test]
fn a_buffer_that_holds_sectors_does_not_wait_for_the_rest_of_a_page() {
    let sector = Bytes(512);
    let times = |merges_later| {
        let mut profile = tiny();
        profile.write_buffer.merges_later = merges_later;
        let mut drive = with_data(profile);
        drive.idle(Nanos::from_secs(1));
        let written = drive.time(Io::write(PAGE * 5, sector));
        // Both have kept the die busy that holds the page.
        (written, drive.read(37))
    };
    let (arrived, read) = (arrival(&tiny(), sector), tiny().nand.read_time);
    let (first, behind) = (times(false), times(true));
    assert_eq!(first.0, arrived + read + channel(&tiny(), PAGE));
    assert_eq!(behind.0, arrived);
    assert_eq!(first.1, mapped_read(&tiny()));
    assert!(behind.1 > first.1, "{} behind a read under way, {} otherwise", behind.1, first.1);
}

#[test]
fn a_fine_map_writes_single_pages() {
    let mut drive = with_data(tiny());
    drive.idle(Nanos::from_secs(1));
    assert_eq!(drive.write(5), arrival(&tiny(), PAGE));
    drive.flush();
    let mut random = dice(1);
    let amplification = drive.amplification(|drive| drive.overwrite(2000, || random(256)));
    assert_eq!(amplification, 1.0);
}

/// What ships as a drive without RAM of its own fetches the map for reads all over the drive, and
/// the drive that it is made from does not.
#[test]
fn the_drive_without_ram_that_ships_reads_the_map_from_nand() {
    let far_apart = |name: &str| {
        let profile = load(name).unwrap().into_ssd().unwrap();
        let unmapped = unmapped_read(&profile, PAGE);
        let step = profile.identity.capacity.0 / PAGE.0 / 100;
        let mut drive = Drive::new(profile);
        (0..100).filter(|n| drive.read(n * step) > unmapped).count()
    };
    assert_eq!(far_apart("generic-dramless"), 100);
    assert_eq!(far_apart("generic-nvme-tlc-1tb"), 0);
}

/// `tiny` with RAM for so many pages of the map; each has 2048 entries.
fn with_map_pages(count: u64) -> SsdProfile {
    let mut profile = tiny();
    profile.mapping.cache = Some(profile.nand.page_size * count);
    profile
}

/// The first page of the host's that map page `nth` leads to.
fn under(nth: u64) -> u64 {
    nth * tiny().nand.page_size.0 / 4
}

#[test]
fn an_entry_that_is_not_in_ram_is_fetched_from_nand() {
    let profile = with_map_pages(2);
    let hit = unmapped_read(&profile, PAGE);
    let miss = hit + profile.nand.read_time + channel(&profile, PAGE) * 2;
    let mut drive = Drive::new(profile);
    for (map_page, expected) in [(0, miss), (0, hit), (1, miss), (0, hit), (1, hit), (2, miss)] {
        assert_eq!(drive.read(under(map_page) + 7), expected, "map page {map_page}");
    }
    let mut flat = Drive::new(tiny());
    assert_eq!(flat.read(under(2)), hit);
}

#[test]
fn a_map_in_the_hosts_memory_takes_its_time_to_look_into() {
    let mut profile = with_map_pages(2);
    profile.mapping.cache_time = Nanos::from_micros(3);
    let flat = unmapped_read(&profile, PAGE);
    let fetch = profile.nand.read_time + channel(&profile, PAGE) * 2;
    let mut drive = Drive::new(profile.clone());
    // What is fetched from NAND is there; what is found again was asked of the host.
    let found = flat + profile.mapping.cache_time;
    assert_eq!(
        [0, 0, 1, 1].map(|page| drive.read(under(page))),
        [flat + fetch, found].repeat(2)[..]
    );
}

#[test]
fn a_larger_map_cache_misses_less() {
    let sweeps = |cached: u64| {
        let mut profile = counting(with_map_pages(cached));
        profile.power.read = COUNT;
        let mut drive = Drive::new(profile);
        for sweep in 0..10 {
            (0..4).for_each(|map_page| assert!(drive.read(under(map_page) + sweep).0 > 0));
        }
        drive.counted()
    };
    // In a sweep over four pages with room for three, the next one is always the one given up.
    assert_eq!([3, 4, 8].map(sweeps), [40, 4, 4]);
}

#[test]
fn changed_entries_are_written_to_nand_when_others_need_their_place() {
    let of_planes = |planes: u32, cache: Option<u64>| {
        let mut profile = cache.map_or(tiny(), with_map_pages);
        profile.nand.planes = planes;
        let mut drive = Drive::new(profile);
        drive.amplification(|drive| {
            for index in 0..400 {
                drive.write(under(index % 4) + index / 4);
            }
        })
    };
    // Half a program of data each, and in a cache of two pages a whole one of the map each time
    // except for the first two.
    assert_eq!(of_planes(1, Some(2)), (200.0 + 398.0) / 200.0);
    // A program has a page of each plane: a quarter of data, and half a one of the map.
    assert_eq!(of_planes(2, Some(2)), (100.0 + 199.0) / 100.0);
    assert_eq!(of_planes(1, Some(4)), 1.0);
    assert_eq!(of_planes(1, None), 1.0);
}
