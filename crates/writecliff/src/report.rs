//! Runs to a page, and to words for a terminal.

use std::path::{Path, PathBuf};

use writecliff_report::{Subject, summary, verdict_text, write_page};
use writecliff_suite::RunRecord;

use crate::Error;

/// A page that was written, and what it comes to.
#[derive(Debug)]
pub struct Report {
    /// The page.
    pub page: PathBuf,
    /// Of single runs all their figures, of reviews the verdict, in lines of text.
    pub summary: String,
    /// The records of all runs in it.
    pub records: Vec<RunRecord>,
}

/// How a report is made; [`ReportOptions::default`] is the page and nothing else.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReportOptions {}

/// Makes one page of any number of runs and reviews, side by side; `out` is its directory.
///
/// # Errors
/// [`Error::RunDirectory`] or [`Error::Review`] with what cannot be read, [`Error::Report`] if the
/// page cannot be written.
pub fn report(
    paths: &[impl AsRef<Path>],
    out: &Path,
    _options: &ReportOptions,
) -> Result<Report, Error> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
    let subjects = Subject::gather(&paths)?;
    let page = write_page(&subjects, out)?;
    let summary = match subjects.iter().all(|subject| subject.planned.is_none()) {
        true => summary(&subjects),
        false => verdict_text(&subjects),
    };
    let runs = subjects.into_iter().flat_map(|subject| subject.runs);
    Ok(Report { page, summary, records: runs.map(|run| run.record).collect() })
}
