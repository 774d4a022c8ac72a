//! `writecliff run --again` and `--repeat`: what was run once more, and what is run several times.

use std::path::Path;

use writecliff::{Again, DriveName, Plan, RepeatRun, ReportOptions, ReviewEnd, RunOptions, report};
use writecliff_device::{DeviceKind, Nanos};
use writecliff_measure::REPORT;
use writecliff_suite::Repeated;

use super::run_plan::{announce, result_name, run_options, run_with, show, watched};
use crate::consent::{ComesFirst, consent};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::library::keep;
use crate::live::{Live, Total};
use crate::open::open;
use crate::options::CommonOptions;
use crate::output::{print_json, say};
use crate::place::Place;

/// What was run in the directory `path`, once more.
pub(crate) fn again(path: &Path, common: &CommonOptions) -> Result<(), CliError> {
    let Again { plan, drive, options, other_version } = Again::of(path)?;
    if let Some(version) = other_version {
        say_other_version(path, &version);
    }
    let options = RunOptions {
        label: common.label.clone().or(options.label),
        every_io: common.every_io || options.every_io,
        ..options
    };
    let name = || result_name(plan.name(), &drive, &[]);
    let place = Place::named_or(common.out.as_deref(), name);
    run_with(&plan, &drive, &place, common, options)
}

pub(crate) fn say_other_version(path: &Path, version: &str) {
    say(&format!(
        "note: {} was made by writecliff {version} and this is {}: what is done again may differ",
        path.display(),
        env!("CARGO_PKG_VERSION")
    ));
}

/// A plan on a drive with one seed after another, into the directory `path`.
pub(crate) fn run_repeatedly(
    plan: Plan,
    drive: &DriveName,
    count: u32,
    path: &Path,
    common: &CommonOptions,
) -> Result<(), CliError> {
    let (writes, shown) = (plan.writes(), &common.shown);
    let repeats = RepeatRun::begin(plan, drive.clone(), count, run_options(common), path)?;
    let (name, estimate) = (repeats.repeats().plan.name(), repeats.estimate());
    announce(shown, &format!("{name}, {count} times,"), repeats.info(), estimate, None);
    let comes_first = ComesFirst::of(&repeats.repeats().plan, common.purge);
    let consent = consent(drive, writes, &common.consent, comes_first)?;
    let interrupt = Interrupt::catch()?;

    let is_real = !drive.is_simulated();
    let each = estimate.time.0 / u64::from(count);
    let total = Total::of((0..count).map(|_| (name, Nanos(each))), 0, !is_real);
    let title = format!("{name} on {drive}, {count} times");
    let live = Live::begin(&title, total, &interrupt, shown.loudness());
    let ended = repeats.run(consent.as_ref(), &|event| watched(&event, is_real, &live, &interrupt));
    live.end();

    let ended = ended?;
    if RepeatRun::has_begun(path)? {
        if repeats.info().kind != DeviceKind::Null {
            keep(path, common.no_bench);
        }
        let report = report(&[path], &path.join(REPORT), &ReportOptions::default())?;
        match shown.json {
            true => print_json(&Repeated::of(&report.records))?,
            false => show(&report, shown)?,
        }
        if shown.open {
            open(&report.page);
        }
    }
    match ended {
        ReviewEnd::Complete => Ok(()),
        ReviewEnd::Interrupted => Err(CliError::Interrupted),
    }
}
