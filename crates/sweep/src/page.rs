//! A sweep's page.

use std::path::{Path, PathBuf};

use serde_json::Value;
use writecliff_report::{
    KeyValues, ReportError, SweepFigure, SweepKey, SweepTable, write_sweep_page,
};

use crate::plan::{DRIVE, Sweep};
use crate::row::Row;
use crate::table::{figures, text};

/// Writes the page about these rows into the directory `out`, and returns its path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
pub fn write_page(sweep: &Sweep, rows: &[Row], out: &Path) -> Result<PathBuf, ReportError> {
    let (done, failed): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.error.is_none());
    let failed = failed.iter().filter_map(|row| Some((row.point.point, row.error.clone()?)));
    let drive = if sweep.drive.is_empty() { "simulated drives" } else { &sweep.drive };
    let seeds = match sweep.seeds {
        1 => String::new(),
        seeds => format!(", each setting with {seeds} seeds"),
    };
    let quick = if sweep.quick { " Cut down to seconds: no result to rely on." } else { "" };
    let table = SweepTable {
        title: format!("{} of {drive}", sweep.test),
        lead: format!("{} points of simulated drives{seeds}.{quick}", rows.len()),
        points: done.len(),
        doubts: done.iter().map(|row| row.doubts.clone()).collect(),
        keys: sweep.varied().iter().map(|name| key(name, &done)).collect(),
        figures: figures(rows).iter().filter_map(|name| figure(name, &done)).collect(),
        failed: failed.collect(),
        plan: plan(sweep),
    };
    write_sweep_page(&table, out)
}

fn key(name: &str, rows: &[&Row]) -> SweepKey {
    let values: Vec<Value> = rows.iter().filter_map(|row| row.point.value(name)).collect();
    let values = match name {
        DRIVE => None,
        _ => numbers(&values),
    }
    .unwrap_or_else(|| KeyValues::Names(values.into_iter().map(text).collect()));
    SweepKey { name: name.to_owned(), values }
}

/// The values as numbers, if all of them are, with one unit.
fn numbers(values: &[Value]) -> Option<KeyValues> {
    let parsed = values.iter().map(crate::range::parse).collect::<Option<Vec<_>>>()?;
    let unit = parsed.first().map(|(form, _)| form.unit().to_owned())?;
    let is_same = parsed.iter().all(|(form, _)| form.unit() == unit);
    is_same.then(|| KeyValues::Numbers(parsed.iter().map(|(_, number)| *number).collect(), unit))
}

fn figure(name: &str, rows: &[&Row]) -> Option<SweepFigure> {
    let one = rows.iter().flat_map(|row| &row.figures).find(|figure| figure.name == name)?;
    Some(SweepFigure {
        name: name.to_owned(),
        unit: one.unit.clone(),
        good: one.good,
        judged: !one.unjudged,
        values: rows.iter().map(|row| row.figure(name)).collect(),
        in_doubt: rows.iter().map(|row| row.is_doubted(name)).collect(),
    })
}

/// The plan as lines of keys and values.
fn plan(sweep: &Sweep) -> Vec<(String, String)> {
    let Ok(Value::Object(values)) = serde_json::to_value(sweep) else { return Vec::new() };
    values.into_iter().map(|(key, value)| (key, text(value))).collect()
}
