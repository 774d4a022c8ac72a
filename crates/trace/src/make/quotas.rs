//! How often each scenario does what, in whole operations: the plan's counts exactly.

use writecliff_device::Bytes;

use super::apportion::apportion;
use super::mixture::{Cell, cells, margins, preference};
use super::plan::Plan;
use super::raking::rake;

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

/// What everybody does, such that the plan's counts, sizes and sequential operations come out
/// exactly, and its bytes to within the smallest difference of two sizes.
///
/// # Errors
/// What of the target cannot be had.
pub(super) fn quotas(plan: &Plan) -> Result<Vec<Quota>, String> {
    let cells = cells(plan);
    let mut weights: Vec<f64> = cells.iter().map(|cell| preference(plan, cell)).collect();
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

/// How many operations have each size; `None` where the plan does not say.
fn size_counts(plan: &Plan) -> Vec<Option<u64>> {
    let shares = plan.target.sizes.iter().map(|size| size.percent);
    let has_rest = shares.clone().any(|share| share.is_none());
    let rest = if has_rest { 100.0 - shares.clone().flatten().sum::<f64>() } else { 0.0 };
    let weights: Vec<f64> = shares.clone().flatten().chain([rest.max(0.0)]).collect();
    let mut counts = apportion(plan.target.ios(), &weights, None).into_iter();
    shares.map(|share| share.and_then(|_| counts.next())).collect()
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
        let weight = |kind, size| self.sum(|cell| (cell.kind, cell.size) == (kind, size));
        let sizes = 0..of_size.len();
        let of_reads: Vec<f64> = sizes.clone().map(|size| weight(0, size)).collect();
        let limits: Vec<u64> = of_size.iter().map(|count| count.unwrap_or(u64::MAX)).collect();
        let mut reads = apportion(target.reads, &of_reads, Some(&limits));
        // Of a size with a share, what are no reads are writes.
        let fixed = |size: usize| of_size[size].map_or(0, |count| count - reads[size]);
        let mut writes: Vec<u64> = sizes.clone().map(fixed).collect();
        let Some(rest) = target.writes.checked_sub(writes.iter().sum()) else {
            return Err("the sizes with a percentage leave no room for the others".to_owned());
        };
        let free = |size: usize| if of_size[size].is_none() { weight(1, size) } else { 0.0 };
        let of_rest: Vec<f64> = sizes.map(free).collect();
        for (writes, rest) in writes.iter_mut().zip(apportion(rest, &of_rest, None)) {
            *writes += rest;
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
        for (kind, size) in (0..2).flat_map(|k| (0..counts[k].len()).map(move |size| (k, size))) {
            let scenarios = 0..self.plan.scenario.len();
            let here = |cell: &Cell, scenario| {
                (cell.scenario, cell.kind, cell.size) == (scenario, kind, size)
            };
            let all = scenarios.clone().map(|scenario| self.sum(|cell| here(cell, scenario)));
            let each = apportion(counts[kind][size], &all.collect::<Vec<_>>(), None);
            let ordered = scenarios
                .map(|scenario| self.sum(|cell| here(cell, scenario) && cell.is_sequential));
            let ordered: Vec<f64> = ordered.collect();
            let ordered = apportion(sequential[kind][size], &ordered, Some(&each));
            for (scenario, (&count, sequential)) in each.iter().zip(ordered).enumerate() {
                let size = self.plan.target.sizes[size].size;
                quotas.push(Quota { scenario, kind, size, count, sequential });
            }
        }
        quotas.retain(|quota| quota.count > 0);
        quotas
    }
}
