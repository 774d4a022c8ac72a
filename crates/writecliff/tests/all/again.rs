//! Runs that are done again from their directories.
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use writecliff::{
    Again, DriveName, Error, ErrorKind, Event, Overrides, Plan, Review, ReviewEnd, ReviewRun,
    RunOptions, RunRecord, UNWATCHED, open, plan, run,
};
use writecliff_trace::{Existing, Header, TraceIo, TraceWriter};

use writecliff_device::{Bytes, Nanos, Operation};

/// A profile of one's own that changes `tiny`.
fn own_profile(directory: &Path) -> (PathBuf, DriveName) {
    let path = directory.join("own.toml");
    std::fs::write(&path, "inherits = \"tiny\"\n[gc]\nquantum = 3\n").unwrap();
    let drive = DriveName::from(format!("sim:{}", path.display()).as_str());
    (path, drive)
}

fn short(seed: u64) -> Plan {
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    plan("consistency").unwrap().quick().with(&overrides).unwrap()
}

fn run_into(plan: &Plan, drive: &DriveName, path: &Path) -> RunRecord {
    run(plan, drive, None, path, RunOptions::default(), UNWATCHED).unwrap()
}

#[test]
fn a_run_on_a_changed_drive_whose_profile_is_gone_gives_the_same_bytes_again() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    let (profile, drive) = own_profile(directory.path());
    let options = RunOptions { label: Some("mine".parse().unwrap()), ..RunOptions::default() };
    let record = run(&short(7), &drive, None, &first, options, UNWATCHED).unwrap();
    std::fs::remove_file(profile).unwrap();

    let Again { plan, drive, options, other_version } = Again::of(&first).unwrap();
    assert_eq!(other_version, None);
    let again = run(&plan, &drive, None, &second, options, UNWATCHED).unwrap();
    for file in ["series.parquet", "histograms.parquet"] {
        let bytes = |run: &Path| std::fs::read(run.join(file)).unwrap();
        assert!(bytes(&first) == bytes(&second), "{file}");
    }
    assert_eq!((&again.outcome, &again.drive), (&record.outcome, &record.drive));
    assert_eq!(again.options.label, record.options.label);
    assert_eq!(again.drive.model, "Tiny, changed: gc.quantum = 3");

    // The change is really in it.
    let unchanged = run_into(&short(7), &"sim:tiny".into(), &directory.path().join("tiny"));
    assert_ne!(unchanged.outcome, record.outcome);
}

#[test]
fn a_review_of_a_changed_drive_goes_on_without_its_profile() {
    let directory = tempfile::tempdir().unwrap();
    let (profile, drive) = own_profile(directory.path());
    let path = directory.path().join("review");
    let tests = Review::choose(&["consistency".to_owned()], &[]).unwrap();
    let options = RunOptions { quick: true, ..RunOptions::default() };
    let review = ReviewRun::begin(drive, &tests, &Overrides::default(), options, &path).unwrap();
    let stop = |event: Event<'_>| match event {
        Event::Progress(..) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert_eq!(review.run(None, &stop).unwrap(), ReviewEnd::Interrupted);

    // Another drive by now, under the same name.
    std::fs::write(&profile, "inherits = \"tiny\"\n[gc]\nquantum = 5\n").unwrap();
    let named = DriveName::from(format!("sim:{}", profile.display()).as_str());
    let message = ReviewRun::resume(&path, Some(named)).unwrap_err().to_string();
    assert!(message.contains("the review began with"), "{message}");
    std::fs::remove_file(profile).unwrap();
    let rest = ReviewRun::resume(&path, None).unwrap();
    assert_eq!(rest.run(None, UNWATCHED).unwrap(), ReviewEnd::Complete);
    let (record, _) = open(&path.join("consistency")).unwrap();
    assert_eq!(record.drive.profile.unwrap().changes["gc.quantum"], 3);

    let out = directory.path().join("again");
    let (again, other_version) = ReviewRun::again(&path, &out).unwrap();
    assert_eq!((again.run(None, UNWATCHED).unwrap(), other_version), (ReviewEnd::Complete, None));
    let series = |review: &Path| std::fs::read(review.join("consistency/series.parquet")).unwrap();
    assert!(series(&path) == series(&out));
    let refused = ReviewRun::again(&path, &out).unwrap_err().to_string();
    assert!(refused.contains("is not empty"), "told before anything is asked: {refused}");
}

#[test]
fn what_cannot_be_done_again_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let tiny = DriveName::from("sim:tiny");
    let refusal = |path: &Path| -> Error { Again::of(path).unwrap_err() };

    let (null, stopped) = (at("null"), at("stopped"));
    let stop = |_: Event<'_>| ControlFlow::Break(());
    run(&short(1), &DriveName::Null, None, &null, RunOptions::default(), &stop).unwrap();
    run(&short(1), &tiny, None, &stopped, RunOptions::default(), &stop).unwrap();
    let (old, altered) = (at("old"), at("altered"));
    run_into(&short(1), &tiny, &old);
    run_into(&short(1), &tiny, &altered);
    edit(&old, |record| drop(record["drive"].as_object_mut().unwrap().remove("profile")));
    edit(&altered, |record| record["drive"]["profile"]["values"]["gc"]["quantum"] = 9.into());
    let cases = [
        (refusal(&null), "not simulated"),
        (refusal(&stopped), "did not come to its end"),
        (refusal(&old), "run the test on sim:tiny instead"),
        (refusal(&altered), "sha256"),
        (refusal(&at("nowhere")), "nowhere"),
    ];
    for (error, says) in cases {
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    }
}

fn edit(run: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let file = run.join("run.json");
    let mut record = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    change(&mut record);
    std::fs::write(file, record.to_string()).unwrap();
}

#[test]
fn a_trace_of_ones_own_must_still_be_the_one_that_was_done() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("own.trace"), directory.path().join("run"));
    let write = |offsets: &[u64]| {
        let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
        for offset in offsets {
            let (offset, length) = (Bytes::from_kib(*offset), Bytes::from_kib(4));
            let io = TraceIo::new(Nanos::ZERO, Operation::Write, offset, length);
            writer.write(&io).unwrap();
        }
        writer.finish(&Header::default()).unwrap();
    };
    write(&[0, 8, 16]);
    let traces = vec![path.to_str().unwrap().to_owned()];
    let overrides = Overrides { traces, ..Overrides::default() };
    let bench = plan("storage-bench").unwrap().with(&overrides).unwrap();
    run_into(&bench, &"sim:tiny".into(), &out);
    assert!(Again::of(&out).is_ok());

    write(&[0, 8, 24]);
    let message = Again::of(&out).unwrap_err().to_string();
    assert!(message.contains("the trace own is not the one"), "{message}");
    std::fs::remove_file(&path).unwrap();
    let message = Again::of(&out).unwrap_err().to_string();
    assert!(message.contains("own.trace") && message.contains("put it back"), "{message}");
}
