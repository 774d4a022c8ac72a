//! Runs that did not end as planned, and runs that look alike: page and summary say what is what.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::json;
use writecliff_device::Nanos;
use writecliff_report::{Run, summary, write_page};
use writecliff_sim::{Ssd, load};
use writecliff_suite::{Plan, RunOptions, Status, consistency, run};

fn tiny(path: &Path) -> Run {
    let duration = Nanos::from_secs(100);
    let plan = consistency::Plan { duration, ..consistency::Plan::default() };
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    run(&Plan::Consistency(plan), &mut ssd, path, RunOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    Run::open(path).unwrap()
}

/// What a kill after so many seconds of random writes leaves of a run: its journal, the last line
/// torn, and a record that still says `running`.
fn killed(whole: &Run, path: &Path, seconds: u32) -> Run {
    fs::create_dir(path).unwrap();
    let mut record = whole.record.clone();
    (record.status, record.outcome) = (Status::Running, None);
    record.warnings.clear();
    fs::write(path.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    let mut journal = String::new();
    let recorded = |sample: &&writecliff_measure::Sample| {
        sample.phase == consistency::FILL || sample.second < seconds
    };
    for sample in whole.recording.samples.iter().filter(recorded) {
        let second = sample.second..sample.second + 1;
        let latencies = whole.recording.latencies(&sample.phase, second);
        let latencies: Vec<_> = latencies.counts().collect();
        journal += &format!("{}\n", json!({ "sample": sample, "latencies": latencies }));
    }
    fs::write(path.join("journal.jsonl"), journal + "{\"sample\":{\"pha").unwrap();
    Run::open(path).unwrap()
}

fn page(runs: &[Run], out: &Path) -> String {
    fs::read_to_string(write_page(runs, out).unwrap()).unwrap()
}

/// The pictures of a page, as its script reads them.
fn pictures(html: &str) -> serde_json::Value {
    let begin = "<script type=\"application/json\" id=\"pictures\">";
    let start = html.find(begin).unwrap() + begin.len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

#[test]
fn a_run_that_was_killed_shows_what_it_recorded_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let whole = tiny(&dir.path().join("whole"));
    let runs = [killed(&whole, &dir.path().join("killed"), 40)];
    let html = page(&runs, &dir.path().join("page"));
    assert!(html.contains("cut off before its end"), "the status is missing");
    assert!(
        html.contains("run.json, series.parquet and histograms.parquet in "),
        "where the data are"
    );
    let dots = &pictures(&html)[0]["pictures"][0]["data"][0]["x"];
    assert_eq!(dots.as_array().unwrap().len(), 40);
    let text = summary(&runs);
    assert!(text.contains("cut off before its end") && text.contains("! The run ended"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_failed_run_names_its_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut failed = tiny(&dir.path().join("run"));
    let error = "/dev/sdq: reading <completions> failed: Input/output error".to_owned();
    failed.record.status = Status::Failed { error };
    let html = page(&[failed.clone()], &dir.path().join("page"));
    let expected = "failed (/dev/sdq: reading &#60;completions&#62; failed: Input/output error)";
    assert!(html.contains(expected), "the error is missing or not escaped");
    assert!(summary(&[failed]).contains("failed (/dev/sdq:"));
}

#[test]
fn a_short_run_does_not_move_the_steady_window_of_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let whole = tiny(&dir.path().join("whole"));
    let short = killed(&whole, &dir.path().join("killed"), 20);
    let html = page(&[whole, short], &dir.path().join("page"));
    assert!(html.contains("Steady state, from 70 s"));
    let pictures = pictures(&html);
    let range = |run: usize| &pictures[run]["pictures"][1]["layout"]["xaxis"]["range"];
    assert_eq!(range(0), range(1));
    assert!(range(0)[0].as_f64().unwrap() > 69.0, "{}", range(0));
    let note = &pictures[1]["pictures"][1]["layout"]["annotations"][0]["text"];
    assert_eq!(note, "this run ended after 20 s");
    let notes = |run: usize| &pictures[run]["pictures"][0]["layout"]["annotations"];
    assert_eq!(notes(0).as_array().unwrap().len(), 2, "the cliff and the steady window are named");
    assert_eq!(notes(1).as_array().unwrap().len(), 1, "names that would overlap are left out");
}

#[test]
fn two_runs_of_one_drive_are_told_apart_by_their_directories() {
    let dir = tempfile::tempdir().unwrap();
    let runs = [tiny(&dir.path().join("monday")), tiny(&dir.path().join("friday"))];
    let html = page(&runs, &dir.path().join("page"));
    let pictures = pictures(&html);
    for (run, day) in ["monday", "friday"].into_iter().enumerate() {
        let label = pictures[run]["label"].as_str().unwrap();
        assert!(label.starts_with("Tiny (") && label.ends_with(&format!("{day})")), "{label}");
    }
    assert!(summary(&runs).contains("monday"));
}

#[test]
fn three_runs_fit_a_terminal_and_keep_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = tiny(&dir.path().join("run"));
    first.record.drive.model = "Samsung SSD 840 EVO 250GB".to_owned();
    let mut spared = first.clone();
    let Plan::Consistency(plan) = &mut spared.record.plan else { panic!("another plan") };
    plan.spare_percent = 25.0;
    let mut other = first.clone();
    other.record.drive.model = "Crucial M500 240GB".to_owned();
    let text = summary(&[first, other, spared]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("[3] Samsung SSD 840 EVO 250GB, 25 % spare (SIMULATED)"), "{text}");
}

#[test]
fn everything_simulated_is_called_so_and_dead_seconds_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"));
    let alive = page(&[run.clone()], &dir.path().join("alive"));
    assert!(alive.contains("<title>Tiny (simulated)") && alive.contains("<h1>Tiny <span"));
    assert!(!alive.contains("Triangles at the bottom"));
    run.recording.samples.last_mut().unwrap().writes = 0;
    let dead = page(&[run], &dir.path().join("dead"));
    assert_eq!(dead.matches("Triangles at the bottom").count(), 3);
}
