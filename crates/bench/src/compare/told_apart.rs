//! Whether one of two figures is the better one, or whether that cannot be told. Pages decide the same
//! way (`pages/told_apart.js`).

use serde::Serialize;
use writecliff::suite::{self, Good};

use crate::model::Value;

/// So far, in percent of the greater one, two figures lie apart before one is the better one, where runs
/// say how far they do: what is less matters to nobody.
const APART_OF_SEVERAL: f64 = 1.0;

/// One of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The first.
    A,
    /// The second.
    B,
}

/// Why neither of two is named the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// They are the same number.
    Equal,
    /// Their runs overlap, or they lie no further apart than runs do among themselves.
    NotToldApart,
    /// The one that would be has doubts.
    Doubted,
    /// More of it is no merit, and less is none.
    NotJudged,
}

/// What is to be said of two figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Better(Better),
    Undecided(Undecided),
}

/// How two values of one metric, under the same conditions, stand to each other.
pub(super) fn standing(good: Good, one: &Value, other: &Value) -> Standing {
    let (a, b) = (one.median, other.median);
    if a == b {
        return Standing::Undecided(Undecided::Equal);
    }
    if !are_apart(one, other) {
        return Standing::Undecided(Undecided::NotToldApart);
    }
    let (better, ahead) = match (a > b) == (good == Good::AtLeast) {
        true => (Better::A, one),
        false => (Better::B, other),
    };
    match ahead.may_win {
        true => Standing::Better(better),
        false => Standing::Undecided(Undecided::Doubted),
    }
}

/// Whether no run of one lies among the other's, and the two lie further apart than runs of either do.
fn are_apart(one: &Value, other: &Value) -> bool {
    let overlap = one.lowest <= other.highest && other.lowest <= one.highest;
    if one.of.len().min(other.of.len()) == 1 && !suite::are_apart(one.median, other.median) {
        return false;
    }
    let least = one.median.abs().max(other.median.abs()) * APART_OF_SEVERAL / 100.0;
    let spread = |value: &Value| value.highest - value.lowest;
    let among_themselves = spread(one).max(spread(other)).max(least);
    !overlap && (one.median - other.median).abs() > among_themselves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(lowest: f64, median: f64, highest: f64, runs: usize, may_win: bool) -> Value {
        Value {
            drive: 0,
            variant: None,
            conditions: 0,
            metric: 0,
            median,
            lowest,
            highest,
            of: (0..runs).collect(),
            doubted: !may_win,
            may_win,
        }
    }

    #[test]
    fn a_better_one_is_named_only_where_runs_tell_it() {
        use Better::{A, B};
        use Undecided::{Doubted, Equal, NotToldApart};
        let better = Standing::Better;
        let undecided = Standing::Undecided;
        let one = |median: f64| value(median, median, median, 1, true);
        let five = |lowest, median, highest| value(lowest, median, highest, 5, true);
        let doubted = |median: f64| value(median, median, median, 1, false);
        let cases = [
            (one(2237.0), one(2236.0), undecided(NotToldApart), "single runs as good as equal"),
            (one(2000.0), one(2000.0), undecided(Equal), "equal ones"),
            (one(2200.0), one(2000.0), better(A), "a tenth"),
            (one(0.0), one(1.0), better(B), "none at all"),
            (
                five(90.0, 100.0, 110.0),
                five(109.0, 120.0, 130.0),
                undecided(NotToldApart),
                "overlap",
            ),
            (five(0.0, 90.0, 100.0), five(101.0, 102.0, 103.0), undecided(NotToldApart), "wide"),
            (five(98.0, 100.0, 101.0), five(109.0, 110.0, 111.0), better(B), "apart"),
            (five(98.0, 100.0, 101.0), one(103.0), undecided(NotToldApart), "one run beside five"),
            (
                five(1000.0, 1000.0, 1000.0),
                five(1002.0, 1002.0, 1002.0),
                undecided(NotToldApart),
                "0.2 %",
            ),
            (doubted(3000.0), one(2000.0), undecided(Doubted), "what has doubts never wins"),
            (doubted(1000.0), one(2000.0), better(B), "and may lose"),
        ];
        for (a, b, expected, what) in cases {
            assert_eq!(standing(Good::AtLeast, &a, &b), expected, "{what}");
            let turned = match expected {
                Standing::Better(A) => better(B),
                Standing::Better(B) => better(A),
                same => same,
            };
            assert_eq!(standing(Good::AtLeast, &b, &a), turned, "{what}, turned");
        }
        assert_eq!(standing(Good::AtMost, &one(2.0), &one(1.0)), better(B));
    }
}
