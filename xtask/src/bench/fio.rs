//! Writecliff beside fio on the same device.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use writecliff_device::Nanos;
use writecliff_loop_device::{LoopDevice, Zram};

use super::measured::{measured, number_after};
use super::timed;
use crate::cargo;
use crate::packages;

/// Odd, so that one of them is the median.
const TURNS: usize = 3;
const SECONDS: u64 = 3;
const DEVICE_BYTES: u64 = 1 << 30;
/// One in flight is measured after so long: where the scheduler runs the kernel's worker, on the
/// processor of the program or on another, decides everything there, and for some five seconds it is
/// ruled by how busy the processors were before (a program that starts with a burst of work, as fio
/// does, has twice the IOPS at first).
const SETTLING: u64 = 10;

/// What both do: 4 KiB at random.
struct Load {
    operation: &'static str,
    depth: usize,
    threads: usize,
}

const fn load(operation: &'static str, depth: usize, threads: usize) -> Load {
    Load { operation, depth, threads }
}

impl Load {
    /// Seconds before the measured ones.
    fn settling(&self) -> u64 {
        if self.depth == 1 { SETTLING } else { 0 }
    }
}

const LOADS: [Load; 8] = [
    load("read", 1, 1),
    load("write", 1, 1),
    load("read", 32, 1),
    load("write", 32, 1),
    load("read", 256, 1),
    load("write", 256, 1),
    load("read", 256, 2),
    load("write", 256, 2),
];

/// Whole programs in turn; ratios hold where absolute rates do not.
pub(crate) fn beside_fio(target: &Path) -> Result<(), String> {
    packages::install(packages::FOR_BENCHMARKS)?;
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    let program = target.join("release/writecliff");
    timed::beside_fio(&program)?;
    if !rustix::process::geteuid().is_root() {
        println!("xtask: SKIPPED the comparison with fio: loop devices need root");
        return Ok(());
    }
    let device = LoopDevice::in_memory(DEVICE_BYTES).map_err(|error| error.to_string())?;
    in_turn(&program, device.path(), "loop device")?;
    match Zram::new(DEVICE_BYTES) {
        Ok(zram) => in_turn(&program, zram.path(), "zram"),
        Err(error) => {
            println!("xtask: SKIPPED the comparison with fio on zram: {error}");
            Ok(())
        }
    }
}

/// What one program did to the device.
#[derive(Clone, Copy)]
struct Figure {
    iops: f64,
    /// Processor time of the threads that measure, in microseconds.
    cpu_per_io: f64,
}

fn in_turn(program: &Path, device: &str, kind: &str) -> Result<(), String> {
    println!(
        "\n4 KiB at random, 1 GiB {kind} in memory, {SECONDS} s, medians of {TURNS} in turn; \
         ratios to fio as it comes, and to fio with batches, fixed buffers and files"
    );
    println!(
        "{:>6} {:>6} {:>8} {:>12} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "", "depth", "threads", "IOPS", "to fio", "to best", "cpu us/io", "to fio", "to best"
    );
    let turns: Vec<Vec<[Figure; 3]>> = (0..TURNS)
        .map(|_| LOADS.iter().map(|load| each(program, device, load)).collect())
        .collect::<Result<_, _>>()?;
    for (index, Load { operation, depth, threads }) in LOADS.iter().enumerate() {
        let median = |of: &dyn Fn(&[Figure; 3]) -> f64| {
            let mut values: Vec<f64> = turns.iter().map(|turn| of(&turn[index])).collect();
            values.sort_by(f64::total_cmp);
            values[TURNS / 2]
        };
        println!(
            "{operation:>6} {depth:>6} {threads:>8} {:>12.0} {:>8.2} {:>8.2} {:>10.2} {:>8.2} {:>8.2}",
            median(&|[ours, ..]| ours.iops),
            median(&|[ours, plain, _]| ours.iops / plain.iops),
            median(&|[ours, _, best]| ours.iops / best.iops),
            median(&|[ours, ..]| ours.cpu_per_io),
            median(&|[ours, plain, _]| ours.cpu_per_io / plain.cpu_per_io),
            median(&|[ours, _, best]| ours.cpu_per_io / best.cpu_per_io),
        );
    }
    Ok(())
}

/// One after the other: we, fio as it comes, fio at its best.
fn each(program: &Path, device: &str, load: &Load) -> Result<[Figure; 3], String> {
    Ok([
        writecliff(program, device, load)?,
        fio(device, load, &[])?,
        fio(device, load, &best(load))?,
    ])
}

fn writecliff(program: &Path, device: &str, load: &Load) -> Result<Figure, String> {
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let Load { operation, depth, threads } = load;
    let settling = load.settling();
    let plan = out.path().join("plan.toml");
    let job = format!(
        "duration = \"{}s\"\n[[job]]\nname = \"beside\"\nqueue_depth = {depth}\n\
         mix = {{ {operation} = 100 }}\ntime_based = true\nruntime = \"60s\"\n\
         ramp = \"{settling}s\"\n",
        settling + SECONDS
    );
    std::fs::write(&plan, job).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["run", "mixed", device, "--destroy-data-on", device, "--json", "--no-bench"]);
    command.args(["--threads", &threads.to_string()]).arg("--plan").arg(&plan);
    command.arg("--out").arg(out.path().join("run"));
    let (json, _) = measured(&mut command)?;
    let run: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let phase = run["phases"].as_array().and_then(|phases| phases.last()).unwrap_or(&Value::Null);
    let cpu = |when: &str| nanoseconds(&phase[when]["host"]["cpu"]);
    let did = &run["outcome"]["jobs"][0][format!("{operation}s")];
    let figure = || {
        // The phase's processor time is also that of the time before, at about the same IOPS.
        let measured = SECONDS as f64 / (settling + SECONDS) as f64;
        let cpu = (cpu("after")? - cpu("before")?) * measured;
        Some(Figure { iops: did["iops"].as_f64()?, cpu_per_io: cpu / 1e3 / did["ios"].as_f64()? })
    };
    figure().ok_or_else(|| format!("no figures in: {json}"))
}

/// `12345ns`, or `12us` where it is even.
fn nanoseconds(time: &Value) -> Option<f64> {
    let time: Nanos = time.as_str()?.parse().ok()?;
    Some(time.0 as f64)
}

/// What makes fio fastest: nothing mapped or looked up for each I/O, and several in each call.
fn best(Load { depth, threads, .. }: &Load) -> [String; 5] {
    let batch = (depth / threads / 2).clamp(1, 16);
    [
        "--fixedbufs=1".to_owned(),
        "--registerfiles=1".to_owned(),
        format!("--iodepth_batch_submit={batch}"),
        "--iodepth_batch_complete_min=1".to_owned(),
        format!("--iodepth_batch_complete_max={batch}"),
    ]
}

fn fio(device: &str, load: &Load, further: &[String]) -> Result<Figure, String> {
    let Load { operation, depth, threads } = load;
    let mut command = Command::new("fio");
    command.arg(format!("--filename={device}"));
    command.arg(format!("--runtime={SECONDS}")).arg(format!("--ramp_time={}", load.settling()));
    command.arg(format!("--rw=rand{operation}"));
    command.arg(format!("--iodepth={}", depth / threads)).arg(format!("--numjobs={threads}"));
    command.args(
        "--name=beside --ioengine=io_uring --bs=4k --direct=1 --norandommap=1 --time_based=1 \
         --thread --group_reporting --output-format=json"
            .split_whitespace(),
    );
    // The engine's own options come after its name.
    command.args(further);
    let (json, _) = measured(&mut command)?;
    let number = |keys: &[&str]| number_after(&json, keys);
    let name = format!("\"{operation}\"");
    let (iops, ios) = (number(&[&name, "\"iops\""])?, number(&[&name, "\"total_ios\""])?);
    let percent = number(&["\"usr_cpu\""])? + number(&["\"sys_cpu\""])?;
    let milliseconds = number(&[&name, "\"runtime\""])? * *threads as f64;
    Ok(Figure { iops, cpu_per_io: percent / 100.0 * milliseconds * 1e3 / ios })
}
