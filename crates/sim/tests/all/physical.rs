//! Every drive of the catalogue could be built: its NAND is as fast as NAND of its kind is, and in
//! the steady state its firmware does not keep its dies as busy as no real one does.
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Device, DeviceTime, Io, Nanos, Telemetry};
use writecliff_sim::{MappingKind, SlcKind, Ssd, SsdProfile, catalogue, load};

/// What data sheets and papers say of a kind of NAND, in microseconds: reading a page, programming
/// one (the mean over the pages of a cell), erasing a block.
struct Bounds {
    kind: &'static str,
    read: RangeInclusive<u64>,
    program: RangeInclusive<u64>,
    erase: RangeInclusive<u64>,
}

/// The first whose `kind` is in the NAND's name.
///
/// SLC: Micron MT29F2G08AAC to MT29F16G08ABACA, 25 to 35, 160 to 350, 700 to 3,000 us. MLC: Micron
/// MT29F8G08MAA (50 nm; 50, 650, 2,000 us), MT29F64G08CBAAA (25 nm; 50, 1,300, 3,000 us),
/// MT29F128G08CBECB (115, 1,600, 3,000 us); of Micron's L95B an upper page was measured to take
/// 2,300 us (FEMU). 3D: a TLC die read in 70 us and programmed in 700 us a page (py_ssd_sim);
/// V-NAND of 2014 writes 50 MB/s a die (ISSCC 2014, 19.5). TLC: 75 us, 900 to 1,350 us, 4,500 us
/// (AnandTech's "TLC refresher"); by page 56 to 106 us and 2,900 us in the mean (SimpleSSD's paper).
/// 3D QLC: 30 MB/s a die (ISSCC 2020, 13.2), which is 1,090 us for two planes of 16 KiB and 2,185 for
/// four; older dies take twice as long, and reads about twice what TLC's take.
const BOUNDS: [Bounds; 6] = [
    Bounds { kind: "SLC", read: 20..=35, program: 160..=350, erase: 700..=3_000 },
    Bounds { kind: "3D QLC", read: 60..=170, program: 1_000..=4_500, erase: 3_000..=15_000 },
    Bounds { kind: "V-NAND", read: 35..=90, program: 300..=900, erase: 3_000..=10_000 },
    Bounds { kind: "3D", read: 45..=90, program: 300..=900, erase: 3_000..=10_000 },
    Bounds { kind: "TLC", read: 50..=106, program: 820..=2_950, erase: 3_000..=4_500 },
    Bounds { kind: "MLC", read: 48..=115, program: 600..=2_300, erase: 2_000..=3_500 },
];
/// A page of a cell used with one bit is programmed like SLC: 200 to 300 us (same table), and 160 us
/// by the fastest of the data sheets above.
const SLC_MODE: RangeInclusive<u64> = 160..=350;
/// ONFI 3 and Toggle 2.0: 400 MT/s of a byte; a PCIe drive of today has interfaces of 1,600 MT/s.
const CHANNEL_SATA: u64 = 400_000_000;
const CHANNEL_NVME: u64 = 1_600_000_000;
/// Dies that program, as a share of their time. Drives whose steady state is published run well
/// below what their dies could do; more than this is no firmware's doing.
const BUSY_MOST: f64 = 0.75;

/// Drives of the catalogue that stand for a real one, or a kind of real ones.
fn drives() -> Vec<(&'static str, SsdProfile)> {
    let real = catalogue().into_iter().filter(|name| *name != "tiny");
    real.filter_map(|name| Some((name, load(name).unwrap().into_ssd()?))).collect()
}

#[test]
fn every_drive_has_nand_that_there_is() {
    let mut wrong = Vec::new();
    // Where a unit of the map is larger than a page, all dies of a channel are modelled as one.
    let is_single = |(_, profile): &(&str, SsdProfile)| !profile.nand.name.contains("in step");
    for (name, SsdProfile { link, nand, slc_buffer, .. }) in drives().into_iter().filter(is_single)
    {
        let Some(bounds) = BOUNDS.iter().find(|bounds| nand.name.contains(bounds.kind)) else {
            wrong.push(format!("{name}: '{}' does not say what kind of NAND it is", nand.name));
            continue;
        };
        let times = &nand.program_time.0;
        let program = Nanos(times.iter().map(|time| time.0).sum::<u64>() / times.len() as u64);
        let mut check = |what: &str, time: Nanos, range: &RangeInclusive<u64>| {
            if !range.contains(&(time.0 / 1000)) {
                wrong.push(format!(
                    "{name}: {what} {} of {}, not {range:?} us",
                    time.exact(),
                    nand.name
                ));
            }
        };
        check("read_time", nand.read_time, &bounds.read);
        check("program_time", program, &bounds.program);
        check("erase_time", nand.erase_time, &bounds.erase);
        if slc_buffer.kind == SlcKind::Fixed {
            check("slc_buffer.program_time", slc_buffer.program_time, &SLC_MODE);
        }
        let most = if link.interface.contains("SATA") { CHANNEL_SATA } else { CHANNEL_NVME };
        if nand.channel_throughput.0 > most {
            wrong.push(format!("{name}: channels of {}", nand.channel_throughput));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_drive_keeps_user_data_in_more_ram_than_it_has() {
    for (name, profile) in drives() {
        // One without has the controller's own, and the host's.
        if let Some(dram) = profile.identity.dram.filter(|dram| *dram > Bytes::ZERO) {
            assert!(profile.write_buffer.size <= dram, "{name}");
            assert!(profile.mapping.cache.is_none_or(|cache| cache <= dram), "{name}");
        }
    }
}

/// The drive with blocks of fewer pages, and fewer of them: its spare area, in superblocks and in
/// shares, and the shares of time that programs and erases take stay what they are.
fn smaller(mut profile: SsdProfile) -> SsdProfile {
    const BLOCKS: u32 = 384;
    let nand = &mut profile.nand;
    let pages = nand.pages_per_block.min(4);
    let blocks = nand.blocks_per_plane.min(BLOCKS);
    let times = f64::from(blocks) / f64::from(nand.blocks_per_plane);
    let scaled = |count: u32| (f64::from(count) * times).round() as u32;
    let shrunk = times * f64::from(pages) / f64::from(nand.pages_per_block);
    nand.erase_time = Nanos(nand.erase_time.0 * u64::from(pages) / u64::from(nand.pages_per_block));
    (nand.blocks_per_plane, nand.pages_per_block) = (blocks, pages);
    nand.blocks_reserved_per_plane = scaled(nand.blocks_reserved_per_plane);
    nand.factory_bad_blocks = scaled(nand.factory_bad_blocks);
    profile.slc_buffer.size = Bytes((profile.slc_buffer.size.0 as f64 * shrunk) as u64);
    if profile.slc_buffer.kind == SlcKind::Fixed {
        profile.slc_buffer.size = profile.slc_buffer.size.max(Bytes::from_mib(1));
    }
    let unit = profile.mapping.unit.0;
    let capacity = profile.identity.capacity.0 as f64 * shrunk / unit as f64;
    profile.identity.capacity = Bytes(capacity as u64 * unit);
    let gc = &mut profile.gc;
    gc.free_low = scaled(gc.free_low).max(2);
    gc.free_high = scaled(gc.free_high).max(gc.free_low + 2);
    gc.idle_free = scaled(gc.idle_free);
    profile
}

/// A drive long after it was full, with a share of it never written.
struct Worn {
    ssd: Ssd,
    random: Xoshiro256PlusPlus,
    pages: u64,
    unit: Bytes,
}

impl Worn {
    fn new(profile: &SsdProfile, spare: f64) -> Self {
        let unit = profile.mapping.unit;
        let pages = (profile.identity.capacity.0 as f64 / unit.0 as f64 * (1.0 - spare)) as u64;
        let mut ssd = Ssd::new(profile.clone(), "sim:smaller");
        let mut in_order = (0..pages).map(|page| Io::write(unit * page, unit));
        keep_deep(&mut ssd, &mut in_order, |_| {});
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut drive = Self { ssd, random, pages, unit };
        drive.write_anywhere(pages, |_| {});
        drive
    }

    /// 4 KiB anywhere at queue depth 32; `watch` is told when each is complete.
    fn write_anywhere(&mut self, count: u64, watch: impl FnMut(DeviceTime)) {
        let (unit, pages, random) = (self.unit, self.pages, &mut self.random);
        let mut ios = (0..count).map(|_| Io::write(unit * (random.next_u64() % pages), unit));
        keep_deep(&mut self.ssd, &mut ios, watch);
    }
}

/// The share of their time that the dies program, and the write amplification.
fn programs(profile: &SsdProfile) -> (f64, f64) {
    let mut drive = Worn::new(profile, 0.0);
    let (start, before) = (drive.ssd.now(), drive.ssd.telemetry());
    drive.write_anywhere(drive.pages / 3, |_| {});
    let (after, took) = (drive.ssd.telemetry(), (drive.ssd.now() - start).as_secs_f64());
    let written = |of: fn(&Telemetry) -> Option<Bytes>| {
        (of(&after).unwrap().0 - of(&before).unwrap().0) as f64
    };
    let (nand, host) = (written(|t| t.nand_written), written(|t| t.host_written));
    let times = &profile.nand.program_time.0;
    let program = times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / times.len() as f64;
    let busy = nand / profile.program_size().0 as f64 * program;
    (busy / took / f64::from(profile.dies()), nand / host)
}

/// The slowest second, as a share of the mean of all.
fn steadiness(profile: &SsdProfile, spare: f64) -> f64 {
    let mut drive = Worn::new(profile, spare);
    let (start, mut seconds) = (drive.ssd.now(), Vec::new());
    // A fast one of this size is written in less than a second.
    while drive.ssd.now() - start < Nanos::from_secs(4) {
        drive.write_anywhere(drive.pages / 2, |completed| {
            let second = ((completed - start).0 / 1_000_000_000) as usize;
            seconds.resize(seconds.len().max(second + 1), 0.0_f64);
            seconds[second] += 1.0;
        });
    }
    seconds.pop(); // not whole
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    seconds.into_iter().fold(f64::INFINITY, f64::min) / mean
}

fn keep_deep(ssd: &mut Ssd, ios: &mut impl Iterator<Item = Io>, mut watch: impl FnMut(DeviceTime)) {
    let depth = ssd.info().queue_depth_max.min(32);
    let mut done = Vec::new();
    let mut in_flight = 0;
    loop {
        let batch: Vec<Io> = ios.take(depth - in_flight).collect();
        in_flight += batch.len();
        if in_flight == 0 {
            return;
        }
        ssd.submit(&batch).unwrap();
        done.clear();
        ssd.reap(DeviceTime::MAX, &mut done).unwrap();
        in_flight -= done.len();
        done.iter().for_each(|completion| watch(completion.completed));
    }
}

#[test]
fn no_drive_s_dies_program_all_the_time_in_the_steady_state() {
    // Of those with several dies modelled as one, it is not the dies that would be counted.
    let is_counted = |(_, p): &(&str, SsdProfile)| {
        p.mapping.kind == MappingKind::Page && !p.nand.name.contains("in step")
    };
    let mapped = drives().into_iter().filter(is_counted);
    let mut drives: Vec<(&str, SsdProfile)> = Vec::new();
    for (name, profile) in mapped {
        let profile = smaller(profile);
        // Many differ in their box and their cables only.
        let is_alike = |(_, other): &(&str, SsdProfile)| {
            (&other.nand, &other.gc, &other.firmware, &other.slc_buffer)
                == (&profile.nand, &profile.gc, &profile.firmware, &profile.slc_buffer)
        };
        if !drives.iter().any(is_alike) {
            drives.push((name, profile));
        }
    }
    let busy = on_all_processors(&drives, |(name, profile)| {
        let (busy, amplification) = programs(profile);
        println!("{name}: programs {busy:.2} of the time, amplification {amplification:.1}");
        (*name, busy)
    });
    let too_busy: Vec<_> = busy.into_iter().filter(|(_, busy)| *busy > BUSY_MOST).collect();
    assert!(too_busy.is_empty(), "dies program more than {BUSY_MOST} of the time: {too_busy:?}");
}

/// Drives whose seconds reviewers saw on two levels: they collect in bursts.
const IN_BURSTS: [&str; 2] = ["samsung-840-pro-256gb", "crucial-m4-256gb"];

#[test]
fn more_spare_area_makes_no_drive_less_steady() {
    let is_a_base =
        |name: &str| !drive_file(name).contains("inherits =") && !IN_BURSTS.contains(&name);
    let bases = drives().into_iter().filter(|(name, profile)| {
        is_a_base(name) && profile.mapping.kind == MappingKind::Page && profile.spare_area() > 0.05
    });
    let drives: Vec<_> = bases.map(|(name, profile)| (name, smaller(profile))).collect();
    let shares = on_all_processors(&drives, |(name, profile)| {
        let shares = [0.0, 0.1, 0.25].map(|spare| steadiness(profile, spare));
        println!("{name}: slowest second over mean with 0, 10 and 25 % spare: {shares:.2?}");
        (*name, shares)
    });
    for (name, [none, some, much]) in shares {
        assert!(some > 0.9 * none && much > 0.9 * none, "{name}: {none:.2} {some:.2} {much:.2}");
    }
}

fn drive_file(name: &str) -> String {
    let drives = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
    std::fs::read_to_string(format!("{drives}/{name}.toml")).unwrap()
}

fn on_all_processors<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(one);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}
