//! A simulated drive beside what was published of the real one, as a picture.

use writecliff_suite::check::{Bound, Comparison, Role};

use crate::number::in_unit;
use crate::picture::{Axis, BLUE, GREEN, NEUTRAL, Picture, Points, Range, Style, short, svg};

/// The axis goes at least so far to either side.
const LEAST: f64 = 2.0;

/// All figures of one drive as an SVG file: a row each, from what was published, at 1, to the model.
pub fn model_picture(drive: &str, comparisons: &[Comparison]) -> String {
    let rows: Vec<Range> = comparisons.iter().map(row).collect();
    let farthest = |most: f64, row: &Range| most.max(1.0 / row.low).max(row.high);
    let most = rows.iter().fold(LEAST, farthest);
    let title = format!("{drive} (simulated) beside published figures");
    let quantity = "model / published";
    let mut picture = Picture::ranges(
        format!("model-{drive}"),
        title,
        quantity,
        ("scenario", rows),
        (1.0 / most, most),
    );
    let count = |role| comparisons.iter().filter(|one| one.role == role).count();
    picture.conditions = format!(
        "{} ratings (grey), {} fitted to (green), {} predicted (blue)",
        count(Role::Rating),
        count(Role::Fitted),
        count(Role::Predicted),
    );
    svg(&picture)
}

/// The courses of one drive that figures are stretches of, each with its name, as SVG files: measured beside
/// simulated, over drive writes.
pub fn course_pictures(drive: &str, comparisons: &[Comparison]) -> Vec<(&'static str, String)> {
    let stretches =
        || comparisons.iter().filter_map(|one| Some((one.figure.scenario.stretch()?, one)));
    let mut courses: Vec<&'static str> = stretches().map(|((course, ..), _)| course).collect();
    courses.dedup();
    let draw = |course: &'static str| {
        let of_it = || stretches().filter(move |((of, ..), _)| *of == course);
        let line = |value: fn(&Comparison) -> f64| -> Vec<(f64, f64)> {
            let ends = of_it().flat_map(|((_, from, to), one)| {
                [from, to].map(|percent| (f64::from(percent) / 100.0, value(one)))
            });
            ends.collect()
        };
        let measured = line(|one| one.figure.value);
        let simulated = line(|one| one.model);
        let end = measured.iter().map(|point| point.0).fold(1.0, f64::max);
        let rates = || measured.iter().chain(&simulated).map(|point| point.1);
        let (lowest, highest) = (rates().fold(f64::MAX, f64::min), rates().fold(1.0, f64::max));
        let unit = of_it().next().map_or("", |(_, one)| one.figure.unit.symbol());
        let mut picture = Picture::new(
            format!("{course}-{drive}"),
            format!("{drive} (simulated) beside what was measured: {course}"),
            Axis::broken("drive writes after the fill", 1.0, end),
            Axis::decades(unit, (lowest.max(1.0), highest), false, short),
            vec![
                Points::line("measured", NEUTRAL, measured),
                Points::line("simulated", BLUE, simulated),
            ],
        );
        picture.conditions = "means of the stretches that figures are of".to_owned();
        (course, svg(&picture))
    };
    courses.into_iter().map(draw).collect()
}

fn row(comparison: &Comparison) -> Range {
    let figure = &comparison.figure;
    let ratio = comparison.model / figure.value;
    let bound = match figure.bound {
        Bound::None => "",
        Bound::AtLeast => "at least ",
        Bound::AtMost => "at most ",
    };
    let value = |value| in_unit(value, figure.unit);
    let words = format!(
        "{}, published {bound}{}: x{:.2}",
        value(comparison.model),
        value(figure.value),
        comparison.error_factor,
    );
    let (low, high) = (ratio.min(1.0), ratio.max(1.0));
    Range {
        name: figure.scenario.to_string(),
        low,
        middle: ratio,
        middle_is: "model",
        high,
        words,
        style: style(comparison.role),
    }
}

fn style(role: Role) -> Style {
    match role {
        Role::Rating => NEUTRAL,
        Role::Fitted => GREEN,
        Role::Predicted => BLUE,
    }
}
