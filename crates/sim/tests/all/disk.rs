//! The disk against its own geometry, against closed forms, and against the two figures that its
//! profiles are fitted to.
use std::ops::ControlFlow;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceTime, Durability, Io, Iops, Nanos, Operation,
    Purge, Status,
};
use writecliff_sim::{Disk, DiskProfile, QueueOrdering};

const PAGE: Bytes = Bytes::from_kib(4);
const CHUNK: Bytes = Bytes::from_kib(128);
const SPAN: Bytes = Bytes::from_gib(8);

fn velociraptor() -> DiskProfile {
    toml::from_str(include_str!("../../../../drives/wd-velociraptor-300gb.toml")).unwrap()
}

fn caviar() -> DiskProfile {
    toml::from_str(include_str!("../../../../drives/wd-caviar-se16-640gb.toml")).unwrap()
}

fn disk(profile: &DiskProfile) -> Disk {
    Disk::new(profile.clone(), "sim:disk")
}

/// What `count` I/Os kept `depth` deep give: I/Os per second and mean service time.
struct Outcome {
    iops: f64,
    mean: f64,
}

fn run(disk: &mut Disk, depth: usize, count: usize, mut next: impl FnMut() -> Io) -> Outcome {
    let start = disk.now();
    let mut done = Vec::new();
    let (mut completed, mut service) = (0, Nanos::ZERO);
    let mut free = depth;
    while completed < count {
        let batch: Vec<Io> = (0..free).map(|_| next()).collect();
        disk.submit(&batch).unwrap();
        done.clear();
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
        free = done.len();
        completed += free;
        done.iter().for_each(|c| service += c.service_time());
    }
    let iops = Iops::over(completed as u64, disk.now() - start).get();
    let mean = service.as_secs_f64() / completed as f64;
    while free < depth {
        done.clear();
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
        free += done.len();
    }
    Outcome { iops, mean }
}

fn perform(disk: &mut Disk, io: Io) -> Completion {
    disk.submit(&[io]).unwrap();
    let mut done = Vec::new();
    disk.reap(DeviceTime::MAX, &mut done).unwrap();
    done[0]
}

fn perform_all(disk: &mut Disk, ios: impl Iterator<Item = Io>) {
    ios.for_each(|io| assert_eq!(perform(disk, io).status, Status::Done));
}

/// Uniformly random pages of a span.
fn random(operation: Operation, span: Bytes, seed: u64) -> impl FnMut() -> Io {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pages = span.0 / PAGE.0;
    move || Io::new(operation, PAGE * (random.next_u64() % pages), PAGE)
}

/// MB/s of a sequential pass over `length` from `start` on, 128 KiB at a time.
fn sequential(
    profile: &DiskProfile,
    operation: Operation,
    depth: usize,
    start: Bytes,
    length: Bytes,
) -> f64 {
    let mut offset = start;
    let outcome = run(&mut disk(profile), depth, (length.0 / CHUNK.0) as usize - depth, || {
        offset += CHUNK;
        Io::new(operation, offset - CHUNK, CHUNK)
    });
    outcome.iops * CHUNK.0 as f64 / 1e6
}

/// The rate of a zone with so many sectors per track, in MB/s.
fn zone_rate(profile: &DiskProfile, sectors: u32) -> f64 {
    let pass = profile.mechanics.revolution() + profile.mechanics.track_switch;
    f64::from(sectors) * 512.0 / pass.as_secs_f64() / 1e6
}

fn assert_near(what: &str, got: f64, expected: f64, tolerance: f64) {
    let error = got / expected - 1.0;
    println!("{what}: {got:.4} against {expected:.4}, {:+.1} %", error * 100.0);
    assert!(error.abs() < tolerance, "{what}: {got} against {expected}");
}

#[test]
fn sequential_rates_are_those_of_the_geometry_at_both_edges() {
    for profile in [velociraptor(), caviar()] {
        let capacity = profile.identity.capacity;
        let length = Bytes::from_gib(2); // the cache takes 16 MiB of the writes
        let inner = Bytes((capacity.0 - length.0) / 4096 * 4096);
        let edges =
            [(Bytes::ZERO, profile.zones.outer_sectors), (inner, profile.zones.inner_sectors)];
        for (start, sectors) in edges {
            let expected = zone_rate(&profile, sectors);
            for (operation, depth) in [
                (Operation::Read, 1),
                (Operation::Read, 8),
                (Operation::Write, 1),
                (Operation::Write, 8),
            ] {
                let got = sequential(&profile, operation, depth, start, length);
                let what = format!("{} {operation:?} QD{depth}", profile.identity.model);
                assert_near(&what, got, expected, 0.02);
            }
        }
    }
}

#[test]
fn a_lone_random_read_takes_seek_half_a_turn_and_its_transfer() {
    for profile in [velociraptor(), caviar()] {
        let reads = random(Operation::Read, profile.identity.capacity, 1);
        let outcome = run(&mut disk(&profile), 1, 20_000, reads);
        let mechanics = &profile.mechanics;
        let half_a_turn = Nanos(mechanics.revolution().0 / 2);
        let parts = profile.link.command_time
            + mechanics.average_seek
            + half_a_turn
            + profile.link.read_throughput.time_for(PAGE);
        assert_near("QD1 random read", outcome.mean, parts.as_secs_f64(), 0.03);
    }
}

#[test]
fn a_deep_queue_helps_only_a_disk_that_chooses_from_it() {
    let iops = |ordering, depth| {
        let mut profile = velociraptor();
        profile.queue.ordering = ordering;
        let reads = random(Operation::Read, profile.identity.capacity, 2);
        run(&mut disk(&profile), depth, 5000, reads).iops
    };
    let (one, deep) = (iops(QueueOrdering::Fifo, 1), iops(QueueOrdering::Fifo, 32));
    let chosen = iops(QueueOrdering::ShortestAccessTime, 32);
    println!("fifo QD1 {one:.0}, QD32 {deep:.0}, shortest access time QD32 {chosen:.0} IOPS");
    assert!(deep < one * 1.05, "{deep} against {one}");
    assert!(chosen > deep * 1.8, "{chosen} against {deep}");
}

#[test]
fn the_velociraptor_meets_the_figures_of_2009() {
    let profile = velociraptor();
    let read = sequential(&profile, Operation::Read, 1, Bytes::ZERO, Bytes::from_gib(4));
    assert_near("sequential read, MB/s", read, 118.0, 0.02);
    let writes = run(&mut disk(&profile), 3, 20_000, random(Operation::Write, SPAN, 3));
    assert_near("4KB random write, ms", writes.mean * 1e3, 7.2, 0.1);
    assert_near("4KB random write, MiB/s", writes.iops / 256.0, 1.63, 0.1);
}

#[test]
fn the_caviar_meets_the_figure_of_2009() {
    let profile = caviar();
    let read = sequential(&profile, Operation::Read, 1, Bytes::ZERO, Bytes::from_gib(4));
    assert_near("sequential read, MB/s", read, 110.0, 0.02);
    let writes = run(&mut disk(&profile), 3, 20_000, random(Operation::Write, SPAN, 3));
    assert_near("4KB random write, MiB/s", writes.iops / 256.0, 1.26, 0.1);
}

#[test]
fn the_write_cache_hides_the_arm_until_it_is_full_and_lets_it_choose() {
    let cached = velociraptor();
    let mut through = velociraptor();
    through.cache.write_back = false;
    let mut writes = random(Operation::Write, SPAN, 4);
    let on = perform(&mut disk(&cached), writes()).service_time();
    let data = cached.link.write_throughput.time_for(PAGE);
    assert_eq!(on, cached.link.command_time + data, "a write into an empty cache");
    let off = perform(&mut disk(&through), writes()).service_time();
    assert!(off > on * 2, "{off} against {on}");
    let steady = |profile| run(&mut disk(profile), 1, 5000, random(Operation::Write, SPAN, 4)).iops;
    let (cached, through) = (steady(&cached), steady(&through));
    println!("4KB random writes, QD1: {cached:.0} IOPS with the cache, {through:.0} without");
    assert!(cached > 1.4 * through, "{cached} against {through}");
}

#[test]
fn write_through_loses_a_turn_between_neighbours() {
    let mut profile = velociraptor();
    profile.cache.write_back = false;
    let rate = sequential(&profile, Operation::Write, 1, Bytes::ZERO, Bytes::from_mib(128));
    let turn = profile.mechanics.revolution();
    let least = CHUNK.0 as f64 / (turn * 2).as_secs_f64() / 1e6;
    let most = CHUNK.0 as f64 / turn.as_secs_f64() / 1e6;
    assert!(least < rate && rate < most * 1.02, "{rate} is not in {least}..{most}");
}

#[test]
fn a_flush_waits_for_what_is_in_the_cache_and_for_nothing_else() {
    let mut disk = disk(&velociraptor());
    let command = disk.profile().link.command_time;
    assert_eq!(perform(&mut disk, Io::flush()).service_time(), command, "nothing to wait for");
    let mut writes = random(Operation::Write, SPAN, 5);
    perform_all(&mut disk, (0..50).map(|_| writes()));
    let full = perform(&mut disk, Io::flush()).service_time();
    assert!(full > Nanos::from_millis(50), "50 writes cannot be on the platters after {full}");
    assert_eq!(perform(&mut disk, Io::flush()).service_time(), command, "all is on the platters");
    perform_all(&mut disk, (0..50).map(|_| writes()));
    let (mut done, later) = (Vec::new(), disk.now() + Nanos::from_secs(1));
    disk.reap(later, &mut done).unwrap();
    assert_eq!(perform(&mut disk, Io::flush()).service_time(), command, "idling has emptied it");
}

#[test]
fn a_forced_write_waits_until_it_is_on_the_platters_and_a_flush_after_it_for_nothing() {
    let mut disk = disk(&velociraptor());
    let command = disk.profile().link.command_time;
    let page = Io::write(PAGE * 1000, PAGE);
    let cached = perform(&mut disk, page).service_time();
    let flush = perform(&mut disk, Io::flush()).service_time();
    let forced = perform(&mut disk, page.with_durability(Durability::Forced)).service_time();
    let turn = disk.profile().mechanics.revolution();
    assert!(forced <= cached + turn && flush <= command + turn * 2, "{forced} and {flush}");
    assert!(forced > cached * 10, "{forced} is what RAM takes: {cached}");
    assert_eq!(perform(&mut disk, Io::flush()).service_time(), command, "nothing is left");
    let mut elsewhere = random(Operation::Write, SPAN, 5);
    perform_all(&mut disk, (0..50).map(|_| elsewhere()));
    perform(&mut disk, page.with_durability(Durability::Forced));
    let left = perform(&mut disk, Io::flush()).service_time();
    assert!(left > command, "others are not forced with it");
}

#[test]
fn what_was_just_written_or_read_is_answered_from_ram() {
    let mut disk = disk(&caviar());
    let profile = disk.profile().clone();
    let from_ram = profile.link.command_time + profile.link.read_throughput.time_for(PAGE);
    let offset = Bytes::from_gib(100);
    perform(&mut disk, Io::write(offset, PAGE));
    assert_eq!(perform(&mut disk, Io::read(offset, PAGE)).service_time(), from_ram);
    let far = Bytes::from_gib(500);
    assert!(perform(&mut disk, Io::read(far, PAGE)).service_time() > from_ram);
    for offset in [far, far + PAGE * 3] {
        let (mut done, later) = (Vec::new(), disk.now() + Nanos::from_millis(50));
        disk.reap(later, &mut done).unwrap();
        assert_eq!(perform(&mut disk, Io::read(offset, PAGE)).service_time(), from_ram);
    }
}

#[test]
fn a_read_of_written_data_does_not_mislead_the_heads() {
    let mut disk = disk(&velociraptor());
    let link = disk.profile().link.clone();
    let (near, far) = (Bytes::from_gib(1), Bytes::from_gib(200));
    let reads = [Io::read(near, PAGE), Io::write(far, PAGE), Io::read(far, PAGE)];
    disk.submit(&reads).unwrap();
    let mut done = Vec::new();
    while done.len() < 3 || disk.now() < DeviceTime(1_000_000_000) {
        disk.reap(DeviceTime(1_000_000_000), &mut done).unwrap();
    }
    let again = perform(&mut disk, Io::read(near, PAGE)).service_time();
    assert_eq!(again, link.command_time + link.read_throughput.time_for(PAGE));
}

#[test]
fn a_write_longer_than_the_cache_goes_through_it() {
    let mut disk = disk(&velociraptor());
    let length = Bytes::from_mib(32);
    let took = perform(&mut disk, Io::write(Bytes::ZERO, length)).service_time();
    let rate = zone_rate(disk.profile(), disk.profile().zones.outer_sectors) * 1e6;
    let half = Bytes(length.0 - disk.profile().cache.size.0).0 as f64 / rate;
    let most = length.0 as f64 / rate + 0.1;
    assert!((half..most).contains(&took.as_secs_f64()), "{took} is not in {half}..{most} s");
}

#[test]
fn nobody_waits_for_ever_behind_nearer_accesses() {
    let mut disk = disk(&velociraptor());
    let far = Io::read(Bytes::from_gib(250), PAGE);
    let mut offset = Bytes::ZERO;
    let mut near = || {
        offset += CHUNK;
        Io::read(offset - CHUNK, CHUNK)
    };
    disk.submit(&[near(), near(), near(), far]).unwrap();
    let mut done = Vec::new();
    while !done.iter().any(|c: &Completion| c.io == far) {
        let had = done.len();
        disk.reap(DeviceTime::MAX, &mut done).unwrap();
        let more: Vec<Io> = done[had..].iter().map(|_| near()).collect();
        disk.submit(&more).unwrap();
    }
    let waited = done.last().unwrap().service_time();
    assert!(waited < Nanos::from_millis(1100), "{waited}");
}

#[test]
fn trim_fails_and_purge_is_refused() {
    let mut disk = disk(&caviar());
    assert!(disk.info().rotational && !disk.info().trim);
    let trimmed = perform(&mut disk, Io::trim(Bytes::ZERO, PAGE));
    assert!(matches!(trimmed.status, Status::Failed(_)));
    let refused = disk.purge(Purge::SecureErase, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(DeviceError::PurgeUnsupported { .. })), "{refused:?}");
}

#[test]
fn a_simulated_disk_conforms() {
    let mut through = velociraptor();
    through.cache.write_back = false;
    let mut fifo = caviar();
    fifo.queue.ordering = QueueOrdering::Fifo;
    for profile in [velociraptor(), caviar(), through, fifo] {
        writecliff_device::conformance::check(&mut disk(&profile));
    }
}

/// All completions of a mixed load that is handed over in batches of at most `batch`, and reaped
/// in steps of at most `step`.
fn mixed(batch: usize, step: Nanos) -> Vec<Completion> {
    let mut disk = disk(&velociraptor());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut next = || {
        let offset = PAGE * (random.next_u64() % 1_000_000);
        match random.next_u64() % 20 {
            0 => Io::flush(),
            1..8 => Io::read(offset, PAGE * 4),
            _ => Io::write(offset, PAGE),
        }
    };
    let mut done = Vec::new();
    let mut in_flight = 0;
    while done.len() < 3000 {
        let more: Vec<Io> = (in_flight..16).map(|_| next()).collect();
        more.chunks(batch).for_each(|batch| disk.submit(batch).unwrap());
        let had = done.len();
        while done.len() == had {
            disk.reap(disk.now() + step, &mut done).unwrap();
        }
        in_flight = 16 - (done.len() - had);
    }
    done
}

#[test]
fn neither_the_batch_nor_the_step_changes_a_bit() {
    let whole = mixed(16, Nanos::from_secs(100));
    assert_eq!(whole, mixed(1, Nanos::from_secs(100)));
    assert_eq!(whole, mixed(5, Nanos::from_micros(37)));
}

#[test]
fn disks_that_cannot_work_are_refused_at_the_keys_that_say_so() {
    type Change = fn(&mut DiskProfile);
    let cases: [(Change, &str); 12] = [
        (|p| p.link.queue_depth = 0, "link.queue_depth"),
        (|p| p.mechanics.rpm = 0, "mechanics.rpm"),
        (|p| p.zones.count = 0, "zones.count"),
        (|p| p.zones.tracks = 2, "zones.tracks"),
        (|p| p.zones.inner_sectors = p.zones.outer_sectors + 1, "zones.inner_sectors"),
        (|p| p.mechanics.write_settle = Nanos::from_secs(2), "mechanics.write_settle"),
        (|p| p.mechanics.average_seek = p.mechanics.full_stroke, "mechanics.average_seek"),
        (|p| p.mechanics.full_stroke = p.mechanics.average_seek, "mechanics.full_stroke"),
        (|p| p.identity.capacity = Bytes(1000), "identity.capacity"),
        (|p| p.zones.tracks /= 2, "zones.tracks"),
        (|p| p.cache.size = Bytes::from_kib(4), "cache.size"),
        (|p| p.cache.read_ahead = Bytes::from_gib(1), "cache.read_ahead"),
    ];
    for profile in [velociraptor(), caviar()] {
        assert_eq!(profile.impossibility(), None);
        for (change, key) in &cases {
            let mut wrong = profile.clone();
            change(&mut wrong);
            let (keys, reason) = wrong.impossibility().expect(key);
            assert!(keys.contains(key), "{keys:?} {reason}");
        }
    }
}

#[test]
fn unknown_keys_are_refused() {
    let text = include_str!("../../../../drives/wd-caviar-se16-640gb.toml");
    let message = toml::from_str::<DiskProfile>(&text.replace("rpm =", "rmp =")).unwrap_err();
    assert!(message.to_string().contains("unknown field `rmp`"), "{message}");
}
