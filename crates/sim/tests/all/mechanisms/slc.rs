//! The SLC buffer: how much goes through it, what it takes, when it is emptied.

use writecliff_sim::{SlcBuffer, SlcKind};

use crate::mechanisms::*;

/// 8 MiB in 16 superblocks of two bits a cell. Its programs take a sixth of the time.
fn buffered(kind: SlcKind) -> SsdProfile {
    let mut profile = counting(tiny());
    profile.power.slc_program = COUNT;
    profile.identity.capacity = Bytes::from_mib(200);
    profile.slc_buffer = SlcBuffer {
        kind,
        size: Bytes::from_mib(8),
        bits_per_cell: 2,
        read_time: Nanos::from_micros(20),
        program_time: Nanos::from_micros(100),
        erase_time: Nanos::from_millis(2),
        drain_after: Nanos::from_secs(1),
        free_min: 20,
        ..SlcBuffer::default()
    };
    profile
}

impl Drive {
    /// Writes so many MiB in order; returns how many KiB of them went to the SLC buffer.
    fn write_mib(&mut self, first: u64, count: u64) -> u64 {
        let before = self.counted();
        self.fill(first * PAGES_PER_MIB..(first + count) * PAGES_PER_MIB);
        self.flush();
        (self.counted() - before) * self.profile.program_size().0 / 1024
    }
}

#[test]
fn a_fixed_buffer_takes_exactly_its_size_and_then_there_is_a_cliff() {
    let mut drive = Drive::new(buffered(SlcKind::Fixed));
    let mut megabytes_per_second = |mib: u64| {
        let start = drive.ssd.now();
        drive.fill(mib * PAGES_PER_MIB..(mib + 1) * PAGES_PER_MIB);
        drive.flush();
        rate(Bytes(MIB), drive.ssd.now() - start) / 1e6
    };
    let rates: Vec<f64> = (0..12).map(&mut megabytes_per_second).collect();
    let array = |program: Nanos| rate(tiny().program_size() * 4, program) / 1e6;
    let (slc, native) = (array(Nanos::from_micros(100)), array(tiny().nand.program_time.mean()));
    for (mib, rate) in rates.iter().enumerate() {
        // A flush after each MiB leaves the dies idle for a moment.
        assert_close(*rate, if mib < 8 { slc } else { native }, 0.15);
    }
    assert_eq!(drive.counted() * 8, 8 * 1024);
    let mut without = Drive::new(SsdProfile { slc_buffer: SlcBuffer::default(), ..drive.profile });
    assert_eq!(without.write_mib(0, 12), 0);
}

#[test]
fn a_fixed_buffer_costs_spare_area_and_a_dynamic_one_does_not() {
    let usable = |kind| buffered(kind).usable_capacity();
    assert_eq!(usable(SlcKind::Fixed) + Bytes::from_mib(16), usable(SlcKind::None));
    assert_eq!(usable(SlcKind::Dynamic), usable(SlcKind::None));
}

#[test]
fn data_in_the_buffer_are_read_in_its_time() {
    for (kind, nand) in
        [(SlcKind::Fixed, Nanos::from_micros(20)), (SlcKind::None, tiny().nand.read_time)]
    {
        let mut drive = Drive::new(buffered(kind));
        drive.fill(0..32);
        drive.flush();
        let expected = unmapped_read(&tiny(), PAGE) + nand + channel(&tiny(), PAGE);
        assert_eq!(drive.read(3), expected);
    }
}

#[test]
fn the_buffer_is_emptied_in_idle_time_and_not_before() {
    for (rest, again) in [(900, 0), (3000, 8 * 1024)] {
        let mut drive = Drive::new(buffered(SlcKind::Fixed));
        assert_eq!(drive.write_mib(0, 8), 8 * 1024);
        let (programs, erases) = (drive.programs(), drive.erases());
        drive.idle(Nanos::from_millis(rest));
        // The data are programmed once more, and 16 superblocks erased.
        let drained = if again == 0 { (0, 0) } else { (1024, 16) };
        assert_eq!((drive.programs() - programs, drive.erases() - erases), drained);
        assert_eq!(drive.write_mib(8, 10), again, "after {rest} ms");
        assert!((0..8).all(|mib| drive.perform(read(mib * 256, 1)).status == Status::Done));
    }
}

#[test]
fn an_emptied_buffer_is_used_at_once_though_a_native_superblock_is_open() {
    let mut drive = Drive::new(buffered(SlcKind::Fixed));
    drive.write_mib(0, 8);
    // A quarter of a native superblock, in the middle of a program.
    drive.fill(8 * PAGES_PER_MIB..8 * PAGES_PER_MIB + 65);
    drive.idle(Nanos::from_secs(3));
    assert_eq!(drive.write_mib(16, 10), 8 * 1024);
    assert!(
        (0..65).all(|page| drive.perform(read(8 * PAGES_PER_MIB + page, 1)).status == Status::Done)
    );
}

#[test]
fn a_buffer_drained_under_load_takes_its_share_of_the_load() {
    // Each page past it moves `quantum` pages out, which makes room for as many.
    for (quantum, share) in [(0, 0.0), (1, 0.5), (3, 0.75)] {
        let mut profile = buffered(SlcKind::Fixed);
        profile.slc_buffer.drain_quantum = quantum;
        profile.slc_buffer.drain_after = Nanos::from_secs(100);
        let mut drive = Drive::new(profile);
        drive.write_mib(0, 8);
        let buffered = drive.write_mib(8, 96) as f64 / (96.0 * 1024.0);
        assert!((buffered - share).abs() < 0.04, "{buffered} of the load, quantum {quantum}");
    }
}

#[test]
fn fewer_dies_drain_it_more_slowly() {
    let pages_after_two_seconds = |drain_dies| {
        let mut profile = buffered(SlcKind::Fixed);
        profile.slc_buffer.drain_dies = drain_dies;
        let mut drive = Drive::new(profile);
        drive.write_mib(0, 8);
        let before = drive.programs();
        drive.idle(Nanos::from_millis(1100));
        drive.programs() - before
    };
    let [one, two] = [1, 2].map(pages_after_two_seconds);
    // One after the other, in 100 ms: two pages read from SLC and programmed, and an erase for
    // every 64 such programs.
    let profile = buffered(SlcKind::Fixed);
    let step = Nanos::from_micros(20) + channel(&profile, PAGE * 2) + program(&profile);
    let with_erase = step.as_secs_f64() + 2e-3 / 64.0;
    assert_close(one as f64, 0.1 / with_erase, 0.03);
    assert_close(two as f64, 2.0 * one as f64, 0.1);
}

#[test]
fn a_dynamic_buffer_has_what_is_free() {
    // Data in native superblocks leave so many free; each but the last `free_min` takes half a MiB.
    for filled in [0, 100, 190] {
        let mut profile = buffered(SlcKind::Dynamic);
        profile.slc_buffer.size = Bytes::from_mib(64);
        let mut drive = Drive::new(profile);
        for mib in (0..filled).step_by(10) {
            drive.write_mib(mib, 10);
            drive.idle(Nanos::from_secs(10));
        }
        let free = drive.free();
        assert!(free.abs_diff(256 - filled) <= 2, "{free} free after {filled} MiB");
        let room = ((free - 20) * 512).min(64 * 1024);
        let taken = drive.write_mib(0, 80);
        assert!(taken.abs_diff(room) <= 512, "{taken} KiB of {room}");
    }
}

#[test]
fn a_dynamic_buffer_is_passed_by_when_little_is_free() {
    let mut profile = buffered(SlcKind::Dynamic);
    profile.slc_buffer.free_min = 250;
    let mut drive = Drive::new(profile);
    assert_eq!(drive.write_mib(0, 20), 6 * 512);
}
