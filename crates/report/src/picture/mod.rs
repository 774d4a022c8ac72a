//! A picture as plain data: axes, traces and marks, from which the page's figure, the SVG file and
//! the CSV file are all made.
//!
//! It holds every value there is; only what is drawn is thinned. Values of a logarithmic axis may
//! be zero: they are drawn as triangles at its bottom.

mod axis;
mod csv;
mod plotly;
mod svg;
mod thin;

pub(crate) use axis::{Axis, Scale, bytes, latency, short};
pub(crate) use csv::csv;
pub(crate) use plotly::figure;
pub(crate) use svg::svg;
pub(crate) use thin::is_thinned;

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
pub(crate) const BLUE: Style = style("#2b7bba", 0);
pub(crate) const ORANGE: Style = style("#d55e00", 1);
pub(crate) const GREEN: Style = style("#009e73", 2);
pub(crate) const PURPLE: Style = style("#aa6fc9", 3);
/// Reads and writes, wherever they share a picture.
pub(crate) const READS: Style = GREEN;
/// See [`READS`].
pub(crate) const WRITES: Style = BLUE;
/// Of what is no series of its own.
pub(crate) const NEUTRAL: Style = style(GREY, 4);
/// Of windows and remarks.
pub(crate) const GREY: &str = "#808080";

/// The colours of drives or jobs that share a picture, in order.
const COLOURS: [&str; 8] = [
    BLUE.colour,
    ORANGE.colour,
    GREEN.colour,
    PURPLE.colour,
    "#b58900",
    "#2aa7c9",
    "#c2557a",
    "#6b7f2a",
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

/// From a lowest over a middle to a highest value; its name and its values in words stand above it.
#[derive(Debug, Clone)]
pub(crate) struct Range {
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) middle: f64,
    pub(crate) high: f64,
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
        // What a bar stands for is written behind its end.
        let (x, y) = (Axis::linear(quantity, highest).longer(1.25), Axis::names("drive", names));
        Self::new(id, title, x, y, vec![Trace::Bars(bars)])
    }

    /// Ranges in the order given, on a logarithmic axis from `lowest` to `highest`.
    pub(crate) fn ranges(
        id: String,
        title: String,
        quantity: &str,
        ranges: Vec<Range>,
        (lowest, highest): (f64, f64),
    ) -> Self {
        let names = ranges.iter().map(|range| range.name.clone()).collect();
        let has_zero = ranges.iter().any(|range| range.low <= 0.0);
        let x = Axis::decades(quantity, (lowest, highest), has_zero, short);
        Self::new(id, title, x, Axis::names("drive", names), vec![Trace::Ranges(ranges)])
    }

    /// Height on the page, in pixels, at any width.
    pub(crate) fn height(&self) -> u32 {
        match self.traces.first() {
            Some(Trace::Bars(bars)) => 70 + 46 * bars.len() as u32,
            Some(Trace::Ranges(ranges)) => 70 + 46 * ranges.len() as u32,
            // Long names of many drives may take a line each.
            _ => 330 + 20 * (self.named().count() as u32).saturating_sub(5),
        }
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

    /// Whether what it shows lies below each other, with names instead of an upright axis.
    pub(crate) fn is_bars(&self) -> bool {
        matches!(self.traces.first(), Some(Trace::Bars(_) | Trace::Ranges(_)))
    }
}

impl Heat {
    /// The middles of its cells, if they are so few that each needs a dot to be seen.
    fn middles_of_few(&self) -> Vec<(f64, f64)> {
        let filled = self.columns.iter().zip(self.x_edges.windows(2)).flat_map(|(column, x)| {
            let cells = column.iter().zip(self.y_edges.windows(2));
            let filled = cells.filter(|(value, _)| **value > 0.0);
            filled.map(|(_, y)| (f64::midpoint(x[0], x[1]), f64::midpoint(y[0], y[1])))
        });
        let middles: Vec<(f64, f64)> = filled.collect();
        if middles.len() <= FEW_CELLS_MAX { middles } else { Vec::new() }
    }
}

impl Points {
    /// Whether its points are drawn as dots.
    fn has_dots(&self) -> bool {
        match self.look {
            Look::Dots => true,
            Look::Line => self.points.len() <= DOTS_ON_A_LINE_MAX,
            Look::Columns => false,
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
