//! `writecliff sweep`: one test on many simulated drives, by a plan.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use writecliff_device::Bytes;
use writecliff_measure::REPORT;
use writecliff_output::check_directory;
use writecliff_sweep::{End, Row, Sweep, SweepRun, TABLE, write_page};

use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::{print, print_json};
use crate::place::Place;
use crate::progress::Counted;

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The sweep's plan: docs/formats.md
    #[arg(value_name = "PLAN.toml", required_unless_present = "resume")]
    pub(crate) plan: Option<PathBuf>,
    /// Go on with the sweep in this directory: finished points are kept
    #[arg(long, value_name = "SWEEP", conflicts_with_all = ["plan", "out"])]
    pub(crate) resume: Option<PathBuf>,
    /// Directory for the rows, new or empty [default: ./runs/sweep-PLAN-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Memory that drives may take together [default: three quarters of what is free]
    #[arg(long, value_name = "BYTES")]
    pub(crate) memory: Option<Bytes>,
    /// Print the rows as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a script gets.
#[derive(Serialize)]
struct Told<'a> {
    table: String,
    page: PathBuf,
    rows: &'a [Row],
}

pub(crate) fn sweep(arguments: &SweepArguments) -> Result<(), CliError> {
    let memory = arguments.memory;
    match (&arguments.plan, &arguments.resume) {
        (_, Some(path)) => go(&SweepRun::resume(path)?, memory, arguments.json),
        (Some(plan), None) => {
            let sweep = Sweep::read(plan)?;
            let place = Place::of_plan("sweep", plan, arguments.out.as_deref());
            check_directory(&place).map_err(writecliff::Error::from)?;
            go(&SweepRun::begin(sweep, &place)?, memory, arguments.json)
        }
        (None, None) => Ok(()),
    }
}

fn go(run: &SweepRun, memory: Option<Bytes>, json: bool) -> Result<(), CliError> {
    let interrupt = Interrupt::catch()?;
    let counted = Counted::begin("points", run.points().len(), run.done().len());
    let watch = |row: Option<&Row>| {
        if let Some(row) = row {
            counted.one(row.error.is_some());
        }
        counted.show();
        interrupt.flow()
    };
    let ended = run.run(memory, &watch)?;
    drop(counted);
    match ended {
        End::Complete => tell(run, json),
        End::Interrupted => {
            Err(CliError::ToBeResumed { command: "sweep", path: run.path().to_owned() })
        }
    }
}

fn tell(run: &SweepRun, json: bool) -> Result<(), CliError> {
    let rows = SweepRun::rows(run.path())?;
    let table = run.path().join(TABLE).display().to_string();
    let page = write_page(run.sweep(), &rows, &run.path().join(REPORT));
    let page = page.map_err(writecliff::Error::from)?;
    if json {
        return print_json(&Told { table, page, rows: &rows });
    }
    let failed: Vec<&Row> = rows.iter().filter(|row| row.error.is_some()).collect();
    let mut text = format!("{} points, {} failed\n", rows.len(), failed.len());
    for row in failed.iter().take(FAILED_TOLD) {
        let error = row.error.as_deref().unwrap_or_default();
        text += &format!("  point {}: {error}\n", row.point.point);
    }
    if failed.len() > FAILED_TOLD {
        text += &format!("  and {} more\n", failed.len() - FAILED_TOLD);
    }
    print(&format!("{text}\nTable: {table}\nReport: {}\n", page.display()))
}

/// More points that failed are told by the table.
const FAILED_TOLD: usize = 5;
