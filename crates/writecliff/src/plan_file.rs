//! Plans in files: the table that `run.json` holds as `plan`, fio's job files, and suites with
//! the job files that they name.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use writecliff_device::with_nearest;
use writecliff_suite::{Plan, mixed, suite};
use writecliff_workload::fio::{self, Note};

use crate::error::Error;

/// Reads a plan of the test of this name. Of `mixed` also fio's job files, which is what is not called
/// `.toml`, and of `suite` also those of FioSynth; what they say and cannot be done is told in notes.
///
/// # Errors
/// [`Error::PlanUnreadable`]; [`Error::PlanInvalid`] or [`Error::JobFile`] with the line;
/// [`Error::UnknownTest`].
pub fn read_plan(test: &str, path: &Path) -> Result<(Plan, Vec<Note>), Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::PlanUnreadable { path: path.to_owned(), source })?;
    if test == mixed::Plan::NAME && path.extension().is_none_or(|extension| extension != "toml") {
        let file = path.display().to_string();
        let jobs = fio::read(&file, &text, &|name| std::env::var(name).ok())?;
        let notes = jobs.notes.clone();
        return Ok((Plan::Mixed(jobs.into()), notes));
    }
    if test == suite::Plan::NAME {
        return read_suite(path, &text);
    }
    Ok((parse(test, path, &text)?, Vec::new()))
}

/// A suite with all that its steps name: of our own, or one of FioSynth, which is JSON.
fn read_suite(path: &Path, text: &str) -> Result<(Plan, Vec<Note>), Error> {
    let mut suite = if text.trim_start().starts_with('{') {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        suite::Plan::from_fiosynth(&name, text)
            .map_err(|source| Error::SuiteInvalid { path: path.to_owned(), source })?
    } else {
        let Plan::Suite(suite) = parse(suite::Plan::NAME, path, text)? else {
            unreachable!("a suite's plan is one");
        };
        suite
    };
    let beside = path.parent().unwrap_or(Path::new("."));
    let notes = suite.load(|step, file| {
        read_beside(beside, file).map_err(|(looked, source)| Error::StepFileUnreadable {
            suite: path.to_owned(),
            step: step.name.clone(),
            file: file.to_owned(),
            looked,
            source,
        })
    })?;
    Ok((Plan::Suite(suite), notes))
}

/// Where the job files of a suite lie: beside it, or where FioSynth has them.
const PLACES: [&str; 5] = ["", "jobs", "jobfiles", "../jobs", "../jobfiles"];

/// The text of a job file; or where it was looked for, and why it was not read.
fn read_beside(directory: &Path, file: &str) -> Result<String, (Vec<PathBuf>, std::io::Error)> {
    let mut looked = Vec::new();
    for place in PLACES {
        let path = directory.join(place).join(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok(text),
            Err(source) if source.kind() == ErrorKind::NotFound => looked.push(path),
            Err(source) => return Err((vec![path], source)),
        }
    }
    Err((looked, ErrorKind::NotFound.into()))
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
