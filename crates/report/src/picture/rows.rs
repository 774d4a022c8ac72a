//! Bars and ranges as rows below each other: a name, a shape along the x axis, a value in words.

use std::fmt::Write;

use super::drawing::INK;
use super::{Bar, Picture, Range, Scale, Trace};

/// One row of a picture.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) words: &'a str,
    colour: &'a str,
    shape: Shape,
}

/// How high a row's shape is, in pixels.
pub(super) const HEIGHT: f64 = 16.0;

/// Places from 0 to 1 on the x axis.
enum Shape {
    Bar { end: f64, varies: Option<(f64, f64)> },
    Range { low: f64, middle: f64, high: f64 },
}

impl Picture {
    /// Its rows, if it has some instead of an upright axis.
    pub(super) fn rows(&self) -> Option<Vec<Row<'_>>> {
        match self.traces.first()? {
            Trace::Bars(bars) => Some(bars.iter().map(|bar| self.bar(bar)).collect()),
            Trace::Ranges(ranges) => Some(ranges.iter().map(|range| self.range(range)).collect()),
            Trace::Points(_) | Trace::Heat(_) => None,
        }
    }

    /// Whether its rows need the names of the x axis below them: lengths from zero do not.
    pub(super) fn has_row_axis(&self) -> bool {
        self.x.scale == Scale::Log
    }

    fn bar<'a>(&self, bar: &'a Bar) -> Row<'a> {
        let varies = bar.span().map(|(from, to)| (self.along(from), self.along(to)));
        let shape = Shape::Bar { end: self.along(bar.value), varies };
        Row { name: &bar.name, words: &bar.words, colour: bar.style.colour, shape }
    }

    fn range<'a>(&self, range: &'a Range) -> Row<'a> {
        let [low, middle, high] = [range.low, range.middle, range.high].map(|v| self.along(v));
        let shape = Shape::Range { low, middle, high };
        Row { name: &range.name, words: &range.words, colour: range.style.colour, shape }
    }

    fn along(&self, value: f64) -> f64 {
        // Zero stands at the beginning of a logarithmic axis.
        if value <= 0.0 { 0.0 } else { self.x.place(value).clamp(0.0, 1.0) }
    }
}

impl Row<'_> {
    /// Its shape as elements of SVG; `at` is a coordinate on the x axis.
    pub(super) fn draw(&self, at: &dyn Fn(f64) -> String) -> String {
        let (mut svg, colour) = (String::new(), self.colour);
        match self.shape {
            Shape::Bar { end, varies } => {
                let width = at(end);
                let _ =
                    write!(svg, "<rect width=\"{width}\" height=\"{HEIGHT}\" fill=\"{colour}\"/>");
                if let Some((from, to)) = varies {
                    stroke(&mut svg, (&at(from), &at(to)), (8.0, 8.0), ("ink", INK, 2.0));
                    for end in [from, to].map(at) {
                        stroke(&mut svg, (&end, &end), (4.0, 12.0), ("ink", INK, 2.0));
                    }
                }
            }
            Shape::Range { low, middle, high } => {
                stroke(&mut svg, (&at(low), &at(high)), (8.0, 8.0), ("", colour, 2.0));
                stroke(&mut svg, (&at(middle), &at(middle)), (1.0, 15.0), ("", colour, 3.0));
                for (end, radius) in [(low, 6), (high, 3)] {
                    let x = at(end);
                    let _ = write!(
                        svg,
                        "<circle cx=\"{x}\" cy=\"8\" r=\"{radius}\" fill=\"{colour}\"/>"
                    );
                }
            }
        }
        svg
    }
}

fn stroke(
    svg: &mut String,
    (from, to): (&str, &str),
    (top, bottom): (f64, f64),
    (class, colour, width): (&str, &str, f64),
) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = write!(
        svg,
        "<line{class} x1=\"{from}\" x2=\"{to}\" y1=\"{top}\" y2=\"{bottom}\" stroke=\"{colour}\" \
         stroke-width=\"{width}\"/>"
    );
}
