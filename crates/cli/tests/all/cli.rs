//! The program as a user meets it: messages, exit codes, interruptions, full disks.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use writecliff_loop_device::LoopDevice;

use crate::user::command;

const WRITECLIFF: &str = env!("CARGO_BIN_EXE_writecliff");

fn writecliff(arguments: &[&str]) -> Output {
    let output = command().args(arguments).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn record(run: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_run_ends_with_a_summary_and_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let output =
        writecliff(&["run", "consistency", "sim:tiny", "--duration", "100s", "--out", path(&run)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let announced = text(&output.stderr);
    assert!(announced.contains("of the drive's time\n"), "{announced}");
    assert!(
        announced.contains("to be written\n    by a drive of 400 MB/s in order"),
        "{announced}"
    );
    let summary = text(&output.stdout);
    for expected in ["Tiny", "SIMULATED", "IOPS", "report/index.html"] {
        assert!(summary.contains(expected), "no {expected} in: {summary}");
    }
    assert_eq!(record(&run)["status"]["state"], "complete");
    for file in ["series.parquet", "histograms.parquet", "report/index.html"] {
        assert!(run.join(file).exists(), "{file}");
    }
    assert!(!run.join("journal.jsonl").exists());
}

#[test]
fn json_on_standard_output_is_the_run_s_record_its_figures_and_its_doubts() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let arguments = ["run", "consistency", "sim:tiny", "--duration", "30s", "--json", "--out"];
    let output = writecliff(&[&arguments[..], &[path(&run)]].concat());
    let mut printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = printed.as_object_mut().unwrap().remove("figures").unwrap();
    let doubts = printed.as_object_mut().unwrap().remove("doubts").unwrap();
    for (place, doubt) in ["after 1 s or sooner", "30 s of writes"].iter().enumerate() {
        assert!(doubts[place].as_str().unwrap().contains(doubt), "{doubts}");
    }
    let record = record(&run);
    assert_eq!(printed, record);
    let floor = figures.as_array().unwrap().iter().find(|one| one["name"] == "steady floor");
    let floor = floor.unwrap();
    assert_eq!(floor["value"], record["outcome"]["steady_iops"]["floor"]);
    assert_eq!((&floor["unit"], &floor["good"]), (&"IOPS".into(), &"at-least".into()));
}

#[test]
fn the_readme_s_picture_is_what_is_drawn_today() {
    if std::env::var_os("WRITECLIFF_NIGHTLY").is_none() {
        println!(
            "SKIPPED: 250 GB are written until they are steady with `cargo xtask test --nightly`"
        );
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    let drive = "sim:samsung-840-evo-250gb";
    let output = writecliff(&["run", "consistency", drive, "--out", path(&run)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let drawn = std::fs::read(run.join("report/pictures/consistency-whole.svg")).unwrap();
    let shown = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cliff.svg");
    assert!(drawn == std::fs::read(shown).unwrap(), "docs/cliff.svg is old: `cargo xtask picture`");
}

/// What a user's shell and `man` get, and what they can do with it.
#[test]
fn completions_and_the_manual_name_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = writecliff(&["completions", shell]);
        assert!(text(&output.stdout).contains("consistency"), "{shell}");
    }
    let bash = dir.path().join("completions.bash");
    std::fs::write(&bash, writecliff(&["completions", "bash"]).stdout).unwrap();
    let script = "source \"$0\" && COMP_WORDS=(writecliff ga) COMP_CWORD=1 \
                  && _writecliff writecliff ga writecliff && echo ${COMPREPLY[*]}";
    let completed = Command::new("bash").args(["-c", script, path(&bash)]).output().unwrap();
    assert_eq!(text(&completed.stdout), "gate\n", "{}", text(&completed.stderr));
    assert_eq!(writecliff(&["manual", path(dir.path())]).status.code(), Some(0));
    for page in ["writecliff.1", "writecliff-review.1", "writecliff-trace-record.1"] {
        assert!(dir.path().join(page).exists(), "{page}");
    }
    assert_eq!(writecliff(&["manual", "/no/such/place"]).status.code(), Some(2));
}

#[test]
fn several_runs_make_one_page() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    for (run, spare) in [(&one, "0"), (&two, "25")] {
        let arguments = ["run", "consistency", "sim:tiny", "--duration", "30s", "--spare", spare];
        let output = writecliff(&[&arguments[..], &["--out", path(run)]].concat());
        assert!(output.status.success());
    }
    let page = dir.path().join("page");
    let output = writecliff(&["report", path(&one), path(&two), "--out", path(&page)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(page.join("index.html").exists());
}

#[test]
fn runs_of_different_plans_are_compared_only_if_asked() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    for (run, duration) in [(&one, "20s"), (&two, "30s")] {
        let arguments = ["run", "consistency", "sim:tiny", "--duration", duration, "--out"];
        assert!(writecliff(&[&arguments[..], &[path(run)]].concat()).status.success());
    }
    let page = dir.path().join("page");
    let refused = writecliff(&["report", path(&one), path(&two), "--out", path(&page)]);
    assert_eq!(refused.status.code(), Some(2));
    for expected in ["\n  - consistency: duration 20 s", "30 s", "--different-plans"] {
        assert!(text(&refused.stderr).contains(expected), "{}", text(&refused.stderr));
    }
    assert!(!page.exists(), "nothing is written");
    let named = [format!("A={}", path(&one)), format!("B={}", path(&two))];
    let arguments = ["report", &named[0], &named[1], "--different-plans", "--out", path(&page)];
    assert_eq!(writecliff(&arguments).status.code(), Some(0));
    let html = std::fs::read_to_string(page.join("index.html")).unwrap();
    assert!(html.contains("duration 20 s (Tiny (A)), 30 s (Tiny (B))"), "what differs");
    assert!(!html.contains("given the same load"));
}

#[test]
fn a_directory_that_is_named_twice_is_shown_once() {
    let dir = tempfile::tempdir().unwrap();
    let (run, page) = (dir.path().join("run"), dir.path().join("page"));
    let arguments = ["run", "consistency", "sim:tiny", "--duration", "20s", "--out", path(&run)];
    assert!(writecliff(&arguments).status.success());
    let again = run.join("../run");
    let output = writecliff(&["report", path(&run), path(&again), "--out", path(&page)]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("once"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).matches("consistency, complete").count(), 1);

    let other = dir.path().join("other");
    let arguments = ["run", "consistency", "sim:tiny", "--duration", "20s", "--out", path(&other)];
    assert!(writecliff(&arguments).status.success());
    let named = [&run, &other].map(|run| format!("mine={}", path(run)));
    let output = writecliff(&["report", &named[0], &named[1], "--out", path(&page)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("are to be called mine"), "{}", text(&output.stderr));
    // Neither of the two is a drive because they lie in one directory.
    let output = writecliff(&["report", path(dir.path()), "--out", path(&page)]);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(errors.contains("below it there are") && errors.contains(path(&other)), "{errors}");
}

#[test]
fn the_catalogue_and_its_entries_are_printed() {
    let list = writecliff(&["drives"]);
    assert_eq!(list.status.code(), Some(0));
    assert!(text(&list.stdout).contains("samsung-840-evo-250gb"));
    let some = text(&writecliff(&["drives", "Crucial"]).stdout);
    assert!(some.contains("crucial-m500-960gb") && !some.contains("samsung"), "{some}");
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&writecliff(arguments).stdout).unwrap()
    };
    let all = json(&["drives", "--json"]);
    assert!(all["simulated"].as_array().unwrap().len() > 30 && all["devices"].is_array());
    let tiny = json(&["drives", "tiny", "--json"]);
    assert_eq!(tiny["simulated"][0]["profile"]["gc"]["quantum"], 16);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("test.img"), "").unwrap();
    let mut command = command();
    let file = command.args(["drives", "test.img"]).current_dir(dir.path()).output().unwrap();
    assert!(text(&file.stdout).contains("/test.img"), "a file that is here: {file:?}");
    let one = writecliff(&["drives", "crucial-m500-960gb"]);
    assert!(text(&one.stdout).contains("pages_per_block = 512"), "{}", text(&one.stdout));
}

/// What was typed, the exit code, and what the message must say.
#[test]
fn mistakes_get_one_clear_message_and_the_right_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let bad_profile = dir.path().join("bad.toml");
    std::fs::write(&bad_profile, "inherits = \"tiny\"\n[nand]\npage_sise = \"8KiB\"\n").unwrap();
    let bad_profile = format!("sim:{}", path(&bad_profile));
    std::fs::write(dir.path().join("file"), "").unwrap();
    let a_file = path(dir.path()).to_owned() + "/file";
    let under_a_file = a_file.clone() + "/run";
    let file = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).unwrap();
        path(&dir.path().join(name)).to_owned()
    };
    let empty_profile = format!("sim:{}", file("empty.toml", ""));
    let no_torture = file("trim.toml", "idle = \"2h\"\ntorture = \"0s\"\n");
    let no_jobs = file("mixed.toml", "title = \"nothing\"\n");
    let here = path(dir.path());
    let run = ["run", "consistency", "sim:tiny"];
    let with = |more: &[&'static str]| [&run[..], more].concat();
    let cases: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec![], 2, "Usage"),
        (vec!["frobnicate"], 2, "unrecognized subcommand"),
        (vec!["run", "consistancy", "sim:tiny"], 2, "consistency"),
        (vec!["run", "consistency"], 2, "<DRIVE>"),
        (vec!["run", "consistency", "sim:tinny"], 2, "did you mean tiny"),
        (vec!["run", "consistency", "sim:"], 2, "no simulated drive"),
        (vec!["run", "consistency", "sim:none.toml"], 2, "none.toml"),
        (vec!["run", "consistency", "tiny"], 2, "say sim:tiny"),
        (vec!["run", "consistency", "./mine.toml"], 2, "say sim:./mine.toml"),
        (vec!["run", "consistency", &bad_profile], 2, "bad.toml:3: nand.page_sise"),
        (with(&["--duration", "0s"]), 2, "--duration 0s is not"),
        (with(&["--duration", "999999h"]), 2, "720h"),
        (with(&["--duration", "five"]), 2, "2000s"),
        (with(&["--duration", "100"]), 2, "2000s"),
        (with(&["--spare", "100"]), 2, "--spare 100"),
        (with(&["--spare", "-5"]), 2, "--spare -5"),
        (with(&["--spare", "10,25.5"]), 2, "--spare 10,25.5 is not"),
        (with(&["--spare", "99.99999"]), 2, "nothing is left"),
        (with(&["--spare", "NaN"]), 2, "--spare NaN"),
        (with(&["--seed", "-1"]), 2, "a whole number"),
        (with(&["--duration", "-5s"]), 2, "a time that is not negative"),
        (with(&["--duration", "99999999h"]), 2, "the most that there can be"),
        (with(&["--seed", "x"]), 2, "--seed"),
        (vec!["drives", "/dev/no-such-drive"], 2, "nothing at this path"),
        ([&run[..], &["--out", &under_a_file]].concat(), 2, "cannot make the run directory"),
        ([&run[..], &["--out", &a_file]].concat(), 2, "cannot make the run directory"),
        ([&run[..], &["--out", here]].concat(), 2, "is not empty"),
        (vec!["run", "consistency", "/dev/no-such-drive"], 2, "/dev/no-such-drive"),
        (vec!["run", "consistency", "/dev/null"], 2, "/dev/null"),
        (vec!["run", "consistency", here], 2, "directory"),
        (vec!["report"], 2, "<RUN>"),
        (vec!["report", here], 2, "name the directory of a run"),
        (vec!["report", "/no/such/run"], 2, "no run in /no/such/run"),
        (vec!["drives", "null"], 2, "null: with a colon"),
        (vec!["run", "corners", "null"], 2, "null: with a colon"),
        (vec!["run", "--again", "/no/such/run"], 2, "no run in /no/such/run"),
        (vec!["drives", "samsung-840-evo-256gb"], 2, "did you mean samsung-840-evo-250gb"),
        (vec!["run", "consistency", "samsung-840-evo-25"], 2, "say sim:samsung-840-evo-250gb"),
        (vec!["run", "consistency", &empty_profile], 2, "`identity`; say so, or say `inherits"),
        (vec!["trace", "replay", "light-2012", "sim:tiny"], 2, "did you mean light-2011"),
        (vec!["trace", "info", "light-2012"], 2, "did you mean light-2011"),
        (vec!["trace", "info", here], 2, "directory"),
        (vec!["trace", "make", "light-2012"], 2, "did you mean light-2011"),
        (vec!["trace", "make", "light-2011", "/no/such/place.trace"], 2, "cannot write"),
        (vec!["trace", "convert", "light-2012", "x.csv"], 2, "did you mean light-2011"),
        (vec!["trace", "record", "/dev/no-such-drive"], 2, "is not there"),
        (vec!["trace", "record", "sim:tiny"], 2, "is no drive of this system's"),
        (vec!["trace", "record", &a_file], 2, "plain file"),
        (vec!["meter", "/no/such/run", &a_file], 2, "run.json"),
        (vec!["import", "/no/such.json"], 2, "cannot read /no/such.json"),
        (vec!["import", &no_jobs], 2, "no JSON in it; fio prints that with --output-format=json"),
        (vec!["gate", "/no/such/run"], 2, "no run in /no/such/run"),
        (vec!["gate", "/no/such/run", "--max-p99", "1ms"], 2, "no run in /no/such/run"),
        (vec!["gate", "x", "--min-floor-iops", "-5"], 2, "a number that is not negative"),
        (vec!["gate", "x", "--min-floor-to-mean", "-5%"], 2, "a share like 5%"),
        (vec!["gate", "x", "--max-p999", "-5ms"], 2, "a time that is not negative"),
        (vec!["run", "trim", "sim:tiny", "--plan", &no_torture], 2, "trim.toml:2: torture 0s"),
        (vec!["run", "mixed", "sim:tiny", "--plan", &no_jobs], 2, "has no [[job]]"),
    ];
    for (arguments, code, expected) in cases {
        let output = writecliff(&arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?} said: {errors}");
    }
}

/// Starts a run that would take days of device time, and waits until it has recorded `seconds`.
fn start_long_run(run: &Path, seconds: usize) -> Child {
    let mut child = command()
        .args(["run", "consistency", "sim:tiny", "--duration", "720h", "--every-io", "--out"])
        .arg(run)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(&mut child, || seconds_in(&run.join("journal.jsonl")) >= seconds);
    child
}

fn seconds_in(journal: &Path) -> usize {
    let bytes = std::fs::read(journal).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn wait_until(child: &mut Child, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing happened for two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_killed_run_is_read_to_its_last_second() {
    let dir = tempfile::tempdir().unwrap();
    for (index, seconds) in [1, 3, 6, 50, 400].into_iter().enumerate() {
        let run = dir.path().join(format!("run{index}"));
        let mut child = start_long_run(&run, seconds);
        child.kill().unwrap();
        child.wait().unwrap();
        let recorded = seconds_in(&run.join("journal.jsonl"));
        assert!(recorded >= seconds);
        assert_eq!(record(&run)["status"]["state"], "running");
        let output = writecliff(&["report", path(&run)]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("cut off"), "{}", text(&output.stdout));
        let (_, recording) = writecliff_suite::open(&run).unwrap();
        assert_eq!(recording.samples.len(), recorded, "every whole line is a sample");
        for file in ["series.parquet", "ios.parquet", "report/index.html"] {
            assert!(run.join(file).exists(), "{file}");
        }
        assert!(!run.join("journal.jsonl").exists(), "the journals took their final form");
    }
}

#[test]
fn an_interrupt_ends_the_run_with_everything_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let child = start_long_run(&run, 20);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
    assert_eq!(record(&run)["status"]["state"], "interrupted");
    for file in ["series.parquet", "histograms.parquet", "ios.parquet", "report/index.html"] {
        assert!(run.join(file).exists(), "{file}");
    }
}

/// `timeout` signals the program and then its group, itself included.
#[test]
fn gnu_timeout_ends_a_run_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let output = Command::new("timeout")
        .args(["1.5", WRITECLIFF, "run", "consistency", "sim:tiny", "--duration", "720h", "--out"])
        .arg(&run)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
    assert_eq!(record(&run)["status"]["state"], "interrupted");
    assert!(run.join("report/index.html").exists());
}

/// Loops, and `xargs -P`.
#[test]
fn runs_begun_in_the_same_second_have_places_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let start = || {
        command()
            .args(["run", "consistency", "sim:tiny", "--duration", "2s", "--quiet"])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let begun: Vec<Child> = (0..3).map(|_| start()).collect();
    let mut pages: Vec<String> = Vec::new();
    for child in begun {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
        pages.push(text(&output.stdout).trim().to_owned());
    }
    pages.sort();
    pages.dedup();
    assert_eq!(pages.len(), 3, "{pages:?}");
    assert!(pages.iter().all(|page| dir.path().join(page).is_file()), "{pages:?}");
    // What is refused leaves no empty directory behind.
    let mut refused = command();
    refused.args(["run", "consistency", "sim:tiny", "--spare", "99.99999"]);
    assert_eq!(refused.current_dir(dir.path()).status().unwrap().code(), Some(2));
    assert_eq!(std::fs::read_dir(dir.path().join("runs")).unwrap().count(), 3);
}

#[test]
fn a_run_that_goes_on_can_be_looked_at_without_harm() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let page = dir.path().join("page");
    let mut child = start_long_run(&run, 20);
    let output = writecliff(&["report", path(&run), "--out", path(&page)]);
    assert!(text(&output.stdout).contains("still running"), "{}", text(&output.stdout));
    let seen = seconds_in(&run.join("journal.jsonl"));
    wait_until(&mut child, || seconds_in(&run.join("journal.jsonl")) > seen);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_record_of_another_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    writecliff(&["run", "consistency", "sim:tiny", "--duration", "5s", "--out", path(&run)]);
    let record = std::fs::read_to_string(run.join("run.json")).unwrap();
    let newer = record.replace("\"schema_version\": 2", "\"schema_version\": 3");
    std::fs::write(run.join("run.json"), newer).unwrap();
    let output = writecliff(&["report", path(&run)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("schema_version is 3"), "{}", text(&output.stderr));
}

/// A reader that went away is no error; a disk that is full is.
#[test]
fn output_that_cannot_be_written_is_told_apart() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = command().arg("drives").stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = command().args(["drives", "nothing"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(2), "the exit code says it where the message cannot");
}

/// The whole way on a real device engine: consent, purge, fill, torture, report, on a plain file.
#[test]
fn a_plain_file_is_tested_when_it_is_named_with_what_it_holds_and_not_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (file, run) = (dir.join("drive.img"), dir.join("run"));
    std::fs::write(&file, vec![0x5a; 32 << 20]).unwrap();
    let arguments = ["run", "consistency", path(&file), "--duration", "2s", "--out", path(&run)];
    // It is no empty file: its path alone is not enough.
    for consent in
        [&[][..], &["--destroy-data-on", "drive.img"], &["--destroy-data-on", path(&file)]]
    {
        let refused = writecliff(&[&arguments[..], consent].concat());
        assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(path(&file)), "{}", text(&refused.stderr));
    }
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 0x5a), "nothing was written");
    assert!(!run.exists(), "a refused run leaves nothing behind");
    let consent = format!("{}: text", path(&file));
    let output = writecliff(&[&arguments[..], &["--destroy-data-on", &consent]].concat());
    if text(&output.stderr).contains("direct") {
        println!("SKIPPED: the temporary directory has no direct I/O");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let summary = text(&output.stdout);
    assert!(!summary.contains("SIMULATED") && summary.contains("a file, not a drive"), "{summary}");
    let written: u64 = {
        let (_, recording) = writecliff_suite::open(&run).unwrap();
        recording.series("fill").map(|sample| sample.written_bytes).sum()
    };
    assert_eq!(written, 32 << 20);
}

/// A run of two seconds on a plain file; `None`, said loudly, without direct I/O.
fn run_on_a_file(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().unwrap();
    let (file, run) = (dir.join("drive.img"), dir.join("run"));
    std::fs::File::create(&file).unwrap().set_len(32 << 20).unwrap();
    let arguments = ["run", "consistency", path(&file), "--duration", "2s", "--out", path(&run)];
    let output = writecliff(&[&arguments[..], &["--destroy-data-on", path(&file)]].concat());
    if text(&output.stderr).contains("direct") {
        println!("SKIPPED: the temporary directory has no direct I/O");
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    Some(run)
}

#[test]
fn a_meter_s_log_becomes_a_part_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let Some(run) = run_on_a_file(dir.path()) else { return };
    let before = record(&run);
    // By the clock of this machine, a reading of 2 W every 100 ms of the run's first minute.
    let start = before["started_unix_ns"].as_u64().unwrap() / 1_000_000;
    let lines = (0..600).map(|tenth| format!("{},2000\n", start + tenth * 100));
    let log = dir.path().join("meter.csv");
    let readings: String = lines.collect();
    std::fs::write(&log, format!("time_ms,power_mW\n{readings}")).unwrap();

    for _ in 0..2 {
        let output = writecliff(&["meter", path(&run), path(&log)]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("samples have their power"));
        let (record, recording) = writecliff_suite::open(&run).unwrap();
        assert!(recording.samples.iter().all(|s| s.power_microwatts == Some(2_000_000)));
        assert_eq!(recording.latencies("torture", 0..2).count(), {
            let torture = recording.series("torture");
            torture.map(|sample| sample.ios()).sum::<u64>()
        });
        let after = serde_json::to_value(record).unwrap();
        assert_eq!(after["power_source"]["kind"], "meter");
        for unchanged in ["warnings", "status", "phases"] {
            assert_eq!(after[unchanged], before[unchanged], "{unchanged}");
        }
    }
    let late = writecliff(&["meter", path(&run), path(&log), "--clock-offset", "-2h"]);
    assert_eq!(late.status.code(), Some(2));
    assert!(text(&late.stderr).contains("-7200.0 s"), "{}", text(&late.stderr));
    assert_eq!(
        record(&run)["power_source"]["clock_offset_s"],
        0.0,
        "a refused log changes nothing"
    );
}

#[test]
fn a_meter_s_log_for_a_simulated_drive_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    writecliff(&["run", "consistency", "sim:tiny", "--duration", "2s", "--out", path(&run)]);
    let log = dir.path().join("meter.csv");
    std::fs::write(&log, "elapsed,watts\n0,1\n").unwrap();
    let output = writecliff(&["meter", path(&run), path(&log)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("simulated drive"), "{}", text(&output.stderr));
    let output = writecliff(&["meter", path(&run), "nowhere.csv"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn polling_takes_a_real_drive_with_queues_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let (file, run) = (dir.path().join("drive.img"), dir.path().join("run"));
    std::fs::File::create(&file).unwrap().set_len(64 << 20).unwrap();
    let drives = [
        (
            "sim:tiny",
            "poll true is not possible: a simulated drive has no completions to be asked for; leave it out",
        ),
        (
            "null:",
            "poll true is not possible: null: has no completions to be asked for; leave it out",
        ),
        (path(&file), "cannot be polled: name a drive itself instead of a file"),
    ];
    for (drive, expected) in drives {
        let consent = ["--destroy-data-on", path(&file), "--out", path(&run)];
        let output =
            writecliff(&[&["run", "mixed", drive, "--poll", "--quick"][..], &consent].concat());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{drive}: {said}");
        assert!(!run.exists(), "{drive}");
    }
}

/// A small file system in memory, unmounted at the end.
struct SmallDisk {
    _dir: tempfile::TempDir,
    mount: PathBuf,
}

impl SmallDisk {
    /// `None`, said loudly, where mounting is not allowed.
    fn of(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mount = dir.path().join("disk");
        std::fs::create_dir(&mount).unwrap();
        let options = format!("size={size}");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&mount);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        if !mounted {
            println!("SKIPPED: a full disk needs root to mount a small file system");
        }
        mounted.then_some(Self { _dir: dir, mount })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mount).status();
    }
}

#[test]
fn a_full_disk_ends_the_run_plainly_and_loses_nothing() {
    let Some(disk) = SmallDisk::of("1m") else {
        return;
    };
    let run = disk.mount.join("run");
    let arguments = ["run", "consistency", "sim:tiny", "--duration", "720h", "--out"];
    let output = writecliff(&[&arguments[..], &[path(&run)]].concat());
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("No space left"), "{errors}");
    let status = &record(&run)["status"];
    assert_eq!(status["state"], "failed");
    assert!(status["error"].as_str().unwrap().contains("No space left"), "{status}");
    let (_, recording) = writecliff_suite::open(&run).unwrap();
    let seconds: Vec<u32> = recording.series("torture").map(|sample| sample.second).collect();
    assert!(seconds.len() > 10, "{seconds:?}");
    assert!(seconds.iter().copied().eq(0..seconds.len() as u32), "no second is missing");
    let elsewhere = tempfile::tempdir().unwrap();
    let output = writecliff(&["report", path(&run), "--out", path(elsewhere.path())]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_disk_that_is_full_from_the_start_stops_the_run_before_it_begins() {
    let Some(disk) = SmallDisk::of("64k") else {
        return;
    };
    std::fs::write(disk.mount.join("full"), vec![0; 56 << 10]).unwrap();
    let _ = std::fs::write(disk.mount.join("rest"), vec![0; 64 << 10]);
    let run = disk.mount.join("run");
    let output = writecliff(&["run", "consistency", "sim:tiny", "--out", path(&run)]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("No space left"), "{errors}");
}

#[test]
fn an_export_that_finds_no_room_has_no_page_and_is_finished_when_there_is_some() {
    let Some(disk) = SmallDisk::of("1m") else {
        return;
    };
    let (site, page) = (disk.mount.join("site"), disk.mount.join("site/index.html"));
    let library = tempfile::tempdir().unwrap();
    let export = |more: &[&str]| {
        let mut command = command();
        command.args(["bench", "export"]).arg(&site).args(more);
        command.env("WRITECLIFF_BENCH", library.path()).output().unwrap()
    };
    let output = export(&[]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("No space left") && errors.lines().count() == 1, "{errors}");
    assert!(!page.exists(), "a page without its data");
    let mut more = Command::new("mount");
    more.args(["-o", "remount,size=256m"]).arg(&disk.mount);
    assert!(more.status().unwrap().success());
    let output = export(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said: serde_json::Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert!(said["kept"].as_u64() > Some(0), "what was written is kept: {said}");
    assert!(page.exists());
}

#[test]
fn a_real_block_device_is_reviewed_unattended() {
    let Some(drive) = LoopDevice::in_memory(1 << 30).ok() else {
        println!("SKIPPED: a review of a real device needs root and loop devices");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let review = dir.path().join("review");
    // What is particular to a real drive in a review: purges between tests, reads alone, and no meter.
    // What each test does on a real drive is tested by itself.
    let tests = ["whole-drive", "power"];
    let named = tests.join(",");
    let begin = ["review", drive.path(), "--quick", "--out", path(&review), "--tests", &named];
    let refused = writecliff(&begin);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("--destroy-data-on"), "{}", text(&refused.stderr));

    let output = writecliff(&[&begin[..], &["--destroy-data-on", drive.path()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(!printed.contains("SIMULATED") && printed.contains("quick run"), "{printed}");
    // Its memory is a file, which is told as for a file by itself.
    assert!(printed.contains("or stands on one"), "{printed}");
    for test in tests {
        let (record, _) = writecliff_suite::open(&review.join(test)).unwrap();
        assert_eq!(record.status, writecliff_suite::Status::Complete, "{test}");
        // No meter: power is told apart, and everything else has its figures.
        assert_eq!(record.outcome.is_some(), test != "power", "{test}");
    }
    assert!(review.join("report/index.html").exists());
}

/// Same profile, seed and plan: the same bytes from a debug and a release build.
#[test]
fn debug_and_release_builds_give_the_same_bytes() {
    if std::env::var_os("WRITECLIFF_NIGHTLY").is_none() {
        println!("SKIPPED: a release build is made with `cargo xtask test --nightly`");
        return;
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package", "writecliff-cli", "--message-format=json"])
        .current_dir(workspace)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    let messages = text(&built.stdout);
    let release = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "writecliff")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
        .expect("cargo names the binary that it built");
    let dir = tempfile::tempdir().unwrap();
    for (program, run) in [(WRITECLIFF, "debug"), (&release, "release")] {
        let output = Command::new(program)
            .args(["run", "consistency", "sim:tiny", "--duration", "200s", "--every-io", "--out"])
            .arg(dir.path().join(run))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let (debug, release) = (dir.path().join("debug"), dir.path().join("release"));
    for file in ["series.parquet", "histograms.parquet", "ios.parquet"] {
        let read = |run: &Path| std::fs::read(run.join(file)).unwrap();
        assert_eq!(read(&debug), read(&release), "{file}");
    }
    assert_eq!(record(&debug)["outcome"], record(&release)["outcome"]);
}

const FIGURES_HEADER: &str = "drive,scenario,value,unit,kind,bound,condition,source\n";

/// The tiny drive reads 4 KiB in 74.7 us by its profile, 85.7 us with the computer's part: 11,670
/// IOPS at a queue depth of 1.
fn check_tiny(rows: &str, more: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let figures = dir.path().join("figures.csv");
    std::fs::write(&figures, format!("{FIGURES_HEADER}{rows}")).unwrap();
    writecliff(&[&["drives", "--check", "--figures", path(&figures)], more].concat())
}

#[test]
fn a_check_passes_if_every_rating_is_met_whatever_was_measured() {
    let rows = "tiny,random-read-qd1,11700,IOPS,rating,,,\"A maker, a sheet\"\n\
                tiny,sequential-write-qd1,1,MB/s,measured,,a condition that is longer than \
                its column,\"A reviewer, a page\"\n";
    let output = check_tiny(rows, &[]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}{}", text(&output.stderr));
    for expected in ["rating", "predicted", "[2] A reviewer, a page", "nine in ten", "x1.00"] {
        assert!(table.contains(expected), "no {expected} in: {table}");
    }
    let widest = table.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(110), "{table}");
}

#[test]
fn a_check_fails_if_a_rating_is_missed() {
    let rows = "tiny,random-read-qd1,20000,IOPS,rating,,,a sheet\n";
    let output = check_tiny(rows, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("MISSED"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("more than a factor of 1.1"), "{}", text(&output.stderr));

    let output = check_tiny(rows, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let comparison = &report["comparisons"][0];
    assert_eq!(report["ratings_missed"], 1);
    assert_eq!((&comparison["drive"], &comparison["role"]), (&"tiny".into(), &"rating".into()));
    let model = comparison["model"].as_f64().unwrap();
    let factor = comparison["error_factor"].as_f64().unwrap();
    assert!((factor - 20_000.0 / model).abs() < 1e-9);
    assert_eq!(report["errors"][0]["count"], 1);
}

#[test]
fn a_drive_is_drawn_beside_its_figures() {
    let dir = tempfile::tempdir().unwrap();
    let rows = "tiny,random-read-qd1,11700,IOPS,rating,,,a sheet\n\
                tiny,sequential-write-qd1,1,MB/s,measured,,,a page\n";
    let output = check_tiny(rows, &["--pictures", path(dir.path())]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let picture = std::fs::read_to_string(dir.path().join("tiny.svg")).unwrap();
    for expected in ["<svg", "random-read-qd1", "sequential-write-qd1", "rating", "predicted"] {
        assert!(picture.contains(expected), "no {expected}");
    }
    let output = check_tiny(rows, &["--pictures", "/proc/nowhere"]);
    assert!(text(&output.stderr).contains("/proc/nowhere"), "{}", text(&output.stderr));
}

#[test]
fn a_profile_s_own_keys_are_fitted_to_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let (drive, figures) = (dir.path().join("mine.toml"), dir.path().join("figures.csv"));
    let profile =
        "inherits = \"tiny\"\n[identity.fitted]\n\"firmware.read_latency\" = \"random-read-qd1\"\n";
    std::fs::write(&drive, profile).unwrap();
    let row = format!("{},random-read-qd1,5000,IOPS,measured,,,me\n", path(&drive));
    std::fs::write(&figures, format!("{FIGURES_HEADER}{row}")).unwrap();
    let arguments = ["drives", "--fit", path(&drive), "--figures", path(&figures), "--json"];
    let output = writecliff(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let fits: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let fit = &fits[path(&drive)][0];
    assert_eq!(fit["key"], "firmware.read_latency");
    // 200 us less 85.7.
    let latency = fit["after"].as_str().unwrap().trim_end_matches("ns").parse::<f64>();
    let latency = latency.or_else(|_| {
        fit["after"].as_str().unwrap().trim_end_matches("us").parse::<f64>().map(|us| us * 1000.0)
    });
    assert!((112_000.0..117_000.0).contains(&latency.unwrap()), "{fit}");

    std::fs::write(&drive, "inherits = \"tiny\"\n").unwrap();
    let output = writecliff(&["drives", "--fit", path(&drive), "--figures", path(&figures)]);
    assert!(text(&output.stdout).contains("Nothing to fit"), "{}", text(&output.stdout));
}

#[test]
fn a_check_that_cannot_be_done_says_why() {
    let good = "tiny,random-read-qd1,1,IOPS,measured,,,a sheet\n";
    let cases: [(&str, &[&str], &str); 5] = [
        ("tiny,random-read-qd1,fast,IOPS,measured,,,s\n", &[], "figures.csv:2: value: 'fast'"),
        (good, &["tinny"], "did you mean tiny"),
        (good, &["crucial-m500-120gb"], "nothing is published about crucial-m500-120gb"),
        ("tinny,random-read-qd1,1,IOPS,measured,,,s\n", &[], "did you mean tiny"),
        (good, &["sim:tiny", "/dev/sda"], "/dev/sda"),
    ];
    for (rows, more, expected) in cases {
        let output = check_tiny(rows, more);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {errors}");
        assert!(errors.contains(expected), "{more:?} said: {errors}");
    }
    let output = writecliff(&["drives", "--check", "--figures", "/no/such.csv"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    // Figures that nothing would be done with.
    let output = writecliff(&["drives", "tiny", "--figures", "mine.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--check|--fit"), "{}", text(&output.stderr));
}

#[test]
fn a_sweep_makes_a_table_and_a_page_and_says_what_is_wrong_with_its_plan() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, out) = (dir.path().join("plan.toml"), dir.path().join("out"));
    let text = "drive = \"sim:tiny@1/4\"\ntest = \"consistency\"\nfigures = [\"steady mean\"]\n[plan]\n\
                duration = \"3s\"\n[grid]\n\"drive.gc.quantum\" = [1, 2]\n";
    std::fs::write(&plan, text).unwrap();
    let (plan, out) = (plan.to_str().unwrap(), out.to_str().unwrap());
    let swept = writecliff(&["sweep", plan, "--out", out, "--json"]);
    assert!(swept.status.success(), "{}", text_of(&swept));
    let told: serde_json::Value = serde_json::from_slice(&swept.stdout).unwrap();
    assert_eq!(told["rows"].as_array().unwrap().len(), 2);
    for file in ["table", "page"] {
        assert!(std::path::Path::new(told[file].as_str().unwrap()).is_file(), "{file}");
    }
    assert!(text_of(&swept).contains("2 points:\n  2 simulated drives"), "{}", text_of(&swept));
    let again = writecliff(&["sweep", plan, "--out", out]);
    assert_eq!(again.status.code(), Some(2), "{}", text_of(&again));
    assert!(text_of(&again).contains("sweep --resume"), "{}", text_of(&again));
    let resumed = writecliff(&["sweep", "--resume", out]);
    assert!(resumed.status.success(), "{}", text_of(&resumed));
    for (wrong, word) in [
        (text.replace("tiny@1/4", "tiny@1/7"), "1/16"),
        (text.replace("tiny@1/4", "tiny@1/x"), "is no part"),
        (text.replace("sim:tiny@1/4", "/dev/zero"), "sim:NAME"),
        (text.replace("sim:tiny@1/4", "sim:/dev/zero"), "longer than any profile"),
        (text.replace("quantum", "quantumm"), "quantum?"),
        (text.replace("steady mean", "p99"), "steady latency p99"),
    ] {
        std::fs::write(plan, wrong).unwrap();
        let output = writecliff(&["sweep", plan, "--out", &format!("{out}-2")]);
        assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
        assert!(text_of(&output).contains(word), "{}", text_of(&output));
    }
}

#[test]
fn a_sweep_ends_with_what_failed_and_fails_if_everything_did() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, out) = (dir.path().join("plan.toml"), dir.path().join("out"));
    let text = "drive = \"sim:tiny@1/4\"\ntest = \"consistency\"\nfigures = [\"write cliff\"]\n[plan]\n\
                duration = \"3s\"\n[grid]\n\"drive.gc.free_high\" = [5, 4000]\n";
    std::fs::write(&plan, text.replace("write cliff", "steady mean")).unwrap();
    let (plan, out) = (plan.to_str().unwrap(), out.to_str().unwrap());
    let some = writecliff(&["sweep", plan, "--out", out]);
    assert!(some.status.success(), "{}", text_of(&some));
    assert!(stdout_of(&some).ends_with("\n1 of 2 points failed\n"), "{}", stdout_of(&some));
    // No cliff comes in three seconds.
    std::fs::write(plan, text).unwrap();
    let all = writecliff(&["sweep", plan, "--out", &format!("{out}-2"), "--json"]);
    assert_eq!(all.status.code(), Some(1), "{}", text_of(&all));
    assert!(text_of(&all).contains("all 2 points failed"), "{}", text_of(&all));
}

#[test]
fn a_job_file_that_a_suite_misses_is_told_with_its_step_and_where_it_was_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let suite = dir.path().join("suite.toml");
    std::fs::write(&suite, "[[step]]\nname = \"mail\"\nfile = \"mail.fio\"\n").unwrap();
    let suite = suite.to_str().unwrap();
    let output = writecliff(&["run", "suite", "sim:tiny", "--suite", suite]);
    assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
    for words in [suite, "mail.fio of step 'mail'", "jobfiles/mail.fio"] {
        assert!(text_of(&output).contains(words), "{}", text_of(&output));
    }
}

#[test]
fn a_fleet_tells_its_tail_and_goes_on_after_an_interrupt() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, out) = (dir.path().join("plan.toml"), dir.path().join("out"));
    let text = "groups = 3\nparity = 1\nduration = \"20s\"\nlimit = \"1ms\"\n[[drives]]\ndrive = \
                \"sim:tiny@1/2\"\noverwrites = 1\n[load]\niops = 1000\n[[variants]]\nname = \"alone\"\n\
                [[variants]]\nname = \"hedged\"\nhedge = \"200us\"\n";
    std::fs::write(&plan, text).unwrap();
    let (plan, out) = (plan.to_str().unwrap(), out.to_str().unwrap());
    let told = writecliff(&["fleet", plan, "--out", out]);
    assert!(told.status.success(), "{}", text_of(&told));
    for word in ["late requests", "hedged reads", "drives.parquet", "index.html"] {
        assert!(stdout_of(&told).contains(word), "{word}: {}", stdout_of(&told));
    }
    // What is true of all is said once.
    let page = std::path::Path::new(out).join("report/index.html");
    let page = std::fs::read_to_string(page).unwrap();
    for (face, of) in [
        (&page, "<h2>All variants</h2><p class=\"warning\">"),
        (&stdout_of(&told), "! all variants: "),
    ] {
        assert_eq!(face.matches("Its drives are scale models").count(), 1);
        assert!(face.contains(&format!("{of}Its drives are scale models")), "{of}");
    }
    // As a kill leaves it.
    let rows = std::path::Path::new(out).join("groups.jsonl");
    let lines = std::fs::read_to_string(&rows).unwrap();
    std::fs::write(&rows, &lines[..lines.len() / 2]).unwrap();
    let resumed = writecliff(&["fleet", "--resume", out, "--json"]);
    assert!(resumed.status.success(), "{}", text_of(&resumed));
    let json: serde_json::Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(json["variants"][1]["name"], "hedged");
    assert_eq!(json["variants"][0]["kinds"][0]["drives"], 6);
    let again = writecliff(&["fleet", "--resume", out]);
    assert_eq!(stdout_of(&again), stdout_of(&told));
    for (wrong, word) in [
        (text.replace("hedge =", "hegde ="), "hedge?"),
        (text.replace("sim:tiny@1/2", "/dev/zero"), "sim:NAME"),
        (text.replace("iops = 1000", "trace = \"nowhere\""), "light-2011"),
    ] {
        std::fs::write(plan, wrong).unwrap();
        let output = writecliff(&["fleet", plan, "--out", &format!("{out}-2")]);
        assert_eq!(output.status.code(), Some(2), "{}", text_of(&output));
        assert!(text_of(&output).contains(word), "{}", text_of(&output));
    }
}

fn stdout_of(output: &Output) -> String {
    text(&output.stdout)
}

fn text_of(output: &Output) -> String {
    text(&output.stderr)
}
