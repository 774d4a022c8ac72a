//! By what factors a model is off, summed up.

use serde::Serialize;

use super::comparison::{Comparison, Role};
use super::treatment::Class;

/// The errors of a model, by what the figures are to it and what they show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accuracy {
    /// Those of each role and class that there are figures of.
    pub errors: Vec<Errors>,
    /// Orders of drives that were predicted.
    pub rank_orders: Vec<RankOrder>,
}

/// Errors of some figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// What the figures are to the profiles.
    pub role: Role,
    /// What they show; `None` for all of the role.
    pub class: Option<Class>,
    /// How many there are.
    pub count: usize,
    /// The middle one of their error factors.
    pub median: f64,
    /// The one that nine in ten are not above (nearest rank).
    pub p90: f64,
    /// Shares within a factor of 1.1, and of 1.5.
    pub within_1_1: f64,
    /// See `within_1_1`.
    pub within_1_5: f64,
}

/// Drives that one source measured in one scenario: whether the model puts them in their order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankOrder {
    /// The scenario.
    pub scenario: &'static str,
    /// Drives in it, all predicted.
    pub drives: usize,
    /// Pairs whose published figures differ by more than `TIE`.
    pub pairs: usize,
    /// Pairs that the model has in the other order.
    pub wrong: usize,
}

/// Figures that differ by less are no order.
const TIE: f64 = 1.05;

impl Accuracy {
    /// What the comparisons amount to.
    pub fn of(comparisons: &[Comparison]) -> Self {
        let roles = [Role::Rating, Role::Fitted, Role::Predicted];
        let classes = [Some(Class::Rate), Some(Class::Used), Some(Class::Latency), None];
        let errors = roles.iter().flat_map(|role| {
            classes.iter().filter_map(|class| {
                let is_in = |c: &&Comparison| {
                    c.role == *role && class.is_none_or(|class| c.figure.scenario.class == class)
                };
                Errors::of(*role, *class, comparisons.iter().filter(is_in))
            })
        });
        Self { errors: errors.collect(), rank_orders: rank_orders(comparisons) }
    }
}

impl Errors {
    fn of<'a>(
        role: Role,
        class: Option<Class>,
        comparisons: impl Iterator<Item = &'a Comparison>,
    ) -> Option<Self> {
        let mut factors: Vec<f64> = comparisons.map(|comparison| comparison.error_factor).collect();
        factors.sort_by(f64::total_cmp);
        let count = factors.len();
        let rank = |tenths: usize| factors.get((count * tenths).div_ceil(10).saturating_sub(1));
        let share = |most: f64| {
            factors.iter().filter(|factor| **factor <= most).count() as f64 / count as f64
        };
        Some(Self {
            role,
            class,
            count,
            median: *rank(5)?,
            p90: *rank(9)?,
            within_1_1: share(1.1),
            within_1_5: share(1.5),
        })
    }
}

/// Figures of one scenario by one source are comparable; a drive with two of them counts once.
fn rank_orders(comparisons: &[Comparison]) -> Vec<RankOrder> {
    let predicted = comparisons.iter().filter(|c| c.role == Role::Predicted);
    let mut groups: Vec<Vec<&Comparison>> = Vec::new();
    for comparison in predicted {
        let figure = &comparison.figure;
        let is_of = |group: &&mut Vec<&Comparison>| {
            let first = &group[0].figure;
            (first.scenario, &first.source, first.unit)
                == (figure.scenario, &figure.source, figure.unit)
        };
        match groups.iter_mut().find(is_of) {
            Some(group) if group.iter().any(|c| c.figure.drive == figure.drive) => {}
            Some(group) => group.push(comparison),
            None => groups.push(vec![comparison]),
        }
    }
    let order = |group: &Vec<&Comparison>| {
        let (mut pairs, mut wrong) = (0, 0);
        for (place, a) in group.iter().enumerate() {
            for b in &group[place + 1..] {
                let published = a.figure.value / b.figure.value;
                if published.max(1.0 / published) > TIE {
                    pairs += 1;
                    wrong += usize::from((published > 1.0) != (a.model > b.model));
                }
            }
        }
        let scenario = group[0].figure.scenario.name;
        RankOrder { scenario, drives: group.len(), pairs, wrong }
    };
    groups.iter().map(order).filter(|order| order.pairs > 0).collect()
}
