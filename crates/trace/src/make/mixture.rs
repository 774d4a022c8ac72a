//! Every combination of scenario, kind, size and order: how much each is liked, and what groups of
//! them must come to.

use super::plan::{KINDS, Plan, Scenario};
use super::raking::Margin;
use writecliff_device::Bytes;

/// From here on a size is large to [`Order`](super::plan::Order).
const LARGE: Bytes = Bytes::from_kib(64);

/// One scenario's operations of one kind, size and order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) scenario: usize,
    /// An index into [`KINDS`].
    pub(super) kind: usize,
    /// An index into the target's sizes.
    pub(super) size: usize,
    pub(super) is_sequential: bool,
}

/// All cells.
pub(super) fn cells(plan: &Plan) -> Vec<Cell> {
    let mut cells = Vec::new();
    for scenario in 0..plan.scenario.len() {
        for kind in 0..KINDS.len() {
            for size in 0..plan.target.sizes.len() {
                let order = [false, true];
                cells.extend(order.map(|is_sequential| Cell {
                    scenario,
                    kind,
                    size,
                    is_sequential,
                }));
            }
        }
    }
    cells
}

/// How much a scenario likes a cell of its own, relative to the others of the same kind.
pub(super) fn preference(plan: &Plan, cell: &Cell) -> f64 {
    let scenario = &plan.scenario[cell.scenario];
    let size = plan.target.sizes[cell.size].size;
    let order = scenario.sequential;
    let percent = if size >= LARGE { order.large_percent } else { order.small_percent };
    let part = if cell.is_sequential { percent } else { 100.0 - percent };
    scenario.sizes(cell.kind).get(&size).copied().unwrap_or(0.0) * part / 100.0
}

/// What the cells must come to; `of_size` are the operations of each size that has a share.
pub(super) fn margins(plan: &Plan, cells: &[Cell], of_size: &[Option<u64>]) -> Vec<Margin> {
    let mut margins = Vec::new();
    for kind in 0..KINDS.len() {
        margins.extend(of_scenarios(plan, cells, kind));
    }
    for (index, share) in plan.target.sizes.iter().enumerate() {
        let what = format!("operations of {}", share.size.exact());
        let count = of_size[index];
        margins.extend(
            count.map(|count| Margin::of(what, count as f64, cells, |cell| cell.size == index)),
        );
    }
    let ios = plan.target.ios() as f64;
    let ordered = ios * plan.target.sequential_percent / 100.0;
    let what = "sequential operations".to_owned();
    margins.push(Margin::of(what, ordered, cells, |cell| cell.is_sequential));
    let what = "random operations".to_owned();
    margins.push(Margin::of(what, ios - ordered, cells, |cell| !cell.is_sequential));
    margins.extend((0..KINDS.len()).map(|kind| of_bytes(plan, cells, kind)));
    margins
}

/// What the scenarios do of one kind, each by its share.
fn of_scenarios(plan: &Plan, cells: &[Cell], kind: usize) -> Vec<Margin> {
    let (name, ios) = [("reads", plan.target.reads), ("writes", plan.target.writes)][kind];
    let percents: f64 = plan.scenario.iter().map(|scenario| scenario.percent(kind)).sum();
    let margin = |(index, scenario): (usize, &Scenario)| {
        let share = scenario.percent(kind) / percents.max(f64::MIN_POSITIVE);
        let what = format!("{name} of '{}'", scenario.name);
        Margin::of(what, ios as f64 * share, cells, |cell| {
            (cell.scenario, cell.kind) == (index, kind)
        })
    };
    plan.scenario.iter().enumerate().map(margin).collect()
}

/// The bytes of one kind, in units of the alignment.
fn of_bytes(plan: &Plan, cells: &[Cell], kind: usize) -> Margin {
    let target = &plan.target;
    let (name, bytes) =
        [("bytes read", target.read_bytes), ("bytes written", target.written_bytes)][kind];
    let unit = plan.alignment.0;
    let in_units = bytes.0 as f64 / unit as f64;
    let mut margin = Margin::of(name.to_owned(), in_units, cells, |cell| cell.kind == kind);
    let units = |&index: &usize| (target.sizes[cells[index].size].size.0 / unit) as u32;
    margin.units = Some(margin.cells.iter().map(units).collect());
    margin
}
