//! The files of a run: the one list of them.

use std::fs;
use std::io;
use std::path::Path;

use writecliff_output::is_unfinished;

pub(crate) const RECORD: &str = "run.json";
pub(crate) const JOURNAL: &str = "journal.jsonl";
pub(crate) const IO_JOURNAL: &str = "ios.journal";
pub(crate) const SERIES: &str = "series.parquet";
pub(crate) const HISTOGRAMS: &str = "histograms.parquet";
pub(crate) const IOS: &str = "ios.parquet";
/// What a test of the drive's data has written, for a later run that reads it.
pub const STAMPS: &str = "stamps.json";
pub(crate) const ROOM: &str = ".room-for-the-record";

/// The directory within a run's that its report is put into.
pub const REPORT: &str = "report";

/// Whether a run has a file of this name, or leaves one when it is killed.
fn is_own_file(name: &str) -> bool {
    // Version 0.1 wrote into files of these names before they were whole.
    let whole = name.strip_suffix(".partial").unwrap_or(name);
    let all = [RECORD, JOURNAL, IO_JOURNAL, SERIES, HISTOGRAMS, IOS, STAMPS, ROOM];
    all.contains(&whole) || is_unfinished(name)
}

/// Something in a run's directory that no run puts there.
pub(crate) fn foreign(path: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        let is_report = kind.is_dir() && name == REPORT;
        let is_own = is_report || kind.is_file() && is_own_file(&name);
        if !is_own {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_knows_its_files_whole_and_unfinished() {
        let own = ["run.json", "series.parquet", "run.json.partial", ".writecliff-7-0.partial"];
        assert!(own.into_iter().all(is_own_file));
        let others = ["thesis.txt", "notes.parquet", "run.json.old", ".writecliff-7-0"];
        assert!(!others.into_iter().any(is_own_file));
    }
}
