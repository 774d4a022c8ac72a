//! `writecliff trace info` as a user meets it.
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_trace::{Existing, Header, TraceIo, TraceWriter};

use crate::user::command;

fn info(arguments: &[&str]) -> Output {
    let mut command = command();
    let output = command.args(["trace", "info"]).args(arguments).stdin(Stdio::null());
    let output = output.output().unwrap();
    let errors = text(&output.stderr);
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Two reads that follow each other, and a write.
fn write_trace(path: &Path, synthetic: bool) {
    let mut writer = TraceWriter::create(path, Existing::Replaced).unwrap();
    for (issued, operation, offset) in
        [(0, Operation::Read, 0), (10, Operation::Read, 4096), (20, Operation::Write, 0)]
    {
        let io = TraceIo::new(Nanos(issued), operation, Bytes(offset), Bytes(4096));
        writer.write(&io).unwrap();
    }
    writer.finish(&Header { synthetic, ..Header::default() }).unwrap();
}

#[test]
fn traces_are_described_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one.trace"), dir.path().join("two.csv"));
    write_trace(&one, true);
    // MSR Cambridge: time in units of 100 ns, host, disk, type, offset, size, response time.
    let line = "128166372003061629,web,0,Read,1048576,4096,1000\n";
    fs::write(&two, line.repeat(3)).unwrap();
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());

    let table = info(&[one]);
    assert_eq!(table.status.code(), Some(0), "{}", text(&table.stderr));
    let table = text(&table.stdout);
    assert!(table.starts_with("one.trace (SYNTHETIC)"), "{table}");
    assert!(table.contains("Sequential") && table.contains("33.3 / 50.0 / 0.0 %"), "{table}");

    let out = dir.path().join("page");
    let both = info(&[one, two, "--out", out.to_str().unwrap()]);
    assert_eq!(both.status.code(), Some(0), "{}", text(&both.stderr));
    let both = text(&both.stdout);
    assert!(both.contains("[2] two.csv") && both.contains("Mean service time"), "{both}");
    assert!(both.contains("Report: ") && out.join("index.html").exists());
    assert!(out.join("pictures/trace-sizes-1-one-trace.svg").exists());

    // Of the same name, they go by their paths.
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    let again = other.join("one.trace");
    fs::copy(one, &again).unwrap();
    let alike = text(&info(&[one, again.to_str().unwrap()]).stdout);
    assert!(alike.contains(one) && alike.contains(again.to_str().unwrap()), "{alike}");

    let json = info(&[one, two, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[0]["header"]["synthetic"], true);
    assert_eq!(json[0]["info"]["reads"]["sequential"]["percent"], 50.0);
    assert_eq!(json[1]["info"]["service_times"]["reads"]["mean_ns"], 100_000.0);
    assert_eq!(json.as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_described_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.trace");
    write_trace(&path, false);
    let name = path.to_str().unwrap().to_owned();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let damaged = info(&[&name]);
    assert_eq!(damaged.status.code(), Some(1), "{}", text(&damaged.stderr));
    assert!(text(&damaged.stderr).contains("t.trace"), "{}", text(&damaged.stderr));
    assert_eq!(text(&damaged.stdout), "");

    let absent = info(&["no-such.trace"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("no-such.trace"), "{}", text(&absent.stderr));
    assert_eq!(info(&[]).status.code(), Some(2));

    write_trace(&path, false);
    let occupied = info(&[&name, "--out", dir.path().to_str().unwrap()]);
    assert_eq!(occupied.status.code(), Some(2));
    assert!(text(&occupied.stderr).contains("holds no page"), "{}", text(&occupied.stderr));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    fs::write(dir.path().join("file"), "").unwrap();
    let nowhere = dir.path().join("file/page");
    let unwritten = info(&[&name, "--out", nowhere.to_str().unwrap()]);
    assert_eq!(unwritten.status.code(), Some(2));
    assert!(text(&unwritten.stderr).contains("--out"), "{}", text(&unwritten.stderr));
}

#[test]
fn a_pipe_is_described_as_a_file_is_unless_it_must_be_read_from_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let text_trace = "128166372003061629,web,0,Read,1048576,4096,1000\n\
                      128166372003071629,web,0,Write,0,8192,2000\n";
    let piped = |bytes: &[u8]| {
        let mut command = command();
        command.args(["trace", "info", "/dev/stdin", "--json"]).current_dir(dir.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A refusal does not wait for what comes through the pipe.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        child.wait_with_output().unwrap()
    };
    let stored = dir.path().join("t.csv");
    fs::write(&stored, text_trace).unwrap();
    let figures = |output: &std::process::Output| {
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json[0]["info"].clone()
    };
    let of_pipe = figures(&piped(text_trace.as_bytes()));
    assert_eq!(of_pipe, figures(&info(&[stored.to_str().unwrap(), "--json"])));
    assert_eq!((&of_pipe["duration_ns"], &of_pipe["window_ns"]), (&1_200_000.into(), &8192.into()));

    let own = dir.path().join("t.trace");
    write_trace(&own, false);
    let refused = piped(&fs::read(&own).unwrap());
    let errors = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(errors.contains("/dev/stdin is a pipe") && errors.contains("store it"), "{errors}");
}

#[test]
fn traces_that_ship_need_no_file() {
    let json = info(&["light-2011", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let described = &json[0]["info"];
    assert_eq!(described["reads"]["count"], 372_630);
    assert_eq!(described["writes"]["count"], 459_709);
    assert_eq!(json[0]["header"]["synthetic"], true);
    // Nobody may take it for the recording, and once in a line is enough.
    let table = text(&info(&["light-2011"]).stdout);
    let expected = "\
light-2011 (SYNTHETIC)
  made by writecliff trace make VERSION from plan light-2011, seed 1: a mixture
  with the published statistics of AnandTech Storage Bench 2011, Light Workload;
  not the original recording, which was never published
  ! Synthetic: made by a generator, not recorded from an application.
";
    let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
    assert!(table.starts_with(&expected), "{table}");
}

/// A disk of NVMe's multipathing tells what is queued, its path what is issued and done.
#[test]
fn a_device_of_which_no_completion_is_known_has_no_queue_depth() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("blkparse.txt");
    let line = |device: &str, index: u32, letter: char| {
        format!("{device} 0 1 0.{index:09} 9 {letter} W {} + 8 [fio]\n", index * 8)
    };
    let mut lines = line(" 259,0", 0, 'D') + &line(" 259,0", 0, 'C');
    lines.extend((1..9).map(|index| line(" 259,2", index, 'Q')));
    fs::write(&trace, lines).unwrap();
    let output = info(&[trace.to_str().unwrap(), "--stream", "259,2"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let depth = table.lines().find(|line| line.contains("Average queue depth"));
    assert!(depth.is_some_and(|line| line.ends_with("not known")), "{table}");
    assert!(!table.contains("At queue depth 1"), "{table}");
    assert!(table.contains("Writes") && table.contains(" 8\n"), "{table}");
}
