//! A review: a directory with the runs of several tests of one drive.
//!
//! `review.json` says what is to be run, and is written before anything is; how far it came is read
//! from the runs themselves. Tests that are complete are kept whatever happens; one that was
//! interrupted starts again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use writecliff_device::DeviceInfo;
use writecliff_measure::{Liveness, RunDirectoryError, recover};

use crate::{Estimate, Overrides, Plan, PlanError, RunOptions, SCHEMA_VERSION, Status, TESTS};

const FILE: &str = "review.json";

/// What is to be run on which drive, as `review.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Schema version of the runs.
    pub schema_version: u32,
    /// Version of the tool that began it.
    pub tool_version: String,
    /// The drive, as the user named it.
    pub drive: String,
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
    /// A plan that cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The directory holds something already.
    #[error(
        "{} is not empty; give --out a new directory, or go on with an interrupted review by \
         --resume", path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The directory or `review.json` cannot be written.
    #[error("cannot write {}: {source}; choose another directory with --out", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// This is no review, or its file is damaged.
    #[error("cannot read {}: {source}; is {} the directory of a review?", path.display(), path.parent().unwrap_or(path).display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's error.
        source: io::Error,
    },
    /// A run of the review is damaged.
    #[error(transparent)]
    Run(#[from] RunDirectoryError),
    /// Somebody else is at work on it.
    #[error("{} is still being recorded by another process; wait for it or stop it", path.display())]
    Running {
        /// The run.
        path: PathBuf,
    },
    /// The drive is not the one that the review began with.
    #[error("this is {found}, and the review began with {expected}; resume it with that drive")]
    OtherDrive {
        /// What the review's runs were made on.
        expected: String,
        /// What is there now.
        found: String,
    },
}

impl Review {
    /// A review of `drive` by the tests named, or by all that are run by default.
    ///
    /// # Errors
    /// [`ReviewError::UnknownTest`] or [`ReviewError::Plan`].
    pub fn of(
        drive: &str,
        tests: &[String],
        overrides: &Overrides,
        options: RunOptions,
    ) -> Result<Self, ReviewError> {
        let chosen = match tests {
            [] => TESTS.iter().filter(|test| test.by_default).collect(),
            names => names
                .iter()
                .map(|name| {
                    let known = || TESTS.iter().map(|test| test.name).collect();
                    let found = TESTS.iter().find(|test| test.name == *name);
                    found.ok_or_else(|| ReviewError::UnknownTest {
                        name: name.clone(),
                        known: known(),
                    })
                })
                .collect::<Result<Vec<_>, _>>()?,
        };
        let tests = chosen.into_iter().map(|test| {
            let plan = (test.plan)();
            let plan = if options.quick { plan.quick() } else { plan };
            let plan = plan.with(&overrides.for_review(test.name))?;
            Ok(ReviewTest { directory: test.name.to_owned(), plan })
        });
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            drive: drive.to_owned(),
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
    /// [`ReviewError::NotEmpty`] or [`ReviewError::Write`].
    pub fn create(&self, path: &Path) -> Result<(), ReviewError> {
        let write = |source| ReviewError::Write { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(write)?;
        if fs::read_dir(path).map_err(write)?.next().is_some() {
            return Err(ReviewError::NotEmpty { path: path.to_owned() });
        }
        let (file, partial) = (path.join(FILE), path.join("review.json.partial"));
        let text = serde_json::to_string_pretty(self).map_err(|error| write(error.into()))?;
        fs::write(&partial, text + "\n").and_then(|()| fs::rename(partial, file)).map_err(write)
    }

    /// Reads a review's file.
    ///
    /// # Errors
    /// [`ReviewError::Read`] if there is none or it is damaged.
    pub fn open(path: &Path) -> Result<Self, ReviewError> {
        let file = path.join(FILE);
        let read = |source| ReviewError::Read { path: file.clone(), source };
        let text = fs::read(&file).map_err(read)?;
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| read(error.into()))?;
        crate::check_version(&value).map_err(read)?;
        serde_json::from_value(value).map_err(|error| read(error.into()))
    }

    /// Whether the directory is that of a review.
    pub fn is_at(path: &Path) -> bool {
        path.join(FILE).is_file()
    }

    /// The tests that are still to be run; what an interrupted one left behind is removed.
    ///
    /// # Errors
    /// [`ReviewError::Running`] if one of them goes on in another process,
    /// [`ReviewError::OtherDrive`] if a finished one was made on a drive that is not `drive`.
    pub fn remaining(
        &self,
        path: &Path,
        drive: &DeviceInfo,
    ) -> Result<Vec<ReviewTest>, ReviewError> {
        let mut remaining = Vec::new();
        for test in &self.tests {
            let run = path.join(&test.directory);
            if !run.exists() {
                remaining.push(test.clone());
                continue;
            }
            if recover(&run)? == Liveness::Alive {
                return Err(ReviewError::Running { path: run });
            }
            let complete = crate::open(&run).ok().map(|(record, _)| record);
            match complete.filter(|record| record.status == Status::Complete) {
                Some(record) => same_drive(&record.drive, drive)?,
                None => {
                    fs::remove_dir_all(&run)
                        .map_err(|source| ReviewError::Write { path: run, source })?;
                    remaining.push(test.clone());
                }
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
        plans.fold(Estimate::default(), Estimate::and)
    }
}

fn same_drive(expected: &DeviceInfo, found: &DeviceInfo) -> Result<(), ReviewError> {
    let key = |drive: &DeviceInfo| {
        let serial = drive.serial.as_ref().map_or_else(String::new, |s| format!(", serial {s}"));
        format!("{}{serial}, {} bytes", drive.model, drive.capacity.0)
    };
    let (expected, found) = (key(expected), key(found));
    if expected == found { Ok(()) } else { Err(ReviewError::OtherDrive { expected, found }) }
}
