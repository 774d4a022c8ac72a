//! Fewer points than were recorded, without losing the extremes.

/// Of more points than this, the lowest, the highest and some others of equal stretches are drawn.
pub(super) const POINTS_MAX: usize = 4_000;
/// The same where several small pictures wait behind a switch: a page is to be light.
const POINTS_MAX_SMALL: usize = 500;

/// How many points of a trace are drawn on the page, where so many pictures stand in a view that is
/// shown on demand or not.
pub(crate) fn points_max(pictures: usize, on_demand: bool) -> usize {
    if on_demand && pictures > 1 { POINTS_MAX_SMALL } else { POINTS_MAX }
}

/// Points drawn of a stretch: the lowest, the highest, and others at equal steps, or a cloud would look like
/// two bands.
const OF_STRETCH: usize = 8;

/// All points, or the lowest and highest of each of equal stretches and some between them, so that there are
/// no more than `most`: a floor is never lost.
pub(super) fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(most / OF_STRETCH);
    points.chunks(stretch).flat_map(of_stretch).collect()
}

/// In their order.
fn of_stretch(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let by_value = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let places = 0..points.len();
    let extremes = [places.clone().min_by(by_value), places.max_by(by_value)];
    let others = (0..OF_STRETCH - 2).map(|other| other * points.len() / (OF_STRETCH - 2));
    let mut shown: Vec<usize> = extremes.into_iter().flatten().chain(others).collect();
    shown.sort_unstable();
    shown.dedup();
    shown.into_iter().map(|place| points[place])
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

    /// Of even chance the middle half of the values stays near a half of the dots.
    #[test]
    fn a_cloud_does_not_become_two_bands() {
        let value = |at: u64| (writecliff_device::split_mix(at) % 1000) as f64;
        let points: Vec<(f64, f64)> = (0..50_000).map(|at| (at as f64, value(at))).collect();
        let thinned = thinned(&points, POINTS_MAX);
        let middle = thinned.iter().filter(|point| (250.0..750.0).contains(&point.1)).count();
        assert!(middle * 3 > thinned.len(), "{middle} of {}", thinned.len());
        assert!(thinned.is_sorted_by_key(|point| point.0), "in their order");
    }
}
