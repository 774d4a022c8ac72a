//! Runs on drives that fail, vanish, or do not do what they offer.
use std::ops::ControlFlow;
use std::path::Path;

use tempfile::TempDir;
use writecliff_device::scripted::Scripted;
use writecliff_device::{
    Bytes, DeviceError, DeviceTime, HostCounters, Io, Nanos, Operation, Purge, Status as Ended,
    Telemetry,
};
use writecliff_measure::RecordError;
use writecliff_suite::consistency::UntilSteady;
use writecliff_suite::gate::{GateError, Limits, gate};
use writecliff_suite::{
    DriveWarning, HostWarning, MethodWarning, Outcome, Plan, PreparationWarning, RunError,
    RunOptions, RunRecord, Status, Warning, consistency, open, run, spare_area, trim,
};

/// A small drive that takes 1 ms for everything.
fn drive() -> Scripted {
    Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1)).side_by_side()
}

/// The same, failing one in so many of an operation's I/Os.
fn failing(operation: Operation, one_in: u64) -> Scripted {
    let mut count = 0;
    drive().ending_by(move |io: &Io, _| {
        count += u64::from(io.operation == operation);
        let fails = io.operation == operation && count.is_multiple_of(one_in);
        if fails { Ended::Failed(5) } else { Ended::Done }
    })
}

fn consistency(seconds: u64) -> Plan {
    let duration = Nanos::from_secs(seconds);
    Plan::Consistency(consistency::Plan::lasting(duration))
}

/// A run that ends by itself: how, and what it leaves.
fn ended(plan: &Plan, mut device: Scripted) -> (Result<RunRecord, RunError>, RunRecord, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let options = RunOptions::default();
    let ended = run(plan, &mut device, &path, options, &mut |_| ControlFlow::Continue(()));
    let record = open(&path).unwrap().0;
    (ended, record, dir)
}

fn error_of(record: &RunRecord) -> &str {
    match &record.status {
        Status::Failed { error } => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_fails_a_noticeable_share_has_failed_and_no_gate_passes_it() {
    let (ended, record, dir) = ended(&consistency(2000), failing(Operation::Write, 50));
    assert!(matches!(ended, Err(RunError::Record(RecordError::IosFailed { .. }))), "{ended:?}");
    assert!(error_of(&record).contains("of fill"), "{record:?}");
    assert_eq!(record.failed_ios.len(), 10);
    let first = &record.failed_ios[0];
    assert_eq!(
        (first.series.as_str(), first.operation, first.errno),
        ("fill", Operation::Write, 5)
    );
    assert_eq!((first.offset, first.lba), (Bytes::from_kib(49 * 128), 49 * 256));
    let text = std::fs::read_to_string(dir.path().join("run/run.json")).unwrap();
    assert!(text.contains("\"failed_ios\"") && text.contains("(EIO)"), "{text}");
    let easy = Limits { min_floor_iops: Some(0.0), ..Limits::default() };
    let refused = gate(&[record], &easy, None, 5.0).unwrap_err();
    assert!(matches!(refused, GateError::Failed { test: "consistency", .. }), "{refused}");
}

#[test]
fn a_failed_test_closes_the_gate_for_its_whole_review() {
    let (_, failed, _) = ended(&consistency(2000), failing(Operation::Write, 50));
    let (good, ..) = ended(&consistency(20), drive());
    let mut other = failed;
    other.plan = Plan::Trim(trim::Plan::default());
    let easy = Limits { min_worst_iops: Some(0.0), ..Limits::default() };
    let good = good.unwrap();
    assert!(gate(std::slice::from_ref(&good), &easy, None, 5.0).is_ok());
    assert!(gate(&[good, other], &easy, None, 5.0).is_err());
}

#[test]
fn too_few_failures_to_end_a_phase_early_are_judged_at_its_end() {
    // 512 writes fill the drive: ten of them fail, which is 2 %.
    let (ended, record, _) = ended(&consistency(1), failing_first(10));
    let Err(RunError::Record(RecordError::IosFailed { failed, all, .. })) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!((failed, all), (10, 512));
    assert!(error_of(&record).contains("10 of 512 I/Os of fill"), "{}", error_of(&record));
    assert_eq!(record.phases.len(), 1, "the torture would be of a drive that was not filled");
}

#[test]
fn a_bad_sector_or_two_are_a_warning() {
    let (ended, record, _) = ended(&consistency(1), failing_first(9));
    ended.unwrap();
    assert_eq!(record.status, Status::Complete);
    let failed = Warning::Drive(DriveWarning::FailedIos {
        count: 9,
        simulated: true,
        power_cuts: 0,
        phases: vec!["fill".to_owned()],
        only_later: false,
    });
    assert!(record.warnings.contains(&failed), "{:?}", record.warnings);
    assert_eq!(record.failed_ios.len(), 9);
}

fn failing_first(count: u64) -> Scripted {
    let mut done = 0;
    drive().ending_by(move |_, _| {
        done += 1;
        if done <= count { Ended::Failed(5) } else { Ended::Done }
    })
}

#[test]
fn a_drive_that_fails_its_purge_is_tested_as_it_is_and_that_is_told() {
    let (ended, record, _) = ended(&consistency(2), drive().failing_its_purge(121));
    ended.unwrap();
    assert_eq!((&record.status, record.purge), (&Status::Complete, None));
    let [Warning::Preparation(PreparationWarning::PurgeFailed { error })] = &record.warnings[..1]
    else {
        panic!("{:?}", record.warnings);
    };
    assert!(error.contains("Remote I/O error"), "{error}");
    assert!(record.warnings[0].to_string().starts_with("The drive was not purged: scripted"));
    assert!(record.outcome.is_some());
}

#[test]
fn a_drive_that_fails_its_best_purge_is_purged_by_the_next() {
    let (ended, record, _) = ended(&consistency(2), drive().failing_its_best_purge(5));
    ended.unwrap();
    assert_eq!(record.purge.map(|purge| purge.how), Some(Purge::Discard));
    let told = matches!(&record.warnings[0], Warning::Preparation(PreparationWarning::BetterPurgeFailed { error }) if error.contains("format"));
    assert!(told, "{:?}", record.warnings);
    assert_eq!(
        record.warnings[1],
        Warning::Preparation(PreparationWarning::WeakPurge { how: Purge::Discard })
    );
}

#[test]
fn a_drive_that_fails_its_trims_fails_the_test_that_is_about_them() {
    let second = Nanos::from_secs(1);
    let plan = trim::Plan {
        torture: second,
        torture_again: second,
        measurement: second,
        idle: second,
        ..trim::Plan::default()
    };
    let (ended, record, _) = ended(&Plan::Trim(plan), failing(Operation::Trim, 1));
    assert!(ended.is_err());
    assert!(error_of(&record).contains("failed 1 of 1 I/Os of trim"), "{}", error_of(&record));
}

#[test]
fn a_purge_is_broken_off_by_who_watches() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut device) = (dir.path().join("run"), drive().purging_for_ever());
    let mut shown = 0;
    let record = interrupted(&path, &mut device, &mut shown);
    assert_eq!((record.status, shown), (Status::Interrupted, 20));
    assert_eq!(record.purge, None);
}

fn interrupted(path: &Path, device: &mut Scripted, shown: &mut u32) -> RunRecord {
    let plan = consistency(5);
    let record = run(&plan, device, path, RunOptions::default(), &mut |progress| {
        assert_eq!(progress.step, writecliff_suite::PURGE);
        *shown += 1;
        if *shown == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    record.unwrap()
}

#[test]
fn a_drive_that_vanishes_fails_its_run_with_what_was_recorded() {
    let moment = DeviceTime(0) + Nanos::from_secs(7);
    let (ended, record, dir) = ended(&consistency(2000), drive().real().gone_from(moment));
    let gone =
        matches!(ended, Err(RunError::Record(RecordError::Device(DeviceError::Gone { .. }))));
    assert!(gone, "{ended:?}");
    assert!(error_of(&record).contains("is gone"), "{record:?}");
    let (_, recording) = open(&dir.path().join("run")).unwrap();
    assert!(recording.series(consistency::TORTURE).count() >= 6);
}

#[test]
fn an_io_that_is_never_answered_fails_its_run_after_twice_the_timeout() {
    let hangs = DeviceTime(0) + Nanos::from_secs(3);
    let takes = move |_: &Io, begins: DeviceTime| match begins < hangs {
        true => Nanos::from_millis(1),
        false => Scripted::NEVER,
    };
    let mut device = Scripted::new(Bytes::from_mib(64), takes).side_by_side().real();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let options = RunOptions { io_timeout: Nanos::from_secs(10), ..RunOptions::default() };
    let mut longest = Nanos::ZERO;
    let ended = run(&consistency(2000), &mut device, &path, options, &mut |progress| {
        longest = longest.max(progress.waiting.longest);
        ControlFlow::Continue(())
    });
    assert!(matches!(ended, Err(RunError::Record(RecordError::Unanswered { .. }))), "{ended:?}");
    assert!((20..22).contains(&(longest.0 / 1_000_000_000)), "{longest}");
    let (record, recording) = open(&path).unwrap();
    assert!(error_of(&record).contains("has not answered"), "{record:?}");
    let failed: u64 = recording.samples.iter().map(|sample| sample.failed).sum();
    assert_eq!(failed, 32);
    assert!(record.failed_ios.iter().all(|io| io.error == "no answer within 10 s"));
}

#[test]
fn host_counters_of_older_records_were_never_held_up() {
    let text = r#"{"read": null, "written": "1MiB", "cpu": "1s", "suspended": "0ns"}"#;
    let host: HostCounters = serde_json::from_str(text).unwrap();
    assert_eq!(host.held_up, Nanos::ZERO);
    let telemetry = Telemetry { host: Some(host), ..Telemetry::default() };
    let (ended, record, _) = ended(&consistency(1), drive().telling(telemetry));
    ended.unwrap();
    assert!(
        !record
            .warnings
            .iter()
            .any(|warning| matches!(warning, Warning::Host(HostWarning::HeldUp { .. })))
    );
}

#[test]
fn a_pass_that_was_broken_off_is_no_whole_pass() {
    let dir = tempfile::tempdir().unwrap();
    let whole = |name: &str, calls: u32| {
        let mut drive = Scripted::new(Bytes::from_gib(1), |_, _| Nanos::from_millis(1));
        let plan = trim::Plan { torture: Nanos::from_secs(2), ..trim::Plan::default() };
        let (path, mut watched) = (dir.path().join(name), 0);
        let _ = run(&Plan::Trim(plan), &mut drive, &path, RunOptions::default(), &mut |_| {
            watched += 1;
            if watched > calls { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match open(&path).unwrap().0.outcome {
            Some(writecliff_suite::Outcome::Trim(outcome)) => outcome.whole_clean,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(whole("cut", 3), None);
    assert!(whole("whole", u32::MAX).is_some());
}

/// How often a drive of this profile lost power in a test, in which phase first, and in which second of it.
fn power_lost(profile: &writecliff_sim::SsdProfile, plan: &Plan) -> Option<(usize, String, u64)> {
    let mut drive = writecliff_sim::Ssd::new(profile.clone(), "sim:tiny");
    let dir = tempfile::tempdir().unwrap();
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let path = dir.path().join("run");
    // I/Os that fail may end it.
    let _ = run(plan, &mut drive, &path, RunOptions::default(), go_on);
    open(&path).unwrap().0.warnings.iter().find_map(|doubt| match doubt.of_any_setting() {
        Warning::Drive(DriveWarning::PowerLost {
            times,
            phase,
            after,
            later,
            back_at_once,
            only_later,
        }) => {
            let (times, after) = (*times, *after);
            // Of other settings of the spare area nothing is in doubt.
            let is_of_one = matches!(doubt, Warning::Method(MethodWarning::AtSpare { .. }));
            assert_eq!(is_of_one, matches!(plan, Plan::SpareArea(_)));
            assert_eq!(*back_at_once, profile.faults.recovery_time == Nanos::ZERO);
            assert_eq!(later.len(), times - 1, "each has its moment");
            // Of what was fresh before nothing is in doubt.
            let is_past = phase == "torture" && after >= Nanos::from_secs(10);
            assert_eq!(*only_later, is_past, "{phase} after {after}");
            Some((times, phase.clone(), after.0 / 1_000_000_000))
        }
        _ => None,
    })
}

/// A drive that stands for three seconds in the fill's second twenty or later, and what is not about that.
#[test]
fn power_that_goes_is_told_with_its_moment() {
    let mut profile = writecliff_sim::load("tiny").unwrap().into_ssd().unwrap();
    profile.faults.power_cuts = vec![Nanos::from_secs(20), Nanos::from_secs(40)];
    profile.faults.recovery_time = Nanos::from_secs(3);
    let doubts = |plan: &Plan| power_lost(&profile, plan);
    let (times, phase, after) = doubts(&consistency(60)).unwrap();
    assert_eq!((times, phase.as_str()), (2, "torture"));
    assert!((10..20).contains(&after), "{after}");
    assert_eq!(doubts(&consistency(1)), None, "it was over before");
    // One within the purge between two parts is met by the second.
    let fills = spare_area::Plan {
        settings: vec![10.0, 25.0],
        duration: Nanos::from_secs(10),
        until_steady: UntilSteady::No,
        ..spare_area::Plan::default()
    };
    let fills = Plan::SpareArea(fills);
    let mut drive = writecliff_sim::Ssd::new(
        writecliff_sim::load("tiny").unwrap().into_ssd().unwrap(),
        "sim:tiny",
    );
    let dir = tempfile::tempdir().unwrap();
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let record = run(&fills, &mut drive, &dir.path().join("run"), RunOptions::default(), go_on);
    let phases = record.unwrap().phases;
    let ends = phases[1].start + phases[1].length;
    assert!(ends < phases[2].start, "there is a purge between them");
    profile.faults.power_cuts = vec![ends + Nanos((phases[2].start.0 - ends.0) / 2)];
    profile.faults.recovery_time = Nanos::ZERO;
    let met = power_lost(&profile, &fills).unwrap();
    assert_eq!(met, (1, phases[2].name.clone(), 0));
}

/// A pass of which the drive failed what was under way came to its end all the same.
#[test]
fn a_pass_with_a_failed_write_is_a_whole_one() {
    let mut profile = writecliff_sim::load("tiny").unwrap().into_ssd().unwrap();
    profile.faults.power_cuts = vec![Nanos::from_millis(300)];
    let mut drive = writecliff_sim::Ssd::new(profile, "sim:tiny");
    let dir = tempfile::tempdir().unwrap();
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let plan = Plan::Trim(trim::Plan::default()).quick();
    let record = run(&plan, &mut drive, &dir.path().join("run"), RunOptions::default(), go_on);
    let record = record.unwrap();
    let failed = |doubt: &Warning| match doubt {
        Warning::Drive(DriveWarning::FailedIos { phases, .. }) => *phases == [trim::CLEAN],
        _ => false,
    };
    assert!(record.warnings.iter().any(failed), "{:?}", record.warnings);
    let Some(Outcome::Trim(outcome)) = record.outcome else { panic!("no outcome") };
    assert!(outcome.whole_clean.is_some() && outcome.whole_dirty.is_some());
}

/// Falls that begin as a die stops working, or after it, are no write cliff that could be told.
#[test]
fn a_fall_with_a_lost_die_is_no_cliff() {
    let outcome = |lost_at: Option<u64>| {
        let mut profile = writecliff_sim::load("tiny").unwrap().into_ssd().unwrap();
        profile.identity.capacity = Bytes::from_mib(128);
        profile.parity.data = 3;
        profile.faults.lost_die = lost_at.map(|_| 1);
        profile.faults.lost_die_at = Nanos::from_secs(lost_at.unwrap_or_default());
        let mut drive = writecliff_sim::Ssd::new(profile, "sim:tiny");
        let dir = tempfile::tempdir().unwrap();
        let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
        let (plan, path) = (consistency(100), dir.path().join("run"));
        match run(&plan, &mut drive, &path, RunOptions::default(), go_on).unwrap().outcome {
            Some(writecliff_suite::Outcome::Consistency(outcome)) => outcome,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(outcome(None).lost_die_fall_s, None);
    let lost = outcome(Some(40));
    let (second, cause) = lost.other_fall().unwrap();
    assert_eq!((lost.cliff_s, cause), (None, consistency::FallCause::LostDie));
    assert!((30..40).contains(&second), "{second}: the fill before takes some seconds");
}

/// The die holds a part of all data, of which parity keeps a copy or nothing does.
#[test]
fn a_die_that_stops_working_is_told_with_what_it_took() {
    let doubts = |parity: u32| {
        let mut profile = writecliff_sim::load("tiny").unwrap().into_ssd().unwrap();
        profile.nand.blocks_per_plane = 512;
        profile.parity.data = parity;
        profile.faults.lost_die = Some(1);
        profile.faults.lost_die_at = Nanos::from_secs(30);
        let mut drive = writecliff_sim::Ssd::new(profile, "sim:tiny");
        let dir = tempfile::tempdir().unwrap();
        let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
        let plan = consistency(60);
        let record = run(&plan, &mut drive, &dir.path().join("run"), RunOptions::default(), go_on);
        record.unwrap().warnings
    };
    // The fill before takes some seconds.
    let died = |doubt: &Warning| {
        let Warning::Drive(DriveWarning::DieLost { phase, after: Some(after), .. }) = doubt else {
            return false;
        };
        phase == "torture" && (15..30).contains(&(after.0 / 1_000_000_000))
    };
    let lost = |doubt: &&Warning| matches!(doubt, Warning::Drive(DriveWarning::DataLost { .. }));
    let (without, with) = (doubts(0), doubts(3));
    assert!(without.iter().any(died) && with.iter().any(died), "{without:?} {with:?}");
    assert_eq!((without.iter().filter(lost).count(), with.iter().filter(lost).count()), (1, 0));
}
