//! Runs to a page, and to words for a terminal.

use std::path::{Path, PathBuf};

use writecliff_report::{
    Format, ReportError, Source, Subject, different_plans, summary, verdict_text, write_report,
};
use writecliff_suite::{Label, RunRecord};

use crate::error::Error;

/// A page that was written, and what it comes to.
#[derive(Debug)]
pub struct Report {
    /// The page, or the text instead of it.
    pub page: PathBuf,
    /// Its pictures, as SVG.
    pub pictures: Vec<PathBuf>,
    /// Of single runs all their figures, of reviews the verdict, in lines of text.
    pub summary: String,
    /// The records of all runs in it.
    pub records: Vec<RunRecord>,
    /// Directories that were named more than once; they are on the page once.
    pub repeated: Vec<PathBuf>,
}

/// How a report is made; [`ReportOptions::default`] is the page and nothing else.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Whether runs of different plans may be on one page, which then says what differs and ranks
    /// nothing across them.
    pub different_plans: bool,
    /// What the page is written as.
    pub format: Format,
}

/// Makes one page of any number of runs and reviews, side by side; `out` is its directory.
///
/// # Errors
/// [`Error::Results`] with what holds no results or cannot be read, [`Error::Report`] if the page
/// cannot be written, if two directories are to have one label, or if several hold runs of different
/// plans and the options do not allow that.
pub fn report(
    sources: &[impl Into<Source> + Clone],
    out: &Path,
    options: &ReportOptions,
) -> Result<Report, Error> {
    let (sources, repeated) = once_each(sources.iter().cloned().map(Into::into));
    if let Some(label) = same_label(&sources) {
        return Err(ReportError::SameLabel { label: label.clone() }.into());
    }
    let subjects = Subject::gather(&sources)?;
    let differences = different_plans(&subjects);
    if sources.len() > 1 && !differences.is_empty() && !options.different_plans {
        return Err(ReportError::DifferentPlans { differences }.into());
    }
    let written = write_report(&subjects, out, options.format)?;
    let summary = match subjects.iter().all(|subject| subject.planned.is_none()) {
        true => summary(&subjects),
        false => verdict_text(&subjects),
    };
    let runs = subjects.into_iter().flat_map(|subject| subject.runs);
    let records = runs.flat_map(|run| {
        std::iter::once(run.record).chain(run.repeats.into_iter().map(|repeat| repeat.record))
    });
    let records = records.collect();
    Ok(Report { page: written.page, pictures: written.pictures, summary, records, repeated })
}

/// Every directory once, by whatever way and label it was named first; and what was left out.
fn once_each(sources: impl Iterator<Item = Source>) -> (Vec<Source>, Vec<PathBuf>) {
    // What cannot be found is told when it is opened.
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (mut all, mut repeated): (Vec<Source>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for source in sources {
        match all.iter().any(|other| place(&other.path) == place(&source.path)) {
            true => repeated.push(source.path),
            false => all.push(source),
        }
    }
    (all, repeated)
}

/// A label that two of the directories were given.
fn same_label(sources: &[Source]) -> Option<&Label> {
    let labels: Vec<&Label> = sources.iter().filter_map(|source| source.label.as_ref()).collect();
    let is_taken = |(index, label): &(usize, &&Label)| labels[..*index].contains(*label);
    labels.iter().enumerate().find(is_taken).map(|(_, label)| *label)
}
