//! A row of a sweep: a point and what came of it.

use serde::{Deserialize, Serialize};
use writecliff::Error;
use writecliff::device::did_you_mean;
use writecliff::suite::{Figure, Good};

use crate::point::Point;

/// What came of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The point.
    #[serde(flatten)]
    pub point: Point,
    /// The hash of the drive's profile; `None` if there is no such drive.
    pub profile_sha256: Option<String>,
    /// The figures that were wanted; empty if it failed.
    pub figures: Vec<RowFigure>,
    /// What is to be doubted of them, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// What a point's run came to.
#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) figures: Vec<RowFigure>,
    pub(crate) doubts: Vec<String>,
}

/// A figure, by the name that gates and reports call it by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowFigure {
    /// Its name.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// As it is written behind the value.
    pub unit: String,
    /// Which way it gets better.
    pub good: Good,
}

impl From<Figure> for RowFigure {
    fn from(figure: Figure) -> Self {
        let Figure { name, value, unit, good, .. } = figure;
        Self { name, value, unit: unit.symbol().to_owned(), good }
    }
}

/// What the error of a point begins with that ran and has not all that was wanted.
const LACKS: &str = "the test has no figure";

impl Row {
    pub(crate) fn of(
        point: &Point,
        hash: String,
        Came { mut figures, doubts }: Came,
        wanted: &[String],
    ) -> Self {
        let missing = wanted.iter().find(|name| figures.iter().all(|f| f.name != **name));
        let error = missing.map(|name| {
            let meant = did_you_mean(name, figures.iter().map(|figure| figure.name.as_str()));
            format!("{LACKS} '{name}' here{meant}")
        });
        let place = |figure: &RowFigure| wanted.iter().position(|name| *name == figure.name);
        figures.retain(|figure| wanted.is_empty() || place(figure).is_some());
        figures.sort_by_key(|figure| place(figure));
        Self { point: point.clone(), profile_sha256: Some(hash), figures, doubts, error }
    }

    pub(crate) fn failed(point: &Point, hash: Option<String>, error: &Error) -> Self {
        let (point, error) = (point.clone(), Some(error.to_string()));
        let (figures, doubts) = (Vec::new(), Vec::new());
        Self { point, profile_sha256: hash, figures, doubts, error }
    }

    /// The first of the `wanted` figures that it lacks although it ran.
    pub(crate) fn lacks<'a>(&self, wanted: &'a [String]) -> Option<&'a str> {
        let error = self.error.as_ref().filter(|error| error.starts_with(LACKS));
        let missing = wanted.iter().find(|name| self.figure(name).is_none());
        error.and(missing).map(String::as_str)
    }

    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}
