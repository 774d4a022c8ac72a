//! `writecliff sweep`: one test on many simulated drives, by a plan.

use std::path::{Path, PathBuf};

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
    let failed: Vec<&Row> = rows.iter().filter(|row| row.error.is_some()).collect();
    match json {
        true => print_json(&Told { table: table.clone(), page, rows: &rows })?,
        false => print(&text(&rows, &failed, &table, &page))?,
    }
    match failed.len() {
        failed if failed > 0 && failed == rows.len() => Err(CliError::AllFailed { failed, table }),
        _ => Ok(()),
    }
}

/// What came of it; the last line is about what failed, which nobody should miss.
fn text(rows: &[Row], failed: &[&Row], table: &str, page: &Path) -> String {
    let mut text = format!("{} points\nTable: {table}\nReport: {}\n", rows.len(), page.display());
    for row in failed.iter().take(FAILED_TOLD) {
        let error = row.error.as_deref().unwrap_or_default();
        text += &format!("  point {}: {error}\n", row.point.point);
    }
    if failed.len() > FAILED_TOLD {
        text += &format!("  and {} more, in the table\n", failed.len() - FAILED_TOLD);
    }
    let doubtful = rows.iter().filter(|row| !row.doubts.is_empty()).count();
    if doubtful > 0 {
        text +=
            &format!("{doubtful} of {} points are in doubt: page and table say why\n", rows.len());
    }
    if !failed.is_empty() {
        text += &format!("{} of {} points failed\n", failed.len(), rows.len());
    }
    text
}

/// More points that failed are told by the table.
const FAILED_TOLD: usize = 5;
