//! What the user writes, and the points that it makes.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff_device::with_nearest;

use crate::point::Point;
use crate::range::Range;
use crate::sample::latin_hypercube;
use crate::{SweepError, sample};

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

/// More points than that are a mistake in the plan.
const POINTS_MAX: usize = 1_000_000;

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

    /// Every point, in the order of their numbers: the same ones on every machine.
    ///
    /// # Errors
    /// [`SweepError::Impossible`] with the key to mend.
    pub fn points(&self) -> Result<Vec<Point>, SweepError> {
        self.check()?;
        let grid = combinations(&self.grid);
        let samples = self.sample.as_ref().map_or_else(|| vec![Setting::new()], latin_hypercube);
        let count = grid.len() * samples.len() * self.seeds as usize;
        if count > POINTS_MAX {
            let reason = format!("it makes {count} points, more than {POINTS_MAX}");
            return Err(impossible("grid", reason));
        }
        let seeds = 1..=u64::from(self.seeds);
        let settings = grid.iter().flat_map(|grid| samples.iter().map(move |own| (grid, own)));
        let all = settings.flat_map(|(grid, own)| seeds.clone().map(move |seed| (grid, own, seed)));
        let point = |(index, (grid, own, seed)): (usize, (&Setting, &Setting, u64))| {
            Point::new(self, index, grid.iter().chain(own), seed)
        };
        Ok(all.enumerate().map(point).collect())
    }

    /// The keys that differ from point to point, in the order of the table's columns.
    pub fn varied(&self) -> Vec<String> {
        let sampled = self.sample.iter().flat_map(|sample| sample.over.keys());
        self.grid.keys().chain(sampled).cloned().collect()
    }

    fn check(&self) -> Result<(), SweepError> {
        let has_drives = self.grid.contains_key(DRIVE);
        if self.drive.is_empty() != has_drives {
            let reason = "name one, as drive = \"sim:NAME\", or several, as \"drive\" in [grid]";
            return Err(impossible(DRIVE, reason.to_owned()));
        }
        let own = (!has_drives).then(|| Value::from(self.drive.as_str()));
        let drives = self.grid.get(DRIVE).into_iter().flatten().chain(&own);
        let is_real = |drive: &&Value| !drive.as_str().is_some_and(|name| name.starts_with("sim:"));
        if let Some(drive) = { drives }.find(is_real) {
            let reason = format!("{drive} is no simulated drive, which are many; say sim:NAME");
            return Err(impossible(DRIVE, reason));
        }
        if self.seeds == 0 {
            return Err(impossible(
                "seeds",
                "0 of them make no run; leave it out for one".to_owned(),
            ));
        }
        let varied = self.varied();
        if let Some(key) = varied.iter().find(|key| !is_key(key)) {
            let reason = "a key is 'drive', 'drive.SECTION.KEY' or 'plan.KEY'".to_owned();
            return Err(impossible(key, reason));
        }
        if let Some(key) = varied.iter().chain(self.plan.keys()).find(|key| is_seed(key)) {
            return Err(impossible(key, "say seeds = N, for runs with 1 to N".to_owned()));
        }
        if let Some((key, _)) = self.grid.iter().find(|(_, values)| values.is_empty()) {
            return Err(impossible(key, "it has no values".to_owned()));
        }
        let is_twice = |key: &&String| varied.iter().filter(|other| other == key).count() > 1;
        if let Some(key) = varied.iter().find(is_twice) {
            return Err(impossible(key, "it is in the grid and in the sample".to_owned()));
        }
        self.sample.as_ref().map_or(Ok(()), sample::check)
    }
}

/// The drive's own key.
pub(crate) const DRIVE: &str = "drive";

fn is_key(key: &str) -> bool {
    let of_profile =
        |rest: &str| rest.split_once('.').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
    match key.split_once('.') {
        None => key == DRIVE,
        Some((DRIVE, rest)) => of_profile(rest),
        Some(("plan", rest)) => !rest.is_empty(),
        Some(_) => false,
    }
}

/// Every point has its own.
fn is_seed(key: &str) -> bool {
    matches!(key, "plan.seed" | "seed")
}

pub(crate) fn impossible(key: &str, reason: String) -> SweepError {
    SweepError::Impossible { key: key.to_owned(), reason }
}

/// Every combination, the last key's values in the innermost turn.
fn combinations(grid: &BTreeMap<String, Vec<Value>>) -> Vec<Setting> {
    grid.iter().fold(vec![Setting::new()], |settings, (key, values)| {
        let with = |setting: &Setting, value: &Value| {
            let mut more = setting.clone();
            more.push((key.clone(), value.clone()));
            more
        };
        settings
            .iter()
            .flat_map(|setting| values.iter().map(move |value| with(setting, value)))
            .collect()
    })
}
