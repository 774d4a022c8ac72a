//! The flash: program times, planes, channels, suspension, bad blocks.

use writecliff_device::{Io, Nanos, Operation, Throughput};
use writecliff_sim::{ProfileError, ProgramTime, load_file};

use crate::mechanisms::*;

/// Of a drive whose write buffer is full: a read overtakes the writes that wait for room, and where
/// commands are taken in order it waits as long as they do.
#[test]
fn a_read_waits_for_room_in_the_buffer_where_commands_are_in_order() {
    let waits = |in_order: bool| {
        let mut profile = one_die(16);
        profile.firmware.in_order = in_order;
        profile.write_buffer.size = PAGE * 4;
        // A read that meets a program hardly waits for it.
        profile.nand.suspend_time = Some(Nanos(1000));
        let mut drive = Drive::new(profile);
        drive.fill(0..100);
        drive.flush();
        let start = drive.ssd.now().0;
        let mut ios: Vec<Io> = (0..31).map(|page| write(1000 + page, 1)).collect();
        ios.push(read(3, 1));
        let done = drive.together(&ios);
        let read = done.iter().find(|done| done.io.operation == Operation::Read).unwrap();
        let last_write = done.iter().map(|done| done.completed).max().unwrap();
        (read.completed.0 - start, last_write.0 - start)
    };
    let (overtakes, writes) = waits(false);
    assert!(overtakes * 2 < writes, "{overtakes} of {writes}");
    let (waited, writes) = waits(true);
    assert!(waited * 3 > writes * 2, "{waited} of {writes}");
}

const MS: Nanos = Nanos::from_millis(1);

#[test]
fn the_pages_of_a_cell_take_their_program_times_in_turn() {
    let service_times = |times: &[u64]| {
        let mut profile = write_through(one_die(32));
        let times = times.iter().map(|micros| Nanos::from_micros(*micros)).collect();
        profile.nand.program_time = ProgramTime(times);
        let base = arrival(&profile, PAGE) + channel(&profile, profile.program_size());
        let mut drive = Drive::new(profile);
        (0..6).map(|page| (drive.write(page).0 - base.0) / 1000).collect::<Vec<_>>()
    };
    assert_eq!(service_times(&[300, 700, 1300]), [300, 700, 1300, 300, 700, 1300]);
    assert_eq!(service_times(&[500, 2100]), [500, 2100, 500, 2100, 500, 2100]);
    assert_eq!(service_times(&[800]), [800; 6]);
}

#[test]
fn planes_work_together_or_one_after_the_other() {
    for (multi_plane, turns) in [(true, 1), (false, 4)] {
        let mut profile = write_through(one_die(64));
        profile.nand.planes = 4;
        profile.nand.multi_plane = multi_plane;
        let size = profile.program_size();
        let mut drive = Drive::new(profile.clone());
        let parts = arrival(&profile, size)
            + channel(&profile, size)
            + profile.nand.program_time.mean() * turns;
        assert_eq!(drive.time(Io::write(Bytes::ZERO, size)), parts);
        assert_eq!(drive.purge(), profile.nand.erase_time * turns);
    }
}

/// MB/s of long sequential writes.
fn sequential_rate(profile: SsdProfile) -> f64 {
    let mut drive = Drive::new(profile);
    let mut next = (0..).map(|index| write(index * 32, 32));
    let span = kept_deep(&mut drive, 8, 1000, || next.next().unwrap());
    rate(PAGE * 32 * 1000, span)
}

#[test]
fn planes_multiply_the_array_rate() {
    let array_rate = |multi_plane| {
        let mut profile = tiny();
        profile.nand.planes = 2;
        profile.nand.blocks_per_plane = 128;
        profile.nand.multi_plane = multi_plane;
        sequential_rate(profile)
    };
    let profile = tiny();
    let dies = f64::from(profile.dies());
    let plane = rate(profile.nand.page_size, profile.nand.program_time.mean());
    assert_close(array_rate(false), dies * plane, 0.02);
    assert_close(array_rate(true), dies * 2.0 * plane, 0.02);
}

/// Service times of four reads at once, from one program of a die with four planes.
fn reads_of_one_die(independent: bool, pages: [u64; 4]) -> Vec<Nanos> {
    let mut profile = one_die(64);
    profile.nand.planes = 4;
    profile.nand.independent_reads = independent;
    // Neither the channel nor the host takes time to speak of.
    profile.nand.channel_throughput = Throughput(4_000_000_000_000);
    profile.link.read_throughput = Throughput(4_000_000_000_000);
    (profile.link.command_time, profile.firmware.read_time) = (Nanos::ZERO, Nanos::ZERO);
    let mut drive = Drive::new(profile);
    drive.fill(0..8);
    drive.flush();
    let done = drive.together(&pages.map(|page| read(page, 1)));
    let base = drive.profile.nand.read_time;
    done.iter().map(|done| Nanos(done.service_time().0 / base.0 * base.0)).collect()
}

#[test]
fn planes_read_by_themselves_or_a_die_reads_one_program_at_a_time() {
    let senses = |independent, pages| {
        let base = tiny().nand.read_time.0;
        let times = reads_of_one_die(independent, pages);
        times.iter().map(|time| time.0 / base).collect::<Vec<_>>()
    };
    // Two mapping units to a page, so pages 0, 2, 4, 6 lie on the four planes.
    assert_eq!(senses(false, [0, 2, 4, 6]), [1, 2, 3, 4]);
    assert_eq!(senses(true, [0, 2, 4, 6]), [1, 1, 1, 1]);
    assert_eq!(senses(true, [0, 1, 2, 3]), [1, 1, 2, 2]);
    assert_eq!(senses(true, [0, 1, 0, 1]), [1, 2, 3, 4]);
}

#[test]
fn slow_channels_bound_the_drive_and_more_of_them_help() {
    for (channels, dies_per_channel) in [(1, 4), (2, 2), (4, 1)] {
        let mut profile = tiny();
        profile.nand.channels = channels;
        profile.nand.dies_per_channel = dies_per_channel;
        profile.nand.channel_throughput = Throughput(10_000_000);
        assert_close(sequential_rate(profile), f64::from(channels) * 1e7, 0.02);
    }
    assert!(sequential_rate(tiny()) > 5e7, "fast channels are no bound");
}

/// The service time of a read that comes while the drive's only die programs, and how long the
/// program was still to run.
fn read_during_program(suspend: Option<Nanos>, pulse: Option<Nanos>) -> (Nanos, Nanos) {
    let mut profile = write_through(one_die(32));
    profile.nand.suspend_time = suspend;
    profile.nand.program_pulse_time = pulse;
    let mut drive = Drive::new(profile.clone());
    drive.write(0);
    let start = drive.ssd.now();
    drive.ssd.submit(&[write(8, 2)]).unwrap();
    drive.idle_until(start + Nanos::from_micros(200));
    drive.ssd.submit(&[read(0, 1)]).unwrap();
    let mut done = Vec::new();
    while done.len() < 2 {
        drive.ssd.reap(DeviceTime::MAX, &mut done).unwrap();
    }
    let read = done.iter().find(|c| c.io == read(0, 1)).unwrap();
    let programmed = start + arrival(&profile, PAGE * 2) + program(&profile);
    (read.service_time(), programmed - (read.submitted + profile.firmware.read_time))
}

#[test]
fn a_read_suspends_a_running_program_or_waits_for_its_end_or_that_of_a_pulse() {
    let alone = mapped_read(&tiny());
    let (waited, left) = read_during_program(None, None);
    assert_eq!(waited, alone + left);
    let suspend = Nanos::from_micros(20);
    assert_eq!(read_during_program(Some(suspend), None).0, alone + suspend);
    // What is nearly done is not worth a suspension.
    assert_eq!(read_during_program(Some(left * 2), None).0, alone + left);
    for pulse in [70, 110].map(Nanos::from_micros) {
        let waited = read_during_program(Some(suspend), Some(pulse)).0;
        assert_eq!(waited, alone + Nanos(left.0 % pulse.0), "the last pulse ends with the program");
    }
}

#[test]
fn a_read_suspends_a_running_erase_or_waits_for_its_end_or_that_of_a_pulse() {
    let (never, soon) = (None, Some(Nanos::from_micros(50)));
    for (suspend, pulse) in [(never, None), (soon, None), (soon, Some(Nanos::from_micros(700)))] {
        let mut profile = one_die(32);
        profile.nand.suspend_time = suspend;
        profile.nand.erase_pulse_time = pulse;
        profile.gc.idle_after = Some(MS * 10);
        let superblock = profile.superblock_size().0 / PAGE.0;
        // One superblock less is free once the first one was overwritten by the third.
        profile.gc.idle_free = profile.nand.blocks_per_plane - 2;
        profile.gc.free_low = 2;
        profile.gc.free_high = 2;
        profile.identity.capacity = profile.superblock_size() * 64;
        let mut drive = Drive::new(profile.clone());
        drive.fill(0..2 * superblock);
        drive.fill(0..superblock);
        drive.flush();
        let idle_since = drive.ssd.now();
        drive.idle_until(idle_since + MS * 11);
        let left = Nanos(profile.nand.erase_time.0 - MS.0 - profile.firmware.read_time.0);
        let of_pulse = pulse.map(|pulse| Nanos(left.0 % pulse.0));
        let wait = of_pulse.or(suspend).unwrap_or(left);
        assert_eq!(drive.read(superblock), mapped_read(&profile) + wait);
        assert_eq!(drive.erases(), 1);
    }
}

#[test]
fn blocks_bad_from_the_factory_take_capacity() {
    let superblocks_lost = |bad: u32| {
        let mut profile = tiny();
        profile.nand.factory_bad_blocks = bad;
        profile.gc.free_low = 2;
        profile.gc.free_high = 2;
        let lost = tiny().usable_capacity().0 - profile.usable_capacity().0;
        let mut drive = Drive::new(profile.clone());
        assert_eq!(256 - drive.free(), lost / profile.superblock_size().0);
        drive.fill(0..drive.pages());
        lost / profile.superblock_size().0
    };
    // The worst of four planes has twice its share of them, rounded up.
    for (bad, lost) in [(0, 0), (1, 1), (2, 1), (3, 2), (8, 4), (58, 29)] {
        assert_eq!(superblocks_lost(bad), lost, "{bad} bad blocks");
    }
}

#[test]
fn too_many_bad_blocks_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.toml");
    let load_with = |bad: u32| {
        let gc = "[gc]\nfree_low = 2\nfree_high = 2\n";
        let text = format!("inherits = \"tiny\"\n{gc}[nand]\nfactory_bad_blocks = {bad}\n");
        std::fs::write(&path, text).unwrap();
        load_file(&path)
    };
    // 32 superblocks are spare and garbage collection needs three of them.
    assert!(load_with(58).is_ok());
    let refused = load_with(59).unwrap_err();
    let is_named = |key: &str, line| (key, line) == ("nand.factory_bad_blocks", 6);
    assert!(
        matches!(&refused, ProfileError::Impossible { key, line, .. } if is_named(key, *line)),
        "{refused}"
    );
}

#[test]
fn what_a_changed_drive_inherits_and_has_no_room_for_is_blamed_on_the_change() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("changed.toml");
    let refused = |base: &str, change: &str| {
        std::fs::write(&path, format!("inherits = \"{base}\"\n{change}\n")).unwrap();
        match load_file(&path) {
            Err(ProfileError::Impossible { key, line, reason, .. }) => (key, line, reason),
            other => panic!("{base}, {change}: {other:?}"),
        }
    };
    let micron = "micron-7450-pro-960gb";
    for (base, change, key, inherited) in [
        (
            "crucial-m550-256gb",
            "[nand]\nblocks_per_plane = 990",
            "nand.blocks_per_plane",
            "gc.idle_free",
        ),
        (
            "samsung-840-evo-120gb",
            "[nand]\nchannels = 4\nblocks_per_plane = 8192",
            "nand.channels",
            "slc_buffer.drain_dies",
        ),
        (micron, "[gc]\nfree_low = 13", "gc.free_low", "gc.free_high"),
        (micron, "[gc]\nfree_low = 12", "gc.free_low", "free_high"),
        (micron, "[firmware]\ncopy_time = \"0ns\"", "firmware.copy_time", "a batch"),
        ("samsung-pm9a3-960gb", "[gc]\npacing = \"eager\"", "gc.pacing", "free superblocks"),
    ] {
        let (blamed, line, reason) = refused(base, change);
        assert_eq!((blamed, line), (key, 3), "{reason}");
        assert!(reason.contains(inherited), "{reason}");
    }
}
