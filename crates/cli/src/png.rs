//! SVG files as PNG, for whatever takes no SVG. Letters come from the fonts of this machine.

use std::fs;
use std::path::Path;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use writecliff_output::write_bytes;

use crate::error::CliError;

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
    /// [`CliError::NoFonts`] if there is none: pictures without words would say nothing.
    pub(crate) fn new() -> Result<Self, CliError> {
        let mut options = Options::default();
        let fonts = options.fontdb_mut();
        fonts.load_system_fonts();
        let families = || fonts.faces().flat_map(|face| &face.families).map(|family| &family.0);
        let known = FONTS.into_iter().find(|wanted| families().any(|family| family == wanted));
        let chosen = known.map(str::to_owned).or_else(|| families().min().cloned());
        let chosen = chosen.ok_or(CliError::NoFonts)?;
        fonts.set_sans_serif_family(chosen.clone());
        options.font_family = chosen;
        Ok(Self { options })
    }

    /// Writes the PNG beside an SVG file.
    ///
    /// # Errors
    /// [`CliError::Paint`], which only a bug can cause; [`CliError::Destination`] if it cannot be
    /// written.
    pub(crate) fn paint(&self, svg: &Path) -> Result<(), CliError> {
        let bug = |why: String| CliError::Paint { path: svg.to_owned(), why };
        let text = fs::read_to_string(svg).map_err(|error| bug(error.to_string()))?;
        let tree = Tree::from_str(&text, &self.options).map_err(|error| bug(error.to_string()))?;
        let size = tree.size();
        let [width, height] =
            [size.width(), size.height()].map(|side| (side * SCALE).ceil() as u32);
        let mut pixels =
            Pixmap::new(width, height).ok_or_else(|| bug(format!("{width} x {height} pixels")))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        let bytes = pixels.encode_png().map_err(|error| bug(error.to_string()))?;
        Ok(write_bytes(&svg.with_extension("png"), &bytes)?)
    }
}
