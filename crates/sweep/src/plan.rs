//! What the user writes.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff_device::with_nearest;

use crate::error::SweepError;
use crate::range::Range;

/// One test on many simulated drives. Keys are `drive` for the drive itself,
/// `drive.SECTION.KEY` for a key of its profile, `plan.KEY` for a key of the test's plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The drive, `sim:NAME` or `sim:PATH.toml`, unless the grid has several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub drive: String,
    /// The test.
    pub test: String,
    /// The figures that are wanted, by name; none for all that the test has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<String>,
    /// Every point is run with so many seeds, from 1 on.
    #[serde(default = "one")]
    pub seeds: u32,
    /// The plan cut down to seconds, for a first look.
    #[serde(default)]
    pub quick: bool,
    /// Keys of the test's plan that are the same at every point.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub plan: Map<String, Value>,
    /// Keys with the values that each takes in turn: every combination is a point.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grid: BTreeMap<String, Vec<Value>>,
    /// Points spread over ranges, at every one of the grid's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

/// A Latin hypercube: each range is cut into as many equal parts as there are points, and every part
/// has one of them (McKay, Beckman and Conover 1979).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// How many.
    pub points: u32,
    /// Decides where in its part each point lies, and which parts go together.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Keys with their ranges.
    pub over: BTreeMap<String, Range>,
}

fn one() -> u32 {
    1
}

fn first_seed() -> u64 {
    1
}

/// What one setting changes: keys and values.
pub(crate) type Setting = Vec<(String, Value)>;

impl Sweep {
    /// Reads a plan's file.
    ///
    /// # Errors
    /// [`SweepError::Unreadable`]; [`SweepError::Invalid`] with the line.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let unreadable = |source| SweepError::Unreadable { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text[..at].matches('\n').count() + 1;
            SweepError::Invalid {
                path: path.to_owned(),
                line,
                message: with_nearest(error.message()),
            }
        })
    }

    /// The keys that differ from point to point, in the order of the table's columns.
    pub fn varied(&self) -> Vec<String> {
        let sampled = self.sample.iter().flat_map(|sample| sample.over.keys());
        self.grid.keys().chain(sampled).cloned().collect()
    }
}

/// The drive's own key.
pub(crate) const DRIVE: &str = "drive";

pub(crate) fn impossible(key: &str, reason: String) -> SweepError {
    SweepError::Impossible { key: key.to_owned(), reason }
}
