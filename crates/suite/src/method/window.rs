//! Whether a figure is steady: over five rounds its range is at most 20 % of its average, and the
//! line fitted through them rises by at most 10 % of it.

use serde::{Deserialize, Serialize};

use crate::record::warning::{MethodWarning, Warning};

/// Rounds that are looked at together.
pub const WINDOW: usize = 5;
/// The five rounds in which a figure was steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The first of them, from 1.
    pub first_round: u32,
    /// Their average.
    pub average: f64,
    /// Highest less lowest, as a share of the average.
    pub range: f64,
    /// Rise of the fitted line from the first to the last, as a share of the average.
    pub rise: f64,
}

impl Window {
    /// The range over the window may be this share of its average, and no more.
    pub const RANGE_MAX: f64 = 0.20;
    /// The fitted line may rise by this share of the average over the window, and no more.
    pub const RISE_MAX: f64 = 0.10;

    pub(crate) fn of(figures: &[f64], first_round: u32) -> Self {
        let average = figures.iter().sum::<f64>() / figures.len() as f64;
        let highest = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let range = if average == 0.0 { 0.0 } else { (highest - lowest) / average };
        Self { first_round, average, range, rise: writecliff_measure::drift(figures) }
    }

    /// The specification's rule; both bounds are still steady.
    pub fn is_steady(&self) -> bool {
        // What is equal to a bound must not fail by the last bit of a division.
        const ROUNDING: f64 = 1e-12;
        self.average > 0.0
            && self.range <= Self::RANGE_MAX + ROUNDING
            && self.rise.abs() <= Self::RISE_MAX + ROUNDING
    }
}

/// A figure, round by round, until it was steady or there were enough rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// The figure of each round.
    pub tracked: Vec<f64>,
    /// The last five rounds, or all if there are fewer.
    pub window: Window,
    /// Whether these are steady.
    pub steady: bool,
}

impl Settled {
    /// `None` without a round.
    pub(crate) fn of(tracked: Vec<f64>) -> Option<Self> {
        let rounds = tracked.len();
        let first = rounds.saturating_sub(WINDOW);
        let window = (rounds > 0).then(|| Window::of(&tracked[first..], first as u32 + 1))?;
        let steady = rounds >= WINDOW && window.is_steady();
        Some(Self { tracked, window, steady })
    }

    /// That it never was steady.
    pub(crate) fn doubt(&self, part: &str) -> Option<Warning> {
        let (part, rounds) = (part.to_owned(), self.tracked.len() as u32);
        (!self.steady).then_some(Warning::Method(MethodWarning::NeverSteady { part, rounds }))
    }
}

/// The window that ends with the last round, if the figures are steady in it.
pub(crate) fn is_steady(figures: &[f64]) -> Option<Window> {
    last_window(figures).filter(Window::is_steady)
}

fn last_window(figures: &[f64]) -> Option<Window> {
    let first = figures.len().checked_sub(WINDOW)?;
    Some(Window::of(&figures[first..], first as u32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(figures: &[f64]) -> bool {
        is_steady(figures).is_some()
    }

    #[test]
    fn a_range_of_exactly_20_percent_is_steady_and_a_hair_more_is_not() {
        // Average 100 and no rise: highest and lowest on either side of the middle.
        let symmetric = |half: f64| [100.0, 100.0 + half, 100.0 - 2.0 * half, 100.0 + half, 100.0];
        let range = |half: f64| 3.0 * half / 100.0;
        assert_eq!(range(20.0 / 3.0), 0.20);
        assert!(steady(&symmetric(20.0 / 3.0)));
        assert!(!steady(&symmetric(20.0 / 3.0 + 0.001)));
    }

    #[test]
    fn a_rise_of_exactly_10_percent_is_steady_and_a_hair_more_is_not() {
        let line = |rise: f64| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|step| 100.0 + step * rise / 4.0);
        assert!(steady(&line(10.0)) && steady(&line(-10.0)));
        assert!(!steady(&line(10.001)) && !steady(&line(-10.001)));
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        let mut figures = vec![900.0, 500.0];
        figures.extend([100.0; 4]);
        assert_eq!(is_steady(&figures), None);
        figures.push(100.0);
        assert_eq!(is_steady(&figures).unwrap().first_round, 3);
        assert_eq!(is_steady(&[100.0; 4]), None);
        assert_eq!(is_steady(&[0.0; 5]), None, "nothing at all is no steady state");
    }
}
