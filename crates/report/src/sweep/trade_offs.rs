//! Two figures of every point, and those that no other beats in both.

use writecliff_suite::Good;

use super::{SweepFigure, SweepTable, conditions};
use crate::finish::values;
use crate::picture::{Axis, NEUTRAL, ORANGE, Picture, Points};
use crate::section::{View, slug};

/// The first figure over each of the others.
pub(super) fn views(sweep: &SweepTable) -> Vec<View> {
    let Some((first, others)) = sweep.figures.split_first() else { return Vec::new() };
    let view = |(index, other): (usize, &SweepFigure)| {
        let view = view(first, other)?;
        Some(if index < SHOWN { view } else { view.on_demand() })
    };
    others.iter().enumerate().filter_map(view).collect()
}

/// Pictures beyond these are shown on demand.
const SHOWN: usize = 2;

fn view(first: &SweepFigure, other: &SweepFigure) -> Option<View> {
    let both = |at: usize| Some((other.values[at]?, first.values[at]?));
    let is_sure = |at: &usize| !first.in_doubt[*at] && !other.in_doubt[*at];
    let all = 0..first.values.len();
    let points: Vec<(f64, f64)> = all.clone().filter_map(both).collect();
    let sure: Vec<(f64, f64)> = all.filter(is_sure).filter_map(both).collect();
    if points.len() < 2 {
        return None;
    }
    // What is true of all points tells none of them apart.
    let front = front(if sure.is_empty() { &points } else { &sure }, other.good, first.good);
    let id = format!("trade-off-{}", slug(&other.name));
    let title = format!("{} over {}", first.name, other.name);
    let x = Axis::linear(&other.quantity(), other.highest());
    let y = Axis::linear(&first.quantity(), first.highest());
    let mut traces = vec![Points::dots("points", NEUTRAL, points)];
    // A cliff that comes later is nothing gained.
    if first.judged && other.judged {
        traces.push(Points::line("not beaten", ORANGE, front));
    }
    let mut picture = Picture::new(id, title.clone(), x, y, traces);
    picture.conditions = conditions(&[first, other]);
    picture.alt = format!("{} ({}). {}", picture.title, picture.conditions, values(&picture));
    Some(View::common(&title, "", picture))
}

/// The Pareto front, from the left: the points for which no other is as good in both and better in
/// one.
fn front(points: &[(f64, f64)], x: Good, y: Good) -> Vec<(f64, f64)> {
    let worth = |good: Good, value: f64| if good == Good::AtLeast { value } else { -value };
    let mut best_first = points.to_vec();
    best_first.sort_by(|a, b| {
        let by_x = worth(x, b.0).total_cmp(&worth(x, a.0));
        by_x.then(worth(y, b.1).total_cmp(&worth(y, a.1)))
    });
    let mut front: Vec<(f64, f64)> = Vec::new();
    for point in best_first {
        if front.last().is_none_or(|last| worth(y, point.1) > worth(y, last.1)) {
            front.push(point);
        }
    }
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_no_other_point_beats() {
        let points = [(1.0, 9.0), (2.0, 9.0), (3.0, 5.0), (2.5, 4.0), (5.0, 1.0), (4.0, 1.0)];
        let both = front(&points, Good::AtLeast, Good::AtLeast);
        assert_eq!(both, [(2.0, 9.0), (3.0, 5.0), (5.0, 1.0)]);
        assert_eq!(front(&points, Good::AtMost, Good::AtLeast), [(1.0, 9.0)]);
        let little = front(&points, Good::AtMost, Good::AtMost);
        assert_eq!(little, [(1.0, 9.0), (2.5, 4.0), (4.0, 1.0)].map(|p| p));
    }
}
