//! `writecliff run`: one test, shown live, ended with a report.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use writecliff::{DriveName, Event, Overrides, Plan, ReportOptions, RunOptions, read_plan, report};
use writecliff_device::Nanos;
use writecliff_measure::REPORT;
use writecliff_output::check_directory;
use writecliff_suite::{PURGE, Progress, Status, trim};
use writecliff_workload::fio::Note;

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
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// One test: plan, drive, live picture, summary and page.
pub(crate) fn run(test: &str, drive: &DriveName, options: &RunArguments) -> Result<(), CliError> {
    let plan = plan(test, options)?;
    let common = &options.common;
    let path = common.out.clone().unwrap_or_else(|| default_directory(test, drive, &options.spare));
    run_plan(&plan, drive, &path, common)
}

/// A plan on a drive, into the directory `path`.
pub(crate) fn run_plan(
    plan: &Plan,
    drive: &DriveName,
    path: &Path,
    common: &CommonOptions,
) -> Result<(), CliError> {
    check_directory(path).map_err(writecliff::Error::from)?;
    plan.check(&drive.look()?).map_err(writecliff::Error::from)?;
    let consent = consent(drive, plan.writes(), common.destroy_data_on.as_deref())?;
    let interrupt = Interrupt::catch()?;

    let live = Live::begin(&format!("{} on {drive}", plan.name()), &interrupt);
    let is_real = !drive.is_simulated();
    let watch = |event: Event<'_>| watched(&event, is_real, &live, &interrupt);
    let ended = writecliff::run(plan, drive, consent.as_ref(), path, run_options(common), &watch);
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
    let CommonOptions { every_io, quick, io_timeout, .. } = *common;
    RunOptions { every_io, quick, io_timeout }
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
