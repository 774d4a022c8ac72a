//! Everything that can keep a call from doing what was asked.

use std::path::PathBuf;

use writecliff_array::ArrayError;
use writecliff_device::{DeviceError, ErrorKind, did_you_mean};
use writecliff_measure::RunDirectoryError;
use writecliff_output::OutputError;
use writecliff_report::{ModelError, ReportError};
use writecliff_sim::ProfileError;
use writecliff_suite::check::CheckError;
use writecliff_suite::gate::GateError;
use writecliff_suite::suite::FioSynthError;
use writecliff_suite::{
    PlanError, RepeatsError, RerunError, ResultsError, ReviewError, RunError, TESTS,
};
use writecliff_uring::{DirectoryError, OpenError, PsidRevertError};
use writecliff_workload::fio::FioError;

use crate::import::ImportError;

/// Why something was not done. [`Self::kind`] says whether to ask differently, to think again, or to
/// look after the machine; the text says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A simulated drive that there is not, or that cannot be.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// An array that there cannot be.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A path that can only be meant for a simulated drive.
    #[error(
        "there is no device or file '{name}' here; for the simulated drive say sim:{}",
        meant.join(" or sim:")
    )]
    MeantSimulated {
        /// What was asked for.
        name: String,
        /// The simulated drives of this name, or of names like it; at least one.
        meant: Vec<&'static str>,
    },
    /// A profile's file, which is not to be written over.
    #[error(
        "{} is the profile of a simulated drive by its name; for that drive say sim:{}", path.display(), path.display()
    )]
    MeantProfile {
        /// What was asked for.
        path: PathBuf,
    },
    /// A name that can only be meant for no drive.
    #[error(
        "no drive is called null; null: with a colon is none at all, on which tests show what this \
         machine itself can do"
    )]
    MeantNull,
    /// A directory in which nothing can be tested.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A test that writes all over a drive was to be run in a directory.
    #[error(
        "{test} is of whole drives; in a directory there are `writecliff run commit --in DIRECTORY` and jobs that \
         only write, `writecliff run mixed --in DIRECTORY --plan FILE`"
    )]
    NoTestOfDirectories {
        /// The test.
        test: &'static str,
    },
    /// A real drive that is refused, or that cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A drive that did not do what it was asked for outside of a test.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A simulated drive was to be purged or reverted by itself.
    #[error(
        "{name} is no real drive, and this is for real ones; a run on a model begins with a fresh one"
    )]
    NoRealDrive {
        /// The drive.
        name: String,
    },
    /// A drive that was not reverted by its PSID.
    #[error(transparent)]
    PsidRevert(#[from] PsidRevertError),
    /// A drive that can neither be erased nor trimmed.
    #[error(
        "{name} offers no way to erase or trim it that is done without being asked for by name; \
         `writecliff drives {name}` tells what it has"
    )]
    NoPurge {
        /// The drive.
        name: String,
    },
    /// A test that there is not.
    #[error(
        "there is no test '{name}'{}; there are {}",
        did_you_mean(name, TESTS.iter().map(|test| test.name)),
        TESTS.iter().map(|test| test.name).collect::<Vec<_>>().join(", ")
    )]
    UnknownTest {
        /// What was asked for.
        name: String,
    },
    /// A plan's file that cannot be read.
    #[error("cannot read the plan {}: {source}", path.display())]
    PlanUnreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A plan's file with something in it that no plan has.
    #[error(
        "{}:{line}: {message} (in '{found}'; run.json of any run of {test} shows all keys of its \
         plan)", path.display()
    )]
    PlanInvalid {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// The test.
        test: String,
        /// The parser's words.
        message: String,
    },
    /// A plan's file that describes no load.
    #[error(
        "{} has no [[job]], and a load of one's own needs one: docs/formats.md shows how to \
         describe it", path.display()
    )]
    PlanWithoutJobs {
        /// The file.
        path: PathBuf,
    },
    /// A suite that is not understood.
    #[error("{}: {source}", path.display())]
    SuiteInvalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: FioSynthError,
    },
    /// A job file that a suite names and that cannot be read.
    #[error(
        "{}: cannot read the job file {file} of step '{step}': {source}; it was looked for as {}",
        suite.display(),
        looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    StepFileUnreadable {
        /// The suite's file.
        suite: PathBuf,
        /// The step that names it.
        step: String,
        /// As it is named there.
        file: String,
        /// Where it would be.
        looked: Vec<PathBuf>,
        /// The system's error.
        source: std::io::Error,
    },
    /// fio's job file with something that is not understood.
    #[error(transparent)]
    JobFile(#[from] FioError),
    /// A plan that does not suit the test or the drive.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A test that ended without its result.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run that cannot be done again.
    #[error(transparent)]
    Again(#[from] RerunError),
    /// A run's directory that cannot be written or read.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// A review that cannot begin or go on.
    #[error(transparent)]
    Review(#[from] ReviewError),
    /// Repeats that cannot begin or be read.
    #[error(transparent)]
    Repeats(#[from] RepeatsError),
    /// A directory that holds no results, or none that can be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A page that cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A run that no cost model comes of.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A review without the test that measures one.
    #[error(
        "{} is a review without cost-model; `writecliff run cost-model DRIVE` measures one, and so does a \
         review with `--with cost-model`", path.display()
    )]
    NoCostModel {
        /// The review.
        path: PathBuf,
    },
    /// A gate that cannot be decided.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A simulated drive that cannot be held against published figures.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A result of fio's that does not become a run.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A place that nothing is written to.
    #[error(transparent)]
    Destination(#[from] OutputError),
}

impl Error {
    /// What kind of no this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Profile(error) => error.kind(),
            Self::Array(error) => error.kind(),
            Self::Open(error) => error.kind(),
            Self::Device(error) => error.kind(),
            Self::Directory(error) => error.kind(),
            Self::PsidRevert(error) => error.kind(),
            Self::NoRealDrive { .. } | Self::NoPurge { .. } => ErrorKind::Usage,
            Self::Plan(error) => error.kind(),
            Self::Run(error) => error.kind(),
            Self::Again(error) => error.kind(),
            Self::RunDirectory(error) => error.kind(),
            Self::Review(error) => error.kind(),
            Self::Repeats(error) => error.kind(),
            Self::Results(error) => error.kind(),
            Self::Report(error) => error.kind(),
            Self::Model(error) => error.kind(),
            Self::Gate(error) => error.kind(),
            Self::Check(error) => error.kind(),
            Self::Import(error) => error.kind(),
            Self::Destination(error) => error.kind(),
            Self::MeantSimulated { .. }
            | Self::MeantProfile { .. }
            | Self::MeantNull
            | Self::NoTestOfDirectories { .. }
            | Self::NoCostModel { .. }
            | Self::UnknownTest { .. }
            | Self::PlanUnreadable { .. }
            | Self::PlanInvalid { .. }
            | Self::PlanWithoutJobs { .. }
            | Self::SuiteInvalid { .. }
            | Self::StepFileUnreadable { .. }
            | Self::JobFile(_) => ErrorKind::Usage,
        }
    }
}
