//! A drive with its runs: what a column of a comparison stands for.

use std::path::Path;

use writecliff_device::{DeviceInfo, DeviceKind, printable};
use writecliff_measure::{RunDirectory, RunDirectoryError};
use writecliff_suite::{DriveIdentity, Repeats, Review, doubts_across};

use crate::Run;

/// A drive and everything that was run on it; at least one run.
#[derive(Debug, Clone)]
pub struct Subject {
    /// In the order of the table of tests, then by directory.
    pub runs: Vec<Run>,
    /// Tests that its review has, if it is one: more than `runs` if it is not finished.
    pub planned: Option<usize>,
}

impl Subject {
    /// Reads a run's directory, that of repeats, or a review's: a directory whose subdirectories are
    /// runs.
    ///
    /// # Errors
    /// [`RunDirectoryError`] with the file that is missing or damaged.
    pub fn open(path: &Path) -> Result<Self, RunDirectoryError> {
        if Repeats::is_at(path) {
            return Ok(Self { runs: vec![Run::open_repeats(path)?], planned: None });
        }
        let is_run = |path: &Path| RunDirectory::is_at(path);
        let read_error = |source| RunDirectoryError::Read { path: path.to_owned(), source };
        let mut parts = Vec::new();
        if !is_run(path) && path.is_dir() {
            for entry in std::fs::read_dir(path).map_err(read_error)? {
                parts.push(entry.map_err(read_error)?.path());
            }
            parts.retain(|part| is_run(part));
        }
        if parts.is_empty() {
            parts.push(path.to_owned());
        }
        let mut runs = parts.iter().map(|p| Run::open(p)).collect::<Result<Vec<_>, _>>()?;
        // In an order that interrupting and resuming does not change.
        runs.sort_by(|a, b| (a.test_index(), &a.path).cmp(&(b.test_index(), &b.path)));
        let planned = Review::open(path).ok().map(|review| review.tests.len());
        Ok(Self { runs, planned })
    }

    /// Reads several directories. Those of one drive become one subject, unless a test was done
    /// twice with the same settings: then they are to be compared.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn gather(paths: &[impl AsRef<Path>]) -> Result<Vec<Self>, RunDirectoryError> {
        let mut subjects: Vec<Self> = Vec::new();
        for path in paths {
            let next = Self::open(path.as_ref())?;
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
            && !self.runs.iter().any(|one| other.runs.iter().any(|two| same(one, two)))
    }

    pub(crate) fn drive(&self) -> &DeviceInfo {
        &self.runs[0].record.drive
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.runs[0].is_simulated()
    }

    /// Every doubt once, with the tests that it is about if there are several.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let records: Vec<_> = self.runs.iter().map(|run| &run.record).collect();
        let across = doubts_across(&records);
        let mut doubts: Vec<(String, Vec<String>)> = Vec::new();
        for (index, run) in self.runs.iter().enumerate() {
            let incomplete =
                (!run.is_complete()).then(|| format!("Not complete: {}.", run.status()));
            let there = run.repeats.len() + 1;
            let missing = (there < run.asked)
                .then(|| format!("{there} of {} repeats are complete.", run.asked));
            let of_run = run.and_repeats().flat_map(|run| &run.record.warnings);
            let of_run = of_run.map(ToString::to_string);
            let across =
                across.iter().filter(|(of, _)| *of == index).map(|(_, doubt)| doubt.to_string());
            for doubt in incomplete.into_iter().chain(missing).chain(of_run).chain(across) {
                match doubts.iter_mut().find(|(said, _)| *said == doubt) {
                    // Of a repeat of it.
                    Some((_, tests)) if tests.last() == Some(&run.name()) => {}
                    Some((_, tests)) => tests.push(run.name()),
                    None => doubts.push((doubt, vec![run.name()])),
                }
            }
        }
        let in_words = |(doubt, tests): (String, Vec<String>)| match self.runs.len() {
            1 => doubt,
            count if count > 2 && count == tests.len() => format!("all tests: {doubt}"),
            _ => format!("{}: {doubt}", tests.join("; ")),
        };
        doubts.into_iter().map(in_words).collect()
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
}

impl<'a> Subjects<'a> {
    /// # Panics
    /// If there are none.
    pub(crate) fn new(all: &'a [Subject]) -> Self {
        assert!(!all.is_empty(), "a report is about at least one drive");
        let model = |subject: &Subject| match &subject.runs[0].record.options.label {
            Some(label) => format!("{} ({label})", subject.drive().model),
            None => subject.drive().model.clone(),
        };
        let is_shared =
            |name: &String| all.iter().filter(|other| model(other) == *name).count() > 1;
        let name = |subject: &Subject| match model(subject) {
            shared if is_shared(&shared) => {
                let place = subject.runs[0].path.display().to_string();
                format!("{shared} ({})", printable(&place))
            }
            own => own,
        };
        Self { all, names: all.iter().map(name).collect() }
    }

    /// What a drive is called; where it cannot be told apart by its model, with its directory.
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
}
