//! What the drive does inside, if it tells: why the seconds are as they are.

use super::seconds::marks;
use super::series::{Ranges, Series, view};
use crate::picture::{Axis, GREEN, PURPLE, Picture, Points, Style, short};
use crate::section::View;
use writecliff_measure::Sample;

pub(super) fn views(series: &[Series<'_>], ranges: &Ranges) -> Vec<View> {
    let amplification = (
        "amplification",
        "Write amplification",
        "NAND writes per host write, as the drive itself counts them.",
    );
    let free = format!(
        "Blocks erased and ready to be written, in the unit that the drive allocates. Logarithmic.{}",
        if ranges.has_no_free_block {
            " Orange strokes at the bottom are seconds that end with none."
        } else {
            ""
        }
    );
    let free_blocks = ("free-blocks", "Free blocks", free.as_str());
    let amplification = view(series, amplification, |one, id, title| {
        let axis = Axis::ratio("NAND writes per host write", ranges.amplification);
        let points = one.points(Sample::write_amplification);
        picture(one, ranges, (id, title), axis, (PURPLE, points))
    });
    let free_blocks = view(series, free_blocks, |one, id, title| {
        let has_zero = ranges.has_no_free_block;
        let axis = Axis::decades("free blocks", ranges.free_blocks, has_zero, short);
        let points = one.points(|sample| Some(sample.free_blocks? as f64));
        picture(one, ranges, (id, title), axis, (GREEN, points))
    });
    amplification.into_iter().chain(free_blocks).map(View::on_demand).collect()
}

fn picture(
    one: &Series<'_>,
    ranges: &Ranges,
    (id, title): (String, String),
    y: Axis,
    (style, points): (Style, Vec<(f64, f64)>),
) -> Option<Picture> {
    if points.is_empty() {
        return None;
    }
    let x = ranges.time(one);
    let trace = Points::dots(&y.quantity, style, points);
    let mut picture = Picture::new(id, title, x, y, vec![trace]);
    picture.marks = marks(one, ranges, 0.0);
    Some(picture)
}
