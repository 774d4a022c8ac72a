//! Fleets: whole ones on this machine, and single groups wherever Python takes them.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use writecliff::measure::REPORT;
use writecliff_fleet::{FleetRun, GroupRow, Service, Task, write_page};
use writecliff_sweep::RowFigure;

use crate::errors::{FailedError, Raised};
use crate::json;
use crate::watched::watched;
use crate::work::{begun, done};

/// What came of a variant.
#[derive(Serialize)]
struct ToldVariant {
    figures: Vec<RowFigure>,
    #[serde(flatten)]
    service: Service,
}

/// Runs a fleet on this machine into the directory `path`, or goes on with the one that is there;
/// `memory` in bytes.
#[pyfunction]
#[pyo3(signature = (fleet, path, memory = None, progress = None))]
pub(crate) fn fleet(
    py: Python<'_>,
    fleet: Option<&str>,
    path: PathBuf,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    done(py, &begun::<FleetRun>(fleet, &path)?, memory, progress)
}

/// The groups that the fleet in the directory `path` has no rows of, each as JSON, with what it takes
/// in memory, in bytes; and how many there are in all. Begins a new one if it is given.
#[pyfunction]
#[pyo3(signature = (fleet, path))]
pub(crate) fn fleet_left(
    fleet: Option<&str>,
    path: PathBuf,
) -> PyResult<(Vec<(String, u64)>, usize)> {
    let run: FleetRun = begun(fleet, &path)?;
    if fleet.is_some() {
        run.keep(Vec::new()).map_err(|error| error.raised())?;
    }
    let all = run.tasks();
    let is_done = |task: &Task| {
        let is_it = |row: &GroupRow| (row.variant, row.group) == (task.variant, task.group);
        run.done().iter().any(is_it)
    };
    let left = all.iter().filter(|task| !is_done(task));
    let left =
        left.map(|task| Ok((json::text(task)?, task.memory().0))).collect::<PyResult<_>>()?;
    Ok((left, all.len()))
}

/// Runs a group and gives its row as JSON.
#[pyfunction]
pub(crate) fn fleet_perform(py: Python<'_>, task: &str) -> PyResult<String> {
    let task: Task = json::read("the group", task)?;
    let row = watched(py, None, |watch| task.perform(&|| watch(None)))?;
    match row.map_err(|error| error.raised())? {
        Some(row) => json::text(&row),
        None => Err(FailedError::new_err("the group was broken off")),
    }
}

/// Keeps rows that were made anywhere in the fleet's directory, beside those that are there: journal
/// and tables.
#[pyfunction]
pub(crate) fn fleet_keep(py: Python<'_>, path: PathBuf, rows: Vec<String>) -> PyResult<()> {
    let rows = rows.iter().map(|row| json::read("a row", row)).collect::<PyResult<_>>()?;
    let run: FleetRun = begun(None, &path)?;
    py.detach(|| run.keep(rows)).map_err(|error| error.raised())
}

/// What came of every variant of the fleet in the directory `path`, as JSON, and the page's path.
#[pyfunction]
pub(crate) fn fleet_told(path: PathBuf) -> PyResult<(Vec<String>, PathBuf)> {
    let run: FleetRun = begun(None, &path)?;
    let services = run.services().map_err(|error| error.raised())?;
    let page = write_page(run.fleet(), &services, &path.join(REPORT));
    let page = page.map_err(|error| writecliff::Error::from(error).raised())?;
    let variants = services.into_iter().map(|(_, service)| {
        let figures = service.figures();
        json::text(&ToldVariant { figures, service })
    });
    Ok((variants.collect::<PyResult<_>>()?, page))
}
