//! What the faces stand on, used as they use it.

use std::ops::ControlFlow;
use std::sync::Mutex;

use writecliff::{
    DestroyData, DriveName, Error, ErrorKind, Event, Overrides, ReportOptions, Review, ReviewEnd,
    ReviewRun, RunOptions, ThreadCount, UNWATCHED, gate, open, plan, read_plan, report, run,
};
use writecliff_suite::gate::Limits;

const QUICK: RunOptions = RunOptions {
    label: None,
    every_io: false,
    quick: true,
    io_timeout: writecliff_device::Nanos::from_secs(60),
    purge: None,
    threads: ThreadCount::Auto,
    poll: false,
};

fn review_of(tests: &[&str], path: &std::path::Path) -> ReviewRun {
    let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
    let tests = Review::choose(&tests, &[]).unwrap();
    ReviewRun::begin("sim:tiny".into(), &tests, &Overrides::default(), QUICK, path).unwrap()
}

#[test]
fn every_simulated_drive_can_be_reviewed() {
    let directory = tempfile::tempdir().unwrap();
    let all = writecliff::suite::TESTS.iter().map(|test| test.name.to_owned());
    let tests = Review::choose(&all.collect::<Vec<_>>(), &[]).unwrap();
    for name in writecliff::sim::catalogue() {
        let (drive, path) = (format!("sim:{name}"), directory.path().join(name));
        let begun =
            ReviewRun::begin(drive.as_str().into(), &tests, &Overrides::default(), QUICK, &path);
        assert!(begun.is_ok(), "{name}: {}", begun.unwrap_err());
    }
}

#[test]
fn a_review_that_was_broken_off_goes_on_and_ends_as_if_it_had_not_been() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, broken) = (directory.path().join("whole"), directory.path().join("broken"));
    let tests = ["consistency", "trim"];
    assert_eq!(review_of(&tests, &whole).run(None, UNWATCHED).unwrap(), ReviewEnd::Complete);

    let seen = Mutex::new(Vec::new());
    let watch = |event: Event<'_>| match event {
        Event::Progress("trim", _) => ControlFlow::Break(()),
        Event::Begins(test) => {
            seen.lock().unwrap().push(test);
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Continue(()),
    };
    let ended = review_of(&tests, &broken).run(None, &watch).unwrap();
    assert_eq!(ended, ReviewEnd::Interrupted);
    assert!(seen.into_inner().unwrap().contains(&"trim"));

    let rest = ReviewRun::resume(&broken, None).unwrap();
    assert!(rest.remaining().iter().any(|test| test.plan.name() == "trim"));
    assert_eq!(rest.run(None, UNWATCHED).unwrap(), ReviewEnd::Complete);
    for test in tests {
        let outcome = |review: &std::path::Path| open(&review.join(test)).unwrap().0.outcome;
        assert_eq!(outcome(&whole), outcome(&broken), "{test}");
    }
    assert!(ReviewRun::resume(&broken, None).unwrap().remaining().is_empty());

    let both =
        report(&[&whole, &broken], &directory.path().join("page"), &ReportOptions::default())
            .unwrap();
    assert_eq!(both.records.len(), 4);
    let gated = gate(&broken, &Limits::default(), Some(&whole), 0.0).unwrap();
    assert!(gated.failed() == 0 && !gated.checks.is_empty());
}

#[test]
fn every_error_says_its_kind() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, vec![1; 64 << 20]).unwrap();
    let drive = DriveName::Real(file.clone());
    let consistency = plan("consistency").unwrap().quick();
    let out = directory.path().join("run");
    let run_on = |drive: &DriveName, consent: Option<&DestroyData>| {
        run(&consistency, drive, consent, &out, QUICK, UNWATCHED).unwrap_err()
    };
    let by_wrong_name = DestroyData::named("not its name");
    let toml = directory.path().join("plan.toml");
    std::fs::write(&toml, "torture = \"1h\"\nquick = true\n").unwrap();
    let cases: [(Error, ErrorKind, &str); 8] = [
        (DriveName::from("sim:tinny").look().unwrap_err(), ErrorKind::Usage, "tiny"),
        (DriveName::from("tiny").look().unwrap_err(), ErrorKind::Usage, "sim:tiny"),
        (DriveName::from("/nowhere").look().unwrap_err(), ErrorKind::Usage, "nothing at this"),
        (run_on(&drive, None), ErrorKind::Refused, "nobody agreed"),
        (
            run_on(&drive, Some(&by_wrong_name)),
            ErrorKind::Refused,
            "'not its name' is not its name",
        ),
        (plan("consistancy").unwrap_err(), ErrorKind::Usage, "consistency"),
        (read_plan("consistency", &toml).unwrap_err(), ErrorKind::Usage, "plan.toml:"),
        (
            report(&[directory.path().join("none")], &out, &ReportOptions::default()).unwrap_err(),
            ErrorKind::Usage,
            "none",
        ),
    ];
    for (error, kind, says) in cases {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains(" --"), "names an option of one face: {error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), vec![1; 64 << 20], "it was written to");
}

/// What a job file says and is done in a way that may surprise, for whoever has nothing but the page.
#[test]
fn a_page_tells_how_its_job_file_was_read() {
    let directory = tempfile::tempdir().unwrap();
    let (file, out) = (directory.path().join("job.fio"), directory.path().join("run"));
    let job = "[a]\nrw=randwrite\nsize=4m\nnumjobs=2\ninvalidate=1\ngroup_reporting\n";
    std::fs::write(&file, job).unwrap();
    let (plan, notes) = read_plan("mixed", &file).unwrap();
    assert_eq!(notes.len(), 4, "{notes:?}");
    let drive = DriveName::from("sim:tiny");
    run(&plan, &drive, None, &out, RunOptions::default(), UNWATCHED).unwrap();
    let options = ReportOptions::default();
    let page = report(&[&out], &directory.path().join("report"), &options).unwrap().page;
    let page = std::fs::read_to_string(page).unwrap();
    for told in ["Job file", "direct: is left out", "filename: is left out"] {
        assert!(page.contains(told), "{told}");
    }
    assert!(!page.contains("log_avg_msec") && !page.contains("group_reporting"));
}
