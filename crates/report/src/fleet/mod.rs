//! A fleet as people read it: the tail of its requests, minute by minute, which drives make it, and
//! what it costs. Variants of a fleet stand side by side as drives do elsewhere.

mod pictures;
mod tables;

use std::path::{Path, PathBuf};

use writecliff_suite::Good;

use crate::number;
use crate::page::about::{About, RunPart, SubjectPart, Words};
use crate::page::error::ReportError;
use crate::page::{Format, write};
use crate::picture::significant;
use crate::section::{Cell, RankedBy, Ranking, Section, Table, Tile, View};
use crate::summary::{table_text, wrapped};

/// One or several variants of a fleet.
#[derive(Debug, Clone)]
pub struct FleetPage {
    /// What it is called.
    pub title: String,
    /// What is asked of it, in a sentence.
    pub lead: String,
    /// What it comes to, in a sentence; empty where that cannot be said.
    pub headline: String,
    /// Late is what takes longer, in nanoseconds; `None` if that is not the same for all variants.
    pub limit_ns: Option<u64>,
    /// Side by side.
    pub variants: Vec<FleetPart>,
}

/// One variant.
#[derive(Debug, Clone)]
pub struct FleetPart {
    /// What it is called.
    pub name: String,
    /// What makes its figures doubtful.
    pub doubts: Vec<FleetDoubt>,
    /// What came of it, as far as it is known.
    pub figures: Vec<FleetFigure>,
    /// Response times in nanoseconds, each with the share of requests that took longer, in percent.
    pub longer: Vec<(f64, f64)>,
    /// Minutes, from 1, each with the 99.9th percentile of its requests in nanoseconds.
    pub minutes: Vec<(f64, f64)>,
    /// Shares of the drives, those that most late requests waited for first, each with the share of
    /// late requests that waited for them, in percent.
    pub blame: Vec<(f64, f64)>,
    /// Its drives by kind.
    pub kinds: Vec<FleetKind>,
    /// The drives that most late requests waited for.
    pub slowest: Vec<FleetDrive>,
    /// The plan, for somebody who wants to do it again, by key.
    pub plan: Vec<(String, String)>,
}

/// Why figures of a variant are worth less than they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetDoubt {
    /// In a sentence.
    pub text: String,
    /// Whether it is about response times and what follows from them, and about nothing else.
    pub of_times: bool,
}

/// One result.
#[derive(Debug, Clone)]
pub struct FleetFigure {
    /// What it is.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// What stands behind the value; before it if it is `$`.
    pub unit: String,
    /// Which way it gets better; `None` if no variant's is better than another's.
    pub good: Option<Good>,
    /// What it means.
    pub meaning: &'static str,
    /// Whether it is a response time or follows from these.
    pub of_times: bool,
}

/// All drives of a kind.
#[derive(Debug, Clone)]
pub struct FleetKind {
    /// What they are.
    pub drive: String,
    /// How many.
    pub drives: u64,
    /// The share of all requests that waited for one of them last, in percent.
    pub waited_percent: f64,
    /// Of the late ones.
    pub late_percent: f64,
    /// NAND bytes for each byte of the service's, if they tell.
    pub write_amplification: Option<f64>,
    /// Until their rated writes are used up at this load, if these were published.
    pub years: Option<f64>,
    /// What all of them cost in a year, if a price was published.
    pub dollars_a_year: Option<f64>,
}

/// One drive.
#[derive(Debug, Clone)]
pub struct FleetDrive {
    /// Where it is: `group 3, drive 1`.
    pub place: String,
    /// What it is.
    pub drive: String,
    /// How much of it held data, in percent.
    pub full_percent: f64,
    /// How often these had been overwritten.
    pub overwrites: f64,
    /// Late requests that waited for it last.
    pub late: u64,
    /// Their share of all late ones, in percent.
    pub late_percent: f64,
}

/// Writes `out/index.html` and `out/pictures/` about a fleet, each file atomically, and returns the
/// page's path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
pub fn write_fleet_page(fleet: &FleetPage, out: &Path) -> Result<PathBuf, ReportError> {
    let doubts = doubts(fleet);
    let (common, others): (Vec<_>, Vec<_>) =
        doubts.into_iter().partition(|(_, variants)| of_all(fleet, variants));
    let told = |part: &FleetPart| {
        let of_part = |(_, variants): &&(&str, Vec<&str>)| variants.contains(&&*part.name);
        others.iter().filter(of_part).map(|(doubt, _)| (*doubt).to_owned()).collect()
    };
    let subject = |part: &FleetPart| SubjectPart {
        name: part.name.clone(),
        marked: true,
        warnings: told(part),
        findings: Vec::new(),
        runs: vec![RunPart { title: "The plan".to_owned(), details: part.plan.clone() }],
    };
    let about = About {
        bench: None,
        words: WORDS,
        kind: "fleet".to_owned(),
        title: fleet.title.clone(),
        lead: fleet.lead.clone(),
        headline: fleet.headline.clone(),
        tiles: tiles(fleet),
        ranking: ranking(fleet),
        first: None,
        of_all: common.iter().map(|(doubt, _)| (*doubt).to_owned()).collect(),
        subjects: fleet.variants.iter().map(subject).collect(),
        specification: None,
    };
    Ok(write(&about, &sections(fleet), out, Format::Html)?.page)
}

/// Doubts, and the figures with a column for each variant. Plain text.
pub fn fleet_summary(fleet: &FleetPage) -> String {
    let mut text = wrapped("", &fleet.headline);
    for (doubt, variants) in doubts(fleet) {
        let of = match &variants[..] {
            all if of_all(fleet, all) => "all variants: ".to_owned(),
            [""] => String::new(),
            some => format!("{}: ", some.join(", ")),
        };
        text += &wrapped("  ! ", &format!("{of}{doubt}"));
    }
    text + "\n" + &table_text(&tables::figures(fleet))
}

/// Whether these are all variants, of several.
fn of_all(fleet: &FleetPage, variants: &[&str]) -> bool {
    variants.len() > 1 && variants.len() == fleet.variants.len()
}

/// Each doubt once, with the names of the variants that it is about.
fn doubts(fleet: &FleetPage) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in &fleet.variants {
        for doubt in &part.doubts {
            match all.iter_mut().find(|(known, _)| *known == doubt.text) {
                Some((_, variants)) => variants.push(&part.name),
                None => all.push((&doubt.text, vec![&part.name])),
            }
        }
    }
    all
}

const WORDS: Words = Words {
    subjects: "Variants",
    findings: "Doubts",
    runs: "What was run",
    mark: "simulated",
    marked: "were simulated.",
    in_bench: false,
};

/// So many figures stand at the top.
const SHOWN: usize = 6;

fn tiles(fleet: &FleetPage) -> Vec<Tile> {
    let [part] = &fleet.variants[..] else { return Vec::new() };
    let tile = |figure: &FleetFigure| Tile {
        name: figure.name.clone(),
        value: figure.words(),
        note: match (figure.meaning, part.is_in_doubt(figure)) {
            (meaning, false) => meaning.to_owned(),
            ("", true) => "in doubt".to_owned(),
            (meaning, true) => format!("{meaning}, in doubt"),
        },
        see: String::new(),
    };
    part.figures.iter().take(SHOWN).map(tile).collect()
}

fn ranking(fleet: &FleetPage) -> Option<Ranking> {
    if fleet.variants.len() < 2 {
        return None;
    }
    let shown: Vec<&FleetFigure> = fleet.figures().into_iter().take(SHOWN).collect();
    let column = |figure: &&FleetFigure| {
        let FleetFigure { name, unit, good, meaning, .. } = (*figure).clone();
        RankedBy { name, unit, meaning: meaning.to_owned(), good }
    };
    let cells = |part: &FleetPart| {
        let cell = |figure: &&FleetFigure| {
            part.cell(&figure.name, |figure| plain(figure.value))
                .unwrap_or_else(|| String::new().into())
        };
        shown.iter().map(cell).collect()
    };
    let rows = fleet.variants.iter().map(cells).collect();
    Some(Ranking::new(shown.iter().map(column).collect(), rows))
}

fn sections(fleet: &FleetPage) -> Vec<Section> {
    let section = |id, title, question: String, views: Vec<View>, tables: Vec<Table>| Section {
        id,
        title,
        question,
        doubts: Vec::new(),
        settings: Vec::new(),
        views,
        tables,
        listings: Vec::new(),
    };
    let late = match fleet.limit_ns {
        Some(limit) => format!("requests above {}", number::latency(limit)),
        None => "late requests".to_owned(),
    };
    let all = [
        section(
            "requests",
            "Response times",
            "How long do requests take, from when they are due?".to_owned(),
            pictures::responses(fleet),
            vec![tables::figures(fleet)],
        ),
        section(
            "drives",
            "Which drives",
            format!(
                "Whose are the {late}? A request counts for the drive whose answer it \
                 waited for last; one for which further drives were asked, for a drive that was asked at \
                 first and had not answered."
            ),
            pictures::blame(fleet),
            tables::drives(fleet),
        ),
        section(
            "cost",
            "Cost",
            "What is paid for fewer late requests?".to_owned(),
            pictures::cost(fleet),
            Vec::new(),
        ),
    ];
    all.into_iter().filter(|part| !part.views.is_empty() || !part.tables.is_empty()).collect()
}

impl FleetPage {
    /// One figure of each name, in the order in which they first occur.
    fn figures(&self) -> Vec<&FleetFigure> {
        let mut all: Vec<&FleetFigure> = Vec::new();
        for figure in self.variants.iter().flat_map(|part| &part.figures) {
            if all.iter().all(|known| known.name != figure.name) {
                all.push(figure);
            }
        }
        all
    }
}

impl FleetPart {
    /// Its figure of this name, with whether a doubt is about it; `None` if it has none.
    fn cell(&self, name: &str, words: impl Fn(&FleetFigure) -> String) -> Option<Cell> {
        let figure = self.figures.iter().find(|figure| figure.name == name)?;
        let in_doubt = self.is_in_doubt(figure);
        Some(Cell { in_doubt, ..Cell::new(words(figure), Some(figure.value)) })
    }

    fn is_in_doubt(&self, figure: &FleetFigure) -> bool {
        self.doubts.iter().any(|doubt| figure.of_times || !doubt.of_times)
    }

    fn figure(&self, name: &str) -> Option<&FleetFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

impl FleetFigure {
    fn words(&self) -> String {
        match &*self.unit {
            "" => plain(self.value),
            "$" => format!("${}", plain(self.value)),
            "ms" => number::latency((self.value * 1e6).round() as u64),
            unit => format!("{} {unit}", plain(self.value)),
        }
    }
}

/// Three significant digits, of shares that are tiny two.
fn plain(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        0.0..0.1 => significant(value, 2),
        _ => number::significant(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_at_the_top_has_the_doubt_that_its_table_has() {
        let figure = |name: &str, of_times: bool, meaning: &'static str| FleetFigure {
            name: name.to_owned(),
            value: 1.5,
            unit: "ms".to_owned(),
            good: None,
            meaning,
            of_times,
        };
        let part = FleetPart {
            name: String::new(),
            doubts: vec![FleetDoubt { text: "Scale models.".to_owned(), of_times: true }],
            figures: vec![
                figure("a", true, ""),
                figure("b", true, "meant"),
                figure("c", false, "meant"),
            ],
            longer: Vec::new(),
            minutes: Vec::new(),
            blame: Vec::new(),
            kinds: Vec::new(),
            slowest: Vec::new(),
            plan: Vec::new(),
        };
        let fleet = FleetPage {
            title: String::new(),
            lead: String::new(),
            headline: String::new(),
            limit_ns: None,
            variants: vec![part],
        };
        let notes: Vec<String> = tiles(&fleet).into_iter().map(|tile| tile.note).collect();
        assert_eq!(notes, ["in doubt", "meant, in doubt", "meant"]);
    }
}
