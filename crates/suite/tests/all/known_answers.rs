//! Every test on a drive whose answer is known by construction.
use std::ops::ControlFlow;

use writecliff_device::scripted::Scripted;
use writecliff_device::{
    Bytes, Device, DeviceTime, Energy, Nanos, Operation, Power, Temperature, Throughput,
};
use writecliff_sim::{
    Build, Profile, SlcKind, SleepState, Ssd, SsdProfile, TrimKind, load, scaled,
};
use writecliff_suite::corners::Data;
use writecliff_suite::latency_at_load::Gaps;
use writecliff_suite::steady_state::Part;
use writecliff_suite::{
    MethodWarning, Outcome, Plan, RunOptions, RunRecord, TESTS, Warning, consistency, corners,
    fullness, heat, idle, incompressible, latency_at_load, power, queue_depth, read_write_mix,
    recovery, run, spare_area, steady_state, storage_bench, stutter, transfer_size, trim,
    whole_drive, working_set,
};
use writecliff_trace::Map;

fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

fn record_of(plan: &Plan, device: &mut dyn Device) -> RunRecord {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    run(plan, device, &path, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn on_ssd(plan: &Plan, profile: SsdProfile) -> RunRecord {
    record_of(plan, &mut Ssd::new(profile, "sim:test"))
}

/// The outcome, which must be of the test named.
macro_rules! outcome {
    ($record:expr, $variant:ident) => {{
        let record = &$record;
        match &record.outcome {
            Some(Outcome::$variant(outcome)) => outcome.clone(),
            other => panic!("{other:?}, {:?}", record.warnings),
        }
    }};
}

#[track_caller]
fn assert_near(got: f64, expected: f64, within_percent: f64) {
    let off = (got / expected - 1.0) * 100.0;
    assert!(off.abs() <= within_percent, "{got} is {off:+.2} % off {expected}");
}

fn seconds(count: u64) -> Nanos {
    Nanos::from_secs(count)
}

/// What four dies of 8 KiB pages program, in MB/s.
const NAND_WRITE: f64 = 4.0 * 8192.0 / 600.0;

/// Twice the NAND, so that all of the host's data finds a place without draining the buffer: 64 MiB
/// at a third of the native program time, which is ten times a tiny drive's.
fn buffered(kind: SlcKind) -> SsdProfile {
    let mut profile = tiny();
    profile.nand.blocks_per_plane = 512;
    profile.nand.program_time = Nanos::from_millis(6).into();
    profile.slc_buffer.kind = kind;
    profile.slc_buffer.size = BUFFER;
    profile.slc_buffer.bits_per_cell = 2;
    profile.slc_buffer.program_time = Nanos::from_millis(2);
    profile.slc_buffer.read_time = Nanos::from_micros(50);
    profile.slc_buffer.erase_time = Nanos::from_millis(3);
    profile
}

/// Of a buffered drive, and what four dies write into it and past it, in MB/s.
const BUFFER: Bytes = Bytes::from_mib(64);
const INTO_BUFFER: f64 = 4.0 * 8192.0 / 2000.0;
const PAST_BUFFER: f64 = 4.0 * 8192.0 / 6000.0;

#[test]
fn an_slc_buffer_is_found_where_it_ends() {
    let profile = buffered(SlcKind::Dynamic);
    let plan = consistency::Plan::lasting(seconds(10));
    let part = outcome!(on_ssd(&Plan::Consistency(plan), profile), Consistency).fast_part.unwrap();
    assert_near(part.bytes.0 as f64, BUFFER.0 as f64, 1.0);
    assert_near(part.fast_megabytes_per_second, INTO_BUFFER, 1.0);
    assert_near(part.slow_megabytes_per_second, PAST_BUFFER, 1.0);
}

#[test]
fn a_drive_without_a_buffer_has_no_fast_part() {
    let plan = consistency::Plan::lasting(seconds(10));
    let outcome = outcome!(on_ssd(&Plan::Consistency(plan), tiny()), Consistency);
    assert_eq!(outcome.fast_part, None);
}

#[test]
fn the_spare_area_test_is_the_consistency_test_at_each_setting() {
    let settings = vec![10.0, 25.0];
    let plan = spare_area::Plan { settings, duration: seconds(100), ..spare_area::Plan::default() };
    let all = outcome!(on_ssd(&Plan::SpareArea(plan.clone()), tiny()), SpareArea);
    assert_eq!(all.settings.len(), 2);
    for setting in &all.settings {
        let alone = Plan::Consistency(plan.at(setting.spare_percent));
        let alone = outcome!(on_ssd(&alone, tiny()), Consistency);
        // The second torture begins on a drive whose blocks were erased before, in another order.
        assert_near(setting.outcome.steady_iops.mean, alone.steady_iops.mean, 3.0);
        assert_eq!(setting.outcome.fill_megabytes_per_second, alone.fill_megabytes_per_second);
    }
    let [less, more] = &all.settings[..] else { panic!("{all:?}") };
    assert!(more.outcome.steady_iops.mean > less.outcome.steady_iops.mean * 1.5, "{all:?}");
}

fn trim_plan() -> Plan {
    Plan::Trim(trim::Plan {
        torture: seconds(120),
        torture_again: seconds(60),
        measurement: seconds(2),
        idle: seconds(60),
        ..trim::Plan::default()
    })
}

#[test]
fn trim_restores_a_drive_that_obeys_it_and_no_other() {
    let obeys = outcome!(on_ssd(&trim_plan(), tiny()), Trim);
    assert!(obeys.dirty.unwrap() < obeys.clean * 0.7, "{obeys:?}");
    // All of it but the erases, 3 ms for 32 pages of 600 us, which the purge had done beforehand.
    assert_near(obeys.restored().unwrap(), 19.2 / (19.2 + 3.0), 2.0);

    let mut deaf = tiny();
    deaf.trim.kind = TrimKind::Ignored;
    let ignores = outcome!(on_ssd(&trim_plan(), deaf), Trim);
    assert!(ignores.restored().unwrap() < 0.8, "{ignores:?}");
    // One sequential pass helps either.
    assert!(ignores.after_pass.unwrap() > ignores.dirty.unwrap(), "{ignores:?}");
}

#[test]
fn idle_time_restores_a_drive_that_collects_then() {
    let mut idle = tiny();
    idle.gc.idle_after = Some(seconds(1));
    idle.gc.idle_free = 24;
    let restored = outcome!(on_ssd(&trim_plan(), idle), Trim);
    let never = outcome!(on_ssd(&trim_plan(), tiny()), Trim);
    assert!(
        restored.after_idle.unwrap() > never.after_idle.unwrap() * 1.1,
        "{restored:?} {never:?}"
    );
}

#[test]
fn a_drive_that_takes_no_trim_is_told() {
    let plan =
        trim::Plan { torture: seconds(5), torture_again: seconds(5), ..trim::Plan::default() };
    let plan = trim::Plan { measurement: seconds(2), idle: seconds(5), ..plan };
    let plan = trim::Plan { span: Some(Bytes::from_mib(64)), ..plan };
    let mut disk = load("wd-velociraptor-300gb").unwrap().open("sim:disk");
    let record = record_of(&Plan::Trim(plan), disk.as_mut());
    assert!(
        record.warnings.contains(&Warning::Method(MethodWarning::NoTrim)),
        "{:?}",
        record.warnings
    );
    assert_eq!(outcome!(record, Trim).after_trim, None);
}

#[test]
fn the_levels_of_a_whole_drive_are_the_buffer_and_what_is_past_it() {
    let mut profile = buffered(SlcKind::Fixed);
    profile.slc_buffer.drain_after = seconds(1);
    let (block, rest) = (Bytes::from_kib(128), seconds(60));
    let plan = Plan::WholeDrive(whole_drive::Plan { block, rest, ..Default::default() });
    let fills = outcome!(on_ssd(&plan, profile.clone()), WholeDrive).fills;
    let [erased, half_full] = &fills[..] else { panic!("{fills:?}") };
    let (all, half) = (profile.identity.capacity.0, profile.identity.capacity.0 / 2);
    assert_eq!((erased.from.0, half_full.from.0), (0, half));
    for (fill, written) in [(erased, all), (half_full, half)] {
        let [fast, slow] = &fill.levels[..] else { panic!("{fill:?}") };
        assert_near(fast.bytes.0 as f64, BUFFER.0 as f64, 1.0);
        assert_near(fast.megabytes_per_second, INTO_BUFFER, 1.0);
        assert_near(slow.megabytes_per_second, PAST_BUFFER, 1.0);
        assert_eq!(fast.bytes.0 + slow.bytes.0, written);
        let past = (written - BUFFER.0) as f64;
        let mean = written as f64 / (BUFFER.0 as f64 / INTO_BUFFER + past / PAST_BUFFER);
        assert_near(fill.megabytes_per_second, mean, 1.0);
    }
}

/// What the drives' reviewers and data sheets tell of their buffers.
#[test]
fn the_840_evo_has_its_3_gb_and_the_qlc_drive_falls_past_its_cache() {
    let first = |drive: Profile, plan| {
        let record = record_of(&Plan::WholeDrive(plan), &mut *drive.open("sim:test"));
        outcome!(record, WholeDrive).fills[0].levels[..2].to_vec()
    };
    let span = Some(Bytes(10_000_000_000));
    let plan = whole_drive::Plan { span, ..Default::default() };
    let evo = first(load("samsung-840-evo-250gb").unwrap(), plan);
    assert_near(evo[0].bytes.0 as f64, 3e9, 1.0);
    assert_near(evo[0].megabytes_per_second, 520.0, 1.0);
    assert_near(evo[1].megabytes_per_second, 270.0, 3.0);

    let model = scaled(&load("generic-nvme-qlc-1tb").unwrap(), 16).unwrap();
    let qlc = first(model, whole_drive::Plan::default());
    assert_near(qlc[0].bytes.0 as f64, 140e9 / 16.0, 1.0);
    assert_near(qlc[0].megabytes_per_second, 1800.0, 1.0);
    assert!(qlc[1].megabytes_per_second < qlc[0].megabytes_per_second / 7.0, "{qlc:?}");
}

#[test]
fn a_buffer_that_is_not_emptied_is_missing_on_a_half_full_drive() {
    let mut profile = buffered(SlcKind::Fixed);
    profile.slc_buffer.drain_after = seconds(600);
    let plan = Plan::WholeDrive(whole_drive::Plan { rest: seconds(60), ..Default::default() });
    let fills = outcome!(on_ssd(&plan, profile), WholeDrive).fills;
    assert_eq!(fills.iter().map(|fill| fill.levels.len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(fills[1].fast_buffer(), None);
}

#[test]
fn a_drive_without_a_buffer_has_one_level() {
    let plan = Plan::WholeDrive(whole_drive::Plan { rest: seconds(10), ..Default::default() });
    let fills = outcome!(on_ssd(&plan, tiny()), WholeDrive).fills;
    for fill in fills {
        assert_eq!(fill.levels.len(), 1, "{fill:?}");
        assert_near(fill.megabytes_per_second, NAND_WRITE, 2.0);
    }
}

/// A second after the last write the buffer begins to empty itself, at the speed of native programs.
#[test]
fn the_buffer_comes_back_as_fast_as_it_is_emptied() {
    let mut profile = buffered(SlcKind::Fixed);
    profile.slc_buffer.drain_after = seconds(1);
    let plan = recovery::Plan {
        exhaust: seconds(20),
        rests: [3, 8, 60].map(seconds).to_vec(),
        burst: seconds(12),
        block: Bytes::from_kib(128),
        span: Some(tiny().identity.capacity),
        ..Default::default()
    };
    let found = outcome!(on_ssd(&Plan::Recovery(plan), profile), Recovery);
    assert_near(found.buffer.unwrap().bytes.0 as f64, BUFFER.0 as f64, 1.0);
    let back: Vec<f64> = found.bursts.iter().map(|burst| burst.back.0 as f64 / 1e6).collect();
    // A page of the buffer is read in 50 us and sent twice in 20.5 us each.
    let emptied = 4.0 * 8192.0 / (6000.0 + 50.0 + 2.0 * 20.5);
    assert_near(back[0], 2.0 * emptied, 5.0);
    assert_near(back[1], 7.0 * emptied, 2.0);
    assert_near(found.share(&found.bursts[2]).unwrap(), 1.0, 1.0);
    for burst in &found.bursts {
        assert_near(burst.end_megabytes_per_second, PAST_BUFFER, 1.0);
        let slow = burst.megabytes_per_second * 12.0 - burst.back.0 as f64 / 1e6;
        let fast_time = burst.back.0 as f64 / 1e6 / INTO_BUFFER;
        assert_near(slow, (12.0 - fast_time) * PAST_BUFFER, 3.0);
    }
}

#[test]
fn nothing_comes_back_of_no_buffer_or_of_one_that_is_not_emptied() {
    let plan = Plan::Recovery(recovery::Plan {
        exhaust: seconds(20),
        rests: vec![seconds(30)],
        burst: seconds(12),
        block: Bytes::from_kib(128),
        span: Some(tiny().identity.capacity),
        ..Default::default()
    });
    let none = outcome!(on_ssd(&plan, tiny()), Recovery);
    assert_eq!((none.buffer, none.bursts[0].back), (None, Bytes::ZERO));
    let mut keeps = buffered(SlcKind::Fixed);
    keeps.slc_buffer.drain_after = seconds(600);
    let keeps = outcome!(on_ssd(&plan, keeps), Recovery);
    assert!(keeps.share(&keeps.bursts[0]).unwrap() < 0.01, "{keeps:?}");
    assert!(!keeps.bursts[0].all, "{keeps:?}");
}

/// A page of the map stands for 8 MiB, and eight of them fit.
#[test]
fn a_map_cache_is_seen_at_its_size() {
    let plan = Plan::WorkingSet(working_set::Plan {
        smallest: Bytes::from_mib(1),
        duration: seconds(4),
        ..Default::default()
    });
    let mut profile = tiny();
    profile.mapping.cache = Some(Bytes::from_kib(64));
    let found = outcome!(on_ssd(&plan, profile), WorkingSet);
    let end = found.map_end.unwrap();
    assert_eq!(end.fits, Bytes::from_mib(64));
    assert_near(end.holds.0 as f64, Bytes::from_mib(64).0 as f64, 3.0);
    // A page of the map: array 50, channel 8192 / 400 microseconds.
    assert_near(end.fetch_ns as f64, 50e3 + 8192.0 / 0.4, 3.0);

    let mut roomy = tiny();
    roomy.mapping.cache = Some(Bytes::from_mib(64));
    let all = outcome!(on_ssd(&plan, roomy), WorkingSet);
    assert_eq!((all.map_end, all.spans.len()), (None, 9));
    let [first, .., last] = &all.spans[..] else { panic!("{all:?}") };
    assert_eq!((first.span, last.span), (Bytes::from_mib(1), Bytes::from_mib(224)));
    assert_near(first.rate.iops, last.rate.iops, 0.1);
}

fn queue_depths(queue_depths: Vec<usize>) -> Plan {
    let (measurement, soak) = (seconds(2), seconds(2));
    Plan::QueueDepth(queue_depth::Plan { queue_depths, measurement, soak, ..Default::default() })
}

/// By Little's law; what the drive does not take at once waits in the host.
#[test]
fn a_drive_scales_as_far_as_it_takes_ios_at_once() {
    let takes_2_ms = |_: &_, _| Nanos::from_millis(2);
    let mut device = Scripted::new(Bytes::from_mib(64), takes_2_ms).side_by_side();
    let record = record_of(&queue_depths(vec![1, 8, 64]), &mut device);
    assert_eq!(record.warnings, []);
    let loads = outcome!(record, QueueDepth).loads;
    let names: Vec<String> = loads.iter().map(|load| load.load.name()).collect();
    let orders = ["random", "sequential"].into_iter();
    let expected =
        orders.flat_map(|order| ["read", "70-30", "write"].map(|of| format!("{order}-{of}")));
    assert_eq!(names, expected.collect::<Vec<_>>());
    for load in &loads {
        for (depth, at_once, millis) in [(0, 1.0, 2.0), (1, 8.0, 2.0), (2, 32.0, 4.0)] {
            let figures = load.depths[depth];
            assert_near(figures.rate.iops, at_once / 0.002, 1.0);
            assert_near(figures.rate.mean_ns as f64 / 1e6, millis, 1.0);
            assert_near(figures.latency.p99_ns.unwrap() as f64 / 1e6, millis, 1.0);
        }
    }
}

/// And one that serves one after the other not at all; writes come after all reads.
#[test]
fn a_drive_that_does_one_thing_at_a_time_gains_nothing_by_a_queue() {
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(2));
    let record = record_of(&queue_depths(vec![1, 32]), &mut device);
    let is_writing = |name: &str| ["-write-", "-70-30-"].iter().any(|load| name.contains(load));
    let phases: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    let first = phases.iter().position(|name| is_writing(name)).unwrap();
    assert!(!phases[first..].iter().any(|name| name.contains("-read-")), "{phases:?}");
    for load in outcome!(record, QueueDepth).loads {
        for figures in load.depths {
            assert_near(figures.rate.iops, 500.0, 1.0);
            let waits = figures.queue_depth as f64 * 2.0;
            assert_near(figures.rate.mean_ns as f64 / 1e6, waits, 3.0);
        }
    }
}

const SERVICE: Nanos = Nanos::from_micros(100);

fn at_loads(percents: Vec<u32>, gaps: Gaps, measurement: Nanos) -> Plan {
    let plan = latency_at_load::Plan { percents, measurement, ..Default::default() };
    Plan::LatencyAtLoad(latency_at_load::Plan { gaps: vec![gaps], ..plan })
}

/// Its saturation and the course of its response times.
fn course_of(plan: &Plan, device: &mut dyn Device) -> (f64, latency_at_load::Course) {
    let record = record_of(plan, device);
    assert_eq!(record.warnings, []);
    let load = outcome!(record, LatencyAtLoad).loads.remove(0);
    (load.saturation_iops, load.courses[0].clone())
}

/// M/D/1: the mean response time by Pollaczek and Khinchine, and the knee that follows from it.
#[test]
fn a_constant_service_time_at_random_arrivals_waits_as_theory_has_it() {
    let plan = at_loads(vec![20, 50, 60, 70, 80], Gaps::Poisson, seconds(60));
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| SERVICE);
    let (saturation, course) = course_of(&plan, &mut device);
    assert_near(saturation, 10_000.0, 0.1);
    for step in &course.steps {
        let load = f64::from(step.percent) / 100.0;
        let expected = SERVICE.0 as f64 * (1.0 + load / (2.0 * (1.0 - load)));
        assert_near(step.rate.mean_ns as f64, expected, 2.0);
        assert!(step.p99999_ns.unwrap() <= step.rate.max_ns, "{step:?}");
    }
    let knee = course.knee.unwrap();
    assert_near(knee.percent, 100.0 * (2.0 - 2f64.sqrt()), 2.0);
    assert_near(knee.iops, 10_000.0 * (2.0 - 2f64.sqrt()), 2.0);
    let share = 2.0 - 2f64.sqrt();
    let expected = SERVICE.0 as f64 * (1.0 + share / (2.0 * (1.0 - share)));
    assert_near(knee.mean_ns as f64, expected, 2.0);
}

/// M/M/1: service over what is left of the saturation, and the knee at half of it.
#[test]
fn an_exponential_service_time_has_its_knee_at_half_of_saturation() {
    let mut state = 1u64;
    let exponential = move |_: &_, _| {
        // Knuth's multiplier; the upper bits are the random ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        Nanos((-uniform.ln() * SERVICE.0 as f64) as u64)
    };
    let plan = at_loads(vec![20, 40, 50, 60, 70], Gaps::Poisson, seconds(60));
    let mut device = Scripted::new(Bytes::from_mib(64), exponential);
    let (saturation, course) = course_of(&plan, &mut device);
    assert_near(saturation, 10_000.0, 0.5);
    for step in &course.steps {
        let expected = SERVICE.0 as f64 / (1.0 - f64::from(step.percent) / 100.0);
        assert_near(step.rate.mean_ns as f64, expected, 2.0);
    }
    assert_near(course.knee.unwrap().percent, 50.0, 2.0);
}

/// Nobody waits for anybody, and no knee is seen.
#[test]
fn arrivals_at_equal_steps_do_not_queue() {
    let plan = at_loads(vec![5, 50, 100], Gaps::Steady, seconds(10));
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| SERVICE);
    let (_, course) = course_of(&plan, &mut device);
    for step in &course.steps {
        let known = [Some(step.rate.mean_ns), Some(step.p50_ns), step.p999_ns];
        assert_eq!(known, [Some(SERVICE.0); 3], "{step:?}");
        assert_eq!(step.rate.max_ns, SERVICE.0);
    }
    let tail = |step: &latency_at_load::Step| [step.p9999_ns, step.p99999_ns];
    assert_eq!(tail(&course.steps[0]), [None; 2], "of 5,000");
    assert_eq!(tail(&course.steps[2]), [Some(SERVICE.0); 2], "of 100,000");
    assert_eq!(course.knee, None);
}

/// Waits grow from nothing to what a tenth more arrivals than services leave undone.
#[test]
fn a_load_past_saturation_is_told() {
    let plan = at_loads(vec![50, 110], Gaps::Steady, seconds(10));
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| SERVICE);
    let record = record_of(&plan, &mut device);
    let [Warning::Method(MethodWarning::FellBehind { phase, asked, done })] = &record.warnings[..]
    else {
        panic!("{:?}", record.warnings)
    };
    assert_eq!(phase, "random-read-steady-110%");
    assert_near(*asked, 11_000.0, 0.1);
    assert_near(*done, 10_000.0, 0.1);
    let course = outcome!(record, LatencyAtLoad).loads[0].courses[0].clone();
    assert_eq!(course.steps.iter().map(|step| step.fell_behind).collect::<Vec<_>>(), [false, true]);
    assert_near(course.steps[1].rate.max_ns as f64 / 1e9, 1.0, 1.0);
    assert_near(course.knee.unwrap().percent, 50.0, 0.1);
}

fn read_write_mix(read_percents: Vec<u8>, drive_writes_per_day: Vec<f64>) -> Plan {
    let (measurement, beside, soak) = (seconds(5), seconds(10), seconds(2));
    Plan::ReadWriteMix(read_write_mix::Plan {
        read_percents,
        drive_writes_per_day,
        measurement,
        beside,
        soak,
        ..Default::default()
    })
}

/// Writes take three times as long as reads, one after the other.
#[test]
fn a_mixture_is_as_fast_as_the_times_of_its_parts() {
    let takes = |io: &writecliff_device::Io, _| match io.operation {
        Operation::Write => SERVICE * 3,
        _ => SERVICE,
    };
    let mut device = Scripted::new(Bytes::from_mib(64), takes);
    let record = record_of(&read_write_mix(vec![100, 50, 0], vec![]), &mut device);
    assert_eq!(record.warnings, []);
    let mixes = outcome!(record, ReadWriteMix).mixes;
    assert_eq!(mixes.len(), 6);
    for mix in &mixes {
        let reads = f64::from(mix.load.read_percent) / 100.0;
        let expected = 10_000.0 / (reads + 3.0 * (1.0 - reads));
        assert_near(mix.iops(), expected, 1.0);
        let sides = [mix.reads.is_some(), mix.writes.is_some()];
        assert_eq!(sides, [reads > 0.0, reads < 1.0]);
        for (side, share) in [(mix.reads, reads), (mix.writes, 1.0 - reads)] {
            let Some(side) = side else { continue };
            assert_near(side.rate.iops, expected * share, 2.0);
            // By Little's law, whoever it is that waits.
            assert_near(side.rate.mean_ns as f64, 32e9 / expected, 2.0);
        }
    }
}

/// A write takes as long as ten reads; a read that comes meanwhile waits for what is left of it.
#[test]
fn reads_beside_writes_wait_for_them() {
    let takes = |io: &writecliff_device::Io, _| match io.operation {
        Operation::Write => SERVICE * 10,
        _ => SERVICE,
    };
    let mut device = Scripted::new(Bytes::from_mib(64), takes);
    // 100 writes of 4 KiB a second.
    let times = 86_400.0 * 409_600.0 / Bytes::from_mib(64).0 as f64;
    let plan = read_write_mix(vec![100], vec![0.0, times]);
    let beside = outcome!(record_of(&plan, &mut device), ReadWriteMix).beside;
    let [alone, disturbed] = &beside[..] else { panic!("{beside:?}") };
    assert_eq!((alone.writes, alone.reads.latency.max_ns), (None, SERVICE.0));
    // A thousand in ten seconds, give or take three deviations.
    let writes = disturbed.writes.unwrap().rate.iops;
    assert_near(writes, 100.0, 10.0);
    let latency = disturbed.reads.latency;
    assert_near(latency.p50_ns as f64, SERVICE.0 as f64, 0.8);
    assert!(latency.max_ns >= 11 * SERVICE.0);
    // A tenth of the time is the writes'.
    assert_near(disturbed.reads.rate.iops, 10_000.0 * (1.0 - writes * 1e-3), 0.2);
}

/// A write keeps the reads that begin meanwhile until it ends: at random moments of a read, whatever the
/// reads' own time is. Each write costs what is left of it when the read under way ends, on average the
/// write's time less half a read's.
#[test]
fn reads_meet_writes_at_every_phase() {
    for micros in [80, 100, 125, 200] {
        let (read, write) = (Nanos::from_micros(micros), Nanos::from_millis(1));
        let mut kept_until = DeviceTime(0);
        let takes = move |io: &writecliff_device::Io, begins: DeviceTime| match io.operation {
            Operation::Write => {
                kept_until = kept_until.max(begins + write);
                write
            }
            _ => kept_until.max(begins).since(begins) + read,
        };
        let mut device = Scripted::new(Bytes::from_mib(64), takes).side_by_side();
        // 20 writes of 4 KiB a second: two seldom meet.
        let times = 86_400.0 * 81_920.0 / Bytes::from_mib(64).0 as f64;
        let plan = read_write_mix::Plan {
            read_percents: vec![100],
            drive_writes_per_day: vec![times],
            measurement: seconds(1),
            beside: seconds(120),
            soak: seconds(1),
            ..Default::default()
        };
        let beside =
            outcome!(record_of(&Plan::ReadWriteMix(plan), &mut device), ReadWriteMix).beside;
        let (read, write) = (read.as_secs_f64(), write.as_secs_f64());
        let waited = 20.0 * (write - read / 2.0);
        assert_near(beside[0].reads.rate.iops, (1.0 - waited) / read, 0.1);
        // What of a second is no reading is waiting: of that the mean tells to 5 %.
        let told = 1.0 - beside[0].reads.rate.iops * read;
        assert_near(told, waited, 5.0);
    }
}

/// A write takes a millisecond, and two thousand are asked for.
#[test]
fn more_drive_writes_than_a_drive_can_do_are_a_doubt() {
    let takes = |io: &writecliff_device::Io, _| match io.operation {
        Operation::Write => SERVICE * 10,
        _ => SERVICE,
    };
    let capacity = Bytes::from_gib(1);
    let mut device = Scripted::new(capacity, takes);
    let times = 86_400.0 * f64::from(2000 * 4096) / capacity.0 as f64;
    let record = record_of(&read_write_mix(vec![100], vec![times / 10.0, times]), &mut device);
    let [Warning::Method(MethodWarning::WritesFellBehind { drive_writes_per_day, asked, done })] =
        record.warnings[..]
    else {
        panic!("{:?}", record.warnings)
    };
    assert_eq!(drive_writes_per_day, times);
    assert_near(asked, 2000.0, 0.1);
    assert_near(done, 32.0 / (32.0 * 0.001 + 0.0001), 1.0);
}

/// Ten drive writes a day of the real drives, as models of a 32nd of their blocks.
#[test]
fn the_s3700_s_reads_have_a_shorter_tail_beside_writes_than_the_840_pro_s() {
    let tail = |name: &str| {
        let model = scaled(&load(name).unwrap(), 32).unwrap();
        let plan = read_write_mix::Plan {
            read_percents: vec![100],
            measurement: seconds(1),
            drive_writes_per_day: vec![320.0],
            beside: seconds(10),
            ..Default::default()
        };
        let plan = Plan::ReadWriteMix(plan);
        outcome!(on_ssd(&plan, model.into_ssd().unwrap()), ReadWriteMix).beside[0].reads.latency
    };
    let (s3700, pro) = (tail("intel-dc-s3700-200gb"), tail("samsung-840-pro-256gb"));
    // A program and what is not waited for it.
    let (short, long) = (s3700.p9999_ns.unwrap(), pro.p999_ns.unwrap());
    assert!(short < 1_600_000, "{s3700:?}");
    assert!(long > 5 * short, "{pro:?} {s3700:?}");
}

/// What the writes before it have left behind is done by then.
#[test]
fn reads_alone_wait_for_nothing() {
    let plan = read_write_mix(vec![0], vec![0.0]);
    let alone = outcome!(on_ssd(&plan, tiny()), ReadWriteMix).beside[0].reads.rate;
    assert!(alone.max_ns <= alone.mean_ns + 1, "{alone:?}");
}

#[test]
fn corners_are_the_sum_of_their_parts() {
    let plan = corners::Plan {
        random_duration: seconds(2),
        sequential_duration: seconds(2),
        random_write_queue_depths: vec![32],
        random_read_queue_depth: 1,
        ..corners::Plan::default()
    };
    let found = outcome!(on_ssd(&Plan::Corners(plan), tiny()), Corners).corners;
    let corner = |operation, random, data| {
        let is_it = |found: &&corners::CornerFigures| {
            let corner = &found.corner;
            (corner.operation, corner.random, corner.data) == (operation, random, data)
        };
        found.iter().find(is_it).unwrap().rate
    };
    let write = corner(Operation::Write, true, Data::Random);
    assert_near(write.megabytes_per_second, NAND_WRITE, 2.0);
    assert_eq!(write, corner(Operation::Write, true, Data::Repeating), "nothing here compresses");
    // Command 2, firmware 5, array 50, channel 4096 / 400, link 4096 / 550 microseconds.
    let read_us = 2.0 + 5.0 + 50.0 + 4096.0 / 400.0 + 4096.0 / 550.0;
    assert_near(corner(Operation::Read, true, Data::Random).iops, 1e6 / read_us, 0.5);
    assert_eq!(found.len(), 6);
}

#[test]
fn a_corner_within_the_slc_buffer_is_told() {
    let profile = buffered(SlcKind::Dynamic);
    let plan = |length| corners::Plan {
        random_duration: length,
        sequential_duration: length,
        ..corners::Plan::default()
    };
    let told = |length| {
        let record = on_ssd(&Plan::Corners(plan(length)), profile.clone());
        let within = |warning: &&Warning| {
            matches!(warning, Warning::Method(MethodWarning::WithinBuffer { .. }))
        };
        record.warnings.iter().filter(within).count()
    };
    assert_eq!(told(seconds(2)), 6, "2 s at 16 MB/s fit into 64 MiB");
    assert_eq!(told(seconds(20)), 0);
}

fn fullness_plan() -> fullness::Plan {
    fullness::Plan {
        percents: vec![0, 100],
        area: Bytes::from_mib(16),
        rest: seconds(10),
        random_duration: seconds(20),
        sequential_duration: seconds(2),
        map: Map::Scale,
        operations: Some(2000),
        ..Default::default()
    }
}

#[test]
fn a_full_drive_has_less_room_to_collect_and_is_otherwise_as_fast() {
    let steps = outcome!(on_ssd(&Plan::Fullness(fullness_plan()), tiny()), Fullness).steps;
    let [empty, full] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!((empty.percent, full.percent), (0, 100));
    let [write, read, random_read, random_write] = [0, 1, 2, 3].map(|index| {
        let rates = [empty, full].map(|step| step.corners[index].rate);
        (rates[0].megabytes_per_second, rates[1].megabytes_per_second)
    });
    for (empty, full) in [read, random_read] {
        assert_near(full, empty, 1.0);
    }
    // A block of the full drive is erased, 3 ms for 32 pages of 600 us, which the purge had done.
    let with_erases = NAND_WRITE * 19.2 / (19.2 + 3.0);
    assert_near(write.0, NAND_WRITE, 1.0);
    assert!((with_erases..0.95 * NAND_WRITE).contains(&write.1), "{write:?}");
    // Of the other's blocks most hold nothing, so that one without valid pages is always found.
    assert_near(random_write.0, with_erases, 5.0);
    assert!(random_write.1 < 0.9 * random_write.0, "{random_write:?}");
}

#[test]
fn an_empty_drive_is_a_sixteenth_full_at_most_unless_the_plan_says_so() {
    let area = |plan| match on_ssd(&Plan::Fullness(plan), tiny()).plan {
        Plan::Fullness(plan) => plan.area,
        other => panic!("{other:?}"),
    };
    let capacity = Ssd::new(tiny(), "tiny").info().capacity;
    let named = fullness::Plan { percents: vec![0], ..fullness_plan() };
    let left_open = fullness::Plan { area: fullness::Plan::default().area, ..named.clone() };
    assert_eq!(area(named), Bytes::from_mib(16));
    let area = area(left_open);
    assert!(area <= Bytes(capacity.0 / 16) && area >= Bytes(capacity.0 / 20), "{area}");
}

#[test]
fn a_trace_on_the_full_drive_is_the_storage_bench() {
    let (map, operations) = (Map::Scale, Some(10_000));
    let plan = fullness::Plan { percents: vec![100], operations, ..fullness_plan() };
    let steps = outcome!(on_ssd(&Plan::Fullness(plan), tiny()), Fullness).steps;
    let served = steps[0].served.as_ref().unwrap();
    let plan = storage_bench::Plan { map, operations, ..Default::default() };
    let bench = &outcome!(on_ssd(&Plan::StorageBench(plan), tiny()), StorageBench).traces[0];
    assert_eq!((&served.trace, &served.identity), (&bench.trace, &bench.identity));
    assert_eq!(served.all.bytes, bench.all.bytes);
    // The drive was written to before, so its blocks are in another order.
    assert_near(served.all.megabytes_per_second, bench.all.megabytes_per_second, 3.0);
}

#[test]
fn only_a_drive_that_compresses_gains_by_compressible_data() {
    let plan = Plan::Incompressible(incompressible::Plan {
        compressible_percents: vec![0, 50, 80],
        amount: Bytes::from_mib(128),
        block: Bytes::from_mib(1),
        ..incompressible::Plan::default()
    });
    let writes = |compression| {
        let mut profile = tiny();
        profile.reduction.compression = compression;
        let steps = outcome!(on_ssd(&plan, profile), Incompressible).steps;
        steps.iter().map(|step| step.write).collect::<Vec<_>>()
    };
    let plain = writes(false);
    plain.iter().for_each(|write| assert_near(*write, NAND_WRITE, 2.0));
    let compressing = writes(true);
    assert_near(compressing[0], NAND_WRITE, 2.0);
    // Half of every page is left, and a fifth.
    assert_near(compressing[1], NAND_WRITE * 2.0, 3.0);
    assert_near(compressing[2], NAND_WRITE * 5.0, 5.0);
}

#[test]
fn each_transfer_size_takes_its_fixed_time_and_its_bytes_time() {
    // 100 us for every transfer, and 100 MB/s.
    let script = |io: &writecliff_device::Io, _: DeviceTime| {
        Nanos::from_micros(100) + Throughput(100_000_000).time_for(io.length)
    };
    let mut device = Scripted::new(Bytes::from_mib(64), script);
    let plan = transfer_size::Plan { span: Bytes::from_mib(16), ..transfer_size::Plan::default() };
    let sizes = outcome!(record_of(&Plan::TransferSize(plan), &mut device), TransferSize).sizes;
    assert_eq!((sizes.len(), sizes[0].size, sizes[14].size), (15, Bytes(512), Bytes::from_mib(8)));
    for figures in sizes {
        let megabytes = figures.size.0 as f64 / 1e6;
        let expected = megabytes / (100e-6 + megabytes / 100.0);
        assert_near(figures.write, expected, 0.1);
        assert_near(figures.read.unwrap(), expected, 0.1);
    }
}

#[test]
fn pauses_are_found_with_their_length() {
    // 100 us for everything, but for three pauses of a known length at a known time.
    let pauses = [(3_000, 150), (7_500, 600), (9_000, 101)].map(|(start_ms, length_ms)| {
        let start = DeviceTime(0) + Nanos::from_millis(start_ms);
        (start, start + Nanos::from_millis(length_ms))
    });
    let mut use_begins = None;
    let script = move |io: &writecliff_device::Io, begins: DeviceTime| {
        if io.length == Bytes::from_kib(4) {
            use_begins.get_or_insert(begins);
        }
        let end = begins + Nanos::from_micros(100);
        let since = DeviceTime(0) + end.since(use_begins.unwrap_or(begins));
        let pause = pauses.iter().find(|(start, stop)| (*start..*stop).contains(&since));
        pause.map_or(Nanos::from_micros(100), |(_, stop)| {
            Nanos::from_micros(100) + stop.since(since)
        })
    };
    let mut device = Scripted::new(Bytes::from_mib(64), script);
    let plan = stutter::Plan { duration: seconds(12), ..stutter::Plan::default() };
    let found = outcome!(record_of(&Plan::Stutter(plan), &mut device), Stutter);
    // A write may begin up to its thinking time after the pause has.
    let expected = [(8, 600.0), (3, 150.0), (9, 101.0)];
    for (pause, (second, length_ms)) in found.pauses.iter().zip(expected) {
        assert_eq!(pause.second, second, "{:?}", found.pauses);
        let length = pause.length_ns as f64 / 1e6;
        assert!((length_ms - 21.0..length_ms + 1.0).contains(&length), "{:?}", found.pauses);
    }
    let writes = found.writes as f64;
    assert_eq!(found.over_500ms, 1.0 / writes);
    let slow = found.pauses.iter().filter(|pause| pause.length_ns > 100_800_000).count() as f64;
    assert_eq!(found.over_100ms, slow / writes, "{:?}", found.pauses);
    assert_near(found.background, 20.0, 1.0);
    // 12 s less the pauses, a write every 10.1 ms on average.
    assert_near(writes, (12.0 - 0.85) / 10.15e-3, 6.0);
}

/// A write of the stream keeps the drive for 2 ms of every 6.55; a small write that comes at any moment
/// of them waits for what is left of it.
#[test]
fn a_small_write_meets_the_stream_at_every_phase() {
    for busy in [500, 2000, 4000] {
        let script = move |io: &writecliff_device::Io, _| match io.length == Bytes::from_kib(4) {
            true => Nanos::from_micros(100),
            false => Nanos::from_micros(busy),
        };
        let mut device = Scripted::new(Bytes::from_mib(64), script);
        let plan = stutter::Plan { duration: seconds(300), ..stutter::Plan::default() };
        let found = outcome!(record_of(&Plan::Stutter(plan), &mut device), Stutter);
        let (busy, step) = (busy as f64 * 1e3, 131_072.0 / 20e6 * 1e9);
        assert_near(found.mean_ns as f64, 100e3 + busy * busy / 2.0 / step, 5.0);
    }
}

#[test]
fn power_is_what_the_parts_draw() {
    let mut profile = tiny();
    profile.power.idle = Power(300_000);
    profile.power.active = Power(200_000);
    profile.power.program = Energy(50_000);
    let short = seconds(10);
    let plan = power::Plan { idle: short, load: seconds(4), settle: short, ..Default::default() };
    let phases = outcome!(on_ssd(&Plan::Power(plan), profile), Power).phases;
    let names: Vec<&str> = phases.iter().map(|phase| phase.phase.as_str()).collect();
    let all = [power::IDLE, power::SEQUENTIAL_WRITE, power::AFTER_SEQUENTIAL];
    assert_eq!(names, [&all[..], &[power::RANDOM_WRITE, power::AFTER_RANDOM]].concat());
    assert_near(phases[0].mean, 0.3, 0.01);
    assert_eq!(phases[0].settled_after_s, Some(0));
    // A page every 150 us at 50 uJ, beside the controller.
    assert_near(phases[1].mean, 0.5 + 50.0 / 150.0, 2.0);
    assert_near(phases[2].settled, 0.3, 0.01);
}

#[test]
fn a_drive_that_tells_no_power_is_told_apart() {
    let short = seconds(2);
    let plan = power::Plan { idle: short, load: short, settle: short, ..Default::default() };
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
    let record = record_of(&Plan::Power(plan), &mut device);
    assert_eq!(
        (record.outcome, record.warnings),
        (None, vec![Warning::Method(MethodWarning::NoPower)])
    );
}

/// Slumber after a second and a half, DevSleep after five.
fn sleepy() -> SsdProfile {
    let state = |name: &str, after, exit, milliwatts: u64| SleepState {
        name: name.to_owned(),
        after: Nanos::from_millis(after),
        exit_time: Nanos::from_micros(exit),
        power: Power(milliwatts * 1000),
    };
    let mut profile = tiny();
    profile.power.idle = Power(300_000);
    profile.link.sleep = vec![state("slumber", 1500, 77, 50), state("DevSleep", 5000, 12_345, 5)];
    profile
}

#[test]
fn a_rest_costs_the_exit_time_of_the_state_that_it_leads_to() {
    let rests = [200, 1000, 3000, 8000].map(Nanos::from_millis).to_vec();
    let plan = idle::Plan { rests, ..idle::Plan::default() };
    let outcome = outcome!(on_ssd(&Plan::Idle(plan), sleepy()), Idle);
    let exits = outcome.rests.iter().map(|rest| rest.first_ns - outcome.awake_ns);
    assert_eq!(exits.collect::<Vec<_>>(), [0, 0, 77_000, 12_345_000]);
    assert!(outcome.rests.iter().all(|rest| rest.first_max_ns == rest.first_ns), "{outcome:?}");
    let watts: Vec<f64> = outcome.rests.iter().map(|rest| rest.watts.unwrap()).collect();
    for (watts, expected) in watts.into_iter().zip([0.3, 0.3, 0.05, 0.005]) {
        assert_near(watts, expected, 0.5);
    }
}

#[test]
fn a_drive_that_does_not_sleep_costs_nothing_to_wake() {
    let rests = vec![seconds(1), seconds(100)];
    let plan = idle::Plan { rests, ..idle::Plan::default() };
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
    let record = record_of(&Plan::Idle(plan), &mut device);
    let outcome = outcome!(record, Idle);
    assert!(outcome.rests.iter().all(|rest| rest.first_ns == outcome.awake_ns), "{outcome:?}");
    assert_eq!(record.warnings, [Warning::Method(MethodWarning::NoPower)]);
}

/// A drive that settles at 65 degrees under load, 4 W at 10 degrees each, and at 35 without any.
fn warm(throttle_at: u64) -> SsdProfile {
    let mut profile = tiny();
    profile.nand.erase_time = Nanos::ZERO;
    profile.power.idle = Power(1_000_000);
    profile.power.active = Power(3_000_000);
    profile.power.ambient = Temperature(25_000);
    profile.power.rise_per_watt = Temperature(10_000);
    profile.power.time_constant = seconds(10);
    profile.power.throttle_at = Temperature(throttle_at);
    profile.power.throttled_throughput = Some(Throughput(5_000_000));
    profile
}

#[test]
fn a_drive_throttles_when_it_has_the_temperature_for_it() {
    let plan =
        Plan::Heat(heat::Plan { load: seconds(60), rest: seconds(120), ..Default::default() });
    let record = on_ssd(&plan, warm(58_000));
    let outcome = outcome!(record, Heat);
    assert_eq!(outcome.limit_celsius, Some(58.0));
    for load in &outcome.loads {
        // 65 - 30 e^(-t / 10 s) is 58 after 14.6 s.
        let throttled = load.throttled.unwrap();
        assert_eq!((throttled.after_s, throttled.by), (14, heat::Sign::Limit), "{load:?}");
        assert!(load.held() < 0.3, "{load:?}");
    }
    assert_eq!(record.warnings, [], "that it became warm is what was asked for");

    for load in outcome!(on_ssd(&plan, warm(0)), Heat).loads {
        assert_eq!(load.throttled, None);
        assert_near(load.held(), 1.0, 1.0);
        assert_near(load.highest_celsius.unwrap(), 65.0, 1.0);
    }
}

#[test]
fn a_drive_without_a_thermometer_says_so() {
    let (load, rest) = (seconds(10), seconds(2));
    let plan = Plan::Heat(heat::Plan { load, rest, ..Default::default() });
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
    let record = record_of(&plan, &mut device);
    assert_eq!(outcome!(record, Heat).loads.len(), 2);
    assert_eq!(record.warnings, [Warning::Method(MethodWarning::NoTemperature)]);
}

fn plan_of(test: &str) -> Plan {
    let entry = TESTS.iter().find(|entry| entry.name == test).unwrap();
    (entry.plan)()
}

#[test]
fn what_a_model_does_not_do_has_no_figures_and_is_not_run() {
    let mut whole = warm(0);
    whole.link.sleep = sleepy().link.sleep;
    whole.mapping.cache = Some(Bytes::from_kib(64));
    for name in ["idle", "heat", "working-set"] {
        let plan = || plan_of(name).quick();
        let record = on_ssd(&plan(), tiny());
        let [Warning::Method(MethodWarning::NotModelled { .. })] = record.warnings[..] else {
            panic!("{name}: {:?}", record.warnings);
        };
        assert_eq!((record.outcome, record.phases.len()), (None, 0), "{name}");
        assert!(on_ssd(&plan(), whole.clone()).outcome.is_some(), "{name}");
    }
}

/// A device whose 4 KiB writes take what the round gives, in microseconds; all else is quick.
fn settling(rounds: &'static [u64], round: Nanos) -> Scripted {
    let mut first = None;
    Scripted::new(Bytes::from_mib(1), move |io, begins| {
        if io.length != Bytes::from_kib(4) {
            return Nanos::from_micros(10);
        }
        let since = begins.since(*first.get_or_insert(begins));
        let index = (since.0 / round.0) as usize;
        Nanos::from_micros(rounds[index.min(rounds.len() - 1)])
    })
}

fn iops_part(rounds_max: u32) -> Plan {
    Plan::SteadyState(steady_state::Plan {
        parts: vec![Part::Iops],
        iops_read_percents: vec![0],
        iops_sizes: vec![Bytes::from_kib(4)],
        measurement: seconds(2),
        rounds_max,
        ..steady_state::Plan::default()
    })
}

#[test]
fn a_drive_that_settles_in_round_7_is_steady_then() {
    let mut device = settling(&[200, 400, 800, 800, 800, 800, 800, 800, 800], seconds(2));
    let record = record_of(&iops_part(25), &mut device);
    let outcome = outcome!(record, SteadyState);
    let part = &outcome.parts[0];
    assert!(part.steady && part.tracked.len() == 7, "{part:?}");
    assert_eq!(part.window.first_round, 3);
    assert_near(part.window.average, 1250.0, 0.5);
    assert_near(part.cells[0].rate.iops, 1250.0, 0.5);
    assert!(record.warnings.is_empty(), "{:?}", record.warnings);
}

#[test]
fn a_drive_that_never_settles_ends_after_the_last_round_with_a_warning() {
    let swings = &[400, 800, 400, 800, 400, 800, 400, 800];
    let record = record_of(&iops_part(8), &mut settling(swings, seconds(2)));
    let outcome = outcome!(record, SteadyState);
    assert!(!outcome.parts[0].steady && outcome.parts[0].tracked.len() == 8, "{outcome:?}");
    let never = Warning::Method(MethodWarning::NeverSteady { part: "iops".to_owned(), rounds: 8 });
    assert_eq!(record.warnings, [never]);
}

/// A drive that takes a millisecond for anything, one after the other.
#[test]
fn throughput_is_measured_in_either_size() {
    let plan = |part| {
        let parts = vec![part];
        Plan::SteadyState(steady_state::Plan {
            parts,
            measurement: seconds(2),
            ..Default::default()
        })
    };
    for (part, size) in [(Part::Throughput, 128), (Part::ThroughputMib, 1024)] {
        let size = Bytes::from_kib(size);
        let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
        let found = outcome!(record_of(&plan(part), &mut device), SteadyState);
        let part = &found.parts[0];
        assert!(part.steady && part.tracked.len() == 5, "{part:?}");
        assert_near(part.window.average, size.0 as f64 / 1000.0, 0.5);
        let cells: Vec<_> = part.cells.iter().map(|c| (c.cell.read_percent, c.cell.size)).collect();
        assert_eq!(cells, [(100, size), (0, size)]);
    }
}

#[test]
fn write_saturation_writes_what_the_plan_says() {
    let plan =
        steady_state::Plan { parts: vec![Part::WriteSaturation], ..steady_state::Plan::default() };
    let record = on_ssd(&Plan::SteadyState(plan), tiny());
    let saturation = outcome!(record, SteadyState).saturation.unwrap();
    assert_eq!(saturation.written, Bytes::from_mib(4 * 224));
    assert!(saturation.last_iops < saturation.first_iops, "{saturation:?}");
    assert!(saturation.write_amplification.unwrap() > 1.5, "{saturation:?}");
}

/// Rounds of two seconds, and of the optional parts as little as shows what they find.
fn optional(part: Part) -> steady_state::Plan {
    steady_state::Plan {
        parts: vec![part],
        queue_depth: 1,
        measurement: seconds(2),
        soak_round: seconds(3),
        ..Default::default()
    }
}

/// A millisecond a write, but a tenth of that for a second after every rest of ten or more.
#[test]
fn host_idle_recovery_shows_from_which_rest_on_a_drive_recovers() {
    let (mut last, mut fast_until) = (DeviceTime(0), DeviceTime(0));
    let mut device = Scripted::new(Bytes::from_mib(64), move |_, begins| {
        if begins.since(last) >= seconds(9) {
            fast_until = begins + seconds(1);
        }
        last = begins;
        Nanos::from_micros(if begins < fast_until { 100 } else { 1000 })
    });
    let host_idle = steady_state::HostIdleSettings {
        rests: [5, 10, 50].map(seconds).to_vec(),
        accesses: 4,
        baseline: seconds(10),
        ..Default::default()
    };
    let plan = steady_state::Plan { host_idle, ..optional(Part::HostIdleRecovery) };
    let record = record_of(&Plan::SteadyState(plan), &mut device);
    let found = outcome!(record, SteadyState).host_idle.unwrap();
    assert!(found.before.steady && found.before.tracked.len() == 5, "{found:?}");
    assert_near(found.before.window.average, 1000.0, 0.5);
    let recovered = (10_000.0 + 4.0 * 1000.0) / 5.0;
    assert_eq!(found.rests.len(), 3);
    for (after, expected) in found.rests.iter().zip([1000.0, recovered, recovered]) {
        assert_near(after.iops, expected, 0.5);
        assert_near(after.first_iops, expected, 0.5);
        assert_near(after.last_iops, expected, 0.5);
        assert_near(after.baseline_iops, 1000.0, 0.5);
    }
    assert!(record.warnings.is_empty(), "{:?}", record.warnings);
}

/// A millisecond a write, and twice that for so many sequential writes after random ones.
fn upset(writes: u32) -> Scripted {
    let mut slow = 0;
    Scripted::new(Bytes::from_mib(64), move |io, _| {
        if io.length == Bytes::from_kib(8) {
            slow = writes;
            return Nanos::from_millis(1);
        }
        slow = u32::saturating_sub(slow, 1);
        Nanos::from_millis(if slow > 0 { 2 } else { 1 })
    })
}

#[test]
fn cross_stimulus_recovery_tells_how_long_random_writes_are_felt() {
    let times = |sequential| steady_state::CrossStimulusSettings {
        sequential: seconds(sequential),
        random: seconds(6),
    };
    let plan = |sequential| {
        let cross_stimulus = times(sequential);
        let plan = optional(Part::CrossStimulusRecovery);
        Plan::SteadyState(steady_state::Plan { cross_stimulus, ..plan })
    };
    // 2,000 writes take four seconds; the next measurement of two seconds is as fast as before.
    let found = outcome!(record_of(&plan(10), &mut upset(2000)), SteadyState);
    let found = found.cross_stimulus.unwrap();
    let [first, random, again] = &found.stages[..] else { panic!("{found:?}") };
    assert_near(first.end_megabytes_per_second, 1048.576, 0.5);
    assert_near(random.end_megabytes_per_second, 8.192, 0.5);
    assert_near(again.end_megabytes_per_second, 1048.576, 0.5);
    assert_near(first.worst_mean_ns as f64, 1e6, 0.5);
    assert_near(again.worst_mean_ns as f64, 2e6, 0.5);
    assert_near(found.recovered_after.unwrap().as_secs_f64(), 6.0, 0.5);

    let never = outcome!(record_of(&plan(4), &mut upset(1 << 20)), SteadyState);
    assert_eq!(never.cross_stimulus.unwrap().recovered_after, None);
}

/// One after the other: who is one of so many in flight waits for all of them.
#[test]
fn demand_shows_what_more_in_flight_wait_for() {
    for part in [Part::DemandIntensity, Part::Composite] {
        let demand =
            steady_state::DemandSettings { queue_depths: vec![1, 4, 16], pre_writes: seconds(1) };
        let plan = steady_state::Plan { demand, ..optional(part) };
        let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
        let record = record_of(&Plan::SteadyState(plan), &mut device);
        let outcome = outcome!(record, SteadyState);
        let [found] = &outcome.demands[..] else { panic!("{outcome:?}") };
        assert_eq!(found.mixture.part(), part);
        assert!(found.before.steady && found.rounds.steady, "{found:?}");
        let depths: Vec<usize> = found.depths.iter().map(|one| one.queue_depth).collect();
        assert_eq!(depths, [16, 4, 1]);
        for one in &found.depths {
            assert_near(one.rate.iops, 1000.0, 0.5);
            assert_near(one.rate.mean_ns as f64, one.queue_depth as f64 * 1e6, 1.0);
            assert_near(one.latency.p99_ns.unwrap() as f64, one.queue_depth as f64 * 1e6, 1.0);
        }
        // 16 in flight wait for longer than 5 ms, and 4 are no faster than one.
        assert_eq!(found.best_in_time().unwrap().queue_depth, 1);
        assert!(record.warnings.is_empty(), "{:?}", record.warnings);
    }
}

/// On a drive that collects garbage, and as a quick review runs them.
#[test]
fn optional_parts_run_on_a_simulated_drive() {
    let parts = vec![
        Part::HostIdleRecovery,
        Part::CrossStimulusRecovery,
        Part::Composite,
        Part::DemandIntensity,
    ];
    let plan = steady_state::Plan { parts, ..Default::default() };
    let record = on_ssd(&Plan::SteadyState(plan).quick(), tiny());
    let outcome = outcome!(record, SteadyState);
    assert_eq!(outcome.host_idle.unwrap().rests.len(), 5);
    assert_eq!(outcome.cross_stimulus.unwrap().stages.len(), 3);
    assert_eq!(outcome.demands.len(), 2);
}

/// Plans that would divide by zero, measure nothing or measure twice under one name.
#[test]
fn plans_that_cannot_be_are_refused_before_anything_is_done() {
    let none = Bytes::ZERO;
    let steady = steady_state::Plan::default;
    let plans = [
        Plan::Consistency(consistency::Plan { block: none, ..Default::default() }),
        Plan::Consistency(consistency::Plan { fill_block: none, ..Default::default() }),
        Plan::Consistency(consistency::Plan { fill_block: Bytes(3000), ..Default::default() }),
        Plan::Consistency(consistency::Plan { fill_queue_depth: 0, ..Default::default() }),
        Plan::SpareArea(spare_area::Plan { settings: vec![], ..Default::default() }),
        Plan::SpareArea(spare_area::Plan { settings: vec![25.0, 25.0], ..Default::default() }),
        Plan::Trim(trim::Plan { sequential_block: none, ..Default::default() }),
        Plan::Trim(trim::Plan { sequential_queue_depth: 0, ..Default::default() }),
        Plan::Corners(corners::Plan { random_write_span: Bytes(1024), ..Default::default() }),
        Plan::Corners(corners::Plan {
            random_write_queue_depths: vec![0, 32],
            ..Default::default()
        }),
        Plan::Corners(corners::Plan {
            random_write_queue_depths: vec![3, 3],
            ..Default::default()
        }),
        Plan::Incompressible(incompressible::Plan { amount: none, ..Default::default() }),
        Plan::Incompressible(incompressible::Plan {
            compressible_percents: vec![0, 101],
            ..Default::default()
        }),
        Plan::WholeDrive(whole_drive::Plan {
            span: Some(Bytes::from_mib(1)),
            ..Default::default()
        }),
        Plan::Fullness(fullness::Plan { percents: vec![50, 101], ..Default::default() }),
        Plan::Fullness(fullness::Plan { percents: vec![], map: Map::Scale, ..Default::default() }),
        Plan::Fullness(fullness::Plan { rest: Nanos::ZERO, map: Map::Scale, ..Default::default() }),
        Plan::Fullness(fullness::Plan { area: none, map: Map::Scale, ..Default::default() }),
        Plan::WorkingSet(working_set::Plan { smallest: none, ..Default::default() }),
        Plan::QueueDepth(queue_depth::Plan { queue_depths: vec![0], ..Default::default() }),
        Plan::QueueDepth(queue_depth::Plan { queue_depths: vec![1 << 17], ..Default::default() }),
        Plan::QueueDepth(queue_depth::Plan { read_percents: vec![101], ..Default::default() }),
        Plan::LatencyAtLoad(latency_at_load::Plan { percents: vec![0], ..Default::default() }),
        Plan::LatencyAtLoad(latency_at_load::Plan { queue_depth: 0, ..Default::default() }),
        Plan::LatencyAtLoad(latency_at_load::Plan { gaps: vec![], ..Default::default() }),
        Plan::ReadWriteMix(read_write_mix::Plan { queue_depth: 0, ..Default::default() }),
        Plan::ReadWriteMix(read_write_mix::Plan {
            drive_writes_per_day: vec![f64::NAN],
            ..Default::default()
        }),
        Plan::Recovery(recovery::Plan { rests: vec![], ..Default::default() }),
        Plan::Recovery(recovery::Plan { burst: Nanos::ZERO, ..Default::default() }),
        Plan::WholeDrive(whole_drive::Plan { queue_depth: 0, ..Default::default() }),
        Plan::TransferSize(transfer_size::Plan { sizes: vec![none], ..Default::default() }),
        Plan::TransferSize(transfer_size::Plan { span: none, ..Default::default() }),
        Plan::Stutter(stutter::Plan { fill_queue_depth: 0, ..Default::default() }),
        Plan::Stutter(stutter::Plan { small_write_span: Bytes(512), ..Default::default() }),
        Plan::Stutter(stutter::Plan { background_rate: Throughput(0), ..Default::default() }),
        Plan::Heat(heat::Plan { load: Nanos::ZERO, ..Default::default() }),
        Plan::Idle(idle::Plan { rests: vec![], ..Default::default() }),
        Plan::Idle(idle::Plan { rests: vec![Nanos::ZERO], ..Default::default() }),
        Plan::Idle(idle::Plan { repeats: 0, ..Default::default() }),
        Plan::Power(power::Plan { queue_depth: 0, ..Default::default() }),
        Plan::Power(power::Plan { span: Some(none), ..Default::default() }),
        Plan::SteadyState(steady_state::Plan { parts: vec![], ..steady() }),
        Plan::SteadyState(steady_state::Plan { iops_read_percents: vec![0, 0], ..steady() }),
        Plan::SteadyState(steady_state::Plan { iops_sizes: vec![none], ..steady() }),
        Plan::SteadyState(steady_state::Plan { rounds_max: 4, ..steady() }),
        Plan::SteadyState(steady_state::Plan { soak_round: Nanos::ZERO, ..steady() }),
        Plan::SteadyState(steady_state::Plan {
            host_idle: steady_state::HostIdleSettings { accesses: 0, ..Default::default() },
            ..steady()
        }),
        Plan::SteadyState(steady_state::Plan {
            demand: steady_state::DemandSettings { queue_depths: vec![], ..Default::default() },
            ..steady()
        }),
    ];
    let mut ssd = Ssd::new(tiny(), "sim:test");
    for plan in plans {
        assert!(plan.check(ssd.info()).is_err(), "{plan:?}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let mut go_on = |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
        assert!(run(&plan, &mut ssd, &path, RunOptions::default(), &mut go_on).is_err());
        assert!(!path.exists(), "{plan:?} left something behind");
    }
}

#[test]
fn a_quick_plan_is_never_wider_than_the_user_s() {
    let span = Some(Bytes::from_mib(4));
    let duration = seconds(1);
    let plan = consistency::Plan { span, ..consistency::Plan::lasting(duration) };
    assert_eq!(Plan::Consistency(plan.clone()).quick(), Plan::Consistency(plan));
    let plan = spare_area::Plan { settings: vec![10.0, 20.0], ..Default::default() };
    let Plan::SpareArea(quick) = Plan::SpareArea(plan).quick() else { panic!() };
    assert_eq!(quick.settings, [10.0]);
}

#[test]
fn a_round_that_was_broken_off_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut device = settling(&[800], seconds(2));
    let mut samples = 0;
    let record = run(&iops_part(25), &mut device, &path, RunOptions::default(), &mut |progress| {
        samples += usize::from(progress.step.starts_with("iops/"));
        // In the first second of the fifth round, of two each.
        if samples == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let record = record.unwrap();
    let part = &outcome!(record, SteadyState).parts[0];
    assert!(part.tracked.len() == 4 && !part.steady, "{part:?}");
}

#[test]
fn a_job_that_ends_before_its_group_has_the_rate_that_it_had() {
    use writecliff_suite::mixed;
    use writecliff_workload::{Job, Mix, Order};
    let job = |name: &str, mix| Job { name: name.to_owned(), mix, ..Job::default() };
    let short = Job {
        order: Order::Sequential,
        number_ios: Some(500),
        queue_depth: 1,
        ..job("short", Mix { read: 100, write: 0, trim: 0 })
    };
    let long = Job {
        runtime: Some(seconds(5)),
        time_based: true,
        pace: writecliff_workload::Pace::Iops(10),
        queue_depth: 1,
        ..job("long", Mix { read: 0, write: 100, trim: 0 })
    };
    let plan = Plan::Mixed(mixed::Plan {
        prepare: mixed::Prepare::Nothing,
        jobs: vec![short, long],
        ..mixed::Plan::default()
    });
    // A millisecond each, one after the other.
    let mut device = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
    let jobs = outcome!(record_of(&plan, &mut device), Mixed).jobs;
    assert_eq!(jobs[0].reads.as_ref().unwrap().ios, 500);
    assert_near(jobs[0].reads.as_ref().unwrap().iops, 1000.0, 3.0);
    assert_near(jobs[1].writes.as_ref().unwrap().iops, 10.0, 3.0);
}
