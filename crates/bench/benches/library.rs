//! How long a library of ten thousand results takes to be read: from the directories, and from the
//! index.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use divan::Bencher;
use serde_json::Value;
use tempfile::TempDir;
use writecliff::device::Nanos;
use writecliff::{DriveName, Overrides, RunOptions, UNWATCHED};
use writecliff_bench::{Home, Library};

/// Runs: seeds by drives.
const RUNS: [usize; 2] = [100, 10_000];

fn main() {
    divan::main();
}

#[divan::bench(args = RUNS, sample_count = 3, sample_size = 1)]
fn rebuilding(bencher: Bencher<'_, '_>, runs: usize) {
    let directory = filled(runs);
    let home = Home::at(&directory.path().join("library"));
    bencher.bench_local(|| Library::rebuild(home.clone(), |_, _| {}).unwrap().version().to_owned());
}

#[divan::bench(args = RUNS, sample_count = 5, sample_size = 1)]
fn opening(bencher: Bencher<'_, '_>, runs: usize) {
    let directory = filled(runs);
    let home = Home::at(&directory.path().join("library"));
    bencher.bench_local(|| Library::open(home.clone()).unwrap().bench().unwrap().values.len());
}

/// A library with so many runs in it: one that was run, with other seeds and other drives' names.
fn filled(runs: usize) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let first = directory.path().join("first");
    let record = record(&first);
    for number in 0..runs {
        let mut record = record.clone();
        record["plan"]["seed"] = number.into();
        record["drive"]["model"] = format!("Drive {} 1GB", number % 500).into();
        let at = directory.path().join(format!("runs/{}/{number}", number % 500));
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
        for recording in ["series.parquet", "histograms.parquet"] {
            fs::hard_link(first.join(recording), at.join(recording)).unwrap();
        }
    }
    let home = Home::at(&directory.path().join("library"));
    Library::open(home).unwrap().add(&[directory.path().join("runs")]).unwrap();
    directory
}

fn record(path: &Path) -> Value {
    let changes = Overrides { duration: Some(Nanos::from_secs(5)), ..Overrides::default() };
    let plan = writecliff::plan("consistency").unwrap().with(&changes).unwrap();
    let drive = DriveName::from("sim:tiny");
    writecliff::run(&plan, &drive, None, path, RunOptions::default(), UNWATCHED).unwrap();
    serde_json::from_slice(&fs::read(path.join("run.json")).unwrap()).unwrap()
}
