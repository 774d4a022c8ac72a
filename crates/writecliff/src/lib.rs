//! Writecliff as a library: the consistency review of a real or a simulated drive, from a program.
//!
//! ```
//! use writecliff::{
//!     DriveName, Overrides, ReportOptions, Review, ReviewEnd, ReviewRun, RunOptions, UNWATCHED, report,
//! };
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("evo");
//! let drive = DriveName::from("sim:samsung-840-evo-250gb");
//! let tests = Review::choose(&["consistency".to_owned(), "trim".to_owned()], &[])?;
//! let options = RunOptions { quick: true, ..RunOptions::default() };
//! let review = ReviewRun::begin(drive, &tests, &Overrides::default(), options, &path)?;
//! assert_eq!(review.run(None, UNWATCHED)?, ReviewEnd::Complete);
//! let report = report(&[&path], &path.join("report"), &ReportOptions::default())?;
//! println!("{}\nOpen {}", report.summary, report.page.display());
//! # assert!(report.summary.contains("840 EVO") && report.page.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Drives
//!
//! A [`DriveName`] is what a user calls a drive. [`DriveName::look`] tells what it is and
//! [`DriveName::open`] gives a [`Device`](device::Device). A real drive is only opened to be written
//! after the safety guard has judged it and with [`DestroyData`], consent that names this drive and no
//! other; [`DriveName::inspect`] tells which name that is, to be shown to somebody who decides.
//!
//! # Tests and reviews
//!
//! [`TESTS`] lists the tests. [`plan`] gives a test's method as a [`Plan`], [`Plan::quick`] cuts it
//! down to minutes, [`Plan::with`] changes single values, [`read_plan`] reads one from a file.
//! [`run`] runs it into a directory, [`ReviewRun`] runs several and goes on where one was interrupted.
//! Both tell a [`Watch`] every second what they do; it breaks them off by its answer.
//!
//! A run of a simulated drive carries all that it was made of: [`Again`] does it again from its
//! directory alone, to the same bytes.
//!
//! [`RepeatRun`] runs one plan several times with nothing but the seed different, and
//! [`FigureStatistics`](suite::FigureStatistics) says how far its figures can be relied on.
//!
//! # Results
//!
//! [`import_fio`] makes a run of what fio measured. [`open`] reads a run back: its [`RunRecord`] and every second of it. [`report`] makes the page of
//! any number of runs, [`gate`] holds one against limits and an earlier one, [`cost_model`] writes what
//! other systems want to know of a drive.
//!
//! # Errors
//!
//! Every error says its [`ErrorKind`]: wrong usage, refused for safety, failed, interrupted. Texts
//! name fields and keys; which flag or argument that is, only a face of the product knows.
//!
//! # The rooms
//!
//! The crates below are re-exported whole: [`device`] is the seam, [`sim`] the simulated drives, [`array`] arrays of them,
//! [`uring`] the real ones, [`suite`] the tests, [`measure`] the recording, [`trace`] traces of
//! applications.

mod again;
pub mod check;
mod cost_model;
mod drive;
mod error;
mod gate;
mod import;
mod memory;
mod plan_file;
mod progress;
mod purge;
mod repeat;
mod report;
mod review;
mod run;
mod several;

pub use writecliff_array as array;
pub use writecliff_device as device;
pub use writecliff_measure as measure;
pub use writecliff_sim as sim;
pub use writecliff_suite as suite;
pub use writecliff_trace as trace;
pub use writecliff_uring as uring;

pub use again::Again;
pub use cost_model::{cost_model, cost_model_of};
pub use drive::{DriveName, profile, simulated};
pub use error::Error;
pub use gate::{Gated, gate};
pub use import::{ImportError, Imported, import_fio};
pub use memory::{Budget, Share, memory_here, memory_of};
pub use plan_file::read_plan;
pub use progress::{Event, UNWATCHED, Watch};
pub use purge::{Purged, psid_revert, purge};
pub use repeat::RepeatRun;
pub use report::{Report, ReportOptions, report};
pub use review::ReviewRun;
pub use run::{plan, run};
pub use several::ReviewEnd;
pub use writecliff_device::ErrorKind;
pub use writecliff_report::{Format, MODEL_FORMATS, ModelFormat, ModelOptions, Source};
pub use writecliff_suite::{
    ALL_TESTS, InReviews, Label, Outcome, Overrides, Plan, Progress, Review, RunOptions, RunRecord,
    TESTS, ThreadCount, open,
};
pub use writecliff_uring::{DestroyData, Inspection, Psid, UnfinishedPurge};
