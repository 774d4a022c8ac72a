//! One self-contained HTML file over any number of drives or traces, and its pictures as files beside
//! it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use askama::Template;
use plotly::Plot;
use serde_json::{Value, json};
use writecliff_device::ErrorKind;
use writecliff_output::{OutputError, check_directory, write_text};

use crate::picture::{csv, figure, svg};
use crate::section::{Panel, Place, Ranking, Section, Table, Tile, View};
use crate::verdict::Sentence;

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The page or a picture cannot be written.
    #[error("cannot write the report {}: {source}; choose another place", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of it cannot be written; a block device is refused.
    #[error("no report: {0}")]
    Output(#[from] OutputError),
    /// The directory holds what is no page.
    #[error(
        "{} is not empty and holds no page of Writecliff's; name a new directory, or an \
         earlier page's", path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// Runs that did not do the same, and nobody asked for them on one page.
    #[error(
        "these runs did not do the same: {}; compare runs of one plan, or ask for \
         different_plans, and nothing is ranked across them",
        differences.join(". ")
    )]
    DifferentPlans {
        /// What differs, for each test.
        differences: Vec<String>,
    },
    /// The page's template failed, which only a bug can cause.
    #[error("cannot make the report: {0}; please report this")]
    Render(#[from] askama::Error),
    /// A picture could not be put into words, which only a bug can cause.
    #[error("cannot make the report's pictures: {0}; please report this")]
    Pictures(#[from] serde_json::Error),
}

impl ReportError {
    /// What kind of "no" it is. Where it is a refusal, nothing was written.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotEmpty { .. } | Self::DifferentPlans { .. } => ErrorKind::Usage,
            Self::Output(error) => error.kind(),
            _ => ErrorKind::Failed,
        }
    }
}

/// The page's file.
const PAGE: &str = "index.html";
/// Where the pictures' files are, beside the page.
const PICTURES: &str = "pictures";
/// How the titles of our pages end, and how far into the file at most.
const MARK: &[u8] = "– Writecliff</title>".as_bytes();
const MARK_WITHIN: u64 = 1 << 16;

/// What a page is about: its words, the sections apart.
pub(crate) struct About {
    pub(crate) words: Words,
    /// What kind of page it is.
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) lead: String,
    /// What it comes to, in one sentence; empty where that cannot be said.
    pub(crate) headline: String,
    /// The figures of the one subject that matter most.
    pub(crate) tiles: Vec<Tile>,
    /// The figures that decide between several subjects.
    pub(crate) ranking: Option<Ranking>,
    /// The pictures of the first screen.
    pub(crate) first: Option<View>,
    /// What columns, buttons and [`Place`]s count.
    pub(crate) subjects: Vec<SubjectPart>,
    pub(crate) specification: Option<Table>,
}

/// What the parts of a page are called.
pub(crate) struct Words {
    /// The subjects, several of them.
    pub(crate) subjects: &'static str,
    /// What is said of each before anything else.
    pub(crate) findings: &'static str,
    /// The details at the end.
    pub(crate) runs: &'static str,
    /// What stands beside the names of some subjects.
    pub(crate) mark: &'static str,
    /// What that means, as the rest of a sentence about subjects so marked.
    pub(crate) marked: &'static str,
}

/// What the page says of one subject.
pub(crate) struct SubjectPart {
    pub(crate) name: String,
    pub(crate) marked: bool,
    /// Doubts about all of it; those about one test are in its section.
    pub(crate) warnings: Vec<String>,
    pub(crate) findings: Vec<Sentence>,
    pub(crate) runs: Vec<RunPart>,
}

/// What was done, for somebody who wants to do it again.
pub(crate) struct RunPart {
    pub(crate) title: String,
    pub(crate) details: Vec<(String, String)>,
}

/// Writes `out/index.html` and `out/pictures/`, each file atomically, and returns the page's path.
pub(crate) fn write(
    about: &About,
    sections: &[Section],
    out: &Path,
) -> Result<PathBuf, ReportError> {
    check_directory(out)?;
    check_place(out)?;
    let html = render(about, sections)?;
    let pictures = out.join(PICTURES);
    fs::create_dir_all(&pictures)
        .map_err(|source| ReportError::Write { path: pictures.clone(), source })?;
    for Panel { picture, .. } in panels(about, sections) {
        write_text(&pictures.join(format!("{}.svg", picture.id)), &svg(picture))?;
        write_text(&pictures.join(format!("{}.csv", picture.id)), &csv(picture))?;
    }
    let path = out.join(PAGE);
    write_text(&path, &html)?;
    Ok(path)
}

/// A page replaces an earlier one, or what is left of one that was interrupted, and nothing else.
fn check_place(out: &Path) -> Result<(), ReportError> {
    // What cannot be listed is not there, or cannot be written either, which is told then.
    let entries = fs::read_dir(out).into_iter().flatten().filter_map(Result::ok);
    let is_free = entries.into_iter().all(|entry| entry.file_name() == PICTURES);
    match is_free || is_page(&out.join(PAGE)) {
        true => Ok(()),
        false => Err(ReportError::NotEmpty { path: out.to_owned() }),
    }
}

fn is_page(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MARK_WITHIN).read_to_end(&mut beginning));
    read.is_ok() && beginning.windows(MARK.len()).any(|window| window == MARK)
}

fn panels<'a>(about: &'a About, sections: &'a [Section]) -> impl Iterator<Item = &'a Panel> {
    let views = sections.iter().flat_map(|section| &section.views);
    about.first.iter().chain(views).flat_map(|view| &view.panels)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    about: &'a About,
    sections: &'a [Section],
    style: &'static str,
    /// The pictures, as JSON that cannot end its script element.
    pictures: String,
    plotly: String,
    script: &'static str,
}

impl Page<'_> {
    /// The attributes by which the buttons find what to hide.
    fn place(&self, place: &Place) -> String {
        let attribute = |name: &str, value: Option<usize>| {
            value.map_or_else(String::new, |value| format!(" data-{name}=\"{value}\""))
        };
        attribute("subject", place.subject) + &attribute("setting", place.setting)
    }

    fn is_marked(&self, place: &Place) -> bool {
        place.subject.is_some_and(|subject| self.about.subjects[subject].marked)
    }

    /// Whether what the title names is marked.
    fn is_title_marked(&self) -> bool {
        matches!(&self.about.subjects[..], [subject] if subject.marked)
    }

    fn has_marked(&self) -> bool {
        self.about.subjects.iter().any(|subject| subject.marked)
    }

    fn is_comparison(&self) -> bool {
        self.about.subjects.len() > 1
    }
}

fn render(about: &About, sections: &[Section]) -> Result<String, ReportError> {
    let figures: Vec<Value> = panels(about, sections)
        .map(|panel| {
            let mut figure = figure(&panel.picture);
            figure["id"] = json!(panel.picture.id);
            figure
        })
        .collect();
    let page = Page {
        about,
        sections,
        style: include_str!("../templates/page.css"),
        pictures: serde_json::to_string(&figures)?.replace('<', "\\u003c"),
        plotly: plotly_script(),
        script: include_str!("../templates/page.js"),
    };
    Ok(page.render()?)
}

/// The plotting library alone; what the crate offers for offline use also brings a formula
/// renderer of 2 MB that nothing here needs.
fn plotly_script() -> String {
    const END: &str = "</script>";
    let sources = Plot::offline_js_sources();
    let end = sources.find(END).map_or(sources.len(), |start| start + END.len());
    sources[..end].to_owned()
}
