//! What page and file have in common: axes, traces and marks as elements of SVG.
//!
//! On the page a picture takes the width it is given: texts stand at percentages, and data lie on a
//! grid that is stretched below strokes that are not. A file has a size, and every place is a number
//! of pixels. Colours are attributes; a page's style sheet overrules those that depend on light and
//! dark.

mod axes;
mod marks;
mod sheet;
mod traces;

use std::fmt::Write;

use super::{Look, Picture, Trace, heat};

pub(super) use marks::watermark;
pub(super) use sheet::Sheet;
pub(super) use traces::{dashes, form};

use sheet::STEPS_A_PIXEL;

pub(super) const INK: &str = "#1d2430";
pub(super) const QUIET: &str = "#5b6675";
const GRID: &str = "#d9dee5";
/// Of the cliff and of seconds in which nothing completed.
const ALARM: &str = "#b54a00";
/// Of the weakest to the strongest cells: all stand out from white, each from its neighbours.
pub(super) const HEAT: [&str; heat::LEVELS] =
    ["#2f9482", "#25849c", "#2770b0", "#3559b5", "#4741a3", "#472a80", "#371a58", "#1b0c2e"];

/// A picture on a sheet.
struct Drawing<'a> {
    picture: &'a Picture,
    sheet: &'a Sheet<'a>,
    svg: String,
}

/// Axes, traces and marks; what lies outside the axes' area overflows it.
pub(super) fn drawing(picture: &Picture, sheet: &Sheet<'_>) -> String {
    let mut drawing = Drawing { picture, sheet, svg: String::new() };
    drawing.axes();
    drawing.data();
    drawing.labels();
    drawing.svg
}

impl Drawing<'_> {
    fn put(&mut self, words: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.svg.write_fmt(words);
    }

    /// Windows, traces and upright lines, on the grid of data.
    fn data(&mut self) {
        let (width, height) = self.sheet.steps();
        match self.sheet {
            Sheet::Page { .. } => self.put(format_args!(
                "<svg class=\"data\" width=\"100%\" height=\"100%\" viewBox=\"0 0 {width} {height}\" \
                 preserveAspectRatio=\"none\" overflow=\"visible\" fill=\"none\">"
            )),
            Sheet::File(..) => {
                let scale = 1.0 / STEPS_A_PIXEL;
                self.put(format_args!("<g transform=\"scale({scale})\" fill=\"none\">"));
            }
        }
        self.windows();
        for trace in &self.picture.traces {
            match trace {
                Trace::Points(points) if points.look == Look::Columns => self.columns(points),
                Trace::Points(points) => self.points(points),
                // Rows are words as much as lengths: page and file lay them out each their own way.
                Trace::Bars(_) | Trace::Ranges(_) => {}
                Trace::Heat(heat) => self.heat(heat),
            }
        }
        self.uprights();
        let end = if let Sheet::Page { .. } = self.sheet { "</svg>" } else { "</g>" };
        self.svg.push_str(end);
    }

    fn place(&self, (x, y): (f64, f64)) -> (i64, i64) {
        let (width, height) = self.sheet.steps();
        let x = self.picture.x.place(x).clamp(0.0, 1.0) * width;
        let y = (1.0 - self.picture.y.place(y).clamp(0.0, 1.0)) * height;
        (x.round() as i64, y.round() as i64)
    }
}

/// The attribute by which buttons find what they hide.
pub(super) fn of_subject(subject: Option<usize>) -> String {
    subject.map_or_else(String::new, |subject| format!(" data-subject=\"{subject}\""))
}

/// Text of SVG and HTML: no markup, nothing that XML forbids.
pub(super) fn escaped(text: &str) -> String {
    let legal = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(legal).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
