//! Traces of any length at constant memory, in a process of its own: the kernel tells the peak of all
//! that a process started.
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};

use crate::user::command;

const LINES: u64 = 100_000;
/// Ten times the lines may cost this much more; holding the operations alone would be 57 MB.
const GROWTH_MAX: i64 = 16 << 20;

/// MSR Cambridge: reads and writes here and there in a gigabyte, a few in flight.
fn write_csv(path: &Path, lines: u64) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for line in 0..lines {
        let (time, kind) =
            (128_166_372_003_061_629 + line * 500, ["Read", "Write"][line as usize % 2]);
        let offset = line * 7919 % 250_000 * 4096;
        writeln!(file, "{time},web,0,{kind},{offset},4096,2000").unwrap();
    }
    file.flush().unwrap();
}

/// The most memory that any command took so far, in bytes, once this one has run.
fn peak_after(directory: &Path, arguments: &[&str]) -> i64 {
    let mut command = command();
    let output = command.arg("trace").args(arguments).current_dir(directory).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() * 1024
}

/// Set where this test runs alone.
const ALONE: &str = "WRITECLIFF_TEST_ALONE";

#[test]
fn ten_times_the_trace_takes_no_more_memory() {
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "memory::ten_times_the_trace_takes_no_more_memory"]);
        let output = alone.env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write_csv(&dir.path().join("short.csv"), LINES);
    write_csv(&dir.path().join("long.csv"), 10 * LINES);
    // Those that take least come first, so that none hides in what another took.
    for [short, long] in [
        [["convert", "short.csv", "short.iolog"], ["convert", "long.csv", "long.iolog"]],
        [["convert", "short.csv", "short.trace"], ["convert", "long.csv", "long.trace"]],
        [["info", "--json", "short.csv"], ["info", "--json", "long.csv"]],
        [["info", "--json", "short.trace"], ["info", "--json", "long.trace"]],
    ] {
        let before = peak_after(dir.path(), &short);
        let growth = peak_after(dir.path(), &long) - before;
        println!("{short:?}: {before} bytes, and {growth} more for ten times as much");
        assert!(growth < GROWTH_MAX, "{long:?}: {growth} bytes more than {before}");
    }
}
