//! A row of a sweep: a point and what came of it.

use serde::{Deserialize, Serialize};
use writecliff::Error;
use writecliff::device::did_you_mean;
use writecliff::suite::{Figure, Good, RunRecord};

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
    /// Whether it follows from others, or more of it is no merit: [`Figure::judged`] is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unjudged: bool,
    /// Whether the row's doubts, if it has any, are about others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undoubted: bool,
}

impl RowFigure {
    pub(crate) fn of(figure: &Figure, record: &RunRecord) -> Self {
        let Figure { name, value, unit, good, judged, .. } = figure;
        let is_doubted = record.is_in_doubt(figure.stage, figure.of.as_deref());
        let undoubted = !record.warnings.is_empty() && !is_doubted;
        Self {
            name: name.clone(),
            value: *value,
            unit: unit.symbol().to_owned(),
            good: *good,
            unjudged: !judged,
            undoubted,
        }
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
        self.named(name).map(|figure| figure.value)
    }

    /// Whether the figure of this name is in doubt.
    pub fn is_doubted(&self, name: &str) -> bool {
        !self.doubts.is_empty() && self.named(name).is_some_and(|figure| !figure.undoubted)
    }

    fn named(&self, name: &str) -> Option<&RowFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_earlier_version_is_doubted_whole() {
        let row = |figure: &str| {
            let row = format!(
                r#"{{"point":1,"drive":"sim:tiny","profile":{{}},"test":"consistency","plan":{{}},"quick":false,"seed":1,"profile_sha256":null,"error":null,
                "doubts":["It fell at once."],"figures":[{{"name":"fresh","value":1.0,"unit":"IOPS","good":"at-least"{figure}}}]}}"#
            );
            serde_json::from_str::<Row>(&row).unwrap()
        };
        assert!(row("").is_doubted("fresh"));
        assert!(!row(r#","undoubted":true"#).is_doubted("fresh"));
        assert!(!row("").is_doubted("steady mean"), "it has none");
    }
}
