//! One test on one drive.

use std::path::Path;

use writecliff_suite::{Plan, RunOptions, RunRecord, TestEntry};
use writecliff_uring::DestroyData;

use crate::drive::DriveName;
use crate::error::Error;
use crate::progress::{Event, Watch};

/// Runs `plan` on `drive`, newly opened, and records it into the new directory `path`. Returns the
/// finished record, also of a run that was broken off.
///
/// # Errors
/// As [`DriveName::open`], before anything is written; [`Error::Run`] with what went wrong from
/// there on: what was recorded until then, if anything, is kept in the directory.
pub fn run(
    plan: &Plan,
    drive: &DriveName,
    consent: Option<&DestroyData>,
    path: &Path,
    options: RunOptions,
    watch: Watch<'_>,
) -> Result<RunRecord, Error> {
    let mut device = drive.open(plan, consent, &options)?;
    let test = plan.name();
    let ended = writecliff_suite::run(plan, device.as_mut(), path, options, &mut |progress| {
        watch(Event::Progress(test, progress))
    });
    // What they answer makes no difference any more.
    let _ = watch(Event::Ended(test));
    if let Some(held) = device.held_by_system() {
        let _ = watch(Event::Held(device.info(), &held));
    }
    Ok(ended?)
}

/// The method's plan of the test of this name; [`TESTS`](crate::TESTS) has all names.
///
/// # Errors
/// [`Error::UnknownTest`].
pub fn plan(test: &str) -> Result<Plan, Error> {
    let entry =
        TestEntry::find(test).ok_or_else(|| Error::UnknownTest { name: test.to_owned() })?;
    Ok((entry.plan)())
}
