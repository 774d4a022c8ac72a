//! Writecliff beside fio on the same device.

use std::path::Path;
use std::process::Command;

use writecliff_loop_device::LoopDevice;

use super::timed;
use crate::cargo;
use crate::packages;

const PAIRS: usize = 3;
const SECONDS: u64 = 8;
const DEVICE_BYTES: u64 = 1 << 30;

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
    in_turn(&program)
}

/// What one program did to the device.
struct Figure {
    iops: f64,
    /// Processor time of the whole program, in microseconds per I/O of the measured phase.
    cpu_per_io: f64,
}

fn in_turn(program: &Path) -> Result<(), String> {
    let device = LoopDevice::in_memory(DEVICE_BYTES).map_err(|error| error.to_string())?;
    println!(
        "\n4KB random writes, QD32, io_uring, O_DIRECT, 1 GiB loop device in memory, {SECONDS} s"
    );
    println!(
        "{:>4} {:>12} {:>12} {:>8} {:>14} {:>14}",
        "run", "writecliff", "fio", "ratio", "cpu us/io", "fio cpu us/io"
    );
    for pair in 1..=PAIRS {
        let ours = writecliff(program, device.path().as_ref())?;
        let fio = fio(device.path().as_ref())?;
        println!(
            "{pair:>4} {:>12.0} {:>12.0} {:>8.2} {:>14.2} {:>14.2}",
            ours.iops,
            fio.iops,
            ours.iops / fio.iops,
            ours.cpu_per_io,
            fio.cpu_per_io
        );
    }
    Ok(())
}

fn writecliff(program: &Path, device: &Path) -> Result<Figure, String> {
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let device = device.display().to_string();
    let arguments = ["run", "consistency", &device, "--destroy-data-on", &device, "--json"];
    let mut command = Command::new(program);
    command.args(arguments).arg("--out").arg(out.path().join("run"));
    command.args(["--duration", &format!("{SECONDS}s")]);
    let (json, cpu) = measured(&mut command)?;
    // The steady window's mean and the rest's weigh the same on a device without a cliff.
    let iops = number_after(&json, &["\"steady_iops\"", "\"mean\""])?;
    Ok(Figure { iops, cpu_per_io: cpu / (iops * SECONDS as f64) })
}

fn fio(device: &Path) -> Result<Figure, String> {
    let mut command = Command::new("fio");
    command.arg(format!("--filename={}", device.display()));
    command.arg(format!("--runtime={SECONDS}"));
    command.args(
        "--name=beside --ioengine=io_uring --fixedbufs=1 --registerfiles=1 --iodepth=32 \
         --rw=randwrite --bs=4k --direct=1 --norandommap=1 --time_based=1 --output-format=json"
            .split_whitespace(),
    );
    let (json, cpu) = measured(&mut command)?;
    let iops = number_after(&json, &["\"write\"", "\"iops\""])?;
    Ok(Figure { iops, cpu_per_io: cpu / (iops * SECONDS as f64) })
}

/// Runs a command; returns what it printed and the processor time it took, in microseconds.
pub(super) fn measured(command: &mut Command) -> Result<(String, f64), String> {
    let before = cpu_of_children()?;
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} ended with {}: {message}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((text, cpu_of_children()? - before))
}

/// User and system time of all children that have ended, from the kernel's own account.
fn cpu_of_children() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    // The fields after the name in brackets; cutime and cstime are the 14th and 15th of them.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    Ok(ticks * 1e6 / rustix::param::clock_ticks_per_second() as f64)
}

/// The number behind the last of `keys`, each looked for behind the one before.
pub(super) fn number_after(json: &str, keys: &[&str]) -> Result<f64, String> {
    let missing = || format!("found no {} in: {json}", keys.join(" "));
    let mut rest = json;
    for key in keys {
        rest = rest.split_once(key).ok_or_else(missing)?.1;
    }
    let value = rest.trim_start_matches([':', ' ']);
    let end = value.find([',', '}', '\n']).unwrap_or(value.len());
    value[..end].trim().parse().map_err(|_| missing())
}
