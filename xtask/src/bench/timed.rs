//! A trace by its own clock, on no drive, beside fio doing the same.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::measured::{measured, number_after};

const PAIRS: usize = 3;
const SECONDS: u64 = 5;
const IOPS: u64 = 200_000;
/// What counts as on time: 99 % of the I/Os, and the end.
const ON_TIME_NS: f64 = 50e3;
const ON_TIME_PERCENT: f64 = 0.1;

/// How well one program kept to the trace's clock.
struct Kept {
    /// How much longer than the trace it took, in percent.
    late_percent: f64,
    /// The 99th percentile of due to submitted; fio does not tell.
    lateness_p99_ns: Option<f64>,
}

/// Whole programs in turn; only a quiet machine says what they can do.
pub(super) fn beside_fio(program: &Path) -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let [csv, own, iolog] = ["t.csv", "t.trace", "t.iolog"].map(|name| directory.path().join(name));
    std::fs::write(&csv, trace()).map_err(|error| error.to_string())?;
    for output in [&own, &iolog] {
        let mut convert = Command::new(program);
        convert.args(["trace", "convert"]).arg(&csv).arg(output);
        measured(&mut convert)?;
    }
    println!("\nA trace of {SECONDS} s at {IOPS} IOPS by its own clock, on no drive");
    println!(
        "{:>4} {:>20} {:>26} {:>14}",
        "run", "writecliff ends late", "99 % issued late by at most", "fio off by"
    );
    for pair in 1..=PAIRS {
        let ours = writecliff(program, &own, &directory.path().join(pair.to_string()))?;
        let fio = fio(&iolog)?;
        let lateness = ours.lateness_p99_ns.unwrap_or(f64::NAN);
        let is_kept = lateness <= ON_TIME_NS && ours.late_percent <= ON_TIME_PERCENT;
        let verdict = if is_kept { "" } else { "  NOT ON TIME (busy machine?)" };
        println!(
            "{pair:>4} {:>18.3} % {:>23.1} us {:>12.1} %{verdict}",
            ours.late_percent,
            lateness / 1e3,
            fio.late_percent
        );
    }
    Ok(())
}

/// 4 KiB reads at random places, at equal steps.
fn trace() -> String {
    let mut text = "issued_ns,operation,offset,length\n".to_owned();
    for index in 0..SECONDS * IOPS {
        let place = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46;
        let issued = index * 1_000_000_000 / IOPS;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{issued},read,{},4096", place * 4096);
    }
    text
}

fn writecliff(program: &Path, trace: &Path, out: &Path) -> Result<Kept, String> {
    let mut command = Command::new(program);
    command.args(["trace", "replay"]).arg(trace);
    command.args(["null:", "--timed", "--as-is", "--json", "--out"]).arg(out);
    let (json, _) = measured(&mut command)?;
    let seconds = text_after(&json, &["\"phases\"", "\"length\""])?;
    Ok(Kept {
        late_percent: late(seconds),
        lateness_p99_ns: Some(number_after(&json, &["\"lateness\"", "\"p99_ns\""])?),
    })
}

fn fio(iolog: &Path) -> Result<Kept, String> {
    let mut command = Command::new("fio");
    command.arg(format!("--read_iolog={}", iolog.display()));
    command.args(["--name=beside", "--ioengine=null", "--output-format=json", "--iodepth=256"]);
    let (json, _) = measured(&mut command)?;
    let milliseconds = number_after(&json, &["\"jobs\"", "\"job_runtime\""])?;
    Ok(Kept { late_percent: late(milliseconds / 1e3), lateness_p99_ns: None })
}

fn late(seconds: f64) -> f64 {
    // The last I/O is due one step before the end.
    let trace = SECONDS as f64 - 1.0 / IOPS as f64;
    (seconds / trace - 1.0) * 100.0
}

/// A time like `"5012345678ns"` or `"5s"` behind the keys, in seconds.
fn text_after(json: &str, keys: &[&str]) -> Result<f64, String> {
    let mut rest = json;
    for key in keys {
        rest = rest.split_once(key).ok_or_else(|| format!("found no {key} in: {json}"))?.1;
    }
    let text = rest.trim_start_matches([':', ' ', '"']).split('"').next().unwrap_or_default();
    let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)];
    let found = units.iter().find_map(|(unit, scale)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * scale)
    });
    found.ok_or_else(|| format!("'{text}' is no time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let json = r#"{"phases": [{"name": "t", "length": "5000123ns"}]}"#;
        assert_eq!(text_after(json, &["\"phases\"", "\"length\""]), Ok(0.005000123));
        assert_eq!(text_after(r#"{"length":"5s"}"#, &["\"length\""]), Ok(5.0));
        assert!(text_after(r#"{"length":"5"}"#, &["\"length\""]).is_err());
    }

    #[test]
    fn the_trace_has_its_rate() {
        let text = trace();
        assert_eq!(text.lines().count() as u64, 1 + SECONDS * IOPS);
        assert!(text.lines().last().is_some_and(|line| line.starts_with("4999995000,read,")));
    }
}
