//! One self-contained HTML file over any number of drives, and its pictures as files beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use askama::Template;
use plotly::Plot;
use serde_json::{Value, json};
use writecliff_suite::TESTS;

use crate::picture::{csv, figure, svg};
use crate::section::{Panel, Place, Section, Table};
use crate::sections::{sections, specification};
use crate::subject::{Subject, Subjects};
use crate::verdict::{Sentence, sentences};

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The page or a picture cannot be written.
    #[error("cannot write the report {}: {source}; choose another place with --out", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The page's template failed, which only a bug can cause.
    #[error("cannot make the report: {0}; please report this")]
    Render(#[from] askama::Error),
    /// A picture could not be put into words, which only a bug can cause.
    #[error("cannot make the report's pictures: {0}; please report this")]
    Pictures(#[from] serde_json::Error),
}

/// Where the pictures' files are, beside the page.
const PICTURES: &str = "pictures";

/// Writes `out/index.html` and `out/pictures/`, each file atomically, and returns the page's path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
///
/// # Panics
/// If there are no subjects, or one without runs.
pub fn write_page(subjects: &[Subject], out: &Path) -> Result<PathBuf, ReportError> {
    let subjects = Subjects::new(subjects);
    let sections = sections(&subjects);
    let html = render(&subjects, &sections)?;
    let pictures = out.join(PICTURES);
    fs::create_dir_all(&pictures)
        .map_err(|source| ReportError::Write { path: pictures.clone(), source })?;
    for Panel { picture, .. } in panels(&sections) {
        write(&pictures.join(format!("{}.svg", picture.id)), &svg(picture))?;
        write(&pictures.join(format!("{}.csv", picture.id)), &csv(picture))?;
    }
    let path = out.join("index.html");
    write(&path, &html)?;
    Ok(path)
}

fn write(path: &Path, text: &str) -> Result<(), ReportError> {
    let partial = path.with_added_extension("partial");
    fs::write(&partial, text).and_then(|()| fs::rename(&partial, path)).map_err(|source| {
        // What is left of a failed attempt only takes space.
        let _ = fs::remove_file(&partial);
        ReportError::Write { path: path.to_owned(), source }
    })
}

fn panels(sections: &[Section]) -> impl Iterator<Item = &Panel> {
    sections.iter().flat_map(|section| &section.views).flat_map(|view| &view.panels)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    kind: String,
    title: String,
    /// Whether what the title names is simulated.
    simulated_title: bool,
    has_simulated: bool,
    several: bool,
    lead: String,
    subjects: Vec<SubjectPart>,
    sections: &'a [Section],
    specification: Table,
    style: &'static str,
    /// The pictures, as JSON that cannot end its script element.
    pictures: String,
    plotly: String,
    script: &'static str,
}

/// What the page says of one drive.
struct SubjectPart {
    name: String,
    simulated: bool,
    warnings: Vec<String>,
    verdict: Vec<Sentence>,
    runs: Vec<RunPart>,
}

/// What was run, for somebody who wants to do it again.
struct RunPart {
    title: String,
    details: Vec<(String, String)>,
}

impl Page<'_> {
    /// The attributes by which the buttons find what to hide.
    fn place(&self, place: &Place) -> String {
        let attribute = |name: &str, value: Option<usize>| {
            value.map_or_else(String::new, |value| format!(" data-{name}=\"{value}\""))
        };
        attribute("subject", place.subject) + &attribute("setting", place.setting)
    }

    fn is_simulated(&self, place: &Place) -> bool {
        place.subject.is_some_and(|subject| self.subjects[subject].simulated)
    }
}

fn render(subjects: &Subjects<'_>, sections: &[Section]) -> Result<String, ReportError> {
    let figures: Vec<Value> = panels(sections)
        .map(|panel| {
            let mut figure = figure(&panel.picture);
            figure["id"] = json!(panel.picture.id);
            figure
        })
        .collect();
    let all = subjects.all;
    let page = Page {
        kind: kind(all),
        title: title(subjects),
        simulated_title: matches!(all, [subject] if subject.is_simulated()),
        has_simulated: all.iter().any(Subject::is_simulated),
        several: subjects.is_comparison(),
        lead: lead(all),
        subjects: (0..all.len()).map(|index| subject_part(subjects, index)).collect(),
        sections,
        specification: specification::table(subjects),
        style: include_str!("../templates/page.css"),
        pictures: serde_json::to_string(&figures)?.replace('<', "\\u003c"),
        plotly: plotly_script(),
        script: include_str!("../templates/page.js"),
    };
    Ok(page.render()?)
}

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

/// The plotting library alone; what the crate offers for offline use also brings a formula
/// renderer of 2 MB that nothing here needs.
fn plotly_script() -> String {
    const END: &str = "</script>";
    let sources = Plot::offline_js_sources();
    let end = sources.find(END).map_or(sources.len(), |start| start + END.len());
    sources[..end].to_owned()
}

fn subject_part(subjects: &Subjects<'_>, index: usize) -> SubjectPart {
    let subject = &subjects.all[index];
    let run_part = |run: &crate::Run| RunPart {
        title: format!("{}: {}", run.name(), run.status()),
        details: run.details(),
    };
    SubjectPart {
        name: subjects.name(index).to_owned(),
        simulated: subject.is_simulated(),
        warnings: subject.doubts(),
        verdict: sentences(subject),
        runs: subject.runs.iter().map(run_part).collect(),
    }
}
