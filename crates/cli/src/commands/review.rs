//! `writecliff review`: every test on one drive, one report; resumed where it was interrupted.

use std::ffi::OsString;
use std::path::Path;

use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_output::check_directory;
use writecliff_report::{Subject, verdict_text, write_page};
use writecliff_suite::{
    DriveIdentity, Estimate, Overrides, Review, ReviewTest, RunError, in_parallel,
};
use writecliff_uring::DestroyData;

use super::run::{default_directory, perform, run_options};
use super::trace::from_anywhere;
use super::{print, say};
use crate::args::{DEFAULT_DRIVE, ReviewOptions};
use crate::drive::DriveName;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::live::Live;

/// Begins a review, or goes on with one.
pub(crate) fn review(drive: Option<DriveName>, options: &ReviewOptions) -> Result<(), CliError> {
    let common = &options.common;
    let (review, path, drive) = match &options.resume {
        Some(path) => {
            let review = Review::open(path)?;
            let drive = drive.unwrap_or_else(|| drive_of(&review));
            (review, path.clone(), drive)
        }
        None => {
            let drive = drive.unwrap_or_else(|| DriveName::from(OsString::from(DEFAULT_DRIVE)));
            let review = begin(&drive, &drive.info()?, options)?;
            let path =
                common.out.clone().unwrap_or_else(|| default_directory("review", &drive, &[]));
            (review, path, drive)
        }
    };
    check_directory(&path)?;
    let info = drive.info()?;
    review.check(&info).map_err(RunError::from)?;
    let remaining = match &options.resume {
        Some(_) => review.remaining(&path, &info)?,
        None => review.tests.clone(),
    };
    let writes = remaining.iter().any(|test| test.plan.writes());
    announce(&remaining, &review, &info, options.rated_writes);
    let consent = drive.consent(writes, common.destroy_data_on.as_deref())?;
    if !drive.is_simulated() {
        // The guard, the consent and the memory for every test come before the first trace of a
        // review.
        remaining.iter().try_for_each(|test| drive.open(&test.plan, &consent).map(drop))?;
    }
    if options.resume.is_none() {
        review.create(&path)?;
    }
    let interrupt = Interrupt::catch()?;
    let ended = run_all(&remaining, &review, &drive, &consent, &path, &interrupt);
    ended.map_err(|source| CliError::ReviewBroken {
        source: Box::new(source),
        path: path.clone(),
    })?;
    if review.tests.iter().any(|test| path.join(&test.directory).exists()) {
        report(&path, common.json)?;
    }
    if interrupt.is_raised() { Err(CliError::ReviewInterrupted { path }) } else { Ok(()) }
}

/// The drive that a review began with. The system may call it something else by now: then it is
/// looked for by what it is, and taken if exactly one is that.
fn drive_of(review: &Review) -> DriveName {
    let named = DriveName::from(OsString::from(&review.drive));
    let is_it = |info: &DeviceInfo| review.identity.is_same_drive(&DriveIdentity::of(info));
    let is_real = matches!(&named, DriveName::Real(path) if !path.is_file());
    if !is_real || named.info().is_ok_and(|info| is_it(&info)) {
        return named;
    }
    let here = writecliff_uring::disks().into_iter();
    let mut found =
        here.map(DriveName::Real).filter(|drive| drive.info().is_ok_and(|info| is_it(&info)));
    match (found.next(), found.next()) {
        (Some(drive), None) => {
            say(&format!("{} is called {} now", review.drive, drive.as_typed()));
            drive
        }
        _ => named,
    }
}

fn begin(
    drive: &DriveName,
    info: &DeviceInfo,
    options: &ReviewOptions,
) -> Result<Review, CliError> {
    let tests = Review::choose(&options.tests, &options.with)?;
    let common = &options.common;
    let overrides = Overrides {
        duration: None,
        spare: options.spare.clone(),
        seed: common.seed,
        traces: from_anywhere(&options.traces),
    };
    Ok(Review::of(&drive.as_typed(), info, &tests, &overrides, run_options(common))?)
}

/// Says what is about to happen, before anything does.
fn announce(
    remaining: &[ReviewTest],
    review: &Review,
    drive: &DeviceInfo,
    rated_writes: Option<Bytes>,
) {
    let Estimate { time, written, .. } = Review::estimate(remaining, drive);
    let kept = review.tests.len() - remaining.len();
    let kept = if kept > 0 { format!(" ({kept} finished and kept)") } else { String::new() };
    let tests = match remaining.len() {
        1 => "1 test".to_owned(),
        count => format!("{count} tests"),
    };
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

/// Runs the tests: one after the other on a real drive, on all processors on models of it.
fn run_all(
    tests: &[ReviewTest],
    review: &Review,
    drive: &DriveName,
    consent: &DestroyData,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let live = Live::begin(&format!("review of {}", drive.as_typed()), interrupt);
    let perform = |test: &ReviewTest| -> Result<(), CliError> {
        if interrupt.is_raised() {
            return Ok(());
        }
        test.clear(path)?;
        let run = path.join(&test.directory);
        let done = perform(&test.plan, drive, consent, &run, review.options, &live, interrupt);
        if done.is_err() {
            interrupt.raise();
        }
        done.map(|_| ())
    };
    let ended = match drive.is_simulated() {
        true => in_parallel(tests, perform).map(|_| ()),
        false => tests.iter().try_for_each(perform),
    };
    live.end();
    ended
}

/// The page and the summary of what there is, complete or not.
fn report(path: &Path, json: bool) -> Result<(), CliError> {
    let subjects = [Subject::open(path)?];
    let page = write_page(&subjects, &path.join("report"))?;
    if json {
        let records: Vec<_> =
            subjects[0].runs.iter().map(|run| run.record.with_figures()).collect();
        return print(&format!("{}\n", serde_json::to_string_pretty(&records).unwrap_or_default()));
    }
    print(&format!("{}\nReport: {}\n", verdict_text(&subjects), page.display()))
}

/// `90 s`, `45 min`, `7.5 h`.
fn human(time: Nanos) -> String {
    match time.as_secs_f64() {
        seconds @ ..120.0 => format!("{seconds:.0} s"),
        seconds @ ..7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
