//! All rows as one Parquet file, for pandas, polars, DuckDB and the report.

use std::path::Path;

use serde_json::Value;
use writecliff_output::OutputError;

use crate::cells::{Column, write_cells};
use crate::row::Row;

/// Writes the rows, in the order of their points, in place of an earlier file: a column for the
/// point, the drive, each of the `varied` keys, the seed, each figure, what is to be doubted, and what
/// went wrong.
pub(crate) fn write(path: &Path, varied: &[String], rows: &[Row]) -> Result<(), OutputError> {
    write_cells(path, &columns(varied, rows))
}

fn columns(varied: &[String], rows: &[Row]) -> Vec<(String, Column)> {
    let integers = |of: fn(&Row) -> u64| {
        Column::Integer(rows.iter().map(|row| i64::try_from(of(row)).ok()).collect())
    };
    let texts = |of: fn(&Row) -> Option<String>| Column::Text(rows.iter().map(of).collect());
    let mut columns = vec![
        ("point".to_owned(), integers(|row| u64::from(row.point.point))),
        ("drive".to_owned(), texts(|row| Some(row.point.drive.clone()))),
    ];
    let own = varied.iter().filter(|key| *key != crate::plan::DRIVE);
    columns.extend(own.map(|key| (key.clone(), values(key, rows))));
    columns.push(("seed".to_owned(), integers(|row| row.point.seed)));
    columns.extend(figures(rows).into_iter().map(|name| {
        let values = rows.iter().map(|row| row.figure(&name)).collect();
        (name, Column::Number(values))
    }));
    let doubts = |row: &Row| (!row.doubts.is_empty()).then(|| row.doubts.join(" "));
    columns.push(("doubts".to_owned(), texts(doubts)));
    columns.push(("error".to_owned(), texts(|row| row.error.clone())));
    columns.push(("profile_sha256".to_owned(), texts(|row| row.profile_sha256.clone())));
    columns
}

/// All figures' names, in the order in which they first occur.
pub(crate) fn figures(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for figure in rows.iter().flat_map(|row| &row.figures) {
        if !names.contains(&figure.name) {
            names.push(figure.name.clone());
        }
    }
    names
}

/// Numbers if all of them are.
fn values(key: &str, rows: &[Row]) -> Column {
    let values: Vec<Option<Value>> = rows.iter().map(|row| row.point.value(key)).collect();
    let is_number = |value: &Option<Value>| value.as_ref().is_none_or(Value::is_number);
    match values.iter().all(is_number) {
        true => Column::Number(values.into_iter().map(|value| value?.as_f64()).collect()),
        false => Column::Text(values.into_iter().map(|value| value.map(text)).collect()),
    }
}

/// A value without quotes.
pub(crate) fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
