//! A page as one self-contained HTML file.

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use writecliff_suite::Good;

use crate::look;
use crate::page::about::{About, SubjectPart};
use crate::page::error::ReportError;
use crate::picture::{Picture, inline, points_max};
use crate::section::{Cell, Place, RankedBy, Ranking, Row, Section, Table, View};

/// How high the axes' area of a picture is, in pixels: alone in its row, and beside others.
const HIGH: u32 = 320;

const LOW: u32 = 240;

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
        let of_subjects = self.about.subjects.iter().map(|subject| subject.warnings.len());
        let of_all = self.about.of_all.len() + of_subjects.sum::<usize>();
        let of_sections = self.sections.iter().map(|s| (s.id, s.title, s.doubts.len()));
        let all =
            std::iter::once(("verdict", self.about.words.findings, of_all)).chain(of_sections);
        all.filter(|(_, _, count)| *count > 0).collect()
    }

    /// Sections whose doubts stand at their figures alone: anchor, title.
    fn marked_alone(&self) -> Vec<(&str, &str)> {
        let is_marked =
            |table: &Table| table.rows.iter().flat_map(|row| &row.values).any(Cell::is_marked);
        let alone = self
            .sections
            .iter()
            .filter(|section| section.doubts.is_empty() && section.tables.iter().any(is_marked));
        alone.map(|section| (section.id, section.title)).collect()
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
        column.good == Some(Good::AtLeast)
    }

    /// Whether a view shows fewer points than there are.
    fn is_thinned(&self, view: &View) -> bool {
        let named = view.panels.iter().flat_map(|panel| panel.picture.named());
        let longest = named.map(|points| points.points.len()).max().unwrap_or(0);
        longest > points_max(view.panels.len(), view.more)
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

/// The whole file.
pub(super) fn render(about: &About, sections: &[Section]) -> Result<String, ReportError> {
    let style = look::STYLE;
    let script = concat!(
        include_str!("../../templates/numbers.js"),
        include_str!("../../templates/pictures.js"),
        include_str!("../../templates/tables.js")
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
