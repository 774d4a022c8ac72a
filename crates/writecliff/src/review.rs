//! A review under way: what is left of it, and its tests, one after the other or all at once.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use writecliff_device::DeviceInfo;
use writecliff_measure::RunDirectory;
use writecliff_output::check_directory;
use writecliff_suite::{
    DriveIdentity, Estimate, Overrides, RerunError, Review, ReviewError, ReviewTest, RunOptions,
    TestEntry,
};
use writecliff_uring::DestroyData;

use crate::again::Again;
use crate::drive::DriveName;
use crate::error::Error;
use crate::progress::{Event, Watch};
use crate::run;
use crate::several::{ReviewEnd, run_all};

/// A review that is about to begin, or to go on. Nothing was written or asked of the drive yet.
#[derive(Debug)]
pub struct ReviewRun {
    review: Review,
    path: PathBuf,
    drive: DriveName,
    info: DeviceInfo,
    remaining: Vec<ReviewTest>,
    is_new: bool,
}

impl ReviewRun {
    /// A new review of `drive` into the directory `path`, by the tests that [`Review::choose`] gave.
    ///
    /// # Errors
    /// As [`DriveName::look`]; [`Error::Review`] if the tests, or what is changed of them, do not fit
    /// the drive; [`Error::Destination`].
    pub fn begin(
        drive: DriveName,
        tests: &[&TestEntry],
        overrides: &Overrides,
        options: RunOptions,
        path: &Path,
    ) -> Result<Self, Error> {
        check_place(path)?;
        let info = drive.look()?;
        let review = Review::of(&drive.to_string(), &info, tests, overrides, options)?;
        review.check(&info)?;
        let (path, remaining) = (path.to_owned(), review.tests.clone());
        Ok(Self { review, path, drive, info, remaining, is_new: true })
    }

    /// Goes on with the review in the directory `path`: on `drive`, or on the drive that it began
    /// with, by whatever name the system calls that now.
    ///
    /// # Errors
    /// As [`DriveName::look`]; [`Error::Review`] if there is none, if this is another drive, or if it
    /// goes on already.
    pub fn resume(path: &Path, drive: Option<DriveName>) -> Result<Self, Error> {
        let review = Review::open(path)?;
        check_directory(path)?;
        let drive = drive.unwrap_or_else(|| drive_of(&review));
        let info = drive.look()?;
        review.check(&info)?;
        let remaining = review.remaining(path, &info)?;
        Ok(Self { review, path: path.to_owned(), drive, info, remaining, is_new: false })
    }

    /// The review of a simulated drive in the directory `path` once more, into `out`: the same plans
    /// on the drive that its file carries. The second value is the version that made it, if it is not
    /// this one.
    ///
    /// # Errors
    /// [`Error::Review`] if there is none, or if `out` is not empty; [`Error::Again`] if one of its
    /// runs cannot be done again; [`Error::Destination`].
    pub fn again(path: &Path, out: &Path) -> Result<(Self, Option<String>), Error> {
        let review = Review::open(path)?;
        check_place(out)?;
        for test in &review.tests {
            let run = path.join(&test.directory);
            if !RunDirectory::is_at(&run) {
                return Err(RerunError::NotComplete.into());
            }
            Again::of(&run)?;
        }
        let (version, drive) = (review.tool_version.clone(), drive_of(&review));
        let info = drive.look()?;
        let (out, remaining) = (out.to_owned(), review.tests.clone());
        let review = Review { tool_version: env!("CARGO_PKG_VERSION").to_owned(), ..review };
        let other = (version != review.tool_version).then_some(version);
        Ok((Self { review, path: out, drive, info, remaining, is_new: true }, other))
    }

    /// What is, or will be, in `review.json`.
    pub fn review(&self) -> &Review {
        &self.review
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The drive, as it is called now.
    pub fn drive(&self) -> &DriveName {
        &self.drive
    }

    /// What the drive is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The tests that are still to be run.
    pub fn remaining(&self) -> &[ReviewTest] {
        &self.remaining
    }

    /// Time and bytes of what is still to be run, roughly.
    pub fn estimate(&self) -> Estimate {
        Review::estimate(&self.remaining, &self.info)
    }

    /// Whether what is still to be run destroys what is on the drive.
    pub fn writes(&self) -> bool {
        self.remaining.iter().any(|test| test.plan.writes())
    }

    /// Runs what remains: one test after the other on a real drive, on all processors on models of
    /// it. The guard, the consent and the memory for every test come before the first trace of a review.
    ///
    /// # Errors
    /// As [`run`], of the first test that failed; no further one was begun then. [`Error::Review`]
    /// if the directory cannot be made, or holds what is not the review's.
    pub fn run(&self, consent: Option<&DestroyData>, watch: Watch<'_>) -> Result<ReviewEnd, Error> {
        if !self.drive.is_simulated() {
            let options = &self.review.options;
            self.remaining
                .iter()
                .try_for_each(|test| self.drive.open(&test.plan, consent, options).map(drop))?;
        }
        if self.is_new {
            self.review.create(&self.path)?;
        }
        run_all(&self.drive, &self.remaining, watch, |test, watch| {
            match watch(Event::Begins(test.plan.name())) {
                ControlFlow::Continue(()) => self.run_test(test, consent, watch),
                ControlFlow::Break(()) => Ok(()),
            }
        })
    }

    fn run_test(
        &self,
        test: &ReviewTest,
        consent: Option<&DestroyData>,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        test.clear(&self.path)?;
        let path = self.path.join(&test.directory);
        run(&test.plan, &self.drive, consent, &path, self.review.options.clone(), watch).map(drop)
    }
}

/// Whether a review can begin at `path`, as far as that shows by now.
fn check_place(path: &Path) -> Result<(), Error> {
    check_directory(path)?;
    Ok(RunDirectory::check_place(path).map_err(ReviewError::from)?)
}

/// The drive that a review began with. A simulated one is built of what it was built of then. The
/// system may call a real one something else by now: then it is looked for by what it is, and taken
/// if exactly one is that.
fn drive_of(review: &Review) -> DriveName {
    if let Some(profile) = review.profile.clone() {
        let (address, profile) = (review.drive.clone(), Box::new(profile));
        return DriveName::Recorded { address, profile };
    }
    let named = DriveName::from(review.drive.as_str());
    let is_it = |info: &DeviceInfo| review.identity.is_same_drive(&DriveIdentity::of(info));
    let is_real = matches!(&named, DriveName::Real(path) if !path.is_file());
    if !is_real || named.look().is_ok_and(|info| is_it(&info)) {
        return named;
    }
    let here = writecliff_uring::disks().into_iter().map(DriveName::Real);
    let mut found = here.filter(|drive| drive.look().is_ok_and(|info| is_it(&info)));
    match (found.next(), found.next()) {
        (Some(drive), None) => drive,
        _ => named,
    }
}
