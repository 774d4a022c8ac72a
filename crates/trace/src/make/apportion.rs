//! Whole numbers in given shares.

/// Whole numbers that add up to `total` and are as near to the weights as that allows: the largest
/// remainders are rounded up. None exceeds its limit, as long as the limits leave room.
pub(super) fn apportion(total: u64, weights: &[f64], limits: Option<&[u64]>) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let limit = |index: usize| limits.map_or(u64::MAX, |limits| limits[index]);
    let exact = |index: usize| if sum > 0.0 { weights[index] * total as f64 / sum } else { 0.0 };
    let mut parts: Vec<u64> =
        (0..weights.len()).map(|index| (exact(index) as u64).min(limit(index))).collect();
    let mut order: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let remainder = |index: usize| exact(index) - (exact(index) as u64) as f64;
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let mut left = total.saturating_sub(parts.iter().sum());
    while left > 0 {
        let before = left;
        for &index in &order {
            if left > 0 && parts[index] < limit(index) {
                (parts[index], left) = (parts[index] + 1, left - 1);
            }
        }
        if left == before {
            break;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_remainders_are_rounded_up() {
        assert_eq!(apportion(10, &[1.0, 1.0, 1.0], None), [4, 3, 3]);
        assert_eq!(apportion(10, &[5.5, 2.6, 1.9], None), [5, 3, 2]);
        assert_eq!(apportion(10, &[5.5, 2.6, 1.9], Some(&[9, 2, 9])), [6, 2, 2]);
        assert_eq!(apportion(3, &[0.0, 0.0], None), [0, 0], "nobody wants it");
        assert_eq!(apportion(5, &[1.0, 1.0], Some(&[1, 2])), [1, 2], "no room");
    }
}
