//! Runs on real drives: loop devices, as root; skipped loudly where there are none.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use writecliff_device::{Bytes, Nanos};
use writecliff_loop_device::{Freezable, LoopDevice};
use writecliff_measure::Recording;
use writecliff_suite::{
    HostWarning, Plan, Progress, RunError, RunOptions, RunRecord, Status, ThreadCount, Warning,
    consistency, open, run,
};
use writecliff_uring::{Access, DestroyData, Options, UringDevice};

const OPTIONS: Options = Options {
    queue_depth: 32,
    io_size_max: Bytes::from_kib(128),
    seed: 42,
    purge: None,
    poll: false,
};

/// `None`, said on the real standard error, where there is none.
fn available<T>(made: io::Result<T>) -> Option<T> {
    if let Err(error) = &made {
        let name = thread::current().name().unwrap_or("a test").to_owned();
        let _ = writeln!(io::stderr(), "SKIPPED {name}: it needs root and loop devices: {error}");
    }
    made.ok()
}

fn to_destroy(path: &Path) -> UringDevice {
    let consent = Some(DestroyData::named(fs::canonicalize(path).unwrap()));
    writecliff_uring::open(path, &Access::Destroy(consent), &OPTIONS).unwrap()
}

/// A consistency run; `watch` is called meanwhile.
fn consistency_of(
    device: &Path,
    seconds: u64,
    options: RunOptions,
    mut watch: impl FnMut(&Progress<'_>) + Send,
) -> (Result<RunRecord, RunError>, RunRecord, Recording) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let plan = Plan::Consistency(consistency::Plan::lasting(Nanos::from_secs(seconds)));
    let ended = run(&plan, &mut to_destroy(device), &path, options, &mut |progress| {
        watch(progress);
        ControlFlow::Continue(())
    });
    let (record, recording) = open(&path).unwrap();
    (ended, record, recording)
}

/// A short one, in whose random writes something happens.
fn disturbed(device: &LoopDevice, mut disturbance: impl FnMut() + Send) -> RunRecord {
    let mut begun = false;
    let watch = |progress: &Progress<'_>| {
        if progress.step == consistency::TORTURE && !std::mem::replace(&mut begun, true) {
            disturbance();
        }
    };
    consistency_of(Path::new(device.path()), 2, RunOptions::default(), watch).0.unwrap()
}

fn other_load(record: &RunRecord) -> Option<(Bytes, &[String])> {
    record.warnings.iter().find_map(|warning| match warning {
        Warning::Host(HostWarning::OtherLoad { bytes, phases, .. }) => Some((*bytes, &phases[..])),
        _ => None,
    })
}

#[test]
fn threads_are_recorded_with_their_load_and_what_they_computed() {
    let Some(device) = available(LoopDevice::in_memory(64 << 20)) else { return };
    let threads = ThreadCount::Exactly(2);
    let options = RunOptions { threads, every_io: true, ..RunOptions::default() };
    let (_, record, recording) = consistency_of(Path::new(device.path()), 2, options, |_| ());
    assert_eq!(record.status, Status::Complete);
    assert_eq!(other_load(&record), None, "{:?}", record.warnings);
    for phase in &record.phases {
        let (before, after) = (phase.before.host.unwrap(), phase.after.host.unwrap());
        assert_eq!(phase.threads, 2, "{phase:?}");
        assert!(after.cpu > before.cpu && after.written > before.written, "{phase:?}");
    }
    let torture: Vec<_> = recording.series(consistency::TORTURE).collect();
    assert_eq!(torture.len(), 2);
    // More than one thread's sixteen; on a busy machine each of them waits now and then. An I/O counts in the
    // second in which it ends, with all of its time.
    let depth = torture.iter().map(|second| second.queue_depth).sum::<f64>() / 2.0;
    assert!((17.0..=33.0).contains(&depth), "{torture:?}");
}

#[test]
fn a_run_alone_on_its_device_has_no_doubt_of_other_load() {
    let Some(device) = available(LoopDevice::in_memory(64 << 20)) else { return };
    let record = disturbed(&device, || ());
    assert_eq!(other_load(&record), None, "{:?}", record.warnings);
    for phase in &record.phases {
        let (before, after) = (phase.before.host.unwrap(), phase.after.host.unwrap());
        assert!(after.written > before.written, "{phase:?}");
        assert!(after.cpu > before.cpu, "{phase:?}");
        let slept = after.suspended.0.abs_diff(before.suspended.0);
        assert!(slept < 1_000_000, "asleep while it wrote: {phase:?}");
    }
}

#[test]
fn a_program_that_reads_the_device_during_a_run_is_noticed() {
    let Some(device) = available(LoopDevice::in_memory(64 << 20)) else { return };
    let record = disturbed(&device, || {
        for _ in 0..4 {
            let mut dd = Command::new("dd");
            dd.arg(format!("if={}", device.path())).args(["of=/dev/null", "iflag=direct"]);
            assert!(dd.args(["bs=1M", "count=60", "status=none"]).status().unwrap().success());
        }
    });
    let (bytes, phases) = other_load(&record).expect("240 MiB by others must be noticed");
    assert_eq!(phases, [consistency::TORTURE]);
    // All but what our own I/Os in flight at the end could have been.
    assert!((Bytes::from_mib(230)..Bytes::from_mib(250)).contains(&bytes), "{bytes}");
}

#[test]
fn a_run_by_several_threads_on_a_drive_that_hangs_for_good_ends_with_the_truth() {
    let Some(drive) = available(Freezable::new()) else { return };
    let threads = ThreadCount::Exactly(3);
    let options = RunOptions { io_timeout: Nanos::from_secs(1), threads, ..RunOptions::default() };
    let (mut frozen, mut longest) = (None, Nanos::ZERO);
    let (ended, record, recording) = consistency_of(drive.path(), 600, options, |progress| {
        if progress.step == consistency::TORTURE && frozen.is_none() {
            frozen = Some(drive.freeze().unwrap());
        }
        longest = longest.max(progress.waiting.longest);
    });
    let Err(RunError::Record(error)) = ended else { panic!("{ended:?}") };
    assert!(error.to_string().contains("has not answered: Write of 4KiB at LBA"), "{error}");
    assert!(longest >= Nanos::from_secs(2), "{longest}");
    assert!(matches!(record.status, Status::Failed { .. }), "{:?}", record.status);
    assert_eq!(record.failed_ios.len(), 16);
    let failed: u64 = recording.series(consistency::TORTURE).map(|sample| sample.failed).sum();
    assert_eq!(failed, 32, "all that was in flight");
}
