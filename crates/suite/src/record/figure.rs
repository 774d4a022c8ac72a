//! The results of tests as numbers: the one list that gates, tables and indexes of results read.

use serde::{Deserialize, Serialize};

use crate::record::unit::Unit;

/// One result of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is. Names are unique within a run and stay the same from version to version, so that
    /// figures of different runs can be held against each other: `steady floor at 25 % spare`.
    pub name: String,
    /// The series or the setting that it is about, if the test has several: `25 % spare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The number, in `unit`.
    pub value: f64,
    /// What it counts.
    pub unit: Unit,
    /// Which way it gets better.
    pub good: Good,
    /// Whether a gate holds a run to it. The others follow from those that are judged, or vary too
    /// much from run to run.
    pub judged: bool,
    /// When the drive gave it.
    #[serde(skip)]
    pub stage: Stage,
}

/// What had been written to the drive when it gave a figure, as far as doubts tell figures apart by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// The fill of a drive that was erased.
    Fill,
    /// The first random writes after it, and where they end.
    Fresh,
    /// What came later, or several of these.
    #[default]
    Later,
}

/// So far, in percent of the greater one, two figures lie apart before one is the better one, where nobody
/// knows how far runs of either do, because there is one of each.
const APART_OF_ONE_RUN: f64 = 5.0;

/// Whether two figures, each of a single run, are told apart.
pub fn are_apart(one: f64, other: f64) -> bool {
    (one - other).abs() > one.abs().max(other.abs()) * APART_OF_ONE_RUN / 100.0
}

/// Which way a figure gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Good {
    /// More is better.
    AtLeast,
    /// Less is better.
    AtMost,
}

impl Figure {
    /// One that a gate holds runs to.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: Unit, good: Good) -> Self {
        Self {
            name: name.into(),
            of: None,
            value,
            unit,
            good,
            judged: true,
            stage: Stage::default(),
        }
    }

    /// A rate in MB/s (10^6).
    pub(crate) fn rate(name: impl Into<String>, megabytes_per_second: f64) -> Self {
        Self::new(name, megabytes_per_second, Unit::MegabytesPerSecond, Good::AtLeast)
    }

    /// A rate in I/Os per second.
    pub(crate) fn iops(name: impl Into<String>, iops: f64) -> Self {
        Self::new(name, iops, Unit::Iops, Good::AtLeast)
    }

    /// A time that should be short, in nanoseconds.
    pub(crate) fn latency(name: impl Into<String>, nanos: u64) -> Self {
        Self::new(name, millis(nanos), Unit::Milliseconds, Good::AtMost)
    }

    /// A percentile of such times, if there were I/Os enough for one.
    pub(crate) fn percentile(name: impl Into<String>, nanos: Option<u64>) -> Option<Self> {
        Some(Self::latency(name, nanos?))
    }

    /// The same of one series or setting of several.
    #[must_use]
    pub(crate) fn of(self, of: impl Into<String>) -> Self {
        Self { of: Some(of.into()), ..self }
    }

    /// The same, which no gate looks at.
    #[must_use]
    pub(crate) fn unjudged(self) -> Self {
        Self { judged: false, ..self }
    }
}

/// What a test calls one figure of its outcomes, and where it is found in one.
#[derive(Debug)]
pub struct FigureOf<T: 'static> {
    /// [`Figure::name`].
    pub name: &'static str,
    /// What a table calls it.
    pub label: &'static str,
    /// What it means, in words that follow the label.
    pub meaning: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Which way it gets better.
    pub good: Good,
    /// Whether a gate holds a run to it.
    pub judged: bool,
    /// When the drive gave it.
    pub stage: Stage,
    /// The number; `None` if the run or the drive does not tell.
    pub value: fn(&T) -> Option<f64>,
}

impl<T> FigureOf<T> {
    /// One that gets better upwards, and is judged.
    pub(crate) const fn more(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        value: fn(&T) -> Option<f64>,
    ) -> Self {
        let (good, stage) = (Good::AtLeast, Stage::Later);
        Self { name, label, meaning: "", unit, good, judged: true, stage, value }
    }

    /// One that gets better downwards, and is judged.
    pub(crate) const fn less(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        value: fn(&T) -> Option<f64>,
    ) -> Self {
        let (good, stage) = (Good::AtMost, Stage::Later);
        Self { name, label, meaning: "", unit, good, judged: true, stage, value }
    }

    /// The same with words that say what it means.
    #[must_use]
    pub(crate) const fn means(mut self, meaning: &'static str) -> Self {
        self.meaning = meaning;
        self
    }

    /// The same, which no gate looks at.
    #[must_use]
    pub(crate) const fn unjudged(mut self) -> Self {
        self.judged = false;
        self
    }

    /// The same, which the drive gave at this stage.
    #[must_use]
    pub(crate) const fn given(mut self, stage: Stage) -> Self {
        self.stage = stage;
        self
    }

    /// The figure of this outcome, if it has one.
    pub(crate) fn find(&self, outcome: &T) -> Option<Figure> {
        let Self { name, unit, good, judged, stage, .. } = *self;
        let value = (self.value)(outcome)?;
        Some(Figure { name: name.to_owned(), of: None, value, unit, good, judged, stage })
    }
}

/// All figures that an outcome has.
pub(crate) fn figures_of<T>(list: &[FigureOf<T>], outcome: &T) -> Vec<Figure> {
    list.iter().filter_map(|figure| figure.find(outcome)).collect()
}

/// What all figures of a list are called.
pub(crate) fn names_of<T>(list: &[FigureOf<T>]) -> Vec<String> {
    list.iter().map(|figure| figure.name.to_owned()).collect()
}

/// A time of so many nanoseconds, as a figure in milliseconds has it.
pub(crate) fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}
