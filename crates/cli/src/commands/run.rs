//! `writecliff run`: one test, shown live, ended with a report.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use writecliff::{
    DriveName, Event, Overrides, Plan, Report, ReportOptions, RunOptions, read_plan, report,
};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Nanos, Purge};
use writecliff_measure::{REPORT, RunDirectory};
use writecliff_output::check_directory;
use writecliff_suite::{Estimate, PURGE, PlanError, Progress, Status, trim};
use writecliff_workload::fio::Note;

use super::again::{again, run_repeatedly};
use crate::consent::{ComesFirst, consent};
use crate::error::CliError;
use crate::interrupt::{Awaited, Interrupt};
use crate::library::keep;
use crate::live::{Live, Total};
use crate::open::open;
use crate::options::{CommonOptions, ShownOptions, percent, time};
use crate::output::{print, print_json, print_summary, say};
use crate::place::Place;
use crate::progress::human;

/// Less memory than this is nobody's concern.
const MEMORY_WORTH_A_WORD: Bytes = Bytes::from_mib(64);

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Leave this share of the LBAs untouched, in percent; spare-area takes a list: 10,25,40
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// How long the part lasts that the test is about, like 2000s or 30min [default: the method's]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    pub(crate) duration: Option<Nanos>,
    /// A test's plan as TOML (docs/formats.md); what it leaves out is the method's. For mixed also a
    /// fio job file, for suite also one of FioSynth's
    #[arg(long, value_name = "FILE", visible_alias = "suite")]
    pub(crate) plan: Option<PathBuf>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    #[arg(long, value_name = "TRACE", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    /// Of integrity: only read what the run in this directory wrote, and compare: after the drive was
    /// unplugged or the machine restarted
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["spare", "duration", "plan", "traces", "quick", "seed", "repeat", "again"])]
    pub(crate) reopen: Option<PathBuf>,
    /// Run the test so often, with the seed and those that follow, and give every figure with its
    /// deviation; on models of a drive on all processors at once
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Do the simulated run in this directory again, to the same bytes: its record holds the plan and
    /// the drive, and no other file is needed
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["test", "drive", "spare", "duration", "plan", "traces", "quick", "seed", "io_timeout", "purge", "threads", "poll", "repeat", "destroy_data_on"])]
    pub(crate) again: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// One test: plan, drive, live picture, summary and page. What is `asked`, a test and a drive, is
/// only missing where a run is done again.
pub(crate) fn run(
    asked: Option<(&str, &DriveName)>,
    options: &RunArguments,
) -> Result<(), CliError> {
    let common = &options.common;
    if let Some(path) = &options.again {
        return again(path, common);
    }
    let Some((test, drive)) = asked else {
        unreachable!("without --again there are a test and a drive");
    };
    let plan = plan(test, options)?;
    let place = Place::named_or(common.out.as_deref(), || result_name(test, drive, &options.spare));
    let ran = match options.repeat {
        Some(count) => run_repeatedly(plan, drive, count, &place, common),
        None => run_plan(&plan, drive, &place, common),
    };
    ran.map_err(|error| in_plan_file(error, options))
}

/// A plan on a drive, into the directory `path`.
pub(crate) fn run_plan(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
) -> Result<(), CliError> {
    run_with(plan, drive, path, common, run_options(common))
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

/// The same with options that do not come from the command line alone.
pub(crate) fn run_with(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
    options: RunOptions,
) -> Result<(), CliError> {
    let shown = &common.shown;
    check_directory(path).map_err(writecliff::Error::from)?;
    RunDirectory::check_place(path).map_err(writecliff::Error::from)?;
    let info = drive.look()?;
    plan.check(&info).map_err(writecliff::Error::from)?;
    check_purge(plan, options.purge).map_err(writecliff::Error::from)?;
    let estimate = plan.estimate(&info);
    announce(shown, plan.name(), &info, estimate, None);
    let passed = common.destroy_data_on.as_deref();
    let consent = consent(drive, plan.writes(), passed, ComesFirst::of(plan, options.purge))?;
    let interrupt = Interrupt::catch()?;

    let is_real = !drive.is_simulated();
    let total = Total::of([(plan.name(), estimate.time)], 0, !is_real);
    let title = format!("{} on {drive}", plan.name());
    let live = Live::begin(&title, total, &interrupt, shown.loudness());
    let watch = |event: Event<'_>| watched(&event, is_real, &live, &interrupt);
    let ended = writecliff::run(plan, drive, consent.as_ref(), path, options, &watch);
    live.end();

    let record = ended?;
    if record.drive.kind != DeviceKind::Null {
        keep(path, common.no_bench);
    }
    let report = report(&[path], &path.join(REPORT), &ReportOptions::default())?;
    match shown.json {
        true => print_json(&record.with_figures())?,
        false => show(&report, shown)?,
    }
    if shown.open {
        open(&report.page);
    }
    match (&record.status, record.lost_data()) {
        (Status::Interrupted, _) => Err(CliError::Interrupted),
        (_, Some(lost)) => Err(CliError::LostData { lost: lost.to_string() }),
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
    let Estimate { time, written, memory, .. } = estimate;
    let mut text = format!(
        "{what} of {}:\n  roughly {} of the drive's time",
        drive.model,
        human(Duration::from_nanos(time.0)),
    );
    if written > Bytes::ZERO {
        text += &format!("\n  roughly {written} to be written");
    }
    if let Some(rated) = rated_writes.or(drive.specification.rated_writes).filter(|_| written.0 > 0)
    {
        let share = written.0 as f64 / rated.0 as f64 * 100.0;
        text += &format!(", {share:.1} % of the {rated} that it is rated for");
    }
    if memory >= MEMORY_WORTH_A_WORD {
        text += &format!("\n  {memory} of this machine's memory");
    }
    say(&text);
}

/// An error about a plan with the place in its file, unless it is about an option.
fn in_plan_file(error: CliError, options: &RunArguments) -> CliError {
    let CliError::Library(writecliff::Error::Plan(error)) = error else { return error };
    let typed = match error.option {
        "duration" => options.duration.is_some(),
        "spare" => !options.spare.is_empty(),
        "traces" => !options.traces.is_empty(),
        "reopen" => options.reopen.is_some(),
        _ => false,
    };
    match &options.plan {
        Some(path) if !typed => CliError::InPlan { place: place_of(path, error.option), error },
        _ => writecliff::Error::Plan(error).into(),
    }
}

/// `plan.toml:3`, where the key stands; the file alone if it does not stand there.
fn place_of(path: &Path, key: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_it = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    match text.lines().position(is_it) {
        Some(index) => format!("{}:{}", path.display(), index + 1),
        None => path.display().to_string(),
    }
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
        Event::Ended(test) => live.forget(test),
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

/// The method's plan with what the user changed: in a file, by --quick, by options.
fn plan(test: &str, options: &RunArguments) -> Result<Plan, CliError> {
    let plan = match &options.plan {
        None => writecliff::plan(test)?,
        Some(path) => plan_of(test, path)?,
    };
    let plan = if options.common.quick { plan.quick() } else { plan };
    let overrides = Overrides {
        duration: options.duration,
        spare: options.spare.clone(),
        seed: options.common.seed,
        traces: options.traces.clone(),
        reopen: options.reopen.clone(),
    };
    Ok(plan.with(&overrides).map_err(writecliff::Error::from)?)
}

/// The plan in a file; of a fio job file, what it says and cannot be done is told.
fn plan_of(test: &str, path: &Path) -> Result<Plan, CliError> {
    let (plan, notes) = read_plan(test, path)?;
    for Note { line, option, text } in &notes {
        say(&format!("{}:{line}: note: {option}: {text}", path.display()));
    }
    Ok(plan)
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
