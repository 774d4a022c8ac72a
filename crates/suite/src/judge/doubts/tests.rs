use writecliff_device::{DeviceInfo, DeviceKind, Link, Telemetry};

use super::*;
use crate::list::Plan;
use crate::record::figure::Stage;
use crate::record::host::Host;
use crate::record::run_record::{SCHEMA_VERSION, Status};
use crate::tests::{consistency, mixed};

/// Counters after so many MiB and percent of a second's processor time.
fn counted(mib: u64, cpu_percent: u64) -> HostCounters {
    HostCounters {
        read: Some(Bytes::ZERO),
        written: Some(Bytes::from_mib(mib)),
        cpu: Nanos::from_millis(cpu_percent * 10),
        suspended: Nanos::ZERO,
        held_up: Nanos::ZERO,
    }
}

/// A phase of one second that began with all counters at zero.
fn phase(name: &str, second: u64, after: HostCounters) -> Phase {
    let telemetry = |host| Telemetry { host: Some(host), ..Telemetry::default() };
    Phase {
        name: name.to_owned(),
        start: Nanos::from_secs(second),
        length: Nanos::from_secs(1),
        before: telemetry(counted(0, 0)),
        after: telemetry(after),
        threads: 1,
        unfinished: false,
    }
}

/// The sample of a second in which the run wrote so many MiB.
fn sample(series: &str, second: u64, mib: u64) -> Sample {
    Sample {
        series: series.to_owned(),
        start_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        writes: mib,
        written_bytes: mib << 20,
        ..Sample::default()
    }
}

/// A run at a queue depth of 8 with I/Os of 128 KiB: 1 MiB in flight.
fn record(phases: Vec<Phase>) -> RunRecord {
    RunRecord {
        schema_version: SCHEMA_VERSION,
        tool_version: String::new(),
        started: String::new(),
        started_unix_ns: None,
        status: Status::Running,
        plan: Plan::Consistency(consistency::Plan::default()),
        method_version: 1,
        options: Default::default(),
        traces: Vec::new(),
        drive: drive(),
        host: Host::here(),
        purge: None,
        phases,
        power_source: Default::default(),
        failed_ios: Vec::new(),
        efficiency: Vec::new(),
        outcome: None,
        warnings: Vec::new(),
    }
}

fn drive() -> DeviceInfo {
    DeviceInfo {
        model: "x".to_owned(),
        io_size_max: Bytes::from_kib(128),
        queue_depth_max: 8,
        trim: true,
        ..DeviceInfo::of("/dev/x", DeviceKind::BlockDevice, Bytes::from_gib(1))
    }
}

fn doubts_of(phases: Vec<Phase>, samples: Vec<Sample>) -> Vec<Warning> {
    let mut recording = Recording::default();
    recording.samples = samples;
    doubts(&record(phases), &recording)
}

#[test]
fn a_run_alone_on_its_drive_raises_no_doubt() {
    // What was in flight at the end, 1 MiB, was written and is in no sample.
    let phases = vec![phase("fill", 0, counted(101, 50))];
    assert_eq!(doubts_of(phases, vec![sample("fill", 0, 100)]), []);
}

#[test]
fn what_others_write_is_what_the_system_counts_beyond_the_run() {
    let phases = vec![
        phase("fill", 0, counted(101, 50)),
        phase("torture", 1, counted(201, 50)),
        phase("mixed", 2, counted(402, 50)),
    ];
    // The mixed phase records two series: 2 MiB in flight at the end of both.
    let samples = vec![
        sample("fill", 0, 100),
        sample("torture", 1, 150),
        sample("reads", 2, 300),
        sample("writes", 2, 100),
    ];
    let [Warning::Host(HostWarning::OtherLoad { bytes, percent, phases })] =
        &doubts_of(phases, samples)[..]
    else {
        panic!("not one warning");
    };
    assert_eq!((*bytes, &phases[..]), (Bytes::from_mib(50), &["torture".to_owned()][..]));
    assert!((percent - 50.0 / 201.0 * 100.0).abs() < 1e-9, "{percent}");
}

#[test]
fn little_load_of_others_is_no_doubt_and_any_is_while_the_drive_should_rest() {
    let below_a_percent = vec![phase("fill", 0, counted(1010, 50))];
    assert_eq!(doubts_of(below_a_percent, vec![sample("fill", 0, 1000)]), []);
    let below_a_mebibyte = vec![phase("idle", 0, counted(1, 0))];
    assert_eq!(doubts_of(below_a_mebibyte, Vec::new()), []);
    let idle = doubts_of(vec![phase("idle", 0, counted(2, 0))], Vec::new());
    let phases = vec!["idle".to_owned()];
    let bytes = Bytes::from_mib(2);
    assert_eq!(idle, [Warning::Host(HostWarning::OtherLoad { bytes, percent: 100.0, phases })]);
}

/// A run that failed has no sample of its last second: what it did there is nobody else's.
#[test]
fn what_a_failed_run_did_in_its_last_second_was_not_others() {
    let failed = || Status::Failed { error: "no space".to_owned() };
    for (status, is_told) in [(failed(), false), (Status::Interrupted, true)] {
        let mut last = phase("fill", 0, counted(150, 0));
        last.unfinished = true;
        last.before.host_written = Some(Bytes(0));
        last.after.host_written = Some(Bytes(300 << 20));
        let own = OwnCounters { written_unit: Bytes(512_000), ..OwnCounters::default() };
        (last.before.own, last.after.own) = (Some(own), Some(own));
        let mut recording = Recording::default();
        recording.samples = vec![sample("fill", 0, 100)];
        let record = RunRecord { status, ..record(vec![last]) };
        let told = doubts(&record, &recording);
        let of_others = |doubt: &&Warning| {
            matches!(
                doubt,
                Warning::Host(HostWarning::OtherLoad { .. })
                    | Warning::Drive(DriveWarning::WrittenByOthers { .. })
            )
        };
        assert_eq!(told.iter().filter(of_others).count(), if is_told { 2 } else { 0 }, "{told:?}");
    }
}

/// What is sent past the block layer, the drive alone counts.
#[test]
fn what_the_drive_counts_beyond_the_run_and_the_system_was_written_by_others() {
    let unit = Bytes(512_000);
    let own = OwnCounters { written_unit: unit, ..OwnCounters::default() };
    let doubts = |by_drive: u64, by_system: u64| {
        let mut phase = phase("torture", 0, counted(by_system, 50));
        phase.before.host_written = Some(Bytes(7));
        phase.after.host_written = Some(Bytes(7 + by_drive * (1 << 20)));
        (phase.before.own, phase.after.own) = (Some(own), Some(own));
        let told = doubts_of(vec![phase], vec![sample("torture", 0, 1000)]);
        told.into_iter().find(|told| matches!(told, Warning::Drive(_)))
    };
    assert_eq!(doubts(1040, 1001), None, "a few per cent and units are how drives count");
    assert_eq!(doubts(1200, 1200), None, "the system counts it as well");
    let (counted, own) = (Bytes::from_mib(1200), Bytes::from_mib(1000));
    let expected = Warning::Drive(DriveWarning::WrittenByOthers { counted, own });
    assert_eq!(doubts(1200, 1001), Some(expected));
}

#[test]
fn failed_ios_may_have_moved_data_too() {
    let mut sample = sample("fill", 0, 100);
    sample.failed = 400;
    let found = doubts_of(vec![phase("fill", 0, counted(150, 0))], vec![sample]);
    let expected = DriveWarning::FailedIos {
        count: 400,
        simulated: false,
        power_cuts: 0,
        phases: vec!["fill".to_owned()],
        only_later: false,
    };
    assert_eq!(found, [Warning::Drive(expected)]);
}

#[test]
fn failed_ios_are_of_the_phases_in_which_they_failed() {
    let phases = || {
        let idle = || counted(0, 0);
        vec![phase("fill", 0, idle()), phase("torture", 1, idle()), phase("corner", 30, idle())]
    };
    let failing = |series: &str, second: u64, start: u64, failed: u64| Sample {
        failed,
        second: second as u32,
        ..sample(series, start, 0)
    };
    let of = |kind: DeviceKind, samples: Vec<Sample>| {
        let mut record = record(phases());
        record.drive.kind = kind;
        let mut recording = Recording::default();
        recording.samples = samples;
        let [doubt] = &doubts(&record, &recording)[..] else { panic!("not one warning") };
        doubt.clone()
    };
    let doubt = |samples: Vec<Sample>| of(DeviceKind::Simulated, samples);
    let both = doubt(vec![failing("torture", 0, 1, 1), failing("corner reads", 0, 30, 8)]);
    assert!(both.to_string().contains("9 I/Os of this test (in torture, corner)"), "{both}");
    let may_be = |doubt: &Warning| ["fill", "torture", "corner"].map(|one| doubt.may_be_of(one));
    assert_eq!(may_be(&both), [false, true, true], "series are of the phase beside them");
    assert!(both.is_of(Stage::Fill), "fresh rates are of the first seconds of torture");
    let real = of(DeviceKind::BlockDevice, vec![failing("torture", 20, 21, 3)]);
    assert_eq!(may_be(&real), [true; 3], "its health is in doubt whatever it did then");
    assert!(real.is_of(Stage::Fill));
    let late = doubt(vec![failing("torture", 20, 21, 3)]);
    assert_eq!([Stage::Fill, Stage::Later].map(|one| late.is_of(one)), [false, true]);
}

#[test]
fn nothing_is_said_where_nothing_is_counted() {
    let uncounted = HostCounters { read: None, written: None, ..counted(0, 0) };
    assert_eq!(doubts_of(vec![phase("fill", 0, uncounted)], Vec::new()), []);
    let mut simulated = phase("fill", 0, counted(0, 0));
    simulated.after.host = None;
    assert_eq!(doubts_of(vec![simulated], Vec::new()), []);
    assert_eq!(doubts_of(Vec::new(), Vec::new()), []);
}

#[test]
fn a_drive_is_too_warm_from_its_limit_on() {
    let mut record = record(Vec::new());
    let mut recording = Recording::default();
    recording.samples = vec![sample("fill", 0, 1), sample("fill", 1, 1)];
    recording.samples[0].temperature_millicelsius = Some(70_000);
    let mut with_limit = |limit| {
        record.drive.temperature_limit = limit;
        doubts(&record, &recording)
    };
    assert_eq!(with_limit(None), []);
    assert_eq!(with_limit(Some(Temperature(70_001))), []);
    let limit = Temperature(70_000);
    assert_eq!(
        with_limit(Some(limit)),
        [Warning::Drive(DriveWarning::TooWarm { temperature: limit, limit })]
    );
}

#[test]
fn a_host_that_computed_most_of_a_phase_is_named_with_it() {
    let phases =
        |most| vec![phase("fill", 0, counted(0, 50)), phase("torture", 1, counted(0, most))];
    assert_eq!(doubts_of(phases(90), Vec::new()), []);
    let expected = Warning::Host(HostWarning::GeneratorBusy {
        percent: 95.0,
        phase: "torture".to_owned(),
        threads: 1,
    });
    assert_eq!(doubts_of(phases(95), Vec::new()), [expected]);
    let by_two = |most| vec![Phase { threads: 2, ..phase("torture", 0, counted(0, most)) }];
    assert_eq!(doubts_of(by_two(180), Vec::new()), [], "90 % each");
    let expected = Warning::Host(HostWarning::GeneratorBusy {
        percent: 95.0,
        phase: "torture".to_owned(),
        threads: 2,
    });
    assert_eq!(doubts_of(by_two(190), Vec::new()), [expected]);
    let mut short = phase("fill", 0, counted(0, 100));
    short.length = Nanos::from_millis(999);
    assert_eq!(doubts_of(vec![short], Vec::new()), []);
}

#[test]
fn a_sleep_counts_also_between_phases() {
    let mut last = phase("torture", 1, counted(0, 0));
    let slept = |span| HostCounters { suspended: span, ..counted(0, 0) };
    last.before.host = Some(slept(Nanos::from_secs(3)));
    last.after.host = Some(slept(Nanos::from_secs(3)));
    let phases = vec![phase("fill", 0, counted(0, 0)), last];
    let span = Nanos::from_secs(3);
    assert_eq!(doubts_of(phases, Vec::new()), [Warning::Host(HostWarning::Suspended { span })]);
    let jitter = phase("fill", 0, slept(Nanos::from_millis(99)));
    assert_eq!(doubts_of(vec![jitter], Vec::new()), []);
}

#[test]
fn a_machine_that_stood_still_is_named_with_the_phases_and_scheduling_is_not() {
    let held_up = |name, second, millis| {
        let held_up = Nanos::from_millis(millis);
        phase(name, second, HostCounters { held_up, ..counted(0, 0) })
    };
    assert_eq!(doubts_of(vec![held_up("fill", 0, 99)], Vec::new()), []);
    let phases =
        vec![held_up("fill", 0, 99), held_up("torture", 1, 5200), held_up("mixed", 2, 100)];
    let found = doubts_of(phases, Vec::new());
    let phases = vec!["torture".to_owned(), "mixed".to_owned()];
    assert_eq!(
        found,
        [Warning::Host(HostWarning::HeldUp { span: Nanos::from_millis(5300), phases })]
    );
    let text = found[0].to_string();
    assert!(text.contains("for 5.30 s during torture, mixed"), "{text}");
}

/// A phase in which the drive counted so much more than before.
fn own(name: &str, before: (u64, u64, u64), after: (u64, u64, u64)) -> Phase {
    let telemetry = |(errors, minutes, losses)| Telemetry {
        own: Some(OwnCounters {
            media_errors: Some(errors),
            throttled_minutes: Some(minutes),
            unsafe_shutdowns: Some(losses),
            ..OwnCounters::default()
        }),
        ..Telemetry::default()
    };
    let (before, after) = (telemetry(before), telemetry(after));
    Phase { before, after, ..phase(name, 0, counted(0, 0)) }
}

#[test]
fn what_the_drive_counted_of_itself_is_a_doubt_only_if_it_is_new() {
    let old = vec![own("fill", (7, 8, 9), (7, 8, 9)), own("torture", (7, 8, 9), (7, 8, 9))];
    assert_eq!(doubts_of(old, vec![]), []);
    // Also what came between two phases.
    let new = vec![own("fill", (7, 8, 9), (7, 8, 9)), own("torture", (8, 8, 9), (9, 20, 10))];
    let expected = [
        Warning::Drive(DriveWarning::MediaErrors { count: 2 }),
        Warning::Drive(DriveWarning::Throttled { minutes: 12 }),
        Warning::Drive(DriveWarning::UnsafeShutdown { count: 1 }),
    ];
    assert_eq!(doubts_of(new, vec![]), expected);
    // A drive that was exchanged, or a counter that began again.
    assert_eq!(doubts_of(vec![own("fill", (7, 8, 9), (0, 0, 0))], vec![]), []);
}

#[test]
fn a_rebuild_is_doubted_of_what_was_measured_beside_it() {
    let at = |done: u64| Rebuilding {
        member: 1,
        done: Bytes::from_mib(done),
        of: Bytes::from_mib(100),
        time: Nanos::from_secs(done / 10),
    };
    let phase = |name: &str, second, before, after| {
        let mut phase = phase(name, second, counted(0, 0));
        (phase.before.rebuild, phase.after.rebuild) = (Some(at(before)), Some(at(after)));
        phase
    };
    let over = || vec![phase("fill", 0, 0, 100), phase("torture", 1, 100, 100)];
    let goes_on = || vec![phase("fill", 0, 0, 50), phase("torture", 1, 50, 60)];
    let mixed = |phases| RunRecord { plan: Plan::Mixed(mixed::Plan::default()), ..record(phases) };
    let cases = [
        (record(over()), Some(true)),
        (record(goes_on()), Some(false)),
        (mixed(over()), None),
        (mixed(goes_on()), Some(false)),
        (record(vec![phase("fill", 0, 100, 100), phase("torture", 1, 100, 100)]), None),
    ];
    for (record, expected) in cases {
        let in_fill = rebuilt(&record).map(|doubt| match doubt {
            Warning::Drive(DriveWarning::Rebuilt { in_fill, .. }) => in_fill,
            other => panic!("{other}"),
        });
        assert_eq!(in_fill, expected, "{:?}", record.phases);
    }
    // Every purge begins it anew: what was measured behind the last one's time was in another's.
    let again = record(vec![
        phase("fill", 0, 0, 100),
        phase("read", 1, 100, 100),
        phase("write", 2, 0, 40),
        phase("late", 3, 0, 30),
    ]);
    let told = rebuilt(&again).unwrap().to_string();
    assert!(
        told.contains("3 times, since every purge begins it anew (in fill, write, late)")
            && told.ends_with("others are not."),
        "{told}"
    );
}

#[test]
fn a_coarse_counter_gives_no_write_amplification() {
    let told = |host: u64, nand: u64| Telemetry {
        host_written: Some(Bytes::from_gib(host)),
        nand_written: Some(Bytes::from_gib(nand)),
        own: Some(OwnCounters { written_unit: Bytes::from_gib(1), ..OwnCounters::default() }),
        ..Telemetry::default()
    };
    let of = |host: u64, nand: u64| {
        told(1000 + host, 2000 + nand).measured_write_amplification_since(&told(1000, 2000))
    };
    assert_eq!(of(99, 300), None, "by up to one of 99 units");
    assert_eq!(of(100, 250), Some(2.5));
}

#[test]
fn every_warning_says_what_it_means_in_words() {
    let bytes = Bytes::from_mib(50);
    let phases = vec!["fill".to_owned(), "torture".to_owned()];
    let other = Warning::Host(HostWarning::OtherLoad { bytes, percent: 25.0, phases }).to_string();
    assert!(other.contains("52.4 MB (25 % of all)") && other.contains("fill, torture"), "{other}");
    let link =
        Link { now_gbps: Some(8.0), best_gbps: 16.0, lanes_now: Some(2), lanes_best: Some(4) };
    let reduced = Warning::Drive(DriveWarning::ReducedLink { link }).to_string();
    assert!(reduced.contains("came up at 8 GT/s x 2 of 16 x 4:"), "{reduced}");
    let (temperature, limit) = (Temperature(71_850), Temperature(70_000));
    let warm = Warning::Drive(DriveWarning::TooWarm { temperature, limit }).to_string();
    assert!(warm.contains("reached 72 °C; from 70 °C on"), "{warm}");
}

/// Twenty seconds of a level, of which some were the fast buffer's; what is no level may change.
#[test]
fn a_level_whose_rate_changes_is_no_level() {
    let mut record = record(Vec::new());
    let told = |record: &RunRecord, name: &str, rates: &[u64]| {
        let mut recording = Recording::default();
        let samples = rates
            .iter()
            .zip(0u32..)
            .map(|(rate, second)| Sample { second, ..sample(name, second.into(), *rate) });
        recording.samples.extend(samples);
        changed(record, &recording)
    };
    let falls = [vec![480; 7], vec![146; 13]].concat();
    let name = "sequential-write-qd16";
    assert_eq!(told(&record, name, &falls), None, "not of this test");
    record.plan = Plan::QueueDepth(Default::default());
    let doubt = told(&record, name, &falls).unwrap().to_string();
    assert!(doubt.contains(&format!(", in {name}: ")), "{doubt}");
    assert!(doubt.contains("from 503.3 MB/s") && doubt.contains("to 153.1 MB/s"), "{doubt}");
    assert_eq!(told(&record, "fill", &falls), None);
    assert_eq!(told(&record, name, &[146; 20]), None);
    let by_chance = [2, 1, 0, 2, 1, 0, 1, 2, 3, 1, 2, 1, 3, 2, 1, 2, 1, 3];
    assert_eq!(told(&record, name, &by_chance), None, "arrivals are drawn");
    assert!(told(&record, name, &[480, 480, 146, 146, 146]).is_some());
    assert_eq!(told(&record, name, &[480, 146]), None, "two have no thirds");
    // What falls behind the minute that the figure is of.
    record.plan = Plan::Encryption(Default::default());
    let after = |seconds: usize| [vec![480; seconds], vec![146; 120]].concat();
    assert_eq!(told(&record, "plain/random-write", &after(60)), None);
    assert!(told(&record, "plain/random-write", &after(30)).is_some());
    assert!(told(&record, "plain/random-read", &after(60)).is_some());
    let sequential = told(&record, "plain/sequential-write", &after(60)).unwrap().to_string();
    assert!(sequential.contains("from 503.3 MB/s"), "{sequential}");
    // Reads that nearly stop beside writes that do not.
    record.plan = Plan::ReadWriteMix(Default::default());
    let mut recording = Recording::default();
    for second in 0..60 {
        let reads = if second < 39 { 40 } else { 1 };
        recording.samples.push(sample("reads-beside-10-dwpd reads", second, reads));
        recording.samples.push(sample("reads-beside-10-dwpd writes", second, 13));
    }
    let doubt = changed(&record, &recording).unwrap().to_string();
    assert!(doubt.contains(", in reads-beside-10-dwpd reads: "), "{doubt}");
}

#[test]
fn a_directory_is_doubted_where_its_flush_reaches_no_drive_here() {
    let on = |stands_on: &[&str]| -> Vec<Warning> {
        let stands_on = stands_on.iter().map(|one| (*one).to_owned()).collect();
        doubts_about_kind(&DeviceInfo { kind: DeviceKind::Directory, stands_on, ..drive() })
    };
    let barriers = Warning::Drive(DriveWarning::WithoutBarriers);
    for good in ["ext4", "xfs", "btrfs", "zfs", "f2fs"] {
        assert_eq!(on(&[good]), []);
        assert_eq!(on(&[good, DeviceInfo::WITHOUT_BARRIERS]), std::slice::from_ref(&barriers));
    }
    for elsewhere in ["tmpfs", "overlay", "nfs4", "9p", "virtiofs", "fuse.sshfs"] {
        let filesystem = elsewhere.to_owned();
        assert_eq!(on(&[elsewhere]), [Warning::Drive(DriveWarning::FlushElsewhere { filesystem })]);
    }
}

/// A drive that tells whether it slows down is believed, whatever the temperature at the end of a second.
/// Two series of one phase: the drive kept both waiting at the same time.
#[test]
fn what_goes_on_at_once_was_kept_waiting_once() {
    let mut record = record(Vec::new());
    let mut recording = Recording::default();
    for (series, second) in [("reads", 0), ("writes", 0), ("reads", 1), ("writes", 1)] {
        recording.samples.push(Sample {
            throttled_ns: Some(if second == 0 { 500_000_000 } else { 0 }),
            ..sample(series, second, 1)
        });
    }
    record.phases = vec![phase("both", 0, counted(0, 0))];
    record.phases[0].length = Nanos::from_secs(2);
    let found = doubts(&record, &recording);
    let expected = Warning::Drive(DriveWarning::SlowedDown {
        parts: 1,
        most: "both".to_owned(),
        others: Vec::new(),
        percent: 25.0,
        last: Some("in second 0 of both".to_owned()),
    });
    assert!(found.contains(&expected), "{found:?}");
}

#[test]
fn what_slowed_down_is_told_however_cool_each_second_ended() {
    let limit = Temperature(85_000);
    let told = |seconds: &[(u64, Option<u64>)]| {
        let mut record = record(Vec::new());
        record.drive.temperature_limit = Some(limit);
        let mut recording = Recording::default();
        for (second, (millicelsius, throttled_ns)) in seconds.iter().enumerate() {
            recording.samples.push(Sample {
                temperature_millicelsius: Some(*millicelsius),
                throttled_ns: *throttled_ns,
                ..sample("torture", second as u64, 1)
            });
        }
        doubts(&record, &recording)
    };
    // It throttled and was cooler again within the second.
    let percent = 20.0;
    let (parts, most) = (1, "torture".to_owned());
    let last = Some("in second 0 of torture".to_owned());
    assert_eq!(
        told(&[(84_994, Some(400_000_000)), (84_900, Some(0))]),
        [Warning::Drive(DriveWarning::SlowedDown {
            parts,
            most,
            others: Vec::new(),
            percent,
            last
        })]
    );
    assert_eq!(told(&[(85_000, Some(0))]), [], "it did nothing in that moment");
    let temperature = limit;
    assert_eq!(
        told(&[(85_000, None)]),
        [Warning::Drive(DriveWarning::TooWarm { temperature, limit })]
    );
    let some = told(&[(84_994, Some(1_000_000))])[0].to_string();
    assert!(
        some.contains("in torture") && some.contains("for less than 1 % of the time"),
        "{some}"
    );
}

/// The page says which of several figures a doubt is about.
#[test]
fn a_doubt_about_several_parts_names_them_until_nobody_would_read_on_and_is_about_each() {
    let told = |count: u64| {
        let seconds = (0..count).map(|part| Sample {
            throttled_ns: Some(1_000_000 * (part + 1)),
            ..sample(&format!("part-{part:02}"), part, 1)
        });
        let mut recording = Recording::default();
        recording.samples = seconds.collect();
        doubts(&record(Vec::new()), &recording).remove(0)
    };
    let three = told(3).to_string();
    assert!(
        three.contains("in 3 of the parts, most of all in part-02 (the others: part-00, part-01),"),
        "{three}"
    );
    let thirty = told(30);
    let said = thirty.to_string();
    assert!(said.contains("most of all in part-29 (the others: part-00,"), "{said}");
    assert!(said.contains(", part-10 and 18 more), which"), "{said}");
    assert!(thirty.names("part-20") && thirty.names_others("another"), "not only those it tells");
}

/// Whatever is wrong in the phases of one spare area is a doubt about that one.
#[test]
fn a_doubt_about_one_setting_is_told_with_it_and_with_no_other() {
    let limit = Temperature(70_000);
    let of = |after: HostCounters, warm: Sample| {
        let names = ["fill-10", "torture-10", "fill-25", "torture-25"];
        let phases = (0..).zip(names).map(|(second, name)| {
            let after = if name == "torture-25" { after } else { counted(1, 50) };
            phase(name, second, after)
        });
        let mut record = record(phases.collect());
        record.plan = Plan::SpareArea(Default::default());
        record.drive.temperature_limit = Some(limit);
        let mut recording = Recording::default();
        recording.samples = (0..).zip(names).map(|(at, name)| sample(name, at, 1)).collect();
        let warm = Sample { series: names[3].to_owned(), start_ns: 3_000_000_000, ..warm };
        recording.samples[3] = Sample { span_ns: 1_000_000_000, written_bytes: 1 << 20, ..warm };
        doubts(&record, &recording)
    };
    let calm = counted(1, 50);
    let alone = Sample::default();
    assert_eq!(of(calm, alone.clone()), []);
    let cases = [
        (counted(100, 50), alone.clone(), "Other load"),
        (counted(1, 99), alone.clone(), "This machine may have been"),
        (HostCounters { held_up: Nanos::from_secs(1), ..calm }, alone, "This machine paused"),
        (calm, Sample { throttled_ns: Some(1), ..Sample::default() }, "The drive became too warm"),
        (
            calm,
            Sample { temperature_millicelsius: Some(71_000), ..Sample::default() },
            "The drive reached 71 °C",
        ),
    ];
    for (after, warm, says) in cases {
        let found: Vec<String> = of(after, warm).iter().map(ToString::to_string).collect();
        let [only] = &found[..] else { panic!("{says}: {found:?}") };
        assert!(only.starts_with(&format!("At 25 % spare: {says}")), "{only}");
    }
}
