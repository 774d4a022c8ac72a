//! The page over any number of drives: its words, and its sections of tests.

use std::path::{Path, PathBuf};

use writecliff_suite::TESTS;

use crate::page::{About, ReportError, RunPart, SubjectPart, Words, write};
use crate::sections::{sections, specification};
use crate::subject::{Subject, Subjects};
use crate::verdict::sentences;

/// Writes `out/index.html` and `out/pictures/`, each file atomically, and returns the page's path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
///
/// # Panics
/// If there are no subjects, or one without runs.
pub fn write_page(subjects: &[Subject], out: &Path) -> Result<PathBuf, ReportError> {
    let subjects = Subjects::new(subjects);
    let all = subjects.all;
    let about = About {
        words: WORDS,
        kind: kind(all),
        title: title(&subjects),
        lead: lead(all),
        headline: String::new(),
        tiles: Vec::new(),
        ranking: None,
        first: None,
        subjects: (0..all.len()).map(|index| subject_part(&subjects, index)).collect(),
        specification: Some(specification::table(&subjects)),
    };
    write(&about, &sections(&subjects), out)
}

const WORDS: Words = Words {
    subjects: "Drives",
    findings: "Verdict",
    runs: "What was run",
    mark: "simulated",
    marked: "are models: their figures are predictions, not measurements of the drive that they are \
             named after.",
};

/// The test, or what several of them make up.
fn kind(subjects: &[Subject]) -> String {
    let runs = || subjects.iter().flat_map(|subject| &subject.runs);
    let is_run = |name: &&str| runs().any(|run| run.record.plan.name() == *name);
    let tests: Vec<&str> = TESTS.iter().map(|test| test.name).filter(is_run).collect();
    match (&tests[..], subjects) {
        ([test], _) => (*test).to_owned(),
        (_, [_]) => "review".to_owned(),
        _ => "comparison".to_owned(),
    }
}

fn title(subjects: &Subjects<'_>) -> String {
    match subjects.all {
        [_] => subjects.name(0).to_owned(),
        all if all.iter().all(|one| one.drive().model == all[0].drive().model) => {
            format!("{}: {} runs compared", all[0].drive().model, all.len())
        }
        all => format!("{} drives compared", all.len()),
    }
}

fn lead(subjects: &[Subject]) -> String {
    let [subject] = subjects else {
        return "Every drive was given the same load. Pictures side by side have the same axes."
            .to_owned();
    };
    let record = &subject.runs[0].record;
    let day = record.started.get(..10).unwrap_or(&record.started);
    format!("{}, {}, tested on {day}.", record.drive.capacity, record.drive.kind)
}

fn subject_part(subjects: &Subjects<'_>, index: usize) -> SubjectPart {
    let subject = &subjects.all[index];
    let run_part = |run: &crate::Run| RunPart {
        title: format!("{}: {}", run.name(), run.status()),
        details: run.details(),
    };
    SubjectPart {
        name: subjects.name(index).to_owned(),
        marked: subject.is_simulated(),
        warnings: subject.doubts(),
        findings: sentences(subject),
        runs: subject.runs.iter().map(run_part).collect(),
    }
}
