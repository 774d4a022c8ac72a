//! Simulated drives with the recording on, as a user runs them: the figures that the speed targets
//! are stated in. Threads have no part in it: items per second are items per second of one core.

use std::ops::ControlFlow;

use divan::Bencher;
use divan::counter::ItemsCount;
use writecliff_device::{Bytes, Device, Operation};
use writecliff_measure::{Queue, Recorder, RunDirectory, record, tally};
use writecliff_sim::{Build, load};
use writecliff_workload::{RandomUniform, Sequential};

const IOS: usize = 1_000_000;
const DRIVES: [&str; 2] = ["samsung-840-evo-250gb", "samsung-840-evo-1tb"];
const PAGE: Bytes = Bytes::from_kib(4);

fn main() {
    divan::main();
}

const DEPTH: usize = 32;

/// Written once in order, and then `share` of its capacity at random.
fn filled(name: &str, share: f64) -> Box<dyn Device> {
    let mut drive = load(name).expect("ships").open(name);
    let capacity = drive.info().capacity;
    let fill = Sequential::new(Operation::Write, capacity, Bytes::from_kib(128));
    tally(&mut *drive, Queue::new(fill, DEPTH), None).expect("simulated drives do not fail");
    let count = (capacity.0 as f64 * share / PAGE.0 as f64) as usize;
    let overwrites = RandomUniform::new(Operation::Write, capacity, PAGE, 2).take(count);
    tally(&mut *drive, Queue::new(overwrites, DEPTH), None).expect("simulated drives do not fail");
    drive
}

/// Each `seed` has pages of its own: the same ones again would leave nothing to collect.
fn recorded(drive: &mut dyn Device, operation: Operation, seed: u64) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("run");
    let run = RunDirectory::create(&path, &"bench", false).expect("an empty directory");
    let mut recorder = Recorder::new(run, drive.now(), false);
    recorder.begin(&["bench"], drive.telemetry());
    let ios = RandomUniform::new(operation, drive.info().capacity, PAGE, seed).take(IOS);
    let go_on = &mut |_: &_, _| ControlFlow::Continue(());
    record(drive, Queue::new(ios, DEPTH), None, &mut recorder, go_on).expect("recorded");
}

#[divan::bench(args = DRIVES, sample_count = 5, sample_size = 1)]
fn random_writes_in_steady_state(bencher: Bencher<'_, '_>, name: &str) {
    let (mut drive, mut seed) = (filled(name, 0.5), 2);
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        seed += 1;
        recorded(&mut *drive, Operation::Write, seed);
    });
}

#[divan::bench(args = DRIVES, sample_count = 5, sample_size = 1)]
fn random_reads(bencher: Bencher<'_, '_>, name: &str) {
    let (mut drive, mut seed) = (filled(name, 0.0), 2);
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        seed += 1;
        recorded(&mut *drive, Operation::Read, seed);
    });
}
