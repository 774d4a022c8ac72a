//! Lines over something that a test varies: of one drive all in one picture, of several drives a
//! picture for each quantity with a line for each drive; and the same as tables.

use writecliff_device::Bytes;
use writecliff_suite::{Good, MethodWarning, Warning, doubts_across};

use super::{merged, number_row};
use crate::number;
use crate::picture::{Axis, Picture, Points, Style, latency, nth_style};
use crate::section::{Column, Place, Row, Table, View};
use crate::subjects::Subjects;

/// One quantity: its name in a picture of one drive, and its heading in one of several.
pub(super) struct Curve<'a> {
    pub(super) name: &'a str,
    pub(super) heading: String,
    /// Its own in a picture of one drive.
    pub(super) style: Style,
    /// The drives' points.
    pub(super) lines: Vec<(usize, Vec<(f64, f64)>)>,
}

/// The views; ids begin with `id`. All have the same axes.
pub(super) fn views(
    subjects: &Subjects<'_>,
    (id, title, text): (&str, &str, &str),
    x: &Axis,
    quantity: &str,
    conditions: &str,
    curves: &[Curve<'_>],
) -> Vec<View> {
    let y = Axis::linear(quantity, highest(curves));
    views_on(subjects, (id, title, text), (x, &y), conditions, curves)
}

/// The highest point of all.
pub(super) fn highest(curves: &[Curve<'_>]) -> f64 {
    points(curves).map(|point| point.1).fold(0.0, f64::max)
}

/// All points of all curves.
pub(super) fn points(curves: &[Curve<'_>]) -> impl Iterator<Item = (f64, f64)> {
    curves.iter().flat_map(|curve| curve.lines.iter().flat_map(|line| line.1.iter().copied()))
}

/// Decades of time around all points, which are in nanoseconds.
pub(super) fn times(title: &str, curves: &[Curve<'_>]) -> Axis {
    let shortest = points(curves).map(|point| point.1).fold(f64::INFINITY, f64::min).max(1.0);
    Axis::decades(title, (shortest, highest(curves).max(shortest)), false, latency).of_nanos()
}

/// The views on these axes.
pub(super) fn views_on(
    subjects: &Subjects<'_>,
    (id, title, text): (&str, &str, &str),
    (x, y): (&Axis, &Axis),
    conditions: &str,
    curves: &[Curve<'_>],
) -> Vec<View> {
    if points(curves).next().is_none() {
        return Vec::new();
    }
    let view = |id: String, heading: &str, title: &str, traces| {
        let mut picture = Picture::new(id, heading.to_owned(), x.clone(), y.clone(), traces);
        conditions.clone_into(&mut picture.conditions);
        View::common(title, text, picture)
    };
    if !subjects.is_comparison() {
        let traces = curves.iter().flat_map(|curve| {
            let trace =
                move |points: &Vec<_>| Points::line(curve.name, curve.style, points.clone());
            let drawn = curve.lines.iter().filter(|line| !line.1.is_empty());
            drawn.map(move |line| trace(&line.1))
        });
        let heading = format!("{title}: {}", subjects.full_name(0));
        return vec![view(id.to_owned(), &heading, title, traces.collect())];
    }
    let of_curve = |curve: &Curve<'_>| {
        let traces = curve.lines.iter().map(|(subject, points)| {
            Points::line(&subjects.full_name(*subject), nth_style(*subject), points.clone())
        });
        let id = format!("{id}-{}", crate::section::slug(curve.name));
        view(id, &curve.heading, &curve.heading, traces.collect())
    };
    curves.iter().filter(|curve| !curve.lines.is_empty()).map(of_curve).collect()
}

/// The values of curves, step by step.
pub(super) struct Stepped<'a, N: Fn(f64) -> String, D: Fn(usize, &str, f64) -> bool> {
    pub(super) title: &'static str,
    /// What a step is called.
    pub(super) name: N,
    /// Whether a drive's value of this curve at this step is in doubt.
    pub(super) in_doubt: D,
    /// In MB/s.
    pub(super) curves: &'a [Curve<'a>],
}

/// A drive's line of a curve by this name.
type Line<'a> = (usize, &'a str, &'a [(f64, f64)]);

impl<N: Fn(f64) -> String, D: Fn(usize, &str, f64) -> bool> Stepped<'_, N, D> {
    /// Of one drive a table with a column for each curve, of several a table for each curve. Steps
    /// of the same values are one row; where there is only one, there is no table.
    pub(super) fn tables(&self, subjects: &Subjects<'_>) -> Vec<Table> {
        if !subjects.is_comparison() {
            let column =
                |curve: &Curve<'_>| Column { of: Place::default(), name: curve.name.to_owned() };
            let columns = self.curves.iter().map(column).collect();
            let all: Vec<Line<'_>> = self.curves.iter().flat_map(lines_of).collect();
            return self.table(self.title, columns, &all).into_iter().collect();
        }
        let table = |curve: &Curve<'_>| {
            let columns = Table::columns_of(subjects, curve.lines.iter().map(|line| line.0));
            let lines: Vec<Line<'_>> = lines_of(curve).collect();
            self.table(&format!("{}: {}", self.title, curve.name), columns, &lines)
        };
        let tables: Vec<Option<Table>> = self.curves.iter().map(table).collect();
        tables.into_iter().flatten().collect()
    }

    fn table(&self, title: &str, columns: Vec<Column>, lines: &[Line<'_>]) -> Option<Table> {
        let mut steps: Vec<f64> =
            lines.iter().flat_map(|line| line.2).map(|point| point.0).collect();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        let value = |line: &Line<'_>, step: f64| {
            line.2.iter().find(|point| point.0 == step).map(|point| point.1)
        };
        let row = |step: &f64| {
            let values = lines.iter().map(|line| value(line, *step));
            let words = number::megabytes_per_second;
            let mut row = number_row(&(self.name)(*step), Good::AtLeast, values, words);
            for (cell, (subject, curve, _)) in row.values.iter_mut().zip(lines) {
                cell.in_doubt = (self.in_doubt)(*subject, curve, *step);
            }
            row
        };
        let mut rows: Vec<Row> = merged(steps.iter().map(row).collect());
        // Beside each other are drives, or writes and reads, which are not compared.
        let compares = columns.iter().all(|column| column.of.subject.is_some());
        rows.iter_mut().filter(|_| !compares).for_each(|row| row.good = None);
        (rows.len() > 1).then(|| Table::new(title, "", columns, rows))
    }
}

fn lines_of<'a>(curve: &'a Curve<'_>) -> impl Iterator<Item = Line<'a>> {
    curve.lines.iter().map(|(subject, points)| (*subject, curve.name, points.as_slice()))
}

/// Whose fast buffer took what a test wrote at a time; empty if nobody's did.
pub(super) fn in_the_buffer(subjects: &Subjects<'_>, test: &str) -> String {
    let said = |index: usize| {
        let (written, buffer) = within_buffer(subjects, test, index)?;
        Some(format!(
            " {written} at a time are within the fast buffer of {} ({buffer}): what is written to an erased drive beyond that is slower.",
            subjects.full_name(index)
        ))
    };
    (0..subjects.all.len()).filter_map(said).collect()
}

/// What a test wrote at a time, and the fast buffer of this drive, where that took it, by another test of its review.
pub(super) fn within_buffer(
    subjects: &Subjects<'_>,
    test: &str,
    index: usize,
) -> Option<(Bytes, Bytes)> {
    let records: Vec<_> = subjects.all[index].runs.iter().map(|run| &run.record).collect();
    let doubts = doubts_across(&records).into_iter();
    let mut of_test = doubts.filter(|(run, _)| records[*run].plan.name() == test);
    of_test.find_map(|(_, doubt)| match doubt {
        Warning::Method(MethodWarning::WithinBuffer { written, buffer, .. }) => {
            Some((written, buffer))
        }
        _ => None,
    })
}
