//! How often each scenario does what, in whole operations: the plan's counts exactly.

use writecliff_device::{Bytes, Operation};

use super::plan::{Plan, Scenario};
use super::raking::{Margin, rake};

/// From here on a size is large to [`Order`](super::plan::Order).
const LARGE: Bytes = Bytes::from_kib(64);

/// The two kinds of operation, in the order that everything here counts them.
pub(super) const KINDS: [Operation; 2] = [Operation::Read, Operation::Write];

/// So many operations of one size that a scenario does in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) scenario: usize,
    /// An index into [`KINDS`].
    pub(super) kind: usize,
    pub(super) size: Bytes,
    pub(super) count: u64,
    /// How many of them are sequential.
    pub(super) sequential: u64,
}

/// One scenario's operations of one kind, size and order.
struct Cell {
    scenario: usize,
    kind: usize,
    size: usize,
    is_sequential: bool,
}

/// What everybody does, such that the plan's counts, sizes and sequential operations come out
/// exactly, and its bytes to within the smallest difference of two sizes.
///
/// # Errors
/// What of the target cannot be had.
pub(super) fn quotas(plan: &Plan) -> Result<Vec<Quota>, String> {
    let (cells, mut weights) = preferences(plan);
    let of_size = size_counts(plan);
    rake(&mut weights, &margins(plan, &cells, &of_size))?;
    let table = Table { plan, cells: &cells, weights: &weights };
    let counts = table.counts(&of_size)?;
    let sequential = table.sequential(&counts);
    let quotas = table.split(&counts, &sequential);
    let of = |kind| quotas.iter().filter(move |quota| quota.kind == kind).map(|quota| quota.count);
    if of(0).sum::<u64>() != plan.target.reads || of(1).sum::<u64>() != plan.target.writes {
        return Err("too few operations for their shares; take more of them".to_owned());
    }
    Ok(quotas)
}

/// Every combination, weighted as the scenarios say.
fn preferences(plan: &Plan) -> (Vec<Cell>, Vec<f64>) {
    let (mut cells, mut weights) = (Vec::new(), Vec::new());
    for (scenario, wants) in plan.scenario.iter().enumerate() {
        for kind in 0..KINDS.len() {
            for (size, share) in plan.target.sizes.iter().enumerate() {
                let preference = sizes(wants, kind).get(&share.size).copied().unwrap_or(0.0);
                let order = wants.sequential;
                let is_large = share.size >= LARGE;
                let percent = if is_large { order.large_percent } else { order.small_percent };
                for is_sequential in [false, true] {
                    cells.push(Cell { scenario, kind, size, is_sequential });
                    let part = if is_sequential { percent } else { 100.0 - percent };
                    weights.push(preference * part / 100.0);
                }
            }
        }
    }
    (cells, weights)
}

fn sizes(scenario: &Scenario, kind: usize) -> &std::collections::BTreeMap<Bytes, f64> {
    [&scenario.read_sizes, &scenario.write_sizes][kind]
}

/// How many operations have each size; `None` where the plan does not say.
fn size_counts(plan: &Plan) -> Vec<Option<u64>> {
    let shares = plan.target.sizes.iter().map(|size| size.percent);
    let has_rest = shares.clone().any(|share| share.is_none());
    let rest = if has_rest { 100.0 - shares.clone().flatten().sum::<f64>() } else { 0.0 };
    let weights: Vec<f64> = shares.clone().flatten().chain([rest.max(0.0)]).collect();
    let mut counts = apportion(plan.target.ios(), &weights, None).into_iter();
    shares.map(|share| share.and_then(|_| counts.next())).collect()
}

fn margins(plan: &Plan, cells: &[Cell], of_size: &[Option<u64>]) -> Vec<Margin> {
    let target = &plan.target;
    let margin = |what: String, target: f64, holds: &dyn Fn(&Cell) -> bool| {
        let cells = (0..cells.len()).filter(|&index| holds(&cells[index])).collect();
        Margin { what, target, cells, units: None }
    };
    let mut margins = Vec::new();
    let kinds = [("reads", target.reads), ("writes", target.writes)];
    let percent =
        |scenario: &Scenario, kind| [scenario.reads_percent, scenario.writes_percent][kind];
    let sums = [0, 1].map(|kind| plan.scenario.iter().map(|s| percent(s, kind)).sum::<f64>());
    for (index, scenario) in plan.scenario.iter().enumerate() {
        for (kind, (name, count)) in kinds.iter().enumerate() {
            let share = percent(scenario, kind) / sums[kind].max(f64::MIN_POSITIVE);
            let what = format!("{name} of '{}'", scenario.name);
            let holds = |cell: &Cell| (cell.scenario, cell.kind) == (index, kind);
            margins.push(margin(what, *count as f64 * share, &holds));
        }
    }
    for (index, count) in of_size.iter().enumerate() {
        if let Some(count) = count {
            let what = format!("operations of {}", target.sizes[index].size.exact());
            margins.push(margin(what, *count as f64, &|cell| cell.size == index));
        }
    }
    let ordered = target.ios() as f64 * target.sequential_percent / 100.0;
    let random = target.ios() as f64 - ordered;
    margins.push(margin("sequential operations".to_owned(), ordered, &|cell| cell.is_sequential));
    margins.push(margin("random operations".to_owned(), random, &|cell| !cell.is_sequential));
    let bytes = [("bytes read", target.read_bytes), ("bytes written", target.written_bytes)];
    for (kind, (name, bytes)) in bytes.into_iter().enumerate() {
        let in_units = bytes.0 as f64 / plan.alignment.0 as f64;
        let mut margin = margin(name.to_owned(), in_units, &|cell| cell.kind == kind);
        let units =
            |&cell: &usize| (target.sizes[cells[cell].size].size.0 / plan.alignment.0) as u32;
        margin.units = Some(margin.cells.iter().map(units).collect());
        margins.push(margin);
    }
    margins
}

/// The fitted weights, and how they become whole operations.
struct Table<'a> {
    plan: &'a Plan,
    cells: &'a [Cell],
    weights: &'a [f64],
}

impl Table<'_> {
    fn sum(&self, holds: impl Fn(&Cell) -> bool) -> f64 {
        let both = self.cells.iter().zip(self.weights);
        both.filter(|(cell, _)| holds(cell)).map(|(_, weight)| weight).sum()
    }

    /// Operations of each kind and size.
    fn counts(&self, of_size: &[Option<u64>]) -> Result<[Vec<u64>; 2], String> {
        let target = &self.plan.target;
        let weights = |kind: usize| -> Vec<f64> {
            let of = |size| self.sum(|cell| (cell.kind, cell.size) == (kind, size));
            (0..of_size.len()).map(of).collect()
        };
        let limits: Vec<u64> = of_size.iter().map(|count| count.unwrap_or(u64::MAX)).collect();
        let mut reads = apportion(target.reads, &weights(0), Some(&limits));
        // Of a size with a share, what are no reads are writes.
        let mut writes: Vec<u64> = of_size
            .iter()
            .zip(&reads)
            .map(|(count, reads)| count.map_or(0, |c| c - reads))
            .collect();
        let fixed: u64 = writes.iter().sum();
        let Some(free) = target.writes.checked_sub(fixed) else {
            return Err("the sizes with a percentage leave no room for the others".to_owned());
        };
        let is_free =
            |(weight, count): (f64, &Option<u64>)| if count.is_none() { weight } else { 0.0 };
        let of_free: Vec<f64> = weights(1).into_iter().zip(of_size).map(is_free).collect();
        for (writes, free) in writes.iter_mut().zip(apportion(free, &of_free, None)) {
            *writes += free;
        }
        self.mend_bytes(&mut reads, of_size, target.read_bytes);
        self.mend_bytes(&mut writes, of_size, target.written_bytes);
        Ok([reads, writes])
    }

    /// Turns operations of one free size into such of another while that brings the bytes nearer
    /// to what they should be.
    fn mend_bytes(&self, counts: &mut [u64], of_size: &[Option<u64>], target: Bytes) {
        let sizes = &self.plan.target.sizes;
        let bytes = |index: usize| i128::from(sizes[index].size.0);
        let sum: i128 = (0..counts.len()).map(|size| i128::from(counts[size]) * bytes(size)).sum();
        let mut missing = i128::from(target.0) - sum;
        let free: Vec<usize> = (0..sizes.len()).filter(|&size| of_size[size].is_none()).collect();
        loop {
            let exchanges = free.iter().flat_map(|&from| free.iter().map(move |&to| (from, to)));
            let best = exchanges
                .filter(|&(from, to)| counts[from] > 0 && counts[to] > 0)
                .map(|(from, to)| (from, to, missing - (bytes(to) - bytes(from))))
                .min_by_key(|&(_, _, left)| left.abs());
            let Some((from, to, left)) = best.filter(|(_, _, left)| left.abs() < missing.abs())
            else {
                return;
            };
            (counts[from], counts[to], missing) = (counts[from] - 1, counts[to] + 1, left);
        }
    }

    /// How many of the operations of each kind and size are sequential.
    fn sequential(&self, counts: &[Vec<u64>; 2]) -> [Vec<u64>; 2] {
        let target = &self.plan.target;
        let total = (target.ios() as f64 * target.sequential_percent / 100.0).round() as u64;
        let of = |kind: usize, size: usize| {
            self.sum(|cell| (cell.kind, cell.size, cell.is_sequential) == (kind, size, true))
        };
        let sizes = target.sizes.len();
        let weights: Vec<f64> = (0..2 * sizes).map(|at| of(at / sizes, at % sizes)).collect();
        let mut reads = apportion(total, &weights, Some(&counts.concat()));
        let writes = reads.split_off(sizes);
        [reads, writes]
    }

    /// Shares all of that out among the scenarios.
    fn split(&self, counts: &[Vec<u64>; 2], sequential: &[Vec<u64>; 2]) -> Vec<Quota> {
        let mut quotas = Vec::new();
        for (kind, size) in (0..2).flat_map(|kind| (0..counts[kind].len()).map(move |s| (kind, s)))
        {
            let weights = |orders: &[bool]| -> Vec<f64> {
                let here = |cell: &Cell| (cell.kind, cell.size) == (kind, size);
                let of = |scenario: usize| {
                    self.sum(|cell| {
                        here(cell)
                            && cell.scenario == scenario
                            && orders.contains(&cell.is_sequential)
                    })
                };
                (0..self.plan.scenario.len()).map(of).collect()
            };
            let each = apportion(counts[kind][size], &weights(&[false, true]), None);
            let ordered = apportion(sequential[kind][size], &weights(&[true]), Some(&each));
            for (scenario, (&count, sequential)) in each.iter().zip(ordered).enumerate() {
                let size = self.plan.target.sizes[size].size;
                quotas.push(Quota { scenario, kind, size, count, sequential });
            }
        }
        quotas.retain(|quota| quota.count > 0);
        quotas
    }
}

/// Whole numbers that add up to `total` and are as near to the weights as that allows: the largest
/// remainders are rounded up. None exceeds its limit, as long as the limits leave room.
fn apportion(total: u64, weights: &[f64], limits: Option<&[u64]>) -> Vec<u64> {
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
