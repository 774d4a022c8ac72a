//! Sweeps: whole ones on this machine, and single points wherever Python takes them.

use std::path::PathBuf;

use pyo3::prelude::*;
use writecliff::measure::REPORT;
use writecliff_sweep::{Point, Row, Sweep, SweepRun, write_page};

use crate::drive::told;
use crate::errors::{FailedError, Raised};
use crate::json;
use crate::watched::watched;
use crate::work::{begun, done};

/// The points of a sweep, each as JSON, in their order.
#[pyfunction]
pub(crate) fn points(sweep: &str) -> PyResult<Vec<String>> {
    let sweep: Sweep = json::read("the sweep", sweep)?;
    let points = sweep.points().map_err(|error| error.raised())?;
    points.iter().map(json::text).collect()
}

/// Runs a point and gives its row as JSON; `place` is a new directory for what it records meanwhile.
#[pyfunction]
pub(crate) fn perform(
    py: Python<'_>,
    point: &str,
    figures: Vec<String>,
    place: PathBuf,
) -> PyResult<String> {
    let point: Point = json::read("the point", point)?;
    let row =
        watched(py, None, |watch| point.perform(&figures, &place, &|event| told(watch, &event)))?;
    match row.map_err(|error| error.raised())? {
        Some(row) => json::text(&row),
        None => Err(FailedError::new_err("the point was broken off")),
    }
}

/// Runs a sweep on this machine into the directory `path`, or goes on with the one that is there;
/// `memory` in bytes.
#[pyfunction]
#[pyo3(signature = (sweep, path, memory = None, progress = None))]
pub(crate) fn sweep(
    py: Python<'_>,
    sweep: Option<&str>,
    path: PathBuf,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    done(py, &begun::<SweepRun>(sweep, &path)?, memory, progress)
}

/// What a point's drive takes in memory while it runs, in bytes.
#[pyfunction]
pub(crate) fn point_memory(point: &str) -> PyResult<u64> {
    let point: Point = json::read("the point", point)?;
    Ok(point.memory().0)
}

/// Keeps rows that were made anywhere in the sweep's directory, beside those that are there: journal,
/// table and page. Gives all rows as JSON, in their order, and the page's path. Without a sweep it is
/// the one that is there.
#[pyfunction]
#[pyo3(signature = (sweep, path, rows))]
pub(crate) fn store(
    py: Python<'_>,
    sweep: Option<&str>,
    path: PathBuf,
    rows: Vec<String>,
) -> PyResult<(Vec<String>, PathBuf)> {
    let rows = rows.iter().map(|row| json::read("a row", row)).collect::<PyResult<Vec<Row>>>()?;
    let run: SweepRun = begun(sweep, &path)?;
    let kept = py.detach(|| run.keep(rows)).map_err(|error| error.raised())?;
    let page = write_page(run.sweep(), &kept, &path.join(REPORT));
    let page = page.map_err(|error| writecliff::Error::from(error).raised())?;
    Ok((kept.iter().map(json::text).collect::<PyResult<_>>()?, page))
}
