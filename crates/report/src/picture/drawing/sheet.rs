//! What is drawn on: a page, on which a place is a share of whatever room there is, or a file, on which
//! it is a number of pixels.

use crate::picture::thin::POINTS_MAX;

/// Places of data on a page, from one end of an axis to the other.
const GRID_STEPS: (f64, f64) = (4000.0, 10_000.0);
/// Of a file, for each pixel.
pub(super) const STEPS_A_PIXEL: f64 = 10.0;

/// What is drawn on: the area that the axes span, from its upper left corner.
pub(in crate::picture) enum Sheet<'a> {
    /// Of whatever size; traces with the name of a subject are hidden with it, and have no more than
    /// so many points.
    Page { hides: &'a dyn Fn(&str) -> Option<usize>, points_max: usize },
    /// Of a size in pixels.
    File(f64, f64),
}

impl Sheet<'_> {
    /// A place on the x axis, as a coordinate of text and grid.
    pub(super) fn h(&self, place: f64) -> String {
        self.length(place, |width, _| width)
    }

    /// A place on the y axis, from the bottom.
    pub(super) fn v(&self, place: f64) -> String {
        self.length(1.0 - place, |_, height| height)
    }

    /// How many points of a trace are drawn.
    pub(super) fn points_max(&self) -> usize {
        match self {
            Self::Page { points_max, .. } => *points_max,
            Self::File(..) => POINTS_MAX,
        }
    }

    fn length(&self, place: f64, side: fn(f64, f64) -> f64) -> String {
        match *self {
            Self::Page { .. } => format!("{}%", rounded(place * 100.0)),
            Self::File(width, height) => rounded(place * side(width, height)),
        }
    }

    pub(super) fn steps(&self) -> (f64, f64) {
        match *self {
            Self::Page { .. } => GRID_STEPS,
            Self::File(width, height) => (width * STEPS_A_PIXEL, height * STEPS_A_PIXEL),
        }
    }

    /// A stroke of so many pixels.
    pub(super) fn stroke(&self, width: f64) -> String {
        match self {
            Self::Page { .. } => {
                format!("stroke-width=\"{}\" vector-effect=\"non-scaling-stroke\"", rounded(width))
            }
            Self::File(..) => format!("stroke-width=\"{}\"", rounded(width * STEPS_A_PIXEL)),
        }
    }

    pub(super) fn dashes(&self, dashes: &[f64]) -> String {
        let scale = if let Self::Page { .. } = self { 1.0 } else { STEPS_A_PIXEL };
        let lengths: Vec<String> = dashes.iter().map(|length| rounded(length * scale)).collect();
        match lengths.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
        }
    }

    /// The value at whose place something stands, where a script moves it.
    pub(super) fn value(&self, value: f64) -> String {
        if let Self::Page { .. } = self { format!(" data-v=\"{value}\"") } else { String::new() }
    }

    /// What keeps letters readable on whatever is below them: in files; the page's style sheet has it.
    pub(super) fn halo(&self) -> &'static str {
        match self {
            Self::Page { .. } => "",
            Self::File(..) => {
                " stroke=\"#fff\" stroke-width=\"3\" stroke-opacity=\".8\" paint-order=\"stroke\""
            }
        }
    }

    /// A class by which the page's style sheet finds it; files have none.
    pub(super) fn class(&self, name: &str) -> String {
        if let Self::Page { .. } = self { format!(" class=\"{name}\"") } else { String::new() }
    }
}

/// At most two decimals, none that are zero.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
