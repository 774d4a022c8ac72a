//! The consistency test on simulated drives: known answers, and the same bytes every time.
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Nanos, Operation};
use writecliff_sim::{Ssd, load};
use writecliff_suite::{
    MethodWarning, Outcome, Plan, RunOptions, RunRecord, Status, Warning, consistency, open, run,
};

fn plan(seconds: u64) -> consistency::Plan {
    consistency::Plan::lasting(Nanos::from_secs(seconds))
}

fn run_on_tiny(plan: consistency::Plan, path: &Path) -> RunRecord {
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let options = RunOptions { every_io: true, ..RunOptions::default() };
    let plan = Plan::Consistency(plan);
    run(&plan, &mut ssd, path, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn outcome(record: &RunRecord) -> &consistency::Outcome {
    let Some(Outcome::Consistency(outcome)) = &record.outcome else {
        panic!("no outcome: {record:?}");
    };
    outcome
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two, other) =
        (dir.path().join("one"), dir.path().join("two"), dir.path().join("other"));
    let first = run_on_tiny(plan(5), &one);
    let second = run_on_tiny(plan(5), &two);
    run_on_tiny(consistency::Plan { seed: 2, ..plan(5) }, &other);
    assert_eq!(first.outcome, second.outcome);
    for file in ["series.parquet", "histograms.parquet", "ios.parquet"] {
        let read = |path: &Path| std::fs::read(path.join(file)).unwrap();
        assert_eq!(read(&one), read(&two), "{file}");
        assert_ne!(read(&one), read(&other), "{file} does not depend on the seed");
    }
}

#[test]
fn a_finished_run_reads_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let record = run_on_tiny(plan(100), &path);
    assert_eq!(record.status, Status::Complete);
    let (read, recording) = open(&path).unwrap();
    assert_eq!(read, record);
    let phases: Vec<_> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, [consistency::FILL, consistency::TORTURE]);
    assert_eq!(recording.series(consistency::TORTURE).count(), 100);
    let filled: u64 = recording.series(consistency::FILL).map(|s| s.written_bytes).sum();
    assert_eq!(filled, record.drive.capacity.0, "the fill writes every LBA once");
}

#[test]
fn the_cliff_comes_when_the_spare_area_is_used_up() {
    let dir = tempfile::tempdir().unwrap();
    let record = run_on_tiny(plan(60), &dir.path().join("run"));
    let outcome = outcome(&record);
    // tiny: 32 MiB of spare area at 4 dies x 8 KiB / 600 us = 54.6 MB/s: the first second holds it.
    assert_eq!(outcome.cliff_s, Some(1));
    let array = 4.0 * 8192.0 / 600e-6 / 4096.0;
    assert!(outcome.steady_iops.mean < array / 3.0, "{outcome:?}");
    let amplification = outcome.steady_write_amplification.unwrap();
    let bound = array / amplification;
    assert!(outcome.steady_iops.mean < bound, "{} above {bound}", outcome.steady_iops.mean);
    // What the copies read, and wait for in turn with programs, is the rest.
    assert!(outcome.steady_iops.mean > 0.75 * bound, "{} below 75 %", outcome.steady_iops.mean);
    assert_eq!(
        record.warnings,
        [
            Warning::Method(MethodWarning::CliffAtOnce { seconds: 1, fresh: outcome.fresh_iops }),
            Warning::Method(MethodWarning::TooShort { seconds: 60, window: 18 })
        ]
    );
}

#[test]
fn spare_area_buys_performance() {
    let dir = tempfile::tempdir().unwrap();
    let default = run_on_tiny(plan(30), &dir.path().join("default"));
    let spare = consistency::Plan { spare_percent: 25.0, ..plan(30) };
    let spared = run_on_tiny(spare, &dir.path().join("spared"));
    let mean = |record| outcome(record).steady_iops.mean;
    assert!(mean(&spared) > 1.8 * mean(&default));
}

#[test]
fn an_interrupted_run_is_kept_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let mut seconds = 0;
    let record = run(
        &Plan::Consistency(plan(100)),
        &mut ssd,
        &path,
        RunOptions::default(),
        &mut |progress| {
            seconds += u32::from(progress.step == consistency::TORTURE);
            if seconds == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    let record = record.unwrap();
    assert_eq!(record.status, Status::Interrupted);
    let (recorded, planned) = (Nanos::from_secs(20), Nanos::from_secs(100));
    assert!(record.warnings.contains(&Warning::Method(MethodWarning::Incomplete {
        recorded,
        planned,
        until_steady: false,
        met_cliff: true
    })));
    assert_eq!(open(&path).unwrap().0, record);
}

#[test]
fn a_directory_that_holds_something_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let plan = Plan::Consistency(plan(1));
    let error =
        run(&plan, &mut ssd, dir.path(), RunOptions::default(), &mut |_| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().contains("is not empty"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// 48 hours at a write in 1.5 s: no cliff, and a fifth of the drive.
#[test]
fn what_was_written_too_little_is_not_judged_though_it_never_fell() {
    let mut drive = Scripted::new(Bytes::from_gib(2), |io, _| match io.operation {
        Operation::Write if io.length == Bytes::from_kib(4) => Nanos::from_millis(1500),
        _ => Nanos::from_millis(1),
    });
    let plan = consistency::Plan { until_steady: consistency::UntilSteady::Yes, ..plan(100) };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let plan = Plan::Consistency(plan);
    let record =
        run(&plan, &mut drive, &path, RunOptions::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    assert_eq!(outcome(&record).cliff_s, None);
    let is_too_few =
        |doubt: &&Warning| matches!(doubt, Warning::Method(MethodWarning::TooFewWrites { .. }));
    let doubt = record.warnings.iter().find(is_too_few).unwrap().to_string();
    assert!(doubt.contains("the drive takes no more in them."), "{doubt}");
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let drive = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let drive = writecliff_device::Device::info(&drive);
    let refused = |plan: consistency::Plan| Plan::Consistency(plan).check(drive).unwrap_err();
    let base = consistency::Plan::default();
    let until = consistency::Plan { until_steady: consistency::UntilSteady::Yes, ..base };
    for (kind, rotational) in [(DeviceKind::Null, false), (DeviceKind::Simulated, true)] {
        let other = DeviceInfo { kind, rotational, ..drive.clone() };
        let refused = Plan::Consistency(until.clone()).check(&other).unwrap_err();
        assert_eq!(refused.option, "until_steady");
        assert!(Plan::Consistency(base.clone()).check(&other).is_ok());
    }
    let cases = [
        (consistency::Plan { duration: Nanos::ZERO, ..base.clone() }, "duration 0s"),
        (consistency::Plan { duration: Nanos::from_secs(1 << 30), ..base.clone() }, "duration"),
        (consistency::Plan { spare_percent: 100.0, ..base.clone() }, "spare 100"),
        (consistency::Plan { spare_percent: -1.0, ..base.clone() }, "spare -1"),
        (consistency::Plan { spare_percent: f64::NAN, ..base.clone() }, "spare NaN"),
        (consistency::Plan { spare_percent: 99.9999, ..base.clone() }, "nothing is left"),
        (consistency::Plan { queue_depth: 33, ..base }, "takes 1 to 32 I/Os at once"),
    ];
    for (plan, expected) in cases {
        let message = refused(plan).to_string();
        assert!(message.contains(expected), "{message}");
    }
}
