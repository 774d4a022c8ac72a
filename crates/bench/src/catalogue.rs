//! The results of the simulated drives that come with Writecliff: the default review of each, as
//! figures and thinned pictures, in one file of the tree.
//!
//! `cargo xtask catalogue` writes it, and runs only what is missing: drives that have changed, and
//! tests that reviews did not have before. A line of JSON for each metric, each kind of conditions,
//! each drive and each of its runs, in that order, so that a changed drive changes its own lines only.
//! The same models give the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use writecliff::suite::{Status, TESTS};

use crate::conditions::hash;
use crate::error::BenchError;
use crate::gather::NewRun;
use crate::ingest::{self, Taken};
use crate::model::{Conditions, Drive, Metric, Picture, Pictures, Private, Stretch};

/// The file, within the repository.
pub const FILE: &str = "crates/bench/data/catalogue.jsonl";

const SHIPPED: &str = include_str!("../data/catalogue.jsonl");

/// Stretches of a picture: enough for its shape.
const STRETCHES_MAX: usize = 75;

/// Results of simulated drives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    metrics: Vec<Metric>,
    conditions: Vec<Conditions>,
    drives: Vec<Reviewed>,
    runs: Vec<Entry>,
    /// Of a run's id, in `runs`.
    places: BTreeMap<String, usize>,
}

/// A drive that was reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reviewed {
    /// Its name in the catalogue.
    pub name: String,
    /// The hash of the profile that the results are of.
    pub profile: String,
    /// The version that ran it.
    pub tool_version: String,
    /// What it is.
    pub sheet: Drive,
}

/// A run of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    drive: usize,
    conditions: usize,
    seed: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<String>,
    /// Metrics that none of them is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undoubted: Vec<usize>,
    figures: Vec<(usize, f64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<Rough>,
}

/// A [`Picture`] of IOPS in whole numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rough {
    name: String,
    seconds: u32,
    /// Lowest, median, highest.
    iops: Vec<[u32; 3]>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Metric(Metric),
    Conditions(Conditions),
    Drive(Box<Reviewed>),
    Run(Entry),
}

/// The one that came with this version.
///
/// # Errors
/// [`BenchError::Shipped`] if the file in the tree is damaged.
pub fn shipped() -> Result<&'static Catalogue, BenchError> {
    static CATALOGUE: OnceLock<Result<Catalogue, String>> = OnceLock::new();
    let read = CATALOGUE.get_or_init(|| Catalogue::parse(SHIPPED));
    read.as_ref()
        .map_err(|reason| BenchError::Shipped { file: FILE.to_owned(), reason: reason.clone() })
}

impl Catalogue {
    /// Reads the file's text.
    ///
    /// # Errors
    /// The line that cannot be, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut catalogue = Self::default();
        for (index, line) in text.lines().enumerate() {
            let wrong = |reason: String| format!("line {}: {reason}", index + 1);
            let line: Line =
                serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            catalogue.take(line).map_err(|reason| wrong(reason.to_owned()))?;
        }
        Ok(catalogue)
    }

    fn take(&mut self, line: Line) -> Result<(), &'static str> {
        match line {
            Line::Metric(metric) => self.metrics.push(metric),
            Line::Conditions(conditions) => self.conditions.push(conditions),
            Line::Drive(drive) => self.drives.push(*drive),
            Line::Run(run) => {
                let is_known = run.drive < self.drives.len()
                    && run.conditions < self.conditions.len()
                    && run.figures.iter().all(|(metric, _)| *metric < self.metrics.len());
                if !is_known {
                    return Err("it refers to a line that is not there");
                }
                self.keep(run);
            }
        }
        Ok(())
    }

    /// As the file has it.
    pub fn text(&self) -> String {
        let metrics = self.metrics.iter().cloned().map(Line::Metric);
        let conditions = self.conditions.iter().cloned().map(Line::Conditions);
        let drives = self.drives.iter().cloned().map(|drive| Line::Drive(Box::new(drive)));
        let runs = self.runs.iter().cloned().map(Line::Run);
        let mut text = String::new();
        for line in metrics.chain(conditions).chain(drives).chain(runs) {
            // A line is plain data, which is always JSON.
            let line = serde_json::to_string(&line).unwrap_or_default();
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// The drives that were reviewed.
    pub fn drives(&self) -> &[Reviewed] {
        &self.drives
    }

    /// Takes in the review of the simulated drive `name` that is complete in a directory.
    ///
    /// # Errors
    /// What cannot be read or is not complete.
    pub fn add(&mut self, name: &str, review: &Path) -> Result<(), String> {
        let plan = writecliff::Review::open(review).map_err(|error| error.to_string())?;
        let profile = plan.profile.as_ref().ok_or("it is of no simulated drive")?;
        let drive = self.drives.len();
        for test in &plan.tests {
            let directory = review.join(&test.directory);
            let Taken { run, pictures } = ingest::read(&directory)?;
            if run.status != Status::Complete {
                return Err(format!("{name}: {} is not complete", test.plan.name()));
            }
            if self.drives.len() == drive {
                self.drives.push(Reviewed {
                    name: name.to_owned(),
                    profile: profile.sha256.clone(),
                    tool_version: run.tool_version.clone(),
                    sheet: run.drive.clone(),
                });
            }
            self.push(drive, run, &pictures);
        }
        Ok(())
    }

    /// The tests that the drive `name` has results of.
    pub fn tests_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.runs_of(name).map(|run| self.conditions[run.conditions].test.as_str())
    }

    fn runs_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.runs.iter().filter(move |run| self.drives[run.drive].name == name)
    }

    /// Takes in what others have of the drive `name`, in the order in which one review would have come.
    pub fn copy(&mut self, name: &str, from: &[&Self]) {
        let sheets = || from.iter().flat_map(|one| &one.drives);
        let Some(sheet) = sheets().find(|drive| drive.name == name) else { return };
        let drive = self.drives.len();
        self.drives.push(sheet.clone());
        let test = |(one, run): &(&Self, &Entry)| {
            let test = &one.conditions[run.conditions].test;
            TESTS.iter().position(|entry| entry.name == *test)
        };
        let runs = from.iter().flat_map(|one| one.runs_of(name).map(move |run| (*one, run)));
        let mut runs: Vec<(&Self, &Entry)> = runs.collect();
        runs.sort_by_key(test);
        for (one, run) in runs {
            let conditions = place(&mut self.conditions, one.conditions[run.conditions].clone());
            let figures = run.figures.iter().map(|(metric, value)| {
                (place(&mut self.metrics, one.metrics[*metric].clone()), *value)
            });
            let figures = figures.collect();
            let undoubted = run.undoubted.iter().map(|metric| one.metrics[*metric].clone());
            let undoubted = undoubted.map(|metric| place(&mut self.metrics, metric)).collect();
            self.keep(Entry { drive, conditions, undoubted, figures, ..run.clone() });
        }
    }

    fn push(&mut self, drive: usize, run: NewRun, pictures: &[Picture]) {
        let NewRun { conditions, seed, doubts, undoubted, figures, .. } = run;
        let conditions = place(&mut self.conditions, conditions);
        let figures =
            figures.into_iter().map(|(metric, value)| (place(&mut self.metrics, metric), value));
        let figures: Vec<(usize, f64)> = figures.collect();
        let is_undoubted = |metric: &usize| undoubted.contains(&self.metrics[*metric].id);
        let undoubted = figures.iter().map(|(metric, _)| *metric).filter(is_undoubted).collect();
        let pictures = pictures.iter().map(Rough::of).collect();
        self.keep(Entry { drive, conditions, seed, doubts, undoubted, figures, pictures });
    }

    fn keep(&mut self, run: Entry) {
        let id = id(&self.drives[run.drive], &self.conditions[run.conditions], run.seed);
        self.places.insert(id, self.runs.len());
        self.runs.push(run);
    }

    /// Its runs for a [`Bench`](crate::Bench). What today's profile would not give is marked as that
    /// of another.
    pub fn runs(&self) -> impl Iterator<Item = NewRun> + '_ {
        self.runs.iter().map(|run| self.new_run(run))
    }

    fn new_run(&self, run: &Entry) -> NewRun {
        let reviewed = &self.drives[run.drive];
        let conditions = self.conditions[run.conditions].clone();
        let today = ingest::todays_profiles().get(reviewed.name.as_str());
        let digits = reviewed.profile.get(..8).unwrap_or_default();
        let variant = (today != Some(&reviewed.profile)).then(|| format!("profile {digits}"));
        let figures =
            run.figures.iter().map(|(metric, value)| (self.metrics[*metric].clone(), *value));
        NewRun {
            id: id(reviewed, &conditions, run.seed),
            drive: reviewed.sheet.clone(),
            variant,
            conditions,
            started: String::new(),
            label: None,
            status: Status::Complete,
            may_win: run.doubts.is_empty(),
            doubts: run.doubts.clone(),
            undoubted: run.undoubted.iter().map(|place| self.metrics[*place].id.clone()).collect(),
            seed: run.seed,
            tool_version: reviewed.tool_version.clone(),
            figures: figures.collect(),
            catalogue: true,
            private: Private::default(),
        }
    }
}

/// The same however often the file is made, so that links stay; another when its profile is.
fn id(reviewed: &Reviewed, conditions: &Conditions, seed: u64) -> String {
    let Reviewed { name, profile, .. } = reviewed;
    hash(&format!("catalogue\n{name}\n{profile}\n{}\n{seed}", conditions.id))
}

impl Pictures for Catalogue {
    fn pictures(&self, run: &str) -> Vec<Picture> {
        let place = self.places.get(run);
        let pictures = place.map(|place| self.runs[*place].pictures.iter().map(Rough::picture));
        pictures.into_iter().flatten().collect()
    }
}

/// Where a value stands in a list, which gets it if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

impl Rough {
    /// The same in fewer stretches, with three digits to a number.
    fn of(picture: &Picture) -> Self {
        let per = picture.stretches.len().div_ceil(STRETCHES_MAX).max(1);
        let stretches = picture.stretches.chunks(per).map(|chunk| {
            let mut medians: Vec<f32> = chunk.iter().map(|stretch| stretch.1).collect();
            medians.sort_by(f32::total_cmp);
            let lowest = chunk.iter().map(|stretch| stretch.0).fold(f32::INFINITY, f32::min);
            let highest = chunk.iter().map(|stretch| stretch.2).fold(0.0, f32::max);
            [lowest, medians[medians.len() / 2], highest].map(three_digits)
        });
        let seconds = picture.seconds as u32 * per as u32;
        Self { name: picture.name.clone(), seconds, iops: stretches.collect() }
    }

    fn picture(&self) -> Picture {
        let stretch = |[lowest, median, highest]: &[u32; 3]| {
            Stretch(*lowest as f32, *median as f32, *highest as f32)
        };
        Picture {
            name: self.name.clone(),
            unit: "IOPS".to_owned(),
            seconds: f64::from(self.seconds),
            stretches: self.iops.iter().map(stretch).collect(),
        }
    }
}

/// 123,456 as 123,000.
fn three_digits(value: f32) -> u32 {
    let whole = value.round() as u32;
    let unit = 10_u32.pow(whole.checked_ilog10().unwrap_or_default().saturating_sub(2));
    (whole + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let cases = [(0.0, 0), (7.4, 7), (999.6, 1000), (1234.0, 1230), (98_765.0, 98_800)];
        for (value, expected) in cases {
            assert_eq!(three_digits(value), expected, "{value}");
        }
    }

    #[test]
    fn a_rough_picture_keeps_the_worst_and_the_best() {
        let mut stretches = vec![Stretch(500.0, 600.0, 700.0); 290];
        stretches[100].0 = 3.0;
        stretches[200].2 = 9000.0;
        let picture = Picture { seconds: 7.0, stretches, ..Picture::default() };
        let rough = Rough::of(&picture).picture();
        assert_eq!((rough.seconds, rough.stretches.len()), (28.0, 73));
        assert_eq!(rough.stretches[25], Stretch(3.0, 600.0, 700.0));
        assert_eq!(rough.stretches[50], Stretch(500.0, 600.0, 9000.0));
    }
}
