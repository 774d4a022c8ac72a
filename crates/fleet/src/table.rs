//! Sums as columns, for pandas, polars and DuckDB.

use std::path::Path;

use writecliff::suite::ios_for;
use writecliff_output::OutputError;
use writecliff_sweep::{Column, write_cells};

use crate::tally::{DriveRow, GroupRow, Minute, histogram};
use crate::total::{Service, percentile};
use crate::variants::Variant;

/// Every minute of every variant: requests, late ones, percentiles of their response times in
/// nanoseconds.
pub(crate) fn write_minutes(
    path: &Path,
    services: &[(&Variant, Service)],
) -> Result<(), OutputError> {
    let rows: Vec<(&str, u64, &Minute)> = services
        .iter()
        .flat_map(|(variant, service)| {
            (1..).zip(&service.minutes).map(|(number, minute)| (&*variant.name, number, minute))
        })
        .collect();
    let integers = |of: &dyn Fn(&Minute) -> u64| {
        Column::Integer(rows.iter().map(|row| i64::try_from(of(row.2)).ok()).collect())
    };
    let mut columns = vec![
        column("variant", Column::Text(rows.iter().map(|row| Some(row.0.to_owned())).collect())),
        column(
            "minute",
            Column::Integer(rows.iter().map(|row| i64::try_from(row.1).ok()).collect()),
        ),
        column("requests", integers(&Minute::requests)),
        column("late", integers(&|minute| minute.late)),
    ];
    type Counts = fn(&Minute) -> &Vec<(u64, u64)>;
    let kinds: [(&str, Counts); 2] =
        [("read", |minute| &minute.reads), ("write", |minute| &minute.writes)];
    for (kind, counts) in kinds {
        for (name, percent) in [("p50", 50.0), ("p99", 99.0), ("p999", 99.9), ("p9999", 99.99)] {
            let value = |minute: &Minute| {
                let responses = histogram(counts(minute));
                let is_enough = responses.count() >= ios_for(percent);
                is_enough.then(|| percentile(&responses, percent, minute.longest_ns).0)
            };
            let values = rows.iter().map(|row| i64::try_from(value(row.2)?).ok()).collect();
            columns.push(column(&format!("{kind}_{name}_ns"), Column::Integer(values)));
        }
    }
    columns.push(column("longest_ns", integers(&|minute| minute.longest_ns)));
    write_cells(path, &columns)
}

/// Every drive of every variant.
pub(crate) fn write_drives(
    path: &Path,
    variants: &[Variant],
    rows: &[GroupRow],
) -> Result<(), OutputError> {
    let drives: Vec<(&GroupRow, usize, &DriveRow)> = rows
        .iter()
        .flat_map(|row| {
            row.drives.iter().enumerate().map(move |(place, drive)| (row, place, drive))
        })
        .collect();
    let variant = |row: &GroupRow| variants.get(row.variant as usize);
    let texts = |of: &dyn Fn(&GroupRow, &DriveRow) -> Option<String>| {
        Column::Text(drives.iter().map(|(row, _, drive)| of(row, drive)).collect())
    };
    let integers = |of: &dyn Fn(&GroupRow, usize, &DriveRow) -> Option<u64>| {
        let value = |(row, place, drive): &(&GroupRow, usize, &DriveRow)| of(row, *place, drive);
        Column::Integer(drives.iter().map(|row| i64::try_from(value(row)?).ok()).collect())
    };
    let numbers = |of: fn(&DriveRow) -> f64| {
        Column::Number(drives.iter().map(|(_, _, drive)| Some(of(drive))).collect())
    };
    let kind = |row: &GroupRow, drive: &DriveRow| {
        Some(variant(row)?.fleet.drives.get(drive.kind)?.drive.clone())
    };
    write_cells(
        path,
        &[
            column("variant", texts(&|row, _| Some(variant(row)?.name.clone()))),
            column("group", integers(&|row, _, _| Some(u64::from(row.group)))),
            column("place", integers(&|_, place, _| Some(place as u64))),
            column("drive", texts(&kind)),
            column("full_percent", numbers(|drive| drive.full_percent)),
            column("overwrites", numbers(|drive| drive.overwrites)),
            column("ios", integers(&|_, _, drive| Some(drive.ios))),
            column("failed", integers(&|_, _, drive| Some(drive.failed))),
            column("waited_for", integers(&|_, _, drive| Some(drive.waited_for))),
            column("late", integers(&|_, _, drive| Some(drive.late))),
            column("written", integers(&|_, _, drive| Some(drive.written))),
            column("nand_written", integers(&|_, _, drive| drive.nand_written)),
        ],
    )
}

fn column(name: &str, column: Column) -> (String, Column) {
    (name.to_owned(), column)
}
