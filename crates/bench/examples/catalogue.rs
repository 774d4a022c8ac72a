//! Reviews the simulated drives that ship and writes what comes of it into the file that the library
//! carries; `cargo xtask catalogue` calls it. It runs what is missing: drives whose profile has
//! changed, and tests that reviews did not have before. Arguments: the file, and `--all` to review
//! every drive again: when the model has changed.

use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
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
    let text = if file.exists() { std::fs::read_to_string(file) } else { Ok(String::new()) };
    let before = Catalogue::parse(&text.map_err(|error| error.to_string())?)?;
    let drives = writecliff::sim::catalogue();
    let work = Work { file, before, reviews_all, begun: Instant::now(), drives: &drives };
    let reviewed = Mutex::new(vec![None; drives.len()]);
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let worker = || work.go_on(&next, &reviewed);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    let reviewed = reviewed.into_inner().expect("no worker panicked");
    write_text(file, &work.whole(&reviewed).text()).map_err(|error| error.to_string())
}

/// What is to be done, for all who do it.
struct Work<'a> {
    file: &'a Path,
    before: Catalogue,
    reviews_all: bool,
    begun: Instant,
    drives: &'a [&'a str],
}

/// What was found of each drive; `None` as long as it is as before.
type Reviewed = Vec<Option<Catalogue>>;

impl Work<'_> {
    /// Takes the next drive until none is left. What was done is kept if it is broken off.
    fn go_on(&self, next: &AtomicUsize, reviewed: &Mutex<Reviewed>) -> Result<(), String> {
        while let Some((index, drive)) = self.take(next) {
            let Some(found) = self.bring_up(drive)? else { continue };
            let mut reviewed = reviewed.lock().expect("no worker panicked");
            reviewed[index] = Some(found);
            let done = reviewed.iter().flatten().count();
            write_text(self.file, &self.whole(&reviewed).text())
                .map_err(|error| error.to_string())?;
            println!("{done} drives, {} s: {drive}", self.begun.elapsed().as_secs());
        }
        Ok(())
    }

    fn take(&self, next: &AtomicUsize) -> Option<(usize, &str)> {
        let index = next.fetch_add(1, Ordering::Relaxed);
        Some((index, self.drives.get(index)?))
    }

    /// A drive with the tests that it lacks; `None` if it lacks none.
    fn bring_up(&self, drive: &str) -> Result<Option<Catalogue>, String> {
        let nothing = Catalogue::default();
        let is_kept = !self.reviews_all && is_todays(&self.before, drive)?;
        let kept = if is_kept { &self.before } else { &nothing };
        let has: Vec<&str> = kept.tests_of(drive).collect();
        let tests = Review::choose(&[], &[]).map_err(|error| error.to_string())?;
        let missing: Vec<&TestEntry> =
            tests.into_iter().filter(|test| !has.contains(&test.name)).collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let mut found = Catalogue::default();
        found.copy(drive, &[&review(drive, &missing)?, kept]);
        Ok(Some(found))
    }

    /// All drives, in their order.
    fn whole(&self, reviewed: &Reviewed) -> Catalogue {
        let mut whole = Catalogue::default();
        for (drive, found) in self.drives.iter().zip(reviewed) {
            whole.copy(drive, &[found.as_ref().unwrap_or(&self.before)]);
        }
        whole
    }
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
