//! The results that ship: of today's profiles, and what the model gives.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

/// What README says of the drive that a new user reviews first, read from that drive's results.
#[test]
fn readme_says_of_its_example_what_the_example_shows() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| fs::read_to_string(workspace.join(file)).unwrap();
    let (readme, picture) = (read("README.md"), read("docs/cliff.svg"));
    let (_, example) = readme.split_once("reviews `sim:").expect("README reviews a drive");
    let (drive, claims) = example.split_once('`').unwrap();
    let (claims, _) = claims.split_once("\n\n").unwrap();

    let of_review = TESTS.iter().filter(|test| test.reviews == InReviews::ByDefault).count();
    let counted = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven",
    ];
    assert!(claims.contains(&format!("({} tests", counted[of_review])), "{of_review} tests");
    for test in TESTS {
        let how = match test.reviews {
            InReviews::ByDefault => "in a review".to_owned(),
            InReviews::OnRequest => format!("`--with {}`", test.name),
            InReviews::ByName => format!("`run {}`", test.name),
        };
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{}` |", test.name)));
        assert!(row.unwrap().ends_with(&format!("| {how} |")), "{}: {how}", test.name);
    }

    let shipped = shipped().unwrap();
    let of_drive = shipped.drives().iter().find(|one| one.name == drive).unwrap();
    let consistency = shipped
        .runs()
        .find(|run| run.drive.id == of_drive.sheet.id && run.conditions.test == "consistency")
        .unwrap();
    let figure =
        |name: &str| consistency.figures.iter().find(|(metric, _)| metric.name == name).unwrap().1;
    // "falls over the cliff", "what it keeps once steady": nothing is doubted of it.
    assert_eq!(consistency.doubts, [""; 0]);
    assert!(figure("steady mean") < 0.5 * figure("fresh"));
    let documents = writecliff::suite::consistency::Plan::default().duration;
    let seconds = writecliff::suite::thousands(documents.as_secs_f64());
    assert!(claims.contains(&format!("the {seconds} s that reviews have shown")), "{seconds}");
    let cliff = writecliff::suite::thousands(figure("write cliff"));
    for label in
        [&format!("cliff at {cliff} s"), &format!("{seconds} s"), "steady window", "simulated"]
    {
        assert!(picture.contains(label), "docs/cliff.svg lacks: {label}");
    }
}

/// Whatever drive the documents name is one that ships.
#[test]
fn documents_name_drives_that_ship() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(workspace.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.chain([workspace.join("README.md")]) {
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap();
        for named in text.split("sim:").skip(1) {
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let name = named.split(|c| !is_name(c)).next().unwrap();
            let is_file = named[name.len()..].starts_with(['.', '/', '_']) || name.len() < 3;
            if !is_file {
                let page = page.display();
                assert!(writecliff::sim::load(name).is_ok(), "{page}: no drive is called {name}");
            }
        }
    }
}
