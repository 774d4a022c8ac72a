//! Tables: the best points, and means over two keys at once.

use writecliff_suite::{Good, are_apart};

use super::{SweepFigure, SweepKey, SweepTable};
use crate::section::{Cell, Column, Place, Row, Table};

/// So many of the best points are told.
const BEST: usize = 5;
/// What marks mean, in tables of means.
const MARKED: &str = "Means. ★ the best of a row, and what is not told apart from it (5 %): none where that is \
                      all of it, or the best is in doubt.";
/// A key of more values is no side of a table.
const SIDE_MAX: usize = 12;

/// The best points by the first figure, then the first figure over each pair of keys.
pub(super) fn tables(sweep: &SweepTable) -> Vec<Table> {
    let Some(figure) = sweep.figures.first() else { return Vec::new() };
    let is_side = |key: &&SweepKey| (2..=SIDE_MAX).contains(&key.groups().len());
    let sides: Vec<&SweepKey> = sweep.keys.iter().filter(is_side).collect();
    let pairs = sides.iter().enumerate().flat_map(|(at, down)| {
        sides[at + 1..].iter().filter_map(move |across| pair(figure, down, across))
    });
    std::iter::once(best(sweep, figure)).chain(pairs).collect()
}

fn best(sweep: &SweepTable, figure: &SweepFigure) -> Table {
    let has = |point: &usize| figure.values[*point].is_some();
    let mut points: Vec<usize> = (0..sweep.points).filter(has).collect();
    points.sort_by(|a, b| {
        let [a, b] = [a, b].map(|point| figure.values[*point].unwrap_or_default());
        if figure.good == Good::AtLeast { b.total_cmp(&a) } else { a.total_cmp(&b) }
    });
    let sure: Vec<usize> =
        points.iter().copied().filter(|point| !figure.in_doubt[*point]).collect();
    let values: Vec<f64> = sure.iter().filter_map(|point| figure.values[*point]).collect();
    let places = shared_places(&values);
    let keys = sweep.keys.iter().map(|key| key.name.clone());
    let names = keys.chain(sweep.figures.iter().map(|figure| figure.name.clone()));
    let columns = names.map(|name| Column { of: Place::default(), name }).collect();
    let row = |point: &usize| {
        let keys = sweep.keys.iter().map(|key| Cell::from(key.word(*point)));
        let figures = sweep.figures.iter().map(|figure| {
            let value = figure.values[*point];
            let words = value.map_or_else(String::new, |value| figure.words(value));
            Cell { in_doubt: figure.in_doubt[*point], ..Cell::new(words, value) }
        });
        let place = sure.iter().position(|other| other == point);
        let place =
            place.map_or_else(|| "in doubt".to_owned(), |place| format!("{}.", places[place]));
        Row { values: keys.chain(figures).collect(), ..Row::new(&place, Vec::new(), "") }
    };
    let rows = points.iter().take(BEST).map(row).collect();
    let text = "What differs by less than single runs tell (5 %) shares a place; what is in doubt has none.";
    let mut table = Table::new(&format!("The best by {}", figure.name), text, columns, rows);
    table.mark_doubts();
    table
}

/// The places of values that are in order: what is not told apart from the best of a place shares it.
fn shared_places(values: &[f64]) -> Vec<usize> {
    let mut best = 0;
    let place = |(index, value): (usize, &f64)| {
        if are_apart(values[best], *value) {
            best = index;
        }
        best + 1
    };
    values.iter().enumerate().map(place).collect()
}

/// Means of a figure, one key's values down and the other's across; none if they were not combined.
fn pair(figure: &SweepFigure, down: &SweepKey, across: &SweepKey) -> Option<Table> {
    let columns = across.groups();
    let row = |(name, points): (String, Vec<usize>)| {
        let cell = |(_, others): &(String, Vec<usize>)| {
            let both: Vec<usize> = points.iter().copied().filter(|p| others.contains(p)).collect();
            let is_whole = both.iter().all(|point| figure.values[*point].is_some());
            let mean = figure.mean(&both).filter(|_| is_whole);
            let text = mean.map_or_else(String::new, |mean| figure.words(mean));
            let in_doubt = both.iter().any(|point| figure.in_doubt[*point]);
            Cell { in_doubt, ..Cell::new(text, mean) }
        };
        let values = columns.iter().map(cell).collect();
        Row { name, values, meaning: String::new(), good: Some(figure.good) }
    };
    let rows: Vec<Row> = down.groups().into_iter().map(row).collect();
    let is_full = rows.iter().flat_map(|row| &row.values).all(|cell| cell.number.is_some());
    let heads = columns.iter().map(|(name, _)| Column {
        of: Place::default(),
        name: format!("{} = {name}", short(&across.name)),
    });
    let title = format!("{}: {} and {}", figure.name, short(&down.name), short(&across.name));
    let mut table = Table::new(&title, MARKED, heads.collect(), rows);
    down.name.clone_into(&mut table.corner);
    table.mark_doubts();
    is_full.then_some(table)
}

/// `free_low` of `drive.gc.free_low`.
fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_apart_shares_a_place() {
        assert_eq!(shared_places(&[100.0, 99.0, 96.0, 94.0, 93.0, 50.0]), [1, 1, 1, 4, 4, 6]);
        assert_eq!(shared_places(&[]), [0; 0]);
    }

    #[test]
    fn what_is_in_doubt_has_no_place_and_takes_none() {
        let figure = SweepFigure {
            name: "steady mean".to_owned(),
            unit: "IOPS".to_owned(),
            good: Good::AtLeast,
            judged: true,
            values: vec![Some(5.0), Some(9.0), Some(3.0), None],
            in_doubt: vec![false, true, false, false],
        };
        let sweep = SweepTable {
            title: String::new(),
            lead: String::new(),
            points: 4,
            doubts: vec![Vec::new(); 4],
            keys: Vec::new(),
            figures: vec![figure.clone()],
            failed: Vec::new(),
            plan: Vec::new(),
        };
        let rows = best(&sweep, &figure).rows;
        let told: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(told, ["in doubt", "1.", "2."]);
        let cells: Vec<&str> = rows.iter().map(|row| row.values[0].text.as_str()).collect();
        assert_eq!(cells, ["9.00 IOPS ?", "5.00 IOPS", "3.00 IOPS"]);
        assert_eq!(super::super::conditions(&[&figure]), "simulated, 1 of 3 points in doubt");
    }
}
