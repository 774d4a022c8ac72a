//! A drive with its runs: what a column of a comparison stands for.

use std::path::{Component, Path, PathBuf};

use writecliff_device::{DeviceInfo, DeviceKind, printable};
use writecliff_measure::RunDirectory;
use writecliff_suite::{DriveIdentity, Label, Results, ResultsError, consistency, spare_area};

use crate::Run;
use crate::loads::{Difference, differences};
use crate::picture::{Style, nth_style};

/// A directory to report on, and what its drive is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// In place of the label that its runs were given.
    pub label: Option<Label>,
    /// Of a run, a review or repeats.
    pub path: PathBuf,
}

impl<T: AsRef<Path> + ?Sized> From<&T> for Source {
    fn from(path: &T) -> Self {
        Self { label: None, path: path.as_ref().to_owned() }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self { label: None, path }
    }
}

/// A drive and everything that was run on it; at least one run.
#[derive(Debug, Clone)]
pub struct Subject {
    /// In the order of the table of tests, then by directory.
    pub runs: Vec<Run>,
    /// Tests that its review has, if it is one: more than `runs` if it is not finished.
    pub planned: Option<usize>,
}

impl Subject {
    /// Reads the directory of a run, of repeats, or of a review.
    ///
    /// # Errors
    /// [`ResultsError`] if it is none of these, or with the file that is missing or damaged.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        let review = match Results::at(path)? {
            Results::Run => return Ok(Self { runs: vec![Run::open(path)?], planned: None }),
            Results::Repeats(repeats) => {
                return Ok(Self { runs: vec![Run::open_repeats(path, &repeats)?], planned: None });
            }
            Results::Review(review) => review,
        };
        let places = review.tests.iter().map(|test| path.join(&test.directory));
        let begun = places.filter(|place| RunDirectory::is_at(place));
        let mut runs = begun.map(|place| Run::open(&place)).collect::<Result<Vec<_>, _>>()?;
        if runs.is_empty() {
            return Err(ResultsError::no_run(path));
        }
        // In an order that interrupting and resuming does not change.
        runs.sort_by(|a, b| (a.test_index(), &a.path).cmp(&(b.test_index(), &b.path)));
        Ok(Self { runs, planned: Some(review.tests.len()) })
    }

    /// Reads several directories. Those of one drive become one subject, unless a test was done
    /// twice with the same settings, or they have different labels: then they are to be compared.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn gather(sources: &[impl Into<Source> + Clone]) -> Result<Vec<Self>, ResultsError> {
        let mut subjects: Vec<Self> = Vec::new();
        for source in sources {
            let Source { label, path } = source.clone().into();
            let mut next = Self::open(&path)?;
            if label.is_some() {
                next.runs.iter_mut().for_each(|run| run.record.options.label.clone_from(&label));
            }
            match subjects.iter_mut().find(|subject| subject.takes(&next)) {
                Some(subject) => subject.runs.extend(next.runs),
                None => subjects.push(next),
            }
        }
        Ok(subjects)
    }

    /// Whether the other's runs are of the same drive and add something that was not done yet.
    fn takes(&self, other: &Self) -> bool {
        let same = |a: &Run, b: &Run| {
            a.record.plan.name() == b.record.plan.name() && a.setting() == b.setting()
        };
        is_same_drive(self.drive(), other.drive())
            && self.label() == other.label()
            && !self.runs.iter().any(|one| other.runs.iter().any(|two| same(one, two)))
    }

    pub(crate) fn drive(&self) -> &DeviceInfo {
        &self.runs[0].record.drive
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.runs[0].is_simulated()
    }

    /// The day of its first run: `2026-11-22`.
    pub(crate) fn day(&self) -> &str {
        let started = &self.runs[0].record.started;
        started.get(..10).unwrap_or(started)
    }

    /// The names on the way to its directory, which is the review's if its runs are parts of one.
    fn directory(&self) -> Vec<String> {
        let path = &self.runs[0].path;
        let own = match (self.planned, path.parent()) {
            (Some(_), Some(review)) => review,
            _ => path,
        };
        let named = own.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        named.collect()
    }

    /// What its user calls it.
    pub(crate) fn label(&self) -> Option<&Label> {
        self.runs[0].record.options.label.as_ref()
    }

    /// Why nothing may be concluded from its figures, if that is so: what is written across its
    /// pictures.
    pub(crate) fn no_result(&self) -> Option<&'static str> {
        match self.drive().kind {
            DeviceKind::Null => Some("no drive: the speed of this machine"),
            _ if self.runs.iter().any(|run| run.record.is_quick()) => {
                Some("quick run: not a result")
            }
            _ => None,
        }
    }

    /// Every doubt once, each with the indexes of the runs that it is about. Which figures are the
    /// fast buffer's is no doubt where it is known: their sections say it.
    pub(crate) fn doubts(&self) -> Vec<(String, Vec<usize>)> {
        let mut doubts: Vec<(String, Vec<usize>)> = Vec::new();
        for (index, run) in self.runs.iter().enumerate() {
            let incomplete =
                (!run.is_complete()).then(|| format!("Not complete: {}.", run.status()));
            let there = run.repeats.len() + 1;
            let missing = (there < run.asked)
                .then(|| format!("{there} of {} repeats are complete.", run.asked));
            let of_run = run.and_repeats().flat_map(Run::doubts).map(ToString::to_string);
            for doubt in incomplete.into_iter().chain(missing).chain(of_run) {
                match doubts.iter_mut().find(|(said, _)| *said == doubt) {
                    // Of a repeat of it.
                    Some((_, runs)) if runs.last() == Some(&index) => {}
                    Some((_, runs)) => runs.push(index),
                    None => doubts.push((doubt, vec![index])),
                }
            }
        }
        doubts
    }

    /// A doubt with the tests that it is about, if there are several tests.
    pub(crate) fn in_words(&self, (doubt, runs): &(String, Vec<usize>)) -> String {
        match self.runs.len() {
            1 => doubt.clone(),
            count if count > 2 && count == runs.len() => format!("all tests: {doubt}"),
            _ => {
                let names: Vec<String> = runs.iter().map(|run| self.runs[*run].name()).collect();
                format!("{}: {doubt}", names.join("; "))
            }
        }
    }
}

/// Whether two runs were of one drive: at the same address, or, where a real drive was called
/// something else after a boot, by a name of its own.
fn is_same_drive(one: &DeviceInfo, two: &DeviceInfo) -> bool {
    let is_named = one.serial.is_some() || one.world_wide_name.is_some();
    let by_name = is_named && one.kind == DeviceKind::BlockDevice && one.kind == two.kind;
    DriveIdentity::of(one).is_same_drive(&DriveIdentity::of(two))
        && (by_name || one.address == two.address)
}

/// The drives of a page, each with the name that it has there.
pub(crate) struct Subjects<'a> {
    pub(crate) all: &'a [Subject],
    names: Vec<String>,
    differences: Vec<Difference>,
}

impl<'a> Subjects<'a> {
    /// # Panics
    /// If there are none.
    pub(crate) fn new(all: &'a [Subject]) -> Self {
        assert!(!all.is_empty(), "a report is about at least one drive");
        let names = names(all);
        let differences = differences(all, &names);
        Self { all, names, differences }
    }

    /// What a drive is called; where its model does not tell it apart, with what does.
    pub(crate) fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// Its name where no mark can stand beside it.
    pub(crate) fn full_name(&self, index: usize) -> String {
        let simulated = if self.all[index].is_simulated() { " (simulated)" } else { "" };
        format!("{}{simulated}", self.names[index])
    }

    pub(crate) fn is_comparison(&self) -> bool {
        self.all.len() > 1
    }

    /// Every run with its drive's index.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &'a Run)> {
        let indexed = self.all.iter().enumerate();
        indexed.flat_map(|(index, subject)| subject.runs.iter().map(move |run| (index, run)))
    }

    /// What the runs do not have in common, by test.
    pub(crate) fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Whether every run of a test did the same, so that its figures can be held against each
    /// other.
    pub(crate) fn is_equal_load(&self, test: &str) -> bool {
        // Settings of the spare area are runs of the consistency test.
        let test = if test == spare_area::Plan::NAME { consistency::Plan::NAME } else { test };
        self.differences.iter().all(|difference| difference.test != test)
    }

    /// Whether anything may be concluded: no drive of the page had a run that is none.
    pub(crate) fn is_result(&self) -> bool {
        self.all.iter().all(|subject| subject.no_result().is_none())
    }

    /// The style of what is a drive's own: always the same among several, `alone` for one.
    pub(crate) fn style(&self, index: usize, alone: Style) -> Style {
        if self.is_comparison() { nth_style(index) } else { alone }
    }
}

/// Drives of one model are told apart by what their user calls them, and where that is not enough by
/// the first of these that does: firmware, day of the test, directory; by their number, if nothing
/// does.
fn names(all: &[Subject]) -> Vec<String> {
    let model = |subject: &Subject| subject.drive().model.clone();
    let name = |(index, subject): (usize, &Subject)| {
        let of_model: Vec<usize> =
            (0..all.len()).filter(|other| model(&all[*other]) == model(subject)).collect();
        let mut group = of_model.clone();
        group.retain(|other| all[*other].label() == subject.label());
        let apart = match (subject.label(), &of_model[..], &group[..]) {
            (None, [_], _) => return model(subject),
            (None, ..) => told_apart(all, &group, index),
            (Some(label), _, [_]) => label.to_string(),
            (Some(label), ..) => format!("{label}, {}", told_apart(all, &group, index)),
        };
        format!("{} ({apart})", model(subject))
    };
    all.iter().enumerate().map(name).collect()
}

/// What only this one of a group is.
fn told_apart(all: &[Subject], group: &[usize], index: usize) -> String {
    let ways: [fn(&Subject) -> Option<String>; 2] =
        [|subject| subject.drive().firmware.clone(), |subject| Some(subject.day().to_owned())];
    let tells = |values: &[Option<String>]| {
        let is_own = |at: usize| values[at].is_some() && !values[..at].contains(&values[at]);
        (0..values.len()).all(is_own)
    };
    for way in ways {
        let values: Vec<Option<String>> = group.iter().map(|at| way(&all[*at])).collect();
        if tells(&values)
            && let Some(value) = way(&all[index])
        {
            return value;
        }
    }
    // As much of the path as it takes, and never all of it: pages are published.
    let parts = |at: usize| all[at].directory();
    let longest = group.iter().map(|at| parts(*at).len()).max().unwrap_or(0);
    let tail = |at: usize, length: usize| {
        let parts = parts(at);
        parts[parts.len().saturating_sub(length)..].join("/")
    };
    for length in 1..=longest {
        let values: Vec<_> = group.iter().map(|at| Some(tail(*at, length))).collect();
        if tells(&values) {
            return printable(&tail(index, length));
        }
    }
    format!("{}", index + 1)
}
