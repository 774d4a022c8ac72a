//! What recording costs per I/O, on a device that costs nothing.

use std::ops::ControlFlow;

use divan::Bencher;
use divan::counter::ItemsCount;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Lanes, Nanos,
    Operation, PrepareWatch, Purge, PurgeOutcome, Status, Telemetry,
};
use writecliff_measure::{
    Queue, Recorded, Recorder, RunDirectory, Stream, Streams, Threads, record,
};
use writecliff_workload::{Job, Mix, Order, Pace, RandomUniform};

const IOS: usize = 2_000_000;

fn main() {
    divan::main();
}

/// Completes everything at once, one microsecond of its own time later.
struct Null {
    info: DeviceInfo,
    now: DeviceTime,
    in_flight: Vec<Io>,
}

impl Null {
    fn new() -> Self {
        let info = DeviceInfo {
            model: "null".to_owned(),
            physical_block_size: Bytes(4096),
            io_size_max: Bytes::from_mib(1),
            queue_depth_max: 64,
            ..DeviceInfo::of("null", DeviceKind::Simulated, Bytes::from_gib(1024))
        };
        Self { info, now: DeviceTime(0), in_flight: Vec::new() }
    }
}

impl Device for Null {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        self.in_flight.extend(batch);
        Ok(())
    }

    fn reap(&mut self, _: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        for io in self.in_flight.drain(..) {
            let submitted = self.now;
            self.now = submitted + Nanos(1000);
            done.push(Completion { io, submitted, completed: self.now, status: Status::Done });
        }
        Ok(())
    }

    fn purge(&mut self, how: Purge, _: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }

    fn lanes(&mut self) -> Option<&mut dyn Lanes> {
        Some(self)
    }
}

impl Lanes for Null {
    fn hardware_queues(&self) -> usize {
        1
    }

    fn open(&mut self, _: usize) -> Result<Box<dyn Device + Send>, DeviceError> {
        Ok(Box::new(Self::new()))
    }
}

const SPAN: Bytes = Bytes::from_gib(1024);

#[divan::bench(args = [false, true], sample_count = 10, sample_size = 1)]
fn recording(bencher: Bencher<'_, '_>, every_io: bool) {
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let ios = RandomUniform::new(Operation::Write, SPAN, Bytes(4096), 1).take(IOS);
        recorded(Queue::new(ios, 32), &["writes"], every_io, 1);
    });
}

/// The same I/Os, shared by several threads.
#[divan::bench(args = [1, 2], sample_count = 10, sample_size = 1)]
fn recording_by_threads(bencher: Bencher<'_, '_>, threads: usize) {
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let ios = RandomUniform::new(Operation::Write, SPAN, Bytes(4096), 1).take(IOS);
        recorded(Queue::new(ios, 64), &["writes"], false, threads);
    });
}

/// What the test `mixed` does by default: 70 % reads, as a job makes them.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn recording_a_job(bencher: Bencher<'_, '_>) {
    let job = Job {
        name: "job".to_owned(),
        mix: Mix { read: 70, write: 30, trim: 0 },
        order: Order::Random,
        once_each: false,
        time_based: true,
        runtime: Some(Nanos::from_secs(60)),
        ..Job::default()
    };
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let stream = Stream {
            ios: Box::new(job.ios(Bytes(512), SPAN).take(IOS)),
            queue_depth: 32,
            pace: Pace::Closed,
            seed: 1,
            duration: None,
            operations: vec![Operation::Read, Operation::Write],
        };
        recorded(Streams::new([stream]), &["reads", "writes"], false, 1);
    });
}

fn recorded(supply: impl Recorded, series: &[&str], every_io: bool, threads: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("run");
    let run = RunDirectory::create(&path, &"null", every_io).expect("an empty directory");
    let recorder = Recorder::new(run, DeviceTime(0), every_io);
    let mut recorder = recorder.with_threads(Threads { most: threads, depth_min: 1 });
    recorder.begin(series, Telemetry::default());
    let go_on = &mut |_: &_, _| ControlFlow::Continue(());
    record(&mut Null::new(), supply, None, &mut recorder, go_on).expect("nothing can fail");
}
