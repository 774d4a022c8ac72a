//! Reviews: what they run, and that an interruption anywhere changes nothing in the end.
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::{Bytes, Device, DeviceInfo, Nanos};
use writecliff_measure::RunDirectoryError;
use writecliff_sim::{Ssd, load};
use writecliff_suite::{
    ALL_TESTS, InReviews, Overrides, Plan, Review, ReviewError, ReviewTest, RunOptions, RunRecord,
    Status, TESTS, ThreadCount, run,
};

const QUICK: RunOptions = RunOptions {
    label: None,
    every_io: false,
    quick: true,
    io_timeout: Nanos::from_secs(60),
    purge: None,
    threads: ThreadCount::Auto,
    poll: false,
};

fn tiny() -> Ssd {
    Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny")
}

fn review(tests: &[&str]) -> Review {
    let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
    let tests = Review::choose(&tests, &[]).unwrap();
    Review::of("sim:tiny", tiny().info(), &tests, &Overrides::default(), QUICK).unwrap()
}

/// Runs one test of a review, at most so many of its seconds.
fn perform(test: &ReviewTest, path: &Path, seconds: usize) -> (RunRecord, usize) {
    let mut seen = 0;
    let record =
        run(&test.plan, &mut tiny(), &path.join(&test.directory), QUICK, &mut |progress| {
            seen += usize::from(progress.sample.is_some());
            if seen > seconds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    (record.unwrap(), seen)
}

fn files(run: &Path) -> Vec<Vec<u8>> {
    ["series.parquet", "histograms.parquet"].map(|f| std::fs::read(run.join(f)).unwrap()).to_vec()
}

const SUITE: &str = "
[[step]]
name = \"fill\"
prepares = true
fio = \"[fill]\\nrw=write\\nbs=128k\\n\"
[[step]]
name = \"load\"
fio = \"[load]\\nrw=randrw\\nnorandommap\\nruntime=5\\ntime_based\\n\"
";

#[test]
fn a_test_that_was_interrupted_anywhere_and_resumed_ends_as_if_it_had_not_been() {
    for entry in TESTS {
        let dir = tempfile::tempdir().unwrap();
        let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
        let mut review = review(&[entry.name]);
        let info = tiny().info().clone();
        if let Plan::Suite(plan) = &mut review.tests[0].plan {
            // The one that ships is for drives of another size.
            *plan = toml::from_str(SUITE).unwrap();
        }
        review.create(&whole).unwrap();
        review.create(&broken).unwrap();
        let (expected, seconds) = perform(&review.tests[0], &whole, usize::MAX);
        assert_eq!(expected.status, Status::Complete, "{}", entry.name);
        if seconds == 0 {
            // Not modelled: there is nothing to interrupt.
            assert_eq!(expected.outcome, None, "{}", entry.name);
            continue;
        }

        for share in [0, seconds / 2] {
            review.tests[0].clear(&broken).unwrap();
            let (cut, _) = perform(&review.tests[0], &broken, share);
            assert_eq!(cut.status, Status::Interrupted, "{} after {share} s", entry.name);
            let is_told = |doubt: &writecliff_suite::Warning| {
                use writecliff_suite::MethodWarning::{AtSpare, BrokenOff, Ended, Incomplete};
                use writecliff_suite::Warning::Method;
                let doubt = match doubt {
                    Method(AtSpare { doubt, .. }) => doubt,
                    other => other,
                };
                matches!(doubt, Method(BrokenOff { .. } | Ended { .. } | Incomplete { .. }))
            };
            let is_told = cut.outcome.is_none() || cut.warnings.iter().any(is_told);
            assert!(is_told, "{} after {share} s: {cut:?}", entry.name);
            let resumed = Review::open(&broken).unwrap();
            assert_eq!(resumed, review);
            let remaining = resumed.remaining(&broken, &info).unwrap();
            assert_eq!(remaining, review.tests, "an interrupted test starts again");
        }
        review.tests[0].clear(&broken).unwrap();
        let (resumed, _) = perform(&review.tests[0], &broken, usize::MAX);
        review.tests[0].clear(&broken).unwrap();
        assert_eq!(resumed.outcome, expected.outcome, "{}", entry.name);
        assert!(expected.phases.iter().all(|phase| !phase.unfinished), "{}", entry.name);
        assert_eq!(resumed.warnings, expected.warnings);
        assert_eq!(resumed.phases, expected.phases);
        let directory = &review.tests[0].directory;
        assert!(files(&broken.join(directory)) == files(&whole.join(directory)), "{}", entry.name);
        assert_eq!(review.remaining(&broken, &info).unwrap(), [], "a finished test is kept");
    }
}

#[test]
fn a_review_has_the_usual_tests_or_those_named() {
    let usual = review(&[]);
    let names: Vec<&str> = usual.tests.iter().map(|test| test.plan.name()).collect();
    let expected: Vec<&str> =
        TESTS.iter().filter(|t| t.reviews == InReviews::ByDefault).map(|t| t.name).collect();
    assert_eq!(names, expected);
    assert!(!names.contains(&"steady-state") && names.contains(&"spare-area"));
    let chosen = |names: &[&str], with: &[&str]| {
        let owned =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let chosen = Review::choose(&owned(names), &owned(with))?;
        Ok::<_, ReviewError>(chosen.iter().map(|test| test.name).collect::<Vec<_>>())
    };
    assert_eq!(chosen(&["trim", "consistency", "trim"], &["power"]).unwrap(), {
        ["consistency", "trim", "power"]
    });
    assert!(chosen(&[], &["steady-state"]).unwrap().contains(&"steady-state"));
    let all = chosen(&[], &[ALL_TESTS]).unwrap();
    assert!(names.iter().chain(&["steady-state", "integrity"]).all(|name| all.contains(name)));
    assert!(!all.contains(&"mixed"), "what it does is the user's own");
    assert_eq!(chosen(&[ALL_TESTS], &[]).unwrap(), all);
    for (names, with) in [(["trimm"].as_slice(), [].as_slice()), (&[], &["trimm"])] {
        assert!(matches!(chosen(names, with), Err(ReviewError::UnknownTest { .. })));
    }
}

#[test]
fn settings_of_a_test_that_a_review_does_not_have_are_refused() {
    let of = |tests: &[&str], overrides: &Overrides| {
        let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        let tests = Review::choose(&tests, &[]).unwrap();
        Review::of("sim:tiny", tiny().info(), &tests, overrides, QUICK)
    };
    let spare = Overrides { spare: vec![10.0, 30.0], ..Overrides::default() };
    let refused = of(&["consistency"], &spare).unwrap_err();
    let expected = ("spare", "spare-area");
    assert!(
        matches!(refused, ReviewError::NotAmong { option, test, .. } if (option, test) == expected)
    );
    // Where the test is, the list is its own: the consistency test keeps its single setting.
    let review = of(&["consistency", "spare-area"], &spare).unwrap();
    let settings = review.tests.iter().map(|test| match &test.plan {
        Plan::Consistency(plan) => vec![plan.spare_percent],
        Plan::SpareArea(plan) => plan.settings.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(settings.collect::<Vec<_>>(), [vec![0.0], vec![10.0, 30.0]]);
}

#[test]
fn a_review_cannot_go_on_with_another_drive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("review");
    let review = review(&["power"]);
    review.create(&path).unwrap();
    perform(&review.tests[0], &path, usize::MAX);
    let other = DeviceInfo { capacity: Bytes::from_mib(100), ..tiny().info().clone() };
    let refused = review.remaining(&path, &other).unwrap_err();
    assert!(matches!(refused, ReviewError::OtherDrive { .. }), "{refused}");
    assert!(refused.to_string().contains("resume it with that drive"), "{refused}");
}

#[test]
fn resuming_removes_nothing_that_is_not_an_interrupted_run_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("review");
    let victim = dir.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    std::fs::write(victim.join("thesis.txt"), "mine").unwrap();
    let review = review(&["trim", "power"]);
    review.create(&path).unwrap();
    let info = tiny().info().clone();

    // A name that leads elsewhere.
    let text = std::fs::read_to_string(path.join("review.json")).unwrap();
    for elsewhere in ["../victim", "/", "", "."] {
        let other =
            text.replace("\"directory\": \"power\"", &format!("\"directory\": \"{elsewhere}\""));
        std::fs::write(path.join("review.json"), other).unwrap();
        let refused = Review::open(&path).unwrap_err();
        assert!(matches!(refused, ReviewError::LeadsOut { .. }), "{refused}");
    }
    std::fs::write(path.join("review.json"), text).unwrap();

    // A finished test that cannot be read, or did something else, is an error and stays.
    perform(&review.tests[1], &path, usize::MAX);
    let file = path.join("power/run.json");
    let record = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, record.replace("\"queue_depth\": 32", "\"queue_depth\": 31")).unwrap();
    let refused = review.remaining(&path, &info).unwrap_err();
    assert!(matches!(refused, ReviewError::OtherPlan { .. }), "{refused}");
    std::fs::write(&file, &record[..record.len() / 2]).unwrap();
    assert!(matches!(review.remaining(&path, &info), Err(ReviewError::Directory(_))));
    assert!(review.tests[1].clear(&path).is_err());
    std::fs::write(&file, record).unwrap();
    std::fs::write(path.join("power/histograms.parquet"), "damaged").unwrap();
    assert_eq!(review.remaining(&path, &info).unwrap(), review.tests[..1]);

    // An interrupted one is looked at, and removed only when it is cleared and holds no more.
    perform(&review.tests[0], &path, 3);
    assert_eq!(review.remaining(&path, &info).unwrap(), review.tests[..1]);
    assert!(path.join("trim/run.json").exists(), "looking removes nothing");
    std::fs::write(path.join("trim/thesis.txt"), "mine").unwrap();
    let refused = review.tests[0].clear(&path).unwrap_err();
    let is_refused = matches!(&refused, ReviewError::Directory(RunDirectoryError::NotOurs { .. }));
    assert!(is_refused, "{refused}");
    assert!(path.join("trim/thesis.txt").exists() && path.join("trim/run.json").exists());
    std::fs::remove_file(path.join("trim/thesis.txt")).unwrap();
    review.tests[0].clear(&path).unwrap();
    assert!(!path.join("trim").exists() && victim.join("thesis.txt").exists());
}

#[test]
fn a_directory_that_holds_something_becomes_no_review() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
    let refused = review(&[]).create(dir.path()).unwrap_err();
    assert!(matches!(refused, ReviewError::Directory(RunDirectoryError::NotEmpty { .. })));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let unreadable = Review::open(dir.path()).unwrap_err();
    assert!(matches!(unreadable, ReviewError::Directory(RunDirectoryError::Read { .. })));
}

#[test]
fn what_a_review_will_take_is_known_before_it_begins() {
    let drive = DeviceInfo { capacity: Bytes(250_000_000_000), ..tiny().info().clone() };
    let estimate = Review::estimate(&review(&[]).tests, &drive);
    // Quick: minutes, and no more than a few passes over the part of the drive that is used.
    assert!((120.0..1200.0).contains(&estimate.time.as_secs_f64()), "{estimate:?}");
    let usual = Review::choose(&[], &[]).unwrap();
    let (overrides, options) = (Overrides::default(), RunOptions::default());
    let whole = Review::of("sim:tiny", tiny().info(), &usual, &overrides, options).unwrap();
    let estimate = Review::estimate(&whole.tests, &drive);
    // The fills, and tortures that go on until the drive is steady: a day, more or less.
    let hours = estimate.time.as_secs_f64() / 3600.0;
    let passes = estimate.written.0 as f64 / 250e9;
    assert!((6.0..36.0).contains(&hours) && (8.0..40.0).contains(&passes), "{hours} {passes}");
}
