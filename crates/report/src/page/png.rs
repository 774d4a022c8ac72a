//! SVG files as PNG, for whatever takes no SVG. Letters come from the fonts of this machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::page::error::ReportError;

/// Pixels for each unit of the SVG: sharp on screens of today.
const SCALE: f32 = 2.0;

/// Fonts for the texts, the first that is here; then whatever else is.
const FONTS: [&str; 6] =
    ["Liberation Sans", "DejaVu Sans", "Noto Sans", "Roboto", "Arial", "Helvetica"];

/// What turns SVG into PNG.
pub(crate) struct Painter {
    options: Options<'static>,
}

impl Painter {
    /// Reads which fonts there are.
    ///
    /// # Errors
    /// [`ReportError::NoFonts`] if there is none: pictures without words would say nothing.
    pub(crate) fn new() -> Result<Self, ReportError> {
        let mut options = Options::default();
        let fonts = options.fontdb_mut();
        fonts.load_system_fonts();
        let families = || fonts.faces().flat_map(|face| &face.families).map(|family| &family.0);
        let known = FONTS.into_iter().find(|wanted| families().any(|family| family == wanted));
        let chosen = known.map(str::to_owned).or_else(|| families().min().cloned());
        let chosen = chosen.ok_or(ReportError::NoFonts)?;
        fonts.set_sans_serif_family(chosen.clone());
        options.font_family = chosen;
        Ok(Self { options })
    }

    /// The bytes of a PNG file.
    ///
    /// # Errors
    /// [`ReportError::Paint`], which only a bug can cause.
    pub(crate) fn png(&self, svg: &str) -> Result<Vec<u8>, ReportError> {
        let paint = |why: String| ReportError::Paint { why };
        let tree = Tree::from_str(svg, &self.options).map_err(|error| paint(error.to_string()))?;
        let size = tree.size();
        let [width, height] =
            [size.width(), size.height()].map(|side| (side * SCALE).ceil() as u32);
        let mut pixels = Pixmap::new(width, height)
            .ok_or_else(|| paint(format!("{width} x {height} pixels")))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| paint(error.to_string()))
    }
}
