//! `writecliff run` and `writecliff review`: tests on a drive, shown live, ended with a report.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use writecliff_report::{Subject, summary, write_page};
use writecliff_suite::{Plan, Status, TESTS, consistency};

use super::print;
use crate::args::RunOptions;
use crate::drive::DriveName;
use crate::error::CliError;
use crate::live::Live;

/// Every test of the table.
pub(crate) fn review(drive: &DriveName, options: &RunOptions) -> Result<(), CliError> {
    TESTS.iter().try_for_each(|test| run(test.name, drive, options))
}

/// One test: plan, drive, live picture, summary and page.
pub(crate) fn run(test: &str, drive: &DriveName, options: &RunOptions) -> Result<(), CliError> {
    let plan = plan(test, options);
    let mut device = drive.open(&plan, options.destroy_data_on.as_deref())?;
    let path = options.out.clone().unwrap_or_else(|| default_directory(test, drive, options));
    let interrupted = catch_interrupts()?;

    let mut live = Live::begin(&plan, device.info());
    let ended = writecliff_suite::run(&plan, device.as_mut(), &path, &mut |progress| {
        live.show(progress);
        match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    live.end();

    let record = ended?;
    let subjects = [Subject::open(&path)?];
    let page = write_page(&subjects, &path.join("report"))?;
    if options.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&record).unwrap_or_default()))?;
    } else {
        print(&format!("{}\nReport: {}\n", summary(&subjects), page.display()))?;
    }
    match record.status {
        Status::Interrupted => Err(CliError::Interrupted),
        _ => Ok(()),
    }
}

fn plan(test: &str, options: &RunOptions) -> Plan {
    match test {
        consistency::NAME => Plan::Consistency(consistency::Plan {
            duration: options.duration,
            spare_percent: options.spare,
            seed: options.seed,
            every_io: options.every_io,
            ..consistency::Plan::default()
        }),
        other => unreachable!("the argument parser lets only tests of the table pass, not {other}"),
    }
}

/// `runs/consistency-samsung-840-evo-250gb-spare25-20261121-142301`.
fn default_directory(test: &str, drive: &DriveName, options: &RunOptions) -> PathBuf {
    let spare = match options.spare {
        0.0 => String::new(),
        percent => format!("-spare{percent}"),
    };
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    PathBuf::from("runs").join(format!("{test}-{}{spare}-{now}", drive.slug()))
}

/// A flag that the first Ctrl-C raises; the second ends the program on the spot, which a run
/// directory survives.
fn catch_interrupts() -> Result<Arc<AtomicBool>, CliError> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    })?;
    Ok(flag)
}
