//! What the pages show: plain values that refer to each other by their places in [`Bench`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use writecliff::suite::{Good, Status};

/// All results that a library has. Drives, metrics and conditions are there once; what is about
/// them names them by their index.
#[derive(Debug, Clone, Default)]
pub struct Bench {
    /// By id.
    pub drives: Vec<Drive>,
    /// In the order of the tests, then of a run's figures; published ones last.
    pub metrics: Vec<Metric>,
    /// By test, then by kind.
    pub conditions: Vec<Conditions>,
    /// By drive, then by the time that they began.
    pub runs: Vec<Run>,
    /// In the order of the rows of their file.
    pub published: Vec<Published>,
    /// One for each drive, variant, conditions and metric.
    pub values: Vec<Value>,
    /// What could not be read, or is not there any more.
    pub problems: Vec<Problem>,
}

/// A drive that can be bought, or a model of one: what its maker and its capacity tell apart.
/// Simulated, measured and published results of it are all its own, and marked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Drive {
    /// What links call it: its name in small letters, digits and hyphens.
    pub id: String,
    /// The maker's model name, with the capacity where that does not say it.
    pub name: String,
    /// The maker, as far as the name tells.
    pub maker: Option<String>,
    /// Bytes that a host can address; published figures of a whole family have none.
    pub capacity: Option<u64>,
    /// `SATA 6 Gb/s`.
    pub interface: Option<String>,
    /// The NAND: maker, process, type of cell.
    pub nand: Option<String>,
    /// SLC, MLC, TLC, QLC; what the NAND is filtered by.
    pub cell: Option<String>,
    /// The controller chip.
    pub controller: Option<String>,
    /// 2.5", mSATA, M.2, ...
    pub form_factor: Option<String>,
    /// When it was first sold.
    pub year: Option<u16>,
    /// What it cost.
    pub price: Option<Price>,
    /// Whether it is a magnetic disk.
    pub rotates: bool,
    /// Its name in the catalogue of simulated drives (`writecliff drives NAME`).
    pub profile: Option<String>,
    /// More of its data sheet, as label and words: RAM, packages of NAND, rated writes.
    pub specification: Vec<(String, String)>,
}

/// A price, and when and where it was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// US dollars.
    pub usd: f64,
    /// `NewEgg, 2014-01-06`.
    pub of: Option<String>,
}

/// Where a figure comes from. Never ranked together unsaid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A model of a drive gave it: a prediction.
    Simulated,
    /// Writecliff measured it on a drive.
    Measured,
    /// Somebody printed it.
    Published,
}

/// What has to be equal before figures are ranked together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Conditions {
    /// The test; of published figures `published`.
    pub test: String,
    /// Where the figures come from.
    pub kind: Kind,
    /// What links call them: a hash of all that is in them.
    pub id: String,
    /// Whether the plan is the method's own, whole, and came to its end: what a ranking shows first.
    pub standard: bool,
    /// The plan was cut down to minutes: not a result.
    pub quick: bool,
    /// The run did not come to its end, or goes on.
    pub unfinished: bool,
    /// For a person, short: `the whole method`, `duration 60 s, spare 25 %`, `measured by AnandTech`.
    pub words: String,
    /// All that is in them, as key and value, so that it can be said where two differ: `plan`,
    /// `method`, `purge`, `spare`, `model`, the plan's own keys.
    pub parts: BTreeMap<String, String>,
}

/// A quantity that drives are compared by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What links call it: test and name, in what an address takes: `consistency.steady-floor`.
    pub id: String,
    /// The test; of published figures that no test of ours gives `published`.
    pub test: String,
    /// The figure's name, unique within its test.
    pub name: String,
    /// The series or the setting that it is about, if the test has several.
    pub of: Option<String>,
    /// What stands behind the number: `IOPS`, `ms`; empty for a ratio or a count.
    pub unit: String,
    /// Which way it gets better.
    pub good: Good,
    /// Whether a gate looks at it: the most telling ones.
    pub judged: bool,
}

/// A run of ours, simulated or measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What links call it: a hash of its record, the same however often the index is built.
    pub id: String,
    /// In [`Bench::drives`].
    pub drive: usize,
    /// What tells results of one drive apart: `firmware EXT0BB6Q`, `profile 1a2b3c4d` of a model that
    /// is not today's.
    pub variant: Option<String>,
    /// In [`Bench::conditions`].
    pub conditions: usize,
    /// When it began, RFC 3339; empty for one of the catalogue, which anybody can run again.
    pub started: String,
    /// What its user calls it.
    pub label: Option<String>,
    /// How far it came.
    pub status: Status,
    /// Why its figures are to be doubted, in sentences.
    pub doubts: Vec<String>,
    /// Whether it may be named better than another: it came to its end, and its doubts are only such
    /// as its conditions say of all that it is held against.
    pub may_win: bool,
    /// Places in [`Bench::metrics`] of figures that none of its doubts is about.
    pub undoubted: Vec<usize>,
    /// The run that it repeats, number for number with one seed: the two count as one.
    pub same_as: Option<String>,
    /// Decides everything that is random.
    pub seed: u64,
    /// The version of Writecliff that ran it.
    pub tool_version: String,
    /// Places in [`Bench::metrics`] with values, in the run's own order.
    pub figures: Vec<(usize, f64)>,
    /// Whether it came with Writecliff.
    pub catalogue: bool,
    /// What an export leaves out.
    pub private: Private,
}

/// What never leaves this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Private {
    /// The run's directory.
    pub directory: Option<PathBuf>,
    /// Its page, or that of the review that it is a part of, if one was made.
    pub report: Option<PathBuf>,
    /// The drive's serial number.
    pub serial: Option<String>,
    /// The machine: its processor and kernel.
    pub host: Option<String>,
}

/// A figure that somebody printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// In [`Bench::drives`].
    pub drive: usize,
    /// In [`Bench::metrics`].
    pub metric: usize,
    /// In [`Bench::conditions`].
    pub conditions: usize,
    /// As printed, in the metric's unit.
    pub value: f64,
    /// `at least` or `at most`, if it was printed so.
    pub bound: Option<String>,
    /// Whether it is the maker's own rating.
    pub rated: bool,
    /// How it was got, as far as that is told.
    pub condition: Option<String>,
    /// Title and publisher.
    pub source: String,
    /// Where to look it up.
    pub url: Option<String>,
}

/// What all results of one drive under the same conditions say of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// In [`Bench::drives`].
    pub drive: usize,
    /// As [`Run::variant`].
    pub variant: Option<String>,
    /// In [`Bench::conditions`].
    pub conditions: usize,
    /// In [`Bench::metrics`].
    pub metric: usize,
    /// The middle one; the mean of the two in the middle, if their number is even.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// In [`Bench::runs`], or in [`Bench::published`] if the conditions' kind is that; at least one.
    /// Of runs that are the same, the first.
    pub of: Vec<usize>,
    /// Whether any of these runs has doubts about it.
    pub doubted: bool,
    /// Whether it may be named better than another: [`Run::may_win`] of each of them, or none of its
    /// doubts is about this; printed figures may.
    pub may_win: bool,
}

/// Something that is registered and cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where. Private.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub message: String,
}

/// A run's course, thin enough for a page: IOPS over time of one series.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Picture {
    /// The series or setting: `torture`, `25 % spare`.
    pub name: String,
    /// What the numbers count: `IOPS`.
    pub unit: String,
    /// Seconds that a stretch is long.
    pub seconds: f64,
    /// In order, from the beginning; at most 300.
    pub stretches: Vec<Stretch>,
}

/// The seconds of a stretch of time: lowest, median, highest.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stretch(pub f32, pub f32, pub f32);

/// Where pages get the courses of runs from, when they are wanted.
pub trait Pictures {
    /// Those of the run of this id; none, if it has none or they cannot be read.
    fn pictures(&self, run: &str) -> Vec<Picture>;
}

impl Pictures for BTreeMap<String, Vec<Picture>> {
    fn pictures(&self, run: &str) -> Vec<Picture> {
        self.get(run).cloned().unwrap_or_default()
    }
}

/// A name as links have it: small letters, digits, and hyphens for all else.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_safe_in_an_address_and_a_file_name() {
        assert_eq!(slug("Samsung SSD 840 EVO 250GB"), "samsung-ssd-840-evo-250gb");
        assert_eq!(slug(" <b>../x\" "), "b-x");
        assert_eq!(slug("p99.9 at 25 % spare"), "p99-9-at-25-spare");
        assert_eq!(slug("…"), "");
    }
}
