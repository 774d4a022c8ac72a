//! Whole programs: run, timed, and their figures found in what they print.

use std::process::Command;

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
