//! One load by several threads: recorded as if one had done it.
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_columns::ColumnFile;
use writecliff_device::scripted::Scripted;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceTime, Io, Lanes, Nanos, Operation,
    PrepareWatch, Purge, PurgeOutcome, Status, Telemetry,
};
use writecliff_measure::{
    FailedIo, Queue, RecordError, Recorder, Recording, RunDirectory, Sample, Stream, Streams,
    Threads, Waiting, record,
};
use writecliff_workload::{Pace, Sequential};

const BLOCK: Bytes = Bytes(4096);
const TIMEOUT: Nanos = Nanos::from_secs(3);
const EIO: i32 = 5;

/// A device whose lanes are scripted devices, each with a clock of its own that begins at zero.
struct Laned {
    owner: Scripted,
    lane: fn(usize) -> Scripted,
    opened: usize,
}

impl Laned {
    fn new(lane: fn(usize) -> Scripted) -> Self {
        Self { owner: serving(10), lane, opened: 0 }
    }
}

impl Lanes for Laned {
    fn hardware_queues(&self) -> usize {
        2
    }

    fn open(&mut self, _: usize) -> Result<Box<dyn Device + Send>, DeviceError> {
        self.opened += 1;
        Ok(Box::new((self.lane)(self.opened - 1)))
    }
}

impl Device for Laned {
    fn info(&self) -> &DeviceInfo {
        self.owner.info()
    }

    fn now(&self) -> DeviceTime {
        self.owner.now()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        self.owner.submit(batch)
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        self.owner.reap(until, done)
    }

    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        self.owner.purge(how, watch)
    }

    fn telemetry(&mut self) -> Telemetry {
        self.owner.telemetry()
    }

    fn lanes(&mut self) -> Option<&mut dyn Lanes> {
        Some(self)
    }
}

/// One I/O after the other, each in so many milliseconds.
fn serving(millis: u64) -> Scripted {
    Scripted::new(Bytes::from_gib(1), move |_, _| Nanos::from_millis(millis)).real()
}

struct Recorded {
    ended: Result<(), RecordError>,
    threads: usize,
    samples: Vec<Sample>,
    /// When each I/O completed, in nanoseconds, and its offset, in the order of the log.
    ios: Vec<(u64, u64)>,
    failures: Vec<FailedIo>,
    waiting: Vec<Waiting>,
}

fn run(
    mut device: impl Device,
    series: &[&str],
    supply: impl writecliff_measure::Recorded,
    seconds: Option<u64>,
    shown_max: usize,
) -> Recorded {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let directory = RunDirectory::create(&path, &serde_json::json!({}), true).unwrap();
    let recorder = Recorder::new(directory, DeviceTime(0), true).with_io_timeout(TIMEOUT);
    let mut recorder = recorder.with_threads(Threads { most: 2, depth_min: 2 });
    recorder.begin(series, Telemetry::default());
    let mut waiting = Vec::new();
    let duration = seconds.map(Nanos::from_secs);
    let ended = record(&mut device, supply, duration, &mut recorder, &mut |_, waits| {
        waiting.push(waits);
        if waiting.len() < shown_max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let (threads, failures) = (recorder.threads_used(), recorder.failures().to_vec());
    recorder.finish().close(&serde_json::json!({})).unwrap();
    let samples = Recording::open::<serde_json::Value>(&path).unwrap().1.samples;
    Recorded { ended, threads, samples, ios: ios(&path), failures, waiting }
}

fn ios(run: &Path) -> Vec<(u64, u64)> {
    let Ok(file) = File::open(run.join("ios.parquet")) else { return Vec::new() };
    let file = ColumnFile::open(file).unwrap();
    let groups = (0..file.groups()).flat_map(|index| {
        let group = file.group(index, 1 << 20).unwrap();
        let mut ios = vec![(0, 0); group.rows()];
        for (column, put) in [
            ("submitted_ns", (|io, value| io.0 += value) as fn(&mut (u64, u64), u64)),
            ("service_ns", |io, value| io.0 += value),
            ("offset", |io, value| io.1 = value),
        ] {
            let column = file.column(&[column]).unwrap();
            group.required(column, &mut ios, |io, value: i64| put(io, value as u64)).unwrap();
        }
        ios
    });
    groups.collect()
}

fn writes(count: u64) -> Sequential {
    Sequential::new(Operation::Write, BLOCK * count, BLOCK)
}

fn endless() -> impl Iterator<Item = Io> + Send {
    std::iter::repeat_with(|| writes(1000)).flatten()
}

/// Every I/O once, in the order in which they completed.
fn assert_log(recorded: &Recorded, count: u64) {
    let ios = &recorded.ios;
    assert!(ios.is_sorted_by_key(|(completed, _)| *completed), "the log is in order of time");
    let mut offsets: Vec<u64> = ios.iter().map(|(_, offset)| *offset).collect();
    offsets.sort_unstable();
    assert!(offsets.into_iter().eq((0..count).map(|index| index * BLOCK.0)));
}

#[test]
fn two_threads_are_recorded_as_one_load() {
    let device = Laned::new(|_| serving(10));
    let recorded = run(device, &["test"], Queue::new(endless(), 8), Some(3), usize::MAX);
    recorded.ended.unwrap();
    assert_eq!(recorded.threads, 2);
    let [first, second, third] = &recorded.samples[..] else { panic!("{:?}", recorded.samples) };
    // An I/O that ends on the edge of a second belongs to the second that begins there.
    assert_eq!([first.writes, second.writes, third.writes], [2 * 99, 200, 200]);
    assert_eq!((second.second, second.start_ns, second.span_ns), (1, 1_000_000_000, 1_000_000_000));
    assert_eq!((second.latency_mean_ns, second.latency_deviation_ns), (40_000_000, Some(0)));
    assert!((second.queue_depth - 8.0).abs() < 1e-9, "four in flight in each");
    assert_eq!(recorded.ios.len() as u64, 598);
    assert!(recorded.ios.is_sorted_by_key(|(completed, _)| *completed));
}

#[test]
fn what_threads_of_unequal_speed_do_is_added_up_exactly() {
    // 10 and 40 ms, and one in flight each: 100 and 25 I/Os a second.
    let device = Laned::new(|lane| serving([10, 40][lane]));
    let recorded = run(device, &["test"], Queue::new(endless(), 4), Some(2), usize::MAX);
    recorded.ended.unwrap();
    let second = &recorded.samples[1];
    assert_eq!(second.writes, 125);
    // Two in flight each: 20 ms and 80 ms.
    assert_eq!(second.latency_mean_ns, (100 * 20_000_000 + 25 * 80_000_000) / 125);
    assert_eq!(second.latency_max_ns, 80_000_000);
    assert!((20_000_000..20_200_000).contains(&second.latency_p50_ns), "{second:?}");
    assert_eq!(second.latency_p99_ns, 80_000_000);
    // 36 in 100 ms of difference: sqrt(0.8 x 0.2) of 60 ms.
    assert_eq!(second.latency_deviation_ns, Some(24_000_000));
}

#[test]
fn a_load_that_ends_has_each_io_once_however_many_threads_there_are() {
    let device = Laned::new(|lane| serving([3, 5][lane]));
    let recorded = run(device, &["test"], Queue::new(writes(1000), 8), None, usize::MAX);
    recorded.ended.as_ref().unwrap();
    assert_eq!(recorded.samples.iter().map(|sample| sample.writes).sum::<u64>(), 1000);
    assert_log(&recorded, 1000);
}

fn stream(ios: impl Iterator<Item = Io> + Send + 'static, queue_depth: usize) -> Stream<'static> {
    let (ios, pace, operations) = (Box::new(ios), Pace::Closed, Vec::new());
    Stream { ios, queue_depth, pace, seed: 1, duration: None, operations }
}

#[test]
fn streams_keep_their_series_and_their_ends() {
    // The first is shared; the second goes to one thread, which has three in flight with it or, where
    // the other took what was left of the first, fewer.
    let device = Laned::new(|_| serving(10));
    let streams = Streams::new([stream(writes(600), 4), stream(writes(20), 1)]);
    let recorded = run(device, &["shared", "whole"], streams, None, usize::MAX);
    recorded.ended.unwrap();
    let of = |name: &str| {
        recorded.samples.iter().filter(|sample| sample.series == name).collect::<Vec<_>>()
    };
    let (shared, whole) = (of("shared"), of("whole"));
    assert_eq!(shared.iter().map(|sample| sample.writes).sum::<u64>(), 600);
    assert_eq!((whole.len(), whole[0].writes), (1, 20));
    assert!((200_000_000..=600_000_000).contains(&whole[0].span_ns), "{whole:?}");
    assert_eq!(recorded.ios.len(), 620);
}

#[test]
fn what_cannot_be_shared_is_done_by_one_thread() {
    let device = || Laned::new(|_| serving(10));
    let shallow = run(device(), &["test"], Queue::new(endless(), 3), Some(1), usize::MAX);
    assert_eq!((shallow.threads, shallow.samples[0].writes), (1, 99));
    let simulated = Scripted::new(Bytes::from_gib(1), |_, _| Nanos::from_millis(10));
    let simulated = run(simulated, &["test"], Queue::new(endless(), 8), Some(1), usize::MAX);
    assert_eq!((simulated.threads, simulated.samples[0].writes), (1, 99));
}

#[test]
fn too_many_failures_of_one_thread_end_the_load_of_all() {
    let lane = |lane: usize| {
        let status = if lane == 1 { Status::Failed(EIO) } else { Status::Done };
        serving(10).ending(status)
    };
    let device = Laned::new(lane);
    let recorded = run(device, &["test"], Queue::new(endless(), 8), Some(50), usize::MAX);
    let Err(RecordError::IosFailed { failed: 199, all: 398, first: Some(first), .. }) =
        &recorded.ended
    else {
        panic!("{:?}", recorded.ended);
    };
    assert_eq!((first.errno, first.at), (EIO, Nanos::from_millis(10)));
    assert_eq!(recorded.failures[0], **first);
    assert_eq!((recorded.samples[0].writes, recorded.samples[0].failed), (99, 99));
}

#[test]
fn a_lane_that_does_not_answer_ends_the_load_when_its_time_is_up() {
    let lane = |lane: usize| {
        let mut count = 0;
        let takes = move |_: &Io, _| {
            count += 1;
            if lane == 1 && count == 50 { Scripted::NEVER } else { Nanos::from_millis(10) }
        };
        Scripted::new(Bytes::from_gib(1), takes).side_by_side().real()
    };
    let queue = Queue::new(endless(), 8);
    let recorded = run(Laned::new(lane), &["test"], queue, Some(50), usize::MAX);
    let Err(RecordError::Unanswered { io }) = &recorded.ended else {
        panic!("{:?}", recorded.ended);
    };
    assert!(io.waited > TIMEOUT * 2, "{io:?}");
    assert_eq!((recorded.waiting[1].ios, recorded.waiting[1].late), (1, 0));
    assert_eq!((recorded.waiting[4].ios, recorded.waiting[4].late), (1, 1));
    assert_eq!(recorded.samples.iter().map(|sample| sample.failed).sum::<u64>(), 1);
}

#[test]
fn a_lane_whose_drive_is_gone_says_so_for_all() {
    let lane = |lane: usize| {
        let gone = DeviceTime(0) + Nanos::from_millis(2500);
        if lane == 1 { serving(10).gone_from(gone) } else { serving(10) }
    };
    let queue = Queue::new(endless(), 8);
    let recorded = run(Laned::new(lane), &["test"], queue, Some(50), usize::MAX);
    assert!(matches!(recorded.ended, Err(RecordError::Device(DeviceError::Gone { .. }))));
}

#[test]
fn a_watcher_breaks_all_threads_off() {
    let queue = Queue::new(endless(), 8);
    let recorded = run(Laned::new(|_| serving(10)), &["test"], queue, Some(50), 2);
    assert!(matches!(recorded.ended, Err(RecordError::Interrupted)), "{:?}", recorded.ended);
    assert!(recorded.samples.len() >= 2);
}
