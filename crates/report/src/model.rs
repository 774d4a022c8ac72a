//! A simulated drive beside what was published of the real one, as a picture.

use writecliff_suite::check::{Bound, Comparison, Role};

use crate::number::in_unit;
use crate::picture::{BLUE, GREEN, NEUTRAL, Picture, Range, Style, svg};

/// The axis goes at least so far to either side.
const LEAST: f64 = 2.0;

/// All figures of one drive as an SVG file: a row each, from what was published, at 1, to the model.
pub fn model_picture(drive: &str, comparisons: &[Comparison]) -> String {
    let rows: Vec<Range> = comparisons.iter().map(row).collect();
    let farthest = |most: f64, row: &Range| most.max(1.0 / row.low).max(row.high);
    let most = rows.iter().fold(LEAST, farthest);
    let title = format!("{drive} (simulated) beside published figures");
    let quantity = "model / published";
    let mut picture =
        Picture::ranges(format!("model-{drive}"), title, quantity, rows, (1.0 / most, most));
    let count = |role| comparisons.iter().filter(|one| one.role == role).count();
    picture.conditions = format!(
        "{} ratings (grey), {} fitted to (green), {} predicted (blue)",
        count(Role::Rating),
        count(Role::Fitted),
        count(Role::Predicted),
    );
    svg(&picture)
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
