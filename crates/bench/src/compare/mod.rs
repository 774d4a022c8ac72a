//! Two drives, or two runs, figure by figure. Held against each other is only what was got under the
//! same conditions; what was not is named, with what differs.

mod text;
mod told_apart;

use serde::Serialize;
use writecliff::suite::Good;

use crate::error::BenchError;
use crate::model::{Bench, Conditions, Kind, Value};
use crate::select::Chosen;

pub(crate) use text::spread;
pub use told_apart::{Better, Undecided};
use told_apart::{Standing, standing};

/// Two sides, and everything that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// One.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// By test, then by conditions.
    pub rows: Vec<Row>,
    /// What cannot be held against each other, and why.
    pub apart: Vec<Apart>,
}

/// What is compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Of the drive.
    pub drive: String,
    /// What it is called.
    pub name: String,
    /// The runs, if those were named.
    pub runs: Vec<String>,
    /// Why its figures in the rows are to be doubted, each with its test.
    pub doubts: Vec<String>,
}

/// A figure that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Of the metric.
    pub metric: String,
    /// The test.
    pub test: String,
    /// The figure.
    pub name: String,
    /// What stands behind the numbers.
    pub unit: String,
    /// Which way it gets better.
    pub good: Good,
    /// What both were got under.
    pub kind: Kind,
    /// The same in words.
    pub conditions: String,
    /// Of one.
    pub a: Number,
    /// Of the other.
    pub b: Number,
    /// Who is better, if that can be told.
    pub better: Option<Better>,
    /// Why it cannot.
    pub undecided: Option<Undecided>,
    /// The greater over the smaller; none if that is no number.
    pub ratio: Option<f64>,
}

/// A figure of one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number {
    /// The middle one of its runs.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// How many runs, or printed figures.
    pub of: usize,
    /// Whether any of them is doubted.
    pub doubted: bool,
}

/// A test whose figures say nothing beside each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Apart {
    /// The test.
    pub test: String,
    /// What differs.
    pub why: String,
}

impl Comparison {
    /// Holds two against each other. Quick and unfinished runs of a drive are left out; a run that
    /// was named is not.
    ///
    /// # Errors
    /// [`BenchError::NothingInCommon`] with what differs.
    pub fn of(bench: &Bench, a: &Chosen, b: &Chosen) -> Result<Self, BenchError> {
        let (first, second) = (bench.values_of(a), bench.values_of(b));
        let rows: Vec<Row> = first
            .iter()
            .filter_map(|one| {
                let is_same = |other: &&Value| {
                    other.conditions == one.conditions && other.metric == one.metric
                };
                let other = second.iter().find(is_same)?;
                Some(bench.row(one, other))
            })
            .collect();
        let apart = bench.apart(&first, &second);
        let is_shown = |values: &[Value], value: &Value| {
            let is_same = |other: &Value| {
                other.conditions == value.conditions && other.metric == value.metric
            };
            values.iter().any(is_same)
        };
        let of_rows = |own: &[Value], others: &[Value]| {
            let shown = own.iter().filter(|value| is_shown(others, value));
            bench.doubts_of(shown)
        };
        let a = bench.side(a, of_rows(&first, &second));
        let b = bench.side(b, of_rows(&second, &first));
        if rows.is_empty() {
            let why = apart.iter().map(|apart| format!("{}: {}", apart.test, apart.why));
            let why = why.collect::<Vec<_>>().join("; ");
            let why = if why.is_empty() { "one has no results".to_owned() } else { why };
            return Err(BenchError::NothingInCommon { a: a.name, b: b.name, why });
        }
        Ok(Self { a, b, rows, apart })
    }
}

impl Kind {
    /// As it stands beside a figure.
    pub fn word(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Measured => "measured",
            Self::Published => "published",
        }
    }
}

impl Conditions {
    /// What differs from others, for a person; empty if nothing does.
    pub fn differences(&self, other: &Self) -> String {
        let mut all = Vec::new();
        if self.kind != other.kind {
            all.push(format!("{} against {}", self.kind.word(), other.kind.word()));
        }
        let mut keys: Vec<&String> = self.parts.keys().chain(other.parts.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let (one, two) = (self.parts.get(key), other.parts.get(key));
            // That one is a model and the other none is said already.
            if self.kind != other.kind && one.is_some() != two.is_some() {
                continue;
            }
            match (one, two) {
                (Some(one), Some(two)) if one != two => {
                    all.push(format!("{key} {one} against {two}"));
                }
                (Some(one), None) => all.push(format!("{key} {one} of the first alone")),
                (None, Some(two)) => all.push(format!("{key} {two} of the other alone")),
                _ => {}
            }
        }
        all.join(", ")
    }
}

impl Bench {
    /// What a side has: of a drive all that may be ranked, of a run what it gave. Where a drive has
    /// results of several variants under the same conditions, the last in order stands.
    fn values_of(&self, chosen: &Chosen) -> Vec<Value> {
        match *chosen {
            Chosen::Drive(drive) => {
                let is_ranked = |value: &&Value| {
                    let conditions = &self.conditions[value.conditions];
                    value.drive == drive && !conditions.quick && !conditions.unfinished
                };
                self.in_order(self.values.iter().filter(is_ranked).cloned().collect())
            }
            Chosen::Runs(ref places) => self.in_order(self.values_of_runs(places)),
        }
    }

    /// By test, conditions and the order of figures.
    fn in_order(&self, mut values: Vec<Value>) -> Vec<Value> {
        values.sort_by_key(|value| (value.conditions, value.metric));
        values.dedup_by(|later, kept| {
            let is_same = later.conditions == kept.conditions && later.metric == kept.metric;
            // Today's model and the newest firmware come last or have no variant.
            if is_same && (later.variant.is_none() || kept.variant.is_some()) {
                std::mem::swap(later, kept);
            }
            is_same
        });
        values
    }

    fn row(&self, one: &Value, other: &Value) -> Row {
        let metric = &self.metrics[one.metric];
        let conditions = &self.conditions[one.conditions];
        let standing = match metric.judged {
            true => standing(metric.good, one, other),
            false => Standing::Undecided(Undecided::NotJudged),
        };
        let (better, undecided) = match standing {
            Standing::Better(better) => (Some(better), None),
            Standing::Undecided(undecided) => (None, Some(undecided)),
        };
        let (a, b) = (one.median, other.median);
        let ratio = a.max(b) / a.min(b);
        Row {
            metric: metric.id.clone(),
            test: metric.test.clone(),
            name: metric.name.clone(),
            unit: metric.unit.clone(),
            good: metric.good,
            kind: conditions.kind,
            conditions: conditions.words.clone(),
            a: Number::of(one),
            b: Number::of(other),
            better,
            undecided,
            ratio: Some(ratio).filter(|_| a.min(b) > 0.0),
        }
    }

    /// Tests that both have results of, but none under the same conditions; and those of one only.
    fn apart(&self, first: &[Value], second: &[Value]) -> Vec<Apart> {
        let conditions = |values: &[Value]| {
            let mut all: Vec<usize> = values.iter().map(|value| value.conditions).collect();
            all.sort_by_key(|place| (!self.conditions[*place].standard, *place));
            all.dedup();
            all
        };
        let (first, second) = (conditions(first), conditions(second));
        let mut tests: Vec<&str> = first
            .iter()
            .chain(&second)
            .map(|place| self.conditions[*place].test.as_str())
            .collect();
        tests.sort_unstable();
        tests.dedup();
        let of = |places: &[usize], test: &str| -> Vec<usize> {
            places.iter().copied().filter(|place| self.conditions[*place].test == test).collect()
        };
        let apart = |test: &str| {
            let (one, two) = (of(&first, test), of(&second, test));
            let why = match (one.first(), two.first()) {
                (Some(_), Some(_)) if one.iter().any(|place| two.contains(place)) => return None,
                (Some(one), Some(two)) => self.conditions[*one].differences(&self.conditions[*two]),
                (Some(_), None) => "only A has it".to_owned(),
                _ => "only B has it".to_owned(),
            };
            Some(Apart { test: test.to_owned(), why })
        };
        tests.into_iter().filter_map(apart).collect()
    }

    fn side(&self, chosen: &Chosen, doubts: Vec<String>) -> Side {
        match chosen {
            Chosen::Drive(place) => {
                let drive = &self.drives[*place];
                let (drive, name) = (drive.id.clone(), drive.name.clone());
                Side { drive, name, runs: Vec::new(), doubts }
            }
            Chosen::Runs(places) => self.side_of_runs(places, doubts),
        }
    }

    fn side_of_runs(&self, places: &[usize], doubts: Vec<String>) -> Side {
        let first = &self.runs[places[0]];
        let drive = &self.drives[first.drive];
        let label = first.label.as_ref().map_or_else(String::new, |label| format!(" ({label})"));
        Side {
            drive: drive.id.clone(),
            name: format!("{}{label}", drive.name),
            runs: places.iter().map(|place| self.runs[*place].id.clone()).collect(),
            doubts,
        }
    }

    /// Why these values are to be doubted, each doubt once, with its test.
    fn doubts_of<'a>(&self, values: impl Iterator<Item = &'a Value>) -> Vec<String> {
        let of_runs = values.filter(|value| !self.is_published(value.conditions));
        let mut places: Vec<usize> = of_runs.flat_map(|value| value.of.iter().copied()).collect();
        places.sort_unstable();
        places.dedup();
        let mut doubts: Vec<String> = Vec::new();
        for run in places.into_iter().map(|place| &self.runs[place]) {
            let test = &self.conditions[run.conditions].test;
            doubts.extend(run.doubts.iter().map(|doubt| format!("{test}: {doubt}")));
        }
        doubts.sort();
        doubts.dedup();
        doubts
    }
}

impl Number {
    fn of(value: &Value) -> Self {
        let Value { median, lowest, highest, of, doubted, .. } = value;
        let (median, lowest, highest) = (*median, *lowest, *highest);
        Self { median, lowest, highest, of: of.len(), doubted: *doubted }
    }
}
