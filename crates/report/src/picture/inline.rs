//! A picture in the page: SVG that takes the width it is given, its legend as text beside it.

use std::fmt::Write;

use super::drawing::{Sheet, drawing, escaped, of_subject};
use super::rows::{HEIGHT, Row};
use super::svg::{key, steps};
use super::{Axis, Heat, Picture, Points, Scale, Trace};

/// Above the axes' area: the title of the y axis, the names of marks.
const ABOVE: u32 = 38;
/// Below it: the names of ticks, the title of the x axis.
const BELOW: u32 = 46;

/// The markup of a picture whose axes' area is so high, with no more than so many points of a trace.
/// Names that `hides` knows are hidden with the subject that it gives.
pub(crate) fn inline(
    picture: &Picture,
    height: u32,
    points_max: usize,
    hides: &dyn Fn(&str) -> Option<usize>,
) -> String {
    if let Some(rows) = picture.rows() {
        return list(picture, &rows, hides);
    }
    let sheet = Sheet::Page { hides, points_max };
    let mut html = format!(
        "<div class=\"plot\"{}>\n<svg class=\"picture\" role=\"img\" aria-label=\"{}\" width=\"80%\" \
         height=\"{}\" overflow=\"visible\" font-size=\"12\"><svg class=\"sheet\" \
         y=\"{ABOVE}\" width=\"100%\" height=\"{height}\" overflow=\"visible\">{}</svg></svg></div>\n",
        scales(picture),
        escaped(&picture.alt),
        height + ABOVE + BELOW,
        drawing(picture, &sheet)
    );
    if picture.has_legend() {
        html += &legend(picture, hides);
    }
    if let Some(Trace::Heat(heat)) = picture.traces.first() {
        html += &scale(heat);
    }
    html
}

/// What the script needs to turn places back into values.
fn scales(picture: &Picture) -> String {
    let mut text = axis("x", &picture.x) + &axis("y", &picture.y);
    if let Some(Trace::Heat(heat)) = picture.traces.first() {
        let ends = |edges: &[f64]| {
            let first = edges.first().copied().unwrap_or_default();
            format!("{first} {}", edges.last().copied().unwrap_or_default())
        };
        let _ = write!(
            text,
            " data-cells=\"{} {} {} {} {}\" data-unit=\"{}\"",
            heat.columns.len(),
            heat.rows(),
            ends(&heat.x_edges),
            ends(&heat.y_edges),
            heat.full,
            escaped(heat.unit)
        );
    }
    text
}

fn axis(name: &str, axis: &Axis) -> String {
    let (scale, broken) = match axis.scale {
        Scale::Linear => ("linear", String::new()),
        Scale::Broken { at } => ("broken", format!(" {at}")),
        Scale::Log => ("log", String::new()),
        Scale::Names => ("names", String::new()),
    };
    let quantity = escaped(&axis.quantity);
    format!(
        " data-{name}=\"{scale} {} {}{broken}\" data-{name}q=\"{quantity}\"",
        axis.from, axis.to
    )
}

fn legend(picture: &Picture, hides: &dyn Fn(&str) -> Option<usize>) -> String {
    let entry = |points: &Points| {
        let name = &points.name;
        format!(
            "<li{}><svg width=\"30\" height=\"12\" fill=\"none\" aria-hidden=\"true\">{}</svg> {}</li>",
            of_subject(hides(name)),
            key(points),
            escaped(name)
        )
    };
    let entries: String = picture.named().map(entry).collect();
    format!("<ul class=\"legend\">{entries}</ul>\n")
}

fn scale(heat: &Heat) -> String {
    let (weakest, strongest) = heat.ends();
    format!(
        "<p class=\"legend scale\"><span>{weakest}</span> <svg width=\"160\" height=\"14\" \
         aria-hidden=\"true\">{}</svg> <span>{strongest}</span></p>\n",
        steps()
    )
}

/// Rows as a list: names and values are text that can wrap, be read and be copied.
fn list(picture: &Picture, rows: &[Row<'_>], hides: &dyn Fn(&str) -> Option<usize>) -> String {
    let at = |place: f64| format!("{:.2}%", place * 100.0);
    let item = |row: &Row<'_>| {
        format!(
            "<li{}><span>{}</span><svg width=\"100%\" height=\"{HEIGHT}\" overflow=\"visible\" \
             aria-hidden=\"true\">{}</svg><b>{}</b></li>\n",
            of_subject(hides(row.name)),
            escaped(row.name),
            row.draw(&at),
            escaped(row.words)
        )
    };
    let items: String = rows.iter().map(item).collect();
    let tick = |(value, name): &(f64, String)| {
        let (x, name) = (at(picture.x.place(*value)), escaped(name));
        format!("<text x=\"{x}\" y=\"13\" text-anchor=\"middle\">{name}</text>")
    };
    let axis = match picture.has_row_axis() {
        true => format!(
            "<li class=\"axis\" aria-hidden=\"true\"><span></span><svg width=\"100%\" \
             height=\"{HEIGHT}\" overflow=\"visible\" font-size=\"12\" class=\"tick\">{}</svg><b></b></li>\n",
            picture.x.ticks.iter().map(tick).collect::<String>()
        ),
        false => String::new(),
    };
    let watermark = picture.watermark.map_or_else(String::new, |words| {
        format!("<li class=\"watermark\" aria-hidden=\"true\">{}</li>", escaped(words))
    });
    let label = escaped(&picture.alt);
    let class = if picture.has_row_axis() { "bars ranges" } else { "bars" };
    format!("<ul class=\"{class}\" aria-label=\"{label}\">{items}{axis}{watermark}</ul>\n")
}
