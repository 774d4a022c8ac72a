//! What a list of numbers amounts to.

use serde::{Deserialize, Serialize};

/// The usual figures of a non-empty list of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Arithmetic mean.
    pub mean: f64,
    /// The middle value; the mean of the two middle ones if there are two.
    pub median: f64,
    /// The smallest value.
    pub floor: f64,
    /// The value that 1 % lie below (nearest rank); `None` of fewer than a hundred, which have no
    /// hundredth part.
    #[serde(default)]
    pub p1: Option<f64>,
    /// The largest value.
    pub peak: f64,
    /// Coefficient of variation: standard deviation (of the population) over mean.
    pub variation: f64,
}

impl Statistics {
    /// The figures of `values`; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&floor, &peak) = (sorted.first()?, sorted.last()?);
        let count = sorted.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count as f64;
        let variation = if mean == 0.0 { 0.0 } else { variance.sqrt() / mean };
        Some(Self {
            mean,
            median: f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
            floor,
            p1: (count >= 100).then(|| sorted[count.div_ceil(100) - 1]),
            peak,
            variation,
        })
    }
}

/// How much the least-squares line through `values`, taken at equal steps, rises from the first to
/// the last, as a share of their mean. Zero for fewer than two values or a mean of zero.
pub fn drift(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 || mean == 0.0 {
        return 0.0;
    }
    let middle = (count - 1.0) / 2.0;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let step = index as f64 - middle;
        covariance += step * (value - mean);
        variance += step * step;
    }
    covariance / variance * (count - 1.0) / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_known_list() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let figures = Statistics::of(&values).unwrap();
        assert_eq!((figures.mean, figures.median), (100.5, 100.5));
        assert_eq!((figures.floor, figures.p1, figures.peak), (1.0, Some(2.0), 200.0));
        let expected = ((200.0f64 * 200.0 - 1.0) / 12.0).sqrt() / 100.5;
        assert!((figures.variation - expected).abs() < 1e-12);
        assert_eq!(Statistics::of(&values[..99]).unwrap().p1, None);
        assert_eq!(Statistics::of(&[]), None);
        assert_eq!(Statistics::of(&[0.0]).unwrap().variation, 0.0);
    }

    #[test]
    fn drift_is_the_rise_of_the_fitted_line() {
        assert_eq!(drift(&[5.0; 10]), 0.0);
        assert!((drift(&[90.0, 100.0, 110.0]) - 0.2).abs() < 1e-12);
        assert!((drift(&[110.0, 100.0, 90.0]) + 0.2).abs() < 1e-12);
        assert_eq!((drift(&[]), drift(&[7.0]), drift(&[0.0, 0.0])), (0.0, 0.0, 0.0));
    }
}
