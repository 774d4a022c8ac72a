//! A heat map's cells as runs of equal colour, few enough to be drawn as one path a colour.

use super::{FEW_CELLS_MAX, Heat};
use crate::picture::axis::significant;

/// Colours, weakest first. Each stands for about three times the values of the one before.
pub(crate) const LEVELS: usize = 8;

/// Cells beside each other that have the same colour.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) column: usize,
    /// From the top.
    pub(super) row: usize,
    pub(super) length: usize,
}

/// Half decades below the strongest; what is weaker than the weakest is drawn like it.
fn level(value: f64, full: f64) -> usize {
    let halves = (2.0 * (value / full).log10()).floor() + LEVELS as f64;
    halves.clamp(0.0, (LEVELS - 1) as f64) as usize
}

impl Heat {
    pub(super) fn rows(&self) -> usize {
        self.y_edges.len() - 1
    }

    fn level_at(&self, column: usize, row: usize) -> Option<usize> {
        let value = *self.columns.get(column)?.get(self.rows() - 1 - row)?;
        (value > 0.0).then(|| level(value, self.full))
    }

    /// For each level its runs, row by row.
    pub(super) fn runs(&self) -> Vec<Vec<Run>> {
        let mut runs: Vec<Vec<Run>> = (0..LEVELS).map(|_| Vec::new()).collect();
        for row in 0..self.rows() {
            let mut column = 0;
            while column < self.columns.len() {
                let level = self.level_at(column, row);
                let same =
                    (column..self.columns.len()).take_while(|c| self.level_at(*c, row) == level);
                let length = same.count();
                if let Some(level) = level {
                    runs[level].push(Run { column, row, length });
                }
                column += length;
            }
        }
        runs
    }

    /// Whether its cells are so few that each needs a dot to be seen.
    pub(super) fn is_sparse(&self) -> bool {
        self.columns.iter().flatten().filter(|value| **value > 0.0).count() <= FEW_CELLS_MAX
    }

    /// What the weakest colour stands for, and the strongest.
    pub(super) fn ends(&self) -> (String, String) {
        let bound = |level: usize| self.full * 10f64.powf((level as f64 - LEVELS as f64) / 2.0);
        let (weakest, strongest) = (significant(bound(1), 1), significant(bound(LEVELS - 1), 1));
        match self.unit.starts_with('%') {
            true => (format!("under {weakest} %"), format!("{strongest} {} and more", self.unit)),
            false => {
                let weakest = significant(bound(1).max(1.0), 1);
                (weakest, format!("{strongest} {} and more", self.unit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_in_one_run_of_its_level() {
        let columns = vec![vec![0.0, 100.0], vec![0.001, 100.0], vec![0.5, 20.0]];
        let edges = |count: usize| (0..=count).map(|edge| edge as f64).collect();
        let heat = Heat {
            x_edges: edges(3),
            y_edges: edges(2),
            columns,
            quantity: "percent",
            unit: "% of the I/Os",
            full: 100.0,
        };
        let runs = heat.runs();
        assert_eq!(runs[7], [Run { column: 0, row: 0, length: 2 }]);
        assert_eq!(runs[6], [Run { column: 2, row: 0, length: 1 }]);
        assert_eq!(runs[0], [Run { column: 1, row: 1, length: 1 }]);
        assert_eq!(runs.iter().flatten().map(|run| run.length).sum::<usize>(), 5);
        assert_eq!(
            heat.ends(),
            ("under 0.03 %".to_owned(), "30 % of the I/Os and more".to_owned())
        );
    }
}
