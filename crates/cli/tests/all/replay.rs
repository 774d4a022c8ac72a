//! Traces done again as a user asks for it, on simulated drives and on real block devices.
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_loop_device::LoopDevice;
use writecliff_trace::{Existing, Header, TraceIo, TraceWriter};

use crate::user::command;

fn writecliff(arguments: &[&str]) -> Output {
    let output = command().args(arguments).stdin(Stdio::null()).output().unwrap();
    let errors = text(&output.stderr);
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Operations of 4 KiB one at a time, a millisecond apart.
fn trace(path: &Path, operations: &[Operation]) {
    let mut writer = TraceWriter::create(path, Existing::Replaced).unwrap();
    for (index, operation) in (0..).zip(operations) {
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => (index * 4096, 4096),
        };
        let issued = Nanos::from_millis(index);
        let io = TraceIo::new(issued, *operation, Bytes(offset), Bytes(length));
        writer.write(&TraceIo { queue_depth: Some(1), ..io }).unwrap();
    }
    writer.finish(&Header::default()).unwrap();
}

fn outcome(run: &Path) -> serde_json::Value {
    let text = fs::read(run.join("run.json")).unwrap();
    serde_json::from_slice::<serde_json::Value>(&text).unwrap()["outcome"]["traces"][0].clone()
}

#[test]
fn a_trace_of_reads_and_flushes_needs_no_consent_and_changes_nothing() {
    let Some(drive) = LoopDevice::in_memory(8 << 20).ok() else {
        let _ = writeln!(io::stderr(), "SKIPPED a test of replays: it needs root and loop devices");
        return;
    };
    let device = drive.path();
    let before: Vec<u8> = (0..8 << 20).map(|index: u32| (index >> 7) as u8).collect();
    fs::write(device, &before).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    use Operation::{Flush, Read, Write};
    trace(Path::new(&path("reads.trace")), &[Read, Flush, Read, Read, Flush]);
    trace(Path::new(&path("writes.trace")), &[Read, Write]);

    let reads = ["trace", "replay", &path("reads.trace"), device, "--as-is", "--out", &path("run")];
    let output = writecliff(&reads);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let served = outcome(&dir.path().join("run"));
    assert_eq!(
        (&served["all"]["operations"], &served["reads"]["operations"]),
        (&5.into(), &3.into())
    );

    for (trace, options) in [("writes.trace", &["--as-is"][..]), ("reads.trace", &[])] {
        let command = ["trace", "replay", &path(trace), device, "--out", &path("never")];
        let output = writecliff(&[&command[..], options].concat());
        assert_eq!(output.status.code(), Some(3), "{trace}: {}", text(&output.stderr));
    }
    assert!(fs::read(device).unwrap() == before && !dir.path().join("never").exists());
}

#[test]
fn what_no_drive_takes_is_this_machine_s_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    trace(Path::new(&path("t.trace")), &[Operation::Write; 200]);
    let output = writecliff(&[
        "trace",
        "replay",
        &path("t.trace"),
        "null:",
        "--timed",
        "--speed",
        "4",
        "--as-is",
        "--out",
        &path("run"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("There was no drive"), "{}", text(&output.stdout));
    let served = outcome(&dir.path().join("run"));
    assert_eq!(
        served["lateness"]["percentiles"]["max_ns"],
        served["response"]["percentiles"]["max_ns"]
    );
    // 199 ms at four times the speed, however late this machine is.
    let record = fs::read_to_string(dir.path().join("run/run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let length: Nanos = record["phases"][0]["length"].as_str().unwrap().parse().unwrap();
    assert!(length >= Nanos::from_micros(49_750), "{length}");
}

#[test]
fn mistakes_get_one_clear_message_and_nothing_is_begun() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    trace(Path::new(&path("t.trace")), &[Operation::Read; 3]);
    fs::write(path("t.csv"), "issued_ns,operation,offset,length\n0,read,0,4096\n").unwrap();
    let replay = |arguments: &[&str]| {
        let out = path("never");
        let output = writecliff(&[&["trace", "replay"], arguments, &["--out", &out]].concat());
        (output.status.code(), text(&output.stderr))
    };
    for (arguments, expected) in [
        (&["heavy-2012", "sim:tiny"][..], "did you mean heavy-2011"),
        (&[&path("t.csv"), "sim:tiny"], "writecliff trace convert"),
        (
            &["light-2011", "sim:tiny"],
            "; --map wrap begins again at the drive's start, --map scale",
        ),
        (&[&path("t.trace"), "sim:tiny", "--speed", "0"], "--speed 0"),
        (&[&path("t.trace"), "sim:tiny", "--operations", "0"], "no operation"),
        (&[&path("t.trace"), "sim:tiny", "--map", "fold"], "scale"),
    ] {
        let (code, errors) = replay(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
    assert!(!dir.path().join("never").exists());
}
