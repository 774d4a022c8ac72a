//! Small random disks under small random loads; and one of them for the other unit tests.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Device, DeviceTime, Io, Nanos, Operation, Throughput};
use writecliff_profile::{
    DiskCache, DiskProfile, DiskQueue, Identity, Link, Mechanics, Origin, QueueOrdering, Zones,
};

use super::Disk;

/// A disk of no maker with 16 MB in four zones.
pub(super) fn small() -> DiskProfile {
    DiskProfile {
        identity: Identity {
            model: "Small".to_owned(),
            capacity: Bytes(32_000 * 512),
            form_factor: "none".to_owned(),
            note: "No real disk.".to_owned(),
            ..Identity::default()
        },
        link: Link {
            interface: "none".to_owned(),
            queue_depth: 32,
            read_throughput: Throughput(300_000_000),
            write_throughput: Throughput(300_000_000),
            command_time: Nanos::from_micros(100),
            sleep: Vec::new(),
        },
        mechanics: Mechanics {
            rpm: 7200,
            track_to_track: Nanos::from_micros(900),
            average_seek: Nanos::from_micros(8900),
            full_stroke: Nanos::from_millis(21),
            write_settle: Nanos::from_micros(500),
            track_switch: Nanos::from_micros(700),
        },
        zones: Zones { count: 4, tracks: 401, outer_sectors: 101, inner_sectors: 61 },
        cache: DiskCache {
            size: Bytes::from_mib(1),
            write_back: true,
            write_segments: 16,
            read_ahead: Bytes::from_kib(256),
        },
        queue: DiskQueue { ordering: QueueOrdering::ShortestAccessTime, destage_window: 8 },
        origin: Origin::default(),
    }
}

/// A number from `least` to `most`.
fn between(random: &mut Xoshiro256PlusPlus, least: u64, most: u64) -> u64 {
    least + random.next_u64() % (most - least + 1)
}

fn random_profile(random: &mut Xoshiro256PlusPlus) -> DiskProfile {
    let mut profile = small();
    profile.zones.count = between(random, 1, 9) as u32;
    profile.zones.tracks = between(random, 400, 900) as u32;
    profile.mechanics.rpm = between(random, 3600, 15_000) as u32;
    profile.mechanics.track_switch = Nanos(between(random, 0, 20_000_000));
    profile.identity.capacity = profile.zones.raw_capacity();
    profile.link.command_time = Nanos(between(random, 0, 1_000_000));
    profile.cache.write_back = !random.next_u64().is_multiple_of(4);
    profile.cache.write_segments = between(random, 1, 32) as u32;
    profile.cache.size = Bytes(between(random, 4096 * 32, 1 << 20));
    profile.cache.read_ahead = Bytes(between(random, 0, profile.cache.size.0));
    profile.queue.destage_window = between(random, 1, 40) as u32;
    if random.next_u64().is_multiple_of(3) {
        profile.queue.ordering = QueueOrdering::Fifo;
    }
    profile
}

/// Anything: half of it near the disk's start, so that ranges meet; some of it long.
fn random_io(random: &mut Xoshiro256PlusPlus, capacity: Bytes) -> Io {
    let sectors = capacity.0 / 512;
    let span = if random.next_u64().is_multiple_of(2) { 500 } else { sectors };
    let start = between(random, 0, span - 1);
    let longest = if random.next_u64().is_multiple_of(16) { 8000 } else { 40 };
    let length = between(random, 1, longest.min(sectors - start));
    let (offset, length) = (Bytes(start * 512), Bytes(length * 512));
    match random.next_u64() % 40 {
        0 => Io::flush(),
        1 => Io::trim(offset, length),
        2..15 => Io::read(offset, length),
        _ => Io::write(offset, length),
    }
}

/// Keeps up to 32 I/Os in flight, with pauses, and checks the state after every reap.
fn load(disk: &mut Disk, random: &mut Xoshiro256PlusPlus, count: usize) {
    let capacity = disk.info().capacity;
    let (mut submitted, mut done) = (0, Vec::new());
    while done.len() < count {
        let room = 32 - (submitted - done.len());
        let wanted = between(random, 0, room as u64) as usize;
        let batch: Vec<Io> = (0..wanted).map(|_| random_io(random, capacity)).collect();
        disk.submit(&batch).unwrap();
        submitted += batch.len();
        let until = disk.now() + Nanos(between(random, 0, 30_000_000));
        disk.reap(until, &mut done).unwrap();
        disk.cache.check();
    }
    while done.len() < submitted {
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
    }
    assert!(done.is_sorted_by_key(|completion| completion.completed));
    let fastest = |io: &Io| match io.operation {
        Operation::Read => disk.profile.link.read_throughput.time_for(io.length),
        Operation::Write => disk.profile.link.write_throughput.time_for(io.length),
        _ => Nanos::ZERO,
    };
    let command = disk.profile.link.command_time;
    for completion in &done {
        assert!(completion.service_time() >= command + fastest(&completion.io), "{completion:?}");
    }
}

#[test]
fn random_disks_keep_their_promises() {
    for seed in 0..200 {
        println!("seed {seed}");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let profile = random_profile(&mut random);
        assert_eq!(profile.impossibility(), None);
        let mut disk = Disk::new(profile, "sim:random");
        load(&mut disk, &mut random, 300);
        disk.submit(&[Io::flush()]).unwrap();
        let mut done = Vec::new();
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
        assert!(done.len() == 1 && disk.cache.is_clean(), "{done:?}");
        assert!(disk.next_event().is_none() && disk.waiting.is_empty() && disk.in_flight == 0);
    }
}

#[test]
fn a_disk_survives_the_end_of_time() {
    let mut disk = Disk::new(small(), "sim:end");
    let mut done = Vec::new();
    for io in [Io::write(Bytes(0), Bytes(4096)), Io::read(Bytes(1 << 20), Bytes(4096)), Io::flush()]
    {
        disk.submit(&[io]).unwrap();
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
    }
    assert_eq!(done.len(), 3);
}
