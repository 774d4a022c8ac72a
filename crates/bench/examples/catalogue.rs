//! Reviews every simulated drive that ships and writes what comes of it into the file that the
//! library carries; `cargo xtask catalogue` calls it. Arguments: the file, then the drives to review
//! (all, if none is named).

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use writecliff::{DriveName, Overrides, Review, ReviewEnd, ReviewRun, RunOptions, UNWATCHED};
use writecliff_bench::catalogue::Catalogue;
use writecliff_output::write_text;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("name the file to be written");
        return ExitCode::from(2);
    };
    match make(Path::new(&file), &arguments.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn make(file: &Path, named: &[String]) -> Result<(), String> {
    let begun = Instant::now();
    let all = writecliff::sim::catalogue();
    let drives: Vec<&str> = match named {
        [] => all,
        named => named.iter().map(String::as_str).collect(),
    };
    let mut catalogue = Catalogue::default();
    for (index, drive) in drives.iter().enumerate() {
        review(&mut catalogue, drive)?;
        let (done, seconds) = (index + 1, begun.elapsed().as_secs());
        println!("{done} of {} drives, {seconds} s: {drive}", drives.len());
    }
    write_text(file, &catalogue.text()).map_err(|error| error.to_string())
}

/// The default review of one drive, which is thrown away when it has been read.
fn review(catalogue: &mut Catalogue, name: &str) -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = directory.path().join("review");
    let of = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let tests = Review::choose(&[], &[]).map_err(|error| of(&error))?;
    let drive = DriveName::from(format!("sim:{name}").as_str());
    let (changes, options) = (Overrides::default(), RunOptions::default());
    let review = ReviewRun::begin(drive, &tests, &changes, options, &path);
    let review = review.map_err(|error| of(&error))?;
    match review.run(None, UNWATCHED).map_err(|error| of(&error))? {
        ReviewEnd::Complete => catalogue.add(name, &path).map_err(|error| of(&error)),
        ReviewEnd::Interrupted => Err(of(&"the review was broken off")),
    }
}
