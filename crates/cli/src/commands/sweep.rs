//! `writecliff sweep`: one test on many simulated drives, by a plan.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use writecliff_device::Bytes;
use writecliff_measure::REPORT;
use writecliff_sweep::{Row, SweepRun, TABLE, Work, write_page};

use super::work::{Asked, done};
use crate::error::CliError;
use crate::output::{print, print_json};

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
    let SweepArguments { plan, resume, out, memory, json } = arguments;
    let (plan, resume, out) = (plan.as_deref(), resume.as_deref(), out.as_deref());
    let run: SweepRun = done(&Asked { plan, resume, out, memory: *memory })?;
    tell(&run, *json)
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
