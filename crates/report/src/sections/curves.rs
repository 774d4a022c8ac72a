//! Lines over something that a test varies: of one drive all in one picture, of several drives a
//! picture for each quantity with a line for each drive.

use crate::picture::{Axis, BLUE, ORANGE, Picture, Points, nth_style};
use crate::section::View;
use crate::subject::Subjects;

/// One quantity: its name in a picture of one drive, and its heading in one of several.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) heading: String,
    /// The drives' points.
    pub(super) lines: Vec<(usize, Vec<(f64, f64)>)>,
}

/// The views; ids begin with `id`. All have the same axes.
pub(super) fn views(
    subjects: &Subjects<'_>,
    (id, title, text): (&str, &str, &str),
    x: &Axis,
    quantity: &str,
    curves: &[Curve],
) -> Vec<View> {
    let lines = || curves.iter().flat_map(|curve| &curve.lines);
    let highest = lines().flat_map(|line| &line.1).map(|point| point.1).fold(0.0, f64::max);
    let y = Axis::linear(quantity, highest);
    let is_one_drive = lines().all(|line| line.0 == 0) && !subjects.is_comparison();
    if is_one_drive {
        let traces = curves.iter().zip([BLUE, ORANGE]).flat_map(|(curve, style)| {
            let trace = move |points: &Vec<_>| Points::line(curve.name, style, points.clone());
            curve.lines.iter().map(move |line| trace(&line.1))
        });
        let heading = format!("{title}: {}", subjects.full_name(0));
        let picture = Picture::new(id.to_owned(), heading, x.clone(), y, traces.collect());
        return vec![View::common(title, text, picture)];
    }
    let view = |curve: &Curve| {
        let traces = curve.lines.iter().map(|(subject, points)| {
            Points::line(&subjects.full_name(*subject), nth_style(*subject), points.clone())
        });
        let id = format!("{id}-{}", crate::section::slug(curve.name));
        let heading = curve.heading.clone();
        let picture = Picture::new(id, heading, x.clone(), y.clone(), traces.collect());
        View::common(&curve.heading, text, picture)
    };
    curves.iter().filter(|curve| !curve.lines.is_empty()).map(view).collect()
}
