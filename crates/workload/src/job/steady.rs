//! When a load has been as fast for long enough to be ended: fio's steady state detection.

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;

/// Ends a load once its rate, second by second, has stayed the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// The rate that is looked at.
    pub of: Of,
    /// How its seconds are judged.
    pub by: By,
    /// What it must stay below, in percent of the mean.
    pub limit_percent: f64,
    /// The seconds that are judged together: the last so many.
    pub over: Nanos,
    /// Seconds before this count for nothing.
    #[serde(default)]
    pub after: Nanos,
    /// Whether the sum of all jobs of the group that say so is judged, and all of them end
    /// together.
    #[serde(default)]
    pub together: bool,
}

/// A rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
}

/// How much the rates of several seconds differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The slope of the straight line through them, a second.
    Slope,
    /// The distance of the farthest from the mean.
    Deviation,
}

impl Steady {
    /// How many seconds are judged together.
    pub fn seconds(&self) -> usize {
        (self.over.0 / 1_000_000_000) as usize
    }

    /// Whether a load with these rates, a second each, is steady. What does nothing is not.
    pub fn is_reached(&self, rates: &[f64]) -> bool {
        let count = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let apart = match self.by {
            By::Deviation => rates.iter().map(|rate| (rate - mean).abs()).fold(0.0, f64::max),
            By::Slope => slope(rates, mean).abs(),
        };
        rates.len() > 1 && mean > 0.0 && 100.0 * apart / mean < self.limit_percent
    }

    pub(super) fn check(&self) -> Result<(), (&'static str, String, &'static str)> {
        if !(self.limit_percent > 0.0 && self.limit_percent.is_finite()) {
            let reason = "a share of the mean in percent, above 0, is needed";
            return Err(("steady.limit_percent", self.limit_percent.to_string(), reason));
        }
        if !(2..=86_400).contains(&self.seconds()) {
            return Err(("steady.over", self.over.exact(), "2 s to a day are judged together"));
        }
        Ok(())
    }
}

/// Of the straight line through equidistant points, by least squares.
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let distances =
        || values.iter().enumerate().map(|(index, value)| (index as f64 - middle, value));
    let along: f64 = distances().map(|(x, y)| x * (y - mean)).sum();
    along / distances().map(|(x, _)| x * x).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(by: By, limit_percent: f64) -> Steady {
        let (of, over, after) = (Of::Iops, Nanos::from_secs(4), Nanos::ZERO);
        Steady { of, by, limit_percent, over, after, together: false }
    }

    #[test]
    fn a_slope_is_that_of_the_line_and_a_deviation_the_farthest() {
        // The line falls by 10 a second, which is 10 % of the mean of 100.
        let falling = [115.0, 105.0, 95.0, 85.0];
        assert!(steady(By::Slope, 10.1).is_reached(&falling));
        assert!(!steady(By::Slope, 9.9).is_reached(&falling));
        assert!(steady(By::Deviation, 15.1).is_reached(&falling));
        assert!(!steady(By::Deviation, 14.9).is_reached(&falling));
        // No slope at all, and far apart.
        let to_and_fro = [50.0, 150.0, 150.0, 50.0];
        assert!(steady(By::Slope, 0.1).is_reached(&to_and_fro));
        assert!(!steady(By::Deviation, 49.0).is_reached(&to_and_fro));
    }

    #[test]
    fn nothing_and_one_second_are_not_steady() {
        assert!(!steady(By::Slope, 50.0).is_reached(&[0.0; 4]));
        assert!(!steady(By::Slope, 50.0).is_reached(&[5.0]));
        assert!(!steady(By::Slope, 50.0).is_reached(&[]));
    }
}
