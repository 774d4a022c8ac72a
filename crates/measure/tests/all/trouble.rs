//! Recording on devices that hang, fail or vanish, and with a disk that takes nothing.
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, DeviceError, DeviceTime, Io, Nanos, Operation, Status, Telemetry};
use writecliff_measure::{
    FAILURES_NAMED, FailedIo, Queue, RecordError, Recorder, Recording, RunDirectory, Sample,
    Waiting, record,
};
use writecliff_workload::RandomUniform;

const TIMEOUT: Nanos = Nanos::from_secs(3);

/// Everything that a run left: its end, its samples, its named failures, and what was shown.
struct Recorded {
    ended: Result<(), RecordError>,
    samples: Vec<Sample>,
    failures: Vec<FailedIo>,
    waiting: Vec<Waiting>,
}

/// Eight writes in flight for some seconds, an I/O timeout of three.
fn run(mut device: Scripted, seconds: u64) -> Recorded {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path).with_io_timeout(TIMEOUT);
    let mut waiting = Vec::new();
    let ended = record(&mut device, queue(8), secs(seconds), &mut recorder, &mut |_, waits| {
        waiting.push(waits);
        ControlFlow::Continue(())
    });
    let failures = recorder.failures().to_vec();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let samples = Recording::open::<serde_json::Value>(&path).unwrap().1.samples;
    Recorded { ended, samples, failures, waiting }
}

fn recorder(path: &Path) -> Recorder {
    let directory = RunDirectory::create(path, &serde_json::json!({}), true).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(0), true);
    recorder.begin(&["test"], Telemetry::default());
    recorder
}

fn queue(depth: usize) -> Queue<'static> {
    let ios = RandomUniform::new(Operation::Write, Bytes::from_gib(1), Bytes(4096), 1);
    Queue::new(ios, depth)
}

fn secs(seconds: u64) -> Option<Nanos> {
    Some(Nanos::from_secs(seconds))
}

/// A write takes 10 ms, side by side, but one that begins in the given stretch ends with it.
fn pausing(from: Nanos, until: Nanos) -> Scripted {
    let pause = DeviceTime(0) + from..DeviceTime(0) + until;
    let takes = move |_: &Io, begins: DeviceTime| match pause.contains(&begins) {
        true => pause.end - begins + Nanos::from_millis(10),
        false => Nanos::from_millis(10),
    };
    Scripted::new(Bytes::from_gib(1), takes).side_by_side().real()
}

/// The same without a pause, but the I/O of this number never ends.
fn losing(number: u64) -> Scripted {
    let mut count = 0;
    let takes = move |_: &Io, _| {
        count += 1;
        if count == number { Scripted::NEVER } else { Nanos::from_millis(10) }
    };
    Scripted::new(Bytes::from_gib(1), takes).side_by_side().real()
}

fn writes(samples: &[Sample]) -> Vec<u64> {
    samples.iter().map(|sample| sample.writes).collect()
}

#[test]
fn an_io_that_never_ends_fails_in_the_second_it_was_due_and_ends_the_run_after_as_long_again() {
    let Recorded { ended, samples, failures, waiting } = run(losing(401), 1000);
    let Err(RecordError::Unanswered { io }) = &ended else { panic!("{ended:?}") };
    // The 401st of eight at a time begins after half a second: due at 3.5 s, given up at 6.5 s.
    assert_eq!((io.operation, io.length), (Operation::Write, Bytes(4096)));
    assert_eq!((io.waited, io.lba), (Nanos::from_millis(6500), io.offset.0 / 512));
    let failed: Vec<u64> = samples.iter().map(|sample| sample.failed).collect();
    assert_eq!(failed, [0, 0, 0, 1, 0, 0, 0]);
    let [failure] = &failures[..] else { panic!("{failures:?}") };
    assert_eq!((failure.at, failure.errno), (Nanos::from_millis(3500), 110));
    assert_eq!((failure.offset, failure.error.as_str()), (io.offset, "no answer within 3 s"));
    assert_eq!(waiting[0], Waiting::default());
    assert_eq!(waiting[2], Waiting { ios: 1, longest: Nanos::from_millis(2500), late: 0 });
    let text = ended.as_ref().unwrap_err().to_string();
    assert!(text.contains(&format!("LBA {}", io.lba)) && text.contains("6 s"), "{text}");
}

#[test]
fn an_io_that_comes_back_late_is_counted_once_and_the_run_goes_on() {
    // Eight that begin at one second and come back at five, after their time was up at four.
    let Recorded { ended, samples, failures, .. } =
        run(pausing(Nanos::from_secs(1), Nanos::from_secs(5)), 8);
    ended.unwrap();
    assert_eq!(failures.len(), 8);
    let failed: Vec<u64> = samples.iter().map(|sample| sample.failed).collect();
    assert_eq!(failed, [0, 0, 0, 0, 8, 0, 0, 0]);
    assert_eq!(writes(&samples)[1..5], [8, 0, 0, 0], "{samples:?}");
    assert!(samples.iter().all(|sample| sample.latency_max_ns <= 10_000_000));
}

#[test]
fn a_hang_at_the_planned_end_is_seconds_of_the_phase_and_its_longest_write() {
    // From 1.995 s on, so that eight are in flight when two seconds are over.
    let Recorded { ended, samples, .. } =
        run(pausing(Nanos::from_millis(1985), Nanos::from_millis(4500)), 2);
    ended.unwrap();
    assert_eq!(samples.len(), 5, "{samples:?}");
    assert_eq!(writes(&samples)[2..], [0, 0, 8]);
    assert_eq!(samples[4].span_ns, 510_000_000);
    assert!(samples[4].latency_max_ns > 2_500_000_000, "{samples:?}");
    assert_eq!(samples[4].start_ns, 4_000_000_000);
}

#[test]
fn what_comes_back_within_a_second_of_the_planned_end_is_in_no_second() {
    let Recorded { ended, samples, .. } =
        run(pausing(Nanos::from_millis(1985), Nanos::from_millis(2500)), 2);
    ended.unwrap();
    assert_eq!(samples.len(), 2, "{samples:?}");
}

#[test]
fn a_hang_at_the_planned_end_that_does_not_end_ends_the_run() {
    let Recorded { ended, samples, .. } =
        run(pausing(Nanos::from_millis(1985), Nanos::from_secs(10_000)), 2);
    assert!(matches!(ended, Err(RecordError::Unanswered { .. })), "{ended:?}");
    assert_eq!(samples.iter().map(|sample| sample.failed).sum::<u64>(), 8);
    assert_eq!(samples.len(), 8, "{samples:?}");
}

#[test]
fn a_drive_that_vanishes_ends_the_run_as_gone_with_what_was_recorded() {
    let device = pausing(Nanos::from_secs(1000), Nanos::from_secs(1000));
    let Recorded { ended, samples, .. } =
        run(device.gone_from(DeviceTime(0) + Nanos::from_millis(3200)), 1000);
    let Err(RecordError::Device(DeviceError::Gone { .. })) = &ended else { panic!("{ended:?}") };
    assert_eq!(writes(&samples), [792, 800, 800]);
    let text = ended.unwrap_err().to_string();
    assert!(text.contains("is gone") && !text.contains("space"), "{text}");
}

/// Of every so many writes one fails.
fn failing_one_in(count: u64) -> Scripted {
    let mut number = 0;
    pausing(Nanos::from_secs(1000), Nanos::from_secs(1000)).ending_by(move |_, _| {
        number += 1;
        if number % count == 0 { Status::Failed(5) } else { Status::Done }
    })
}

#[test]
fn a_run_of_which_a_noticeable_share_fails_ends_early_and_names_the_first() {
    let Recorded { ended, samples, failures, .. } = run(failing_one_in(100), 2000);
    let Err(RecordError::IosFailed { series, failed, all, first }) = &ended else {
        panic!("{ended:?}");
    };
    assert_eq!((series.as_str(), failures.len()), ("test", FAILURES_NAMED));
    assert!((100..110).contains(failed) && (all / failed) == 100, "{failed} of {all}");
    assert_eq!(first.as_deref(), failures.first());
    assert_eq!(failures[0].lba, failures[0].offset.0 / 512);
    assert!(failures[0].error.contains("(EIO)"), "{failures:?}");
    assert!(samples.len() < 20, "{} s for what was clear after 13", samples.len());
    assert!(ended.unwrap_err().to_string().contains("LBA"));
}

#[test]
fn a_few_failed_ios_end_nothing() {
    let Recorded { ended, samples, failures, .. } = run(failing_one_in(1100), 50);
    ended.unwrap();
    // Fewer seconds than may wait for the disk: a virtual clock is faster than any.
    assert_eq!(samples.len(), 50);
    assert_eq!(samples.iter().map(|sample| sample.failed).sum::<u64>(), 36);
    assert_eq!(failures.len(), FAILURES_NAMED);
}

#[test]
fn the_same_seconds_are_on_disk_whoever_writes_them() {
    let dir = tempfile::tempdir().unwrap();
    let files = |real: bool| {
        let device = Scripted::new(Bytes::from_gib(1), |io, _| Nanos(900_000 + io.offset.0 % 77));
        let mut device = if real { device.real() } else { device };
        let path = dir.path().join(real.to_string());
        let mut recorder = recorder(&path);
        let mut shown = Vec::new();
        record(&mut device, queue(4), secs(20), &mut recorder, &mut |sample, _| {
            // What is shown is on disk.
            let journal = fs::read_to_string(path.join("journal.jsonl")).unwrap();
            assert!(journal.lines().count() > sample.second as usize);
            shown.push(sample.clone());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(recorder.directory().recording().unwrap().samples, shown);
        ["journal.jsonl", "ios.journal"].map(|name| fs::read(path.join(name)).unwrap())
    };
    assert!(files(true) == files(false));
}

#[test]
fn a_watcher_that_hangs_does_not_hold_up_the_load_and_ends_it_after_a_minute_of_samples() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path);
    let (release, hung) = mpsc::channel();
    // A virtual minute is over in no time; the load's end lets the watcher go.
    let takes = move |_: &Io, begins: DeviceTime| {
        if begins > DeviceTime(0) + Nanos::from_secs(60) {
            let _ = release.send(());
        }
        Nanos::from_millis(10)
    };
    let mut device = Scripted::new(Bytes::from_gib(1), takes).real();
    let ended = record(&mut device, queue(4), secs(1000), &mut recorder, &mut move |_, _| {
        let _ = hung.recv();
        ControlFlow::Continue(())
    });
    let Err(RecordError::DiskTooSlow { seconds }) = ended else { panic!("{ended:?}") };
    assert_eq!(seconds, 60);
    drop(recorder);
    // What was counted until then is written once the disk takes it again.
    let samples = Recording::open::<serde_json::Value>(&path).unwrap().1.samples;
    assert!(samples.len() >= 60, "{}", samples.len());
}

#[test]
fn a_watcher_that_breaks_off_ends_a_real_load_and_keeps_what_was_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path);
    let device = Scripted::new(Bytes::from_gib(1), |_, _| Nanos::from_millis(10));
    let (mut device, mut shown) = (device.real(), 0);
    // More seconds than a minute: the load ends by the watcher or not at all.
    let ended = record(&mut device, queue(4), secs(50), &mut recorder, &mut |_, _| {
        shown += 1;
        if shown == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(ended, Err(RecordError::Interrupted)), "{ended:?}");
    drop(recorder);
    assert_eq!(shown, 3);
    let samples = Recording::open::<serde_json::Value>(&path).unwrap().1.samples;
    assert!((3..=50).contains(&samples.len()), "{}", samples.len());
}
