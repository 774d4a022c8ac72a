//! `writecliff run`: one test, shown live, ended with a report.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use writecliff::{
    Again, DriveName, Event, Overrides, Plan, RepeatRun, ReportOptions, ReviewEnd, RunOptions,
    read_plan, report,
};
use writecliff_device::Nanos;
use writecliff_measure::REPORT;
use writecliff_output::check_directory;
use writecliff_suite::{Estimate, PURGE, Progress, Repeated, Status, trim};
use writecliff_workload::fio::Note;

use super::review::human;
use crate::consent::consent;
use crate::error::CliError;
use crate::interrupt::{Awaited, Interrupt};
use crate::live::Live;
use crate::options::{CommonOptions, percent};
use crate::output::{print, print_json, say};

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Leave this share of the LBAs untouched, in percent; spare-area takes a list: 10,25,40
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// How long the part lasts that the test is about, like 2000s or 30min [default: the method's]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Nanos>,
    /// A test's plan as TOML (docs/formats.md); what it leaves out is the method's. For mixed also a
    /// fio job file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    #[arg(long, value_name = "TRACE", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    /// Run the test so often, with the seed and those that follow, and give every figure with its
    /// deviation; on models of a drive on all processors at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Do the simulated run in this directory again, to the same bytes: its record holds the plan and
    /// the drive, and no other file is needed
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["test", "drive", "spare", "duration", "plan", "traces", "quick", "seed", "io_timeout", "repeat", "destroy_data_on"])]
    pub(crate) again: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// One test: plan, drive, live picture, summary and page.
pub(crate) fn run(
    asked: Option<(&str, &DriveName)>,
    options: &RunArguments,
) -> Result<(), CliError> {
    let common = &options.common;
    let Some((test, drive)) = asked else {
        return options.again.iter().try_for_each(|path| again(path, common));
    };
    let plan = plan(test, options)?;
    let path = common.out.clone().unwrap_or_else(|| default_directory(test, drive, &options.spare));
    if let Some(count) = options.repeat {
        return run_repeatedly(plan, drive, count, &path, common);
    }
    run_plan(&plan, drive, &path, common)
}

/// What was run in the directory `path`, once more.
fn again(path: &Path, common: &CommonOptions) -> Result<(), CliError> {
    let Again { plan, drive, options, other_version } = Again::of(path)?;
    if let Some(version) = other_version {
        say_other_version(path, &version);
    }
    let options = RunOptions {
        label: common.label.clone().or(options.label),
        every_io: common.every_io || options.every_io,
        ..options
    };
    let out = common.out.clone().unwrap_or_else(|| default_directory(plan.name(), &drive, &[]));
    run_with(&plan, &drive, &out, common, options)
}

pub(crate) fn say_other_version(path: &Path, version: &str) {
    say(&format!(
        "note: {} was made by writecliff {version} and this is {}: what is done again may differ",
        path.display(),
        env!("CARGO_PKG_VERSION")
    ));
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

fn run_with(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
    options: RunOptions,
) -> Result<(), CliError> {
    check_directory(path).map_err(writecliff::Error::from)?;
    plan.check(&drive.look()?).map_err(writecliff::Error::from)?;
    let consent = consent(drive, plan.writes(), common.destroy_data_on.as_deref())?;
    let interrupt = Interrupt::catch()?;

    let live = Live::begin(&format!("{} on {drive}", plan.name()), &interrupt);
    let is_real = !drive.is_simulated();
    let watch = |event: Event<'_>| watched(&event, is_real, &live, &interrupt);
    let ended = writecliff::run(plan, drive, consent.as_ref(), path, options, &watch);
    live.end();

    let record = ended?;
    let report = report(&[path], &path.join(REPORT), &ReportOptions::default())?;
    match common.json {
        true => print_json(&record.with_figures())?,
        false => print(&format!("{}\nReport: {}\n", report.summary, report.page.display()))?,
    }
    match record.status {
        Status::Interrupted => Err(CliError::Interrupted),
        _ => Ok(()),
    }
}

/// A plan on a drive with one seed after another, into the directory `path`.
fn run_repeatedly(
    plan: Plan,
    drive: &DriveName,
    count: u32,
    path: &Path,
    common: &CommonOptions,
) -> Result<(), CliError> {
    let writes = plan.writes();
    let repeats = RepeatRun::begin(plan, drive.clone(), count, run_options(common), path)?;
    announce_repeats(&repeats);
    let consent = consent(drive, writes, common.destroy_data_on.as_deref())?;
    let interrupt = Interrupt::catch()?;

    let name = repeats.repeats().plan.name();
    let live = Live::begin(&format!("{name} on {drive}, {count} times"), &interrupt);
    let is_real = !drive.is_simulated();
    let watch = |event: Event<'_>| watched(&event, is_real, &live, &interrupt);
    let ended = repeats.run(consent.as_ref(), &watch);
    live.end();

    let ended = ended?;
    if !RepeatRun::records(path)?.is_empty() {
        let report = report(&[path], &path.join(REPORT))?;
        match common.json {
            true => print_json(&Repeated::of(&report.records))?,
            false => print(&format!("{}\nReport: {}\n", report.summary, report.page.display()))?,
        }
    }
    match ended {
        ReviewEnd::Complete => Ok(()),
        ReviewEnd::Interrupted => Err(CliError::Interrupted),
    }
}

/// Says how often, how long and how much, before anything is done.
fn announce_repeats(repeats: &RepeatRun) {
    let Estimate { time, written, .. } = repeats.estimate();
    let (count, model) = (repeats.repeats().count, &repeats.info().model);
    let test = repeats.repeats().plan.name();
    say(&format!(
        "{test}, {count} times on {model}: roughly {} of the drive's time, roughly {written} to be \
         written, all of them together.",
        human(time)
    ));
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
        PURGE | trim::TRIM => Awaited::Discard,
        _ => Awaited::InFlight,
    }
}

pub(crate) fn run_options(common: &CommonOptions) -> RunOptions {
    let CommonOptions { every_io, quick, io_timeout, label, .. } = common;
    let (every_io, quick, io_timeout) = (*every_io, *quick, *io_timeout);
    RunOptions { label: label.clone(), every_io, quick, io_timeout }
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

/// `runs/consistency-samsung-840-evo-250gb-spare25-20261121-142301`.
pub(crate) fn default_directory(what: &str, drive: &DriveName, spare: &[f64]) -> PathBuf {
    let spare: String = match spare {
        [] | [0.0] => String::new(),
        settings => {
            let settings: Vec<String> = settings.iter().map(f64::to_string).collect();
            format!("-spare{}", settings.join("-"))
        }
    };
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    PathBuf::from("runs").join(format!("{what}-{}{spare}-{now}", drive.slug()))
}
