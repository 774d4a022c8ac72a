//! Reviews as a user meets them: begun, interrupted, killed, resumed, gated.
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use writecliff_loop_device::LoopDevice;

use crate::user::command;

/// Runs the program in a directory of its own, so that paths in its pages are the same everywhere.
fn writecliff(inside: &Path, arguments: &[&str]) -> Output {
    let mut command = command();
    let output = command.args(arguments).current_dir(inside).stdin(Stdio::null()).output().unwrap();
    let errors = text(&output.stderr);
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The page of a review, but for the moments at which its tests began.
fn page(inside: &Path) -> String {
    let html = std::fs::read_to_string(inside.join("review/report/index.html")).unwrap();
    let records = ["consistency", "spare-area", "trim", "power"];
    records.iter().fold(html, |html, test| {
        let record = std::fs::read(inside.join("review").join(test).join("run.json")).unwrap();
        let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
        html.replace(record["started"].as_str().unwrap(), "THEN")
    })
}

const REVIEW: [&str; 7] = [
    "review",
    "sim:tiny",
    "--quick",
    "--tests",
    "consistency,spare-area,trim,power",
    "--out",
    "review",
];

#[test]
fn an_interrupted_or_killed_review_that_is_resumed_makes_the_same_page() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    std::fs::create_dir(&whole).unwrap();
    let output = writecliff(&whole, &REVIEW);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let errors = text(&output.stderr);
    assert!(errors.contains("of the drive's time") && errors.contains("to be written"), "{errors}");
    let expected = page(&whole);
    let output = writecliff(&whole, &["run", "--again", "review"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(errors.contains("`writecliff review --again review`"), "{errors}");
    let gated = writecliff(&whole, &["gate", "review", "--min-worst-iops", "1"]);
    let notes = text(&gated.stderr);
    assert_eq!(notes.matches("A quick run").count(), 1, "{notes}");
    assert!(notes.contains("all tests: A quick run"), "{notes}");

    let mut interrupted = 0;
    for (index, (signal, test)) in
        [("-INT", "consistency"), ("-KILL", "trim"), ("-INT", "power"), ("-KILL", "spare-area")]
            .into_iter()
            .enumerate()
    {
        let broken = dir.path().join(format!("broken{index}"));
        std::fs::create_dir(&broken).unwrap();
        let complete = break_off(&broken, signal, test);
        interrupted += usize::from(!complete);
        let output = writecliff(&broken, &["review", "--resume", "review"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(page(&broken) == expected, "{signal} in {test} changed the page");
        let again = writecliff(&broken, &["review", "--resume", "review"]);
        assert!(text(&again.stderr).contains("nothing to do"), "{}", text(&again.stderr));
        assert!(page(&broken) == expected, "resuming what is finished changes nothing");
    }
    assert!(interrupted > 0, "every review was over before its signal came");
}

/// Begins a review and ends it when a test of it has begun; returns whether it was done by then.
fn break_off(inside: &Path, signal: &str, test: &str) -> bool {
    let mut command = command();
    command.args(REVIEW).current_dir(inside).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let record = inside.join("review").join(test).join("run.json");
    let begun = Instant::now();
    while !record.exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{test} never began");
        std::thread::sleep(Duration::from_millis(1));
    }
    Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    child.wait().unwrap().success()
}

#[test]
fn a_review_says_how_to_go_on_and_refuses_what_is_not_one() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    let output = writecliff(here, &["review", "--resume", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("review.json"), "{}", text(&output.stderr));
    let output = writecliff(here, &["review", "sim:tiny", "--tests", "consistancy"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("'consistency'"), "{}", text(&output.stderr));
    std::fs::create_dir(here.join("full")).unwrap();
    std::fs::write(here.join("full/thesis.txt"), "mine").unwrap();
    let output = writecliff(here, &["review", "sim:tiny", "--out", "full"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--resume"), "{}", text(&output.stderr));
    let with_drive = ["review", "sim:tiny", "--resume", "full"];
    assert_eq!(writecliff(here, &with_drive).status.code(), Some(2));
    let spare = ["review", "sim:tiny", "--spare", "25,25", "--out", "new"];
    let output = writecliff(here, &spare);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("twice"), "{}", text(&output.stderr));
    let elsewhere = ["review", "sim:tiny", "--tests", "power", "--spare", "25%", "--out", "new"];
    let output = writecliff(here, &elsewhere);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--with spare-area"), "{}", text(&output.stderr));
    assert!(!here.join("new").exists(), "a refused review leaves nothing behind");
}

#[test]
fn a_review_whose_drive_fails_leaves_the_page_of_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let fails = "inherits = \"tiny\"\n[faults]\npower_cuts = [\"1s\"]\nrecovery_time = \"3s\"\n";
    std::fs::write(dir.path().join("fails.toml"), fails).unwrap();
    let asked =
        ["review", "sim:fails.toml", "--quick", "--tests", "consistency,power", "--out", "it"];
    let output = writecliff(dir.path(), &asked);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("its page is written; `writecliff review --resume it`"), "{errors}");
    let page = std::fs::read_to_string(dir.path().join("it/report/index.html")).unwrap();
    assert!(page.contains("The drive lost power in fill"), "the page says what it met");
}

#[test]
fn plans_come_from_files_and_mistakes_in_them_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    let run = |plan: &str| {
        std::fs::write(here.join("plan.toml"), plan).unwrap();
        let arguments =
            ["run", "power", "sim:tiny", "--plan", "plan.toml", "--out", "run", "--json"];
        writecliff(here, &arguments)
    };
    let short = "idle = \"2s\"\nload = \"2s\"\nsettle = \"3s\"\n";
    let output = run(short);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&record["plan"]["settle"], &record["plan"]["queue_depth"]),
        (&"3s".into(), &32.into())
    );
    for (plan, expected) in [
        ("idle = \"2s\"\nsizes = [\"3KiB\"]", "plan.toml:2: unknown field `sizes`"),
        ("lode = \"2s\"", "plan.toml:1: unknown field `lode`"),
        ("\n\nload = 2", "plan.toml:3: invalid type: integer `2`"),
        ("idle = \"2s\"\nload = \"2", "plan.toml:2:"),
    ] {
        let output = run(plan);
        assert_eq!(output.status.code(), Some(2), "{plan}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{plan}: {}", text(&output.stderr));
    }
    let output = writecliff(here, &["run", "power", "sim:tiny", "--plan", "none.toml"]);
    assert_eq!(output.status.code(), Some(2));
    for option in [["--spare", "25"], ["--duration", "5s"]] {
        let output =
            writecliff(here, &[&["run", "transfer-size", "sim:tiny"][..], &option].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("has no such option"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_gate_closes_with_exit_code_1_and_a_list_of_what_failed() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    let run = |name: &str, drive: &str| {
        let arguments = ["run", "consistency", drive, "--duration", "60s", "--out", name, "--json"];
        assert_eq!(writecliff(here, &arguments).status.code(), Some(0));
    };
    run("before", "sim:tiny");
    let slower = "inherits = \"tiny\"\n[nand]\nprogram_time = \"900us\"\n";
    std::fs::write(here.join("slower.toml"), slower).unwrap();
    run("after", "sim:slower.toml");

    let same = writecliff(here, &["gate", "before", "--baseline", "before", "--tolerance", "0%"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stderr));
    assert!(!text(&same.stdout).contains("FAIL"));
    let arguments = ["gate", "after", "--baseline", "before", "--junit", "gate.xml"];
    let worse = writecliff(here, &arguments);
    assert_eq!(worse.status.code(), Some(1));
    assert!(
        text(&worse.stdout).contains("FAIL  consistency: steady mean"),
        "{}",
        text(&worse.stdout)
    );
    assert!(text(&worse.stderr).contains("the gate is closed"), "{}", text(&worse.stderr));
    let junit = std::fs::read_to_string(here.join("gate.xml")).unwrap();
    let failures = junit.matches("<failure").count();
    let listed = text(&worse.stdout).matches("FAIL").count();
    assert!(failures > 0 && failures == listed, "{junit}");

    let limits = ["gate", "before", "--min-worst-iops", "1", "--max-latency", "1us", "--json"];
    let output = writecliff(here, &limits);
    assert_eq!(output.status.code(), Some(1));
    let decided: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let passes: Vec<_> = decided["checks"].as_array().unwrap().iter().map(|c| &c["pass"]).collect();
    assert_eq!(
        (&decided["pass"], &passes[..]),
        (&false.into(), &[&true.into(), &false.into()][..])
    );
    assert_eq!(writecliff(here, &["gate", "before"]).status.code(), Some(2), "nothing was asked");
    let unsteady = writecliff(here, &["gate", "before", "--min-floor-iops", "1", "--json"]);
    assert_eq!((unsteady.status.code(), text(&unsteady.stdout)), (Some(2), String::new()));
    let said = "--min-floor-iops is about the steady state of the consistency test ('steady floor'), which \
                this run does not come to: The run lasted 60 s of writes";
    assert!(text(&unsteady.stderr).contains(said), "{}", text(&unsteady.stderr));
    let share = ["gate", "before", "--baseline", "before", "--tolerance", "500%"];
    assert_eq!(writecliff(here, &share).status.code(), Some(2));
}

/// What fio says that it did, and what our run of the same file on the same device recorded.
#[test]
fn a_job_file_does_on_a_loop_device_what_fio_does_with_it() {
    let installed = Command::new("fio").arg("--version").output().is_ok();
    let Some(drive) = installed.then(|| LoopDevice::in_memory(64 << 20).ok()).flatten() else {
        println!("SKIPPED: comparing with fio needs fio, root and loop devices");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let jobs = "ioengine=libaio\ndirect=1\nsize=32m\n\
                [writes]\nrw=randwrite\nbs=4k\niodepth=16\n\
                [reads]\nstonewall\nrw=read\nbs=64k\noffset=16m\nsize=8m\n\
                [mix]\nstonewall\nrw=randrw\nrwmixread=50\nbs=8k\niodepth=8\n\
                [pair]\nstonewall\nrw=write\nbs=128k\nnumjobs=2\nio_size=4m\n\
                [trims]\nstonewall\nrw=trim\nbs=1m\nsize=16m\n";
    let text = format!("[global]\nfilename={}\n{jobs}", drive.path());
    std::fs::write(dir.path().join("jobs.fio"), text).unwrap();

    let mut command = Command::new("fio");
    let fio = command.args(["--output-format=json", "jobs.fio"]).current_dir(dir.path());
    let fio = fio.output().unwrap();
    assert!(fio.status.success(), "{}", text_of(&fio));
    let fio: serde_json::Value = serde_json::from_slice(&fio.stdout).unwrap();
    let arguments = ["run", "mixed", drive.path(), "--plan", "jobs.fio", "--out", "run", "--json"];
    let ours =
        writecliff(dir.path(), &[&arguments[..], &["--destroy-data-on", drive.path()]].concat());
    assert_eq!(ours.status.code(), Some(0), "{}", text_of(&ours));
    let ours: serde_json::Value = serde_json::from_slice(&ours.stdout).unwrap();

    let theirs = fio["jobs"].as_array().unwrap();
    let ours = ours["outcome"]["jobs"].as_array().unwrap();
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        let name = &theirs["jobname"];
        let mut totals = (0, 0);
        for (own, its) in [("reads", "read"), ("writes", "write"), ("trims", "trim")] {
            let ios = |figures: &serde_json::Value, key: &str| figures[key].as_u64().unwrap_or(0);
            let (a, b) = (ios(&ours[own], "ios"), ios(&theirs[its], "total_ios"));
            totals = (totals.0 + a, totals.1 + b);
            // Five standard deviations of a fair coin thrown 4096 times are 160.
            let slack = if name == "mix" { 160 } else { 0 };
            assert!(a.abs_diff(b) <= slack, "{name}: {a} {own}, and fio {b}");
        }
        assert!(totals.0 > 0 && totals.0 == totals.1, "{name}: {totals:?}");
    }
}

fn text_of(output: &Output) -> String {
    text(&output.stderr) + &text(&output.stdout)
}
