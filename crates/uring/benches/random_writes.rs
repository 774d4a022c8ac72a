//! Random 4 KiB writes at queue depth 32 on a loop device in memory: this engine and fio in turn.
//!
//! Prints IOPS and processor time per write of each; needs root, loop devices and fio, and says
//! so where they are missing. Seconds per turn: WRITECLIFF_BENCH_SECONDS (5).

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use tempfile::TempDir;
use writecliff_device::{Bytes, Device, Io, Iops, Nanos};
use writecliff_uring::{Access, DestroyData, Options, UringDevice, open};

const QUEUE_DEPTH: usize = 32;
const BLOCK: Bytes = Bytes(4096);
const TURNS: usize = 5;

/// What one turn came to.
struct Turn {
    iops: f64,
    processor_us_per_write: f64,
}

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let seconds = std::env::var("WRITECLIFF_BENCH_SECONDS");
    let seconds: u64 = seconds.ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let Some(target) = LoopDevice::new() else {
        println!("SKIPPED: needs root, loop devices and /dev/shm");
        return;
    };
    // Once over everything, so that no turn pays for the file's memory.
    let warm_up = run_ours(&target.path, 2 * seconds);
    print("(warm-up)", &warm_up);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ours.push(run_ours(&target.path, seconds));
        theirs.extend(run_fio(&target.path, seconds));
    }
    for (engine, turns) in [("writecliff", ours), ("fio", theirs)] {
        turns.iter().for_each(|turn| print(engine, turn));
        match median(&turns) {
            Some(median) => print(&format!("{engine}, median"), &median),
            None => println!("SKIPPED: {engine} is not installed"),
        }
    }
}

fn median(turns: &[Turn]) -> Option<Turn> {
    let middle = |of: fn(&Turn) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some(Turn {
        iops: middle(|turn| turn.iops)?,
        processor_us_per_write: middle(|turn| turn.processor_us_per_write)?,
    })
}

fn print(engine: &str, turn: &Turn) {
    println!(
        "{engine:<20} {:>9.0} IOPS  {:>6.2} µs of own processor time per write",
        turn.iops, turn.processor_us_per_write
    );
}

fn run_ours(path: &str, seconds: u64) -> Turn {
    let options = Options { queue_depth: QUEUE_DEPTH, io_size_max: BLOCK, seed: 1 };
    let access = Access::Destroy(DestroyData::named(path));
    let mut device = open(Path::new(path), &access, &options).expect("open");
    let (before, start) = (processor_seconds(), Instant::now());
    let count = write_randomly(&mut device, Nanos::from_secs(seconds));
    let span = Nanos(start.elapsed().as_nanos() as u64);
    Turn {
        iops: Iops::over(count, span).get(),
        processor_us_per_write: (processor_seconds() - before) * 1e6 / count as f64,
    }
}

fn write_randomly(device: &mut UringDevice, span: Nanos) -> u64 {
    let blocks = device.info().capacity.0 / BLOCK.0;
    let mut state = 1u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Io::write(BLOCK * (state % blocks), BLOCK)
    };
    let (end, mut count) = (device.now() + span, 0);
    let mut batch: Vec<Io> = (0..QUEUE_DEPTH).map(|_| next()).collect();
    let mut done = Vec::new();
    loop {
        device.submit(&batch).expect("submit");
        device.reap(end, &mut done).expect("reap");
        count += done.len() as u64;
        if device.now() >= end {
            return count;
        }
        batch.clear();
        batch.extend(done.drain(..).map(|_| next()));
    }
}

/// User and system time of this process.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2);
    ticks.filter_map(|text| text.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn run_fio(path: &str, seconds: u64) -> Option<Turn> {
    let output = Command::new("fio")
        .args(["--name=x", "--ioengine=io_uring", "--fixedbufs", "--registerfiles"])
        .args(["--iodepth=32", "--rw=randwrite", "--bs=4k", "--direct=1", "--norandommap"])
        .args(["--randrepeat=0", "--refill_buffers=0", "--time_based", "--minimal"])
        .arg(format!("--runtime={seconds}"))
        .arg(format!("--filename={path}"))
        .output()
        .ok()?;
    // fio's terse output, version 3, from 0: 48 is the IOPS of writes, 87 and 88 are user and
    // system time in percent of the run.
    let text = String::from_utf8_lossy(&output.stdout);
    let fields: Vec<&str> = text.lines().last()?.split(';').collect();
    let number =
        |index: usize| -> Option<f64> { fields.get(index)?.trim_end_matches('%').parse().ok() };
    let iops = number(48)?;
    let processor = (number(87)? + number(88)?) / 100.0;
    Some(Turn { iops, processor_us_per_write: processor * 1e6 / iops })
}

/// A loop device on a file in memory.
struct LoopDevice {
    path: String,
    _directory: TempDir,
}

impl LoopDevice {
    fn new() -> Option<Self> {
        let directory = TempDir::new_in("/dev/shm").ok()?;
        let file = directory.path().join("target");
        File::create(&file).ok()?.set_len(256 << 20).ok()?;
        let output = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(&file)
            .output()
            .ok()?;
        let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (!path.is_empty()).then_some(Self { path, _directory: directory })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.path]).status();
    }
}
