//! Where results may go, and what of a foreign text reaches a terminal or a file.
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::TempDir;
use writecliff_loop_device::LoopDevice;

use crate::user::command;

const LENGTH: u64 = 8 << 20;

fn writecliff(here: &Path, arguments: &[&str]) -> Output {
    let mut command = command();
    let output = command.args(arguments).current_dir(here).stdin(Stdio::null()).output().unwrap();
    let errors = text(&output.stderr);
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A directory with a finished run in it, called `run`.
fn with_run() -> TempDir {
    let directory = TempDir::new().unwrap();
    let run = ["run", "consistency", "sim:tiny", "--duration", "30s", "--out", "run"];
    let output = writecliff(directory.path(), &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    directory
}

/// A loop device that holds a byte everywhere; `None`, said loudly, where there is none to be had.
fn full_device() -> Option<LoopDevice> {
    let Some(drive) = LoopDevice::in_memory(LENGTH).ok() else {
        let _ = writeln!(io::stderr(), "SKIPPED a test of block devices: it needs loop devices");
        return None;
    };
    fs::write(drive.path(), vec![0xa5; LENGTH as usize]).unwrap();
    Some(drive)
}

#[test]
fn no_option_that_names_an_output_writes_over_a_block_device() {
    let Some(drive) = full_device() else { return };
    let directory = with_run();
    let here = directory.path();
    symlink(drive.path(), here.join("link")).unwrap();
    let below = format!("{}/below", drive.path());
    let record = ["trace", "record", drive.path(), "--duration", "100ms", "--out"];
    let cases: &[&[&str]] = &[
        &["gate", "run", "--min-worst-iops", "1", "--junit"],
        &["report", "run", "--out"],
        &["trace", "make", "light-2011", "--scale", "0.01%", "--force"],
        &["trace", "make", "light-2011", "--scale", "0.01%"],
        &["trace", "convert", "--to", "csv", "t.trace"],
        &["trace", "convert", "--to", "trace", "--force", "t.trace"],
        &["trace", "info", "t.trace", "--out"],
        &["run", "consistency", "sim:tiny", "--duration", "30s", "--out"],
        &["review", "sim:tiny", "--quick", "--out"],
        &["export", "sim:tiny", "--trace"],
        &["export", "sim:tiny", "--store"],
        &record,
    ];
    let made = writecliff(here, &["trace", "make", "light-2011", "t.trace", "--scale", "0.01%"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    for case in cases {
        for name in [drive.path(), "link"] {
            let output = writecliff(here, &[*case, &[name]].concat());
            let errors = text(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{case:?} {name}: {errors}");
            let refused = format!("{name} is a block device, and results are never written to one");
            assert!(errors.contains(&refused), "{case:?} {name}: {errors}");
            assert_eq!(errors.matches("block device").count(), 1, "{case:?}: {errors}");
        }
    }
    // A place for a directory below it.
    let below = writecliff(here, &["report", "run", "--out", &below]);
    assert_eq!(below.status.code(), Some(3), "{}", text(&below.stderr));
    assert!(fs::read(drive.path()).unwrap().iter().all(|byte| *byte == 0xa5), "it was written to");
}

/// Every picture twice as wide and high as its SVG, once more as PNG; of an earlier page's none.
#[test]
fn a_report_s_pictures_are_painted_beside_their_svg() {
    let directory = with_run();
    let pictures = directory.path().join("run/report/pictures");
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&pictures).unwrap().map(Result::unwrap);
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let count = |ending: &str| names().iter().filter(|name| name.ends_with(ending)).count();
    let expected = count(".svg");
    fs::write(pictures.join("earlier.svg"), "no picture").unwrap();
    let output = writecliff(directory.path(), &["report", "run", "--png"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(expected > 0 && count(".png") == expected, "{:?}", names());
    for name in names().iter().filter(|name| name.ends_with(".png")) {
        let png = fs::read(pictures.join(name)).unwrap();
        let svg = fs::read_to_string(pictures.join(name).with_extension("svg")).unwrap();
        // The PNG's header: eight bytes of signature, a length, "IHDR", width and height.
        let sides = [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
        let of_svg = ["width", "height"].map(|side| {
            let from = svg.find(&format!(" {side}=\"")).unwrap() + side.len() + 3;
            let number: f32 = svg[from..].split('"').next().unwrap().parse().unwrap();
            (number * 2.0).ceil() as u32
        });
        assert_eq!(sides, of_svg, "{name}");
    }
}

/// A run that somebody else made may hold links where the program puts what is not whole yet.
#[test]
fn links_in_a_foreign_run_do_not_lead_a_page_onto_a_device() {
    let Some(drive) = full_device() else { return };
    let directory = with_run();
    let report = directory.path().join("run/report");
    let pictures: Vec<_> = fs::read_dir(report.join("pictures")).unwrap().collect();
    for picture in pictures {
        let path = picture.unwrap().path();
        symlink(drive.path(), path.with_added_extension("partial")).unwrap();
    }
    symlink(drive.path(), report.join("index.html.partial")).unwrap();
    let output = writecliff(directory.path(), &["report", "run"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read(drive.path()).unwrap().iter().all(|byte| *byte == 0xa5), "it was written to");
}

#[test]
fn a_gate_s_results_go_to_files_and_standard_output() {
    let directory = with_run();
    let here = directory.path();
    let gate = ["gate", "run", "--min-worst-iops", "1", "--junit"];
    fs::write(here.join("gate.xml"), "an earlier one, much longer than a small report".repeat(99))
        .unwrap();
    for place in ["gate.xml", "/dev/stdout", "/dev/null"] {
        let output = writecliff(here, &[&gate[..], &[place]].concat());
        assert_eq!(output.status.code(), Some(0), "{place}: {}", text(&output.stderr));
        let junit = match place {
            "/dev/stdout" => text(&output.stdout),
            "/dev/null" => continue,
            file => fs::read_to_string(here.join(file)).unwrap(),
        };
        assert!(junit.starts_with("<?xml") && junit.contains("</testsuites>"), "{place}: {junit}");
        assert!(!junit.contains("an earlier one"), "{junit}");
    }
    let nowhere = writecliff(here, &[&gate[..], &["nowhere/gate.xml"]].concat());
    assert_eq!(nowhere.status.code(), Some(2), "{}", text(&nowhere.stderr));
}

/// Bytes that would steer a terminal: ESC, BEL, and CSI as one character.
const STEERING: &str = "Evil\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m";

/// Puts a text wherever a record has one of these keys, at any depth.
fn infect(value: &mut serde_json::Value, keys: &[&str]) {
    match value {
        serde_json::Value::Object(values) => {
            for (key, value) in values {
                match keys.contains(&key.as_str()) {
                    true => *value = STEERING.into(),
                    false => infect(value, keys),
                }
            }
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(|v| infect(v, keys)),
        _ => {}
    }
}

fn assert_harmless(what: &str, text: &str) {
    let steering = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
    assert_eq!(steering, None, "{what}: {text:?}");
}

#[test]
fn no_escape_code_of_a_foreign_run_reaches_a_terminal_or_a_page() {
    let directory = TempDir::new().unwrap();
    let here = directory.path();
    fs::File::create(here.join("drive")).unwrap().set_len(64 << 20).unwrap();
    let run = ["run", "consistency", "drive", "--duration", "2s", "--out", "run"];
    let consent = here.join("drive").canonicalize().unwrap().display().to_string();
    let output = writecliff(here, &[&run[..], &["--destroy-data-on", &consent]].concat());
    if !output.status.success() {
        let _ = writeln!(io::stderr(), "SKIPPED: no file can be tested: {}", text(&output.stderr));
        return;
    }
    let file = here.join("run/run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let sound = serde_json::to_string(&record).unwrap();
    let keys = ["model", "serial", "firmware", "address", "kernel", "processor", "tool_version"];
    infect(&mut record, &keys);
    record["warnings"] = serde_json::json!([]);
    fs::write(&file, serde_json::to_string(&record).unwrap()).unwrap();
    fs::create_dir(here.join("sound")).unwrap();
    for name in ["series.parquet", "histograms.parquet"] {
        fs::copy(here.join("run").join(name), here.join("sound").join(name)).unwrap();
    }
    fs::write(here.join("sound/run.json"), sound).unwrap();
    fs::write(here.join("meter.csv"), "unix_time,watts\n1,2\n").unwrap();
    // Also a directory's own name goes to terminals and pages.
    let named = here.join(STEERING);
    fs::rename(here.join("run"), &named).unwrap();
    let run = STEERING;
    let cases: &[&[&str]] = &[
        &["report", run],
        &["report", run, run, "--out", "both"],
        &["gate", run, "--baseline", "sound"],
        &["gate", "sound", "--baseline", run, "--junit", "gate.xml"],
        &["gate", run, "--max-latency", "1ns", "--json", "--junit", "gate.xml"],
        &["meter", run, "meter.csv"],
        &["meter", "sound", run],
        &["report", "no\u{1b}[2Jwhere"],
    ];
    for case in cases {
        let output = writecliff(here, case);
        assert_harmless(&format!("{case:?}"), &(text(&output.stdout) + &text(&output.stderr)));
    }
    assert_harmless("JUnit", &fs::read_to_string(here.join("gate.xml")).unwrap());
    for page in [named.join("report"), here.join("both")] {
        let html = fs::read_to_string(page.join("index.html")).unwrap();
        assert!(html.contains("Evil") && !html.contains('\u{1b}') && !html.contains('\u{9b}'));
        for picture in fs::read_dir(page.join("pictures")).unwrap() {
            let path = picture.unwrap().path();
            assert_harmless(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn no_escape_code_of_a_foreign_file_reaches_a_terminal() {
    let directory = TempDir::new().unwrap();
    let here = directory.path();
    fs::write(here.join("plan.toml"), format!("duration = \"{STEERING}\"\n")).unwrap();
    fs::write(here.join("job.fio"), format!("[x]\nrw={STEERING}\nunknown_{STEERING}=1\n")).unwrap();
    let profile = "inherits = \"tiny\"\n[identity]\nmodel = \"M\\u001b[2J\\u009b31m\"\n";
    fs::write(here.join("drive.toml"), profile).unwrap();
    let trace = format!("time_ns,op,offset,length\n1,{STEERING},0,4096\n5,read,0,4096\n");
    fs::write(here.join("t.csv"), trace).unwrap();
    let cases: &[&[&str]] = &[
        &["run", "consistency", "sim:tiny", "--plan", "plan.toml"],
        &["run", "mixed", "sim:tiny", "--plan", "job.fio"],
        &["run", "consistency", "sim:./drive.toml", "--duration", "30s", "--out", "run"],
        &["drives", "./drive.toml"],
        &["review", "sim:./drive.toml", "--quick", "--tests", "corners", "--out", "review"],
        &["trace", "info", "t.csv"],
        &["trace", "info", "t.csv", "--bad-lines", "90%"],
        &["trace", "make", "plan.toml"],
        &["gate", "plan.toml", "--min-floor-iops", "1"],
    ];
    for case in cases {
        let output = writecliff(here, case);
        assert_harmless(&format!("{case:?}"), &(text(&output.stdout) + &text(&output.stderr)));
    }
}
