//! `writecliff run`: which plan it is, from a test's name, a file and options.

use std::path::{Path, PathBuf};

use clap::Args;
use writecliff::{DriveName, Overrides, Plan, read_plan};
use writecliff_device::Nanos;
use writecliff_workload::fio::Note;

use super::again::{again, run_repeatedly};
use super::run_plan::{result_name, run_plan};
use crate::error::CliError;
use crate::options::{CommonOptions, percent, time};
use crate::output::say;
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Leave this share of the LBAs untouched, in percent; spare-area takes a list: 10,25,40
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// How long the part lasts that the test is about, like 2000s or 30min [default: the method's]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    pub(crate) duration: Option<Nanos>,
    /// Of consistency and spare-area on a real SSD: go on until it is steady, which takes one to five drive writes after
    /// the fill; on a simulated one it does so without --duration
    #[arg(long)]
    pub(crate) until_steady: bool,
    /// A test's plan as TOML (docs/formats.md); what it leaves out is the method's. For mixed also a
    /// fio job file, for suite also one of FioSynth's
    #[arg(long, value_name = "FILE", visible_alias = "suite")]
    pub(crate) plan: Option<PathBuf>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    #[arg(long, value_name = "TRACE,...", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    /// Of integrity: only read what the run in this directory wrote, and compare: after the drive was
    /// unplugged or the machine restarted
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["spare", "duration", "until_steady", "plan", "traces", "quick", "seed", "repeat", "again"])]
    pub(crate) reopen: Option<PathBuf>,
    /// Of commit, and of mixed with jobs that only write: in this directory of a mounted file system instead of
    /// on a drive. It writes one file of 64 MiB, destroys nothing, and removes the file afterwards
    #[arg(long = "in", value_name = "DIRECTORY",
          conflicts_with_all = ["drive", "purge", "threads", "poll", "repeat", "again", "reopen", "destroy_data_on", "others_not_visible"])]
    pub(crate) directory: Option<PathBuf>,
    /// Run the test so often, with the seed and those that follow, and give every figure with its
    /// deviation; on models of a drive on all processors at once
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Do the simulated run in this directory again, to the same bytes: its record holds the plan and
    /// the drive, and no other file is needed
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["test", "drive", "spare", "duration", "until_steady", "plan", "traces", "quick", "seed", "io_timeout", "purge", "threads", "poll", "repeat", "destroy_data_on", "others_not_visible"])]
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

/// An error about a plan with the place in its file, unless it is about an option.
fn in_plan_file(error: CliError, options: &RunArguments) -> CliError {
    let CliError::Library(writecliff::Error::Plan(error)) = error else { return error };
    let typed = match error.option {
        "duration" => options.duration.is_some(),
        "until_steady" => options.until_steady,
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

/// The method's plan with what the user changed: in a file, by --quick, by options.
fn plan(test: &str, options: &RunArguments) -> Result<Plan, CliError> {
    let plan = match &options.plan {
        None => writecliff::plan(test)?,
        Some(path) => plan_of(test, path)?,
    };
    let plan = if options.common.quick { plan.quick() } else { plan };
    let overrides = Overrides {
        duration: options.duration,
        until_steady: options.until_steady,
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
