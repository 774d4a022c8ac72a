//! A page over any number of drives or traces, as one self-contained HTML file or as Markdown, and its
//! pictures as files beside it.

pub(crate) mod about;
pub(crate) mod error;
mod html;
mod markdown;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use writecliff_output::{check_directory, write_text};

use self::about::About;
use self::error::ReportError;
use self::html::render;
use self::markdown::{MARKDOWN_MARK, markdown};
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page, or the text instead of it.
    pub page: PathBuf,
    /// Its pictures, as SVG; the CSV of each is beside it.
    pub pictures: Vec<PathBuf>,
}

/// Writes `out/index.html` or `out/report.md`, and `out/pictures/`, each file atomically.
pub(crate) fn write(
    about: &About,
    sections: &[Section],
    out: &Path,
    format: Format,
) -> Result<Written, ReportError> {
    check_directory(out)?;
    check_place(out)?;
    let (name, text) = match format {
        Format::Html => (PAGE, render(about, sections)?),
        Format::Markdown => (MARKDOWN, markdown(about, sections)),
    };
    let folder = out.join(PICTURES);
    fs::create_dir_all(&folder)
        .map_err(|source| ReportError::Write { path: folder.clone(), source })?;
    let mut pictures = Vec::new();
    for Panel { picture, .. } in panels(about, sections) {
        let path = folder.join(format!("{}.svg", picture.id));
        write_text(&path, &svg(picture))?;
        write_text(&path.with_extension("csv"), &csv(picture))?;
        pictures.push(path);
    }
    let page = out.join(name);
    write_text(&page, &text)?;
    Ok(Written { page, pictures })
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
