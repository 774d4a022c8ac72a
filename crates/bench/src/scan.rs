//! Where runs are: all run directories at a place or below it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use writecliff::measure::{REPORT, RunDirectory};

/// So far below a place it is looked.
const DEPTH_MAX: usize = 8;
/// So many directories are looked into for one place: nobody's whole disk by mistake.
const DIRECTORIES_MAX: usize = 200_000;

/// What a run's figures are computed from.
const RECORDING: [&str; 2] = ["series.parquet", "histograms.parquet"];

/// A run's directory, and what tells whether it has changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) directory: PathBuf,
    pub(crate) stamp: String,
}

/// The runs at a place, in the order of their names. Links are not followed, reports not looked into.
pub(crate) fn runs_at(place: &Path) -> Vec<Found> {
    let (mut found, mut left) = (Vec::new(), DIRECTORIES_MAX);
    look(place, DEPTH_MAX, &mut left, &mut found);
    found.sort();
    found
}

fn look(directory: &Path, depth: usize, left: &mut usize, found: &mut Vec<Found>) {
    if let Some(stamp) = stamp(directory) {
        found.push(Found { directory: directory.to_owned(), stamp });
        return;
    }
    if depth == 0 {
        return;
    }
    // What cannot be listed has nothing to show; a place that is not there is told elsewhere.
    for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_directory || entry.file_name() == REPORT {
            continue;
        }
        if *left == 0 {
            return;
        }
        *left -= 1;
        look(&entry.path(), depth - 1, left, found);
    }
}

/// Of a run, if there is one: changes whenever its record or its recording is replaced or cut short.
fn stamp(directory: &Path) -> Option<String> {
    let record = fs::metadata(RunDirectory::record_of(directory)).ok()?;
    let mut stamp = of_file(&record);
    for name in RECORDING {
        stamp +=
            &fs::metadata(directory.join(name)).map_or_else(|_| "-".to_owned(), |it| of_file(&it));
    }
    let report = fs::metadata(directory.join(REPORT)).is_ok();
    Some(format!("{stamp}{}", u8::from(report)))
}

fn of_file(file: &fs::Metadata) -> String {
    format!("{}-{}.{:09}-{}-", file.len(), file.mtime(), file.mtime_nsec(), file.ino())
}
