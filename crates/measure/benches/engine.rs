//! What recording costs per I/O, on a device that costs nothing.

use std::ops::ControlFlow;

use divan::Bencher;
use divan::counter::ItemsCount;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Nanos,
    Operation, Purge, PurgeOutcome, PurgeWatch, Specification, Status, Telemetry,
};
use writecliff_measure::{Load, Recorder, RunDirectory, record};
use writecliff_workload::RandomUniform;

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
            address: "null".to_owned(),
            kind: DeviceKind::Simulated,
            model: "null".to_owned(),
            serial: None,
            world_wide_name: None,
            stands_on: Vec::new(),
            firmware: None,
            capacity: Bytes::from_gib(1024),
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

    fn purge(&mut self, how: Purge, _: PurgeWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }
}

#[divan::bench(args = [false, true], sample_count = 10, sample_size = 1)]
fn recording(bencher: Bencher<'_, '_>, every_io: bool) {
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("run");
        let run = RunDirectory::create(&path, &"null", every_io).expect("an empty directory");
        let mut recorder = Recorder::new(run, DeviceTime(0), every_io);
        recorder.begin_phases(&["null"], Telemetry::default());
        let span = Bytes::from_gib(1024);
        let ios = RandomUniform::new(Operation::Write, span, Bytes(4096), 1).take(IOS);
        let load = Load { ios, queue_depth: 32, duration: None };
        record(&mut Null::new(), load, &mut recorder, &mut |_, _| ControlFlow::Continue(()))
            .expect("nothing can fail");
    });
}
