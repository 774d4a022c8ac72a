//! What describing a trace costs per operation: reading its file, its figures, and both as
//! `trace info` does it.

use std::path::PathBuf;

use divan::Bencher;
use divan::counter::ItemsCount;
use tempfile::TempDir;
use writecliff_device::{Bytes, Content, Nanos, Operation};
use writecliff_trace::{Existing, Header, TraceFile, TraceIo, TraceWriter, describe, read_ahead};

const IOS: usize = 4_000_000;

fn main() {
    divan::main();
}

/// Something like an application's trace: runs and random places in 500 GB, mostly small, several in
/// flight; every column filled.
fn trace() -> impl Iterator<Item = TraceIo> {
    let mut state = 1u64;
    let mut random = move |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let (mut now, mut next) = (0, 0);
    std::iter::repeat_with(move || {
        now += random(200_000);
        let operation = if random(10) < 7 { Operation::Read } else { Operation::Write };
        let length = Bytes(4096 << [0, 0, 0, 2, 3, 5][random(6) as usize]);
        let is_sequential = random(10) < 4;
        let offset = if is_sequential { next } else { random(500_000_000 / 4) * 4096 };
        next = offset + length.0;
        let content = Content { compressible_percent: 30, duplicate_percent: 0 };
        TraceIo {
            completed: Some(Nanos(now + 50_000 + random(800_000))),
            queue_depth: Some(1 + random(8) as u32),
            content: (operation == Operation::Write).then_some(content),
            stream: random(12) as u16,
            ..TraceIo::new(Nanos(now), operation, Bytes(offset), length)
        }
    })
    .take(IOS)
}

fn file() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("bench.trace");
    let mut writer = TraceWriter::create(&path, Existing::Replaced).expect("a file");
    trace().for_each(|io| writer.write(&io).expect("it is sorted"));
    writer.finish(&Header::default()).expect("it can be written");
    (directory, path)
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading(bencher: Bencher<'_, '_>) {
    let (_directory, path) = file();
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let trace = TraceFile::open(&path).expect("it was just written");
        assert_eq!(trace.filter(Result::is_ok).count(), IOS);
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn figures(bencher: Bencher<'_, '_>) {
    let ios: Vec<TraceIo> = trace().collect();
    let duration = ios.last().map_or(Nanos::ZERO, |io| io.issued);
    bencher
        .counter(ItemsCount::new(IOS))
        .bench_local(|| describe(ios.iter().copied().map(Ok), duration).expect("it is sound"));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading_and_figures(bencher: Bencher<'_, '_>) {
    let (_directory, path) = file();
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        let mut trace = TraceFile::open(&path).expect("it was just written");
        let duration = trace.summary().duration();
        read_ahead(&mut trace, |ios| describe(ios, duration)).expect("it is sound")
    });
}
