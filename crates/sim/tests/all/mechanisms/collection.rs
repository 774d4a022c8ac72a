//! Garbage collection: which superblock, when, how much at once, on how many dies.

use writecliff_device::Operation;
use writecliff_sim::{Levelling, Pacing, Victim};

use crate::mechanisms::*;

/// One die of `blocks` blocks of 64 pages of one unit, filled to `fill`: every page of the host is
/// a program of its own.
fn small(blocks: u32, fill: f64) -> SsdProfile {
    let mut profile = one_die(1);
    profile.nand.page_size = PAGE;
    profile.nand.blocks_per_plane = blocks;
    profile.nand.pages_per_block = 64;
    profile.identity.capacity = PAGE * (f64::from(blocks * 64) * fill) as u64;
    profile.gc.free_low = 2;
    profile.gc.free_high = 2;
    profile
}

/// Write amplification of a load that goes on until it is the same from day to day.
fn settled_amplification(profile: SsdProfile, mut next: impl FnMut() -> u64) -> f64 {
    let mut drive = Drive::new(profile);
    let pages = drive.pages();
    drive.fill(0..pages);
    drive.overwrite(4 * pages, &mut next);
    drive.amplification(|drive| drive.overwrite(2 * pages, &mut next))
}

fn uniform(victim: Victim, choices: u32) -> f64 {
    let mut profile = small(400, 0.85);
    (profile.gc.victim, profile.gc.choices) = (victim, choices);
    let (pages, mut random) = (profile.identity.capacity.0 / PAGE.0, dice(4));
    settled_amplification(profile, || random(pages))
}

#[test]
fn the_more_a_victim_is_chosen_the_less_is_copied() {
    let greedy = uniform(Victim::Greedy, 1);
    let [ten, two, one] = [10, 2, 1].map(|choices| uniform(Victim::Random, choices));
    let fifo = uniform(Victim::Fifo, 1);
    println!("greedy {greedy:.3}, d=10 {ten:.3}, d=2 {two:.3}, FIFO {fifo:.3}, random {one:.3}");
    assert!(greedy < ten && ten * 1.03 < two && two * 1.1 < one);
    assert!(greedy * 1.02 < fifo && fifo * 1.1 < one);
}

/// Nine of ten writes go to a tenth of the pages.
fn skewed(profile: SsdProfile) -> f64 {
    let (pages, mut random) = (profile.identity.capacity.0 / PAGE.0, dice(6));
    settled_amplification(profile, || {
        let hot = pages / 10;
        if random(10) > 0 { random(hot) } else { hot + random(pages - hot) }
    })
}

#[test]
fn under_a_skewed_load_age_is_worth_knowing() {
    let with = |victim| {
        let mut profile = small(400, 0.85);
        profile.gc.victim = victim;
        skewed(profile)
    };
    let (greedy, cost_benefit) = (with(Victim::Greedy), with(Victim::CostBenefit));
    println!("skewed load: greedy {greedy:.3}, cost-benefit {cost_benefit:.3}");
    assert!(cost_benefit * 1.05 < greedy);
}

/// A window of one is FIFO; the wider it is, the less it copies, down to greedy.
#[test]
fn a_window_lies_between_first_come_and_the_emptiest_of_all() {
    let windowed = |window| {
        let mut profile = small(400, 0.85);
        (profile.gc.victim, profile.gc.window) = (Victim::Windowed, window);
        let (pages, mut random) = (profile.identity.capacity.0 / PAGE.0, dice(4));
        settled_amplification(profile, || random(pages))
    };
    let (fifo, greedy) = (uniform(Victim::Fifo, 1), uniform(Victim::Greedy, 1));
    let [one, some, many, all] = [1, 20, 100, 400].map(windowed);
    println!("FIFO {fifo:.4}, windows {one:.4} {some:.4} {many:.4} {all:.4}, greedy {greedy:.4}");
    assert_eq!(one, fifo);
    assert!(some < one && many < some && all < many);
    assert!(
        (all / greedy - 1.0).abs() < 0.01,
        "they differ by which of several emptiest comes first"
    );
}

/// Under skew what survives again is colder than what survives once; under even writes there is
/// nothing to tell apart.
#[test]
fn generations_of_copies_help_where_age_tells_something() {
    let of = |generations| {
        let mut profile = small(400, 0.85);
        (profile.gc.victim, profile.gc.generations) = (Victim::CostBenefit, generations);
        profile
    };
    let even = |generations| {
        let profile = of(generations);
        let (pages, mut random) = (profile.identity.capacity.0 / PAGE.0, dice(4));
        settled_amplification(profile, || random(pages))
    };
    let (one, two) = (skewed(of(1)), skewed(of(2)));
    println!("skewed: one generation {one:.3}, two {two:.3}; even: {:.3}, {:.3}", even(1), even(2));
    assert!(two < one * 0.97);
    assert!((even(2) / even(1) - 1.0).abs() < 0.02);
}

#[test]
fn copies_apart_from_the_hosts_pages_keep_hot_and_cold_apart() {
    let with = |separate_copies| {
        let mut profile = small(400, 0.85);
        profile.gc.separate_copies = separate_copies;
        skewed(profile)
    };
    let (apart, together) = (with(true), with(false));
    println!("skewed load: copies apart {apart:.3}, with the host's pages {together:.3}");
    assert!(apart * 1.1 < together);
}

/// Four of five pages rest, and the fifth lies among them: superblocks of what rests keep the holes of what was
/// overwritten, and greedy collection does not look at them. Who moves them for their wear packs them on the way, for
/// good if nothing else goes among them, and the later the more seldom that is.
#[test]
fn what_is_moved_for_wear_packs_what_rests_and_for_good_if_it_is_apart() {
    let with = |levelling, (every, apart)| {
        let mut profile = small(400, 0.85);
        let pages = profile.identity.capacity.0 / PAGE.0;
        (profile.gc.free_low, profile.gc.free_high) = (4, 8);
        (profile.wear.levelling, profile.wear.static_gap) = (levelling, 2);
        (profile.wear.static_every, profile.wear.static_apart) = (every, apart);
        let mut random = dice(6);
        settled_amplification(profile, || 5 * random(pages / 5))
    };
    let never = with(Levelling::Dynamic, (None, false));
    let [among, apart, seldom] =
        [(None, false), (None, true), (Some(8), true)].map(|how| with(Levelling::Static, how));
    println!(
        "at rest: {never:.3}, moved among copies {among:.3}, apart {apart:.3}, one of 8 {seldom:.3}"
    );
    assert!(among * 1.1 < never);
    assert!(apart * 1.1 < among);
    assert!(apart * 1.2 < seldom && seldom * 1.2 < never);
}

/// Programs that each of `count` single writes caused, and the free superblocks after it, on a
/// drive that is long in its steady state.
fn trace(profile: SsdProfile, count: u64) -> Vec<(u64, u64)> {
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(8));
    drive.fill(0..pages);
    drive.overwrite(3 * pages, || random(pages));
    let step = |_| {
        let before = drive.programs();
        drive.write(random(pages));
        (drive.programs() - before, drive.free())
    };
    (0..count).map(step).collect()
}

#[test]
fn lazy_pacing_copies_its_quantum_between_low_and_high_water() {
    for (quantum, low, high) in [(8, 3, 12), (5, 5, 9), (20, 2, 20)] {
        let mut profile = small(400, 0.75);
        profile.gc.pacing = Pacing::Lazy;
        (profile.gc.quantum, profile.gc.free_low, profile.gc.free_high) = (quantum, low, high);
        let trace = trace(profile, 20_000);
        let free: Vec<u64> = trace.iter().map(|(_, free)| *free).collect();
        let (least, most) = (*free.iter().min().unwrap(), *free.iter().max().unwrap());
        // At low water one more may be opened to copy into.
        assert!((u64::from(low) - 1..=u64::from(low)).contains(&least), "{least}, low {low}");
        assert_eq!(most, u64::from(high));
        // Either nothing is copied or the quantum, but for the end of each collection.
        let quantum = 1 + u64::from(quantum);
        let odd = trace.iter().filter(|(programs, _)| ![1, quantum].contains(programs)).count();
        let collecting = trace.iter().filter(|(programs, _)| *programs == quantum).count();
        assert!(collecting > 1000 && odd * 20 < collecting, "{odd} odd, {collecting} collecting");
    }
}

#[test]
fn eager_pacing_copies_a_little_all_the_time() {
    let mut profile = small(400, 0.75);
    profile.gc.pacing = Pacing::Eager;
    (profile.gc.quantum, profile.gc.free_low, profile.gc.free_high) = (1, 10, 20);
    let trace = trace(profile, 20_000);
    let most = trace.iter().map(|(programs, _)| *programs).max().unwrap();
    assert!(trace.iter().all(|(programs, _)| *programs > 1), "each write pays");
    assert!(most <= 1 + 100 / 9, "{most} programs for one write");
}

/// Standard deviation over mean of the throughput in each 100 ms of steady random writes.
fn variation(pacing: Pacing, quantum: u32, free_high: u32) -> f64 {
    variation_of(pacing, quantum, free_high, Victim::Greedy)
}

fn variation_of(pacing: Pacing, quantum: u32, free_high: u32, victim: Victim) -> f64 {
    let mut profile = tiny();
    (profile.gc.victim, profile.gc.choices) =
        (victim, if victim == Victim::Random { 4 } else { 1 });
    (profile.gc.pacing, profile.gc.quantum) = (pacing, quantum);
    (profile.gc.free_low, profile.gc.free_high) = (4, free_high);
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(9));
    drive.fill(0..pages);
    drive.overwrite(3 * pages, || random(pages));
    let (start, mut counts) = (drive.ssd.now(), vec![0.0; 100]);
    loop {
        drive.write(random(pages));
        let window = (drive.ssd.now() - start).0 / 100_000_000;
        match counts.get_mut(window as usize) {
            Some(count) => *count += 1.0,
            None => break,
        }
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>();
    (variance / counts.len() as f64).sqrt() / mean
}

#[test]
fn eager_pacing_is_steady_and_lazy_pacing_is_not() {
    let (eager, lazy) = (variation(Pacing::Eager, 1, 5), variation(Pacing::Lazy, 100, 20));
    println!("coefficient of variation per 100 ms: eager {eager:.3}, lazy {lazy:.3}");
    assert!(eager < 0.1 && lazy > 0.4, "eager {eager}, lazy {lazy}");
}

#[test]
fn proportional_pacing_settles_and_needs_no_quantum() {
    let steady = variation(Pacing::Proportional, 1, 12);
    let switching = variation(Pacing::Eager, 16, 5);
    println!("per 100 ms: proportional {steady:.3}, eager with too large a quantum {switching:.3}");
    assert!(steady < 0.05 && switching > 4.0 * steady, "{steady} {switching}");
}

#[test]
fn smooth_pacing_scatters_less_than_proportional() {
    let victims_of_chance = |pacing| variation_of(pacing, 1, 12, Victim::Random);
    let proportional = victims_of_chance(Pacing::Proportional);
    let smooth = victims_of_chance(Pacing::Smooth);
    println!("per 100 ms, victims of chance: proportional {proportional:.3}, smooth {smooth:.3}");
    assert!(smooth < 0.7 * proportional, "{smooth} {proportional}");
}

#[test]
fn proportional_pacing_keeps_low_water_free_from_high_water_on() {
    let mut profile = small(400, 0.75);
    profile.gc.pacing = Pacing::Proportional;
    (profile.gc.free_low, profile.gc.free_high) = (10, 30);
    let trace = trace(profile, 20_000);
    assert!(trace.iter().all(|(_, free)| (8..=12).contains(free)), "where copying keeps up");
    let copied: Vec<u64> = trace.iter().map(|(programs, _)| programs - 1).collect();
    let mean = copied.iter().sum::<u64>() as f64 / copied.len() as f64;
    let most = *copied.iter().max().unwrap() as f64;
    assert!(most < 2.0 * mean + 1.0, "at most {most} for one write, {mean} in the mean");
}

/// A drive in its steady state: seconds for each page of the host, and copies made for it.
fn time_and_copies(change: impl FnOnce(&mut SsdProfile)) -> (f64, f64) {
    let mut profile = small(400, 0.75);
    (profile.gc.quantum, profile.gc.free_low, profile.gc.free_high) = (1, 10, 20);
    change(&mut profile);
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(8));
    drive.fill(0..pages);
    drive.overwrite(3 * pages, || random(pages));
    let (start, before) = (drive.ssd.now(), drive.programs());
    drive.overwrite(2000, || random(pages));
    let copies = (drive.programs() - before) as f64 / 2000.0 - 1.0;
    ((drive.ssd.now() - start).as_secs_f64() / 2000.0, copies)
}

/// Victims hold more than a hundredth here, and none all of its pages: the host has the time of the share, and what is
/// copied stays what it was.
#[test]
fn urgent_victims_hold_the_host_to_its_share() {
    let of = |percent| {
        time_and_copies(|profile| {
            profile.gc.pacing = Pacing::Proportional;
            (profile.firmware.page_time, profile.firmware.copy_time) =
                (Nanos::from_micros(500), Nanos::from_micros(500));
            (profile.gc.copies_max, profile.gc.urgent_percent) = (Some(40), percent);
        })
    };
    let ((free, copies), (held, held_copies), (not_held, _)) =
        (of(None), of(Some(1)), of(Some(100)));
    assert_close(held_copies, copies, 0.02);
    assert_close(not_held, free, 0.01);
    assert_close(held, 500e-6 * 41.0, 0.02);
    assert!(free < 0.5 * held, "{free} s for a page, {held} where the host is held");
}

#[test]
fn copies_read_all_planes_of_a_program_at_once_or_one_after_the_other() {
    // Each plane has one page of each program, so that a read of a plane brings one copy.
    let of = |by_plane: bool| {
        time_and_copies(|profile| {
            (profile.nand.planes, profile.nand.blocks_per_plane) = (4, 100);
            profile.nand.read_time = Nanos::from_millis(2);
            profile.gc.reads_by_plane = by_plane;
        })
    };
    let ((together, programs), (apart, the_same)) = (of(false), of(true));
    assert_close(the_same, programs, 0.02);
    // Programs of four pages: those of the host and their copies.
    let amplification = (1.0 + programs) * 4.0;
    let (copies, written) = (amplification - 1.0, amplification / 4.0 * 600e-6);
    assert_close(apart, written + copies * 0.002, 0.02);
    // At once as many reads as programs of the victims have any valid page: a fourth of the copies at least.
    let reads = (together - written) / 0.002;
    assert!((0.25..0.6).contains(&(reads / copies)), "{reads} {copies}");
}

#[test]
fn the_data_path_bounds_what_is_copied_and_written() {
    let (without, copies) = time_and_copies(|_| {});
    for (page, copy) in [(0, 20), (0, 50), (10, 20)] {
        let (each, now) = time_and_copies(|profile| {
            profile.firmware.page_time = Nanos::from_millis(page);
            profile.firmware.copy_time = Nanos::from_millis(copy);
        });
        assert_close(now, copies, 0.05);
        assert_close(each, (page as f64 + copy as f64 * now) / 1000.0, 0.01);
        assert!(each > 2.0 * without, "{each} {without}");
    }
}

/// In the steady state: the longest of 4,000 writes, one at a time and 2 ms apart, how many of them took more
/// than 10 ms, and the same of reads halfway between them; and copies for each page of the host.
fn held_up(batch: u32) -> ([Nanos; 2], [usize; 2], f64) {
    let mut profile = small(400, 0.75);
    (profile.gc.free_low, profile.gc.free_high, profile.gc.pacing) = (10, 20, Pacing::Proportional);
    (profile.gc.batch, profile.firmware.copy_time) = (batch, Nanos::from_micros(500));
    (profile.nand.program_time, profile.nand.suspend_time) =
        (Nanos::from_micros(100).into(), Some(Nanos::from_micros(20)));
    profile.write_buffer.size = PAGE * 4;
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(12));
    drive.fill(0..pages);
    drive.overwrite(3 * pages, || random(pages));
    let (before, mut times) = (drive.programs(), [const { Vec::new() }; 2]);
    for _ in 0..4000 {
        times[0].push(drive.write(random(pages)));
        drive.idle(Nanos::from_millis(1));
        times[1].push(drive.read(random(pages)));
        drive.idle(Nanos::from_millis(1));
    }
    let long =
        |times: &Vec<Nanos>| times.iter().filter(|time| **time > Nanos::from_millis(10)).count();
    let copies = (drive.programs() - before) as f64 / 4000.0 - 1.0;
    (times.each_ref().map(|of| *of.iter().max().unwrap()), times.each_ref().map(long), copies)
}

#[test]
fn copies_in_batches_hold_few_writes_up_for_long_and_no_reads() {
    let ([write, read], held, one_by_one) = held_up(1);
    assert!(write < Nanos::from_millis(10) && read < Nanos::from_millis(1), "{write} {read}");
    assert_eq!(held, [0, 0]);
    let ([write, read], held, in_batches) = held_up(100);
    // 50 ms of copies, of which the four pages in the buffer see 4 x 2 ms go by: one write for each batch.
    assert_close(write.as_secs_f64(), 0.050 - 0.008, 0.08);
    assert!(read < Nanos::from_millis(1), "{read}");
    assert_close(held[0] as f64, 4000.0 * in_batches / 100.0, 0.1);
    assert_eq!(held[1], 0);
    assert_close(in_batches, one_by_one, 0.05);
}

/// Time of a write, 128 at a time, of a drive that could do half as much again if its link could, and copies.
fn limited_by_its_link(batch: u32) -> (f64, f64) {
    let mut profile = small(400, 0.5);
    (profile.gc.free_low, profile.gc.free_high, profile.gc.pacing) = (10, 20, Pacing::Proportional);
    (profile.gc.batch, profile.firmware.copy_time) = (batch, Nanos::from_micros(500));
    profile.nand.program_time = Nanos::from_micros(100).into();
    (profile.link.command_time, profile.link.queue_depth) = (Nanos::from_micros(300), 128);
    profile.write_buffer.size = PAGE * 4;
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(14));
    drive.fill(0..pages);
    drive.overwrite(3 * pages, || random(pages));
    let (before, start) = (drive.programs(), drive.ssd.now());
    for _ in 0..200 {
        let ios: Vec<Io> = (0..128).map(|_| write(random(pages), 1)).collect();
        drive.together(&ios);
    }
    let writes = 200.0 * 128.0;
    let copies = (drive.programs() - before) as f64 / writes - 1.0;
    (drive.ssd.now().since(start).as_secs_f64() / writes, copies)
}

#[test]
fn copies_in_batches_take_nothing_from_a_link_that_is_the_limit() {
    let (alone, copies) = limited_by_its_link(1);
    assert!(copies > 0.2 && copies * 500.0 < 250.0, "{copies} copies leave the path time");
    assert_close(alone, 0.0003, 0.05);
    let (in_batches, _) = limited_by_its_link(400);
    assert_close(in_batches, alone, 0.03);
}

#[test]
fn reads_go_ahead_of_the_copies_that_writes_in_the_buffer_will_pay_for() {
    let mut profile = small(400, 0.85);
    (profile.gc.free_low, profile.gc.free_high, profile.gc.pacing) = (10, 20, Pacing::Proportional);
    profile.firmware.copy_time = Nanos::from_millis(2);
    profile.write_buffer.size = PAGE * 64;
    let most =
        profile.nand.program_time.mean() + profile.nand.read_time * 4 + Nanos::from_micros(200);
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(13));
    drive.fill(0..pages);
    drive.overwrite(3 * pages, || random(pages));
    let start = drive.ssd.now();
    let (mut wrote, mut longest) = (0, Nanos::ZERO);
    while wrote < 200 {
        let mut ios: Vec<Io> = (0..8).map(|_| write(random(pages), 1)).collect();
        ios.push(read(random(pages), 1));
        let done = drive.together(&ios);
        wrote += 8;
        let reads = done.iter().filter(|done| done.io.operation == Operation::Read);
        longest = reads.map(Completion::service_time).fold(longest, Nanos::max);
    }
    let each = drive.ssd.now().since(start).as_secs_f64() / 200.0;
    assert!(each > 0.004, "writes wait for their copies: {each}");
    assert!(longest < most, "{longest} against {most}");
}

#[test]
fn the_data_path_bounds_collection_in_idle_time() {
    let programs = |copy_time| {
        let mut drive = worn_in(|profile| profile.firmware.copy_time = copy_time);
        drive.idle(Nanos::from_millis(100));
        let before = drive.programs();
        drive.idle(Nanos::from_secs(1));
        (drive.programs() - before) as f64
    };
    let each = Nanos::from_millis(2);
    // Two pages to a program, each 2 ms.
    assert_close(programs(each), 1.0 / (2.0 * each.as_secs_f64()), 0.05);
    assert!(programs(Nanos::ZERO) > 2.0 * programs(each));
}

/// `tiny` in its steady state, with 30 MiB of rubbish.
fn worn_in(change: impl FnOnce(&mut SsdProfile)) -> Drive {
    let mut profile = tiny();
    profile.gc.idle_after = Some(Nanos::from_millis(100));
    profile.gc.idle_free = 20;
    change(&mut profile);
    let mut drive = Drive::new(profile);
    let (pages, mut random) = (drive.pages(), dice(10));
    drive.fill(0..pages);
    drive.overwrite(pages, || random(pages));
    drive.flush();
    drive
}

#[test]
fn idle_collection_wins_superblocks_and_the_next_burst_is_as_on_a_fresh_drive() {
    let mut drive = worn_in(|_| {});
    drive.idle(Nanos::from_millis(90));
    assert!(drive.free() < 8, "not idle for long enough");
    drive.idle(Nanos::from_secs(60));
    assert_eq!(drive.free(), 20);
    let burst = |drive: &mut Drive| {
        let mut random = dice(11);
        let pages = drive.pages();
        drive.overwrite(10 * PAGES_PER_MIB, || random(pages));
    };
    assert_eq!(drive.amplification(burst), 1.0);

    let mut without = worn_in(|profile| profile.gc.idle_after = None);
    let free = without.free();
    without.idle(Nanos::from_secs(60));
    assert_eq!(without.free(), free);
    assert!(without.amplification(burst) > 1.5);
}

#[test]
fn fewer_dies_copy_more_slowly() {
    let programs_within = |copy_dies, millis| {
        let mut drive = worn_in(|profile| profile.gc.copy_dies = copy_dies);
        drive.idle(Nanos::from_millis(100));
        let before = drive.programs();
        drive.idle(Nanos::from_millis(millis));
        (drive.programs() - before) as f64
    };
    let [one, two, all] = [1, 2, 0].map(|dies| programs_within(dies, 500));
    println!("copy programs in 500 ms: one die {one}, two {two}, all four {all}");
    // One after the other each takes at least a program, and a read of one program or two.
    let step = program(&tiny()).as_secs_f64();
    assert!(one < 0.5 / step && one > 0.7 * 0.5 / step, "{one}");
    assert!(two > 1.6 * one && all > 1.5 * two, "{one}, {two}, {all}");
}
