//! Reviews the simulated drives that ship and writes what comes of it into the file that the library
//! carries; `cargo xtask catalogue` calls it. It runs what is missing: drives whose profile has
//! changed, and tests that reviews did not have before. Arguments: the file, and `--all` to review
//! every drive again: when the model has changed.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use writecliff::suite::TestEntry;
use writecliff::{DriveName, Overrides, Review, ReviewEnd, ReviewRun, RunOptions, UNWATCHED};
use writecliff_bench::catalogue::Catalogue;
use writecliff_output::write_text;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, reviews_all) = match &arguments[..] {
        [file] => (file, false),
        [file, all] if all == "--all" => (file, true),
        _ => {
            eprintln!("name the file to be written, and --all to review every drive again");
            return ExitCode::from(2);
        }
    };
    match make(Path::new(file), reviews_all) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn make(file: &Path, reviews_all: bool) -> Result<(), String> {
    let begun = Instant::now();
    let text = if file.exists() { std::fs::read_to_string(file) } else { Ok(String::new()) };
    let before = Catalogue::parse(&text.map_err(|error| error.to_string())?)?;
    let drives = writecliff::sim::catalogue();
    let tests = Review::choose(&[], &[]).map_err(|error| error.to_string())?;
    let (mut catalogue, nothing) = (Catalogue::default(), Catalogue::default());
    for (index, drive) in drives.iter().enumerate() {
        let kept = if !reviews_all && is_todays(&before, drive)? { &before } else { &nothing };
        let has: Vec<&str> = kept.tests_of(drive).collect();
        let missing: Vec<&TestEntry> =
            tests.iter().copied().filter(|test| !has.contains(&test.name)).collect();
        if missing.is_empty() {
            catalogue.copy(drive, &[&before]);
            continue;
        }
        catalogue.copy(drive, &[&review(drive, &missing)?, kept]);
        // What was done is kept if it is broken off, and so is what has not come up yet.
        let mut whole = catalogue.clone();
        drives[index + 1..].iter().for_each(|later| whole.copy(later, &[&before]));
        write_text(file, &whole.text()).map_err(|error| error.to_string())?;
        let (done, seconds) = (index + 1, begun.elapsed().as_secs());
        println!("{done} of {} drives, {seconds} s: {drive}", drives.len());
    }
    write_text(file, &catalogue.text()).map_err(|error| error.to_string())
}

/// Whether a drive was reviewed by this version with the profile that it has now.
fn is_todays(before: &Catalogue, name: &str) -> Result<bool, String> {
    let profile = writecliff::sim::load(name).map_err(|error| format!("{name}: {error}"))?;
    let today = profile.record().sha256;
    Ok(before.drives().iter().any(|drive| {
        drive.name == name
            && drive.profile == today
            && drive.tool_version == env!("CARGO_PKG_VERSION")
    }))
}

/// What these tests of the default review say of one drive; the runs are thrown away when they have
/// been read.
fn review(name: &str, tests: &[&TestEntry]) -> Result<Catalogue, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = directory.path().join("review");
    let of = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let drive = DriveName::from(format!("sim:{name}").as_str());
    let (changes, options) = (Overrides::default(), RunOptions::default());
    let review = ReviewRun::begin(drive, tests, &changes, options, &path);
    let review = review.map_err(|error| of(&error))?;
    match review.run(None, UNWATCHED).map_err(|error| of(&error))? {
        ReviewEnd::Complete => {
            let mut catalogue = Catalogue::default();
            catalogue.add(name, &path).map_err(|error| of(&error))?;
            Ok(catalogue)
        }
        ReviewEnd::Interrupted => Err(of(&"the review was broken off")),
    }
}
