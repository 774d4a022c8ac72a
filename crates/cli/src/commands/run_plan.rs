//! A plan on a drive: announced, run with the picture of it, ended with a report. `run`, its repeats and
//! a replay come down to it; a review shows its tests alike.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use writecliff::{DriveName, Event, Plan, Report, ReportOptions, RunOptions, RunRecord, report};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Purge};
use writecliff_measure::{REPORT, RunDirectory};
use writecliff_output::check_directory;
use writecliff_suite::{Estimate, PURGE, PlanError, Progress, Status, consistency, trim};

use crate::consent::{ComesFirst, consent};
use crate::error::CliError;
use crate::interrupt::{Awaited, Interrupt};
use crate::library::{Begun, keep};
use crate::live::{Live, Total};
use crate::open::open;
use crate::options::{CommonOptions, ShownOptions};
use crate::output::{print, print_json, print_summary, say};
use crate::progress::human;

/// Less memory than this is nobody's concern.
const MEMORY_WORTH_A_WORD: Bytes = Bytes::from_mib(64);

/// A plan on a drive, into the directory `path`.
pub(crate) fn run_plan(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
) -> Result<(), CliError> {
    run_with(plan, drive, path, common, run_options(common))
}

/// The same with options that do not come from the command line alone.
pub(crate) fn run_with(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
    options: RunOptions,
) -> Result<(), CliError> {
    let (record, report) = record_run(plan, drive, path, common, options)?;
    match common.shown.json {
        true => print_json(&record.with_figures())?,
        false => show(&report, &common.shown)?,
    }
    if common.shown.open {
        open(&report.page);
    }
    end_of(&record)
}

/// A plan on a drive, with its page and without a word of what came of it.
pub(crate) fn record_run(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
    options: RunOptions,
) -> Result<(RunRecord, Report), CliError> {
    let shown = &common.shown;
    check_directory(path).map_err(writecliff::Error::from)?;
    RunDirectory::check_place(path).map_err(writecliff::Error::from)?;
    let info = drive.look_for(plan)?;
    plan.check(&info).map_err(writecliff::Error::from)?;
    check_purge(plan, options.purge).map_err(writecliff::Error::from)?;
    let estimate = plan.estimate(&info);
    announce(shown, plan.name(), &info, estimate, None);
    let comes_first = ComesFirst::of(plan, options.purge);
    let consent = consent(drive, plan.writes(), &common.consent, comes_first)?;
    let interrupt = Interrupt::catch()?;

    let is_real = !drive.is_simulated();
    let total = Total::of([(plan.name(), estimate.time)], 0, !is_real);
    let title = format!("{} on {drive}", plan.name());
    let live = Live::begin(&title, total, &interrupt, shown.loudness());
    let is_of_a_drive = !matches!(info.kind, DeviceKind::Null | DeviceKind::Directory);
    let begun = Begun::new(path, is_of_a_drive && !common.no_bench);
    let watch = |event: Event<'_>| {
        begun.seen();
        watched(&event, is_real, &live, &interrupt)
    };
    let ended = writecliff::run(plan, drive, consent.as_ref(), path, options, &watch);
    live.end();

    let record = ended?;
    if is_of_a_drive {
        keep(path, common.no_bench);
    }
    let report = report(&[path], &path.join(REPORT), &ReportOptions::default())?;
    Ok((record, report))
}

/// What a run's end makes of the command's.
pub(crate) fn end_of(record: &RunRecord) -> Result<(), CliError> {
    match (&record.status, record.lost_data()) {
        (Status::Interrupted, _) => Err(CliError::Interrupted),
        (_, Some(lost)) => Err(CliError::LostData { lost: lost.to_string() }),
        _ => Ok(()),
    }
}

/// Refuses the choice of a purge for a test that does without.
fn check_purge(plan: &Plan, purge: Option<Purge>) -> Result<(), PlanError> {
    match purge {
        Some(how) if !plan.purges() => {
            let reason = format!("as asked for, {} does not purge the drive", plan.name());
            Err(PlanError { option: "purge", got: how.to_string(), reason })
        }
        _ => Ok(()),
    }
}

/// The summary and where the page is; only the latter if it is to be quiet.
pub(crate) fn show(report: &Report, shown: &ShownOptions) -> Result<(), CliError> {
    let page = report.page.display();
    match shown.quiet {
        true => print(&format!("{page}\n")),
        false => print_summary(&format!("{}\nReport: {page}\n", report.summary)),
    }
}

/// Says what is about to happen, before anything does: what it takes, in lines of their own.
pub(crate) fn announce(
    shown: &ShownOptions,
    what: &str,
    drive: &DeviceInfo,
    estimate: Estimate,
    rated_writes: Option<Bytes>,
) {
    if shown.quiet {
        return;
    }
    let Estimate { time, written, memory, is_most, is_timed, rates } = estimate;
    let (most, until) = match is_most {
        true => {
            let hours = consistency::TIME_MAX.as_secs_f64() / 3600.0;
            let until = format!(
                ", until it is steady; if it is slow, up to {hours} h of each load that goes on until then"
            );
            ("at most ", until)
        }
        false => ("", String::new()),
    };
    let whose = if drive.kind == DeviceKind::Simulated { " of the drive's time" } else { "" };
    let mut text = format!(
        "{what} of {}:\n  roughly {}{whose}{until}",
        drive.model,
        human(Duration::from_nanos(time.0)),
    );
    if written > Bytes::ZERO {
        // What goes by time is as much as the drive takes in it.
        let most = if is_timed { "" } else { most };
        text += &format!("\n  {most}roughly {written} to be written");
    }
    if let Some(rated) = rated_writes.or(drive.specification.rated_writes).filter(|_| written.0 > 0)
    {
        let share = written.0 as f64 / rated.0 as f64 * 100.0;
        let share = match share {
            ..0.05 => "less than 0.1".to_owned(),
            share => format!("{share:.1}"),
        };
        text += &format!(", {share} % of the {rated} that it is rated for");
    }
    if is_timed && written > Bytes::ZERO {
        text += &format!(
            "\n    by a drive of {} in order and {} at random; a faster one is written more in the same time",
            rates.sequential, rates.random
        );
    }
    if memory >= MEMORY_WORTH_A_WORD {
        text += &format!("\n  {memory} of this machine's memory");
    }
    say(&text);
}

/// Shows what a run tells, and has it go on or not.
pub(crate) fn watched(
    event: &Event<'_>,
    is_real: bool,
    live: &Live,
    interrupt: &Interrupt,
) -> ControlFlow<()> {
    match event {
        Event::Begins(_) => {}
        Event::Progress(test, progress) => {
            interrupt.awaits(if is_real { awaited(progress) } else { Awaited::Nothing });
            live.show(test, progress);
        }
        Event::Ended(test) => {
            interrupt.awaits(Awaited::Nothing);
            live.forget(test);
        }
        Event::EndedUnseen(test) => live.count(test),
        Event::Held(drive, held) => live.say(&format!(
            "{} has not answered {held}; this process can end when the kernel has that back: when \
             the drive answers, is reset or is removed",
            drive.address
        )),
    }
    interrupt.flow()
}

/// What a real drive has to be waited for at this point.
fn awaited(progress: &Progress<'_>) -> Awaited {
    match progress.step {
        step if [PURGE, trim::TRIM].map(Some).contains(&step.rsplit('/').next()) => {
            Awaited::Discard
        }
        _ => Awaited::InFlight,
    }
}

pub(crate) fn run_options(common: &CommonOptions) -> RunOptions {
    let CommonOptions { every_io, quick, io_timeout, purge, threads, poll, .. } = *common;
    RunOptions { label: common.label.clone(), every_io, quick, io_timeout, purge, threads, poll }
}

/// `consistency-samsung-840-evo-250gb-spare25-20261121-142301`.
pub(crate) fn result_name(what: &str, drive: &DriveName, spare: &[f64]) -> String {
    let spare: String = match spare {
        [] | [0.0] => String::new(),
        settings => {
            let settings: Vec<String> = settings.iter().map(f64::to_string).collect();
            format!("-spare{}", settings.join("-"))
        }
    };
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    format!("{what}-{}{spare}-{now}", drive.slug())
}
