//! How often each scenario does what, so that all of it together has the statistics asked for.
//!
//! Iterative proportional fitting (Deming and Stephan 1940): the scenarios' preferences are scaled
//! by turns until every margin fits; bytes are a margin of means, met by an exponential tilt over
//! the sizes (Darroch and Ratcliff 1972). The result is, of all tables with these margins, the one
//! nearest to the preferences. Only `+ - * /` are used, which give the same on every machine.

use std::collections::BTreeMap;

/// Every margin fits to this share of its target.
const PRECISION: f64 = 1e-9;
/// After so many turns the margins contradict each other; the shipped plans need a few dozen.
const TURNS: u32 = 3000;
/// Halvings of the range that a tilt is looked for in, down to the last bit of its fraction.
const HALVINGS: u32 = 60;

/// A group of cells whose weights are to have a sum.
#[derive(Debug)]
pub(super) struct Margin {
    /// What the cells are, for messages.
    pub(super) what: String,
    /// What their weights are to add up to.
    pub(super) target: f64,
    /// Which cells.
    pub(super) cells: Vec<usize>,
    /// What each counts for in the sum if not for one, in whole units: its bytes.
    pub(super) units: Option<Vec<u32>>,
}

/// Scales the weights until they have all margins.
///
/// # Errors
/// Which margin cannot be had beside the others, and how far it came.
pub(super) fn rake(weights: &mut [f64], margins: &[Margin]) -> Result<(), String> {
    for _ in 0..TURNS {
        for margin in margins {
            margin.fit(weights)?;
        }
        if margins.iter().all(|margin| margin.error(weights) < PRECISION) {
            return Ok(());
        }
    }
    let worst = margins.iter().max_by(|a, b| a.error(weights).total_cmp(&b.error(weights)));
    Err(worst.map_or(String::new(), |margin| margin.complaint(weights)))
}

impl Margin {
    /// The margin of all cells that `holds` tells.
    pub(super) fn of<C>(
        what: String,
        target: f64,
        cells: &[C],
        holds: impl Fn(&C) -> bool,
    ) -> Self {
        let cells = (0..cells.len()).filter(|&index| holds(&cells[index])).collect();
        Self { what, target, cells, units: None }
    }

    fn fit(&self, weights: &mut [f64]) -> Result<(), String> {
        match &self.units {
            None => self.scale(weights),
            Some(units) => {
                self.tilt(units, weights);
                Ok(())
            }
        }
    }

    fn scale(&self, weights: &mut [f64]) -> Result<(), String> {
        let sum = self.sum(weights);
        if sum <= 0.0 && self.target > 0.0 {
            return Err(self.complaint(weights));
        }
        let factor = if sum > 0.0 { self.target / sum } else { 0.0 };
        self.cells.iter().for_each(|&cell| weights[cell] *= factor);
        Ok(())
    }

    /// Multiplies each weight by a base to the power of its units, the base chosen so that the
    /// mean is the target's; the sum of the weights stays.
    fn tilt(&self, units: &[u32], weights: &mut [f64]) {
        let mut of_units = BTreeMap::<u32, f64>::new();
        for (&cell, &units) in self.cells.iter().zip(units) {
            *of_units.entry(units).or_default() += weights[cell];
        }
        let count: f64 = of_units.values().sum();
        let most = of_units.last_key_value().map_or(0, |(&units, _)| units);
        let factor = |base: f64, units: u32| match base > 1.0 {
            true => power(1.0 / base, most - units),
            false => power(base, units),
        };
        // How the mean of the tilted weights compares to the target's, without a division.
        let excess = |base: f64| -> f64 {
            let off = |(&units, weight)| {
                factor(base, units) * weight * (f64::from(units) * count - self.target)
            };
            of_units.iter().map(off).sum()
        };
        let (mut low, mut high) = (0.5, 2.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        let tilted: f64 = of_units.iter().map(|(&units, weight)| factor(low, units) * weight).sum();
        if tilted > 0.0 {
            let scale = count / tilted;
            for (&cell, &units) in self.cells.iter().zip(units) {
                weights[cell] *= factor(low, units) * scale;
            }
        }
    }

    fn sum(&self, weights: &[f64]) -> f64 {
        let ones = |&cell: &usize| weights[cell];
        match &self.units {
            None => self.cells.iter().map(ones).sum(),
            Some(units) => {
                self.cells.iter().zip(units).map(|(&cell, &u)| weights[cell] * f64::from(u)).sum()
            }
        }
    }

    /// How far the sum is off, as a share of the target.
    fn error(&self, weights: &[f64]) -> f64 {
        let off = self.sum(weights) - self.target;
        (if off < 0.0 { -off } else { off }) / self.target.max(1.0)
    }

    fn complaint(&self, weights: &[f64]) -> String {
        let reached = self.sum(weights) / self.target.max(1.0) * 100.0;
        format!(
            "{} come to {reached:.1} % of what the target says; change the target, or the sizes \
             and shares of the scenarios",
            self.what
        )
    }
}

/// A number between 0 and 1 to the power of a whole one; the standard library's may differ
/// between machines.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut power = 1.0;
    while exponent > 0 {
        power *= if exponent % 2 == 1 { base } else { 1.0 };
        base *= base;
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margin(target: f64, cells: &[usize]) -> Margin {
        Margin { what: "cells".to_owned(), target, cells: cells.to_vec(), units: None }
    }

    /// A two by two table whose odds ratio, 4, is what fitting keeps: with margins 10, 10 and
    /// 10, 10 the only such table has 20/3 on its diagonal.
    #[test]
    fn a_table_keeps_its_odds_ratio() {
        let mut weights = [2.0, 1.0, 1.0, 2.0];
        let margins = [[0, 1], [2, 3], [0, 2], [1, 3]].map(|cells| margin(10.0, &cells));
        rake(&mut weights, &margins).unwrap();
        let expected = [20.0 / 3.0, 10.0 / 3.0, 10.0 / 3.0, 20.0 / 3.0];
        assert!(weights.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-6), "{weights:?}");
    }

    /// Sizes 1, 2 and 3, equally liked: a mean of 2.5 asks for b + 2b² = 2 (1 + b + b²) · 0.75 of
    /// the base b, which is (1 + √13) / 2.
    #[test]
    fn bytes_are_met_by_the_tilt_of_least_change() {
        let mut weights = [100.0, 100.0, 100.0];
        let bytes = Margin { units: Some(vec![1, 2, 3]), ..margin(750.0, &[0, 1, 2]) };
        rake(&mut weights, &[margin(300.0, &[0, 1, 2]), bytes]).unwrap();
        let base = (1.0 + 13f64.sqrt()) / 2.0;
        let ratios = [weights[1] / weights[0], weights[2] / weights[1]];
        assert!(ratios.iter().all(|ratio| (ratio - base).abs() < 1e-6), "{ratios:?} {base}");
    }

    #[test]
    fn what_cannot_be_is_told() {
        let mut weights = [1.0, 1.0];
        let bytes = Margin { units: Some(vec![1, 2]), ..margin(25.0, &[0, 1]) };
        let error = rake(&mut weights, &[margin(10.0, &[0, 1]), bytes]).unwrap_err();
        assert!(error.starts_with("cells come to 80.0 %"), "{error}");
        assert!(rake(&mut [0.0], &[margin(1.0, &[0])]).is_err());
        assert!(rake(&mut [0.0], &[margin(0.0, &[0])]).is_ok());
    }
}
