//! What several values of one figure amount to.

use serde::Serialize;

use crate::record::figure::Figure;

/// What several runs of one test say of one of its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureStatistics {
    /// The figure; its value is the mean.
    #[serde(flatten)]
    pub figure: Figure,
    /// Sample standard deviation (the sum of squares divided by n − 1); `None` of a single value.
    pub deviation: Option<f64>,
    /// How many runs gave it.
    pub count: usize,
    /// The lowest of them.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
}

impl FigureStatistics {
    /// Of every figure that any of these runs has, in the order of the first that has it.
    pub fn of(runs: &[Vec<Figure>]) -> Vec<Self> {
        let mut all: Vec<(Figure, Vec<f64>)> = Vec::new();
        for figure in runs.iter().flatten() {
            match all.iter_mut().find(|(known, _)| known.name == figure.name) {
                Some((_, values)) => values.push(figure.value),
                None => all.push((figure.clone(), vec![figure.value])),
            }
        }
        all.into_iter().map(|(figure, values)| Self::of_values(figure, &values)).collect()
    }

    fn of_values(figure: Figure, values: &[f64]) -> Self {
        let (mean, deviation) = mean_and_deviation(values);
        Self {
            figure: Figure { value: mean, ..figure },
            deviation,
            count: values.len(),
            lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
            highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The mean of one or more values and their sample standard deviation, which takes two.
///
/// # Panics
/// If there are none.
pub fn mean_and_deviation(values: &[f64]) -> (f64, Option<f64>) {
    assert!(!values.is_empty(), "a mean is one of something");
    // What is the same each time has no deviation, not even by the last bit of a sum.
    if values.iter().all(|value| *value == values[0]) {
        return (values[0], (values.len() > 1).then_some(0.0));
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
    (mean, deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[(&str, f64)]) -> Vec<Figure> {
        values.iter().map(|(name, value)| Figure::iops(*name, *value)).collect()
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        // The mean is 5 and the sum of squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32.
        let runs = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|v| figures(&[("floor", v)]));
        let [floor] = &FigureStatistics::of(&runs)[..] else { panic!("one figure") };
        assert_eq!((floor.figure.value, floor.count), (5.0, 8));
        assert!((floor.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((floor.lowest, floor.highest), (2.0, 9.0));
        let same = mean_and_deviation(&[10.878975; 3]);
        assert_eq!(same, (10.878975, Some(0.0)), "a sum's last bit is no deviation");
        // Large values that differ little lose nothing.
        let (mean, deviation) = mean_and_deviation(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        assert_eq!((mean, deviation), (1e9 + 10.0, Some(30.0_f64.sqrt())));
    }

    #[test]
    fn a_figure_that_some_runs_lack_is_that_of_the_others() {
        let runs = [
            figures(&[("mean", 10.0)]),
            figures(&[("mean", 20.0), ("cliff", 7.0)]),
            figures(&[("mean", 30.0)]),
        ];
        let all = FigureStatistics::of(&runs);
        let found: Vec<_> = all
            .iter()
            .map(|s| (s.figure.name.as_str(), s.figure.value, s.deviation, s.count))
            .collect();
        assert_eq!(found, [("mean", 20.0, Some(10.0), 3), ("cliff", 7.0, None, 1)]);
        assert_eq!(FigureStatistics::of(&[]), []);
    }
}
