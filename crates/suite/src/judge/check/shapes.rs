//! What reviews say that the seconds of a steady state look like, and what those of the model do: a row of
//! `drives/published/shapes.csv` each.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::{CheckProgress, Drives, perform};
use crate::judge::shape::Shape;
use crate::method::parallel::in_parallel;

/// The words that ship with Writecliff.
const SHIPPED: &str = include_str!("../../../../../drives/published/shapes.csv");

/// What somebody wrote about the picture of a drive's random writes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedShape {
    /// The simulated drive's name.
    pub drive: String,
    /// Share of the LBAs that was left untouched, in percent.
    pub spare: f64,
    /// The [names](Shape::name) of the shapes that the words fit, `|` between them.
    pub shapes: String,
    /// The words.
    pub words: String,
    /// Who wrote them, and where.
    pub source: String,
}

/// Words, and what the model's seconds look like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShapeComparison {
    /// What was written.
    #[serde(flatten)]
    pub published: PublishedShape,
    /// The name of the model's shape.
    pub model: &'static str,
    /// The standard deviation of its seconds over their mean.
    pub variation: f64,
    /// Whether the words fit it.
    pub fits: bool,
}

/// All words that ship.
pub fn published_shapes() -> Vec<PublishedShape> {
    let mut reader = csv::Reader::from_reader(SHIPPED.as_bytes());
    let rows = reader.deserialize().collect::<Result<Vec<PublishedShape>, _>>();
    rows.unwrap_or_else(|error| panic!("drives/published/shapes.csv: {error}"))
}

/// Does to each drive what the words are about, random writes behind a fill for 2000 s, and looks at the
/// seconds from 1400 on, which the reviews' pictures show.
///
/// # Errors
/// If a drive cannot be opened or treated.
pub fn compare_shapes<D: Drives>(
    shapes: &[PublishedShape],
    drives: &D,
    watch: impl Fn(CheckProgress<'_>) + Sync,
) -> Result<Vec<ShapeComparison>, D::Error> {
    let done = AtomicUsize::new(0);
    let compared = in_parallel(shapes, |published| {
        let mut device = drives.open(&published.drive)?;
        let seconds = perform::steady_seconds(device.as_mut(), published.spare)?;
        let (drive, treatment) = (published.drive.as_str(), "the shape of its steady state");
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch(CheckProgress { drive, treatment, done, all: shapes.len() });
        Ok::<_, D::Error>(vec![ShapeComparison::new(published, &seconds)])
    })?;
    Ok(compared.into_iter().flatten().collect())
}

impl ShapeComparison {
    fn new(published: &PublishedShape, seconds: &[f64]) -> Self {
        let model = Shape::of(seconds).map_or("none", |shape| shape.name());
        let variation = writecliff_measure::Statistics::of(seconds).map_or(0.0, |of| of.variation);
        let fits = published.shapes.split('|').any(|shape| shape == model);
        Self { published: published.clone(), model, variation, fits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_is_about_drives_of_the_catalogue_and_names_shapes() {
        let known = ["line", "band", "cloud", "two bands", "swings", "declines", "rises"];
        for PublishedShape { drive, spare, shapes, words, source } in published_shapes() {
            assert!(writecliff_sim::catalogue().contains(&drive.as_str()), "{drive}");
            assert!((0.0..100.0).contains(&spare) && !words.is_empty() && !source.is_empty());
            assert!(shapes.split('|').all(|shape| known.contains(&shape)), "{drive}: {shapes}");
        }
    }

    #[test]
    fn words_fit_any_of_their_shapes() {
        let shipped = published_shapes().swap_remove(0);
        let published = PublishedShape { shapes: "line|band".to_owned(), ..shipped };
        let flat = ShapeComparison::new(&published, &[4_000.0; 600]);
        assert_eq!((flat.model, flat.variation, flat.fits), ("line", 0.0, true));
        let falling: Vec<f64> = (0..600).map(|at| f64::from(6_000 - 4 * at)).collect();
        let other = ShapeComparison::new(&published, &falling);
        assert_eq!((other.model, other.fits), ("declines", false));
    }
}
