//! `writecliff review`: every test on one drive, one report; resumed where it was interrupted.

use std::path::{Path, PathBuf};

use clap::Args;
use writecliff::{
    DriveName, Overrides, ReportOptions, Review, ReviewEnd, ReviewRun, RunRecord, report,
};
use writecliff_device::{Bytes, Nanos};
use writecliff_measure::REPORT;
use writecliff_suite::Estimate;

use super::run::{default_directory, run_options, say_other_version, watched};
use crate::consent::consent;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::live::Live;
use crate::options::{CommonOptions, percent, test_names};
use crate::output::{print, print_json, say};

/// The drive that is reviewed when none is named.
const DEFAULT_DRIVE: &str = "sim:samsung-840-evo-250gb";

#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// Run these tests instead of the usual ones: all but steady-state
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = test_names())]
    pub(crate) tests: Vec<String>,
    /// Run these tests as well
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = test_names())]
    pub(crate) with: Vec<String>,
    /// The settings of the spare-area test, in percent of the LBAs
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    /// [default: light-2011]
    #[arg(long, value_name = "TRACE", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    /// Host writes that the drive's maker promises, like 72TB: says which share a review uses up
    #[arg(long, value_name = "BYTES")]
    pub(crate) rated_writes: Option<Bytes>,
    /// Go on with the interrupted review in this directory: finished tests are kept
    #[arg(long, value_name = "REVIEW",
          conflicts_with_all = ["tests", "with", "spare", "traces", "out", "seed", "quick", "every_io", "io_timeout"])]
    pub(crate) resume: Option<PathBuf>,
    /// Do the review of a simulated drive in this directory again, to the same bytes, from it alone
    #[arg(long, value_name = "REVIEW",
          conflicts_with_all = ["drive", "resume", "tests", "with", "spare", "traces", "seed", "quick", "every_io", "io_timeout", "label", "destroy_data_on"])]
    pub(crate) again: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// Begins a review, or goes on with one.
pub(crate) fn review(drive: Option<DriveName>, options: &ReviewArguments) -> Result<(), CliError> {
    let review = match (&options.resume, &options.again) {
        (Some(path), _) => resume(path, drive)?,
        (_, Some(path)) => again(path, &options.common)?,
        _ => begin(drive.unwrap_or_else(|| DriveName::from(DEFAULT_DRIVE)), options)?,
    };
    announce(&review, options.rated_writes);
    let passed = options.common.destroy_data_on.as_deref();
    let consent = consent(review.drive(), review.writes(), passed)?;
    let interrupt = Interrupt::catch()?;
    let live = Live::begin(&format!("review of {}", review.drive()), &interrupt);
    let is_real = !review.drive().is_simulated();
    let ended = review.run(consent.as_ref(), &|event| watched(&event, is_real, &live, &interrupt));
    live.end();
    let path = review.path().to_owned();
    let ended = ended.map_err(|source| CliError::review_broken(source, &path))?;
    if review.review().tests.iter().any(|test| path.join(&test.directory).exists()) {
        show_report(&path, options.common.json)?;
    }
    match ended {
        ReviewEnd::Complete => Ok(()),
        ReviewEnd::Interrupted => Err(CliError::ReviewInterrupted { path }),
    }
}

fn resume(path: &Path, drive: Option<DriveName>) -> Result<ReviewRun, CliError> {
    let is_named = drive.is_some();
    let review = ReviewRun::resume(path, drive)?;
    let (then, now) = (&review.review().drive, review.drive().to_string());
    if !is_named && *then != now {
        say(&format!("{then} is called {now} now"));
    }
    Ok(review)
}

fn again(path: &Path, common: &CommonOptions) -> Result<ReviewRun, CliError> {
    let review = Review::open(path).map_err(writecliff::Error::from)?;
    let drive = DriveName::from(review.drive.as_str());
    let out = common.out.clone().unwrap_or_else(|| default_directory("review", &drive, &[]));
    let (review, other_version) = ReviewRun::again(path, &out)?;
    if let Some(version) = other_version {
        say_other_version(path, &version);
    }
    Ok(review)
}

fn begin(drive: DriveName, options: &ReviewArguments) -> Result<ReviewRun, CliError> {
    let tests = Review::choose(&options.tests, &options.with).map_err(writecliff::Error::from)?;
    let common = &options.common;
    let overrides = Overrides {
        duration: None,
        spare: options.spare.clone(),
        seed: common.seed,
        traces: options.traces.clone(),
    };
    let path = common.out.clone().unwrap_or_else(|| default_directory("review", &drive, &[]));
    Ok(ReviewRun::begin(drive, &tests, &overrides, run_options(common), &path)?)
}

/// Says what is about to happen, before anything does.
fn announce(review: &ReviewRun, rated_writes: Option<Bytes>) {
    let Estimate { time, written, .. } = review.estimate();
    let kept = review.review().tests.len() - review.remaining().len();
    let kept = if kept > 0 { format!(" ({kept} finished and kept)") } else { String::new() };
    let tests = match review.remaining().len() {
        1 => "1 test".to_owned(),
        count => format!("{count} tests"),
    };
    let drive = review.info();
    let mut text = format!(
        "{tests} of {}{kept}: roughly {} of the drive's time, roughly {written} to be written",
        drive.model,
        human(time),
    );
    if let Some(rated) = rated_writes.or(drive.specification.rated_writes) {
        let share = written.0 as f64 / rated.0 as f64 * 100.0;
        text += &format!(", {share:.1} % of the {rated} that it is rated for");
    }
    say(&format!("{text}."));
}

/// The page and the summary of what there is, complete or not.
fn show_report(path: &Path, json: bool) -> Result<(), CliError> {
    let report = report(&[path], &path.join(REPORT), &ReportOptions::default())?;
    match json {
        true => print_json(&report.records.iter().map(RunRecord::with_figures).collect::<Vec<_>>()),
        false => print(&format!("{}\nReport: {}\n", report.summary, report.page.display())),
    }
}

/// `90 s`, `45 min`, `7.5 h`.
pub(crate) fn human(time: Nanos) -> String {
    match time.as_secs_f64() {
        seconds @ ..120.0 => format!("{seconds:.0} s"),
        seconds @ ..7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
