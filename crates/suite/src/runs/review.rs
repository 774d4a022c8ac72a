//! A review: a directory with the runs of several tests of one drive.
//!
//! `review.json` says what is to be run on which drive, and is written before anything is; how far it
//! came is read from the runs themselves. Tests that are complete are kept whatever happens; one
//! that was interrupted starts again, and what it left is removed only then.

use std::convert::identity;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use writecliff_device::{DeviceInfo, ErrorKind, ProfileRecord};
use writecliff_measure::{Liveness, RunDirectory, RunDirectoryError, recover};

use crate::list::RunRecord;
use crate::list::{Plan, TESTS, TestEntry};
use crate::method::estimate::Estimate;
use crate::method::limits::PlanError;
use crate::method::overrides::Overrides;
use crate::method::test::InReviews;
use crate::record::drive_identity::DriveIdentity;
use crate::record::file::create;
use crate::record::file::read;
use crate::record::file::read_record;
use crate::record::options::RunOptions;
use crate::record::run_record::{SCHEMA_VERSION, Status};

const FILE: &str = "review.json";

/// What names every test whose load is not the user's own.
pub const ALL_TESTS: &str = "all";

/// What is to be run on which drive, as `review.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Schema version of the runs.
    pub schema_version: u32,
    /// Version of the tool that began it.
    pub tool_version: String,
    /// The drive, as the user named it.
    pub drive: String,
    /// What the drive was: a review goes on with no other.
    pub identity: DriveIdentity,
    /// What the drive was built of, if it is simulated: the review goes on with that, whatever
    /// became of the file it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileRecord>,
    /// How each run is kept and called.
    pub options: RunOptions,
    /// The tests, in their order.
    pub tests: Vec<ReviewTest>,
}

/// One test of a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewTest {
    /// Where its run is, within the review's directory.
    pub directory: String,
    /// What it is to do.
    pub plan: Plan,
}

/// What can go wrong with a review's directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// A test that there is not.
    #[error("there is no test '{name}'; there are {}", known.join(", "))]
    UnknownTest {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// Settings of a test that the review does not have.
    #[error("{option} {got} is not possible: {test} is not among the tests; add it")]
    NotAmong {
        /// The field of [`Overrides`].
        option: &'static str,
        /// What it was.
        got: String,
        /// The test that it is about.
        test: &'static str,
    },
    /// A plan that cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// This is a single run.
    #[error(
        "{} is one run and not a review, which is resumed and done again by its own directory; name \
         that, or run the test again", path.display()
    )]
    IsRun {
        /// The run.
        path: PathBuf,
    },
    /// Its directory cannot be begun, or what is in it cannot be read.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// Somebody else is at work on it.
    #[error("{} is still being recorded by another process; wait for it or stop it", path.display())]
    Running {
        /// The run.
        path: PathBuf,
    },
    /// The drive is not the one that the review began with.
    #[error("this is {found}, and the review began with {expected}; resume it with that drive")]
    OtherDrive {
        /// What the review began with.
        expected: Box<DriveIdentity>,
        /// What is there now.
        found: Box<DriveIdentity>,
    },
    /// A finished run did something else than the review asks for.
    #[error(
        "the run in {} is complete, but was made by another plan than review.json has; move it \
         away to run the test again", path.display()
    )]
    OtherPlan {
        /// The run.
        path: PathBuf,
    },
    /// A name that leads out of the review.
    #[error(
        "{} names the directory '{directory}', which is not one of the review's own; a test's \
         directory has its test's name", path.display()
    )]
    LeadsOut {
        /// The review's file.
        path: PathBuf,
        /// What it says.
        directory: String,
    },
}

impl ReviewError {
    /// What it asks of whoever began or resumes the review.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Directory(error) => error.kind(),
            Self::Running { .. } => ErrorKind::Failed,
            Self::UnknownTest { .. }
            | Self::NotAmong { .. }
            | Self::Plan(_)
            | Self::IsRun { .. }
            | Self::OtherDrive { .. }
            | Self::OtherPlan { .. }
            | Self::LeadsOut { .. } => ErrorKind::Usage,
        }
    }
}

impl Review {
    /// The tests of these names, or those that are run by default if none is named, and those of
    /// `with` besides: in the order of the table, each once. [`ALL_TESTS`] names all but the user's own.
    ///
    /// # Errors
    /// [`ReviewError::UnknownTest`].
    pub fn choose(
        names: &[String],
        with: &[String],
    ) -> Result<Vec<&'static TestEntry>, ReviewError> {
        let is_known = |name: &&String| *name == ALL_TESTS || TestEntry::find(name).is_some();
        if let Some(name) = names.iter().chain(with).find(|name| !is_known(name)) {
            let known = TESTS.iter().map(|test| test.name).chain([ALL_TESTS]).collect();
            return Err(ReviewError::UnknownTest { name: name.clone(), known });
        }
        let is_named = |test: &&TestEntry| {
            let all = test.reviews != InReviews::ByName;
            names.iter().chain(with).any(|name| name == test.name || (all && name == ALL_TESTS))
        };
        let is_default =
            |test: &&TestEntry| names.is_empty() && test.reviews == InReviews::ByDefault;
        Ok(TESTS.iter().filter(|test| is_default(test) || is_named(test)).collect())
    }

    /// A review of `drive`, which `info` describes, by these tests.
    ///
    /// # Errors
    /// [`ReviewError::NotAmong`] or [`ReviewError::Plan`].
    pub fn of(
        drive: &str,
        info: &DeviceInfo,
        tests: &[&TestEntry],
        overrides: &Overrides,
        options: RunOptions,
    ) -> Result<Self, ReviewError> {
        check_lists(tests, overrides)?;
        let is_quick = options.quick;
        let tests = tests.iter().map(|test| {
            let plan = (test.plan)();
            let plan = if is_quick { plan.quick() } else { plan };
            let plan = plan.with(&overrides.for_review(test.choices))?.fitted(info).on(info);
            Ok(ReviewTest { directory: test.name.to_owned(), plan })
        });
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            drive: drive.to_owned(),
            identity: DriveIdentity::of(info),
            profile: info.profile.clone(),
            options,
            tests: tests.collect::<Result<_, PlanError>>()?,
        })
    }

    /// Checks every plan against the drive.
    ///
    /// # Errors
    /// [`PlanError`] with what to change.
    pub fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        self.tests.iter().try_for_each(|test| test.plan.check(drive))
    }

    /// Makes the review's directory.
    ///
    /// # Errors
    /// [`ReviewError::Directory`].
    pub fn create(&self, path: &Path) -> Result<(), ReviewError> {
        Ok(create(path, FILE, self)?)
    }

    /// Reads a review's file.
    ///
    /// # Errors
    /// [`ReviewError::Directory`] if there is none or it is damaged, [`ReviewError::IsRun`],
    /// [`ReviewError::LeadsOut`].
    pub fn open(path: &Path) -> Result<Self, ReviewError> {
        if !Self::is_at(path) && RunDirectory::is_at(path) {
            return Err(ReviewError::IsRun { path: path.to_owned() });
        }
        // As it was written: a drive is known again by what it says of itself, whatever that is.
        let review: Self = read(&path.join(FILE), identity)?;
        // A run is where its test says, and nowhere else.
        let is_own = |test: &&ReviewTest| test.directory == test.plan.name();
        match review.tests.iter().find(|test| !is_own(test)) {
            Some(ReviewTest { directory, .. }) => {
                let directory = directory.clone();
                Err(ReviewError::LeadsOut { path: path.join(FILE), directory })
            }
            None => Ok(review),
        }
    }

    /// Whether the directory is that of a review.
    pub fn is_at(path: &Path) -> bool {
        path.join(FILE).is_file()
    }

    /// The tests that are still to be run. Only looks.
    ///
    /// # Errors
    /// [`ReviewError::OtherDrive`] if the review began with another drive,
    /// [`ReviewError::Running`] if one of the tests goes on in another process,
    /// [`ReviewError::OtherPlan`] if a finished one was made by another plan, and what keeps a run
    /// from being read.
    pub fn remaining(
        &self,
        path: &Path,
        drive: &DeviceInfo,
    ) -> Result<Vec<ReviewTest>, ReviewError> {
        let found = DriveIdentity::of(drive);
        if !self.identity.is_same_drive(&found) {
            let (expected, found) = (Box::new(self.identity.clone()), Box::new(found));
            return Err(ReviewError::OtherDrive { expected, found });
        }
        let mut remaining = Vec::new();
        for test in &self.tests {
            if !test.is_complete(path)? {
                remaining.push(test.clone());
            }
        }
        Ok(remaining)
    }

    /// Time and bytes of all its tests, roughly.
    pub fn estimate<'a>(
        tests: impl IntoIterator<Item = &'a ReviewTest>,
        drive: &DeviceInfo,
    ) -> Estimate {
        let plans = tests.into_iter().map(|test| test.plan.estimate(drive));
        plans.reduce(Estimate::and).unwrap_or_default()
    }
}

/// A list of settings is one test's own, and says nothing to a review without that test.
fn check_lists(tests: &[&TestEntry], overrides: &Overrides) -> Result<(), ReviewError> {
    for (option, got) in overrides.given() {
        let takes = |test: &&TestEntry| {
            test.choices.iter().any(|choice| choice.is_list() && choice.key() == option)
        };
        let owner = TESTS.iter().find(takes);
        if let Some(owner) = owner.filter(|owner| !tests.iter().any(|t| t.name == owner.name)) {
            return Err(ReviewError::NotAmong { option, got, test: owner.name });
        }
    }
    Ok(())
}

impl ReviewTest {
    fn is_complete(&self, review: &Path) -> Result<bool, ReviewError> {
        let run = review.join(&self.directory);
        if !RunDirectory::is_at(&run) {
            return Ok(false);
        }
        if recover(&run)? == Liveness::Alive {
            return Err(ReviewError::Running { path: run });
        }
        let record: RunRecord = read_record(&run)?;
        match record.status {
            Status::Complete if record.plan == self.plan => Ok(true),
            Status::Complete => Err(ReviewError::OtherPlan { path: run }),
            _ => Ok(false),
        }
    }

    /// Removes what an interrupted run of the test left, so that it can begin again.
    ///
    /// # Errors
    /// [`RunDirectoryError::NotOurs`] if there is anything that no run puts there; nothing is
    /// removed then.
    pub fn clear(&self, review: &Path) -> Result<(), ReviewError> {
        let run = review.join(&self.directory);
        if !run.exists() || self.is_complete(review)? {
            return Ok(());
        }
        Ok(RunDirectory::remove(&run)?)
    }
}
