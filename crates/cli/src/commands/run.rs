//! `writecliff run`: one test, shown live, ended with a report.

use std::path::{Path, PathBuf};

use writecliff_device::Device;
use writecliff_output::check_directory;
use writecliff_report::{Subject, summary, write_page};
use writecliff_suite::{
    Overrides, PURGE, Plan, Progress, RunOptions, RunRecord, Status, TestEntry, mixed, trim,
};
use writecliff_uring::DestroyData;
use writecliff_workload::fio;

use super::trace::from_anywhere;
use super::{print, say};
use crate::args::{self, CommonOptions};
use crate::drive::DriveName;
use crate::error::CliError;
use crate::interrupt::{Awaited, Interrupt};
use crate::live::Live;

/// One test: plan, drive, live picture, summary and page.
pub(crate) fn run(
    test: &str,
    drive: &DriveName,
    options: &args::RunOptions,
) -> Result<(), CliError> {
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
    check_directory(path)?;
    plan.check(&drive.info()?).map_err(writecliff_suite::RunError::from)?;
    let consent = drive.consent(plan.writes(), common.destroy_data_on.as_deref())?;
    let interrupt = Interrupt::catch()?;

    let title = format!("{} on {}", plan.name(), drive.as_typed());
    let live = Live::begin(&title, &interrupt);
    let ended = perform(plan, drive, &consent, path, run_options(common), &live, &interrupt);
    live.end();

    let record = ended?;
    let subjects = [Subject::open(path)?];
    let page = write_page(&subjects, &path.join("report"))?;
    if common.json {
        print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&record.with_figures()).unwrap_or_default()
        ))?;
    } else {
        print(&format!("{}\nReport: {}\n", summary(&subjects), page.display()))?;
    }
    match record.status {
        Status::Interrupted => Err(CliError::Interrupted),
        _ => Ok(()),
    }
}

/// Runs a plan on a newly opened drive.
pub(crate) fn perform(
    plan: &Plan,
    drive: &DriveName,
    consent: &DestroyData,
    path: &Path,
    options: RunOptions,
    live: &Live,
    interrupt: &Interrupt,
) -> Result<RunRecord, CliError> {
    let mut device = drive.open(plan, consent)?;
    let name = plan.name();
    let is_real = !drive.is_simulated();
    let record = writecliff_suite::run(plan, device.as_mut(), path, options, &mut |progress| {
        interrupt.awaits(if is_real { awaited(progress) } else { Awaited::Nothing });
        live.show(name, progress);
        interrupt.flow()
    });
    live.forget(name);
    tell_what_is_held(live, device.as_ref());
    Ok(record?)
}

/// What a real drive has to be waited for at this point.
fn awaited(progress: &Progress<'_>) -> Awaited {
    match progress.step {
        PURGE | trim::TRIM => Awaited::Discard,
        _ => Awaited::InFlight,
    }
}

/// A process does not end before the kernel has all of its I/O back: then at least it says so.
fn tell_what_is_held(live: &Live, device: &dyn Device) {
    if let Some(held) = device.held_by_system() {
        let text = format!(
            "{} has not answered {held}; this process can end when the kernel has that back: when \
             the drive answers, is reset or is removed",
            device.info().address
        );
        live.say(&text);
    }
}

pub(crate) fn run_options(common: &CommonOptions) -> RunOptions {
    let CommonOptions { every_io, quick, io_timeout, .. } = *common;
    RunOptions { every_io, quick, io_timeout }
}

/// The method's plan with what the user changed: in a file, by --quick, by options.
fn plan(test: &str, options: &args::RunOptions) -> Result<Plan, CliError> {
    let plan = match &options.plan {
        None => {
            let entry = TestEntry::find(test);
            (entry.expect("the argument parser lets only tests of the table pass").plan)()
        }
        Some(path) => read_plan(test, path)?,
    };
    let plan = if options.common.quick { plan.quick() } else { plan };
    let overrides = Overrides {
        duration: options.duration,
        spare: options.spare.clone(),
        seed: options.common.seed,
        traces: from_anywhere(&options.traces),
    };
    Ok(plan.with(&overrides).map_err(writecliff_suite::RunError::from)?)
}

/// A plan's file is the table that `run.json` holds as `plan`, without the test's name.
fn read_plan(test: &str, path: &Path) -> Result<Plan, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| CliError::PlanUnreadable { path: path.to_owned(), source })?;
    if test == mixed::Plan::NAME && path.extension().is_none_or(|extension| extension != "toml") {
        return read_job_file(path, &text);
    }
    let read = toml::Deserializer::parse(&text)
        .and_then(|from| Plan::read(test, from).expect("the parser lets only tests pass"));
    read.map_err(|source| {
        let at = source.span().map_or(0, |span| span.start);
        let line = text[..at.min(text.len())].matches('\n').count();
        let (test, message) = (test.to_owned(), source.message().to_owned());
        let found = text.lines().nth(line).unwrap_or_default().trim().to_owned();
        CliError::PlanInvalid { path: path.to_owned(), line: line + 1, found, test, message }
    })
}

/// A mixed load may also be fio's job file, which is what is not called .toml.
fn read_job_file(path: &Path, text: &str) -> Result<Plan, CliError> {
    let file = path.display().to_string();
    let jobs = fio::read(&file, text, &|name| std::env::var(name).ok())?;
    for fio::Note { line, option, text } in &jobs.notes {
        say(&format!("{file}:{line}: note: {option}: {text}"));
    }
    Ok(Plan::Mixed(jobs.into()))
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
