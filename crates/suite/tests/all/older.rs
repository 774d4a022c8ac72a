//! Runs that earlier versions recorded are read as if they were of today.
use std::fs;
use std::path::{Path, PathBuf};

use writecliff_device::Operation;
use writecliff_measure::Totals;
use writecliff_suite::gate::{Limits, gate};
use writecliff_suite::{Outcome, Review, RunRecord, Status, TESTS, open};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/0.1")
}

/// The tests that version 0.1 had.
fn tests() -> Vec<&'static str> {
    let had = |name: &&str| fixtures().join(name).is_dir();
    let tests: Vec<_> = TESTS.iter().map(|test| test.name).filter(had).collect();
    assert_eq!(tests.len(), 11);
    tests
}

/// A copy that may be changed.
fn copy(of: &Path, to: &Path) -> PathBuf {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(of).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
    to.to_owned()
}

/// A run without what was concluded from it, as a kill leaves it.
fn without_outcome(run: &Path) {
    let file = run.join("run.json");
    let text = fs::read(&file).unwrap();
    let mut record: serde_json::Value = serde_json::from_slice(&text).unwrap();
    record["status"] = serde_json::json!({ "state": "running" });
    record["outcome"] = serde_json::Value::Null;
    fs::write(file, record.to_string()).unwrap();
}

/// Every figure of the runs, as a line of `figures.tsv`, in the lines' own order: which comes first is
/// the gate's affair.
fn figures(run: &str, record: &RunRecord) -> Vec<String> {
    let record = std::slice::from_ref(record);
    let checks = gate(record, &Limits::default(), Some(record), 0.0).unwrap();
    let line = |check: &writecliff_suite::gate::Check| {
        format!("{run}\t{}\t{:?}\t{}", check.figure, check.got, check.unit)
    };
    let mut lines: Vec<String> = checks.iter().map(line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_test_gives_the_figures_that_its_version_gave() {
    let text = fs::read_to_string(fixtures().join("figures.tsv")).unwrap();
    let golden: Vec<&str> = text.lines().collect();
    for test in tests() {
        let (record, recording) = open(&fixtures().join(test)).unwrap();
        assert!(!recording.samples.is_empty() && record.status == Status::Complete);
        let is_own = |line: &&&str| line.split('\t').next() == Some(test);
        let mut expected: Vec<&str> = golden.iter().filter(is_own).copied().collect();
        expected.sort_unstable();
        assert_eq!(figures(test, &record), expected);
    }
}

#[test]
fn what_is_concluded_from_the_recording_is_what_its_version_concluded() {
    let dir = tempfile::tempdir().unwrap();
    for test in tests() {
        let (recorded, _) = open(&fixtures().join(test)).unwrap();
        let run = copy(&fixtures().join(test), &dir.path().join(test));
        without_outcome(&run);
        let (again, _) = open(&run).unwrap();
        assert_eq!(again.status, Status::CutOff);
        let (mut again, mut recorded) = (as_then(&again), as_then(&recorded));
        forget_percentiles_of_few(&mut again, &mut recorded);
        assert_eq!(again, recorded, "{test}");
    }
}

/// Earlier versions told percentiles of fewer I/Os, or seconds, than make one.
fn forget_percentiles_of_few(again: &mut serde_json::Value, recorded: &mut serde_json::Value) {
    use serde_json::Value::{Array, Object};
    match (again, recorded) {
        (Object(again), Object(recorded)) => {
            let of_few = |(key, value): &(&String, &serde_json::Value)| {
                (key.starts_with("p99") || *key == "p1") && value.is_null()
            };
            let of_few: Vec<String> =
                again.iter().filter(of_few).map(|(key, _)| key.clone()).collect();
            for key in of_few {
                again.remove(&key);
                recorded.remove(&key);
            }
            for (key, value) in again {
                if let Some(other) = recorded.get_mut(key) {
                    forget_percentiles_of_few(value, other);
                }
            }
        }
        (Array(again), Array(recorded)) => {
            for (one, other) in again.iter_mut().zip(recorded) {
                forget_percentiles_of_few(one, other);
            }
        }
        _ => {}
    }
}

/// What a run came to, without what its version did not keep, or, as what saturation is at first, took over
/// other seconds.
fn as_then(record: &RunRecord) -> serde_json::Value {
    fn forget(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                for added in [
                    "worst",
                    "ends",
                    "first_iops",
                    "dirty_again",
                    "whole_clean",
                    "whole_dirty",
                    "whole_after_trim",
                    "fell_from_iops",
                    "in_part_of",
                ] {
                    fields.remove(added);
                }
                // Of rounds of the steady state, which counted by their I/Os, and of which one cell was judged.
                if fields.contains_key("cell")
                    && let Some(rate) = fields.get_mut("rate")
                {
                    rate.as_object_mut().unwrap().remove("mean_ns");
                    fields.remove("unsteady");
                }
                fields.values_mut().for_each(forget);
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut outcome = serde_json::to_value(&record.outcome).unwrap();
    forget(&mut outcome);
    outcome
}

#[test]
fn a_run_that_was_cut_off_keeps_its_whole_seconds_and_takes_its_final_form() {
    let dir = tempfile::tempdir().unwrap();
    let run = copy(&fixtures().join("cut-off"), &dir.path().join("run"));
    let (record, recording) = open(&run).unwrap();
    assert_eq!(record.status, Status::CutOff);
    let seconds = |series| recording.samples.iter().filter(|s| s.series == series).count();
    assert_eq!((seconds("fill"), seconds("torture")), (5, 5), "the torn second is left out");
    let filled = Totals::of(recording.samples.iter().filter(|s| s.series == "fill"));
    assert_eq!(filled.written, record.drive.capacity);
    assert!(matches!(record.outcome, Some(Outcome::Consistency(_))));
    let names = ["ios.parquet", "series.parquet", "histograms.parquet"];
    assert!(names.iter().all(|name| run.join(name).exists()) && !run.join("ios.journal").exists());
    assert_eq!(open(&run).unwrap().1, recording);
}

/// Who was killed did not say how long the part lasted that he was in; what he recorded does.
#[test]
fn the_part_that_a_run_was_killed_in_is_as_long_as_what_was_recorded_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = copy(&fixtures().join("cut-off"), &dir.path().join("run"));
    let file = run.join("run.json");
    let mut record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    // As versions write it that keep which part goes on.
    record["phases"][1]["unfinished"] = true.into();
    std::fs::write(&file, record.to_string()).unwrap();
    let (record, recording) = open(&run).unwrap();
    let torture = recording.samples.iter().filter(|sample| sample.series == "torture");
    let end = torture.map(|sample| sample.start_ns + sample.span_ns).max().unwrap();
    let last = record.phases.last().unwrap();
    assert_eq!(last.start.0 + last.length.0, end);
    assert!(last.length.0 >= 4_000_000_000, "{:?}", last.length);
}

#[test]
fn failed_ios_are_named_with_their_series() {
    let (record, recording) = open(&fixtures().join("failed")).unwrap();
    assert!(matches!(record.status, Status::Failed { .. }));
    let first = &record.failed_ios[0];
    assert_eq!(
        (first.series.as_str(), first.operation, first.lba),
        ("torture", Operation::Write, 138_200)
    );
    assert_eq!(Totals::of(&recording.samples).failed, 32);
}

#[test]
fn a_review_is_complete_as_it_was() {
    let path = fixtures().join("review");
    let review = Review::open(&path).unwrap();
    let (record, _) = open(&path.join("corners")).unwrap();
    assert_eq!(review.tests.len(), 2);
    assert_eq!(review.remaining(&path, &record.drive).unwrap(), []);
}
