//! How long a whole review of a simulated drive takes: wall clock, on all processors, report
//! included. Steady state by SNIA's rules and the larger storage benches are benches of their own: they
//! are no part of a usual review.

use std::process::{Command, Stdio};

use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Runs the program into a directory that is gone afterwards.
fn writecliff(arguments: &[&str]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let status = Command::new(env!("CARGO_BIN_EXE_writecliff"))
        .args(arguments)
        .arg("--out")
        .arg(directory.path().join("out"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{arguments:?}");
}

#[divan::bench(
    args = ["sim:samsung-840-evo-250gb", "sim:samsung-840-evo-1tb"],
    sample_count = 1,
    sample_size = 1
)]
fn whole_review(bencher: Bencher<'_, '_>, drive: &str) {
    bencher.bench_local(|| writecliff(&["review", drive]));
}

#[divan::bench(
    args = ["sim:samsung-840-evo-250gb", "sim:samsung-840-evo-1tb"],
    sample_count = 1,
    sample_size = 1
)]
fn destroyer(bencher: Bencher<'_, '_>, drive: &str) {
    bencher.bench_local(|| writecliff(&["trace", "replay", "destroyer-2013", drive]));
}

/// The file is made beforehand.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn info_of_the_destroyer(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("destroyer.trace").display().to_string();
    let trace = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_writecliff"));
        command.arg("trace").args(arguments).stdin(Stdio::null());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "{arguments:?}");
    };
    trace(&["make", "destroyer-2013", &file]);
    bencher.counter(ItemsCount::new(49_810_000u64)).bench_local(|| trace(&["info", &file]));
}

#[divan::bench(args = ["sim:samsung-840-evo-250gb"], sample_count = 1, sample_size = 1)]
fn heavy(bencher: Bencher<'_, '_>, drive: &str) {
    bencher.bench_local(|| writecliff(&["trace", "replay", "heavy-2011", drive]));
}

#[divan::bench(args = ["sim:samsung-840-evo-250gb"], sample_count = 1, sample_size = 1)]
fn steady_state(bencher: Bencher<'_, '_>, drive: &str) {
    bencher.bench_local(|| writecliff(&["run", "steady-state", drive]));
}
