//! A sweep as people read it: what each key does to each figure, which settings go together, and what
//! has to be given up of one figure for more of another.

mod effects;
mod settings;
mod trade_offs;

use std::path::{Path, PathBuf};

use writecliff_suite::Good;

use crate::page::about::{About, RunPart, SubjectPart, Words};
use crate::page::error::ReportError;
use crate::page::{Format, write};
use crate::section::{Section, Table, View};

/// All rows of a sweep that have their figures, as columns.
#[derive(Debug, Clone)]
pub struct SweepTable {
    /// What was swept: `consistency of sim:tiny`.
    pub title: String,
    /// What the figures were got under, in a sentence.
    pub lead: String,
    /// How many points each column has.
    pub points: usize,
    /// What is to be doubted of each point, a sentence each.
    pub doubts: Vec<Vec<String>>,
    /// What differed from point to point.
    pub keys: Vec<SweepKey>,
    /// What came of it.
    pub figures: Vec<SweepFigure>,
    /// The points that failed, and why.
    pub failed: Vec<(u32, String)>,
    /// The plan, for somebody who wants to do it again, by key.
    pub plan: Vec<(String, String)>,
}

/// A key with its value at each point.
#[derive(Debug, Clone)]
pub struct SweepKey {
    /// As it stands in the plan.
    pub name: String,
    /// Its values.
    pub values: KeyValues,
}

/// Values that have an order and distances, or names.
#[derive(Debug, Clone)]
pub enum KeyValues {
    /// Numbers, with the unit that stands behind all of them, if one does.
    Numbers(Vec<f64>, String),
    /// Words.
    Names(Vec<String>),
}

/// A figure with its value at each point.
#[derive(Debug, Clone)]
pub struct SweepFigure {
    /// As gates call it.
    pub name: String,
    /// What stands behind the value.
    pub unit: String,
    /// Which way it gets better.
    pub good: Good,
    /// Whether more of it, or less, is a merit of its own.
    pub judged: bool,
    /// Its values; `None` where the point has none.
    pub values: Vec<Option<f64>>,
    /// Whether a doubt of the point is about it, for each of them.
    pub in_doubt: Vec<bool>,
}

/// Writes `out/index.html` and `out/pictures/` about a sweep, each file atomically, and returns the
/// page's path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
pub fn write_sweep_page(sweep: &SweepTable, out: &Path) -> Result<PathBuf, ReportError> {
    let subject = SubjectPart {
        name: sweep.title.clone(),
        marked: false,
        warnings: [failed(sweep), doubts(sweep)].concat(),
        findings: Vec::new(),
        runs: vec![RunPart { title: "The plan".to_owned(), details: sweep.plan.clone() }],
    };
    let about = About {
        bench: None,
        words: WORDS,
        kind: "sweep".to_owned(),
        title: sweep.title.clone(),
        lead: sweep.lead.clone(),
        headline: String::new(),
        tiles: Vec::new(),
        ranking: None,
        first: None,
        of_all: Vec::new(),
        subjects: vec![subject],
        specification: None,
    };
    Ok(write(&about, &sections(sweep), out, Format::Html)?.page)
}

/// More failures and doubts are in the table of rows.
const FAILED_TOLD: usize = 10;
const DOUBTS_TOLD: usize = 10;

/// How many points have no figures, and why the first of them.
fn failed(sweep: &SweepTable) -> Vec<String> {
    let (count, all) = (sweep.failed.len(), sweep.failed.len() + sweep.points);
    let told = sweep.failed.iter().take(FAILED_TOLD);
    let told = told.map(|(point, why)| format!("Point {point} failed: {why}"));
    let heading = match count {
        0 => None,
        1 => Some(format!("One of {all} points failed and has no figures.")),
        _ => Some(format!("{count} of {all} points failed and have no figures.")),
    };
    heading.into_iter().chain(told).collect()
}

/// Every kind of doubt once, with the number of points that it is about; those about the most first. Of
/// doubts that differ by their numbers the first is told.
fn doubts(sweep: &SweepTable) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<(usize, &str)>)> = Vec::new();
    for (point, doubts) in sweep.doubts.iter().enumerate() {
        for doubt in doubts {
            let kind = doubt.replace(|c: char| c.is_ascii_digit() || c == '.', "");
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, said)) => said.push((point, doubt)),
                None => kinds.push((kind, vec![(point, doubt)])),
            }
        }
    }
    let points = |said: &[(usize, &str)]| said.chunk_by(|a, b| a.0 == b.0).count();
    kinds.sort_by_key(|(_, said)| std::cmp::Reverse(points(said)));
    let told = kinds.iter().take(DOUBTS_TOLD).map(|(_, said)| {
        let of = match points(said) {
            all if all == sweep.points => "All points".to_owned(),
            some => format!("{some} of {} points", sweep.points),
        };
        let is_one = said.iter().all(|(_, doubt)| *doubt == said[0].1);
        format!("{of}{}: {}", if is_one { "" } else { ", the first of them" }, said[0].1)
    });
    let more = kinds.len().saturating_sub(DOUBTS_TOLD);
    let more = (more > 0).then(|| format!("{more} more kinds of doubts are in the table of rows."));
    told.chain(more).collect()
}

const WORDS: Words = Words {
    subjects: "Sweeps",
    findings: "Doubts",
    runs: "What was run",
    mark: "simulated",
    marked: "were simulated.",
    in_bench: false,
};

fn sections(sweep: &SweepTable) -> Vec<Section> {
    let section = |id, title, question: &str, views: Vec<View>, tables: Vec<Table>| Section {
        id,
        title,
        question: question.to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views,
        tables,
        listings: Vec::new(),
    };
    let all = [
        section(
            "effects",
            "What each key does",
            "How does each figure follow each key? Simulated drives. Over a number each dot is a point, and \
             the line runs through the means over all that else was varied, where as many points have the figure as elsewhere; over names a line goes from \
             the lowest point (the large dot) to the highest, with a stroke at the mean.",
            effects::views(sweep),
            Vec::new(),
        ),
        section(
            "trade-offs",
            "What is given up for what",
            "Which points are not beaten in both figures by any other? Of points in doubt none is, if any \
             are in none; and none where more of a figure is no merit of its own.",
            trade_offs::views(sweep),
            Vec::new(),
        ),
        section(
            "settings",
            "Which settings are best",
            "The best points, and means of settings that go together.",
            Vec::new(),
            settings::tables(sweep),
        ),
    ];
    all.into_iter().filter(|part| !part.views.is_empty() || !part.tables.is_empty()).collect()
}

impl SweepKey {
    /// The value at a point, in words.
    fn word(&self, point: usize) -> String {
        match &self.values {
            KeyValues::Numbers(values, unit) => format!("{}{unit}", values[point]),
            KeyValues::Names(names) => names[point].clone(),
        }
    }

    /// The different values, in order, each with its points.
    fn groups(&self) -> Vec<(String, Vec<usize>)> {
        let count = match &self.values {
            KeyValues::Numbers(values, _) => values.len(),
            KeyValues::Names(names) => names.len(),
        };
        let mut points: Vec<usize> = (0..count).collect();
        if let KeyValues::Numbers(values, _) = &self.values {
            points.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        }
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for point in points {
            let word = self.word(point);
            match groups.iter_mut().find(|group| group.0 == word) {
                Some(group) => group.1.push(point),
                None => groups.push((word, vec![point])),
            }
        }
        groups
    }
}

/// What stands below each picture: simulated, and how many of its points are in doubt by any of these figures.
fn conditions(figures: &[&SweepFigure]) -> String {
    let points = figures.iter().map(|figure| figure.values.len()).min().unwrap_or_default();
    let has_all = |at: &usize| figures.iter().all(|figure| figure.values[*at].is_some());
    let is_doubted = |at: &usize| figures.iter().any(|figure| figure.in_doubt[*at]);
    let shown: Vec<usize> = (0..points).filter(has_all).collect();
    match shown.iter().filter(|at| is_doubted(at)).count() {
        0 => "simulated".to_owned(),
        all if all == shown.len() => "simulated, all points in doubt".to_owned(),
        some => format!("simulated, {some} of {} points in doubt", shown.len()),
    }
}

impl SweepFigure {
    /// Its mean over these points; `None` if none of them has it.
    fn mean(&self, points: &[usize]) -> Option<f64> {
        let values: Vec<f64> = points.iter().filter_map(|point| self.values[*point]).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// With its unit, as an axis has it.
    fn quantity(&self) -> String {
        if self.unit.is_empty() {
            self.name.clone()
        } else {
            format!("{}, {}", self.name, self.unit)
        }
    }

    /// A value of it, in words.
    fn words(&self, value: f64) -> String {
        let number = crate::number::significant(value);
        if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
    }

    fn highest(&self) -> f64 {
        self.values.iter().flatten().copied().fold(0.0, f64::max)
    }
}
