//! The results that ship: of today's profiles, and what the model gives.
use std::collections::BTreeSet;

use writecliff::device::Nanos;
use writecliff::{DriveName, InReviews, Overrides, Plan, RunOptions, TESTS, UNWATCHED};
use writecliff_bench::catalogue::{Catalogue, shipped};
use writecliff_bench::{Gather, NewRun};

const RENEW: &str = "`cargo xtask catalogue` reviews what has changed";

#[test]
fn what_ships_is_of_the_profiles_of_today() {
    let reviewed = shipped().unwrap().drives();
    for drive in reviewed {
        let name = &drive.name;
        let today = writecliff::sim::load(name).map(|profile| profile.record().sha256);
        assert_eq!(Some(&drive.profile), today.as_ref().ok(), "{name} has changed: {RENEW}");
        assert_eq!(drive.tool_version, env!("CARGO_PKG_VERSION"), "{name}: {RENEW}");
    }
    let names: BTreeSet<&str> = reviewed.iter().map(|drive| drive.name.as_str()).collect();
    assert_eq!(names.len(), reviewed.len(), "each drive once");
}

#[test]
fn every_simulated_drive_has_results() {
    let reviewed = shipped().unwrap().drives();
    for name in writecliff::sim::catalogue() {
        assert!(reviewed.iter().any(|drive| drive.name == name), "{name} has none: {RENEW}");
    }
}

#[test]
fn drives_that_are_kept_come_out_as_if_they_were_reviewed_again() {
    let shipped = shipped().unwrap();
    let mut kept = Catalogue::default();
    shipped.drives().iter().for_each(|drive| kept.copy(&drive.name, &[shipped]));
    kept.copy("no-such-drive", &[shipped]);
    assert_eq!(&kept, shipped);
}

#[test]
fn the_file_is_small_and_comes_back_as_it_was() {
    let text = shipped().unwrap().text();
    assert!(text.len() < 2 << 20, "{} bytes are no small file", text.len());
    assert_eq!(&Catalogue::parse(&text).unwrap(), shipped().unwrap());
    assert_eq!(Catalogue::parse(&text).unwrap().text(), text);
    let wrong =
        Catalogue::parse("{\"run\":{\"drive\":7,\"conditions\":0,\"seed\":1,\"figures\":[]}}");
    assert!(wrong.unwrap_err().starts_with("line 1: "));
}

#[test]
fn every_result_that_ships_may_be_ranked() {
    let mut gather = Gather::default();
    shipped().unwrap().runs().for_each(|run| gather.run(run));
    let bench = gather.finish();
    for run in &bench.runs {
        let conditions = &bench.conditions[run.conditions];
        assert!(!conditions.quick && !conditions.unfinished, "{conditions:?}");
        assert!(!run.figures.is_empty() || conditions.test == "power", "{conditions:?}");
        assert_eq!(run.variant, None, "of today's profile");
    }
}

/// One test of every drive in turn, and so each test of several drives; which, changes from drive to
/// drive.
#[test]
fn the_model_gives_what_ships() {
    if std::env::var_os("WRITECLIFF_NIGHTLY").is_none() {
        return;
    }
    let shipped = shipped().unwrap();
    let tests: Vec<_> = TESTS.iter().filter(|test| test.reviews == InReviews::ByDefault).collect();
    for (index, drive) in shipped.drives().iter().enumerate() {
        let test = tests[index % tests.len()];
        let name = &drive.name;
        let of_drive = |run: &NewRun| run.drive.id == drive.sheet.id;
        let mut found =
            shipped.runs().filter(|run| of_drive(run) && run.conditions.test == test.name);
        let ships = found.next().unwrap_or_else(|| panic!("{name} lacks {}", test.name));
        let again = run_again(name, test.name);
        assert_eq!(again.figures, ships.figures, "{name}: {}", test.name);
        assert_eq!(again.conditions, ships.conditions, "{name}: {}", test.name);
        assert_eq!(again.doubts, ships.doubts, "{name}: {}", test.name);
    }
}

/// As a review runs it.
fn run_again(name: &str, test: &str) -> NewRun {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("review");
    let drive = DriveName::from(format!("sim:{name}").as_str());
    let tests = writecliff::Review::choose(&[test.to_owned()], &[]).unwrap();
    let (changes, options) = (Overrides::default(), RunOptions::default());
    let review = writecliff::ReviewRun::begin(drive, &tests, &changes, options, &path).unwrap();
    review.run(None, UNWATCHED).unwrap();
    let place = path.join(&review.review().tests[0].directory);
    NewRun::of(&writecliff::open(&place).unwrap().0).unwrap()
}

#[test]
fn a_review_becomes_lines_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("review");
    let tests = writecliff::Review::choose(&["consistency".to_owned()], &[]).unwrap();
    let changes = Overrides { duration: Some(Nanos::from_secs(5)), ..Overrides::default() };
    let options = RunOptions::default();
    let drive = DriveName::from("sim:tiny");
    let review = writecliff::ReviewRun::begin(drive, &tests, &changes, options, &path).unwrap();
    review.run(None, UNWATCHED).unwrap();
    let mut catalogue = Catalogue::default();
    catalogue.add("tiny", &path).unwrap();
    let read = Catalogue::parse(&catalogue.text()).unwrap();
    assert_eq!(read, catalogue);
    let run = read.runs().next().unwrap();
    let (record, _) = writecliff::open(&path.join("consistency")).unwrap();
    let figures: Vec<f64> = run.figures.iter().map(|(_, value)| *value).collect();
    let expected: Vec<f64> = record.figures().iter().map(|figure| figure.value).collect();
    assert_eq!(figures, expected);
    assert!(matches!(record.plan, Plan::Consistency(_)));
}
