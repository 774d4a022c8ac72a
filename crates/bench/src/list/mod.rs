//! What there is, as tables: all drives, all runs, everything about one.

mod text;

use serde::Serialize;
use writecliff::suite::Status;

use crate::error::BenchError;
use crate::model::{Bench, Drive, Kind, Metric, Private, Published, Run, Value};
use crate::published::TEST;
use crate::select::Chosen;

pub use text::{drive_table, run_table};

/// What a list is cut down to; the default is everything.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only drives that have one of these in their name or id; all, if there are none.
    pub names: Vec<String>,
    /// Only results of this test; `published` for printed figures that no test gives.
    pub test: Option<String>,
    /// Only results of this kind.
    pub kind: Option<Kind>,
    /// Nothing that came with Writecliff: only what lies in directories.
    pub without_shipped: bool,
}

/// A drive and what there is of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriveEntry {
    /// [`Drive::id`].
    pub id: String,
    /// [`Drive::name`].
    pub name: String,
    /// Runs of models of it; those that are the same count as one.
    pub simulated: usize,
    /// Runs on it, counted so.
    pub measured: usize,
    /// Printed figures.
    pub published: usize,
    /// Tests that there are runs of.
    pub tests: Vec<String>,
}

/// A run and what tells it from others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEntry {
    /// [`Run::id`].
    pub id: String,
    /// [`Drive::id`].
    pub drive: String,
    /// What tells results of one drive apart.
    pub variant: Option<String>,
    /// The test.
    pub test: String,
    /// Where its figures come from.
    pub kind: Kind,
    /// What they were got under.
    pub conditions: String,
    /// How far it came.
    pub status: Status,
    /// Whether a ranking takes it.
    pub ranked: bool,
    /// When it began.
    pub started: String,
    /// What its user calls it.
    pub label: Option<String>,
    /// Whether it came with Writecliff.
    pub catalogue: bool,
    /// Why it is to be doubted.
    pub doubts: Vec<String>,
    /// The run that it repeats, number for number: they count as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Where it is.
    #[serde(flatten)]
    pub private: Private,
}

/// A run with its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunDetails {
    /// What tells it from others.
    #[serde(flatten)]
    pub run: RunEntry,
    /// The seed.
    pub seed: u64,
    /// The version that ran it.
    pub tool_version: String,
    /// In the run's own order.
    pub figures: Vec<FigureEntry>,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureEntry {
    /// What it is of.
    #[serde(flatten)]
    pub metric: Metric,
    /// The number.
    pub value: f64,
    /// Whether any of the run's doubts is about it.
    pub doubted: bool,
}

/// A drive with everything about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriveDetails {
    /// What it is.
    #[serde(flatten)]
    pub drive: Drive,
    /// What its runs say, by test and conditions.
    pub values: Vec<ValueEntry>,
    /// Its runs.
    pub runs: Vec<RunEntry>,
    /// What others printed of it.
    pub published: Vec<PublishedEntry>,
}

/// A figure of a drive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueEntry {
    /// What it is of.
    #[serde(flatten)]
    pub metric: Metric,
    /// Where it comes from.
    pub kind: Kind,
    /// What it was got under.
    pub conditions: String,
    /// What tells results of one drive apart.
    pub variant: Option<String>,
    /// The middle one.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// Whether any of its runs has doubts; `runs` has them.
    pub doubted: bool,
    /// The ids of its runs.
    pub runs: Vec<String>,
}

/// A figure that somebody printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedEntry {
    /// What it is of.
    #[serde(flatten)]
    pub metric: Metric,
    /// The number.
    pub value: f64,
    /// `at least`, `at most`.
    pub bound: Option<String>,
    /// Who says so, and how it was got.
    pub conditions: String,
    /// Title and publisher.
    pub source: String,
    /// Where to look it up.
    pub url: Option<String>,
}

/// Everything about one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// About a drive.
    Drive(Box<DriveDetails>),
    /// About runs.
    Runs(Vec<RunDetails>),
}

impl Bench {
    /// Every drive of which there is anything that the filter lets pass.
    ///
    /// # Errors
    /// [`BenchError::UnknownTest`], [`BenchError::Unknown`] for a name that no drive has.
    pub fn drive_list(&self, filter: &Filter) -> Result<Vec<DriveEntry>, BenchError> {
        self.check(filter)?;
        let mut all: Vec<DriveEntry> = self.drives.iter().map(DriveEntry::of).collect();
        let is_counted = |run: &&Run| self.passes(filter, run) && self.is_counted(filter, run);
        for run in self.runs.iter().filter(is_counted) {
            let entry = &mut all[run.drive];
            let conditions = &self.conditions[run.conditions];
            match conditions.kind {
                Kind::Simulated => entry.simulated += 1,
                _ => entry.measured += 1,
            }
            if !entry.tests.contains(&conditions.test) {
                entry.tests.push(conditions.test.clone());
            }
        }
        for figure in self.published.iter().filter(|figure| self.passes_printed(filter, figure)) {
            all[figure.drive].published += 1;
        }
        let is_asked_for = |(drive, entry): &(usize, DriveEntry)| {
            self.is_named(filter, *drive) && entry.simulated + entry.measured + entry.published > 0
        };
        Ok(all.into_iter().enumerate().filter(is_asked_for).map(|(_, entry)| entry).collect())
    }

    /// Every run that the filter lets pass.
    ///
    /// # Errors
    /// As [`Self::drive_list`].
    pub fn run_list(&self, filter: &Filter) -> Result<Vec<RunEntry>, BenchError> {
        self.check(filter)?;
        let passes = |run: &&Run| self.passes(filter, run) && self.is_named(filter, run.drive);
        let passing = self.runs.iter().filter(passes);
        Ok(passing.map(|run| self.run_entry(run)).collect())
    }

    fn check(&self, filter: &Filter) -> Result<(), BenchError> {
        for name in &filter.names {
            if !(0..self.drives.len()).any(|drive| self.has_in_name(drive, name)) {
                return Err(self.unknown(name));
            }
        }
        let Some(test) = &filter.test else { return Ok(()) };
        let tests = writecliff::TESTS.iter().map(|entry| entry.name).chain([TEST]);
        let known: Vec<String> = tests.map(str::to_owned).collect();
        match known.contains(test) {
            true => Ok(()),
            false => Err(BenchError::UnknownTest { name: test.clone(), known }),
        }
    }

    fn passes(&self, filter: &Filter, run: &Run) -> bool {
        let conditions = &self.conditions[run.conditions];
        !(filter.without_shipped && run.catalogue)
            && filter.test.as_ref().is_none_or(|test| *test == conditions.test)
            && filter.kind.is_none_or(|kind| kind == conditions.kind)
    }

    /// Whether it is the first that passes of those that are the same.
    fn is_counted(&self, filter: &Filter, run: &Run) -> bool {
        let is_first = |first: &Run| Some(&first.id) == run.same_as.as_ref();
        run.same_as.is_none()
            || !self.runs.iter().any(|first| is_first(first) && self.passes(filter, first))
    }

    fn is_named(&self, filter: &Filter, drive: usize) -> bool {
        filter.names.is_empty() || filter.names.iter().any(|name| self.has_in_name(drive, name))
    }

    /// A printed figure may be one of a test of ours.
    fn passes_printed(&self, filter: &Filter, figure: &Published) -> bool {
        let test = &self.metrics[figure.metric].test;
        !filter.without_shipped
            && filter.test.as_ref().is_none_or(|wanted| wanted == test)
            && filter.kind.is_none_or(|kind| kind == Kind::Published)
    }

    fn run_entry(&self, run: &Run) -> RunEntry {
        let conditions = &self.conditions[run.conditions];
        RunEntry {
            id: run.id.clone(),
            drive: self.drives[run.drive].id.clone(),
            variant: run.variant.clone(),
            test: conditions.test.clone(),
            kind: conditions.kind,
            conditions: conditions.words.clone(),
            status: run.status.clone(),
            ranked: !conditions.quick && !conditions.unfinished,
            started: run.started.clone(),
            label: run.label.clone(),
            catalogue: run.catalogue,
            doubts: run.doubts.clone(),
            same_as: run.same_as.clone(),
            private: run.private.clone(),
        }
    }

    /// Everything about a drive or a run.
    pub fn details(&self, chosen: &Chosen) -> Details {
        match chosen {
            Chosen::Drive(drive) => Details::Drive(Box::new(self.drive_details(*drive))),
            Chosen::Runs(runs) => {
                Details::Runs(runs.iter().map(|run| self.run_details(&self.runs[*run])).collect())
            }
        }
    }

    fn run_details(&self, run: &Run) -> RunDetails {
        let figure = |(metric, value): &(usize, f64)| FigureEntry {
            metric: self.metrics[*metric].clone(),
            value: *value,
            doubted: run.doubts(*metric),
        };
        RunDetails {
            run: self.run_entry(run),
            seed: run.seed,
            tool_version: run.tool_version.clone(),
            figures: run.figures.iter().map(figure).collect(),
        }
    }

    fn drive_details(&self, place: usize) -> DriveDetails {
        let of_runs = |value: &&Value| value.drive == place && !self.is_published(value.conditions);
        let mut values: Vec<&Value> = self.values.iter().filter(of_runs).collect();
        values.sort_by_key(|value| (value.conditions, &value.variant, value.metric));
        let printed = self.published.iter().filter(|figure| figure.drive == place);
        DriveDetails {
            drive: self.drives[place].clone(),
            values: values.into_iter().map(|value| self.value_entry(value)).collect(),
            runs: self
                .runs
                .iter()
                .filter(|run| run.drive == place)
                .map(|run| self.run_entry(run))
                .collect(),
            published: printed.map(|figure| self.published_entry(figure)).collect(),
        }
    }

    fn value_entry(&self, value: &Value) -> ValueEntry {
        let conditions = &self.conditions[value.conditions];
        ValueEntry {
            metric: self.metrics[value.metric].clone(),
            kind: conditions.kind,
            conditions: conditions.words.clone(),
            variant: value.variant.clone(),
            median: value.median,
            lowest: value.lowest,
            highest: value.highest,
            doubted: value.doubted,
            runs: value.of.iter().map(|run| self.runs[*run].id.clone()).collect(),
        }
    }

    fn published_entry(&self, figure: &Published) -> PublishedEntry {
        PublishedEntry {
            metric: self.metrics[figure.metric].clone(),
            value: figure.value,
            bound: figure.bound.clone(),
            conditions: self.conditions[figure.conditions].words.clone(),
            source: figure.source.clone(),
            url: figure.url.clone(),
        }
    }
}

impl DriveEntry {
    fn of(drive: &Drive) -> Self {
        Self {
            id: drive.id.clone(),
            name: drive.name.clone(),
            simulated: 0,
            measured: 0,
            published: 0,
            tests: Vec::new(),
        }
    }
}
