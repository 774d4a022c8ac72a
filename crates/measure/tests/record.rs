//! Recording on a device whose every completion is known beforehand.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Nanos,
    Operation, Purge, PurgeOutcome, Specification, Status, Telemetry,
};
use writecliff_measure::{
    Load, Pace, RecordError, Recorder, Recording, RunDirectory, Sample, Stream, record,
    record_operations,
};
use writecliff_workload::RandomUniform;

const SECOND: u64 = 1_000_000_000;

/// Serves one I/O after the other in 10 ms, pauses over a given span, and can fail everything.
struct Scripted {
    info: DeviceInfo,
    now: DeviceTime,
    free_at: DeviceTime,
    pause: std::ops::Range<u64>,
    status: Status,
    in_flight: Vec<Completion>,
}

impl Scripted {
    fn new(pause: std::ops::Range<u64>, status: Status) -> Self {
        let info = DeviceInfo {
            address: "scripted".to_owned(),
            kind: DeviceKind::Simulated,
            model: "Scripted".to_owned(),
            serial: None,
            firmware: None,
            capacity: Bytes::from_gib(1),
            lba_size: Bytes(512),
            physical_block_size: Bytes(4096),
            io_size_max: Bytes::from_mib(1),
            queue_depth_max: 32,
            rotational: false,
            trim: false,
            purges: Vec::new(),
            scheduler: None,
            temperature_limit: None,
            specification: Specification::default(),
        };
        let (now, free_at) = (DeviceTime(77), DeviceTime(77));
        Self { info, now, free_at, pause, status, in_flight: Vec::new() }
    }
}

impl Device for Scripted {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        for io in batch {
            let mut end = self.free_at.max(self.now) + Nanos::from_millis(10);
            if self.pause.contains(&(end.0 - 77)) {
                end = DeviceTime(77 + self.pause.end);
            }
            self.free_at = end;
            let (submitted, completed, status) = (self.now, end, self.status);
            self.in_flight.push(Completion { io: *io, submitted, completed, status });
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let next = self.in_flight.first().map_or(DeviceTime::MAX, |io| io.completed);
        self.now = self.now.max(next.min(until));
        let now = self.now;
        done.extend(self.in_flight.extract_if(.., |io| io.completed <= now));
        Ok(())
    }

    fn purge(&mut self, how: Purge) -> Result<PurgeOutcome, DeviceError> {
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }
}

fn recorder(path: &Path, every_io: bool) -> Recorder {
    let directory = RunDirectory::create(path, &serde_json::json!({}), every_io).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(77), every_io);
    recorder.begin_phases(&["test"], Telemetry::default());
    recorder
}

fn writes() -> RandomUniform {
    RandomUniform::new(Operation::Write, Bytes::from_gib(1), Bytes(4096), 1)
}

fn load(seconds: u64) -> Load<RandomUniform> {
    Load { ios: writes(), queue_depth: 4, duration: Some(Nanos::from_secs(seconds)) }
}

fn go_on(_: &Sample) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn samples(path: &Path) -> Vec<Sample> {
    Recording::open::<serde_json::Value>(path).unwrap().1.samples
}

#[test]
fn every_second_is_a_sample_and_a_pause_is_seconds_of_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut device = Scripted::new(2 * SECOND..5 * SECOND + SECOND / 2, Status::Done);
    let mut recorder = recorder(&path, false);
    record(&mut device, load(8), &mut recorder, &mut go_on).unwrap();
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
        let load = Load { ios, queue_depth: 4, duration: None };
        record(&mut Scripted::new(0..0, Status::Done), load, &mut recorder, &mut go_on).unwrap();
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
    let load = Load { ios: writes().take(125), queue_depth: 4, duration: None };
    record(&mut Scripted::new(0..0, Status::Done), load, &mut recorder, &mut go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let spans: Vec<_> = samples(&path).iter().map(|s| (s.writes, s.span_ns)).collect();
    // The 125th ends at the very edge of what was measured and is in the sample that it closes.
    assert_eq!(spans.iter().map(|(writes, _)| writes).sum::<u64>(), 125);
    assert_eq!(spans[1].1, SECOND / 4);
}

#[test]
fn a_device_that_fails_everything_is_left_alone_after_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, false);
    let mut device = Scripted::new(0..0, Status::Failed(5));
    let ended = record(&mut device, load(100), &mut recorder, &mut go_on);
    let Err(RecordError::EveryIoFailed { second: 0, failed: 99, errno: 5 }) = ended else {
        panic!("{ended:?}");
    };
    drop(recorder);
    let samples = samples(&path);
    assert_eq!((samples.len(), samples[0].failed, samples[0].ios()), (1, 99, 0));
}

#[test]
fn a_watcher_can_break_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, true);
    let mut device = Scripted::new(0..0, Status::Done);
    let ended = record(&mut device, load(100), &mut recorder, &mut |sample| {
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
    recorder.begin_phases(&["a reads", "a writes", "b"], Telemetry::default());
    let ios = |reads| writes().with_reads(reads).take(90);
    let stream = |reads| Stream {
        ios: Box::new(ios(reads)),
        queue_depth: 2,
        pace: Pace::Closed,
        duration: None,
    };
    let operations = [vec![Operation::Read, Operation::Write], vec![Operation::Write]];
    let mut device = Scripted::new(0..0, Status::Done);
    let streams = vec![stream(50), stream(0)];
    record_operations(&mut device, streams, &operations, None, &mut recorder, &mut go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let samples = samples(&path);
    let count = |phase: &str| {
        let own = samples.iter().filter(|sample| sample.phase == phase);
        own.fold((0, 0), |(reads, writes), s| (reads + s.reads, writes + s.writes))
    };
    let reads = ios(50).filter(|io| io.operation == Operation::Read).count() as u64;
    assert_eq!(count("a reads"), (reads, 0));
    assert_eq!(count("a writes"), (0, 90 - reads));
    assert_eq!(count("b"), (0, 90));
}

/// What a kill leaves: journals cut anywhere.
#[test]
fn a_journal_cut_anywhere_gives_every_whole_second() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut recorder = recorder(&path, true);
    let mut device = Scripted::new(0..0, Status::Done);
    record(&mut device, load(5), &mut recorder, &mut go_on).unwrap();
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
    record(&mut Scripted::new(0..0, Status::Done), load(3), &mut recorder, &mut go_on).unwrap();
    drop(recorder);
    let journal = path.join("journal.jsonl");
    let text =
        std::fs::read_to_string(&journal).unwrap().replacen("\"second\":1", "\"second\":x", 1);
    std::fs::write(&journal, text).unwrap();
    let error = Recording::open::<serde_json::Value>(&path).unwrap_err().to_string();
    assert!(error.contains("journal.jsonl"), "{error}");
}
