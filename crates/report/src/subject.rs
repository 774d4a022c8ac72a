//! A drive with its runs: what a column of a comparison stands for.

use std::path::{Component, Path, PathBuf};

use writecliff_device::{DeviceInfo, DeviceKind};
use writecliff_measure::RunDirectory;
use writecliff_suite::{
    DriveIdentity, Label, Results, ResultsError, Stage, TestEntry, consistency, spare_area,
};

use crate::run::Run;

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
    pub planned: Option<Vec<&'static str>>,
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
        Ok(Self { runs, planned: Some(review.tests.iter().map(|test| test.plan.name()).collect()) })
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
    pub(crate) fn directory(&self) -> Vec<String> {
        let path = &self.runs[0].path;
        let own = match (&self.planned, path.parent()) {
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

    /// Why nothing may be concluded from all of its figures, if that is so.
    pub(crate) fn no_result(&self) -> Option<&'static str> {
        no_result(self.drive(), self.runs.iter())
    }

    /// Why nothing may be concluded from its figures of a section, if that is so: what is written across the
    /// pictures there. A section of no test is of all.
    pub(crate) fn no_result_in(&self, section: &str) -> Option<&'static str> {
        const OF_WRITES: [&str; 2] = [consistency::Plan::NAME, spare_area::Plan::NAME];
        let is_of_it = |run: &&Run| {
            let test = run.record.plan.name();
            // Settings of the spare area may be runs of either.
            test == section || (OF_WRITES.contains(&test) && OF_WRITES.contains(&section))
        };
        match TestEntry::find(section) {
            Some(_) => no_result(self.drive(), self.runs.iter().filter(is_of_it)),
            None => self.no_result(),
        }
    }

    /// Tests of its review that have not begun.
    pub(crate) fn not_begun(&self) -> Vec<&'static str> {
        let has_begun = |test: &&str| self.runs.iter().any(|run| run.record.plan.name() == *test);
        let planned = self.planned.iter().flatten().copied();
        planned.filter(|test| !has_begun(test)).collect()
    }

    /// Every doubt once, each with the indexes of the runs that it is about. Which figures are the
    /// fast buffer's is no doubt where it is known: their sections say it.
    pub(crate) fn doubts(&self) -> Vec<(String, Vec<usize>)> {
        let mut doubts: Vec<(String, Vec<usize>)> = Vec::new();
        for (index, run) in self.runs.iter().enumerate() {
            let incomplete =
                (!run.is_complete()).then(|| format!("Not complete: {}.", run.status()));
            let missing = run.of_repeats().map(|there| format!("{there}."));
            let of_run =
                run.and_repeats().flat_map(|run| &run.record.warnings).map(ToString::to_string);
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

    /// Whether any of what it did in a test is in doubt.
    pub(crate) fn is_doubtful(&self, test: &str) -> bool {
        let stages: &[Stage] = match test {
            consistency::Plan::NAME | spare_area::Plan::NAME => {
                &[Stage::Fill, Stage::Fresh, Stage::Later]
            }
            // Of what they give all is of the end.
            _ => &[Stage::Later],
        };
        stages.iter().any(|stage| self.is_doubtful_at(*stage, test))
    }

    /// Whether what it did there at one stage is, in all parts of the test: doubts about others are none about
    /// that.
    pub(crate) fn is_doubtful_at(&self, stage: Stage, test: &str) -> bool {
        self.is_part_doubtful_at(stage, test, None)
    }

    /// The same of one part of the test, as [`Figure::of`](writecliff_suite::Figure::of) has it.
    pub(crate) fn is_part_doubtful_at(&self, stage: Stage, test: &str, part: Option<&str>) -> bool {
        let mut of_test = self.runs.iter().filter(|run| run.record.plan.name() == test);
        of_test.any(|run| run.is_doubtful_at(stage, part))
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

fn no_result<'a>(
    drive: &DeviceInfo,
    mut runs: impl Iterator<Item = &'a Run>,
) -> Option<&'static str> {
    match drive.kind {
        DeviceKind::Null => Some("no drive: the speed of this machine"),
        _ => runs.any(|run| run.record.is_quick()).then_some("quick run: not a result"),
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
