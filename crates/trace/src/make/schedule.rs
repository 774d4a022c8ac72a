//! Who runs when: the stretches of time between any scenario's beginning or end.

use writecliff_device::Nanos;

use super::plan::Plan;

/// A stretch of time in which the same scenarios run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) begin: Nanos,
    pub(super) end: Nanos,
    /// Operations of each scenario that are left to do.
    pub(super) left: Vec<u64>,
}

impl Section {
    /// Operations of all scenarios that are left to do.
    pub(super) fn ios_left(&self) -> u64 {
        self.left.iter().sum()
    }
}

/// All sections with anything to do, in order; each scenario's operations are spread evenly over
/// the time in which it runs.
pub(super) fn sections(plan: &Plan, ios: &[u64]) -> Vec<Section> {
    let times = plan.scenario.iter().flat_map(|scenario| scenario.active.iter().flatten());
    let mut bounds: Vec<u32> = times.copied().collect();
    bounds.sort_unstable();
    bounds.dedup();
    let at = |percent: u32| Nanos((u128::from(plan.duration.0) * u128::from(percent) / 100) as u64);
    let done = |scenario: usize, until: u32| {
        let active = &plan.scenario[scenario].active;
        let all = active_before(active, 100).max(1);
        let share = u128::from(active_before(active, until));
        (u128::from(ios[scenario]) * share / u128::from(all)) as u64
    };
    let section = |bounds: &[u32]| {
        let (from, to) = (bounds[0], bounds[1]);
        let left = |scenario| done(scenario, to) - done(scenario, from);
        Section { begin: at(from), end: at(to), left: (0..ios.len()).map(left).collect() }
    };
    let all = bounds.windows(2).map(section);
    all.filter(|section| section.ios_left() > 0).collect()
}

/// How much of the time until `percent` is within these times, in percent.
fn active_before(active: &[[u32; 2]], percent: u32) -> u32 {
    active.iter().map(|[from, to]| percent.clamp(*from, *to) - from).sum()
}
