//! What the system counts on a device, and the doubts that a run draws from it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use writecliff_device::{Bytes, Device, HostCounters, Io, Nanos, Telemetry};
use writecliff_suite::{
    HostWarning, Plan, RunOptions, RunRecord, ThreadCount, Warning, consistency,
};
use writecliff_uring::UringDevice;

use crate::machine::{Loop, eventually, needs, open_to_destroy, run, scratch, sparse_file};

fn counters(device: &mut UringDevice) -> HostCounters {
    device.telemetry().host.unwrap()
}

fn complete(device: &mut UringDevice, io: Io) {
    device.submit(&[io]).unwrap();
    let mut done = Vec::new();
    while done.is_empty() {
        let until = device.now() + Nanos::from_secs(30);
        device.reap(until, &mut done).unwrap();
    }
}

/// Another program writes some MiB of zeros to a device, or reads them.
fn dd(device: &Path, mib: u64, reads: bool) {
    let (count, device) = (format!("count={mib}"), device.display());
    let (from, to, direct) = match reads {
        true => (format!("if={device}"), "of=/dev/null".to_owned(), "iflag=direct"),
        false => ("if=/dev/zero".to_owned(), format!("of={device}"), "oflag=direct"),
    };
    run("dd", &[&from, &to, "bs=1M", &count, direct, "conv=notrunc", "status=none"]);
}

#[test]
fn the_system_counts_what_we_and_others_move() {
    needs!("dd");
    let backing = Loop::new(64);
    let mut device = open_to_destroy(&backing.path).unwrap();
    let start = counters(&mut device);
    complete(&mut device, Io::write(Bytes(0), Bytes::from_kib(64)));
    let ours = counters(&mut device);
    assert_eq!(ours.transferred_since(&start), Some(Bytes::from_kib(64)));
    assert_eq!(ours.read, start.read);
    complete(&mut device, Io::trim(Bytes(0), Bytes::from_mib(1)));
    assert_eq!(counters(&mut device).transferred_since(&ours), Some(Bytes::ZERO));
    dd(&backing.path, 8, false);
    dd(&backing.path, 4, true);
    let theirs = counters(&mut device).transferred_since(&ours).unwrap();
    // The system itself may look at the device when a writer closes it.
    assert!((12 << 20..13 << 20).contains(&theirs.0), "{theirs}");
}

#[test]
fn a_partition_is_told_of_load_on_the_whole_disk() {
    needs!("dd", "addpart", "partx");
    let disk = Loop::new(64);
    // Sectors of two partitions of 32 MiB less what a table would take.
    for (number, from) in [("1", "2048"), ("2", "67584")] {
        run("addpart", &[disk.name(), number, from, "61440"]);
    }
    let [first, second] = [1, 2].map(|number| PathBuf::from(format!("{}p{number}", disk.name())));
    eventually("the partitions", || (first.exists() && second.exists()).then_some(()));
    let mut device = open_to_destroy(&first).unwrap();
    let start = counters(&mut device);
    dd(&second, 8, false);
    let moved = counters(&mut device).transferred_since(&start).unwrap();
    assert!(moved >= Bytes::from_mib(8), "{moved}");
}

#[test]
fn a_file_and_a_loop_device_have_no_temperature_and_a_file_no_counters() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let Ok(mut device) = open_to_destroy(&file) else { return };
    assert_eq!(device.info().temperature_limit, None);
    let Telemetry { host, temperature, .. } = device.telemetry();
    let host = host.unwrap();
    assert_eq!((host.read, host.written, temperature), (None, None, None));
    assert!(host.cpu > Nanos::ZERO);
}

/// A short consistency run on a loop device, `during` the second half of which something happens.
fn recorded(device: &Path, during: impl Fn() + Sync) -> RunRecord {
    let plan = consistency::Plan::lasting(Nanos::from_secs(2));
    let directory = TempDir::new().unwrap();
    let mut opened = open_to_destroy(device).unwrap();
    let options = RunOptions::default();
    let path = directory.path().join("run");
    let mut begun = false;
    writecliff_suite::run(&Plan::Consistency(plan), &mut opened, &path, options, &mut |progress| {
        if progress.step == consistency::TORTURE && !std::mem::replace(&mut begun, true) {
            during();
        }
        ControlFlow::Continue(())
    })
    .unwrap()
}

#[test]
fn threads_are_recorded_with_their_load_and_what_they_computed() {
    needs!();
    let device = Loop::new(64);
    let plan = consistency::Plan::lasting(Nanos::from_secs(2));
    let directory = TempDir::new().unwrap();
    let mut opened = open_to_destroy(&device.path).unwrap();
    let options =
        RunOptions { threads: ThreadCount::Exactly(2), every_io: true, ..RunOptions::default() };
    let path = directory.path().join("run");
    let run = Plan::Consistency(plan);
    let record =
        writecliff_suite::run(
            &run,
            &mut opened,
            &path,
            options,
            &mut |_| ControlFlow::Continue(()),
        );
    let record = record.unwrap();
    assert_eq!(other_load(&record), None, "{:?}", record.warnings);
    for phase in &record.phases {
        let (before, after) = (phase.before.host.unwrap(), phase.after.host.unwrap());
        assert_eq!(phase.threads, 2, "{phase:?}");
        assert!(after.cpu > before.cpu && after.written > before.written, "{phase:?}");
    }
    let (_, recording) = writecliff_suite::open(&path).unwrap();
    let torture: Vec<_> = recording.series(consistency::TORTURE).collect();
    assert_eq!(torture.len(), 2);
    // More than one thread's sixteen; on a busy machine each of them waits now and then.
    assert!(
        torture.iter().all(|second| (17.0..=33.0).contains(&second.queue_depth)),
        "{torture:?}"
    );
}

fn other_load(record: &RunRecord) -> Option<(Bytes, &[String])> {
    record.warnings.iter().find_map(|warning| match warning {
        Warning::Host(HostWarning::OtherLoad { bytes, phases, .. }) => Some((*bytes, &phases[..])),
        _ => None,
    })
}

#[test]
fn a_run_alone_on_its_device_has_no_doubt_of_other_load() {
    needs!();
    let device = Loop::new(64);
    let record = recorded(&device.path, || ());
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
    needs!("dd");
    let device = Loop::new(64);
    let record = recorded(&device.path, || (0..4).for_each(|_| dd(&device.path, 60, true)));
    let (bytes, phases) = other_load(&record).expect("240 MiB by others must be noticed");
    assert_eq!(phases, [consistency::TORTURE]);
    // All but what our own I/Os in flight at the end could have been.
    assert!((Bytes::from_mib(230)..Bytes::from_mib(250)).contains(&bytes), "{bytes}");
}
