//! A picture as plain data: axes, traces and marks, from which the page's, the SVG file and the
//! CSV file are all made.
//!
//! It holds every value there is; only what is drawn is thinned. Values of a logarithmic axis may
//! be zero: they are drawn as strokes at its bottom.

mod axis;
mod csv;
mod drawing;
mod heat;
mod inline;
mod path;
mod rows;
mod svg;
mod thin;

pub(crate) use axis::{Axis, Scale, bytes, latency, short, significant};
pub(crate) use csv::csv;
pub(crate) use inline::inline;
pub(crate) use svg::svg;
pub(crate) use thin::points_max;

/// How a drive, a job or a series is told apart from the others of its picture: by colour, and by
/// dash and dot for whoever does not see colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// `#rrggbb`.
    pub(crate) colour: &'static str,
    /// Counts through the dashes of lines and the shapes of dots.
    pub(crate) form: usize,
}

const fn style(colour: &'static str, form: usize) -> Style {
    Style { colour, form }
}

/// Colours after Okabe and Ito that stand out on light and dark: told apart by colour-blind eyes.
pub(crate) const BLUE: Style = style(COLOURS[0], 0);
pub(crate) const ORANGE: Style = style(COLOURS[1], 1);
pub(crate) const GREEN: Style = style(COLOURS[2], 2);
pub(crate) const PURPLE: Style = style(COLOURS[3], 3);
/// Reads and writes, wherever they share a picture.
pub(crate) const READS: Style = GREEN;
/// See [`READS`].
pub(crate) const WRITES: Style = BLUE;
/// Of what is no series of its own.
pub(crate) const NEUTRAL: Style = style("#808080", 4);

/// The colours of drives or jobs that share a picture, in order.
const COLOURS: [&str; 12] = [
    "#2b7bba", "#d55e00", "#009e73", "#c4569b", "#a67c00", "#2296b4", "#8f6fd6", "#6b8427",
    "#cf4a4a", "#5c7f8f", "#9a6b45", "#7d7d9c",
];

/// The style of the drive or job with this index; the same in every picture.
pub(crate) fn nth_style(index: usize) -> Style {
    style(COLOURS[index % COLOURS.len()], index)
}

/// Dots on a line of more points would touch each other.
const DOTS_ON_A_LINE_MAX: usize = 60;

/// Cells of a heat map that are no more than this would be overlooked.
const FEW_CELLS_MAX: usize = 200;

/// What is drawn, and on what axes.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    /// Unique in a report: the name of its files.
    pub(crate) id: String,
    /// What it shows of which drive, standing alone.
    pub(crate) title: String,
    /// What somebody who does not see it should know: its conclusion, with the values.
    pub(crate) alt: String,
    /// Under what conditions it holds, in its file: `4KiB random writes, QD32, default spare`.
    pub(crate) conditions: String,
    /// What is written across it, if it must not be taken for a result.
    pub(crate) watermark: Option<&'static str>,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) traces: Vec<Trace>,
    pub(crate) marks: Vec<Mark>,
}

/// One thing drawn.
#[derive(Debug, Clone)]
pub(crate) enum Trace {
    Points(Points),
    /// Lying bars from the left edge, the first at the top; their x axis begins at zero.
    Bars(Vec<Bar>),
    Heat(Heat),
    /// Lying spans from a lowest to a highest value, the first at the top.
    Ranges(Vec<Range>),
}

/// Points, lines between them, or columns below them.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    pub(crate) name: String,
    pub(crate) style: Style,
    pub(crate) look: Look,
    pub(crate) points: Vec<(f64, f64)>,
}

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Small dots: one of very many.
    Dots,
    /// A line, with a dot at each point where there is room for them.
    Line,
    /// A line that stays where it is up to the next point's place: a share that falls at one.
    Steps,
    /// Upright columns from zero, those of several traces beside each other. On a logarithmic axis
    /// a column reaches from half its place to its place.
    Columns,
}

/// One bar; its name and its value in words stand above it.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// How far either way it varies, if that is known: the deviation of repeats.
    pub(crate) error: Option<f64>,
    pub(crate) words: String,
    pub(crate) style: Style,
}

impl Bar {
    /// Where it begins and ends to vary.
    fn span(&self) -> Option<(f64, f64)> {
        let error = self.error?;
        Some(((self.value - error).max(0.0), self.value + error))
    }

    /// The farthest that it reaches.
    fn end(&self) -> f64 {
        self.span().map_or(self.value, |(_, to)| to)
    }
}

/// From a lowest over a middle to a highest value; its name and its values in words stand above it.
#[derive(Debug, Clone)]
pub(crate) struct Range {
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) middle: f64,
    /// What the middle is: the name of its CSV column.
    pub(crate) middle_is: &'static str,
    pub(crate) high: f64,
    pub(crate) words: String,
    pub(crate) style: Style,
}

/// Cells between edges, coloured by the logarithm of their values.
#[derive(Debug, Clone)]
pub(crate) struct Heat {
    pub(crate) x_edges: Vec<f64>,
    pub(crate) y_edges: Vec<f64>,
    /// By column, then row from the bottom; zero is not drawn.
    pub(crate) columns: Vec<Vec<f64>>,
    /// What the values are: the name of their CSV column.
    pub(crate) quantity: &'static str,
    /// The same behind a value: `% of the I/Os`.
    pub(crate) unit: &'static str,
    /// The value of the strongest colour; a ten-thousandth of it and less have the weakest.
    pub(crate) full: f64,
}

/// What points at a place of the picture.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    /// An upright line with its name above.
    Upright { at: f64, label: String },
    /// A shaded span of the x axis; `label` is empty where there is no room for it.
    Window { from: f64, to: f64, label: String },
    /// Why there is nothing to see.
    Nothing(String),
}

impl Picture {
    /// A picture without marks.
    pub(crate) fn new(id: String, title: String, x: Axis, y: Axis, traces: Vec<Trace>) -> Self {
        let (alt, conditions) = (title.clone(), String::new());
        Self { id, title, alt, conditions, watermark: None, x, y, traces, marks: Vec::new() }
    }

    /// Bars in the order given, on an axis from zero to at least `highest`.
    pub(crate) fn bars(
        id: String,
        title: String,
        quantity: &str,
        bars: Vec<Bar>,
        highest: f64,
    ) -> Self {
        let highest = bars.iter().map(Bar::end).fold(highest, f64::max);
        let names = bars.iter().map(|bar| bar.name.clone()).collect();
        let (x, y) = (Axis::linear(quantity, highest), Axis::names("drive", names));
        Self::new(id, title, x, y, vec![Trace::Bars(bars)])
    }

    /// Ranges in the order given, on a logarithmic axis from `lowest` to `highest`.
    pub(crate) fn ranges(
        id: String,
        title: String,
        quantity: &str,
        (of, ranges): (&str, Vec<Range>),
        (lowest, highest): (f64, f64),
    ) -> Self {
        let names = ranges.iter().map(|range| range.name.clone()).collect();
        let has_zero = ranges.iter().any(|range| range.low <= 0.0);
        let x = Axis::decades(quantity, (lowest, highest), has_zero, short);
        Self::new(id, title, x, Axis::names(of, names), vec![Trace::Ranges(ranges)])
    }

    /// Whether its traces need to be told apart.
    pub(crate) fn has_legend(&self) -> bool {
        self.named().count() > 1
    }

    /// The traces that a legend names.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Points> {
        self.traces.iter().filter_map(|trace| match trace {
            Trace::Points(points) => Some(points),
            Trace::Bars(_) | Trace::Heat(_) | Trace::Ranges(_) => None,
        })
    }

    /// Where a column of a trace begins and ends on the x axis, among all traces of columns.
    fn column_ends(&self, trace: &Points, x: f64) -> (f64, f64) {
        if self.x.scale == Scale::Log {
            // What a logarithmic axis cannot show stands at its beginning.
            return if x > 0.0 { (x / 2.0, x) } else { (self.x.from, self.x.from * 2.0) };
        }
        let all: Vec<&Points> = self.named().filter(|p| p.look == Look::Columns).collect();
        let place = all.iter().position(|other| std::ptr::eq(*other, trace)).unwrap_or(0);
        let width = 0.8 / all.len().max(1) as f64;
        let from = x - 0.4 + width * place as f64;
        (from, from + width)
    }
}

impl Points {
    /// Whether a line goes from one to the next.
    fn is_line(&self) -> bool {
        matches!(self.look, Look::Line | Look::Steps)
    }

    /// Whether its points are drawn as dots.
    fn has_dots(&self) -> bool {
        match self.look {
            Look::Dots => true,
            Look::Line => self.points.len() <= DOTS_ON_A_LINE_MAX,
            Look::Columns | Look::Steps => false,
        }
    }

    pub(crate) fn dots(name: &str, style: Style, points: Vec<(f64, f64)>) -> Trace {
        Trace::Points(Self { name: name.to_owned(), style, look: Look::Dots, points })
    }

    pub(crate) fn columns(name: &str, style: Style, points: Vec<(f64, f64)>) -> Trace {
        Trace::Points(Self { name: name.to_owned(), style, look: Look::Columns, points })
    }

    pub(crate) fn line(name: &str, style: Style, points: Vec<(f64, f64)>) -> Trace {
        Trace::Points(Self { name: name.to_owned(), style, look: Look::Line, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as the Web Content Accessibility Guidelines have it.
    fn luminance(colour: &str) -> f64 {
        let part =
            |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        let linear =
            |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn every_colour_stands_out_from_light_and_dark_paper() {
        for colour in COLOURS {
            for paper in ["#ffffff", "#12161c"] {
                assert!(
                    contrast(colour, paper) >= 3.0,
                    "{colour} on {paper}: {}",
                    contrast(colour, paper)
                );
            }
        }
        // On the grey of a window as well.
        for colour in drawing::HEAT {
            assert!(contrast(colour, "#f2f2f2") >= 3.0, "{colour}");
        }
    }

    #[test]
    fn twelve_drives_differ_without_colours() {
        let look = |style| (drawing::dashes(style), drawing::form(style));
        let looks = (0..12).map(|index| look(nth_style(index)));
        let looks: Vec<_> = looks.collect();
        let is_new = |(at, look): (usize, _)| !looks[..at].contains(look);
        assert!(looks.iter().enumerate().all(is_new));
    }
}
