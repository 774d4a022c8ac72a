//! One self-contained HTML file over any number of drives or traces, and its pictures as files beside
//! it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use writecliff_device::ErrorKind;
use writecliff_output::{OutputError, check_directory, write_bytes, write_text};
use writecliff_suite::{Good, Label};

use crate::look;
use crate::markdown::markdown;
use crate::picture::{Picture, csv, inline, points_max, svg};
use crate::png::Painter;
use crate::section::{Cell, Panel, Place, RankedBy, Ranking, Row, Section, Table, Tile, View};
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
        "these runs did not do the same:\n  - {}\ncompare runs of one plan, or allow \
         different_plans, which ranks nothing across them",
        differences.join("\n  - ")
    )]
    DifferentPlans {
        /// What differs, for each test.
        differences: Vec<String>,
    },
    /// One name for what is to be told apart.
    #[error("two of the directories are to be called {label}; give each a name of its own")]
    SameLabel {
        /// The name.
        label: Label,
    },
    /// Pictures as PNG need letters.
    #[error(
        "no PNG can be written: this machine has no fonts; install some (Debian: apt install \
         fonts-dejavu-core), or leave out PNG"
    )]
    NoFonts,
    /// A picture could not be painted, which only a bug can cause.
    #[error("cannot make a PNG of a picture: {why}; please report this")]
    Paint {
        /// What the painter says.
        why: String,
    },
    /// The page's template failed, which only a bug can cause.
    #[error("cannot make the report: {0}; please report this")]
    Render(#[from] askama::Error),
}

impl ReportError {
    /// What kind of "no" it is. Where it is a refusal, nothing was written.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotEmpty { .. } | Self::DifferentPlans { .. } | Self::SameLabel { .. } => {
                ErrorKind::Usage
            }
            Self::Output(error) => error.kind(),
            Self::Write { source, .. } => ErrorKind::of_path(source),
            _ => ErrorKind::Failed,
        }
    }
}

/// The page's file.
pub const PAGE: &str = "index.html";
/// The same as text.
const MARKDOWN: &str = "report.md";
/// How that begins; whoever reads it sees nothing of it.
pub(crate) const MARKDOWN_MARK: &str = "<!-- made by Writecliff -->";
/// Where the pictures' files are, beside the page.
const PICTURES: &str = "pictures";
/// How the titles of our pages end, and how far into the file at most.
const MARK: &[u8] = "– Writecliff</title>".as_bytes();
const MARK_WITHIN: u64 = 1 << 16;

/// How high the axes' area of a picture is, in pixels: alone in its row, and beside others.
const HIGH: u32 = 320;
const LOW: u32 = 240;

/// What a page is about: its words, the sections apart.
pub(crate) struct About {
    pub(crate) words: Words,
    /// Where its drive is in Bench, if the page is shown there.
    pub(crate) bench: Option<String>,
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

impl About {
    /// Whether anything is to be said of a subject before its sections.
    pub(crate) fn has_findings(&self) -> bool {
        let has_some = |one: &SubjectPart| !one.findings.is_empty() || !one.warnings.is_empty();
        self.subjects.iter().any(has_some)
    }
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
    /// Whether Bench has results of this kind.
    pub(crate) in_bench: bool,
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

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// A page, `index.html`.
    #[default]
    Html,
    /// Text for an issue or a post, `report.md`.
    Markdown,
}

/// The files of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Files {
    /// What it is written as.
    pub format: Format,
    /// Whether every picture is a PNG file as well.
    pub png: bool,
}

impl Files {
    /// Such files.
    pub fn new(format: Format, png: bool) -> Self {
        Self { format, png }
    }
}

/// Writes `out/index.html` or `out/report.md`, and `out/pictures/`, each file atomically, and returns
/// the former's path.
pub(crate) fn write(
    about: &About,
    sections: &[Section],
    out: &Path,
    files: Files,
) -> Result<PathBuf, ReportError> {
    check_directory(out)?;
    check_place(out)?;
    let (name, text) = match files.format {
        Format::Html => (PAGE, render(about, sections)?),
        Format::Markdown => (MARKDOWN, markdown(about, sections)),
    };
    let painter = files.png.then(Painter::new).transpose()?;
    let pictures = out.join(PICTURES);
    fs::create_dir_all(&pictures)
        .map_err(|source| ReportError::Write { path: pictures.clone(), source })?;
    for Panel { picture, .. } in panels(about, sections) {
        let file = |kind: &str| pictures.join(format!("{}.{kind}", picture.id));
        let svg = svg(picture);
        write_text(&file("svg"), &svg)?;
        write_text(&file("csv"), &csv(picture))?;
        if let Some(painter) = &painter {
            write_bytes(&file("png"), &painter.png(&svg)?)?;
        }
    }
    let path = out.join(name);
    write_text(&path, &text)?;
    Ok(path)
}

/// A report replaces an earlier one, or what is left of one that was interrupted, and nothing else.
fn check_place(out: &Path) -> Result<(), ReportError> {
    // What cannot be listed is not there, or cannot be written either, which is told then.
    let entries = fs::read_dir(out).into_iter().flatten().filter_map(Result::ok);
    let is_free = entries.into_iter().all(|entry| entry.file_name() == PICTURES);
    let is_ours = is_page(&out.join(PAGE)) || is_page(&out.join(MARKDOWN));
    match is_free || is_ours {
        true => Ok(()),
        false => Err(ReportError::NotEmpty { path: out.to_owned() }),
    }
}

fn is_page(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MARK_WITHIN).read_to_end(&mut beginning));
    let has = |mark: &[u8]| beginning.windows(mark.len()).any(|window| window == mark);
    read.is_ok() && (has(MARK) || beginning.starts_with(MARKDOWN_MARK.as_bytes()))
}

/// All panels of a page: that of the first screen is in no section.
fn panels<'a>(about: &'a About, sections: &'a [Section]) -> impl Iterator<Item = &'a Panel> {
    let views = about.first.iter().chain(sections.iter().flat_map(|section| &section.views));
    views.flat_map(|view| &view.panels)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    about: &'a About,
    sections: &'a [Section],
    style: &'static str,
    script: &'static str,
    /// What the page may do: show itself.
    policy: String,
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

    /// A picture's markup; alone in its view it is a little higher.
    fn draw(&self, picture: &Picture, view: &View) -> String {
        let height = if view.panels.len() == 1 { HIGH } else { LOW };
        let points_max = points_max(view.panels.len(), view.more);
        inline(picture, height, points_max, &|name| self.subject_called(name))
    }

    /// The subject whose trace or bar has this name, where there are several.
    fn subject_called(&self, name: &str) -> Option<usize> {
        let is_called = |subject: &SubjectPart| {
            let rest = name.strip_prefix(subject.name.as_str());
            rest.is_some_and(|rest| {
                rest.is_empty() || rest == format!(" ({})", self.about.words.mark)
            })
        };
        let found = self.about.subjects.iter().position(is_called);
        found.filter(|_| self.is_comparison())
    }

    /// Where doubts are told, and how many each: anchor, title, count.
    fn doubts(&self) -> Vec<(&str, &str, usize)> {
        let of_all = self.about.subjects.iter().map(|subject| subject.warnings.len()).sum();
        let of_sections = self.sections.iter().map(|s| (s.id, s.title, s.doubts.len()));
        let all =
            std::iter::once(("verdict", self.about.words.findings, of_all)).chain(of_sections);
        all.filter(|(_, _, count)| *count > 0).collect()
    }

    fn has_findings(&self) -> bool {
        self.about.has_findings()
    }

    fn doubt_count(&self) -> usize {
        self.doubts().iter().map(|(_, _, count)| count).sum()
    }

    fn subject(&self, index: &usize) -> &SubjectPart {
        &self.about.subjects[*index]
    }

    fn is_best(&self, ranking: &Ranking, column: &usize, row: &usize) -> bool {
        ranking.best(*column).contains(row)
    }

    /// What a cell is sorted and compared by.
    fn number(&self, cell: &Cell) -> String {
        cell.number.map_or_else(String::new, |number| format!(" data-n=\"{number}\""))
    }

    /// Whether a table has so many rows that a reader wants them in another order.
    fn is_long(&self, table: &Table) -> bool {
        const LONG: usize = 8;
        let is_number = |row: &Row| row.values.iter().any(|cell| cell.number.is_some());
        table.rows.len() >= LONG && table.rows.iter().all(is_number) && is_one_quantity(table)
    }

    /// Whether a table holds sentences, which break, and not figures, which do not.
    fn is_of_words(&self, table: &Table) -> bool {
        const LONG: usize = 40;
        let mut cells = table.rows.iter().flat_map(|row| &row.values);
        cells.any(|cell| cell.text.chars().count() > LONG)
    }

    fn is_high_good(&self, column: &RankedBy) -> bool {
        column.good == Good::AtLeast
    }

    /// Whether pictures on demand leave out seconds that their files have.
    fn is_thinned(&self, section: &Section) -> bool {
        let mut more = section.views.iter().filter(|view| view.more);
        let longest = |view: &View| {
            let named = view.panels.iter().flat_map(|panel| panel.picture.named());
            named.map(|points| points.points.len()).max().unwrap_or(0)
        };
        more.any(|view| longest(view) > points_max(view.panels.len(), true))
    }

    /// The titles of the views of a section that are shown on demand.
    fn more(&self, section: &Section) -> String {
        let more = section.views.iter().filter(|view| view.more);
        more.map(|view| view.title.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// Whether rows can be put in order by their numbers: not where each is a figure of its own.
fn is_one_quantity(table: &Table) -> bool {
    table.rows.iter().all(|row| row.good == table.rows[0].good && row.meaning.is_empty())
}

fn render(about: &About, sections: &[Section]) -> Result<String, ReportError> {
    let style = look::STYLE;
    let script = concat!(
        include_str!("../templates/numbers.js"),
        include_str!("../templates/pictures.js"),
        include_str!("../templates/tables.js")
    );
    let policy = format!(
        "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; \
         form-action 'none'",
        hash(style),
        hash(script)
    );
    Ok(Page { about, sections, style, script, policy }.render()?)
}

/// The source of a content security policy that allows one text, and no other.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
