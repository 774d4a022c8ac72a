//! Fewer points than were recorded, without losing the extremes.

/// More points than this are drawn as the lowest and highest of equal stretches.
pub(super) const POINTS_MAX: usize = 4_000;
/// The same where several small pictures wait behind a switch: a page is to be light.
const POINTS_MAX_SMALL: usize = 500;

/// How many points of a trace are drawn on the page, where so many pictures stand in a view that is
/// shown on demand or not.
pub(crate) fn points_max(pictures: usize, on_demand: bool) -> usize {
    if on_demand && pictures > 1 { POINTS_MAX_SMALL } else { POINTS_MAX }
}

/// All points, or the lowest and highest of each of equal stretches, so that there are no more than
/// `most`: a floor is never lost.
pub(super) fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(most / 2);
    let extremes = points.chunks(stretch).flat_map(|chunk| {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (lowest, highest) = (chunk.iter().min_by(by_value), chunk.iter().max_by(by_value));
        lowest.into_iter().chain(highest).copied().collect::<Vec<_>>()
    });
    extremes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_lowest_and_the_highest() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1000.0)).collect();
        points[54_321].1 = 3.0;
        points[12_345].1 = 9_999.0;
        let thinned = thinned(&points, POINTS_MAX);
        assert!(thinned.len() <= POINTS_MAX);
        assert!(thinned.contains(&(54_321.0, 3.0)) && thinned.contains(&(12_345.0, 9_999.0)));
        assert!(super::thinned(&points[..4_000], POINTS_MAX).len() == 4_000);
    }
}
