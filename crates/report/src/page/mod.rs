//! A page over any number of drives or traces, as one self-contained HTML file or as Markdown, and its
//! pictures as files beside it.

pub(crate) mod about;
pub(crate) mod error;
mod html;
mod markdown;
mod png;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use writecliff_output::{check_directory, write_bytes, write_text};

use self::about::About;
use self::error::ReportError;
use self::html::render;
use self::markdown::{MARKDOWN_MARK, markdown};
use self::png::Painter;
use crate::picture::{csv, svg};
use crate::section::{Panel, Section};

/// The page's file.
pub const PAGE: &str = "index.html";
/// The same as text.
const MARKDOWN: &str = "report.md";
/// Where the pictures' files are, beside the page.
const PICTURES: &str = "pictures";
/// How the titles of our pages end, and how far into the file at most.
const MARK: &[u8] = "– Writecliff</title>".as_bytes();
const MARK_WITHIN: u64 = 1 << 16;

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
