//! Recording on a device whose every completion is known beforehand.
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, DeviceTime, Io, Nanos, Operation, Status, Telemetry};
use writecliff_measure::{
    Queue, RecordError, Recorder, Recording, RunDirectory, Sample, Stream, Streams, Waiting, record,
};
use writecliff_workload::{Pace, RandomUniform};

const SECOND: u64 = 1_000_000_000;

/// Begins at 77 ns, serves one I/O after the other in 10 ms, and pauses over a given span.
fn scripted(pause: std::ops::Range<u64>) -> Scripted {
    let script = move |_: &Io, begins: DeviceTime| {
        let end = begins + Nanos::from_millis(10);
        let paused = pause.contains(&(end.0 - 77));
        if paused { DeviceTime(77 + pause.end) - begins } else { end - begins }
    };
    Scripted::new(Bytes::from_gib(1), script).at(DeviceTime(77))
}

fn recorder(path: &Path, every_io: bool) -> Recorder {
    let directory = RunDirectory::create(path, &serde_json::json!({}), every_io).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(77), every_io);
    recorder.begin(&["test"], Telemetry::default());
    recorder
}

fn writes() -> RandomUniform {
    RandomUniform::new(Operation::Write, Bytes::from_gib(1), Bytes(4096), 1)
}

/// Records four writes at a time for so long.
fn record_writes(
    device: &mut Scripted,
    seconds: u64,
    recorder: &mut Recorder,
) -> Result<(), RecordError> {
    record(device, Queue::new(writes(), 4), Some(Nanos::from_secs(seconds)), recorder, &mut go_on)
}

fn go_on(_: &Sample, _: Waiting) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn samples(path: &Path) -> Vec<Sample> {
    Recording::open::<serde_json::Value>(path).unwrap().1.samples
}

#[test]
fn every_second_is_a_sample_and_a_pause_is_seconds_of_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut device = scripted(2 * SECOND..5 * SECOND + SECOND / 2);
    let mut recorder = recorder(&path, false);
    record_writes(&mut device, 8, &mut recorder).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let samples = samples(&path);
    // An I/O that ends on the edge of a second belongs to the second that begins there.
    let counts: Vec<u64> = samples.iter().map(|sample| sample.writes).collect();
    assert_eq!(counts, [99, 100, 0, 0, 0, 50, 100, 100]);
    assert!(samples.iter().all(|sample| sample.span_ns == SECOND));
    let starts: Vec<u64> = samples.iter().map(|sample| sample.start_ns / SECOND).collect();
    assert_eq!(starts, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(samples[2].latency_max_ns, 0);
    // Four in flight: the one that hit the pause was submitted 4 x 10 ms before second 2.
    assert_eq!(samples[5].latency_max_ns, 3_540_000_000);
    assert_eq!(samples[1].latency_p50_ns, 40_000_000);
    assert!((samples[1].queue_depth - 4.0).abs() < 1e-9);
    assert_eq!(samples[1].written_bytes, 100 * 4096);
    assert_eq!(samples[1].nand_written_bytes, None);
}

#[test]
fn a_load_that_ends_on_the_edge_of_a_second_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for (index, count) in [100u64, 200].into_iter().enumerate() {
        let path = dir.path().join(index.to_string());
        let mut recorder = recorder(&path, false);
        let ios = writes().take(count as usize);
        let queue = Queue::new(ios, 4);
        record(&mut scripted(0..0), queue, None, &mut recorder, &mut go_on).unwrap();
        recorder.finish().close(&serde_json::json!({})).unwrap();
        let samples = samples(&path);
        assert_eq!(samples.iter().map(|sample| sample.writes).sum::<u64>(), count);
        let last = samples.last().unwrap();
        assert_eq!((last.writes, last.span_ns), (1, 1), "the last I/O has a moment of its own");
    }
}

#[test]
fn a_load_that_ends_leaves_a_shorter_last_sample() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, false);
    let queue = Queue::new(writes().take(125), 4);
    record(&mut scripted(0..0), queue, None, &mut recorder, &mut go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let spans: Vec<_> = samples(&path).iter().map(|s| (s.writes, s.span_ns)).collect();
    // The 125th ends at the very edge of what was measured and is in the sample that it closes.
    assert_eq!(spans.iter().map(|(writes, _)| writes).sum::<u64>(), 125);
    assert_eq!(spans[1].1, SECOND / 4);
}

#[test]
fn a_device_that_fails_everything_is_left_alone_after_two_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, false);
    let mut device = scripted(0..0).ending(Status::Failed(5));
    let ended = record_writes(&mut device, 100, &mut recorder);
    let Err(RecordError::EveryIoFailed { from: 0, failed: 199, errno: 5 }) = ended else {
        panic!("{ended:?}");
    };
    drop(recorder);
    let samples = samples(&path);
    assert_eq!((samples.len(), samples[0].failed, samples[0].ios()), (2, 99, 0));
}

#[test]
fn a_drive_that_is_back_after_a_second_of_failures_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, false);
    // What begins from just before second 2 on fails, and what comes next waits until second 6.
    let is_out = |begins: DeviceTime| (1_950..2_200).contains(&(begins.0 / 1_000_000));
    let status = move |begins| if is_out(begins) { Status::Failed(5) } else { Status::Done };
    let mut device =
        scripted(2_200_000_000..6_000_000_000).ending_by(move |_, begins| status(begins));
    record_writes(&mut device, 280, &mut recorder).unwrap();
    drop(recorder);
    let samples = samples(&path);
    let failing: Vec<usize> = (0..samples.len())
        .filter(|at| samples[*at].failed >= 10 && samples[*at].ios() == 0)
        .collect();
    assert_eq!(failing, [2], "no other second is all of failures");
    assert_eq!(samples.len(), 280);
}

#[test]
fn a_drive_that_goes_on_failing_slowly_is_left_alone_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&dir.path().join("run"), false);
    let takes = |_: &Io, begins: DeviceTime| {
        Nanos::from_millis(if begins.0 < 1_000_000_000 { 10 } else { 200 })
    };
    let mut device = Scripted::new(Bytes::from_gib(1), takes).at(DeviceTime(77));
    device = device.ending(Status::Failed(5));
    let ended = record_writes(&mut device, 100, &mut recorder);
    assert!(matches!(ended, Err(RecordError::IosFailed { failed: 100..120, .. })), "{ended:?}");
}

#[test]
fn a_watcher_can_break_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, true);
    let mut device = scripted(0..0);
    let (queue, duration) = (Queue::new(writes(), 4), Some(Nanos::from_secs(100)));
    let ended = record(&mut device, queue, duration, &mut recorder, &mut |sample, _| {
        if sample.second == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(ended, Err(RecordError::Interrupted)));
    recorder.finish().close(&serde_json::json!({})).unwrap();
    assert_eq!(samples(&path).len(), 3);
    assert!(path.join("ios.parquet").exists());
}

#[test]
fn each_operation_of_each_stream_can_be_a_series() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, false);
    recorder.begin(&["a reads", "a writes", "b"], Telemetry::default());
    let ios = |reads| writes().with_reads(reads).take(90);
    let stream = |reads, operations| Stream {
        ios: Box::new(ios(reads)),
        queue_depth: 2,
        pace: Pace::Closed,
        seed: 1,
        duration: None,
        operations,
    };
    let both = stream(50, vec![Operation::Read, Operation::Write]);
    let streams = Streams::new([both, stream(0, vec![Operation::Write])]);
    record(&mut scripted(0..0), streams, None, &mut recorder, &mut go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let samples = samples(&path);
    let count = |series: &str| {
        let own = samples.iter().filter(|sample| sample.series == series);
        own.fold((0, 0), |(reads, writes), s| (reads + s.reads, writes + s.writes))
    };
    let reads = ios(50).filter(|io| io.operation == Operation::Read).count() as u64;
    assert_eq!(count("a reads"), (reads, 0));
    assert_eq!(count("a writes"), (0, 90 - reads));
    assert_eq!(count("b"), (0, 90));
}

/// Little's law: what is in flight is the rate times the latency, wherever an I/O waits.
#[test]
fn what_the_drive_does_not_take_waits_in_the_host_and_its_latency_counts_from_there() {
    let dir = tempfile::tempdir().unwrap();
    for (streams, in_flight) in [(1, 32), (2, 64), (8, 256)] {
        let path = dir.path().join(format!("run {streams}"));
        let mut recorder = recorder(&path, true);
        let stream = |_| Stream {
            ios: Box::new(writes()),
            queue_depth: 32,
            pace: Pace::Closed,
            seed: 1,
            duration: None,
            operations: Vec::new(),
        };
        let names: Vec<String> = (0..streams).map(|stream| stream.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        recorder.begin(&names, Telemetry::default());
        // A hundred a second, whatever waits.
        let mut device = scripted(0..0);
        let all = Streams::new((0..streams).map(stream));
        record(&mut device, all, Some(Nanos::from_secs(20)), &mut recorder, &mut go_on).unwrap();
        recorder.finish().close(&serde_json::json!({})).unwrap();
        // Once the queue has been gone through, every I/O has waited for all the others.
        let samples = samples(&path);
        let later: Vec<_> = samples.iter().filter(|sample| sample.second >= 3).collect();
        let (ios, nanos) = later.iter().fold((0, 0), |(ios, nanos), sample| {
            (ios + sample.writes, nanos + sample.writes * sample.latency_mean_ns)
        });
        assert_eq!(ios, 1700);
        let little = nanos as f64 / ios as f64 * 100.0 / 1e9;
        assert!((little / f64::from(in_flight) - 1.0).abs() < 1e-3, "{in_flight}: {little}");
    }
}

/// What a kill leaves: journals cut anywhere.
#[test]
fn a_journal_cut_anywhere_gives_every_whole_second() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, true);
    let mut device = scripted(0..0);
    record_writes(&mut device, 5, &mut recorder).unwrap();
    drop(recorder);
    let journal = std::fs::read(path.join("journal.jsonl")).unwrap();
    for cut in (0..=journal.len()).rev().step_by(7) {
        std::fs::write(path.join("journal.jsonl"), &journal[..cut]).unwrap();
        let whole = journal[..cut].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(samples(&path).len(), whole);
    }
}

#[test]
fn a_damaged_line_is_an_error_and_not_fewer_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, false);
    record_writes(&mut scripted(0..0), 3, &mut recorder).unwrap();
    drop(recorder);
    let journal = path.join("journal.jsonl");
    let text =
        std::fs::read_to_string(&journal).unwrap().replacen("\"second\":1", "\"second\":x", 1);
    std::fs::write(&journal, text).unwrap();
    let error = Recording::open::<serde_json::Value>(&path).unwrap_err().to_string();
    assert!(error.contains("journal.jsonl"), "{error}");
}

/// A write every 10 ms, or a rest of 10 ms after each, with a flush behind each of them: the flush
/// takes no turn of its own.
#[test]
fn flushes_have_neither_a_due_time_nor_a_rest_of_their_own() {
    for (pace, expected) in [
        (Pace::Iops(100), 100),
        // A millisecond for the write, then the rest, in which the flush is done.
        (Pace::Think { rest: Nanos::from_millis(10), every: 1 }, 1000 / 11),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let mut recorder = recorder(&path, false);
        let pair = [Io::write(Bytes::ZERO, Bytes(4096)), Io::flush()];
        let stream = Stream {
            ios: Box::new(std::iter::repeat(pair).flatten()),
            queue_depth: 1,
            pace,
            seed: 1,
            duration: None,
            operations: Vec::new(),
        };
        let mut device = Scripted::new(Bytes::from_gib(1), |_, _| Nanos::from_millis(1));
        let second = Some(Nanos::from_secs(1));
        record(&mut device, Streams::new([stream]), second, &mut recorder, &mut go_on).unwrap();
        recorder.finish().close(&serde_json::json!({})).unwrap();
        let sample = &samples(&path)[0];
        assert!(sample.writes.abs_diff(expected) <= 1, "{pace:?}: {} writes", sample.writes);
        assert!(sample.flushes.abs_diff(expected) <= 1, "{pace:?}: {} flushes", sample.flushes);
    }
}

#[test]
fn a_stream_that_ends_before_the_others_ends_its_series_with_its_last_io() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let directory = RunDirectory::create(&path, &serde_json::json!({}), false).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(0), false);
    recorder.begin(&["short", "long"], Telemetry::default());
    let stream = |count| Stream {
        ios: Box::new(writes().take(count)),
        queue_depth: 1,
        pace: Pace::Closed,
        seed: 1,
        duration: None,
        operations: Vec::new(),
    };
    // Two streams take turns of a millisecond: the short one is over after 100 ms.
    let mut device = Scripted::new(Bytes::from_gib(1), |_, _| Nanos::from_millis(1));
    let streams = Streams::new([stream(50), stream(3000)]);
    record(&mut device, streams, None, &mut recorder, &mut go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let all = samples(&path);
    let of = |name: &str| all.iter().filter(|s| s.series == name).cloned().collect::<Vec<_>>();
    let (short, long) = (of("short"), of("long"));
    assert_eq!((short.len(), short[0].writes), (1, 50));
    assert!((98_000_000..=101_000_000).contains(&short[0].span_ns), "{}", short[0].span_ns);
    assert_eq!(long.iter().map(|sample| sample.writes).sum::<u64>(), 3000);
}

#[test]
fn a_stream_whose_last_io_ends_with_a_second_keeps_it_while_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    // The only read ends in the moment that the second second begins; writes go on behind it.
    let takes = |io: &Io, _| match io.operation {
        Operation::Read => Nanos::from_secs(1),
        _ => Nanos::from_millis(100),
    };
    let mut device = Scripted::new(Bytes::from_gib(1), takes).at(DeviceTime(77)).side_by_side();
    let mut recorder = recorder(&path, false);
    recorder.begin(&["short", "long"], Telemetry::default());
    let stream = |ios: Vec<Io>, queue_depth| Stream {
        ios: Box::new(ios.into_iter()),
        queue_depth,
        pace: Pace::Closed,
        seed: 1,
        duration: None,
        operations: Vec::new(),
    };
    let read = Io::read(Bytes::ZERO, Bytes(4096));
    let streams = Streams::new([stream(vec![read], 2), stream(writes().take(30).collect(), 1)]);
    record(&mut device, streams, None, &mut recorder, &mut go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let reads: u64 = samples(&path).iter().map(|sample| sample.reads).sum();
    assert_eq!(reads, 1);
}
