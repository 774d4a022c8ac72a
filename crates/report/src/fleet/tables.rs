//! The tables: figures of all variants, drives by kind, the slowest drives.

use super::{FleetDrive, FleetFigure, FleetKind, FleetPage, FleetPart, plain};
use crate::number;
use crate::number::NONE;
use crate::section::{Cell, Column, Place, Row, Table};

/// Figures down, variants across.
pub(super) fn figures(fleet: &FleetPage) -> Table {
    let columns = fleet.variants.iter().enumerate().map(|(index, part)| Column {
        of: place(fleet, index),
        name: if part.name.is_empty() { "fleet".to_owned() } else { part.name.clone() },
    });
    let row = |figure: &FleetFigure| {
        let cell = |part: &FleetPart| {
            let cell = part.cell(&figure.name, FleetFigure::words);
            cell.unwrap_or_else(|| Cell::from(NONE.to_owned()))
        };
        let good = figure.good.filter(|_| fleet.variants.len() > 1);
        Row {
            name: figure.name.clone(),
            values: fleet.variants.iter().map(cell).collect(),
            meaning: figure.meaning.to_owned(),
            good,
        }
    };
    let rows = fleet.figures().into_iter().map(row).collect();
    let mut table = Table::new("Figures", "", columns.collect(), rows);
    if table.rows.iter().any(|row| !row.best().is_empty()) {
        STAR.clone_into(&mut table.text);
    }
    table.mark_doubts();
    table
}

const STAR: &str = "A star marks the best and what is not told apart from it (5 %), unless it or all others are in doubt, or all are alike.";

/// Of each variant its kinds of drives, and those that most late requests waited for.
pub(super) fn drives(fleet: &FleetPage) -> Vec<Table> {
    let all = fleet.variants.iter().enumerate();
    all.flat_map(|(index, part)| {
        let kinds = (!part.kinds.is_empty()).then(|| kinds(part));
        let slowest = (!part.slowest.is_empty()).then(|| slowest(part));
        let of = place(fleet, index);
        let tables = kinds.into_iter().chain(slowest);
        tables.map(move |table| Table { of, ..table }).collect::<Vec<_>>()
    })
    .collect()
}

fn kinds(part: &FleetPart) -> Table {
    let are_some_late = part.kinds.iter().any(|kind| kind.late_percent > 0.0);
    let row = |kind: &FleetKind| {
        let values = vec![
            number::thousands(kind.drives as f64),
            percent(kind.waited_percent),
            if are_some_late { percent(kind.late_percent) } else { NONE.to_owned() },
            kind.write_amplification.map_or(NONE.to_owned(), number::ratio),
            kind.years
                .map_or(NONE.to_owned(), |years| format!("{} years", number::significant(years))),
            kind.dollars_a_year
                .map_or(NONE.to_owned(), |cost| format!("${}", number::significant(cost))),
        ];
        Row::new(&kind.drive, values, "")
    };
    let names =
        ["drives", "of requests", OF_LATE_ONES, "write amplification", "endurance", "cost a year"];
    let rows = part.kinds.iter().map(row).collect();
    let mut table = table(&titled("Kinds of drives", part), &names, rows);
    let has_years = part.kinds.iter().any(|kind| kind.years.is_some());
    let has_costs = part.kinds.iter().any(|kind| kind.dollars_a_year.is_some());
    let told = [(has_years, ENDURANCE), (has_costs, COST)];
    let told: Vec<&str> = told.into_iter().filter(|told| told.0).map(|told| told.1).collect();
    table.text = told.join(" ");
    mark_late(&mut table, part);
    table
}

/// What the column tells.
const ENDURANCE: &str = "Endurance: how long a drive's rated writes last in this service; of a scale model those of the whole drive, \
                         whose rates it has.";

/// What the next one tells.
const COST: &str = "Cost a year: the price of all of them, as the drives' profiles have it, over five years, or over their \
                    endurance if that is known and shorter.";

fn slowest(part: &FleetPart) -> Table {
    let row = |drive: &FleetDrive| {
        let values = vec![
            drive.drive.clone(),
            percent(drive.full_percent),
            format!("{} times", number::significant(drive.overwrites)),
            number::thousands(drive.late as f64),
            percent(drive.late_percent),
        ];
        Row::new(&drive.place, values, "")
    };
    let names = ["drive", "full", "overwritten", LATE_REQUESTS, OF_LATE_ONES];
    let rows = part.slowest.iter().map(row).collect();
    let title = titled("Drives that most late requests waited for", part);
    let mut table = table(&title, &names, rows);
    mark_late(&mut table, part);
    table
}

const LATE_REQUESTS: &str = "late requests";
const OF_LATE_ONES: &str = "of late ones";

/// Parts of what is in doubt are.
fn mark_late(table: &mut Table, part: &FleetPart) {
    let is_late: Vec<bool> = table
        .columns
        .iter()
        .map(|one| [LATE_REQUESTS, OF_LATE_ONES].contains(&&*one.name))
        .collect();
    for row in table.rows.iter_mut().filter(|_| !part.doubts.is_empty()) {
        let cells = row.values.iter_mut().zip(&is_late);
        cells.for_each(|(cell, is_late)| cell.in_doubt = *is_late);
    }
    table.mark_doubts();
}

fn table(title: &str, names: &[&str], rows: Vec<Row>) -> Table {
    let column = |name: &&str| Column { of: Place::default(), name: (*name).to_owned() };
    Table::new(title, "", names.iter().map(column).collect(), rows)
}

fn titled(title: &str, part: &FleetPart) -> String {
    if part.name.is_empty() { title.to_owned() } else { format!("{title}: {}", part.name) }
}

fn percent(value: f64) -> String {
    format!("{} %", plain(value))
}

fn place(fleet: &FleetPage, index: usize) -> Place {
    if fleet.variants.len() > 1 { Place::of(index) } else { Place::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::FleetDoubt;

    #[test]
    fn parts_of_late_requests_are_in_doubt_with_their_sum() {
        let kind = FleetKind {
            drive: "a".to_owned(),
            drives: 3,
            waited_percent: 50.0,
            late_percent: 12.5,
            write_amplification: None,
            years: None,
            dollars_a_year: None,
        };
        let part = |doubts: &[&str]| FleetPart {
            name: String::new(),
            doubts: doubts
                .iter()
                .map(|text| FleetDoubt { text: (*text).to_owned(), of_times: true })
                .collect(),
            figures: Vec::new(),
            longer: Vec::new(),
            minutes: Vec::new(),
            blame: Vec::new(),
            kinds: vec![kind.clone()],
            slowest: Vec::new(),
            plan: Vec::new(),
        };
        let told = |doubts: &[&str]| -> Vec<String> {
            kinds(&part(doubts)).rows[0].values[..3].iter().map(|cell| cell.text.clone()).collect()
        };
        assert_eq!(told(&[]), ["3", "50.0 %", "12.5 %"]);
        assert_eq!(told(&["It falls behind."]), ["3", "50.0 %", "12.5 % ?"]);
    }
}
