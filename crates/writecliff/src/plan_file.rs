//! Plans in files: the table that `run.json` holds as `plan`, and fio's job files.

use std::path::Path;

use writecliff_device::with_nearest;
use writecliff_suite::{Plan, mixed};
use writecliff_workload::fio::{self, Note};

use crate::Error;

/// Reads a plan of the test of this name. Of `mixed` also fio's job files, which is what is not called
/// `.toml`; what they say and cannot be done is told in notes.
///
/// # Errors
/// [`Error::PlanUnreadable`]; [`Error::PlanInvalid`] or [`Error::JobFile`] with the line;
/// [`Error::UnknownTest`].
pub fn read_plan(test: &str, path: &Path) -> Result<(Plan, Vec<Note>), Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::PlanUnreadable { path: path.to_owned(), source })?;
    if test == mixed::Plan::NAME && path.extension().is_none_or(|extension| extension != "toml") {
        let file = path.display().to_string();
        let mut jobs = fio::read(&file, &text, &|name| std::env::var(name).ok())?;
        let notes = std::mem::take(&mut jobs.notes);
        return Ok((Plan::Mixed(jobs.into()), notes));
    }
    Ok((parse(test, path, &text)?, Vec::new()))
}

fn parse(test: &str, path: &Path, text: &str) -> Result<Plan, Error> {
    let invalid = |source: toml::de::Error| {
        let at = source.span().map_or(0, |span| span.start);
        let line = text[..at.min(text.len())].matches('\n').count();
        let found = text.lines().nth(line).unwrap_or_default().trim().to_owned();
        let (path, test) = (path.to_owned(), test.to_owned());
        match source.message() {
            "missing field `job`" => Error::PlanWithoutJobs { path },
            message => {
                let message = with_nearest(message);
                Error::PlanInvalid { path, line: line + 1, found, test, message }
            }
        }
    };
    let from = toml::Deserializer::parse(text).map_err(invalid)?;
    let read = Plan::read(test, from);
    read.ok_or_else(|| Error::UnknownTest { name: test.to_owned() })?.map_err(invalid)
}
