//! A picture in the page: SVG that takes the width it is given, its legend as text beside it.

use std::fmt::Write;

use super::drawing::{Sheet, drawing, escaped, of_subject};
use super::svg::{key, steps};
use super::{Axis, Bar, Heat, Picture, Points, Scale, Trace};

/// Above the axes' area: the title of the y axis, the names of marks.
const ABOVE: u32 = 38;
/// Below it: the names of ticks, the title of the x axis.
const BELOW: u32 = 46;

/// The markup of a picture whose axes' area is so high. Names that `hides` knows are hidden with the
/// subject that it gives.
pub(crate) fn inline(
    picture: &Picture,
    height: u32,
    hides: &dyn Fn(&str) -> Option<usize>,
) -> String {
    if let Some(Trace::Bars(bars)) = picture.traces.first() {
        return bar_list(picture, bars, hides);
    }
    let sheet = Sheet::Page(hides);
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
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
        Scale::Names => "names",
    };
    let quantity = escaped(&axis.quantity);
    format!(" data-{name}=\"{scale} {} {}\" data-{name}q=\"{quantity}\"", axis.from, axis.to)
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

/// Bars as a list: names and values are text that can wrap, be read and be copied.
fn bar_list(picture: &Picture, bars: &[Bar], hides: &dyn Fn(&str) -> Option<usize>) -> String {
    let item = |bar: &Bar| {
        let width = picture.x.place(bar.value).clamp(0.0, 1.0) * 100.0;
        format!(
            "<li{}><span>{}</span><svg width=\"100%\" height=\"16\" aria-hidden=\"true\"><rect \
             width=\"{width:.2}%\" height=\"16\" fill=\"{}\"/></svg><b>{}</b></li>\n",
            of_subject(hides(&bar.name)),
            escaped(&bar.name),
            bar.style.colour,
            escaped(&bar.words)
        )
    };
    let items: String = bars.iter().map(item).collect();
    let watermark = picture.watermark.map_or_else(String::new, |words| {
        format!("<li class=\"watermark\" aria-hidden=\"true\">{}</li>", escaped(words))
    });
    let label = escaped(&picture.title);
    format!("<ul class=\"bars\" aria-label=\"{label}\">{items}{watermark}</ul>\n")
}
