//! `writecliff review`: every test on one drive, one report; resumed where it was interrupted.

use std::path::{Path, PathBuf};

use clap::Args;
use writecliff::{DriveName, Overrides, Review, ReviewEnd, ReviewRun};
use writecliff_device::{Bytes, DeviceKind};
use writecliff_measure::{REPORT, RunDirectory};
use writecliff_report::PAGE;
use writecliff_suite::ReviewTest;

use super::again::say_other_version;
use super::report::page_of as show_page_of;
use super::run_plan::{announce, result_name, run_options, watched};
use crate::consent::{ComesFirst, consent};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::library::{Begun, keep};
use crate::live::{Live, Total};
use crate::open::open;
use crate::options::{CommonOptions, ShownOptions, percent, tests_of_a_review};
use crate::output::{print, say};
use crate::place::Place;

/// The drive that is reviewed when none is named.
const DEFAULT_DRIVE: &str = "sim:samsung-840-evo-250gb";

#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// Run these tests instead of those that a review has by default
    #[arg(long, value_name = "TEST,...", value_delimiter = ',', value_parser = tests_of_a_review())]
    pub(crate) tests: Vec<String>,
    /// Run these tests as well, of those that --tests has; with `all` every one
    #[arg(long, value_name = "TEST,...", value_delimiter = ',', value_parser = tests_of_a_review(),
          hide_possible_values = true)]
    pub(crate) with: Vec<String>,
    /// The settings of the spare-area test, in percent of the LBAs
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    /// [default: light-2011]
    #[arg(long, value_name = "TRACE,...", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    /// Of a real SSD: go on with consistency, and with each spare area, until it is steady, which takes
    /// one to five drive writes after each fill
    #[arg(long)]
    pub(crate) until_steady: bool,
    /// Host writes that the drive's maker promises, like 72TB: says which share a review uses up
    #[arg(long, value_name = "BYTES")]
    pub(crate) rated_writes: Option<Bytes>,
    /// Go on with the interrupted review in this directory: finished tests are kept
    #[arg(long, value_name = "REVIEW",
          conflicts_with_all = ["tests", "with", "spare", "traces", "until_steady", "out", "seed", "quick", "every_io", "io_timeout", "purge", "threads", "poll"])]
    pub(crate) resume: Option<PathBuf>,
    /// Do the review of a simulated drive in this directory again, to the same bytes, from it alone
    #[arg(long, value_name = "REVIEW",
          conflicts_with_all = ["drive", "resume", "tests", "with", "spare", "traces", "until_steady", "seed", "quick", "every_io", "io_timeout", "purge", "threads", "poll", "label", "destroy_data_on", "others_not_visible"])]
    pub(crate) again: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// Begins a review, or goes on with one.
pub(crate) fn review(drive: Option<DriveName>, options: &ReviewArguments) -> Result<(), CliError> {
    match (&options.resume, &options.again) {
        (Some(path), _) => {
            let review = resume(path, drive)?;
            match review.remaining().is_empty() && is_shown(&review) {
                true => nothing_to_do(&review, &options.common.shown),
                false => go(&review, options),
            }
        }
        (_, Some(path)) => go(&again(path, &options.common)?, options),
        _ => {
            let drive = drive.unwrap_or_else(|| DriveName::from(DEFAULT_DRIVE));
            let name = || result_name("review", &drive, &[]);
            let place = Place::named_or(options.common.out.as_deref(), name);
            go(&begin(drive, options, &place)?, options)
        }
    }
}

/// Runs what is left of a review, and shows what there is then.
fn go(review: &ReviewRun, options: &ReviewArguments) -> Result<(), CliError> {
    let shown = &options.common.shown;
    announce(shown, &tests(review), review.info(), review.estimate(), options.rated_writes);
    let consent = consent(
        review.drive(),
        review.writes(),
        &options.common.consent,
        ComesFirst::Purge(review.review().options.purge),
    )?;
    let interrupt = Interrupt::catch()?;
    let title = format!("review of {}", review.drive());
    let live = Live::begin(&title, total(review), &interrupt, shown.loudness());
    let is_real = !review.drive().is_simulated();
    let path = review.path().to_owned();
    let is_kept = review.info().kind != DeviceKind::Null && !options.common.no_bench;
    let begun = Begun::new(&path, is_kept);
    let ended = review.run(consent.as_ref(), &|event| {
        begun.seen();
        watched(&event, is_real, &live, &interrupt)
    });
    live.end();
    let is_there = |test: &ReviewTest| path.join(&test.directory).exists();
    let has_begun = review.review().tests.iter().any(is_there);
    let show = || match has_begun {
        true => {
            if review.info().kind != DeviceKind::Null {
                keep(&path, options.common.no_bench);
            }
            show_report(&path, shown)
        }
        false => Ok(()),
    };
    let ended = ended.map_err(|source| {
        // What ended it may keep the page from being written as well, and is what matters.
        let is_shown = has_begun && show().is_ok();
        CliError::review_broken(source, &path, is_shown)
    })?;
    show()?;
    match ended {
        ReviewEnd::Complete => Ok(()),
        ReviewEnd::Interrupted => Err(CliError::ToBeResumed { command: "review", path }),
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
    let name = || result_name("review", &drive, &[]);
    let place = Place::named_or(common.out.as_deref(), name);
    let (review, other_version) = ReviewRun::again(path, &place)?;
    if let Some(version) = other_version {
        say_other_version(path, &version);
    }
    Ok(review)
}

fn begin(drive: DriveName, options: &ReviewArguments, path: &Path) -> Result<ReviewRun, CliError> {
    let tests = Review::choose(&options.tests, &options.with).map_err(writecliff::Error::from)?;
    let common = &options.common;
    let overrides = Overrides {
        duration: None,
        until_steady: options.until_steady,
        spare: options.spare.clone(),
        seed: common.seed,
        traces: options.traces.clone(),
        reopen: None,
    };
    Ok(ReviewRun::begin(drive, &tests, &overrides, run_options(common), path)?)
}

/// Whether the page is there and has all of the runs in it.
fn is_shown(review: &ReviewRun) -> bool {
    let written = |path: PathBuf| path.metadata().and_then(|file| file.modified());
    let Ok(page) = written(page_of(review)) else { return false };
    let tests = &review.review().tests;
    let mut runs =
        tests.iter().map(|test| RunDirectory::record_of(&review.path().join(&test.directory)));
    runs.all(|run| written(run).is_ok_and(|run| run <= page))
}

fn page_of(review: &ReviewRun) -> PathBuf {
    review.path().join(REPORT).join(PAGE)
}

fn nothing_to_do(review: &ReviewRun, shown: &ShownOptions) -> Result<(), CliError> {
    if shown.json {
        return show_report(review.path(), shown);
    }
    let page = page_of(review);
    if !shown.quiet {
        let count = review.review().tests.len();
        say(&format!("nothing to do: all {count} tests of this review are finished"));
    }
    if shown.open {
        open(&page);
    }
    let name = if shown.quiet { "" } else { "Report: " };
    print(&format!("{name}{}\n", page.display()))
}

/// `9 tests`, and what of them is there already.
fn tests(review: &ReviewRun) -> String {
    let kept = kept(review);
    let kept = if kept > 0 { format!(" ({kept} finished and kept)") } else { String::new() };
    match review.remaining().len() {
        1 => format!("1 test{kept}"),
        count => format!("{count} tests{kept}"),
    }
}

fn kept(review: &ReviewRun) -> usize {
    review.review().tests.len() - review.remaining().len()
}

fn total(review: &ReviewRun) -> Total {
    let of = |test: &ReviewTest| (test.plan.name(), test.plan.estimate(review.info()).time);
    let is_simulated = review.drive().is_simulated();
    Total::of(review.remaining().iter().map(of), kept(review), is_simulated)
}

/// The page and the summary of what there is, complete or not.
fn show_report(path: &Path, shown: &ShownOptions) -> Result<(), CliError> {
    show_page_of(path, shown)
}
